//! Bad input: a clear error with a way out, a non-zero exit, nothing lost.

use crate::support::{Ran, Sandbox};
use std::fs;

#[test]
fn outside_a_repository_init_says_so() {
    let sandbox = Sandbox::plain();
    let ran = sandbox.holdpoint(["init"]).exits(2);
    assert!(ran.err.contains("not in a git repository"), "{}", ran.err);
    assert!(ran.err.contains("git init"), "{}", ran.err);
}

#[test]
fn a_broken_glob_in_the_contract_blocks_with_file_and_line() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write(".ccg/contract.md", "# C\n\n## In Scope\n- `src/[a`\n");
    sandbox.write("a.txt", "b\n");
    let ran = Ran::from(
        sandbox
            .command("git")
            .args(["commit", "-qam", "x"])
            .output()
            .unwrap(),
    );
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("contract.md:4"), "{}", ran.err);
}

#[test]
fn a_verb_without_a_hold_says_which_there_are() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    for verb in ["confirm", "deny"] {
        let ran = sandbox.holdpoint([verb]).exits(2);
        assert!(ran.err.contains("none is pending"), "{}", ran.err);
    }
    sandbox.git(["rm", "-q", "a.txt"]);
    let commit = sandbox
        .command("git")
        .args(["commit", "-qm", "x"])
        .output()
        .unwrap();
    assert!(!commit.status.success());
    for verb in ["confirm", "deny"] {
        let ran = sandbox.holdpoint([verb]).exits(2);
        let hint = format!("holdpoint {verb} 0");
        assert!(ran.err.contains(&hint), "{}", ran.err);
    }
}

#[test]
fn a_torn_last_line_of_the_log_is_set_aside_and_never_deleted() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write("a.txt", "b\n");
    sandbox.git(["commit", "-qam", "x"]);
    let log = sandbox.work().join(".ccg/decision_log.jsonl");
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(b"{\"timestamp\":\"20");
    fs::write(&log, &bytes).unwrap();
    let ran = sandbox.holdpoint(["log", "--verify"]);
    assert_ne!(ran.code, 0, "{}", ran.out);
    assert!((ran.out + &ran.err).contains("--repair"));
    sandbox.holdpoint(["log", "--repair"]).exits(0);
    sandbox.holdpoint(["log", "--verify"]).exits(0);
    let aside = fs::read_dir(sandbox.work().join(".ccg"))
        .unwrap()
        .chain(fs::read_dir(sandbox.path("state")).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .any(|path| {
            fs::read(path)
                .unwrap()
                .windows(16)
                .any(|w| w == b"{\"timestamp\":\"20")
        });
    assert!(aside, "the torn line is gone");
}

#[test]
fn a_bare_repository_can_be_saved_and_put_back() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox.git(["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = sandbox.path("bare.git");
    let holdpoint = |args: &[&str]| {
        Ran::from(
            sandbox
                .command(env!("CARGO_BIN_EXE_holdpoint"))
                .current_dir(&bare)
                .args(args)
                .output()
                .unwrap(),
        )
    };
    holdpoint(&["save"]).exits(0);
    fs::remove_dir_all(bare.join("refs")).unwrap();
    fs::remove_file(bare.join("packed-refs")).unwrap();
    fs::create_dir(bare.join("refs")).unwrap();
    holdpoint(&["rollback", "--refs", "--yes", "--force"]).exits(0);
    let log = sandbox.git(["--git-dir", "../bare.git", "log", "--oneline", "main"]);
    assert!(log.contains("first"), "{log}");
}

/// The directory of Holdpoint's own for the sandbox's repository.
fn own_dir(sandbox: &Sandbox) -> std::path::PathBuf {
    let repos = sandbox.path("state/holdpoint/repos");
    let mut dirs = fs::read_dir(repos).unwrap();
    dirs.next().unwrap().unwrap().path()
}

#[test]
fn a_vault_that_cannot_be_written_is_told_and_the_commit_stays_held() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    // A file where a directory should be stops root too.
    let vault = own_dir(&sandbox).join("vault");
    if vault.exists() {
        fs::remove_dir_all(&vault).unwrap();
    }
    fs::write(&vault, "").unwrap();
    let ran = sandbox.holdpoint(["save"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("hint:"), "{}", ran.err);
    fs::remove_file(sandbox.work().join("b.txt")).unwrap();
    sandbox.git(["add", "-A"]);
    let ran = Ran::from(
        sandbox
            .command("git")
            .args(["commit", "-qm", "x"])
            .output()
            .unwrap(),
    );
    assert_ne!(ran.code, 0);
    assert!(
        ran.err.contains("no safety point could be taken"),
        "{}",
        ran.err
    );
}

#[test]
fn a_panic_in_a_hook_blocks_the_commit_and_says_whose_fault_it_is() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write("a.txt", "b\n");
    let ran = Ran::from(
        sandbox
            .command("git")
            .args(["commit", "-qam", "x"])
            .env("HOLDPOINT_TEST_PANIC", "1")
            .output()
            .unwrap(),
    );
    assert_ne!(ran.code, 0);
    assert!(
        ran.err.contains("a fault of Holdpoint's own"),
        "{}",
        ran.err
    );
    assert_eq!(sandbox.git(["show", "HEAD:a.txt"]), "a\n");
}
