//! `kill -9` of either process of a run, anywhere: nothing runs twice, nothing is orphaned, nothing is lost.

use super::{pids, run, wrapper};
use crate::support::Sandbox;
use serde_json::Value;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Where and how a run is killed.
#[derive(Clone, Copy, Debug)]
enum Kill {
    /// The drive, at its n-th failpoint.
    DriveAt(u32),
    /// The leash, at its n-th failpoint.
    LeashAt(u32),
    /// The drive, after a time.
    Drive(Duration),
    /// The leash, after a time.
    Leash(Duration),
    /// Both, after a time.
    Both(Duration),
    /// The drive after a time, and the drive that resumes it after the same time again.
    Twice(Duration),
    /// The drive at its n-th failpoint, and the drive that resumes it at its n-th.
    TwiceAt(u32),
}

/// What a killed run looked like before it was resumed.
struct Killed {
    sandbox: Sandbox,
    /// A process was killed where it was meant to be.
    hit: bool,
}

fn guarded() -> Sandbox {
    Sandbox::with_files(&[
        (
            ".ccg/contract.md",
            "# Contract\n\n## In Scope\n\n- `src/**`\n",
        ),
        ("src/in", "in\n"),
        ("out", "out\n"),
    ])
}

/// Notes its turn, and changes one file inside and one outside the Contract.
fn script(sandbox: &Sandbox) -> String {
    format!(
        "echo $$ >> {}; echo in >> src/in; sleep 0.03; echo out >> out; echo end >> {}",
        sandbox.path("pids").display(),
        sandbox.path("ends").display()
    )
}

fn run_json(sandbox: &Sandbox) -> Option<Value> {
    let repos = sandbox.path("state/holdpoint/repos");
    let repo = fs::read_dir(repos).ok()?.next()?.ok()?;
    let run = fs::read_dir(repo.path().join("runs")).ok()?.next()?.ok()?;
    serde_json::from_slice(&fs::read(run.path().join("run.json")).ok()?).ok()
}

/// Every living process that has the sandbox's home, the caller's own children apart from which none may be left.
fn at_home(sandbox: &Sandbox) -> Vec<(i32, String)> {
    let home = format!("HOME={}", sandbox.path("home").display());
    let entries = fs::read_dir("/proc").unwrap();
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
                environ
                    .split(|byte| *byte == 0)
                    .any(|var| var == home.as_bytes())
            })
        })
        .filter(|pid| super::lives(*pid))
        .map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            (pid, String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
}

fn kill(pid: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// The leash of the only run, while it is there.
fn leash(sandbox: &Sandbox) -> Option<i32> {
    at_home(sandbox)
        .into_iter()
        .find(|(_, line)| line.contains(" --leash ") || line.contains(" --adopt "))
        .map(|(pid, _)| pid)
}

fn started(sandbox: &Sandbox, variable: Option<(&str, u32)>) -> Child {
    let mut command = wrapper(sandbox);
    command.args(["-q", "--", "sh", "-c", &script(sandbox)]);
    if let Some((variable, n)) = variable {
        command.env(variable, n.to_string());
    }
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Whether the child was killed before it was over.
fn kill_after(child: &mut Child, time: Duration) -> bool {
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

fn resume_killed(sandbox: &Sandbox, variable: Option<(&str, u32)>, time: Option<Duration>) -> bool {
    let Some(id) = run_json(sandbox).and_then(|run| Some(run["id"].as_str()?.to_owned())) else {
        return false;
    };
    let mut command = wrapper(sandbox);
    command.args(["-q", "--resume", &id]);
    if let Some((variable, n)) = variable {
        command.env(variable, n.to_string());
    }
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    match time {
        Some(time) => kill_after(&mut child, time),
        None => child.wait().unwrap().code().is_none(),
    }
}

impl Kill {
    fn carry_out(self) -> Killed {
        let sandbox = guarded();
        let hit = match self {
            Self::DriveAt(n) => started(&sandbox, Some(("HOLDPOINT_TEST_DIE_AT", n)))
                .wait()
                .unwrap()
                .code()
                .is_none(),
            Self::LeashAt(n) => {
                started(&sandbox, Some(("HOLDPOINT_TEST_CHILD_DIE_AT", n)))
                    .wait()
                    .unwrap();
                let end = run_json(&sandbox).unwrap();
                end["attempts"][0]["end"]["cause"] == "lost"
            }
            Self::Drive(time) => kill_after(&mut started(&sandbox, None), time),
            Self::Leash(time) => {
                let mut child = started(&sandbox, None);
                std::thread::sleep(time);
                let leash = leash(&sandbox);
                leash.into_iter().for_each(kill);
                child.wait().unwrap();
                leash.is_some()
            }
            Self::Both(time) => {
                let mut child = started(&sandbox, None);
                std::thread::sleep(time);
                let leash = leash(&sandbox);
                child.kill().unwrap();
                leash.into_iter().for_each(kill);
                child.wait().unwrap().code().is_none()
            }
            Self::Twice(time) => {
                let first = kill_after(&mut started(&sandbox, None), time);
                resume_killed(&sandbox, None, Some(time)) || first
            }
            Self::TwiceAt(n) => {
                let variable = ("HOLDPOINT_TEST_DIE_AT", n);
                let first = started(&sandbox, Some(variable))
                    .wait()
                    .unwrap()
                    .code()
                    .is_none();
                resume_killed(&sandbox, Some(variable), None) || first
            }
        };
        Killed { sandbox, hit }
    }

    /// Kills a run, resumes it, and checks that it is whole; returns whether the kill hit.
    fn check(self) -> bool {
        let Killed { sandbox, hit } = self.carry_out();
        let Some(id) = run_json(&sandbox).and_then(|run| Some(run["id"].as_str()?.to_owned()))
        else {
            // Killed before the first snapshot: nothing was started.
            assert!(pids(&sandbox, "pids").is_empty(), "{self:?}");
            return hit;
        };
        let resumed = run(&sandbox, ["-q", "--resume", &id]);
        assert!(
            matches!(resumed.code, 0 | 1 | 3),
            "{self:?}: {} {}",
            resumed.code,
            resumed.err
        );
        let left = at_home(&sandbox);
        assert!(left.is_empty(), "{self:?}: left running: {left:?}");
        let turns = pids(&sandbox, "pids").len();
        let ends = fs::read_to_string(sandbox.path("ends")).unwrap_or_default();
        let run = run_json(&sandbox).unwrap();
        assert!(turns <= 1, "{self:?}: ran {turns} times");
        assert!(run["status"].is_u64(), "{self:?}: {run}");
        // What is agreed stays, what is not is put back, and the hold has it whole.
        let inside = sandbox.read("src/in");
        if ends.is_empty() {
            assert!(["in\n", "in\nin\n"].contains(&inside.as_str()), "{self:?}");
        } else {
            assert_eq!(inside, "in\nin\n", "{self:?}");
        }
        assert_eq!(sandbox.read("out"), "out\n", "{self:?}");
        let holds = run["holds"].as_array().unwrap();
        assert!(holds.len() <= 1, "{self:?}: {holds:?}");
        let waiting = sandbox.holdpoint(["holds", "--json"]).exits(0).out;
        let waiting = waiting.matches("\"pending\"").count();
        assert_eq!(waiting, holds.len(), "{self:?}: one hold, and a known one");
        for entry in fs::read_dir(sandbox.work()).unwrap() {
            let name = entry.unwrap().file_name();
            let name = name.to_string_lossy();
            assert!(!name.starts_with(".holdpoint"), "{self:?}: {name} is left");
        }
        if ends.is_empty() && holds.is_empty() {
            return hit;
        }
        let id = holds[0].as_str().unwrap();
        let shown = sandbox.holdpoint(["holds", "show", id]).exits(0).out;
        assert!(shown.contains("+out"), "{self:?}: {shown}");
        hit
    }
}

/// Carries out many kills on two threads; returns how many hit.
fn all(kills: &[Kill]) -> u32 {
    let hits = AtomicU32::new(0);
    let next = Mutex::new(kills.iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(kill) = next.lock().unwrap().next() else {
                        return;
                    };
                    hits.fetch_add(u32::from(kill.check()), Ordering::Relaxed);
                }
            });
        }
    });
    hits.into_inner()
}

/// Times spread over a run, the same in every test run.
fn times(count: u32) -> impl Iterator<Item = Duration> {
    (0..count).map(|n| Duration::from_millis(u64::from(n * 37 % 251)))
}

#[test]
fn a_run_killed_somewhere_is_whole_again() {
    let mut kills: Vec<Kill> = [2, 9, 31, 77, 104, 128, 150].map(Kill::DriveAt).into();
    kills.extend([2, 5, 9, 14].map(Kill::LeashAt));
    kills.extend([90, 130].map(Kill::TwiceAt));
    all(&kills);
}

/// Carries out many kills, and says how many there were; at least half of them have to hit.
#[expect(clippy::print_stderr, reason = "the count is what it is run for")]
fn counted(what: &str, kills: &[Kill]) {
    let hits = all(kills);
    eprintln!("{what}: {hits} of {} kills hit", kills.len());
    let enough = u32::try_from(kills.len() / 2).unwrap();
    assert!(hits >= enough, "{what}: only {hits} hit");
}

/// The first failpoint of a drive that no run reaches, rounded up.
fn steps() -> u32 {
    (1..100)
        .map(|step| step * 16)
        .find(|n| !Kill::DriveAt(*n).check())
        .unwrap()
}

#[test]
#[ignore = "takes a minute: about two hundred kills"]
fn a_drive_killed_at_any_step_is_whole_again() {
    counted(
        "drive",
        &(1..steps()).map(Kill::DriveAt).collect::<Vec<_>>(),
    );
}

#[test]
#[ignore = "takes half a minute: every step of the leash, and a drive killed twice"]
fn a_leash_killed_at_any_step_is_whole_again() {
    let mut kills: Vec<Kill> = (1..=20).map(Kill::LeashAt).collect();
    kills.extend((1..steps()).step_by(5).map(Kill::TwiceAt));
    counted("leash and twice", &kills);
}

#[test]
#[ignore = "takes a minute: 160 kills at moments between steps"]
fn a_run_killed_at_any_moment_is_whole_again() {
    let mut kills: Vec<Kill> = times(40).map(Kill::Drive).collect();
    kills.extend(times(40).map(Kill::Leash));
    kills.extend(times(40).map(Kill::Both));
    kills.extend(times(40).map(Kill::Twice));
    counted("moments", &kills);
}
