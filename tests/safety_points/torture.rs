//! What an examiner would try: whole trees rewritten, links between repositories bent, others at work meanwhile.

use super::picture::Picture;
use super::wrecks::{git_says, rich, shell, survives, survives_in};
use super::{comes_back_at, holdpoint_at, save};
use crate::support::Sandbox;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};

/// The same without output that no point holds.
fn held_whole() -> Sandbox {
    let sandbox = rich();
    shell(&sandbox, "rm -rf node_modules");
    sandbox
}

#[test]
fn a_history_rewritten_by_a_filter() {
    let sandbox = rich();
    shell(&sandbox, "git rm -q --cached n; git stash push -qu");
    survives_in(
        &sandbox,
        "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --tree-filter 'rm -f a.txt' -- --all >/dev/null 2>&1
         git for-each-ref --format='delete %(refname)' refs/original | git update-ref --stdin
         git reflog expire --expire=now --all; git gc -q --prune=now",
    );
}

#[test]
fn a_branch_without_history_and_without_files() {
    survives("git checkout -q --orphan lone; git rm -rqf .; git commit -q --allow-empty -m lone");
}

#[test]
fn an_index_without_entries() {
    survives("git read-tree --empty");
    survives("git ls-files | git update-index --force-remove --stdin");
    survives("git rm -rqf --cached .; git add -A -f; git commit -qm all");
}

#[test]
fn every_file_emptied_those_of_git_too() {
    let sandbox = held_whole();
    survives_in(
        &sandbox,
        "find . -type f -exec chmod u+w {} + -exec truncate -s 0 {} +",
    );
}

#[test]
fn every_file_rewritten_those_of_git_too() {
    let sandbox = held_whole();
    survives_in(&sandbox, "find . -type f -exec sed -i s/e/E/g {} +");
}

#[test]
fn every_mode_taken_away() {
    survives_in(&held_whole(), "chmod -R 0000 .");
    survives_in(
        &held_whole(),
        "find . -type d -exec chmod 0500 {} +; find . -type f -exec chmod 0777 {} +",
    );
}

#[test]
fn all_submodules_taken_out() {
    let sandbox = rich();
    shell(
        &sandbox,
        "git init -q ../sub; cd ../sub; echo s > s; git add s; git commit -qm s; cd ../work
         git submodule --quiet add ../sub one; git submodule --quiet add ../sub in/two; git commit -qam subs
         echo d >> one/s; echo u > in/two/u; git -C one add s; git -C one checkout -q --detach",
    );
    survives_in(
        &sandbox,
        "git submodule --quiet deinit -f --all; rm -rf .git/modules",
    );
}

#[test]
fn a_git_file_that_names_somebody_elses_repository() {
    for wreck in [
        "rm -rf .git a.txt; echo gitdir: ../other/.git > .git",
        "rm -rf .git a.txt; echo gitdir: ../other/.git > .git; git add -A; git commit -qm theirs",
        "rm -f a.txt; echo ../../other/.git > .git/commondir",
    ] {
        let sandbox = rich();
        shell(
            &sandbox,
            "git init -q ../other; cd ../other; echo o > o; git add o; git commit -qm o",
        );
        let other = || fs::read(sandbox.path("other/.git/config")).unwrap();
        let config = other();
        survives_in(&sandbox, wreck);
        assert_eq!(other(), config);
        assert!(sandbox.work().join(".git/objects").is_dir());
    }
}

#[test]
fn programs_that_a_configuration_names_never_run() {
    let sandbox = rich();
    save(&sandbox);
    shell(
        &sandbox,
        "for key in core.fsmonitor core.sshCommand core.editor core.pager filter.x.clean filter.x.smudge filter.x.process diff.external gpg.program core.alternateRefsCommand; do
           git config $key 'touch \"$HOME/../ran\"; false'; done
         printf '* filter=x diff=x\\n' > .gitattributes
         mkdir -p .git/hooks; for hook in post-checkout post-index-change reference-transaction pre-auto-gc fsmonitor-watchman; do
           printf '#!/bin/sh\\ntouch \"$HOME/../ran\"\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
         rm -rf in a.txt",
    );
    save(&sandbox);
    let points: serde_json::Value =
        serde_json::from_str(&sandbox.holdpoint(["points", "--json"]).exits(0).out).unwrap();
    let first = points
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["id"].as_str().unwrap())
        .min()
        .unwrap();
    sandbox
        .holdpoint(["rollback", first, "--refs", "--yes"])
        .exits(0);
    assert!(!sandbox.path("ran").exists());
}

/// A process that ends with the test, however that ends.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn somebody_who_writes_meanwhile_stops_nothing() {
    let sandbox = rich();
    let (files, git) = (Picture::of(&sandbox), git_says(&sandbox));
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "rm -rf in; git add -A; git commit -qm gone");
    let writer = sandbox
        .command("bash")
        .args([
            "-c",
            "while :; do mkdir -p in/deep; echo $RANDOM > in/b.txt; echo $RANDOM > in/deep/c.txt; echo $RANDOM > in/other; rm -rf in; done",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let writer = Ended(writer);
    for _ in 0..5 {
        let ran = sandbox.holdpoint(["rollback", &id, "--refs", "--yes"]);
        // What is taken from under its hands is told.
        let told = ran.err.contains("could not be put back: in");
        assert!(ran.code == 0 || (ran.code == 3 && told), "{ran:?}");
    }
    drop(writer);
    sandbox
        .holdpoint(["rollback", &id, "--refs", "--yes", "--force"])
        .exits(0);
    files.assert_same(&Picture::of(&sandbox));
    assert_eq!(git, git_says(&sandbox));
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[test]
fn rollbacks_at_once_come_one_after_another() {
    let sandbox = rich();
    let first = Picture::of(&sandbox);
    let one = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "rm -rf in; echo other > a.txt; echo more > more");
    let second = Picture::of(&sandbox);
    let two = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let start = |id: &str| {
        sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["rollback", id, "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    for _ in 0..6 {
        let mut running: Vec<_> = [&one, &two, &one, &two]
            .iter()
            .map(|id| start(id))
            .collect();
        for child in &mut running {
            assert!(child.wait().unwrap().success());
        }
        let now = Picture::of(&sandbox);
        assert!(now.files == first.files || now.files == second.files);
    }
    // The last one can be undone, whichever it was.
    sandbox.holdpoint(["rollback", &one, "--yes"]).exits(0);
    sandbox.holdpoint(["rollback", &two, "--yes"]).exits(0);
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(Picture::of(&sandbox).files, first.files);
}

#[test]
fn times_of_long_ago_and_of_the_future_mislead_nobody() {
    let sandbox = rich();
    shell(
        &sandbox,
        "touch -d 1970-01-01 a.txt; touch -d 2100-01-01 in/b.txt; touch -d 2500-01-01 in/deep/c.txt",
    );
    survives_in(
        &sandbox,
        "echo A > a.txt; touch -d 1970-01-01 a.txt; sed -i s/w/W/ in/b.txt; touch -d 2100-01-01 in/b.txt; rm in/deep/c.txt",
    );
}

#[test]
fn a_set_id_bit_and_a_group_come_back() {
    let sandbox = rich();
    shell(
        &sandbox,
        "chmod 4750 a.txt; chmod 2755 in; chmod 1777 in/deep; mkfifo pipe; chmod 6755 pipe",
    );
    let group = |path: &str| fs::metadata(sandbox.work().join(path)).unwrap().gid();
    let before = group("a.txt");
    survives_in(
        &sandbox,
        "echo x > a.txt; chmod 0600 a.txt; chmod 0700 in in/deep; rm pipe",
    );
    assert_eq!(group("a.txt"), before);
}

#[test]
fn ten_thousand_empty_directories() {
    let sandbox = rich();
    shell(
        &sandbox,
        "mkdir e; cd e; for a in $(seq 100); do echo $a; done | xargs mkdir; for a in *; do (cd $a; seq 100 | xargs mkdir); done",
    );
    survives_in(&sandbox, "rm -rf e");
}

#[test]
fn a_worktree_that_was_elsewhere_from_the_start() {
    let sandbox = rich();
    shell(
        &sandbox,
        "mkdir ../tree; mv a.txt in .gitignore ../tree; git config core.worktree ../../tree",
    );
    let tree = sandbox.path("tree");
    let run = |args: &[&str]| {
        let output = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(args)
            .env("GIT_DIR", sandbox.work().join(".git"))
            .env("GIT_WORK_TREE", &tree)
            .current_dir(&tree)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let before = Picture::at(&tree);
    let id = run(&["save"]);
    shell(&sandbox, "rm -rf ../tree/in; echo x > ../tree/a.txt");
    run(&["rollback", &id, "--yes"]);
    before.assert_same(&Picture::at(&tree));
    // From where the repository lies, only what lies there is held, and that is said.
    let told = sandbox.holdpoint(["save"]).exits(0).err;
    assert!(
        told.contains("core.worktree") && told.contains("GIT_WORK_TREE"),
        "{told}"
    );
    shell(&sandbox, "git config core.worktree ..; echo n > n");
    assert_eq!(sandbox.holdpoint(["save"]).exits(0).err, "");
}

#[test]
fn a_worktree_that_git_took_away() {
    for wreck in [
        "git worktree remove --force ../linked; mkdir ../linked",
        "rm -rf ../linked; git worktree prune; mkdir ../linked",
        "rm -rf .git/worktrees; git -C ../linked status || rm ../linked/a.txt",
    ] {
        let sandbox = rich();
        shell(
            &sandbox,
            "git worktree add -q ../linked side; cd ../linked; echo l > a.txt; echo u > u; git add u; echo i > .env",
        );
        comes_back_at(&sandbox, &sandbox.path("linked"), &["--refs"], || {
            shell(&sandbox, wreck);
        });
    }
}

/// Marks files that nobody may change; false where the file system or the user cannot.
fn immutable(sandbox: &Sandbox, sign: &str, paths: &[&str]) -> bool {
    Command::new("chattr")
        .arg(sign)
        .args(paths)
        .current_dir(sandbox.work())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn what_nobody_may_change_is_named_and_comes_back_later() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let before = Picture::of(&sandbox);
    shell(&sandbox, "echo x > a.txt; rm in/b.txt");
    if !immutable(&sandbox, "+i", &["a.txt", "in"]) {
        return;
    }
    let ran = sandbox.holdpoint(["rollback", &id, "--yes"]).exits(3);
    immutable(&sandbox, "-i", &["a.txt", "in"]);
    for told in [
        "could not be put back: a.txt",
        "could not be put back: in/b.txt",
        "immutable",
        "holdpoint rollback",
    ] {
        assert!(ran.err.contains(told), "{}", ran.err);
    }
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
}

#[test]
fn more_files_than_are_synced_one_by_one() {
    let sandbox = rich();
    shell(
        &sandbox,
        "mkdir many; for n in $(seq 700); do echo $n > many/$n; done",
    );
    survives_in(&sandbox, "for n in $(seq 700); do echo x > many/$n; done");
}

#[test]
fn an_index_that_nobody_may_change_is_named() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let (before, said) = (Picture::of(&sandbox), git_says(&sandbox));
    shell(&sandbox, "git add -A; git commit -qm all; rm a.txt");
    if !immutable(&sandbox, "+i", &[".git/index"]) {
        return;
    }
    let args = ["rollback", &id, "--yes", "--refs"];
    let ran = sandbox.holdpoint(args).exits(3);
    immutable(&sandbox, "-i", &[".git/index"]);
    assert!(
        ran.err.contains("could not be put back: .git/index"),
        "{}",
        ran.err
    );
    // It cannot be asked for by its name, so nothing else is said.
    assert!(!ran.err.contains("-- PATHS"), "{}", ran.err);
    assert!(sandbox.work().join("a.txt").exists());
    sandbox.holdpoint(args).exits(0);
    before.assert_same(&Picture::of(&sandbox));
    assert_eq!(git_says(&sandbox), said);
}

#[test]
fn devices_and_sockets_in_the_place_of_files_are_named() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    fs::remove_file(sandbox.work().join("a.txt")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(sandbox.work().join("a.txt")).unwrap();
    shell(&sandbox, "rm in/b.txt");
    let ran = sandbox.holdpoint(["rollback", &id, "--yes"]).exits(3);
    let told = "could not be put back: a.txt (what is there now is held by no point)";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert_eq!(sandbox.read("in/b.txt"), "worktree\n");
    let log = sandbox.holdpoint(["log", "--json", "-n", "1"]).exits(0).out;
    assert!(log.contains("\"partial\""), "{log}");
    // And again, with nothing else left to do.
    let again = sandbox
        .holdpoint(["rollback", &id, "--yes", "--json"])
        .exits(3);
    let said: serde_json::Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(
        (&said["changed"], &said["left"][0]["failed"]),
        (&0.into(), &true.into())
    );
    assert_eq!(said["left"][0]["path"], "a.txt");
}

#[test]
fn newer_packs_that_nobody_can_read_go() {
    let sandbox = rich();
    survives_in(
        &sandbox,
        "git gc -q; git multi-pack-index write --bitmap; git commit-graph write
         find .git/objects -type f -exec chmod u+w {} + -exec truncate -s 0 {} +",
    );
}

#[test]
fn a_file_that_a_process_has_open_keeps_what_it_writes() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.write("a.txt", "open\n");
    let mut open = fs::File::options()
        .append(true)
        .open(sandbox.work().join("a.txt"))
        .unwrap();
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    std::io::Write::write_all(&mut open, b"late\n").unwrap();
    assert_eq!(sandbox.read("a.txt"), "a\na2\n");
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "open\n");
}

#[test]
fn a_name_that_differs_in_case_only_is_another_name() {
    let sandbox = rich();
    sandbox.write("A.TXT", "upper\n");
    sandbox.write("IN/b.txt", "upper b\n");
    survives_in(&sandbox, "rm A.TXT; mv IN/b.txt IN/B.TXT; rm -rf in");
}

#[test]
fn a_workspace_behind_a_link_is_the_same_workspace() {
    let sandbox = rich();
    let before = Picture::of(&sandbox);
    std::os::unix::fs::symlink(sandbox.work(), sandbox.path("link")).unwrap();
    let id = holdpoint_at(&sandbox, &sandbox.path("link"), &["save"]);
    shell(&sandbox, "rm -rf in .git");
    holdpoint_at(&sandbox, &sandbox.work(), &["rollback", &id, "--yes"]);
    before.assert_same(&Picture::of(&sandbox));
}

#[test]
fn a_limit_for_the_size_of_files_is_loud() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let limited = |args: &str| {
        let script = format!("ulimit -f 100; exec holdpoint {args}");
        sandbox
            .command("bash")
            .args(["-c", &script])
            .output()
            .unwrap()
    };
    let noise: Vec<u8> = (0..400_000_u32)
        .flat_map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[..4].to_vec())
        .collect();
    sandbox.write("large", &noise);
    let output = limited("save");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code().is_some_and(|code| code != 0),
        "{output:?}"
    );
    assert!(
        err.contains("cannot write") && err.contains("earlier points are intact"),
        "{err}"
    );
    let before = Picture::of(&sandbox);
    let large = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    let output = limited(&format!("rollback {large} --yes"));
    assert!(
        output.status.code().is_some_and(|code| code != 0),
        "{output:?}"
    );
    sandbox.holdpoint(["rollback", &large, "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
    sandbox.holdpoint(["points", "verify"]).exits(0);
}
