//! A git directory, or a part of it, in whose place something else is: all of it comes back.

use super::picture::Picture;
use super::wrecks::{git_says, rich, shell, survives, survives_in};
use super::{in_dir, save};
use crate::support::{Ran, Sandbox};
use std::fs;
use std::path::{Path, PathBuf};

/// Another repository with a commit of its own, at `../other`.
const OTHER: &str = "git init -q ../other; git -C ../other commit -q --allow-empty -m other";

/// Runs a command line in a directory.
#[track_caller]
fn shell_at(sandbox: &Sandbox, dir: &Path, text: &str) -> Ran {
    in_dir(sandbox, dir, "bash", &["-ec", text]).exits(0)
}

/// What git says in a directory, and every path of it.
fn state(sandbox: &Sandbox, dir: &Path) -> (Picture, Vec<String>) {
    let says = [
        "git --no-optional-locks status --porcelain=v2 --branch",
        "git ls-files -s -v --debug",
        "git fsck --no-dangling 2>&1 | grep -v -e notice -e hint",
        "git show-ref --head; git stash list; git worktree list",
        "git config -l --local",
    ];
    let says = says
        .iter()
        .map(|text| in_dir(sandbox, dir, "bash", &["-c", text]).out)
        .collect();
    (Picture::at(dir), says)
}

/// Takes a point in `dir`, wrecks, rolls back, undoes and redoes; fails the test where `dir` is not as it was.
#[track_caller]
fn comes_back_in(sandbox: &Sandbox, dir: &Path, wreck: &str) {
    let run = |args: &[&str]| in_dir(sandbox, dir, env!("CARGO_BIN_EXE_holdpoint"), args);
    let whole = |(files, says): (Picture, Vec<String>), when: &str| {
        let (now, now_says) = state(sandbox, dir);
        files.assert_same(&now);
        assert_eq!(says, now_says, "{wreck}: {when}");
    };
    let before = state(sandbox, dir);
    let id = run(&["save"]).exits(0).out.trim().to_owned();
    shell_at(sandbox, dir, wreck);
    let wrecked = Picture::at(dir);
    let ran = run(&["rollback", &id, "--refs", "--yes"]);
    assert_eq!(ran.code, 0, "{wreck}: {}{}", ran.out, ran.err);
    whole(before.clone(), "rolled back");
    run(&["rollback", "--undo", "--yes"]).exits(0);
    // What was at `.git` is back too, whatever it was.
    assert_eq!(
        wrecked.files.get(b".git".as_slice()),
        Picture::at(dir).files.get(b".git".as_slice()),
        "{wreck}"
    );
    run(&["rollback", "--redo", "--yes"]).exits(0);
    whole(before, "redone");
    run(&["points", "verify"]).exits(0);
}

#[test]
fn whatever_takes_the_place_of_the_git_directory_goes() {
    for wreck in [
        "rm -rf .git; mkfifo .git",
        "rm -rf .git; mkfifo ../f; ln -s ../f .git",
        "rm -rf .git; ln -s .git .git",
        "rm -rf .git; ln -s ../nothing .git",
        "mv .git ../g; echo gitdir: ../g > .git",
        "rm -rf .git; mkdir -m 0 .git",
        "chmod 0 .git",
        "rm -rf .git; git init -q --object-format=sha256; git add -A; git commit -qm other",
        "rm -rf .git; git init -q --object-format=sha256; git add -A; git commit -qm other; git gc -q; git multi-pack-index write; git commit-graph write --reachable 2>&1",
    ] {
        survives(&format!("{wreck}; rm a.txt"));
    }
    for place in [
        "ln -s ../other/.git .git",
        "echo gitdir: ../other/.git > .git",
    ] {
        survives(&format!(
            "{OTHER}; rm -rf .git; {place}; git reset -q --hard"
        ));
    }
}

#[test]
fn a_socket_in_the_place_of_the_git_directory_is_named() {
    let sandbox = rich();
    let (files, git) = (Picture::of(&sandbox), git_says(&sandbox));
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "rm -rf .git in");
    let dot_git = sandbox.work().join(".git");
    drop(std::os::unix::net::UnixListener::bind(&dot_git).unwrap());
    let ran = sandbox
        .holdpoint(["rollback", &id, "--refs", "--yes"])
        .exits(3);
    assert!(ran.err.contains("move it away"), "{}", ran.err);
    assert!(sandbox.work().join("in/b.txt").exists());
    fs::remove_file(&dot_git).unwrap();
    sandbox
        .holdpoint(["rollback", &id, "--refs", "--yes"])
        .exits(0);
    files.assert_same(&Picture::of(&sandbox));
    assert_eq!(git, git_says(&sandbox));
}

#[test]
fn a_repository_made_anew_is_no_reason_to_lose_the_old_ones_branches() {
    let sandbox = rich();
    let (files, git) = (Picture::of(&sandbox), git_says(&sandbox));
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "rm -rf .git; git init -q -b main; git add -A; git commit -qm anew; git remote add x y",
    );
    // Nobody asked for the refs: but no ref has moved, another repository has come.
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    files.assert_same(&Picture::of(&sandbox));
    assert_eq!(git, git_says(&sandbox));
}

#[test]
fn of_a_repository_made_anew_nothing_stays() {
    for made in [
        "git init -q --ref-format=reftable 2>/dev/null || git init -q",
        "git init -q -b theirs",
        "git init -q --object-format=sha256",
        "mkdir -p .git/objects .git/refs/x; echo junk > .git/refs/x/j; echo junk > .git/config",
    ] {
        let sandbox = rich();
        let (files, git) = (Picture::of(&sandbox), git_says(&sandbox));
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        let commit = "git add -A; git commit -qm anew; git branch theirs2; git pack-refs --all; git tag t; git worktree add -qf ../theirs";
        shell(
            &sandbox,
            &format!("rm -rf .git; {made}; ({commit}) || true"),
        );
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        files.assert_same(&Picture::of(&sandbox));
        assert_eq!(git, git_says(&sandbox), "{made}");
        assert!(!sandbox.work().join(".git/reftable").exists());
        assert!(!sandbox.work().join(".git/worktrees/theirs").exists());
    }
}

#[test]
fn a_head_that_is_lost_moves_no_branch() {
    for wreck in [
        "rm .git/HEAD",
        "rm .git/HEAD; mkdir .git/HEAD",
        "rm .git/HEAD .git/config .git/index",
    ] {
        let sandbox = rich();
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        shell(
            &sandbox,
            "git checkout -q side -f; git commit -q --allow-empty -m later; git branch new",
        );
        let later = sandbox.git(["rev-parse", "side"]);
        shell(&sandbox, wreck);
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        assert_eq!(sandbox.git(["rev-parse", "side"]), later, "{wreck}");
        assert_eq!(sandbox.git(["rev-parse", "new"]), later, "{wreck}");
        assert_eq!(sandbox.git(["symbolic-ref", "HEAD"]), "refs/heads/main\n");
        sandbox.git(["status"]);
    }
}

#[test]
fn refs_that_were_overwritten_were_not_moved() {
    for wreck in [
        "for f in heads/main heads/side tags/v1 tags/v2; do : > .git/refs/$f; done",
        "echo garbage > .git/refs/heads/side",
        "head -c 41 /dev/zero > .git/refs/heads/side",
    ] {
        let sandbox = rich();
        let git = git_says(&sandbox);
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        shell(
            &sandbox,
            &format!("git branch new; git branch -f other HEAD~1; {wreck}"),
        );
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        shell(&sandbox, "git branch -qD new other");
        assert_eq!(git, git_says(&sandbox), "{wreck}");
    }
}

#[test]
fn a_list_of_refs_that_git_cannot_read_comes_back_unasked() {
    for wreck in [
        "echo garbage > .git/packed-refs",
        "truncate -s 100 .git/packed-refs",
    ] {
        let sandbox = rich();
        shell(&sandbox, "git pack-refs --all");
        let git = git_says(&sandbox);
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        shell(&sandbox, wreck);
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        assert_eq!(git, git_says(&sandbox), "{wreck}");
    }
}

#[test]
fn tables_of_refs_that_git_cannot_read_come_back_unasked() {
    for wreck in [
        "rm -rf .git/reftable",
        ": > .git/reftable/tables.list",
        "for f in .git/reftable/*.ref; do chmod u+w $f; echo junk > $f; done",
        "rm -rf .git/reftable; echo x > .git/reftable",
    ] {
        let sandbox = rich();
        shell(&sandbox, "git stash drop -q");
        let moved = sandbox
            .command("git")
            .args(["refs", "migrate", "--ref-format=reftable"])
            .output();
        if !moved.is_ok_and(|output| output.status.success()) {
            return;
        }
        let git = git_says(&sandbox);
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        shell(&sandbox, &format!("rm a.txt; {wreck}"));
        let ran = sandbox.holdpoint(["rollback", &id, "--yes"]);
        assert_eq!(ran.code, 0, "{wreck}: {}{}", ran.out, ran.err);
        assert_eq!(git, git_says(&sandbox), "{wreck}");
        sandbox.git(["fsck"]);
    }
}

#[test]
fn objects_that_were_packed_anew_are_no_other_repository() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "git branch new; git remote add x y; git gc -q --prune=now; rm a.txt",
    );
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.git(["remote"]), "x\n");
    sandbox.git(["rev-parse", "--verify", "new"]);
    assert!(sandbox.work().join("a.txt").exists());
}

#[test]
fn something_else_in_the_place_of_a_part_goes() {
    let ways = [
        (
            "rm -rf .git/X; mkdir .git/X; echo x > .git/X/x",
            "HEAD index config packed-refs",
        ),
        (
            "rm -rf .git/X; ln -s X .git/X",
            "HEAD refs objects config packed-refs logs",
        ),
        (
            "mv .git/X ../moved; ln -s ../../moved .git/X",
            "objects logs config modules",
        ),
        (
            "rm -rf .git/X; echo junk > .git/X",
            "objects refs logs info modules",
        ),
        ("rm -rf .git/X; mkfifo .git/X", "objects logs HEAD"),
        ("chmod 0 .git/X", "HEAD config objects logs info"),
    ];
    for (wreck, parts) in ways {
        for part in parts.split(' ') {
            let sandbox = rich();
            shell(
                &sandbox,
                "git pack-refs --all; git update-ref refs/heads/l HEAD; mkdir -p .git/modules/x",
            );
            survives_in(&sandbox, &format!("{}; rm a.txt", wreck.replace('X', part)));
            let kinds = |path: &str| fs::symlink_metadata(sandbox.work().join(path)).unwrap();
            let meta = kinds(&format!(".git/{part}"));
            let is_dir = ["objects", "refs", "logs", "info", "modules"].contains(&part);
            assert!(
                meta.is_dir() == is_dir && meta.is_file() != is_dir,
                "{wreck} {part}"
            );
            assert_ne!(
                std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o700,
                0
            );
        }
    }
}

#[test]
fn two_parts_at_once_come_back() {
    for wreck in [
        "rm .git/HEAD; mkdir -p .git/HEAD/x; rm -rf .git/refs; echo x > .git/refs",
        "rm -rf .git/objects .git/refs; ln -s ../none .git/objects; ln -s ../none .git/refs",
        "mv .git/objects ..; ln -s ../../objects .git/objects; rm .git/HEAD",
        "rm .git/config .git/index; mkdir -p .git/config/x .git/index/x",
        "mv .git/HEAD ..; ln -s ../../HEAD .git/HEAD; chmod 0 .git/objects",
    ] {
        survives(wreck);
    }
}

#[test]
fn what_programs_beside_git_keep_comes_back() {
    let sandbox = rich();
    shell(
        &sandbox,
        "mkdir -p .git/lfs/objects/ab/cd .git/rr-cache/c .git/svn
         echo b > .git/lfs/objects/ab/cd/$(echo b | sha256sum | cut -c1-64)
         echo p > .git/rr-cache/c/preimage; echo r > .git/svn/.metadata",
    );
    let list = "cd .git; find lfs rr-cache svn -type f | sort | xargs sha256sum";
    let before = shell_at(&sandbox, &sandbox.work(), list).out;
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "rm -rf .git/lfs .git/rr-cache .git/svn");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(before, shell_at(&sandbox, &sandbox.work(), list).out);
}

#[test]
fn borrowed_objects_are_found_again() {
    let sandbox = rich();
    shell(
        &sandbox,
        "cd ..; git clone -q -s work clone; mv work lent; mv clone work; cd work
         sed -i s,work/.git,lent/.git, .git/objects/info/alternates; echo u > u",
    );
    for wreck in [
        "echo /nothing > .git/objects/info/alternates",
        "rm .git/objects/info/alternates",
        "rm -rf .git/objects",
        "rm .git/objects/info/alternates; mkdir .git/objects/info/alternates",
    ] {
        survives_in(&sandbox, wreck);
    }
}

/// A workspace whose `.git` names a git directory beside it.
fn apart(form: &str) -> Sandbox {
    let sandbox = rich();
    shell(&sandbox, &format!("mv .git ../apart; {form}"));
    sandbox
}

#[test]
fn a_git_directory_beside_the_worktree_comes_back_to_it() {
    for form in ["ln -s ../apart .git", "echo gitdir: ../apart > .git"] {
        for wreck in [
            "rm .git; git init -q; git add -A; git commit -qm anew",
            "rm -rf .git ../apart; git init -q; git add -A; git commit -qm anew",
            "rm .git; mkdir .git",
            "rm .git; mkfifo .git",
            "rm .git; mv ../apart .git",
            "rm .git; cp -a ../apart .git; rm a.txt; git commit -qam later",
        ] {
            let sandbox = apart(form);
            comes_back_in(&sandbox, &sandbox.work(), wreck);
        }
        let sandbox = apart(form);
        shell(&sandbox, OTHER);
        comes_back_in(
            &sandbox,
            &sandbox.work(),
            "rm .git; ln -s ../other/.git .git; git reset -q --hard",
        );
    }
}

/// A superproject at `work` with changes in its submodule `sub`.
fn with_submodule() -> Sandbox {
    let sandbox = rich();
    shell(
        &sandbox,
        "git init -q ../sub; cd ../sub; echo s > s; git add s; git commit -qm s; cd ../work
         git submodule --quiet add ../sub sub; git commit -qm sub
         cd sub; echo d >> s; git stash -q; echo e >> s; git add s; echo u > u",
    );
    sandbox
}

#[test]
fn a_submodule_that_was_made_a_repository_of_its_own_is_one_again() {
    for wreck in [
        "rm .git; git init -q; git add -A; git commit -qm anew",
        "rm .git; cp -a ../.git/modules/sub .git; git config -f .git/config --unset core.worktree || true",
        "rm .git; mkfifo .git",
    ] {
        let sandbox = with_submodule();
        comes_back_in(&sandbox, &sandbox.work().join("sub"), wreck);
    }
}

#[test]
fn a_superproject_has_its_submodules_as_they_were() {
    for wreck in [
        "rm sub/.git; git init -q sub; git -C sub add -A; git -C sub commit -qm anew",
        "rm -rf .git/modules; echo x > .git/modules",
        "mv .git/modules ../m; ln -s ../../m .git/modules",
        "rm .git/modules/sub/HEAD; mkdir -p .git/modules/sub/HEAD/x",
    ] {
        let sandbox = with_submodule();
        let before = state(&sandbox, &sandbox.work().join("sub"));
        survives_in(&sandbox, wreck);
        let now = state(&sandbox, &sandbox.work().join("sub"));
        before.0.assert_same(&now.0);
        assert_eq!(before.1, now.1, "{wreck}");
    }
}

/// A repository at `work` and its linked worktree beside it, with changes.
fn with_linked() -> (Sandbox, PathBuf) {
    let sandbox = rich();
    shell(
        &sandbox,
        "git worktree add -q ../linked -b l; cd ../linked
         echo y >> a.txt; git stash -q; echo z > z; git add z; echo zz > z",
    );
    let dir = sandbox.path("linked");
    (sandbox, dir)
}

#[test]
fn a_linked_worktree_comes_back_to_its_repository() {
    for wreck in [
        "rm .git; git init -q; git add -A; git commit -qm anew",
        "rm .git; mkdir .git",
        "rm .git; mkfifo .git",
        "rm .git; ln -s ../work/.git .git",
        "git init -q ../other; echo gitdir: ../other/.git > .git",
        "rm ../work/.git/worktrees/linked/HEAD; mkdir -p ../work/.git/worktrees/linked/HEAD/x",
        "echo /elsewhere/.git > ../work/.git/worktrees/linked/gitdir",
        "echo junk > ../work/.git/worktrees/linked/commondir",
        "rm -rf ../work/.git/worktrees; echo x > ../work/.git/worktrees",
        "rm -rf ../work/.git a.txt",
        "rm -rf ../work/.git/HEAD ../work/.git/objects a.txt",
    ] {
        let (sandbox, dir) = with_linked();
        comes_back_in(&sandbox, &dir, wreck);
    }
}

#[test]
fn what_git_made_at_a_worktrees_old_place_is_its_own() {
    let (sandbox, dir) = with_linked();
    let run = |args: &[&str]| in_dir(&sandbox, &dir, env!("CARGO_BIN_EXE_holdpoint"), args);
    run(&["save"]).exits(0);
    shell(&sandbox, "git worktree remove --force ../linked");
    shell(&sandbox, "git init -q ../linked");
    let ran = run(&["points", "--json"]).exits(0);
    assert!(!ran.out.contains("\"id\""), "{}", ran.out);
}

/// Runs a command line in the workspace as somebody who is not root; `None` where that cannot be done.
fn as_ordinary(sandbox: &Sandbox, text: &str) -> Option<Ran> {
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = sandbox.command("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .args(["bash", "-ec", text]);
        command
    } else {
        let mut command = sandbox.command("bash");
        command.args(["-ec", text]);
        command
    };
    let ran = Ran::from(command.output().ok()?);
    // 126 and 127: there is no such program, or its directory is closed to others.
    (![126, 127].contains(&ran.code)).then_some(ran)
}

#[test]
fn what_its_owner_closed_to_himself_is_opened_again() {
    let holdpoint = env!("CARGO_BIN_EXE_holdpoint");
    for wreck in [
        "chmod 0 .git",
        "chmod 0 .git/HEAD .git/index .git/config",
        "find .git -depth -exec chmod 0 {} +",
        "find in a.txt .env -depth -exec chmod 0 {} +",
        "find . -name node_modules -prune -o -exec chmod a-w {} +",
        "chmod 0 in/deep; rm a.txt; chmod 555 .",
        "chmod 111 in/deep; chmod 444 in",
    ] {
        let sandbox = rich();
        if rustix::process::geteuid().is_root() {
            shell(&sandbox, "chown -R 65534:65534 ..; chmod 755 ..");
        }
        let (files, git) = (Picture::of(&sandbox), git_says(&sandbox));
        let Some(saved) = as_ordinary(&sandbox, &format!("'{holdpoint}' save")) else {
            return;
        };
        let id = saved.exits(0).out.trim().to_owned();
        let text = format!("{wreck}; '{holdpoint}' rollback {id} --refs --yes");
        let ran = as_ordinary(&sandbox, &text).unwrap();
        assert_eq!(ran.code, 0, "{wreck}: {}{}", ran.out, ran.err);
        files.assert_same(&Picture::of(&sandbox));
        assert_eq!(git, git_says(&sandbox), "{wreck}");
        let undone =
            format!("'{holdpoint}' rollback --undo --yes; '{holdpoint}' rollback --redo --yes");
        as_ordinary(&sandbox, &undone).unwrap().exits(0);
        files.assert_same(&Picture::of(&sandbox));
    }
}
