//! Feature: wrapped runs.

mod attempts;
mod breakout;
mod confirmed;
mod crash;
mod delta;
mod ending;
mod going_on;
mod hostile;
mod kills;
mod outcome;
mod refs;
mod sandbox;
mod terminal;
mod tries;

use crate::support::{Ran, Sandbox};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;

/// A `holdpoint-run` command in the sandbox: short grace, no waits between attempts.
fn wrapper(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint-run"));
    command
        .env("HOLDPOINT_TEST_NO_WAIT", "1")
        .env("HOLDPOINT_TEST_GRACE_MS", "300")
        .stdin(std::process::Stdio::null());
    command
}

/// Runs `holdpoint-run` with these arguments.
fn run<I, S>(sandbox: &Sandbox, args: I) -> Ran
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    Ran::from(wrapper(sandbox).args(args).output().unwrap())
}

/// Runs a shell script under the wrapper.
fn run_sh(sandbox: &Sandbox, options: &[&str], script: &str) -> Ran {
    run(
        sandbox,
        options.iter().copied().chain(["--", "sh", "-c", script]),
    )
}

/// The report that `--json` prints last.
fn report(ran: &Ran) -> Value {
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

/// The only run directory of the sandbox.
fn run_dir(sandbox: &Sandbox) -> std::path::PathBuf {
    let repos = sandbox.path("state/holdpoint/repos");
    let repo = fs::read_dir(repos).unwrap().next().unwrap().unwrap();
    let mut runs: Vec<_> = fs::read_dir(repo.path().join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    runs.sort();
    runs.pop().unwrap()
}

/// The decision log, line by line.
fn log(sandbox: &Sandbox) -> Vec<Value> {
    let ran = sandbox.holdpoint(["log", "--json", "-n", "500"]).exits(0);
    ran.out
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Waits until `done` holds; fails after half a minute.
#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if done() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{what} did not happen");
}

/// Whether a process lives, zombies apart.
fn lives(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

/// The process ids in a file that a script wrote, one a line.
fn pids(sandbox: &Sandbox, file: &str) -> Vec<i32> {
    fs::read_to_string(sandbox.path(file))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect()
}
