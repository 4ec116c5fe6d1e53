//! Commits inside and outside a Contract, as a script without a terminal makes them.

use crate::support::{Ran, Sandbox};

const CONTRACT: &str = "# Contract: the parser

## Scope

### In Scope
- `src/parser/`
- docs/*.md

### Out of Scope
- `src/parser/generated/`

## Must-Not-Change
- `LICENSE`

## Forbidden Patterns
- /\\bunwrap\\(\\)/

## Acceptance
- the tests pass
";

fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        ("src/parser/mod.rs", "pub fn parse() {}\n"),
        ("src/parser/old.rs", "// old\n"),
        ("src/parser/generated/table.rs", "// generated\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("docs/guide.md", "# Guide\n"),
        ("LICENSE", "MIT\n"),
    ]);
    sandbox.write(".ccg/contract.md", CONTRACT);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox
}

fn commit(sandbox: &Sandbox) -> Ran {
    Ran::from(
        sandbox
            .command("git")
            .args(["commit", "-q", "-m", "change"])
            .output()
            .unwrap(),
    )
}

fn head(sandbox: &Sandbox) -> String {
    sandbox.git(["rev-parse", "HEAD"])
}

/// Stages one change and says whether the commit went through.
#[track_caller]
fn held(change: impl FnOnce(&Sandbox)) -> Ran {
    let sandbox = guarded();
    let before = head(&sandbox);
    change(&sandbox);
    sandbox.git(["add", "-A", ":!.ccg"]);
    let ran = commit(&sandbox);
    assert_ne!(ran.code, 0, "the commit passed: {}", ran.err);
    assert_eq!(head(&sandbox), before);
    assert!(ran.err.contains("holdpoint confirm "), "{}", ran.err);
    let holds = sandbox.holdpoint(["holds", "--json"]).exits(0);
    assert!(holds.out.contains("pending"), "{}", holds.out);
    ran
}

#[test]
fn a_commit_inside_the_contract_passes_in_silence() {
    let sandbox = guarded();
    sandbox.write("src/parser/mod.rs", "pub fn parse() -> u8 { 1 }\n");
    sandbox.write("docs/new.md", "new\n");
    sandbox.git(["add", "src", "docs"]);
    let before = head(&sandbox);
    let ran = commit(&sandbox).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    assert_ne!(head(&sandbox), before);
}

#[test]
fn a_deleted_file_is_held() {
    let ran =
        held(|sandbox| std::fs::remove_file(sandbox.work().join("src/parser/old.rs")).unwrap());
    assert!(ran.err.contains("file.delete"), "{}", ran.err);
    assert!(ran.err.contains("src/parser/old.rs"), "{}", ran.err);
}

#[test]
fn a_change_outside_the_scope_is_held() {
    let ran = held(|sandbox| sandbox.write("src/main.rs", "fn main() { loop {} }\n"));
    assert!(ran.err.contains("contract.out-of-scope"), "{}", ran.err);
}

#[test]
fn a_change_in_an_excluded_part_of_the_scope_is_held() {
    let ran = held(|sandbox| sandbox.write("src/parser/generated/table.rs", "// by hand\n"));
    assert!(ran.err.contains("contract.out-of-scope"), "{}", ran.err);
}

#[test]
fn a_change_to_a_frozen_file_is_held() {
    let ran = held(|sandbox| sandbox.write("LICENSE", "none\n"));
    assert!(ran.err.contains("contract.must-not-change"), "{}", ran.err);
}

#[test]
fn an_added_line_with_a_forbidden_pattern_is_held_with_its_place() {
    let ran = held(|sandbox| {
        sandbox.write(
            "src/parser/mod.rs",
            "// one\npub fn parse() { x.unwrap() }\n",
        );
    });
    assert!(ran.err.contains("contract.forbidden"), "{}", ran.err);
    assert!(ran.err.contains("src/parser/mod.rs:2"), "{}", ran.err);
}

#[test]
fn a_file_moved_out_of_the_scope_is_held() {
    let ran = held(|sandbox| {
        sandbox.git(["mv", "src/parser/old.rs", "src/old.rs"]);
    });
    assert!(ran.err.contains("contract.out-of-scope"), "{}", ran.err);
}

#[test]
fn a_held_commit_leaves_a_safety_point() {
    let sandbox = guarded();
    sandbox.write("LICENSE", "none\n");
    sandbox.git(["add", "LICENSE"]);
    commit(&sandbox);
    let points = sandbox.holdpoint(["points", "--json"]).exits(0);
    assert!(points.out.contains("\"reason\""), "{}", points.out);
}

#[test]
fn the_first_commit_of_a_repository_passes() {
    let sandbox = Sandbox::new();
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write("a.txt", "a\n");
    sandbox.git(["add", "a.txt"]);
    commit(&sandbox).exits(0);
}

#[test]
fn what_a_merge_brings_was_judged_before() {
    let sandbox = Sandbox::with_files(&[("src/a.rs", "a\n"), ("lib/b.rs", "b\n")]);
    sandbox.git(["checkout", "-q", "-b", "other"]);
    sandbox.git(["rm", "-q", "lib/b.rs"]);
    sandbox.git(["commit", "-qm", "drop b"]);
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write("src/a.rs", "aa\n");
    sandbox.git(["commit", "-qam", "a"]);
    sandbox.write(".ccg/contract.md", "## In Scope\n- src/\n");
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.git(["merge", "-q", "--no-edit", "other"]);
    assert!(!sandbox.work().join("lib/b.rs").exists());
}
#[test]
fn a_staged_check_says_what_the_commit_would_meet_and_makes_no_hold() {
    let sandbox = guarded();
    sandbox.write("LICENSE", "none\n");
    sandbox.git(["add", "LICENSE"]);
    let ran = sandbox.holdpoint(["check", "staged", "--json"]).exits(1);
    let verdict: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(verdict["level"], 3);
    assert_eq!(verdict["rules"][0], "contract.must-not-change");
    let holds = sandbox.holdpoint(["holds", "--json"]).exits(0);
    assert!(!holds.out.contains("pending"), "{}", holds.out);
}

#[test]
fn a_range_of_commits_is_judged_like_a_commit() {
    let sandbox = guarded();
    sandbox.write("docs/guide.md", "# Guide\n\nmore\n");
    sandbox.git(["commit", "-qam", "inside"]);
    sandbox
        .holdpoint(["check", "range", "HEAD~1..HEAD"])
        .exits(0);
    sandbox.git(["rm", "-q", "src/main.rs"]);
    sandbox.git(["-c", "core.hooksPath=/dev/null", "commit", "-qm", "outside"]);
    let ran = sandbox
        .holdpoint(["check", "range", "HEAD~2..HEAD", "--json"])
        .exits(1);
    assert!(ran.out.contains("contract.out-of-scope"), "{}", ran.out);
    sandbox.holdpoint(["check", "range", "HEAD"]).exits(2);
}

#[test]
fn a_commit_cannot_pass_for_a_merge_by_a_variable() {
    let sandbox = guarded();
    sandbox.write("LICENSE", "none\n");
    sandbox.git(["add", "LICENSE"]);
    let tree = sandbox.git(["write-tree"]);
    let made = sandbox.git(["commit-tree", "-m", "beside the gate", tree.trim()]);
    let ran = Ran::from(
        sandbox
            .command("git")
            .args(["commit", "-q", "-m", "change"])
            .env(format!("GITHEAD_{}", made.trim()), "other")
            .output()
            .unwrap(),
    );
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("contract.must-not-change"), "{}", ran.err);
}
