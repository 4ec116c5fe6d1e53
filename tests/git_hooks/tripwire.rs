//! The tripwire: a safety point before losses that no hook precedes, and an agent stopped in time.

use crate::support::{Ran, Sandbox};

fn armed(extra: &[&str]) -> Sandbox {
    let sandbox = Sandbox::plain();
    let mut args = vec!["init", "-q", "-b", "main"];
    args.extend(extra);
    sandbox.git(args);
    sandbox.write("a", "one\n");
    sandbox.write("b", "one\n");
    sandbox.write(".gitignore", "ignored.env\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "one"]);
    sandbox.git(["checkout", "-qb", "other"]);
    sandbox.write("a", "other\n");
    sandbox.git(["commit", "-qam", "other"]);
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.holdpoint(["init", "--tripwire"]).exits(0);
    sandbox.write("a", "PRECIOUS\n");
    sandbox.write("new.txt", "PRECIOUS\n");
    sandbox
}

fn git(sandbox: &Sandbox, line: &str, agent: bool) -> Ran {
    let mut command = sandbox.command("git");
    command.args(line.split(' '));
    if agent {
        command.env("HOLDPOINT_AGENT", "tester");
    }
    Ran::from(command.output().unwrap())
}

/// Destructive commands that no git hook precedes, and the file that each would take.
const LOSSES: &[(&str, &str)] = &[
    ("reset --hard", "a"),
    ("checkout -- a", "a"),
    ("checkout HEAD -- a", "a"),
    ("checkout .", "a"),
    ("checkout -q -f other", "a"),
    ("restore a", "a"),
    ("restore --source=other a", "a"),
    ("switch -q --discard-changes other", "a"),
    ("clean -q -fdx", "new.txt"),
    ("rm -q -f a", "a"),
    ("mv -f b a", "a"),
    ("read-tree -u --reset HEAD", "a"),
    ("checkout-index -q -f -a", "a"),
];

#[test]
fn what_a_person_s_command_overwrites_is_in_a_safety_point_before() {
    for (line, file) in LOSSES {
        let sandbox = armed(&[]);
        let ran = git(&sandbox, line, false);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        let path = sandbox.work().join(file);
        let now = std::fs::read_to_string(&path).unwrap_or_default();
        assert_ne!(now, "PRECIOUS\n", "{line} was meant to lose {file}");
        sandbox
            .holdpoint(["rollback", "--yes", "--force", "--", file])
            .exits(0);
        assert_eq!(sandbox.read(file), "PRECIOUS\n", "{line}");
    }
}

#[test]
fn an_agent_s_loss_is_stopped_with_the_file_intact_and_no_lock_left() {
    for (line, file) in LOSSES {
        let sandbox = armed(&[]);
        let ran = git(&sandbox, line, true);
        assert_ne!(ran.code, 0, "{line}: {}", ran.err);
        assert_eq!(sandbox.read(file), "PRECIOUS\n", "{line}");
        assert!(
            ran.err.contains("holdpoint confirm "),
            "{line}: {}",
            ran.err
        );
        assert!(!sandbox.work().join(".git/index.lock").exists(), "{line}");
        assert_eq!(sandbox.git(["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    }
}

#[test]
fn reading_and_committing_are_answered_at_once_and_right() {
    let sandbox = armed(&[]);
    for line in [
        "status --porcelain",
        "diff --stat",
        "log --oneline",
        "ls-files -m",
    ] {
        let ran = git(&sandbox, line, true);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
    }
    assert_eq!(git(&sandbox, "ls-files -m", false).out, "a\n");
    sandbox.write("b", "changed\n");
    assert_eq!(git(&sandbox, "ls-files -m", false).out, "a\nb\n");
    let points = sandbox.holdpoint(["points", "--json"]).exits(0);
    assert!(!points.out.contains("tripwire"), "{}", points.out);
}

#[test]
fn the_tripwire_goes_in_once_and_out_byte_for_byte() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let config = sandbox.work().join(".git/config");
    let before = std::fs::read(&config).unwrap();
    sandbox.holdpoint(["init", "--tripwire"]).exits(0);
    assert!(
        sandbox
            .git(["config", "core.fsmonitor"])
            .contains("holdpoint-fsmonitor")
    );
    let ran = sandbox.holdpoint(["init", "--tripwire"]).exits(0);
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(std::fs::read(&config).unwrap(), before);
}

#[test]
fn another_monitor_is_left_in_place() {
    for value in ["true", ".git/hooks/fsmonitor-watchman", "false"] {
        let sandbox = Sandbox::with_files(&[("a", "1")]);
        sandbox.git(["config", "core.fsmonitor", value]);
        let ran = sandbox.holdpoint(["init", "--tripwire"]).exits(1);
        assert!(ran.err.contains("core.fsmonitor"), "{}", ran.err);
        assert_eq!(sandbox.git(["config", "core.fsmonitor"]).trim(), value);
        sandbox.holdpoint(["uninstall"]).exits(0);
    }
}

#[test]
fn a_clean_worktree_is_left_to_an_agent() {
    let sandbox = armed(&[]);
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "all"]);
    for line in ["checkout -q other", "checkout -q main", "reset -q --hard"] {
        let ran = git(&sandbox, line, true);
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }
}
