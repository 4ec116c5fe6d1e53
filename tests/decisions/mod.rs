//! Feature: decision payloads, through the real binary.

use crate::support::{Ran, Sandbox};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

fn decide(sandbox: &Sandbox, args: &[&str], input: &[u8]) -> Ran {
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .arg("decide")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that answers before it has read everything closes its end first.
    if let Err(error) = child.stdin.take().unwrap().write_all(input) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
    Ran::from(child.wait_with_output().unwrap())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const GOOD: &str =
    r#"{"action_type":"respond","response":"hi","intent":"greeting","confidence":1.0}"#;
const BAD: &str = r#"{"action_type":"respond","response":"","intent":"greeting","confidence":3}"#;

#[test]
fn one_object_an_array_and_lines_are_answered_in_their_own_form() {
    let sandbox = Sandbox::new();
    let one = decide(&sandbox, &["validate", "-", "--json"], GOOD.as_bytes()).exits(0);
    assert_eq!(parsed(&one.out)["valid"], true);
    let array = format!("[{GOOD},\n{BAD}]");
    let ran = decide(&sandbox, &["validate", "-", "--json"], array.as_bytes()).exits(1);
    let answers = parsed(&ran.out);
    assert_eq!(answers[0]["valid"], true);
    assert_eq!(answers[1]["line"], 2);
    let pointers: Vec<&Value> = answers[1]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["pointer"])
        .collect();
    assert_eq!(pointers, [&json!("/response"), &json!("/confidence")]);
    let lines = format!("{GOOD}\n{{broken\n{BAD}\n");
    let ran = decide(&sandbox, &["validate", "-", "--json"], lines.as_bytes()).exits(1);
    let valid: Vec<Value> = ran
        .out
        .lines()
        .map(|line| parsed(line)["valid"].clone())
        .collect();
    assert_eq!(valid, [json!(true), json!(false), json!(false)]);
}

#[test]
fn a_file_is_read_and_a_missing_one_is_a_usage_error() {
    let sandbox = Sandbox::new();
    sandbox.write("d.json", GOOD);
    decide(&sandbox, &["validate", "d.json"], b"").exits(0);
    decide(&sandbox, &["validate", "gone.json"], b"").exits(2);
    decide(&sandbox, &["validate", "-"], b"").exits(2);
}

#[test]
fn a_correction_shows_its_changes_and_the_result() {
    let sandbox = Sandbox::new();
    let input = r#"{"action_type":"respond","response":"hi","confidence":9,"x":1}"#;
    decide(&sandbox, &["validate", "-"], input.as_bytes()).exits(1);
    let ran = decide(
        &sandbox,
        &["validate", "-", "--correct", "--json"],
        input.as_bytes(),
    )
    .exits(0);
    let answer = parsed(&ran.out);
    assert_eq!(answer["corrected"]["confidence"], 1);
    assert_eq!(answer["changes"].as_array().unwrap().len(), 3);
    let again = answer["corrected"].to_string();
    decide(&sandbox, &["validate", "-"], again.as_bytes()).exits(0);
}

#[test]
fn the_queue_is_ordered_and_names_what_it_rejects() {
    let sandbox = Sandbox::new();
    let recovery = r#"{"action_type":"error_recovery","workflow_id":"w","failed_node_id":"n","failure_reason":"r","recovery_plan":{"action":"SKIP"},"execution_context":{}}"#;
    let question = r#"{"action_type":"request_clarification","question":"which?"}"#;
    let input = format!("{GOOD}\n{question}\n{BAD}\n{recovery}\n");
    let ran = decide(&sandbox, &["queue", "-", "--json"], input.as_bytes()).exits(1);
    let answer = parsed(&ran.out);
    let order: Vec<(&Value, &Value)> = answer["queue"]
        .as_array()
        .unwrap()
        .iter()
        .map(|place| (&place["index"], &place["state"]))
        .collect();
    assert_eq!(
        order,
        [
            (&json!(3), &json!("next")),
            (&json!(1), &json!("interrupted")),
            (&json!(0), &json!("interrupted")),
        ]
    );
    assert_eq!(answer["rejected"][0]["index"], 2);
}

#[test]
fn every_type_has_a_schema() {
    let sandbox = Sandbox::new();
    for kind in [
        "respond",
        "create_node",
        "create_workflow_plan",
        "execute_workflow",
        "request_clarification",
        "continue",
        "modify_node",
        "error_recovery",
        "replan_workflow",
        "spawn_subagent",
    ] {
        let ran = decide(&sandbox, &["schema", kind], b"").exits(0);
        let schema = parsed(&ran.out);
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(schema["properties"]["action_type"]["const"], kind);
    }
    decide(&sandbox, &["schema", "destroy"], b"").exits(2);
}

#[test]
fn hostile_input_is_refused_in_words() {
    let sandbox = Sandbox::new();
    for (input, word) in [
        (vec![b'['; 1 << 20], "nest deeper"),
        (
            b"{\"action_type\":\"respond\",\"action_type\":\"continue\"}".to_vec(),
            "twice",
        ),
        (b"{\"confidence\": NaN}".to_vec(), "NaN"),
        (b"{\"confidence\": 1e999}".to_vec(), "too large"),
        (b"{\"x\": \"\xff\"}".to_vec(), "UTF-8"),
        (
            format!("{{\"x\": \"{}\"}}", "y".repeat(1 << 20)).into_bytes(),
            "at most 1048576",
        ),
    ] {
        let ran = decide(&sandbox, &["validate", "-"], &input).exits(1);
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
        assert!(ran.out.len() < 2000);
    }
}

#[test]
fn what_exists_is_read_from_the_workspace() {
    let sandbox = Sandbox::new();
    let run = r#"{"action_type":"execute_workflow","workflow_id":"w1"}"#;
    let ran = decide(&sandbox, &["validate", "-"], run.as_bytes()).exits(0);
    assert!(ran.out.contains("not checked /workflow_id"));
    sandbox.write(".ccg/decisions.json", r#"{"workflows":{"w2":{}}}"#);
    decide(&sandbox, &["validate", "-"], run.as_bytes()).exits(1);
    sandbox.write("known.json", r#"{"workflows":{"w1":{"state":"READY"}}}"#);
    decide(
        &sandbox,
        &["validate", "-", "--known", "known.json"],
        run.as_bytes(),
    )
    .exits(0);
    sandbox.write("known.json", r#"{"workflow":{}}"#);
    decide(
        &sandbox,
        &["validate", "-", "--known", "known.json"],
        run.as_bytes(),
    )
    .exits(2);
}

/// The log's entries, as `holdpoint log` would read them.
fn entries(sandbox: &Sandbox) -> Vec<Value> {
    sandbox
        .read(".ccg/decision_log.jsonl")
        .lines()
        .map(parsed)
        .collect()
}

#[test]
fn every_decision_is_in_the_log() {
    let sandbox = Sandbox::new();
    sandbox.write(".ccg/contract.md", "# Contract\n");
    let question = r#"{"action_type":"request_clarification","question":"which?"}"#;
    let input = format!("{GOOD}\n{BAD}\n{question}\n");
    decide(&sandbox, &["validate", "-"], input.as_bytes()).exits(1);
    let entries = entries(&sandbox);
    let told: Vec<(&Value, &Value)> = entries
        .iter()
        .map(|entry| (&entry["decision"], &entry["outcome"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("DecisionRejected"), &json!("failure")),
            (&json!("DecisionValidated"), &json!("success")),
            (&json!("DecisionValidated"), &json!("pending")),
        ]
    );
    assert_eq!(entries[0]["context"]["errors"][0]["pointer"], "/response");
    assert_eq!(entries[2]["rule"][0], "intent.unclear");
    assert_eq!(entries[2]["level"], "level_3");
    assert!(!sandbox.read(".ccg/decision_log.jsonl").contains("which?"));
}

#[test]
fn many_decisions_are_logged_in_one_entry_and_the_rejected_ones_each() {
    let sandbox = Sandbox::new();
    sandbox.write(".ccg/contract.md", "# Contract\n");
    let input = format!("{}{BAD}\n", format!("{GOOD}\n").repeat(500));
    decide(&sandbox, &["validate", "-"], input.as_bytes()).exits(1);
    let entries = entries(&sandbox);
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0]["decision"], "DecisionRejected");
    assert_eq!(entries[1]["context"]["accepted"]["respond"], 500);
}

#[test]
fn outside_a_repository_decisions_are_validated_and_not_logged() {
    let sandbox = Sandbox::plain();
    let ran = decide(&sandbox, &["validate", "-"], GOOD.as_bytes()).exits(0);
    assert!(ran.err.contains("not logged"));
}

#[test]
fn a_question_says_under_which_rule_it_asks_and_what_follows() {
    let sandbox = Sandbox::new();
    for (question, rule, level) in [
        (
            r#"{"action_type":"request_clarification","question":"Which source?","required_fields":["source"]}"#,
            "intent.unclear",
            3,
        ),
        (
            r#"{"action_type":"request_clarification","question":"Which one?","options":["a","b"]}"#,
            "intent.options",
            2,
        ),
        (
            r#"{"action_type":"request_clarification","question":"Which database shall it be?","options":["a","b"]}"#,
            "intent.technology",
            3,
        ),
        (
            r#"{"action_type":"request_clarification","question":"Go on?","context":{"kind":"tradeoff"}}"#,
            "intent.tradeoff",
            3,
        ),
    ] {
        let ran = decide(&sandbox, &["validate", "-", "--json"], question.as_bytes()).exits(0);
        let answer = parsed(&ran.out);
        assert_eq!(
            answer["asks"],
            json!({"rule": rule, "level": level}),
            "{question}"
        );
        assert_eq!(answer["next"], "wait_for_user");
    }
    let broken = r#"{"action_type":"error_recovery","workflow_id":"w","failed_node_id":"n","failure_reason":"r","recovery_plan":{"action":"RETRY"},"execution_context":{}}"#;
    let ran = decide(&sandbox, &["validate", "-", "--json"], broken.as_bytes()).exits(1);
    assert_eq!(parsed(&ran.out)["next"], "replan_workflow");
    let ran = decide(&sandbox, &["validate", "-"], broken.as_bytes()).exits(1);
    assert!(ran.out.contains("plan the workflow anew"), "{}", ran.out);
    let ran = decide(&sandbox, &["validate", "-"], BAD.as_bytes()).exits(1);
    assert!(ran.out.contains("--correct"), "{}", ran.out);
}

#[test]
fn the_whole_wire_counts_and_its_line_ending_does_not() {
    let sandbox = Sandbox::new();
    let frame = GOOD.replace("hi", "").len();
    let exact = GOOD.replace("hi", &"x".repeat((1 << 20) - frame));
    assert_eq!(exact.len(), 1 << 20);
    for (input, code) in [
        (exact.clone(), 0),
        (format!("{exact}\n"), 0),
        (format!("{exact}\r\n"), 0),
        (format!("{exact} "), 1),
        (format!("{exact}\n\n"), 1),
        (format!("[{exact} ]"), 0),
        (format!("{exact}\n{GOOD}\n"), 0),
    ] {
        let told = input.len();
        let ran = decide(&sandbox, &["validate", "-"], input.as_bytes());
        assert_eq!(
            ran.code,
            code,
            "{told}: {}",
            &ran.out[..ran.out.len().min(300)]
        );
    }
}

#[test]
fn whatever_comes_in_is_answered_in_words() {
    let sandbox = Sandbox::new();
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let inputs: [(&[u8], i32); 22] = [
        (b"1", 1),
        (b"\"x\"", 1),
        (b"null", 1),
        (b"[[1, 2], [{}]]", 1),
        (b"[1]", 1),
        (b"[,]", 1),
        (b"[{},]", 1),
        (b"{\"a\":1}x", 1),
        (b"{\"a\":1}{\"a\":2}", 1),
        (b"[{}] x", 1),
        (b"{\"a\":1,}", 1),
        (b"{'a':1}", 1),
        (b"{\"a\":01}", 1),
        (b"{\"a\":+1}", 1),
        (b"{\"a\":-Infinity}", 1),
        (b"{\"a\":\"\\ud800\"}", 1),
        (b"{\"a\":\"\x00\"}", 1),
        (b"\xff\xfe{\x00}\x00", 1),
        (b"{\"a\":\"\xc0\x80\"}", 1),
        (deep.as_bytes(), 1),
        (b"", 2),
        (b" \r\n\t", 2),
    ];
    for (input, code) in inputs {
        for mode in [
            &["validate", "-", "--json"][..],
            &["validate", "-", "--correct"],
        ] {
            let ran = decide(&sandbox, mode, input);
            let shown = String::from_utf8_lossy(&input[..input.len().min(40)]).into_owned();
            assert_eq!(ran.code, code, "{shown}: {} {}", ran.out, ran.err);
            assert!(!ran.err.contains("panicked"), "{shown}: {}", ran.err);
            assert!(ran.out.len() + ran.err.len() > 10, "{shown}: no word");
        }
    }
    let marked = format!("\u{feff}{GOOD}\r\n{GOOD}\r\n");
    decide(&sandbox, &["validate", "-"], marked.as_bytes()).exits(0);
}

#[test]
fn a_list_that_an_agent_loosens_counts_only_when_a_person_confirms_it() {
    let sandbox = Sandbox::new();
    let dangerous = r#"{"action_type":"create_node","node_type":"PYTHON","node_name":"n","config":{"code":"import os\nos.system('ls')"}}"#;
    // Before anything was settled the file counts as it is.
    sandbox.write(".ccg/decisions.json", r#"{"sandbox":true}"#);
    decide(&sandbox, &["validate", "-"], dangerous.as_bytes()).exits(0);
    std::fs::remove_file(sandbox.work().join(".ccg/decisions.json")).unwrap();
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write(
        ".ccg/decisions.json",
        r#"{"sandbox":true,"subagents":{"coder":{}}}"#,
    );
    let ran = decide(&sandbox, &["validate", "-"], dangerous.as_bytes()).exits(1);
    assert!(ran.err.contains("nobody has confirmed"), "{}", ran.err);
    // What exists is no matter of policy.
    let spawn =
        r#"{"action_type":"spawn_subagent","subagent_type":"nobody","task_payload":{"q":1}}"#;
    let ran = decide(&sandbox, &["validate", "-"], spawn.as_bytes()).exits(1);
    assert!(ran.out.contains("known.subagent"), "{}", ran.out);
    let verdict = sandbox.holdpoint([
        "check",
        "write",
        ".ccg/decisions.json",
        "--actor",
        "agent",
        "--json",
    ]);
    assert!(verdict.out.contains("file.guard"), "{}", verdict.out);
    decide(
        &sandbox,
        &["validate", "-", "--sandboxed"],
        dangerous.as_bytes(),
    )
    .exits(0);
}
