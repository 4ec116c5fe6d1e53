//! The command's own surface: JSON, batch, exit status, and that nothing is written.

use crate::support::Sandbox;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn a_harmless_command_passes_and_a_deletion_is_held() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox
        .holdpoint(["check", "command", "--", "ls -la"])
        .exits(0);
    let ran = sandbox
        .holdpoint(["check", "command", "--json", "--", "rm -f a.txt"])
        .exits(1);
    let verdict: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(verdict["level"], 3);
    assert_eq!(verdict["decision"], "hold");
    assert_eq!(verdict["rules"], serde_json::json!(["file.delete"]));
    assert!(verdict["reasoning"].as_str().unwrap().contains("a.txt"));
    assert!(verdict["held_by_safety_point"].is_null());
    assert!(sandbox.work().join("a.txt").exists());
}

#[test]
fn a_batch_answers_each_line_in_order_and_goes_on_after_a_bad_one() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["check", "batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(
            br#"{"type":"command","text":"git status"}
not json
{"type":"write","path":"a.txt","delete":true}
{"type":"command","text":"git push","actor":"agent"}
{"type":"command","text":"ls","cwd":"/nowhere/at/all"}
{"type":"command","text":"git push","actor":"person"}
"#,
        )
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<serde_json::Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0]["level"], 0);
    assert!(lines[1]["error"].is_string());
    assert_eq!(lines[2]["level"], 3);
    assert_eq!(lines[3]["level"], 3);
    assert!(lines[4]["error"].is_string());
    assert_eq!(lines[5]["level"], 0);
}

#[test]
fn a_database_is_not_written_over_by_a_tool_and_a_text_is() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    for name in ["important.db", "notes.txt", "logo.png"] {
        sandbox.write(name, "nowhere\0else\n");
    }
    sandbox.write("notes.txt", "nowhere else\n");
    for (name, content, level) in [
        ("important.db", "x", 3),
        ("logo.png", "x", 3),
        ("notes.txt", "x", 0),
        ("important.db", "nowhere\\u0000else\\nand more", 0),
    ] {
        let input =
            format!("{{\"type\":\"write\",\"path\":\"{name}\",\"content\":\"{content}\"}}\n");
        let mut child = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["check", "batch", "--actor", "agent"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(verdict["level"], level, "{name} {content}: {verdict}");
    }
}

#[test]
fn what_a_write_leaves_may_be_called_content_or_after() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    sandbox.write("notes.txt", "nowhere else\n");
    for name in ["content", "after"] {
        let input = format!("{{\"type\":\"write\",\"path\":\"notes.txt\",\"{name}\":\"\"}}\n");
        let mut child = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["check", "batch", "--actor", "agent"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(verdict["level"], 3, "{name}: {verdict}");
    }
}

#[test]
fn a_batch_answers_before_the_next_question() {
    use std::io::{BufRead as _, BufReader};
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["check", "batch", "--actor", "person"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ask = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for (text, level) in [("ls", 0), ("rm -rf src", 3)] {
        writeln!(ask, "{{\"type\":\"command\",\"text\":\"{text}\"}}").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        let verdict: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(verdict["level"], level);
    }
    drop(ask);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_check_writes_nothing() {
    let sandbox = Sandbox::with_files(&[("a.txt", "a\n")]);
    let index = std::fs::read(sandbox.work().join(".git/index")).unwrap();
    sandbox
        .holdpoint(["check", "command", "--", "git reset --hard && rm -rf ."])
        .exits(1);
    assert_eq!(
        std::fs::read(sandbox.work().join(".git/index")).unwrap(),
        index
    );
    assert!(!sandbox.path("state/holdpoint").exists());
    assert!(!sandbox.work().join(".ccg").exists());
}

#[test]
fn text_of_any_bytes_and_size_gets_a_verdict() {
    let sandbox = Sandbox::new();
    let long = "echo word; ".repeat(20_000);
    let words = format!("echo {}", "w ".repeat(10_000));
    let deep = format!("{}rm -rf src", "(".repeat(5_000));
    for (text, code) in [
        (b"echo a\0b".to_vec(), 0),
        (b"echo \xff\xfe && rm -rf src".to_vec(), 1),
        (long.into_bytes(), 0),
        (words.into_bytes(), 0),
        (deep.into_bytes(), 1),
    ] {
        let mut child = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["check", "command"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&text).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}
