//! A run that goes on can be listed, looked at, stopped and given time.

use super::{report, run_sh, until, wrapper};
use crate::support::Sandbox;
use serde_json::Value;
use std::process::{Child, Stdio};

fn start(sandbox: &Sandbox, options: &[&str], script: &str) -> Child {
    wrapper(sandbox)
        .args(options)
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn listed(sandbox: &Sandbox) -> Vec<Value> {
    sandbox
        .holdpoint(["ps", "--json"])
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_run_is_listed_shown_and_stopped() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = start(
        &sandbox,
        &["--agent", "gemini"],
        "echo line; exec sleep 600",
    );
    until("it is listed", || {
        listed(&sandbox)
            .first()
            .is_some_and(|run| run["state"] == "running" && run["pid"].is_i64())
    });
    let run = listed(&sandbox).remove(0);
    assert_eq!(run["agent"], "gemini");
    assert_eq!(run["max_seconds"], 480);
    until("its output is shown", || {
        sandbox.holdpoint(["logs"]).out == "line\n"
    });
    let id = run["run"].as_str().unwrap();
    sandbox.holdpoint(["stop", id]).exits(0);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(listed(&sandbox).is_empty());
    let all = sandbox.holdpoint(["ps", "--all", "--json"]).exits(0);
    assert!(all.out.contains(id), "{}", all.out);
}

#[test]
fn more_time_is_given_to_this_run() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = start(
        &sandbox,
        &["--max", "3s"],
        "echo go; until [ -e done ]; do sleep 0.1; done",
    );
    until("it runs", || {
        listed(&sandbox)
            .first()
            .is_some_and(|run| run["pid"].is_i64())
    });
    let ran = sandbox.holdpoint(["extend", "20m"]).exits(0);
    assert!(ran.out.contains("20 min 3 s"), "{}", ran.out);
    // Past the old maximum it goes on.
    until("it has run for four seconds", || {
        listed(&sandbox)
            .first()
            .is_some_and(|run| run["elapsed_seconds"].as_u64() >= Some(4))
    });
    assert!(child.try_wait().unwrap().is_none());
    sandbox.write("done", "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_limited_one_cannot_move_its_limit() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(&sandbox, &[], "holdpoint extend 20m 2>&1; echo $?").exits(0);
    assert!(ran.out.contains("only a person"), "{}", ran.out);
    assert!(ran.out.trim_end().ends_with('1'), "{}", ran.out);
}

#[test]
fn an_agent_cannot_accept_beforehand() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &[],
        "holdpoint-run --accept -- rm a 2>&1; echo $?",
    );
    assert!(ran.out.contains("only a person"), "{}", ran.out);
    assert!(sandbox.work().join("a").exists());
}

#[test]
fn a_report_has_every_attempt() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(&sandbox, &["--json"], "exit 4").exits(3);
    let report = report(&ran);
    assert_eq!(report["state"], "needs_person");
    assert_eq!(report["attempts"][0]["end"]["exit"]["code"], 4);
    assert_eq!(report["attempts"][0]["outcome"]["kind"], "unknown");
}
