//! `.ccg/commands.json`: the user's own rows raise at once, and lower once a person confirmed them.

use super::level;
use crate::support::Sandbox;
use crate::support::terminal::Terminal;

const TABLE: &str = r#"{"commands": [
    {"program": "deploy", "level": 3, "why": "production"},
    {"program": "terraform", "words": ["apply"], "level": 1, "why": "a sandbox account"},
    {"program": "rm", "words": ["-rf", "src"], "level": 0},
    {"program": "git", "words": ["push", "--force"], "level": 0},
    {"program": "holdpoint", "words": ["uninstall"], "level": 0}
]}"#;

fn confirm(sandbox: &Sandbox) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(["prefs", "confirm"]);
    let mut terminal = Terminal::start(command);
    terminal.types_code();
    terminal.ends_with(0);
}

fn settled() -> Sandbox {
    let sandbox = Sandbox::with_files(&[("src/a.rs", "a\n"), ("b.rs", "b\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox
}

#[test]
fn a_row_that_nobody_confirmed_only_raises() {
    let sandbox = settled();
    assert!(level(&sandbox, "deploy now").0 <= 1);
    sandbox.write(".ccg/commands.json", TABLE);
    assert_eq!(level(&sandbox, "deploy now").0, 3);
    assert_eq!(level(&sandbox, "terraform apply -auto-approve").0, 3);
}

#[test]
fn a_confirmed_row_lowers_what_the_tables_say_and_no_evidence() {
    let sandbox = settled();
    sandbox.write(".ccg/commands.json", TABLE);
    confirm(&sandbox);
    assert_eq!(level(&sandbox, "deploy now").0, 3);
    assert_eq!(level(&sandbox, "terraform apply -auto-approve").0, 1);
    assert_eq!(level(&sandbox, "sudo terraform apply -auto-approve").0, 1);
    assert_eq!(level(&sandbox, "terraform apply; terraform destroy").0, 3);
    assert_eq!(level(&sandbox, "terraform destroy").0, 3);
    assert_eq!(level(&sandbox, "rm -rf src").0, 3);
    assert_eq!(level(&sandbox, "git push --force").0, 3);
    assert_eq!(level(&sandbox, "holdpoint uninstall").0, 3);
}

#[test]
fn a_row_that_is_changed_after_the_confirmation_lowers_nothing_more() {
    let sandbox = settled();
    sandbox.write(".ccg/commands.json", TABLE);
    confirm(&sandbox);
    let wider = TABLE.replace("\"apply\"", "\"destroy\"");
    sandbox.write(".ccg/commands.json", wider);
    assert_eq!(level(&sandbox, "terraform destroy").0, 3);
    assert_eq!(level(&sandbox, "terraform apply -auto-approve").0, 1);
}
