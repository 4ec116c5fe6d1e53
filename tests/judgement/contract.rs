//! The Contract by its command, and which version of it counts.

use super::at_terminal;
use crate::support::Sandbox;

const NARROW: &str = "## Scope\n### In Scope\n- src/\n## Must-Not-Change\n- src/api.rs\n## Forbidden Patterns\n- /\\bunwrap\\(\\)/\n## Constraints\n- Keep it fast\n";

fn sandbox() -> Sandbox {
    Sandbox::with_files(&[
        ("src/a.rs", "fn a() {}\n"),
        ("src/api.rs", "fn api() {}\n"),
        ("docs/x.md", "x\n"),
    ])
}

#[test]
fn a_template_is_written_once_and_restricts_nothing() {
    let sandbox = sandbox();
    let ran = sandbox.holdpoint(["contract", "init"]).exits(0);
    assert!(ran.out.contains(".ccg/contract.md"), "{}", ran.out);
    sandbox
        .holdpoint(["contract", "check", "docs/x.md"])
        .exits(0);
    sandbox.holdpoint(["contract", "init"]).exits(2);
}

#[test]
fn show_lists_what_is_enforced_and_what_is_not() {
    let sandbox = sandbox();
    sandbox.write(".ccg/contract.md", NARROW);
    let ran = sandbox.holdpoint(["contract", "show"]).exits(0);
    for text in [
        "src/",
        "src/api.rs",
        "unwrap",
        "not enforced",
        "Keep it fast",
    ] {
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
    let ran = sandbox.holdpoint(["contract", "show", "--json"]).exits(0);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(shown["in_scope"][0]["pattern"], "src/");
    assert_eq!(shown["not_enforced"][0]["section"], "constraints");
}

#[test]
fn check_says_where_paths_stand_and_what_to_fix() {
    let sandbox = sandbox();
    sandbox.write(".ccg/contract.md", NARROW);
    sandbox
        .holdpoint(["contract", "check", "src/a.rs"])
        .exits(0);
    let ran = sandbox
        .holdpoint([
            "contract",
            "check",
            "src/a.rs",
            "docs/x.md",
            "src/api.rs",
            "src",
        ])
        .exits(1);
    assert!(ran.out.contains("docs/x.md: out of scope"), "{}", ran.out);
    assert!(
        ran.out.contains("src/api.rs: must not change"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("src/: must not change"), "{}", ran.out);
    assert!(ran.out.contains("fix the code"), "{}", ran.out);
}

#[test]
fn a_range_is_checked_by_path_and_by_added_line() {
    let sandbox = sandbox();
    sandbox.write(".ccg/contract.md", NARROW);
    sandbox.write("src/a.rs", "fn a() {}\nfn b() { x.unwrap() }\n");
    sandbox.write("docs/x.md", "y\n");
    sandbox.git(["commit", "-qam", "second"]);
    let ran = sandbox
        .holdpoint(["contract", "check", "--range", "HEAD~1..HEAD"])
        .exits(1);
    assert!(ran.out.contains("docs/x.md: out of scope"), "{}", ran.out);
    assert!(ran.out.contains("src/a.rs:2: forbidden"), "{}", ran.out);
    assert!(!ran.out.contains("src/a.rs: in scope"), "{}", ran.out);
}

#[test]
fn a_contract_that_does_not_parse_is_an_error_with_file_and_line() {
    let sandbox = sandbox();
    sandbox.write(".ccg/contract.md", "## In Scope\n\n- `src/[a`\n");
    let ran = sandbox
        .holdpoint(["contract", "check", "src/a.rs"])
        .exits(2);
    assert!(ran.err.contains(".ccg/contract.md:3"), "{}", ran.err);
    assert!(ran.err.contains("accepted"), "{}", ran.err);
    sandbox.write(".ccg/contract.md", "## Forbidden Patterns\n- /(/\n");
    let ran = sandbox.holdpoint(["contract", "show"]).exits(2);
    assert!(ran.err.contains(".ccg/contract.md:2"), "{}", ran.err);
}

#[test]
fn a_wider_contract_counts_only_once_a_person_confirms_it() {
    let sandbox = sandbox();
    sandbox.holdpoint(["contract", "init"]).exits(0);
    sandbox.write(".ccg/contract.md", NARROW);
    // Narrower than nothing: counts at once.
    sandbox
        .holdpoint(["contract", "check", "docs/x.md"])
        .exits(1);
    let mut terminal = at_terminal(&sandbox, &["contract", "confirm"]);
    terminal.sees("count from now on?");
    terminal.types("y");
    terminal.ends_with(0);

    sandbox.write(
        ".ccg/contract.md",
        NARROW.replace("- src/\n", "- src/\n- docs/\n"),
    );
    sandbox
        .holdpoint(["contract", "check", "docs/x.md"])
        .exits(1);
    let ran = sandbox.holdpoint(["contract", "diff"]).exits(0);
    assert!(ran.out.contains("+- docs/"), "{}", ran.out);
    assert!(ran.out.contains("Level 3  contract.scope"), "{}", ran.out);

    std::fs::remove_file(sandbox.work().join(".ccg/contract.md")).unwrap();
    sandbox
        .holdpoint(["contract", "check", "docs/x.md"])
        .exits(1);

    sandbox.write(
        ".ccg/contract.md",
        NARROW.replace("- src/\n", "- src/\n- docs/\n"),
    );
    let mut terminal = at_terminal(&sandbox, &["contract", "confirm"]);
    terminal.types_code();
    let shown = terminal.ends_with(0);
    assert!(shown.contains("In Scope gains docs/"), "{shown}");
    sandbox
        .holdpoint(["contract", "check", "docs/x.md"])
        .exits(0);
}

#[test]
fn an_edited_copy_of_the_confirmed_policy_is_refused() {
    let sandbox = sandbox();
    sandbox.holdpoint(["contract", "init"]).exits(0);
    let confirmed = std::fs::read_dir(sandbox.path("state/holdpoint/repos"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("policy/confirmed.json"))
        .find(|path| path.exists())
        .unwrap();
    let text = std::fs::read_to_string(&confirmed).unwrap();
    std::fs::write(
        &confirmed,
        text.replace("{}", "{\".ccg/user_preferences.json\": \"{}\"}"),
    )
    .unwrap();
    let ran = sandbox
        .holdpoint(["contract", "check", "docs/x.md"])
        .exits(4);
    assert!(ran.err.contains("changed by something else"), "{}", ran.err);
}
