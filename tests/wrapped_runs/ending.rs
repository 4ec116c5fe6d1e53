//! Nothing of a run outlives it: time limits, Ctrl-C, stop, and what it leaves behind.

use super::{lives, pids, run_sh, until, wrapper};
use crate::support::Sandbox;
use rustix::process::{Pid, Signal};
use std::io::Read as _;
use std::process::{Child, Stdio};

/// Double-forks into a session of its own, ignores SIGTERM and keeps the pipes open.
fn stubborn(sandbox: &Sandbox) -> String {
    format!(
        "trap '' TERM; \
         setsid sh -c 'trap \"\" TERM; (setsid sh -c \"trap \\\"\\\" TERM; echo \\$\\$ >> {pids}; while :; do sleep 1; done\" &) ; echo $$ >> {pids}; while :; do sleep 1; done' & \
         echo $$ >> {pids}; echo ready; while :; do sleep 1; done",
        pids = sandbox.path("pids").display()
    )
}

#[test]
fn past_the_maximum_nothing_is_left_running() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &["--timeout", "500ms", "--max", "1500ms"],
        &stubborn(&sandbox),
    )
    .exits(124);
    let pids = pids(&sandbox, "pids");
    assert_eq!(pids.len(), 3, "{}", ran.err);
    for pid in pids {
        assert!(!lives(pid), "{pid} lives");
    }
    assert!(ran.err.contains("E004"), "{}", ran.err);
    assert!(ran.err.contains("  | ready"), "{}", ran.err);
    assert!(ran.err.contains("likely causes"), "{}", ran.err);
    assert!(ran.err.contains("the default is 500 ms"), "{}", ran.err);
    let log = sandbox.holdpoint(["log", "--json", "--rule", "time.over-limit"]);
    assert!(log.out.contains("force_stop"), "{}", log.out);
}

#[test]
fn processes_left_behind_are_ended_and_named() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let script = format!(
        "setsid sh -c 'echo $$ > {}; exec sleep 600' & until [ -s {} ]; do :; done",
        sandbox.path("pids").display(),
        sandbox.path("pids").display()
    );
    let ran = run_sh(&sandbox, &[], &script).exits(0);
    let pids = pids(&sandbox, "pids");
    assert_eq!(pids.len(), 1);
    assert!(!lives(pids[0]));
    assert!(ran.err.contains("left processes behind"), "{}", ran.err);
}

fn start(sandbox: &Sandbox, script: &str) -> Child {
    wrapper(sandbox)
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

fn wait_for_ready(child: &mut Child) {
    let mut seen = Vec::new();
    let mut byte = [0];
    let out = child.stdout.as_mut().unwrap();
    while !seen.ends_with(b"ready\n") {
        assert_eq!(out.read(&mut byte).unwrap(), 1, "it ended early");
        seen.push(byte[0]);
    }
}

#[test]
fn one_interrupt_asks_the_command_to_stop() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = start(
        &sandbox,
        "trap 'echo asked; exit 0' INT; echo ready; while :; do sleep 0.1; done",
    );
    wait_for_ready(&mut child);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(output.stdout, b"asked\n");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.contains("E007"), "{err}");
}

#[test]
fn two_interrupts_kill_what_does_not_listen() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = start(
        &sandbox,
        &format!("trap 'touch asked' INT; {}", stubborn(&sandbox)),
    );
    wait_for_ready(&mut child);
    until("the processes start", || pids(&sandbox, "pids").len() == 3);
    signal(&child, Signal::INT);
    until("the first interrupt arrives", || {
        sandbox.work().join("asked").exists()
    });
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    for pid in pids(&sandbox, "pids") {
        assert!(!lives(pid), "{pid} lives");
    }
}

#[test]
fn a_terminated_wrapper_takes_its_tree_along() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = start(&sandbox, &stubborn(&sandbox));
    wait_for_ready(&mut child);
    until("the processes start", || pids(&sandbox, "pids").len() == 3);
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for pid in pids(&sandbox, "pids") {
        assert!(!lives(pid), "{pid} lives");
    }
}
