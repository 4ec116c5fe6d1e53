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

const ON_THE_DESK: &[(&str, &str)] = &[
    ("README.md", "read\n"),
    ("Dockerfile", "FROM x\n"),
    (
        "Makefile",
        "test:\n\tpytest\nclean:\n\trm -rf build\nnuke:\n\trm -rf src\n",
    ),
    ("config/prod.yml", "a: 1\n"),
    ("docker-compose.yml", "services: {}\n"),
    ("docs/guide.md", "guide\n"),
    ("migrations/001.sql", "create table t(a);\n"),
    (
        "package.json",
        r#"{"name":"x","scripts":{"test":"jest","build":"tsc","clean":"rm -rf dist"},"dependencies":{"react":"18"}}"#,
    ),
    ("requirements.txt", "flask==1\n"),
    ("src/app.js", "console.log(1)\n"),
    ("src/main.py", "print(1)\n"),
    ("src/util.py", "def f(): pass\n"),
    ("tests/test_a.py", "def test(): pass\n"),
    (
        ".gitignore",
        "node_modules/\n*.log\n.env\nbuild/\ndist/\n__pycache__/\n",
    ),
];

/// A repository with the files that commands of manuals and tutorials like to name.
pub fn desk() -> Sandbox {
    let sandbox = Sandbox::with_files(ON_THE_DESK);
    sandbox.git(["branch", "merged"]);
    sandbox.git(["tag", "v1"]);
    with_remote(&sandbox);
    with_local_work(&sandbox);
    sandbox.git(["branch", "side"]);
    sandbox.write("src/app.js", "console.log(2)\n");
    sandbox.git(["add", "src/app.js"]);
    sandbox.write("src/util.py", "def f(): return 2\n");
    for path in ["app.db", "important.db", "notes.txt"] {
        sandbox.write(path, "nowhere else\n");
    }
    for path in [".env", "build/o", "dist/d", "node_modules/a/index.js"] {
        sandbox.write(path, "SECRET=ignored\n");
    }
    sandbox
}
