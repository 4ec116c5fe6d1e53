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
    assert_eq!(actions.len(), 5, "killed at {point}: {actions:?}");
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
