//! `kill -9` at any step: nothing runs twice, nothing is orphaned, nothing is lost.

use super::{lives, pids, run, run_dir, until, wrapper};
use crate::support::Sandbox;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// Notes its process and its turn, and changes one file inside and one outside the Contract.
fn script(sandbox: &Sandbox) -> String {
    format!(
        "echo $$ >> {}; echo in >> src/in; echo out >> out; sleep 0.05; echo end >> {}",
        sandbox.path("pids").display(),
        sandbox.path("ends").display()
    )
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

fn snapshot(sandbox: &Sandbox) -> Option<Value> {
    let runs = sandbox.path("state/holdpoint/repos");
    let repo = fs::read_dir(runs).ok()?.next()?.ok()?;
    let run = fs::read_dir(repo.path().join("runs")).ok()?.next()?.ok()?;
    serde_json::from_slice(&fs::read(run.path().join("run.json")).ok()?).ok()
}

/// Kills one of the two processes at its n-th failpoint and resumes; returns whether it was killed there.
fn killed_at(variable: &str, n: u32) -> bool {
    let sandbox = guarded();
    let status = wrapper(&sandbox)
        .args(["-q", "--", "sh", "-c", &script(&sandbox)])
        .env(variable, n.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    let front_killed = status.code().is_none();
    let first = snapshot(&sandbox);
    if let Some(id) = first.as_ref().and_then(|run| run["id"].as_str()) {
        // Twice: the second finds it over and says the same.
        for _ in 0..2 {
            let ran = run(&sandbox, ["-q", "--resume", id]);
            assert!(
                matches!(ran.code, 1 | 3),
                "{variable}={n}: {} {}",
                ran.code,
                ran.err
            );
        }
        assert_eq!(sandbox.read("out"), "out\n", "{variable}={n}");
        let text = sandbox.read("src/in");
        let started = pids(&sandbox, "pids");
        assert!(
            started.len() <= 1,
            "{variable}={n}: ran {} times",
            started.len()
        );
        assert_eq!(
            text == "in\nin\n",
            started.len() == 1,
            "{variable}={n}: {text:?}"
        );
        for pid in started {
            assert!(!lives(pid), "{variable}={n}: {pid} lives");
        }
        let holds = sandbox.holdpoint(["holds", "--json"]).exits(0).out;
        let held = snapshot(&sandbox).unwrap()["holds"]
            .as_array()
            .unwrap()
            .len();
        assert!(
            held <= 1 && (held == 1) == holds.contains("workspace_delta"),
            "{variable}={n}: {holds}"
        );
    } else {
        // Killed before the first snapshot: nothing was started.
        assert!(pids(&sandbox, "pids").is_empty(), "{variable}={n}");
    }
    front_killed || first.is_none()
}

#[test]
fn a_wrapper_killed_at_some_steps_is_resumed() {
    for n in [1, 3, 5, 8, 11] {
        killed_at("HOLDPOINT_TEST_DIE_AT", n);
    }
    for n in [1, 2, 4, 6] {
        killed_at("HOLDPOINT_TEST_CHILD_DIE_AT", n);
    }
}

#[test]
#[ignore = "takes minutes: every step several times, in both processes"]
#[expect(clippy::print_stderr, reason = "the count is what it is run for")]
fn a_wrapper_killed_at_every_step_is_resumed() {
    let mut kills = 0;
    for round in 0..8 {
        let mut n = 1 + round % 2;
        while killed_at("HOLDPOINT_TEST_DIE_AT", n) && n < 200 {
            kills += 1;
            n += 1;
        }
        for n in 1..=8 {
            killed_at("HOLDPOINT_TEST_CHILD_DIE_AT", n);
            kills += 1;
        }
    }
    eprintln!("{kills} kills");
}

#[test]
fn a_resumed_run_waits_for_the_command_that_lives() {
    let sandbox = guarded();
    let script = format!(
        "echo $$ > {}; until [ -e {} ]; do sleep 0.02; done; echo late >> src/in",
        sandbox.path("pids").display(),
        sandbox.path("go").display()
    );
    let mut child = wrapper(&sandbox)
        .args(["-q", "--", "sh", "-c", &script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the command runs", || pids(&sandbox, "pids").len() == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let id = snapshot(&sandbox).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(lives(pids(&sandbox, "pids")[0]));
    let ps = sandbox.holdpoint(["ps"]).exits(0);
    assert!(ps.out.contains("wrapper killed"), "{}", ps.out);
    let resumed = wrapper(&sandbox)
        .args(["-q", "--resume", &id])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    fs::write(sandbox.path("go"), "").unwrap();
    let output = resumed.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(sandbox.read("src/in"), "in\nlate\n");
}

#[test]
fn an_orphan_of_two_killed_processes_is_found_and_waited_for() {
    let sandbox = guarded();
    let script = format!(
        "echo $$ > {}; until [ -e {} ]; do sleep 0.02; done; echo late >> src/in",
        sandbox.path("pids").display(),
        sandbox.path("go").display()
    );
    let mut child = wrapper(&sandbox)
        .args(["-q", "--", "sh", "-c", &script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the command runs", || pids(&sandbox, "pids").len() == 1);
    until("the leash wrote its note", || {
        fs::read_to_string(run_dir(&sandbox).join("1/started.json"))
            .is_ok_and(|text| !text.contains("\"child\":null"))
    });
    let started: Value =
        serde_json::from_slice(&fs::read(run_dir(&sandbox).join("1/started.json")).unwrap())
            .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let leash = started["leash"]["pid"].as_i64().unwrap().to_string();
    Command::new("kill").args(["-9", &leash]).status().unwrap();
    let pid = pids(&sandbox, "pids")[0];
    assert!(lives(pid));
    let id = snapshot(&sandbox).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let resumed = wrapper(&sandbox)
        .args(["-q", "--resume", &id])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    fs::write(sandbox.path("go"), "").unwrap();
    let output = resumed.wait_with_output().unwrap();
    // How it ended was seen by nobody: a person has to look.
    assert_eq!(output.status.code(), Some(3));
    assert!(!lives(pid));
    assert_eq!(sandbox.read("src/in"), "in\nlate\n");
}
