//! Feature: loops, through the real binary.

mod collab;
mod damage;
mod kills;
mod leavings;
mod screens;

use crate::support::{Ran, Sandbox};
use serde_json::Value;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn sandbox() -> Sandbox {
    Sandbox::with_files(&[("a.txt", "a\n")])
}

fn holdpoint(sandbox: &Sandbox, args: &[&str]) -> Ran {
    sandbox.holdpoint(args)
}

/// Makes a loop and returns its id.
fn create(sandbox: &Sandbox, options: &[&str], script: &str) -> String {
    let mut args = vec!["loop", "create", "--title", "T", "--description", "do it"];
    args.extend(options);
    args.extend(["--", "sh", "-c", script]);
    holdpoint(sandbox, &args).exits(0).out.trim().to_owned()
}

fn state(sandbox: &Sandbox, id: &str) -> Value {
    let text = sandbox.read(format!(".loop/{id}.json"));
    serde_json::from_str(&text).unwrap()
}

/// The decisions of a kind in Holdpoint's own copy of the log.
fn logged(sandbox: &Sandbox, decision: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut dirs = vec![sandbox.path("state")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.file_name().unwrap() == "decision_log.jsonl" {
                let text = fs::read_to_string(path).unwrap();
                found.extend(
                    text.lines()
                        .map(|line| serde_json::from_str::<Value>(line).unwrap())
                        .filter(|entry| entry["decision"] == decision),
                );
            }
        }
    }
    found
}

/// Waits for what another process does; gives up loudly.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn spawn(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command: Command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_loop_works_through_its_tasks_and_completes() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--task", "one", "--task", "two"],
        "echo \"$HOLDPOINT_LOOP_ACTION $HOLDPOINT_LOOP_TASK_ID $HOLDPOINT_LOOP_ITERATION\" >> done.txt",
    );
    assert_eq!(state(&sandbox, &id)["status"], "created");
    assert!(state(&sandbox, &id).get("skill_state").is_none());
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert_eq!(
        sandbox.read("done.txt"),
        "develop task-001 1\ndevelop task-002 2\nvalidate  3\n"
    );
    let state = state(&sandbox, &id);
    assert_eq!(state["status"], "completed");
    assert_eq!(state["current_iteration"], 3);
    let skill = &state["skill_state"];
    assert_eq!(
        skill["completed_actions"],
        serde_json::json!([
            "action-develop-with-file",
            "action-develop-with-file",
            "action-validate-with-file",
            "action-complete"
        ])
    );
    assert_eq!(skill["develop"]["tasks"][0]["files_changed"][0], "done.txt");
    let changes = sandbox.read(format!(".loop/{id}.progress/changes.log"));
    assert_eq!(changes.lines().count(), 3);
    assert!(
        changes
            .lines()
            .all(|line| { serde_json::from_str::<Value>(line).unwrap()["path"] == "done.txt" })
    );
    let entries = logged(&sandbox, "loop_iteration");
    assert_eq!(entries.len(), 3);
    assert!(
        entries
            .iter()
            .all(|entry| entry["safety_point"].is_string())
    );
    assert_eq!(logged(&sandbox, "loop_completed").len(), 1);
    // Neither the loop's files nor its locks dirty the repository.
    assert_eq!(sandbox.git(["status", "--porcelain"]), "?? done.txt\n");
}

#[test]
fn a_failing_command_is_debugged_until_the_iterations_are_used_up() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--max-iterations", "3"],
        "echo \"$HOLDPOINT_LOOP_ACTION\" >> runs.txt; echo broken >&2; exit 7",
    );
    holdpoint(&sandbox, &["loop", "run", &id]).exits(3);
    assert_eq!(sandbox.read("runs.txt"), "develop\ndebug\ndebug\n");
    let state = state(&sandbox, &id);
    assert_eq!(state["status"], "failed");
    assert_eq!(state["current_iteration"], 3);
    assert!(
        state["failure_reason"]
            .as_str()
            .unwrap()
            .contains("max_iterations (3)")
    );
    assert_eq!(
        state["skill_state"]["debug"]["active_bug"],
        "task-001: exit status 7: broken"
    );
    // A failed loop stays failed.
    holdpoint(&sandbox, &["loop", "run", &id]).exits(3);
    assert_eq!(sandbox.read("runs.txt").lines().count(), 3);
}

#[test]
fn a_validation_of_its_own_decides() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--validate", "echo '3 passed; 1 failed'; test -e fixed"],
        "test $HOLDPOINT_LOOP_ACTION = debug && touch fixed; true",
    );
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    let state = state(&sandbox, &id);
    assert_eq!(state["current_iteration"], 4);
    assert_eq!(
        state["skill_state"]["validate"]["test_results"][0]["status"],
        "passed"
    );
}

#[test]
fn a_pause_from_elsewhere_acts_before_the_next_action() {
    let sandbox = sandbox();
    let gate = sandbox.path("gate");
    let script = format!(
        "echo $HOLDPOINT_LOOP_ITERATION >> runs.txt; while [ ! -e {} ]; do sleep 0.02; done",
        gate.display()
    );
    let id = create(&sandbox, &["--task", "one", "--task", "two"], &script);
    let mut runner = spawn(&sandbox, &["loop", "run", &id]);
    until("the first iteration", || {
        sandbox.work().join("runs.txt").exists()
    });
    let refused = holdpoint(&sandbox, &["loop", "run", &id]).exits(4);
    assert!(
        refused.err.contains(&format!("process {}", runner.id())),
        "{}",
        refused.err
    );
    let told = holdpoint(&sandbox, &["loop", "pause", &id]).exits(0);
    assert!(told.out.contains("leaves before its next action"));
    fs::write(&gate, "").unwrap();
    assert!(runner.wait().unwrap().success());
    let paused = state(&sandbox, &id);
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["current_iteration"], 1);
    assert_eq!(paused["skill_state"]["current_action"], "paused");
    holdpoint(&sandbox, &["loop", "run", &id]).exits(2);
    holdpoint(&sandbox, &["loop", "resume", &id]).exits(0);
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert_eq!(sandbox.read("runs.txt"), "1\n2\n3\n");
}

#[test]
fn a_stop_is_final() {
    let sandbox = sandbox();
    let id = create(&sandbox, &[], "true");
    holdpoint(&sandbox, &["loop", "stop", &id, "--why", "not wanted"]).exits(0);
    let stopped = state(&sandbox, &id);
    assert_eq!(stopped["status"], "failed");
    assert_eq!(stopped["failure_reason"], "not wanted");
    holdpoint(&sandbox, &["loop", "run", &id]).exits(3);
    holdpoint(&sandbox, &["loop", "resume", &id]).exits(2);
    holdpoint(&sandbox, &["loop", "pause", &id]).exits(2);
}

#[test]
fn a_damaged_state_is_set_aside_and_rebuilt() {
    let sandbox = sandbox();
    let id = create(&sandbox, &["--task", "one", "--task", "two"], "exit 1");
    holdpoint(&sandbox, &["loop", "run", &id, "--max-iterations", "2"]).exits(3);
    let before = state(&sandbox, &id);
    let path = format!(".loop/{id}.json");
    let whole = sandbox.read(&path);
    for damage in [
        String::new(),
        "{".to_owned(),
        whole[..whole.len() / 2].to_owned(),
        whole.replace("\"max_iterations\": 2", "\"max_iterations\": \"two\""),
        whole.replace("\"total\": 2", "\"total\": 7"),
    ] {
        assert_ne!(damage, whole);
        sandbox.write(&path, &damage);
        let ran = holdpoint(&sandbox, &["loop", "status", &id, "--json"]).exits(0);
        assert!(ran.err.contains("was damaged"), "{}", ran.err);
        assert!(!ran.err.contains("could not be rebuilt"), "{}", ran.err);
        let mut after = state(&sandbox, &id);
        after["updated_at"] = before["updated_at"].clone();
        assert_eq!(after, before, "after {damage:?}");
    }
    let aside = fs::read_dir(sandbox.work().join(".loop"))
        .unwrap()
        .filter(|entry| {
            entry
                .as_ref()
                .unwrap()
                .file_name()
                .to_string_lossy()
                .contains(".damaged-")
        })
        .count();
    assert_eq!(aside, 5);
}

#[test]
fn a_loop_survives_the_loss_of_its_whole_directory() {
    let sandbox = sandbox();
    let id = create(&sandbox, &["--task", "one"], "true");
    fs::remove_dir_all(sandbox.work().join(".loop")).unwrap();
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert_eq!(state(&sandbox, &id)["title"], "T");
}

#[test]
fn an_old_loop_is_moved_forward() {
    let sandbox = sandbox();
    sandbox.write(
        ".workflow/.loop/s-1/state.json",
        r#"{"session_id":"s-1","task_description":"Add login","status":"pending","develop":{"tasks":[]}}"#,
    );
    let listed = holdpoint(&sandbox, &["loop", "list", "--json"]).exits(0);
    assert!(
        listed.out.contains("\"loop_id\": \"s-1\""),
        "{}",
        listed.out
    );
    assert!(
        !sandbox
            .work()
            .join(".workflow/.loop/s-1/state.json")
            .exists()
    );
    assert!(
        sandbox
            .work()
            .join(".workflow/.loop/s-1/state.json.moved")
            .exists()
    );
    let ran = holdpoint(&sandbox, &["loop", "run", "s-1"]).exits(2);
    assert!(ran.err.contains("no command"), "{}", ran.err);
}

#[test]
fn what_a_command_may_not_change_is_put_back() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--max-iterations", "5"],
        r#"sed -i 's/"max_iterations": 5/"max_iterations": 500/; s/"description": "do it",$/"description": "do more",/' "$HOLDPOINT_LOOP_STATE""#,
    );
    let ran = holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert!(ran.err.contains("not its own"), "{}", ran.err);
    let state = state(&sandbox, &id);
    assert_eq!(state["max_iterations"], 5);
    assert_eq!(state["description"], "do it");
}

#[test]
fn an_agent_reports_tasks_and_tests() {
    let sandbox = sandbox();
    let script = r#"case $HOLDPOINT_LOOP_ACTION in
develop) [ "$HOLDPOINT_LOOP_ITERATION" = 1 ] && echo '{"tasks":[{"id":"extra","description":"found","status":"pending"}]}' > "$HOLDPOINT_LOOP_REPORT"; true;;
validate) echo '{"test_results":[{"test_name":"t","suite":"s","status":"passed","duration_ms":3}],"coverage":80.5}' > "$HOLDPOINT_LOOP_REPORT";;
esac"#;
    let id = create(&sandbox, &["--task", "one"], script);
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    let state = state(&sandbox, &id);
    assert_eq!(state["skill_state"]["develop"]["total"], 2);
    assert_eq!(state["skill_state"]["validate"]["coverage"], 80.5);
    assert_eq!(state["skill_state"]["validate"]["pass_rate"], 100);
    let status = holdpoint(&sandbox, &["loop", "status", &id, "--json"]).exits(0);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    assert_eq!(status["derived"]["overall_progress"], 75.0);
}

#[test]
fn a_watch_ends_with_its_loop() {
    let sandbox = sandbox();
    let id = create(&sandbox, &[], "true");
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    let watched = holdpoint(&sandbox, &["loop", "status", &id, "--watch"]).exits(0);
    assert!(
        watched.out.contains("completed, iteration 2 of 10"),
        "{}",
        watched.out
    );
}

#[test]
fn unknown_loops_and_programs_are_told() {
    let sandbox = sandbox();
    holdpoint(&sandbox, &["loop", "run", "nope"]).exits(2);
    holdpoint(&sandbox, &["loop", "status", "../../etc/passwd"]).exits(2);
    let made = holdpoint(
        &sandbox,
        &[
            "loop",
            "create",
            "--title",
            "T",
            "--description",
            "D",
            "--",
            "no-such-program",
        ],
    )
    .exits(0);
    let ran = holdpoint(&sandbox, &["loop", "run", made.out.trim()]).exits(2);
    assert!(ran.err.contains("E001"), "{}", ran.err);
}

#[test]
fn a_change_that_needs_a_person_is_put_back_and_pauses_the_loop() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--task", "one"],
        "echo made > made.txt; rm -f a.txt",
    );
    let ran = holdpoint(&sandbox, &["loop", "run", &id]).exits(1);
    assert!(ran.err.contains("file.delete"), "{}", ran.err);
    assert_eq!(sandbox.read("a.txt"), "a\n");
    assert_eq!(sandbox.read("made.txt"), "made\n");
    let paused = state(&sandbox, &id);
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["current_iteration"], 1);
    assert!(
        holdpoint(&sandbox, &["holds"])
            .exits(0)
            .out
            .contains("a.txt"),
        "the hold is listed"
    );
}
