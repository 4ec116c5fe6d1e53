//! States that others wrote: unknown fields, damage, old places, places that cannot be used.

use super::{create, holdpoint, sandbox, state};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fs;

fn write_state(sandbox: &Sandbox, id: &str, state: &Value) {
    sandbox.write(format!(".loop/{id}.json"), state.to_string());
}

#[test]
fn unknown_fields_are_kept_on_every_way() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--task", "one"],
        r#"[ "$HOLDPOINT_LOOP_ACTION" = develop ] && echo '{"tasks":[{"id":"task-001","description":"one","status":"completed"}]}' > "$HOLDPOINT_LOOP_REPORT"; true"#,
    );
    let mut made = state(&sandbox, &id);
    made["colour"] = json!({"deep": [1, null, "x"]});
    made["skill_state"] = json!({
        "current_action": "init", "last_action": null, "completed_actions": [], "mode": "auto", "theme": "dark",
        "develop": {"total": 1, "completed": 0, "current_task": null, "velocity": 3, "last_progress_at": null,
            "tasks": [{"id": "task-001", "description": "one", "status": "pending", "weight": 2.5, "tool": "codex"}]},
        "debug": {"active_bug": null, "hypotheses_count": 1, "confirmed_hypothesis": "H1", "iteration": 0,
            "last_analysis_at": null, "mood": "calm",
            "hypotheses": [{"id": "H1", "description": "d", "testable_condition": "c", "logging_point": "p",
                "evidence_criteria": {"confirm": "a", "reject": "b", "doubt": "z"}, "likelihood": 1,
                "status": "confirmed", "evidence": null, "verdict_reason": null, "author": "me"}]},
        "validate": {"pass_rate": 0, "coverage": 0, "test_results": [], "passed": false, "failed_tests": [],
            "last_run_at": null, "flaky": ["t"]},
        "errors": [{"action": "develop", "message": "m", "timestamp": "2026-01-22T10:00:00Z", "host": "h"}],
    });
    made["status"] = json!("running");
    write_state(&sandbox, &id, &made);
    let kept = |when: &str| {
        let now = state(&sandbox, &id);
        let skill = &now["skill_state"];
        let criteria = &skill["debug"]["hypotheses"][0]["evidence_criteria"];
        for (found, expected) in [
            (&now["colour"], json!({"deep": [1, null, "x"]})),
            (&skill["theme"], json!("dark")),
            (&skill["develop"]["velocity"], json!(3)),
            (&skill["develop"]["tasks"][0]["weight"], json!(2.5)),
            (&skill["develop"]["tasks"][0]["tool"], json!("codex")),
            (&skill["debug"]["mood"], json!("calm")),
            (&skill["debug"]["hypotheses"][0]["author"], json!("me")),
            (&criteria["doubt"], json!("z")),
            (&skill["validate"]["flaky"], json!(["t"])),
            (&skill["errors"][0]["host"], json!("h")),
        ] {
            assert_eq!(found, &expected, "{when}: {now:#}");
        }
    };
    holdpoint(&sandbox, &["loop", "pause", &id]).exits(0);
    kept("paused");
    holdpoint(&sandbox, &["loop", "resume", &id]).exits(0);
    kept("resumed");
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    kept("run");
    let told = holdpoint(&sandbox, &["loop", "rebuild", &id]).exits(0);
    assert!(told.out.contains("nothing was wrong"), "{}", told.out);
    assert!(!told.out.contains("damaged"), "{}", told.out);
    kept("rebuilt");
    fs::write(sandbox.work().join(format!(".loop/{id}.json")), "{").unwrap();
    let ran = holdpoint(&sandbox, &["loop", "status", &id]).exits(0);
    assert!(!ran.err.contains("could not be rebuilt"), "{}", ran.err);
    kept("rebuilt from nothing");
}

#[test]
fn the_first_action_leaves_the_schemas_own_state() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--task", "one"],
        "cp \"$HOLDPOINT_LOOP_STATE\" seen.json",
    );
    let made = state(&sandbox, &id);
    let mut fields: Vec<&String> = made.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(
        fields,
        [
            "created_at",
            "current_iteration",
            "description",
            "loop_id",
            "max_iterations",
            "status",
            "title",
            "updated_at"
        ]
    );
    holdpoint(&sandbox, &["loop", "run", &id, "--max-iterations", "1"]).exits(3);
    let seen: Value = serde_json::from_str(&sandbox.read("seen.json")).unwrap();
    assert_eq!(seen["status"], "running");
    assert_eq!(seen["current_iteration"], 0);
    let skill = &seen["skill_state"];
    assert_eq!(skill["last_action"], Value::Null);
    assert_eq!(skill["completed_actions"], json!([]));
    assert_eq!(skill["mode"], "auto");
    assert_eq!(skill["develop"]["total"], 1);
    assert_eq!(
        skill["debug"],
        json!({"active_bug": null, "hypotheses_count": 0, "hypotheses": [], "confirmed_hypothesis": null, "iteration": 0, "last_analysis_at": null})
    );
    assert_eq!(
        skill["validate"],
        json!({"pass_rate": 0, "coverage": 0, "test_results": [], "passed": false, "failed_tests": [], "last_run_at": null})
    );
    assert_eq!(skill["errors"], json!([]));
    let after = state(&sandbox, &id);
    let skill = &after["skill_state"];
    assert_eq!(after["current_iteration"], 1);
    assert_eq!(skill["current_action"], "develop");
    assert_eq!(skill["last_action"], "action-develop-with-file");
    assert_eq!(skill["develop"]["current_task"], "task-001");
    assert_eq!(skill["develop"]["completed"], 1);
    assert!(skill["develop"]["last_progress_at"].is_string());
}

#[test]
fn a_used_up_loop_goes_on_when_a_person_gives_it_more() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--max-iterations", "1", "--task", "one", "--task", "two"],
        "echo $HOLDPOINT_LOOP_ITERATION >> runs.txt",
    );
    let ran = holdpoint(&sandbox, &["loop", "run", &id]).exits(3);
    assert!(
        ran.err
            .contains(&format!("holdpoint loop run {id} --max-iterations 2")),
        "{}",
        ran.err
    );
    let refused = holdpoint(&sandbox, &["loop", "resume", &id]).exits(2);
    assert!(
        refused.err.contains("--max-iterations 2"),
        "{}",
        refused.err
    );
    holdpoint(&sandbox, &["loop", "run", &id, "--max-iterations", "1"]).exits(2);
    holdpoint(&sandbox, &["loop", "run", &id, "--max-iterations", "2"]).exits(3);
    holdpoint(&sandbox, &["loop", "resume", &id, "--max-iterations", "9"]).exits(0);
    let resumed = state(&sandbox, &id);
    assert_eq!(resumed["status"], "running");
    assert!(resumed.get("failure_reason").is_none());
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert_eq!(sandbox.read("runs.txt"), "1\n2\n3\n");
    // What a person stopped stays stopped.
    let id = create(&sandbox, &[], "true");
    holdpoint(&sandbox, &["loop", "stop", &id]).exits(0);
    holdpoint(&sandbox, &["loop", "resume", &id, "--max-iterations", "99"]).exits(2);
    holdpoint(&sandbox, &["loop", "run", &id, "--max-iterations", "99"]).exits(3);
    assert_eq!(state(&sandbox, &id)["status"], "failed");
}

#[test]
fn one_old_state_that_cannot_be_read_hides_no_other_loop() {
    let sandbox = sandbox();
    let id = create(&sandbox, &[], "true");
    sandbox.write(".workflow/.loop/torn/state.json", "{\"session_id\":");
    sandbox.write(
        ".workflow/.loop/whole/state.json",
        r#"{"session_id":"whole","task_description":"Add login","status":"running","initialized":true,"colour":"red",
            "develop":{"total_count":1,"completed_count":1,"tasks":[{"id":"t","description":"d","status":"completed"}]}}"#,
    );
    sandbox.write(format!(".loop/{id}.report.json"), "{}");
    let listed = holdpoint(&sandbox, &["loop", "list", "--json"]).exits(0);
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    let mut ids: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["loop_id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [id.as_str(), "torn", "whole"]);
    let moved = state(&sandbox, "whole");
    assert_eq!(moved["colour"], "red");
    assert_eq!(moved["skill_state"]["develop"]["completed"], 1);
    let told = holdpoint(&sandbox, &["loop", "status", "torn"]).exits(4);
    assert!(told.err.contains("cannot move"), "{}", told.err);
    assert!(
        sandbox
            .work()
            .join(".workflow/.loop/torn/state.json")
            .exists()
    );
}

#[test]
fn a_place_that_cannot_be_used_is_named() {
    let sandbox = sandbox();
    sandbox.write(".loop", "not a directory");
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
            "true",
        ],
    );
    assert_ne!(made.code, 0);
    assert!(made.err.contains(".loop"), "{}", made.err);
    fs::remove_file(sandbox.work().join(".loop")).unwrap();
    let id = create(&sandbox, &[], "true");
    let path = sandbox.work().join(format!(".loop/{id}.json"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let ran = holdpoint(&sandbox, &["loop", "run", &id]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains(&format!("{id}.json")), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}
