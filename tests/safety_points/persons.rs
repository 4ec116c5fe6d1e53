//! What a person edited is not swept away with what an agent did; hunks are chosen one by one.

use super::save;
use crate::support::Sandbox;
use crate::support::terminal::Terminal;
use std::io::Write as _;
use std::process::Stdio;

fn hook(sandbox: &Sandbox, event: &str, tool: &str, input: &serde_json::Value) {
    let payload = serde_json::json!({
        "session_id": "s1",
        "cwd": sandbox.work(),
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": input,
        "tool_response": {},
    });
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint-hook"))
        .args(["agent", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(payload.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("\"deny\""), "{text}");
}

/// An agent writes a file by its tool.
fn agent_writes(sandbox: &Sandbox, path: &str, text: &str) {
    let place = sandbox.work().join(path);
    let input = serde_json::json!({ "file_path": place, "content": text });
    hook(sandbox, "PreToolUse", "Write", &input);
    sandbox.write(path, text);
    hook(sandbox, "PostToolUse", "Write", &input);
}

fn tree() -> (Sandbox, String) {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    (sandbox, id)
}

#[test]
fn what_a_person_edited_after_the_agent_is_kept_without_a_terminal() {
    let (sandbox, id) = tree();
    agent_writes(&sandbox, "a.txt", "agent a\n");
    agent_writes(&sandbox, "b.txt", "agent b\n");
    sandbox.write("b.txt", "person b\n");
    sandbox.write("c.txt", "person c\n");
    let ran = sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert!(
        ran.err.contains("b.txt") && ran.err.contains("a person edited"),
        "{}",
        ran.err
    );
    assert_eq!(sandbox.read("a.txt"), "a\n");
    assert_eq!(sandbox.read("b.txt"), "person b\n");
    assert_eq!(sandbox.read("c.txt"), "person c\n");
    sandbox
        .holdpoint(["rollback", &id, "--yes", "--force"])
        .exits(0);
    assert_eq!(sandbox.read("b.txt"), "b\n");
    assert_eq!(sandbox.read("c.txt"), "c\n");
}

#[test]
fn what_an_agents_command_wrote_is_put_back() {
    let (sandbox, id) = tree();
    let input = serde_json::json!({ "command": "printf x >> c.txt" });
    hook(&sandbox, "PreToolUse", "Bash", &input);
    sandbox.write("c.txt", "c\nx");
    hook(&sandbox, "PostToolUse", "Bash", &input);
    agent_writes(&sandbox, "a.txt", "agent a\n");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "a\n");
    assert_eq!(sandbox.read("c.txt"), "c\n");
}

#[test]
fn where_no_agent_worked_everything_is_put_back() {
    let (sandbox, id) = tree();
    sandbox.write("b.txt", "person b\n");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.read("b.txt"), "b\n");
}

#[test]
fn a_second_rollback_does_not_take_the_first_for_a_person() {
    let (sandbox, id) = tree();
    agent_writes(&sandbox, "a.txt", "agent a\n");
    let later = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    sandbox.holdpoint(["rollback", &later, "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "agent a\n");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "a\n");
}

fn at_terminal(sandbox: &Sandbox, args: &[&str]) -> Terminal {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(args);
    Terminal::start(command)
}

#[test]
fn a_person_is_asked_about_their_own_edits_first() {
    let (sandbox, id) = tree();
    agent_writes(&sandbox, "a.txt", "agent a\n");
    sandbox.write("b.txt", "person b\n");
    let mut terminal = at_terminal(&sandbox, &["rollback", &id]);
    terminal.sees("  b.txt");
    terminal.sees("Put these back too?");
    terminal.types("n");
    terminal.sees("Put back");
    terminal.types("y");
    terminal.ends_with(0);
    assert_eq!(sandbox.read("a.txt"), "a\n");
    assert_eq!(sandbox.read("b.txt"), "person b\n");
}

fn numbered(edited: &[usize]) -> String {
    (0..40)
        .map(|n| {
            if edited.contains(&n) {
                format!("edited {n}\n")
            } else {
                format!("{n}\n")
            }
        })
        .collect()
}

#[test]
fn hunks_are_chosen_one_by_one() {
    let sandbox = Sandbox::with_files(&[("a.txt", &numbered(&[])), ("b.txt", "b\n"), ("z", "z\n")]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.write("a.txt", numbered(&[3, 20, 36]));
    sandbox.write("b.txt", "edited\n");
    std::fs::remove_file(sandbox.work().join("z")).unwrap();
    sandbox.git(["add", "-A"]);
    let index = std::fs::read(sandbox.work().join(".git/index")).unwrap();
    let mut terminal = at_terminal(&sandbox, &["rollback", &id, "--hunks"]);
    terminal.sees("(1/3) Put this hunk back");
    terminal.types("?");
    terminal.sees("put this and all that remain of the file back");
    terminal.sees("(1/3) Put this hunk back");
    terminal.types("y");
    terminal.sees("(2/3)");
    terminal.types("n");
    terminal.sees("(3/3)");
    terminal.types("y");
    terminal.sees("b.txt");
    terminal.sees("(1/1)");
    terminal.types("d");
    terminal.sees("Put this path back");
    terminal.types("y");
    terminal.ends_with(0);
    assert_eq!(sandbox.read("a.txt"), numbered(&[20]));
    assert_eq!(sandbox.read("b.txt"), "edited\n");
    assert_eq!(sandbox.read("z"), "z\n");
    assert_eq!(
        std::fs::read(sandbox.work().join(".git/index")).unwrap(),
        index
    );
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), numbered(&[3, 20, 36]));
    assert!(!sandbox.work().join("z").exists());
}

#[test]
fn quitting_hunks_changes_nothing() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.write("a.txt", "edited\n");
    let mut terminal = at_terminal(&sandbox, &["rollback", &id, "--hunks"]);
    terminal.sees("(1/1)");
    terminal.types("q");
    terminal.ends_with(130);
    assert_eq!(sandbox.read("a.txt"), "edited\n");
    sandbox.holdpoint(["rollback", &id, "--hunks"]).exits(2);
}
