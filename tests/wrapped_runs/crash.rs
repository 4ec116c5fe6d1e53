//! What a killed run left going on is found and waited for.

use super::{lives, pids, run, run_dir, until, wrapper};
use crate::support::Sandbox;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

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
    assert!(ps.out.contains(&format!("--resume {id}")), "{}", ps.out);
    let next = run(&sandbox, ["-q", "--", "true"]).exits(0);
    assert!(
        next.err.contains(&format!("holdpoint stop {id}")),
        "{}",
        next.err
    );
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
    // Whatever is typed next says that nobody waits for it.
    for listed in [sandbox.holdpoint(["ps"]), sandbox.holdpoint(["status"])] {
        let said = listed.exits(0).out;
        assert!(said.contains(&format!("--resume {id}")), "{said}");
    }
    let resumed = wrapper(&sandbox)
        .args(["-q", "--resume", &id])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    fs::write(sandbox.path("go"), "").unwrap();
    let output = resumed.wait_with_output().unwrap();
    let after = sandbox.holdpoint(["status"]).exits(0);
    assert!(!after.out.contains(&id), "{}", after.out);
    // How it ended was seen by nobody: a person has to look.
    assert_eq!(output.status.code(), Some(3));
    assert!(!lives(pid));
    assert_eq!(sandbox.read("src/in"), "in\nlate\n");
}
