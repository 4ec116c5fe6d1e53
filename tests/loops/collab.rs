//! Feature: two agents side by side, through the real binary and scripted agents.

use super::{logged, until};
use crate::support::{Ran, Sandbox};
use serde_json::Value;
use std::process::{Child, Stdio};

fn sandbox() -> Sandbox {
    Sandbox::with_files(&[("a.txt", "a\n")])
}

const CODEX: &str = "sh -c 'echo \"back end done\"; echo SESSION_ID: c-12345678'";
const GEMINI: &str = "sh -c 'echo \"front end done\"; echo SESSION_ID: g-12345678'";
const SILENT: &str = "sh -c 'echo words without a session'";
const BROKEN: &str = "sh -c 'echo broken >&2; exit 9'";
const HANGS: &str = "sh -c 'echo SESSION_ID: h-12345678; sleep 600 & wait'";

fn collab(sandbox: &Sandbox, role: &str, codex: &str, gemini: &str, more: &[&str]) -> Ran {
    let mut args = vec![
        "collab",
        "--role",
        role,
        "--task",
        "look at it",
        "--codex-command",
        codex,
        "--gemini-command",
        gemini,
        "--json",
    ];
    args.extend(more);
    sandbox.holdpoint(args)
}

fn snapshot(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn both_good_is_success() {
    let sandbox = sandbox();
    let ran = collab(&sandbox, "analyzer", CODEX, GEMINI, &[]).exits(0);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "SUCCESS");
    assert_eq!(done["codex"]["session_id"], "c-12345678");
    assert_eq!(done["gemini"]["session_id"], "g-12345678");
    assert_eq!(done["missing_dimensions"], serde_json::json!([]));
    assert!(
        done["outputs"]["codex"]
            .as_str()
            .unwrap()
            .contains("back end done")
    );
    assert!(done["safety_point"].is_string());
    assert_eq!(logged(&sandbox, "collab").len(), 1);
}

#[test]
fn no_session_anywhere_is_a_failure_unless_lite() {
    let sandbox = sandbox();
    let done = snapshot(&collab(&sandbox, "analyzer", SILENT, SILENT, &[]).exits(3));
    assert_eq!(done["state"], "FAILED");
    assert_eq!(done["error_code"], "E006");
    assert!(done["degraded_level"].is_null());
    let done = snapshot(&collab(&sandbox, "analyzer", SILENT, SILENT, &["--lite"]).exits(0));
    assert_eq!(done["state"], "SUCCESS");
}

#[test]
fn a_missing_side_dimension_waits_for_a_person() {
    let sandbox = sandbox();
    let ran = collab(&sandbox, "architect", CODEX, SILENT, &[]).exits(1);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "DEGRADED");
    assert_eq!(done["degraded_level"], "ACCEPTABLE");
    assert_eq!(done["missing_dimensions"], serde_json::json!(["frontend"]));
    assert!(done["degraded_reason"].as_str().unwrap().contains("E006"));
    assert_eq!(logged(&sandbox, "degrade").len(), 1);
    let id = done["id"].as_str().unwrap();
    let again = sandbox
        .holdpoint(["collab", "--resume", id, "--json"])
        .exits(1);
    assert_eq!(snapshot(&again)["state"], "DEGRADED");
    let taken = sandbox
        .holdpoint(["collab", "--resume", id, "--accept-degraded", "--json"])
        .exits(0);
    let taken = snapshot(&taken);
    assert_eq!(taken["state"], "SUCCESS");
    assert_eq!(taken["degraded_level"], "ACCEPTABLE");
}

#[test]
fn a_missing_core_dimension_is_handed_back() {
    let sandbox = sandbox();
    let ran = collab(
        &sandbox,
        "architect",
        BROKEN,
        GEMINI,
        &["--accept-degraded"],
    )
    .exits(3);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "FAILED");
    assert_eq!(done["degraded_level"], "UNACCEPTABLE");
    assert_eq!(done["missing_dimensions"], serde_json::json!(["backend"]));
    assert!(ran.err.contains("handed back"));
}

#[test]
fn one_that_hangs_is_tried_once_more_and_then_left_out() {
    let sandbox = sandbox();
    let ran = collab(
        &sandbox,
        "architect",
        CODEX,
        HANGS,
        &["--timeout", "1000", "--accept-degraded"],
    )
    .exits(0);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "SUCCESS");
    assert_eq!(done["degraded_level"], "ACCEPTABLE");
    assert_eq!(done["error_code"], "E004");
    assert_eq!(done["gemini"]["status"], "timeout");
    assert_eq!(
        done["retries"],
        serde_json::json!({"codex": 0, "gemini": 1})
    );
}

#[test]
fn both_hanging_is_e005() {
    let sandbox = sandbox();
    let ran = collab(&sandbox, "analyzer", HANGS, HANGS, &["--timeout", "800"]).exits(124);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "FAILED");
    assert_eq!(done["error_code"], "E005");
}

#[test]
fn what_cannot_start_is_told_by_its_code() {
    let sandbox = sandbox();
    let missing = "no-such-program --x";
    let done = snapshot(&collab(&sandbox, "analyzer", missing, missing, &[]).exits(2));
    assert_eq!(
        (&done["state"], &done["error_code"]),
        (&"FAILED".into(), &"E001".into())
    );
    assert!(done["safety_point"].is_null());
    let unrendered = "echo {tasks}";
    let done = snapshot(&collab(&sandbox, "analyzer", unrendered, unrendered, &[]).exits(2));
    assert_eq!(done["error_code"], "E002");
    sandbox.write("agent", "#!/no/such/interpreter\n");
    std::fs::set_permissions(
        sandbox.work().join("agent"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let done = snapshot(&collab(&sandbox, "analyzer", "./agent", "./agent", &[]).exits(3));
    assert_eq!(done["error_code"], "E003");
    // One that can start is enough to go on.
    let done = snapshot(
        &collab(
            &sandbox,
            "architect",
            CODEX,
            missing,
            &["--accept-degraded"],
        )
        .exits(0),
    );
    assert_eq!(done["gemini"]["error_code"], "E001");
}

#[test]
fn a_transient_failure_is_tried_once_more() {
    let sandbox = sandbox();
    let flaky = "sh -c 'if [ -e tried ]; then echo SESSION_ID: f-12345678; else touch tried; echo \"error: connection reset by peer\" >&2; exit 1; fi'";
    let done = snapshot(&collab(&sandbox, "analyzer", CODEX, flaky, &[]).exits(0));
    assert_eq!(done["retries"]["gemini"], 1);
}

#[test]
fn one_agent_can_be_asked_alone_and_a_session_is_never_mixed() {
    let sandbox = sandbox();
    let echo = "sh -c 'echo \"$0\"; echo SESSION_ID: c-12345678' {session}";
    let ran = sandbox
        .holdpoint([
            "collab",
            "--role",
            "analyzer",
            "--task",
            "t",
            "--backend",
            "codex",
            "--resume",
            "s-abcdefgh",
            "--codex-command",
            echo,
            "--json",
        ])
        .exits(0);
    let done = snapshot(&ran);
    assert!(
        done["outputs"]["codex"]
            .as_str()
            .unwrap()
            .starts_with("s-abcdefgh")
    );
    assert_eq!(done["gemini"]["status"], "skipped");
    sandbox
        .holdpoint([
            "collab",
            "--role",
            "analyzer",
            "--task",
            "t",
            "--resume",
            "s-abcdefgh",
        ])
        .exits(2);
}

fn spawn(sandbox: &Sandbox, codex: &str, gemini: &str) -> Child {
    sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args([
            "collab",
            "--role",
            "analyzer",
            "--task",
            "t",
            "--json",
            "--codex-command",
            codex,
            "--gemini-command",
            gemini,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let done = std::process::Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(done.success());
}

#[test]
fn ctrl_c_is_e007() {
    let sandbox = sandbox();
    let slow = "sh -c 'touch started; sleep 600'";
    let child = spawn(&sandbox, slow, GEMINI);
    until("codex starts", || sandbox.work().join("started").exists());
    signal(&child, "-INT");
    let ran = Ran::from(child.wait_with_output().unwrap()).exits(130);
    let done = snapshot(&ran);
    assert_eq!(
        (&done["state"], &done["error_code"]),
        (&"FAILED".into(), &"E007".into())
    );
}

#[test]
fn an_interrupted_run_is_taken_up_where_it_was() {
    let sandbox = sandbox();
    let gate = sandbox.path("gate");
    let slow = format!(
        "sh -c 'echo ran >> codex.txt; while [ ! -e {} ]; do sleep 0.02; done; echo SESSION_ID: c-12345678'",
        gate.display()
    );
    let mut child = spawn(&sandbox, &slow, GEMINI);
    until("codex starts", || sandbox.work().join("codex.txt").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let id = run_id(&sandbox).unwrap();
    std::fs::write(&gate, "").unwrap();
    let ran = sandbox
        .holdpoint(["collab", "--resume", &id, "--json"])
        .exits(0);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "SUCCESS");
    assert_eq!(done["retries"]["codex"], 0);
    assert_eq!(sandbox.read("codex.txt"), "ran\n");
}

/// The id of the only run, where there is one.
pub(super) fn run_id(sandbox: &Sandbox) -> Option<String> {
    let mut dirs = vec![sandbox.path("state")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.join("snapshot.json").exists() {
                return Some(path.file_name().unwrap().to_string_lossy().into_owned());
            }
            if path.is_dir() {
                dirs.push(path);
            }
        }
    }
    None
}

#[test]
fn a_change_that_needs_a_person_is_put_back() {
    let sandbox = sandbox();
    let deletes = "sh -c 'rm a.txt; echo SESSION_ID: c-12345678'";
    let ran = collab(&sandbox, "analyzer", deletes, GEMINI, &[]).exits(1);
    let done = snapshot(&ran);
    assert_eq!(done["state"], "SUCCESS");
    assert!(done["hold"].is_string());
    assert_eq!(sandbox.read("a.txt"), "a\n");
}
