//! Each level as a person sees it at a commit, and the same at a terminal with an agent's mark.

use crate::support::Sandbox;
use crate::support::terminal::Terminal;

fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        ("src/a.rs", "fn a() {}\n"),
        ("src/old.rs", "fn old() {}\n"),
        ("docs/x.md", "x\n"),
    ]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write(
        ".ccg/contract.md",
        "## Scope\n### In Scope\n- src/\n- CODEOWNERS\n",
    );
    sandbox
}

fn commit(sandbox: &Sandbox, agent: bool) -> Terminal {
    let mut command = sandbox.command("git");
    command.args(["commit", "-m", "change"]);
    if agent {
        command.env("CLAUDECODE", "1");
    }
    Terminal::start(command)
}

#[test]
fn level_0_says_nothing() {
    let sandbox = guarded();
    sandbox.write("src/a.rs", "fn a() { b() }\n");
    sandbox.git(["add", "src"]);
    let shown = commit(&sandbox, false).ends_with(0);
    assert!(!shown.contains("holdpoint"), "{shown}");
}

#[test]
fn level_1_is_one_line() {
    let sandbox = guarded();
    sandbox.write("CODEOWNERS", "* @ada\n");
    sandbox.git(["add", "CODEOWNERS"]);
    let shown = commit(&sandbox, false).ends_with(0);
    let ours: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with("holdpoint"))
        .collect();
    assert_eq!(ours.len(), 1, "{shown}");
    assert!(
        ours[0].contains("Level 1") && ours[0].contains("holdpoint explain file.auth"),
        "{shown}"
    );
}

#[test]
fn level_2_of_an_agent_is_held_even_at_a_real_terminal() {
    let sandbox = guarded();
    sandbox.write("src/a.rs", "fn a() { b() }\n");
    sandbox.git(["add", "src"]);
    let shown = commit(&sandbox, true).ends_with(1);
    assert!(
        shown.contains("git.commit") && shown.contains("holdpoint confirm"),
        "{shown}"
    );
    let ran = sandbox.holdpoint(["holds"]).exits(0);
    let id = ran.out.split_whitespace().next().unwrap().to_owned();
    assert!(ran.out.contains("Level 2"), "{}", ran.out);

    // The mark at a real terminal does not confirm; a person's does, and the same commit passes once.
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(["confirm", &id]).env("CLAUDECODE", "1");
    Terminal::start(command).ends_with(1);
    let mut terminal = super::at_terminal(&sandbox, &["confirm", &id]);
    terminal.sees("[y/N]");
    terminal.types("y");
    terminal.ends_with(0);
    commit(&sandbox, true).ends_with(0);
    sandbox.write("src/a.rs", "fn a() { c() }\n");
    sandbox.git(["add", "src"]);
    commit(&sandbox, true).ends_with(1);
}

#[test]
fn level_3_is_asked_with_a_code_at_the_terminal() {
    let sandbox = guarded();
    sandbox.git(["rm", "-q", "src/old.rs"]);
    let mut terminal = commit(&sandbox, false);
    terminal.sees("HELD  Level 3");
    terminal.code();
    terminal.types("no");
    terminal.ends_with(1);
    let mut terminal = commit(&sandbox, false);
    terminal.types_code();
    terminal.ends_with(0);
    let ran = sandbox.holdpoint(["log", "--json", "-n", "0"]).exits(0);
    assert!(ran.out.contains("\"decision\":\"confirm\""), "{}", ran.out);
}

#[test]
fn what_leaves_the_contract_is_held_with_what_to_fix() {
    let sandbox = guarded();
    sandbox.write("docs/x.md", "y\n");
    sandbox.git(["add", "docs"]);
    let mut terminal = commit(&sandbox, false);
    let shown = terminal.sees("Type ");
    assert!(
        shown.contains("contract.out-of-scope") && shown.contains("fix the code"),
        "{shown}"
    );
    terminal.types("no");
    terminal.ends_with(1);
}
