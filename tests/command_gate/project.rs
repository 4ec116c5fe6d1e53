//! The `project` of the corpus: a repository in the middle of somebody's day.

use crate::support::Sandbox;

const COMMITTED: &[(&str, &str)] = &[
    ("README.md", "read\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/lib.rs", "// a\n"),
    ("src/app.py", "print(1)\n"),
    ("src/index.js", "console.log(1)\n"),
    (
        "package.json",
        r#"{"name":"x","scripts":{"build":"tsc -p .","test":"jest","clean":"rm -rf dist","lint":"eslint .","db:reset":"prisma migrate reset --force","nuke":"rm -rf ~/"},"dependencies":{"react":"1"}}"#,
    ),
    (
        "Makefile",
        "all:\n\tcc -o build/x src/x.c\ntest:\n\tpytest\nclean:\n\trm -rf build\ndistclean:\n\tgit clean -fdx\n",
    ),
    ("justfile", "build:\n  cargo build\nwipe:\n  rm -rf src\n"),
    ("config/settings.yml", "a: 1\n"),
    ("docs/guide.md", "guide\n"),
    ("tests/test_app.py", "test\n"),
    ("scripts/build.sh", "#!/bin/sh\ncargo build\n"),
    ("scripts/wipe.sh", "#!/bin/sh\nrm -rf \"$HOME\"\n"),
    (
        "scripts/wipe.py",
        "import shutil, os\nshutil.rmtree(os.path.expanduser(\"~\"))\n",
    ),
    (
        "scripts/report.py",
        "import json\nprint(json.dumps({\"a\": 1}))\n",
    ),
    (
        "scripts/wipe.js",
        "const fs = require(\"fs\");\nfs.rmSync(\"src\", {recursive: true, force: true});\n",
    ),
    ("requirements.txt", "flask==1\n"),
    ("go.mod", "module x\n"),
    ("data/seed.sql", "insert into t values(1);\n"),
    (
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\n",
    ),
    ("changed.txt", "before\n"),
    ("staged.txt", "before\n"),
    (
        ".gitignore",
        "/target/\n/build/\n/dist/\nnode_modules/\n.env\n*.log\n__pycache__/\n",
    ),
];

const IGNORED: &[&str] = &[
    ".env",
    "debug.log",
    "build/out.o",
    "dist/bundle.js",
    "node_modules/x/index.js",
    "target/debug/app",
];

/// Gives the repository a remote that has its `main`.
pub fn with_remote(sandbox: &Sandbox) {
    let bare = sandbox.path("remote.git");
    sandbox.git(["init", "-q", "--bare", bare.to_str().unwrap()]);
    sandbox.git(["remote", "add", "origin", bare.to_str().unwrap()]);
    sandbox.git(["push", "-q", "-u", "origin", "main"]);
}

/// Adds commits and a stash entry that are nowhere else: on a branch of their own, on `main`.
pub fn with_local_work(sandbox: &Sandbox) {
    sandbox.git(["checkout", "-q", "-b", "unmerged"]);
    sandbox.write("only.txt", "only here\n");
    sandbox.git(["add", "only.txt"]);
    sandbox.git(["commit", "-qm", "only on unmerged"]);
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write("unpushed.txt", "unpushed\n");
    sandbox.git(["add", "unpushed.txt"]);
    sandbox.git(["commit", "-qm", "not pushed"]);
    sandbox.write("README.md", "stashed\n");
    sandbox.git(["stash", "-q"]);
}

/// Tracked, changed, staged, untracked and ignored files, a stash entry, branches, a tag, a remote.
pub fn repository() -> Sandbox {
    let sandbox = Sandbox::with_files(COMMITTED);
    sandbox.git(["branch", "merged"]);
    sandbox.git(["tag", "v1.0"]);
    with_remote(&sandbox);
    sandbox.git(["push", "-q", "origin", "main:feature"]);
    with_local_work(&sandbox);
    sandbox.write("staged.txt", "after\n");
    sandbox.git(["add", "staged.txt"]);
    sandbox.write("changed.txt", "after\n");
    sandbox.write("src/lib.rs", "// b\n");
    for path in ["notes.md", "untracked.txt", "wip/idea.txt", "data.db"] {
        sandbox.write(path, "nowhere else\n");
    }
    for path in IGNORED {
        sandbox.write(path, "ignored\n");
    }
    sandbox
}
