//! `kill -9` of the runner at every failpoint: nothing is lost, nothing is done twice in silence.

use super::{create, holdpoint, sandbox, state, until};
use crate::support::Sandbox;

/// Runs a loop, dying at the given failpoint; then runs it to its end. Returns whether it died.
fn killed_at(sandbox: &Sandbox, point: usize) -> bool {
    let id = create(
        sandbox,
        &["--task", "one", "--task", "two"],
        "echo \"$HOLDPOINT_LOOP_ITERATION\" >> runs.txt; sleep 0.05",
    );
    let runs = sandbox.work().join("runs.txt");
    let _ = std::fs::remove_file(&runs);
    let first = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["loop", "run", "--quiet", &id])
        .env("HOLDPOINT_TEST_DIE_AT", point.to_string())
        .output()
        .unwrap();
    if first.status.success() {
        return false;
    }
    let mut told = String::new();
    until("the loop completes", || {
        let ran = holdpoint(sandbox, &["loop", "run", "--quiet", &id]);
        told.push_str(&ran.err);
        ran.code == 0
    });
    let after = state(sandbox, &id);
    assert_eq!(after["status"], "completed", "killed at {point}");
    assert_eq!(after["current_iteration"], 3, "killed at {point}");
    let actions = after["skill_state"]["completed_actions"]
        .as_array()
        .unwrap();
    assert_eq!(actions.len(), 4, "killed at {point}: {actions:?}");
    let ran = std::fs::read_to_string(&runs).unwrap();
    let mut lines: Vec<&str> = ran.lines().collect();
    let all = lines.len();
    lines.dedup();
    assert_eq!(lines, ["1", "2", "3"], "killed at {point}");
    if all > 3 {
        assert!(told.contains("is done again"), "killed at {point}: {told}");
    }
    let changes = sandbox.read(format!(".loop/{id}.progress/changes.log"));
    assert_eq!(changes.lines().count(), 3, "killed at {point}");
    true
}

#[test]
fn a_killed_runner_loses_no_iteration() {
    let sandbox = sandbox();
    let most = std::env::var("HOLDPOINT_KILLS")
        .ok()
        .and_then(|most| most.parse().ok())
        .unwrap_or(12);
    let step = if most > 12 { 1 } else { 7 };
    let mut killed = 0;
    let mut point = 1;
    while killed < most && killed_at(&sandbox, point) {
        killed += 1;
        point += step;
    }
    assert!(
        killed >= most.min(12),
        "only {killed} failpoints were reached"
    );
}

#[test]
fn a_command_killed_with_its_runner_is_done_again_and_said() {
    let sandbox = sandbox();
    let gate = sandbox.path("gate");
    let script = format!(
        "echo \"$HOLDPOINT_LOOP_ITERATION\" >> runs.txt; while [ ! -e {} ]; do sleep 0.02; done",
        gate.display()
    );
    let id = create(&sandbox, &["--task", "one"], &script);
    let mut runner = super::spawn(&sandbox, &["loop", "run", &id]);
    let runs = sandbox.work().join("runs.txt");
    until("the first iteration", || runs.exists());
    let started: serde_json::Value =
        serde_json::from_str(&super::private_file(&sandbox, "1.1/started.json")).unwrap();
    let (leash, child) = (&started["leash"]["pid"], &started["child"]["pid"]);
    runner.kill().unwrap();
    runner.wait().unwrap();
    let killed = std::process::Command::new("sh")
        .args(["-c", &format!("kill -9 {leash}; kill -9 -{child}")])
        .output()
        .unwrap();
    assert!(killed.status.success(), "{started}: {killed:?}");
    std::fs::write(&gate, "").unwrap();
    let ran = holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert!(ran.err.contains("is done again"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "1\n1\n2\n");
    let after = state(&sandbox, &id);
    assert_eq!(after["current_iteration"], 2);
    assert!(
        after["skill_state"]["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("iteration 1 was killed")
    );
    assert_eq!(super::logged(&sandbox, "loop_interrupted").len(), 1);
}

/// A command whose grandchild leaves its session and group, ignores SIGTERM and holds the output open.
const ESCAPES: &str = r#"setsid sh -c 'trap "" TERM HUP INT; echo $$ > grandchild; while :; do sleep 0.1; done' & while [ ! -s grandchild ]; do sleep 0.02; done"#;

/// Whether the process whose id a file holds still lives.
fn lives(sandbox: &Sandbox, file: &str) -> bool {
    let pid = sandbox.read(file).trim().to_owned();
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .starts_with(" Z")
    })
}

#[test]
fn nothing_outlives_an_iteration_that_hits_its_time_limit() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--timeout", "1", "--max-iterations", "1"],
        &format!("{ESCAPES}; sleep 600"),
    );
    let ran = crate::support::Ran::from(
        sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["loop", "run", &id])
            .env("HOLDPOINT_TEST_GRACE_MS", "200")
            .output()
            .unwrap(),
    )
    .exits(3);
    assert!(!lives(&sandbox, "grandchild"), "{}", ran.err);
    let after = state(&sandbox, &id);
    let bug = after["skill_state"]["debug"]["active_bug"]
        .as_str()
        .unwrap();
    assert!(bug.contains("time limit"), "{bug}");
    assert_eq!(after["current_iteration"], 1);
}

#[test]
fn nothing_outlives_an_iteration_that_ends() {
    let sandbox = sandbox();
    let id = create(&sandbox, &["--max-iterations", "1"], ESCAPES);
    sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["loop", "run", &id])
        .env("HOLDPOINT_TEST_GRACE_MS", "200")
        .output()
        .unwrap();
    assert_eq!(state(&sandbox, &id)["current_iteration"], 1);
    assert!(!lives(&sandbox, "grandchild"));
}

#[test]
fn nothing_outlives_an_agent_that_hits_its_time_limit() {
    let sandbox = sandbox();
    sandbox.write("escape.sh", format!("{ESCAPES}; sleep 600"));
    let ran = crate::support::Ran::from(
        sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["collab", "--role", "architect", "--task", "t", "--json"])
            .args(["--timeout", "3000", "--accept-degraded"])
            .args([
                "--codex-command",
                "sh -c 'sleep 2; echo SESSION_ID: c-12345678'",
            ])
            .args(["--gemini-command", "sh escape.sh"])
            .env("HOLDPOINT_TEST_GRACE_MS", "200")
            .output()
            .unwrap(),
    );
    assert!(!lives(&sandbox, "grandchild"), "{}", ran.err);
    let done: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(done["gemini"]["status"], "timeout", "{done:#}");
}

#[test]
fn a_killed_side_by_side_run_is_taken_up_at_every_step() {
    let most: usize = std::env::var("HOLDPOINT_KILLS")
        .ok()
        .and_then(|most| most.parse().ok())
        .unwrap_or(6);
    let step = if most > 6 { 1 } else { 9 };
    let mut killed = 0;
    let mut point = 1;
    while killed < most && collab_killed_at(point) {
        killed += 1;
        point += step;
    }
    assert!(
        killed >= most.min(6),
        "only {killed} failpoints were reached"
    );
}

fn collab_killed_at(point: usize) -> bool {
    let sandbox = sandbox();
    let agent = |name: &str| {
        format!("sh -c 'echo ran >> {name}.txt; sleep 0.05; echo SESSION_ID: {name}-12345678'")
    };
    let first = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["collab", "--role", "analyzer", "--task", "t", "--json"])
        .args(["--codex-command", &agent("codex")])
        .args(["--gemini-command", &agent("gemini")])
        .env("HOLDPOINT_TEST_DIE_AT", point.to_string())
        .output()
        .unwrap();
    if first.status.success() {
        return false;
    }
    let Some(id) = super::collab::run_id(&sandbox) else {
        // It died before its first snapshot: nothing was started.
        assert!(!sandbox.work().join("codex.txt").exists());
        return true;
    };
    let ran = sandbox
        .holdpoint(["collab", "--resume", &id, "--json"])
        .exits(0);
    let done: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(done["state"], "SUCCESS", "killed at {point}");
    for name in ["codex", "gemini"] {
        let runs = sandbox.read(format!("{name}.txt")).lines().count() as u64;
        let retries = done["retries"][name].as_u64().unwrap();
        assert_eq!(runs, 1 + retries, "{name}, killed at {point}");
        assert!(retries == 0 || ran.err.contains("tried once more"));
    }
    true
}
