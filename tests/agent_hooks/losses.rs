//! What git itself would lose without a word, on real state: held before, and harmless twins let through.

use super::calls::{goes_on, shell};
use crate::support::Sandbox;
use std::fs;
use std::process::Command;

/// One command line of git on a state of its own.
struct Row {
    /// The state, as a script.
    given: &'static str,
    /// What the agent wants to run.
    command: &'static str,
    /// A file that the command would destroy; empty where it destroys commits, or nothing.
    victim: &'static str,
}

const fn row(given: &'static str, command: &'static str, victim: &'static str) -> Row {
    Row {
        given,
        command,
        victim,
    }
}

/// `main` ignores what `other` tracks: `local.conf`, and a file where an ignored directory is.
fn repository() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        ("a.txt", "1\n"),
        ("b.txt", "1\n"),
        ("dir/x.txt", "1\n"),
        ("keep/y.txt", "1\n"),
        (".gitignore", "*.conf\nmine/\n"),
    ]);
    script(
        &sandbox,
        "echo 2 > a.txt; git commit -qam second
         git checkout -q -b other; echo theirs > local.conf; echo f > mine; echo other > b.txt
         git add -f .; git commit -qm theirs; git checkout -q main",
    );
    sandbox
}

fn script(sandbox: &Sandbox, text: &str) -> bool {
    let mut command: Command = sandbox.command("sh");
    command.args(["-ec", text]);
    command.env("GIT_CONFIG_COUNT", "1");
    command.env("GIT_CONFIG_KEY_0", "core.hooksPath");
    command.env("GIT_CONFIG_VALUE_0", "/dev/null");
    command.output().unwrap().status.success()
}

const IGNORED: &str = "echo MINE > local.conf";
const SUBMODULE: &str =
    "git init -q ../sub; (cd ../sub; echo s > s.txt; git add .; git commit -qm s)
    git submodule --quiet add ../sub sub; git commit -qm sub; ";

/// Commands after which the victim's bytes, or commits, are nowhere.
const LOSING: &[Row] = &[
    row(IGNORED, "git checkout -q -b new other", "local.conf"),
    row(IGNORED, "git switch -q -c new other", "local.conf"),
    row(IGNORED, "git switch -q --detach other", "local.conf"),
    row(IGNORED, "git merge -q --no-edit other", "local.conf"),
    row(IGNORED, "git cherry-pick other", "local.conf"),
    row(IGNORED, "git cherry-pick main..other", "local.conf"),
    row(IGNORED, "git read-tree -m -u HEAD other", "local.conf"),
    row(IGNORED, "git checkout -q other -- .", "local.conf"),
    row(IGNORED, "git restore --source=other .", "local.conf"),
    row(
        "git checkout -q other; git rm -q local.conf; git commit -qm gone; echo MINE > local.conf",
        "git revert --no-edit HEAD",
        "local.conf",
    ),
    row(
        "git checkout -q other; echo z > local.conf; git stash -q; git checkout -q main; echo MINE > local.conf",
        "git stash pop",
        "local.conf",
    ),
    row(
        "git clone -q --bare . ../r; git remote add origin ../r; git fetch -q; git branch -qD other; echo MINE > local.conf",
        "git checkout -q other",
        "local.conf",
    ),
    row(
        "git clone -q --bare . ../r; git remote add origin ../r; git fetch -q; git branch -q -u origin/other; echo MINE > local.conf",
        "git pull -q --no-rebase",
        "local.conf",
    ),
    row(
        "git checkout -q other; git bisect start HEAD HEAD~1; git checkout -q main; echo MINE > local.conf",
        "git bisect reset",
        "local.conf",
    ),
    row(
        "mkdir mine; echo MINE > mine/o",
        "git checkout -q other",
        "mine/o",
    ),
    row(
        "echo MINE > dir/my.conf",
        "git sparse-checkout set keep",
        "dir/my.conf",
    ),
    row(
        "git sparse-checkout set keep; mkdir -p dir; echo MINE > dir/my.conf",
        "git sparse-checkout reapply",
        "dir/my.conf",
    ),
    row(
        "git rm -q --cached b.txt; echo MINE > b.txt",
        "git reset -q --hard",
        "b.txt",
    ),
    row(
        "git config clean.requireForce false; echo MINE > u.txt",
        "git clean -q",
        "u.txt",
    ),
    row("echo MINE > a.txt", "git diff | git apply -R", "a.txt"),
    row(
        "echo MINE > u.txt",
        "git diff --output=u.txt HEAD~1",
        "u.txt",
    ),
    row("echo MINE > u.txt", "git log --output u.txt -1", "u.txt"),
    row(
        "git worktree add -q wt; echo MINE > wt/my.conf",
        "git worktree remove wt",
        "wt/my.conf",
    ),
    row(
        "git checkout -q -b c; echo c > a.txt; git commit -qam c; git checkout -q main
         echo m > a.txt; git commit -qam m; git cherry-pick c || true; echo MINE > a.txt",
        "git cherry-pick --skip",
        "a.txt",
    ),
];

/// Commands after which commits are on no ref, or staged bytes nowhere.
const LEAVING: &[Row] = &[
    row(
        "git checkout -q --detach; echo z > a.txt; git commit -qam z",
        "git checkout -q main",
        "",
    ),
    row(
        "git checkout -q --detach; echo z > a.txt; git commit -qam z",
        "git switch -q other",
        "",
    ),
    row(
        "git bisect start HEAD HEAD~1; git checkout -q --detach; echo z > z; git add z; git commit -qm z; git bisect bad",
        "git bisect reset",
        "",
    ),
    row(
        "git worktree add -q --detach wt; (cd wt; echo z > a.txt; git commit -qam z)",
        "git worktree remove wt",
        "",
    ),
    row(
        "git worktree add -q --detach wt; (cd wt; echo z > a.txt; git commit -qam z); rm -rf wt",
        "git worktree prune",
        "",
    ),
    row(
        "echo m > a.txt; git commit -qam m; git checkout -q -b c main~1; echo c > a.txt; git commit -qam c
         git rebase main || true; echo r > a.txt; git add a.txt; echo e > e; git add e; git commit -qm extra",
        "git rebase --abort",
        "",
    ),
    row(
        "echo STAGED > a.txt; git add a.txt; echo 9 > a.txt",
        "git reset -q",
        "",
    ),
    row(
        "echo STAGED > a.txt; git add a.txt; echo 9 > a.txt",
        "git reset -q a.txt",
        "",
    ),
    row(
        "echo STAGED > n; git add n; rm n",
        "git restore --staged n",
        "",
    ),
];

/// The same commands where nothing is lost.
const HARMLESS: &[&str] = &[
    "git checkout -q -b new other",
    "git switch -q other",
    "git checkout -q -b new && git reset -q --hard HEAD~1",
    "git checkout -q --detach HEAD~1 && git checkout -q main",
    "git sparse-checkout set keep",
    "git sparse-checkout set --no-cone /keep/",
    "git reset -q --hard",
    "git reset -q",
    "git reset -q b.txt",
    "git stash pop",
    "git clean -q",
    "git worktree prune",
    "git bisect reset",
    "git pull -q",
    "git rebase --abort",
    "git reset -q --hard --recurse-submodules",
];

fn asked(given: &str, command: &str) -> (Sandbox, bool) {
    let sandbox = repository();
    assert!(script(&sandbox, given), "{given}");
    sandbox.holdpoint(["init"]).exits(0);
    let ran = shell(&sandbox, "claude", command);
    let held = !goes_on("claude", &ran);
    (sandbox, held)
}

#[test]
fn what_git_would_overwrite_or_remove_without_a_word_is_held_and_in_a_safety_point() {
    for row in LOSING {
        let (sandbox, held) = asked(row.given, row.command);
        assert!(held, "{}: {}", row.given, row.command);
        let points = sandbox.holdpoint(["points"]).exits(0);
        assert!(!points.out.trim().is_empty(), "{}", row.command);
        // The row is about something: git itself does destroy it.
        let before = fs::read(sandbox.work().join(row.victim)).unwrap();
        script(&sandbox, row.command);
        let after = fs::read(sandbox.work().join(row.victim)).ok();
        assert_ne!(after, Some(before), "{}: {}", row.given, row.command);
    }
}

#[test]
fn commits_that_would_be_on_no_branch_and_bytes_only_staged_are_held() {
    for row in LEAVING {
        let (_, held) = asked(row.given, row.command);
        assert!(held, "{}: {}", row.given, row.command);
    }
}

#[test]
fn the_same_commands_pass_where_nothing_is_lost() {
    for command in HARMLESS {
        let (_, held) = asked("true", command);
        assert!(!held, "{command}");
    }
    let (_, held) = asked("echo S > a.txt; git add a.txt", "git reset -q");
    assert!(!held, "what is staged is in the file too");
    let (_, held) = asked(
        "git worktree add -q wt; mkdir wt/target; echo o > wt/target/o",
        "git worktree remove --force wt",
    );
    assert!(!held, "a clean worktree with build output");
}

#[test]
fn a_submodule_s_own_work_is_seen_before_it_is_checked_out_again_or_removed() {
    for (given, command, expected) in [
        ("echo D > sub/s.txt", "git submodule deinit -f sub", true),
        ("echo D > sub/u.txt", "git submodule deinit -f --all", true),
        ("true", "git submodule deinit -f sub", false),
        ("echo D > sub/s.txt", "git submodule update --force", true),
        ("true", "git submodule update", false),
        (
            "(cd sub; git checkout -q --detach; echo D > s.txt; git commit -qam d)",
            "git submodule update",
            true,
        ),
        (
            "echo D > sub/s.txt",
            "git reset -q --hard --recurse-submodules",
            true,
        ),
        (
            "echo D > sub/s.txt; git config submodule.recurse true",
            "git reset -q --hard",
            true,
        ),
        ("echo D > sub/s.txt", "git reset -q --hard", false),
    ] {
        let (_, held) = asked(&format!("{SUBMODULE}{given}"), command);
        assert_eq!(held, expected, "{given}: {command}");
    }
}

#[test]
fn a_pull_of_what_nobody_has_seen_leaves_ignored_files_in_a_safety_point() {
    let sandbox = repository();
    assert!(script(
        &sandbox,
        "git clone -q --bare . ../r; git clone -q ../r ../c
         (cd ../c; echo t > local.conf; git add -f .; git commit -qm t; git push -q)
         git remote add origin ../r; git config branch.main.remote origin
         git config branch.main.merge refs/heads/main; echo MINE > local.conf"
    ));
    sandbox.holdpoint(["init"]).exits(0);
    let ran = shell(&sandbox, "claude", "git pull -q");
    assert!(goes_on("claude", &ran), "{ran:?}");
    assert!(ran.out.contains("Level 1"), "{ran:?}");
    script(&sandbox, "git pull -q");
    assert_eq!(sandbox.read("local.conf"), "t\n", "git overwrites it");
    let mut person = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    person.args(["rollback", "--yes", "--", "local.conf"]);
    let answer = person.output().unwrap();
    assert_eq!(
        sandbox.read("local.conf"),
        "MINE\n",
        "{}",
        String::from_utf8_lossy(&answer.stderr)
    );
}
