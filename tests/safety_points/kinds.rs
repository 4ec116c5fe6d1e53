//! Repositories of every kind, among them those that git libraries misread.

use super::picture::Picture;
use super::{comes_back, comes_back_with, save};
use crate::support::Sandbox;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn shell(sandbox: &Sandbox, text: &str) {
    let output = sandbox.command("sh").args(["-ec", text]).output().unwrap();
    assert!(
        output.status.success(),
        "{text}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn tree() -> Sandbox {
    Sandbox::with_files(&[
        ("a.txt", "a\n"),
        ("in/b.txt", "b\n"),
        ("in/deep/c.txt", "c\n"),
        ("out/d.txt", "d\n"),
        ("out/deep/e.txt", "e\n"),
    ])
}

/// What an agent does to a workspace when all goes wrong, without touching refs.
fn wreck(sandbox: &Sandbox) {
    shell(
        sandbox,
        "git reset -q --hard; git clean -qffdx; rm -rf in a.txt; echo wrecked > b; git add -A",
    );
}

#[test]
fn assumed_and_skipped_files_are_held_as_they_are() {
    let sandbox = tree();
    shell(
        &sandbox,
        "git update-index --assume-unchanged a.txt; git update-index --skip-worktree in/b.txt
         echo edited > a.txt; echo edited > in/b.txt",
    );
    comes_back(&sandbox, |sandbox| {
        shell(
            sandbox,
            "git update-index --no-assume-unchanged a.txt
             git update-index --no-skip-worktree in/b.txt; git checkout -q -f .",
        );
    });
    assert_eq!(sandbox.read("a.txt"), "edited\n");
    let flags = sandbox.git(["ls-files", "-v"]);
    assert!(
        flags.contains("h a.txt") && flags.contains("S in/b.txt"),
        "{flags}"
    );
}

#[test]
fn a_sparse_checkout_comes_back() {
    for more in ["", "--sparse-index"] {
        let sandbox = tree();
        shell(
            &sandbox,
            &format!("git sparse-checkout set --cone {more} in; echo x > in/b.txt"),
        );
        assert!(!sandbox.work().join("out").exists());
        comes_back(&sandbox, |sandbox| {
            shell(
                sandbox,
                "git checkout -q -f .; git sparse-checkout disable; rm -rf in",
            );
        });
        assert!(!sandbox.work().join("out").exists());
        assert!(sandbox.git(["status", "--porcelain"]).contains("in/b.txt"));
        assert!(!sandbox.git(["status", "--porcelain"]).contains("out"));
    }
}

#[test]
fn every_form_of_index_comes_back() {
    for form in [
        "git update-index --split-index; echo z > z; git add z",
        "git update-index --index-version 4",
        "git update-index --untracked-cache; git status -s",
        "git config feature.manyFiles true; echo z > z; git add z",
        "git config index.skipHash true; echo z > z; git add z",
    ] {
        let sandbox = tree();
        shell(&sandbox, form);
        shell(
            &sandbox,
            "echo staged > a.txt; git add a.txt; echo worktree > a.txt",
        );
        let before = sandbox.git(["ls-files", "--stage", "-t"]);
        comes_back(&sandbox, wreck);
        assert_eq!(sandbox.git(["ls-files", "--stage", "-t"]), before, "{form}");
    }
}

#[test]
fn raw_bytes_come_back_under_conversions() {
    let sandbox = tree();
    sandbox.write(
        ".gitattributes",
        "*.crlf text eol=crlf\n*.id ident\n*.u16 text working-tree-encoding=UTF-16LE-BOM\n*.auto text=auto\n",
    );
    sandbox.write("a.crlf", "one\r\ntwo\r\n");
    sandbox.write("b.crlf", "one\ntwo\r\n");
    sandbox.write("c.id", "$Id$ and $Id: anything $\n");
    sandbox.write("d.u16", b"\xff\xfeh\0i\0\n\0");
    sandbox.write("e.auto", "mixed\r\nlines\n");
    shell(
        &sandbox,
        "git config core.safecrlf false; git config core.autocrlf true; git add -A; git commit -qm c",
    );
    sandbox.write("a.crlf", "one\ntwo\r\nthree\n");
    sandbox.write("c.id", "$Id: edited by hand $\n");
    comes_back(&sandbox, wreck);
}

#[test]
fn filters_never_run() {
    let sandbox = tree();
    sandbox.write(
        "big.bin",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    );
    sandbox.write(
        ".gitattributes",
        "*.bin filter=evil\n*.need filter=missing\n",
    );
    sandbox.write("x.need", "needs a filter\n");
    shell(
        &sandbox,
        "git add .gitattributes; git commit -qm attributes
         git config filter.evil.clean 'touch ../ran; cat'; git config filter.evil.smudge 'touch ../ran; cat'
         git config filter.evil.process 'touch ../ran'; git config filter.evil.required true
         git config filter.missing.clean /nowhere/clean; git config filter.missing.required true
         git config core.fsmonitor 'touch ../ran; false'; git config core.hooksPath ../hooks
         mkdir ../hooks; printf '#!/bin/sh\\ntouch ../ran\\n' > ../hooks/post-index-change
         chmod +x ../hooks/post-index-change; rm -f ../ran",
    );
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf big.bin x.need a.txt")
    });
    assert!(!sandbox.path("ran").exists());
}

#[test]
fn a_sha256_repository_comes_back() {
    let sandbox = Sandbox::plain();
    shell(
        &sandbox,
        "git init -q --object-format=sha256 -b main; echo a > a.txt; git add a.txt; git commit -qm first
         echo b > a.txt; git stash -q; echo c > a.txt; echo ignored/ > .gitignore; mkdir ignored; echo x > ignored/f",
    );
    comes_back(&sandbox, wreck);
    comes_back(&sandbox, |sandbox| {
        fs::remove_dir_all(sandbox.work().join(".git")).unwrap()
    });
    sandbox.git(["fsck", "--strict"]);
}

#[test]
fn a_reftable_repository_comes_back() {
    let sandbox = Sandbox::plain();
    let init = sandbox
        .command("git")
        .args(["init", "-q", "--ref-format=reftable", "-b", "main"])
        .output()
        .unwrap();
    if !init.status.success() {
        // git learned the format in 2.45.
        return;
    }
    shell(
        &sandbox,
        "echo a > a.txt; git add a.txt; git commit -qm first; git branch side; echo b > a.txt",
    );
    let refs = sandbox.git(["for-each-ref"]);
    let saved = save(&sandbox);
    assert_eq!(saved["branch"], "refs/heads/main");
    comes_back_with(&sandbox, &["--refs"], |sandbox| {
        shell(
            sandbox,
            "git commit -qam second; git branch -D side; git checkout -qb other",
        );
        shell(sandbox, "echo x > a.txt");
    });
    assert_eq!(sandbox.git(["for-each-ref"]), refs);
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "git checkout -q -f side; echo x > a.txt")
    });
    assert_eq!(sandbox.git(["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    comes_back(&sandbox, |sandbox| {
        fs::remove_dir_all(sandbox.work().join(".git")).unwrap()
    });
    assert_eq!(sandbox.git(["for-each-ref"]), refs);
    sandbox.git(["fsck"]);
}

#[test]
fn a_reftable_stash_comes_back_without_other_refs() {
    let sandbox = Sandbox::plain();
    let args = ["init", "-q", "--ref-format=reftable", "-b", "main"];
    let init = sandbox.command("git").args(args).output().unwrap();
    if !init.status.success() {
        return;
    }
    shell(
        &sandbox,
        "echo a > a; git add a; git commit -qm 1; echo s > a; git stash -q
         echo t > a; git stash push -q -m named; echo w > a",
    );
    let stashes = sandbox.git(["stash", "list"]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "git stash clear; git reset -q --hard; echo x > a; git commit -qam later; git gc -q --prune=now",
    );
    let head = sandbox.git(["rev-parse", "HEAD"]);
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.git(["stash", "list"]), stashes);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
    assert_eq!(sandbox.read("a"), "w\n");
    sandbox.git(["fsck"]);
}

#[test]
fn shallow_and_partial_clones_come_back_without_their_remote() {
    for more in ["--depth=1", "--filter=blob:none --no-checkout"] {
        let sandbox = Sandbox::plain();
        shell(
            &sandbox,
            "git init -q -b main ../origin; cd ../origin; git config uploadpack.allowFilter true
             echo 1 > a.txt; git add .; git commit -qm 1; echo 2 > a.txt; git commit -qam 2",
        );
        shell(
            &sandbox,
            &format!("git clone -q {more} file://$PWD/../origin . && rm -rf ../origin"),
        );
        sandbox.write("new.txt", "new\n");
        sandbox.write("a.txt", "edited\n");
        comes_back(&sandbox, |sandbox| {
            shell(sandbox, "rm -rf .git new.txt; echo x > a.txt");
        });
        sandbox.git(["log", "-1", "--format=%H"]);
        if more.contains("depth") {
            sandbox.git(["fsck"]);
        }
    }
}

#[test]
fn an_unknown_extension_does_not_matter() {
    let sandbox = tree();
    shell(
        &sandbox,
        "echo edited > a.txt
         git config core.repositoryFormatVersion 1; git config extensions.fromTheFuture true",
    );
    assert!(
        !sandbox
            .command("git")
            .arg("status")
            .output()
            .unwrap()
            .status
            .success()
    );
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf in a.txt .git/index")
    });
}

#[test]
fn a_foreign_owner_does_not_matter() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let sandbox = tree();
    sandbox.write("a.txt", "edited\n");
    shell(&sandbox, "chown -R 12345:12345 .");
    assert!(
        !sandbox
            .command("git")
            .arg("status")
            .output()
            .unwrap()
            .status
            .success()
    );
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf in a.txt .git/index .git/HEAD")
    });
    for path in ["a.txt", "in", "in/b.txt", ".git/index", ".git/HEAD"] {
        let meta = fs::metadata(sandbox.work().join(path)).unwrap();
        assert_eq!((meta.uid(), meta.gid()), (12345, 12345), "{path}");
    }
}

#[test]
fn a_plain_directory_comes_back() {
    let sandbox = Sandbox::plain();
    sandbox.write("a/b.txt", "b\n");
    sandbox.write("c.txt", "c\n");
    fs::create_dir(sandbox.work().join("empty")).unwrap();
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf a c.txt empty; echo x > d")
    });
}

#[test]
fn a_git_directory_made_later_is_left() {
    let sandbox = Sandbox::plain();
    sandbox.write("a.txt", "a\n");
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "git init -q; git add -A; git commit -qm first; echo x > a.txt",
    );
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "a\n");
    assert_eq!(sandbox.git(["log", "--format=%s"]), "first\n");
}

fn with_submodule() -> Sandbox {
    let sandbox = tree();
    shell(
        &sandbox,
        "git init -q ../lib; cd ../lib; echo l > l.txt; git add .; git commit -qm lib; echo m > l.txt; git commit -qam lib2",
    );
    shell(
        &sandbox,
        "git submodule --quiet add ../lib sub; git commit -qm sub",
    );
    sandbox
}

#[test]
fn a_dirty_submodule_comes_back() {
    let sandbox = with_submodule();
    shell(
        &sandbox,
        "cd sub; echo dirty > l.txt; echo new > n.txt; echo staged > s.txt; git add s.txt; git checkout -q HEAD~1 --detach 2>/dev/null || git checkout -q -f --detach HEAD~1; echo again > l.txt",
    );
    let status = sandbox.git(["-C", "sub", "status", "--porcelain"]);
    comes_back(&sandbox, |sandbox| {
        shell(
            sandbox,
            "git submodule --quiet update -f; git -C sub clean -qffdx; git -C sub reset -q --hard",
        );
    });
    assert_eq!(sandbox.git(["-C", "sub", "status", "--porcelain"]), status);
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf sub .git/modules")
    });
    assert_eq!(sandbox.git(["-C", "sub", "status", "--porcelain"]), status);
    sandbox.git(["-C", "sub", "fsck"]);
}

#[test]
fn inside_a_submodule_the_submodule_is_the_workspace() {
    let sandbox = with_submodule();
    shell(&sandbox, "cd sub; echo dirty > l.txt; echo new > n.txt");
    let holdpoint = |args: &[&str]| {
        let output = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(args)
            .current_dir(sandbox.work().join("sub"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let before = Picture::at(&sandbox.work().join("sub"));
    holdpoint(&["save"]);
    shell(&sandbox, "cd sub; git reset -q --hard; git clean -qffdx");
    holdpoint(&["rollback", "--yes"]);
    before.assert_same(&Picture::at(&sandbox.work().join("sub")));
}

#[test]
fn nested_repositories_come_back_whole() {
    let sandbox = tree();
    shell(
        &sandbox,
        "git init -q nested; cd nested; echo n > n.txt; git add .; git commit -qm nested; echo dirty > n.txt
         git stash -q; echo more > n.txt; cd ..
         git init -q unborn; echo u > unborn/u.txt; git -C unborn add u.txt
         echo ignored/ > .gitignore; git init -q ignored/repo; cd ignored/repo; echo i > i; git add .; git commit -qm i; echo j > i",
    );
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "git clean -qffdx; rm -rf nested unborn ignored")
    });
    for repo in ["nested", "unborn", "ignored/repo"] {
        sandbox.git(["-C", repo, "fsck"]);
    }
    assert!(
        sandbox
            .git(["-C", "nested", "stash", "list"])
            .contains("stash@{0}")
    );
}

#[test]
fn linked_worktrees_are_each_on_their_own() {
    let sandbox = tree();
    shell(
        &sandbox,
        "git worktree add -q ../linked -b side; cd ../linked; echo staged > a.txt; git add a.txt; echo edited > a.txt",
    );
    let linked = sandbox.path("linked");
    let holdpoint = |dir: &Path, args: &[&str]| {
        let output = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(args)
            .current_dir(dir)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    sandbox.write("a.txt", "main edited\n");
    let main = holdpoint(&sandbox.work(), &["save"]);
    let own = holdpoint(&linked, &["save"]);
    assert_ne!(main, own);
    let files = Picture::at(&linked).files;
    let index = fs::read(sandbox.work().join(".git/worktrees/linked/index")).unwrap();
    sandbox.write("a.txt", "main again\n");
    shell(
        &sandbox,
        "cd ../linked; git reset -q --hard; rm -rf in; git checkout -q --detach",
    );
    holdpoint(&linked, &["rollback", "--yes"]);
    assert_eq!(Picture::at(&linked).files, files);
    assert_eq!(
        fs::read(sandbox.work().join(".git/worktrees/linked/index")).unwrap(),
        index
    );
    assert_eq!(sandbox.read("a.txt"), "main again\n");
    shell(
        &sandbox,
        "test \"$(git -C ../linked symbolic-ref HEAD)\" = refs/heads/side",
    );
    holdpoint(&sandbox.work(), &["rollback", "--yes"]);
    assert_eq!(sandbox.read("a.txt"), "main edited\n");
}

#[test]
fn inside_a_hook_of_commit_all_the_real_index_is_held() {
    let sandbox = tree();
    sandbox.write("a.txt", "edited\n");
    let index = fs::read(sandbox.work().join(".git/index")).unwrap();
    sandbox.write(
        ".git/hooks/pre-commit",
        format!(
            "#!/bin/sh\n'{}' save > ../id && exit 1\n",
            env!("CARGO_BIN_EXE_holdpoint")
        ),
    );
    shell(
        &sandbox,
        "chmod +x .git/hooks/pre-commit; git commit -qam x && exit 1; test -s ../id",
    );
    assert!(!sandbox.work().join(".git/index.lock").exists());
    shell(
        &sandbox,
        "rm .git/hooks/pre-commit; git commit -qam second; git rm -q --cached a.txt",
    );
    let id = fs::read_to_string(sandbox.path("id")).unwrap();
    sandbox.holdpoint(["rollback", id.trim(), "--yes"]).exits(0);
    assert_eq!(fs::read(sandbox.work().join(".git/index")).unwrap(), index);
    assert_eq!(sandbox.read("a.txt"), "edited\n");
}

#[test]
fn what_cannot_be_read_is_named_and_never_touched() {
    let sandbox = tree();
    sandbox.write("secret", "secret\n");
    sandbox.write("dir/inner", "inner\n");
    shell(&sandbox, "chmod 000 secret dir");
    let run = |args: &[&str]| {
        let mut command = if rustix::process::geteuid().is_root() {
            shell(&sandbox, "chown -R 65534:65534 .. ; chmod 755 ..");
            let mut command = sandbox.command("setpriv");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(env!("CARGO_BIN_EXE_holdpoint"));
            command
        } else {
            sandbox.command(env!("CARGO_BIN_EXE_holdpoint"))
        };
        command.args(args).output().unwrap()
    };
    let saved = run(&["save", "--json"]);
    if !saved.status.success() && String::from_utf8_lossy(&saved.stderr).contains("setpriv") {
        return;
    }
    let text = String::from_utf8_lossy(&saved.stdout).into_owned();
    assert!(
        text.contains("secret") && text.contains("dir") && text.contains("unreadable"),
        "{text} {}",
        String::from_utf8_lossy(&saved.stderr)
    );
    sandbox.write("a.txt", "x\n");
    let rolled = run(&["rollback", "--yes"]);
    assert!(rolled.status.success(), "{rolled:?}");
    shell(&sandbox, "chmod 700 secret dir");
    assert_eq!(sandbox.read("secret"), "secret\n");
    assert_eq!(sandbox.read("dir/inner"), "inner\n");
    assert_eq!(sandbox.read("a.txt"), "a\n");
}

#[test]
fn a_vault_inside_the_workspace_is_left_out() {
    // Everything of ours, or the vault alone, where a person put it.
    for (state, store) in [
        ("in/state", None),
        (".git/state", None),
        ("../state", Some("vaults")),
        ("../state", Some("in/vaults")),
        ("../state", Some(".git/vaults")),
    ] {
        let sandbox = tree();
        if let Some(store) = store {
            let prefs = sandbox.path("config/holdpoint/preferences.json");
            fs::create_dir_all(prefs.parent().unwrap()).unwrap();
            let json = serde_json::json!({ "safety": { "store": sandbox.work().join(store) } });
            fs::write(prefs, json.to_string()).unwrap();
        }
        let run = |args: &[&str]| {
            let output = sandbox
                .command(env!("CARGO_BIN_EXE_holdpoint"))
                .env("XDG_STATE_HOME", sandbox.work().join(state))
                .args(args)
                .output()
                .unwrap();
            assert!(output.status.success(), "{state} {store:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let first = run(&["save"]);
        assert_eq!(run(&["save"]), first, "{state} {store:?}");
        sandbox.write("a.txt", "x\n");
        sandbox.write("later", "x\n");
        run(&["save"]);
        run(&["rollback", first.trim(), "--yes", "--refs"]);
        assert_eq!(sandbox.read("a.txt"), "a\n");
        assert!(!sandbox.work().join("later").exists());
        run(&["points", "verify"]);
    }
}

#[test]
fn across_file_systems_all_is_copied() {
    let shared = Path::new("/dev/shm");
    let sandbox = tree();
    let here = fs::metadata(sandbox.work()).unwrap().dev();
    if !fs::metadata(shared).is_ok_and(|meta| meta.dev() != here) {
        return;
    }
    let Ok(other) = tempfile::Builder::new()
        .prefix("holdpoint-")
        .tempdir_in(shared)
    else {
        return;
    };
    let run = |args: &[&str]| {
        let output = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .env("XDG_STATE_HOME", other.path())
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    sandbox.write("a.txt", "edited\n");
    shell(&sandbox, "mkfifo pipe; ln -s nowhere link; chmod 600 a.txt");
    let before = Picture::of(&sandbox);
    run(&["save"]);
    shell(&sandbox, "rm -rf .git a.txt pipe link in");
    run(&["rollback", "--yes"]);
    before.assert_same(&Picture::of(&sandbox));
    sandbox.git(["fsck", "--strict"]);
    run(&["points", "verify"]);
}
