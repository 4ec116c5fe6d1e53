//! Operations in progress: aborted, rolled back, and gone on with.

use super::picture::Picture;
use super::{comes_back, save};
use crate::support::Sandbox;
use std::fs;

fn shell(sandbox: &Sandbox, text: &str) {
    let output = sandbox.command("sh").args(["-ec", text]).output().unwrap();
    assert!(
        output.status.success(),
        "{text}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Two branches that change the same line, and two that do not.
fn conflict() -> Sandbox {
    let sandbox = Sandbox::with_files(&[("a.txt", "base\n"), ("b.txt", "b\n")]);
    shell(
        &sandbox,
        "git checkout -qb side; echo side > a.txt; git commit -qam side; echo more > c.txt; git add c.txt; git commit -qm more
         git checkout -q main; echo main > a.txt; git commit -qam main",
    );
    sandbox
}

#[track_caller]
fn goes_on(start: &str, abort: &str, go_on: &str) {
    let sandbox = conflict();
    shell(&sandbox, &format!("{start} && exit 1 || true"));
    sandbox.write("b.txt", "dirty\n");
    let status = sandbox.git(["status"]);
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, &format!("git checkout -q b.txt; {abort}"))
    });
    assert_eq!(sandbox.git(["status"]), status);
    shell(
        &sandbox,
        &format!("git checkout -q b.txt; echo both > a.txt; git add a.txt; {go_on}"),
    );
    sandbox.git(["fsck", "--strict"]);
    assert_eq!(sandbox.git(["status", "--porcelain"]), "");
}

#[test]
fn a_merge_goes_on() {
    goes_on(
        "git merge side",
        "git merge --abort",
        "git merge --continue",
    );
}

#[test]
fn a_rebase_goes_on() {
    goes_on(
        "git rebase side",
        "git rebase --abort",
        "git rebase --continue",
    );
}

#[test]
fn a_rebase_by_patches_goes_on() {
    goes_on(
        "git rebase --apply side",
        "git rebase --abort",
        "git rebase --continue",
    );
}

#[test]
fn a_cherry_pick_goes_on() {
    goes_on(
        "git cherry-pick side~1 side",
        "git cherry-pick --abort",
        "git cherry-pick --continue",
    );
}

#[test]
fn a_revert_goes_on() {
    goes_on(
        "echo later > a.txt; git commit -qam later; git revert HEAD~1",
        "git revert --abort",
        "git revert --continue",
    );
}

#[test]
fn an_applied_mailbox_goes_on() {
    let sandbox = conflict();
    shell(
        &sandbox,
        "git format-patch -q -2 side -o ../patches; git am -3 ../patches/* && exit 1 || true",
    );
    let status = sandbox.git(["status"]);
    comes_back(&sandbox, |sandbox| shell(sandbox, "git am --abort"));
    assert_eq!(sandbox.git(["status"]), status);
    shell(
        &sandbox,
        "echo both > a.txt; git add a.txt; git am --continue",
    );
}

#[test]
fn a_bisection_goes_on() {
    let sandbox = conflict();
    shell(
        &sandbox,
        "for n in 1 2 3 4 5 6; do echo $n > n.txt; git add n.txt; git commit -qm $n; done
         git bisect start -q HEAD HEAD~6 >/dev/null",
    );
    let status = sandbox.git(["status"]);
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "git bisect reset 2>/dev/null")
    });
    assert_eq!(sandbox.git(["status"]), status);
    shell(
        &sandbox,
        "git bisect good >/dev/null; git bisect log >/dev/null",
    );
}

#[test]
fn a_finished_merge_is_taken_back_with_its_refs() {
    let sandbox = conflict();
    shell(&sandbox, "git merge side && exit 1 || true");
    let before = Picture::of(&sandbox);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "echo both > a.txt; git add a.txt; git merge --continue",
    );
    let ran = sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert!(ran.err.contains("--refs"), "{}", ran.err);
    assert!(!sandbox.work().join(".git/MERGE_HEAD").exists());
    sandbox
        .holdpoint(["rollback", &id, "--yes", "--refs"])
        .exits(0);
    before.assert_same(&Picture::of(&sandbox));
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
    shell(
        &sandbox,
        "echo both > a.txt; git add a.txt; git merge --continue",
    );
}

#[test]
fn resolved_conflicts_can_be_unresolved() {
    let sandbox = conflict();
    shell(
        &sandbox,
        "git merge side && exit 1 || true; echo both > a.txt; git add a.txt",
    );
    comes_back(&sandbox, |sandbox| shell(sandbox, "git reset -q --hard"));
    shell(&sandbox, "git checkout -m a.txt; grep -q '<<<<' a.txt");
}

#[test]
fn a_point_leaves_no_trace() {
    let sandbox = conflict();
    shell(&sandbox, "git tag v1; git stash list");
    let snapshot = |sandbox: &Sandbox| {
        let output = sandbox
            .command("sh")
            .args(["-c", "find .git -type f -exec sha256sum {} + | sort; find .git -printf '%p %m %y\\n' | sort"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let asked = |sandbox: &Sandbox| {
        shell(
            sandbox,
            "rm -rf ../mirror; git init -q --bare ../mirror; git push -q --mirror ../mirror; git bundle create -q ../all --all",
        );
        let mut text = sandbox.git(["log", "--all", "--format=%H"]);
        text.push_str(&sandbox.git(["stash", "list"]));
        text.push_str(&sandbox.git(["count-objects", "-v"]));
        text.push_str(&sandbox.git(["-C", "../mirror", "for-each-ref"]));
        text.push_str(&sandbox.git(["bundle", "list-heads", "../all"]));
        text
    };
    let (before, answers) = (snapshot(&sandbox), asked(&sandbox));
    for round in 0..100 {
        sandbox.write("a.txt", format!("{round}\n"));
        save(&sandbox);
    }
    assert_eq!(snapshot(&sandbox), before);
    assert_eq!(asked(&sandbox), answers);
    assert!(!fs::exists(sandbox.work().join(".git/holdpoint")).unwrap());
    sandbox.holdpoint(["points", "verify"]).exits(0);
}
