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
    until("the first iteration", || {
        std::fs::read_to_string(&runs).is_ok_and(|ran| ran == "1\n")
    });
    until("the leash wrote its note", || is_noted(&sandbox));
    strike_all(&sandbox, &mut runner);
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

/// The numbers of the kills that an opt-in harness makes: `HOLDPOINT_KILLS` of them, from `HOLDPOINT_KILLS_FROM` on.
fn kills() -> std::ops::Range<usize> {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|number| number.parse().ok())
    };
    let from = number("HOLDPOINT_KILLS_FROM").unwrap_or(0);
    from..from + number("HOLDPOINT_KILLS").unwrap_or(30)
}

/// What a harness kills.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The process that leads.
    Leader,
    /// The process that stays with the command.
    Leash,
    /// Both, and the command.
    All,
}

const VICTIMS: [Victim; 3] = [Victim::Leader, Victim::Leash, Victim::All];

/// The processes of a start whose notes lie under a directory of the sandbox's state.
fn on_leashes(sandbox: &Sandbox) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let mut dirs = vec![sandbox.path("state")];
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(dir) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.file_name().is_some_and(|name| name == "started.json")
                && !path.with_file_name("end.json").exists()
                && let Ok(text) = std::fs::read_to_string(path)
                && let Ok(started) = serde_json::from_str::<serde_json::Value>(&text)
            {
                let pid = |who: &str| started[who]["pid"].as_i64().unwrap_or(0);
                found.push((pid("leash"), pid("child")));
            }
        }
    }
    found
}

/// Kills without a warning, wherever the processes are by now.
fn strike(sandbox: &Sandbox, leader: &mut std::process::Child, victim: Victim) {
    let kill = |target: i64| {
        // It may have left by itself a moment ago.
        let _ = std::process::Command::new("kill")
            .args(["-9", "--", &target.to_string()])
            .output();
    };
    if !matches!(victim, Victim::Leash) {
        leader.kill().unwrap();
    }
    if !matches!(victim, Victim::Leader) {
        for (leash, child) in on_leashes(sandbox) {
            if leash > 0 {
                kill(leash);
            }
            if matches!(victim, Victim::All) && child > 0 {
                kill(-child);
            }
        }
    }
    leader.wait().unwrap();
}

/// Whether the leash has noted its child, which it does only after the child began.
pub(super) fn is_noted(sandbox: &Sandbox) -> bool {
    on_leashes(sandbox).iter().any(|(_, child)| *child > 0)
}

/// Kills the runner and all that it started.
pub(super) fn strike_all(sandbox: &Sandbox, leader: &mut std::process::Child) {
    strike(sandbox, leader, Victim::All);
}

/// A number that looks random and is the same in every run of a test.
fn moment(number: usize, most: u64) -> std::time::Duration {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    std::time::Duration::from_millis((mixed >> 33) % most)
}

#[test]
#[ignore = "takes minutes: HOLDPOINT_KILLS=N says how many kills"]
#[expect(clippy::print_stderr, reason = "a harness tells its figures")]
fn a_loop_killed_at_any_moment_goes_on() {
    let sandbox = sandbox();
    let mut again = 0;
    for number in kills() {
        let victim = VICTIMS[number % VICTIMS.len()];
        let id = create(
            &sandbox,
            &["--task", "one", "--max-iterations", "30"],
            "echo \"$HOLDPOINT_LOOP_ITERATION\" >> runs.txt; sleep 0.1; echo end >> ends.txt",
        );
        for name in ["runs.txt", "ends.txt"] {
            let _ = std::fs::remove_file(sandbox.work().join(name));
        }
        let mut runner = super::spawn(&sandbox, &["loop", "run", "--quiet", &id]);
        std::thread::sleep(moment(number, 1500));
        strike(&sandbox, &mut runner, victim);
        let mut told = String::new();
        until("the loop completes", || {
            let ran = holdpoint(&sandbox, &["loop", "run", "--quiet", &id]);
            told.push_str(&ran.err);
            ran.code == 0
        });
        let what = format!("kill {number} of {victim:?}: {told}");
        let after = state(&sandbox, &id);
        assert_eq!(after["status"], "completed", "{what}");
        let done = after["current_iteration"].as_u64().unwrap();
        let ran = sandbox.read("runs.txt");
        let mut lines: Vec<u64> = ran.lines().map(|line| line.parse().unwrap()).collect();
        let all = lines.len();
        lines.dedup();
        assert_eq!(lines, (1..=done).collect::<Vec<u64>>(), "{what}");
        if all > lines.len() {
            again += 1;
            assert!(told.contains("is done again"), "{what}");
        }
        if matches!(victim, Victim::Leader) {
            assert_eq!(all, lines.len(), "{what}");
            assert_eq!(sandbox.read("ends.txt").lines().count(), all, "{what}");
        }
        assert_eq!(on_leashes(&sandbox), [], "{what}");
        assert_eq!(
            after["skill_state"]["develop"]["completed"], after["skill_state"]["develop"]["total"],
            "{what}"
        );
    }
    eprintln!(
        "kills {:?}, {again} iterations done again and said",
        kills()
    );
}

#[test]
#[ignore = "takes minutes: HOLDPOINT_KILLS=N says how many kills"]
#[expect(clippy::print_stderr, reason = "a harness tells its figures")]
fn a_side_by_side_run_killed_at_any_moment_is_taken_up() {
    let mut tried = 0;
    for number in kills() {
        let victim = VICTIMS[number % VICTIMS.len()];
        let sandbox = sandbox();
        let agent = |name: &str| {
            format!("sh -c 'echo ran >> {name}.txt; sleep 0.3; echo SESSION_ID: {name}-12345678'")
        };
        let mut leader = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["collab", "--role", "analyzer", "--task", "t", "--json"])
            .args(["--codex-command", &agent("codex")])
            .args(["--gemini-command", &agent("gemini")])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(moment(number, 1200));
        strike(&sandbox, &mut leader, victim);
        let Some(id) = super::collab::run_id(&sandbox) else {
            assert!(!sandbox.work().join("codex.txt").exists());
            continue;
        };
        let ran = sandbox.holdpoint(["collab", "--resume", &id, "--json"]);
        let what = format!("kill {number} of {victim:?}: {}", ran.err);
        let done: serde_json::Value = serde_json::from_str(&ran.out).expect(&what);
        assert_eq!(done["state"], "SUCCESS", "{what}");
        for name in ["codex", "gemini"] {
            let runs = sandbox.read(format!("{name}.txt")).lines().count() as u64;
            let retries = done["retries"][name].as_u64().unwrap();
            assert!(runs <= 1 + retries, "{name}: {runs} runs, {what}");
            tried += retries;
        }
        assert_eq!(on_leashes(&sandbox), [], "{what}");
    }
    eprintln!("kills {:?}, {tried} agents tried once more", kills());
}
