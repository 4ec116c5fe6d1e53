use super::*;
use serde_json::json;

const NOW: &str = "2026-11-20T00:00:00.000Z";
const ID: &str = "loop-v2-20260122-abc123";

fn whole() -> Value {
    json!({
        "loop_id": ID, "title": "Implement user authentication", "description": "Add login/logout",
        "max_iterations": 7, "status": "running", "current_iteration": 2,
        "created_at": "2026-01-22T10:00:00+08:00", "updated_at": "2026-01-22T10:00:05+08:00",
        "dashboard_colour": "green",
        "skill_state": {
            "current_action": "develop", "last_action": "action-init",
            "completed_actions": ["action-init"], "mode": "auto", "notes": [1, 2],
            "develop": {
                "total": 2, "completed": 1, "current_task": "task-002",
                "tasks": [
                    {"id": "task-001", "description": "Create auth component", "status": "completed", "weight": 3},
                    {"id": "task-002", "description": "Add tests", "status": "pending"},
                ],
                "last_progress_at": null,
            },
            "debug": {"active_bug": null, "hypotheses_count": 0, "hypotheses": [], "confirmed_hypothesis": null, "iteration": 0, "last_analysis_at": null},
            "validate": {"pass_rate": 95.5, "coverage": 85.0, "test_results": [], "passed": false, "failed_tests": [], "last_run_at": null},
            "errors": [{"action": "develop", "message": "a | b\nc", "timestamp": NOW}],
        },
    })
}

fn state() -> LoopState {
    read(whole().to_string().as_bytes(), ID).expect("the example is whole")
}

/// Everything as the loop leaves it, with this text in place of the state file.
fn sources(damaged: &[u8]) -> Sources {
    let state = state();
    let pages = progress::write(&state, state.skill_state.as_ref().expect("actions"));
    let mut record = serde_json::to_value(&state).expect("JSON");
    record
        .as_object_mut()
        .expect("an object")
        .remove("skill_state");
    Sources {
        damaged: Some(damaged.to_vec()),
        record: Some(record),
        develop: Some(pages.develop),
        debug: Some(pages.debug),
        validate: Some(pages.validate),
        tasks: None,
    }
}

#[test]
fn the_schemas_example_is_read_and_unknown_fields_are_kept() {
    let written = serde_json::to_value(state()).expect("JSON");
    assert_eq!(written["dashboard_colour"], "green");
    assert_eq!(written["skill_state"]["notes"], json!([1, 2]));
    assert_eq!(written["skill_state"]["develop"]["tasks"][0]["weight"], 3);
}

#[test]
fn every_damage_is_noticed() {
    let text = whole().to_string();
    for cut in 0..text.len() {
        assert!(read(&text.as_bytes()[..cut], ID).is_err(), "cut at {cut}");
    }
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value = whole();
        change(&mut value);
        read(value.to_string().as_bytes(), ID)
    };
    assert!(changed(&|v| v["max_iterations"] = json!("10")).is_err());
    assert!(changed(&|v| v["status"] = json!("sleeping")).is_err());
    assert!(changed(&|v| v["skill_state"]["develop"] = json!([])).is_err());
    assert!(
        changed(&|v| {
            v.as_object_mut().expect("an object").remove("description");
        })
        .is_err()
    );
    assert!(changed(&|v| v["skill_state"]["develop"]["completed"] = json!(2)).is_err());
    assert!(changed(&|v| v["skill_state"]["develop"]["total"] = json!(5)).is_err());
    assert!(changed(&|v| v["skill_state"]["debug"]["hypotheses_count"] = json!(1)).is_err());
    assert!(changed(&|v| v["skill_state"]["validate"]["pass_rate"] = json!(101)).is_err());
    assert!(changed(&|v| v["status"] = json!("created")).is_err());
    assert!(changed(&|v| v["status"] = json!("completed")).is_err());
    assert!(changed(&|v| v["loop_id"] = json!("another")).is_err());
    assert!(changed(&|_| ()).is_ok());
}

#[test]
fn a_truncated_state_is_rebuilt_in_every_recoverable_field() {
    let text = whole().to_string();
    let mut expected = state();
    expected.updated_at = NOW.to_owned();
    for cut in 0..text.len() {
        let rebuilt = rebuild(ID, &sources(&text.as_bytes()[..cut]), NOW);
        assert_eq!(rebuilt.state, expected, "cut at {cut}");
        assert_eq!(rebuilt.lost, Vec::<String>::new(), "cut at {cut}");
    }
}

#[test]
fn a_progress_file_that_is_cut_off_is_named() {
    let all = sources(b"{");
    let page = all.develop.clone().expect("develop.md");
    let rows: Vec<usize> = page.match_indices("\n| task-").map(|(at, _)| at).collect();
    let [_, second] = rows[..] else {
        panic!("two tasks: {page}")
    };
    // The rest of the page is there: a row went missing, nothing else.
    let end = page[second + 1..].find('\n').expect("a line") + second + 1;
    let cut = format!("{}{}", &page[..second], &page[end..]);
    let rebuilt = rebuild(
        ID,
        &Sources {
            develop: Some(cut),
            ..all
        },
        NOW,
    );
    let lost = rebuilt.lost.join("\n");
    assert!(lost.contains("task 2 to 2"), "{lost}");
    for cut in 0..page.len() {
        let Some(torn) = page.get(..cut) else {
            continue;
        };
        let rebuilt = rebuild(
            ID,
            &Sources {
                develop: Some(torn.to_owned()),
                ..sources(b"{")
            },
            NOW,
        );
        let skill = rebuilt.state.skill_state.as_ref().expect("the other pages");
        let whole = state().skill_state.expect("actions");
        assert!(
            skill.develop.tasks == whole.develop.tasks || !rebuilt.lost.is_empty(),
            "cut at {cut}: tasks are missing and nobody says so"
        );
        assert_eq!(inconsistencies(&rebuilt.state, ID), Vec::<String>::new());
    }
}

/// Every value in a JSON tree, as a pointer.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                places(value, &format!("{at}/{name}"), into);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), into);
            }
        }
        _ => {}
    }
}

#[test]
fn a_value_of_any_wrong_type_anywhere_leaves_a_consistent_state() {
    let whole_value = whole();
    let mut pointers = Vec::new();
    places(&whole_value, "", &mut pointers);
    let wrong = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!("x"),
        json!([]),
        json!({}),
        json!(1e300),
    ];
    for pointer in &pointers {
        for value in &wrong {
            let mut damaged = whole_value.clone();
            if let Some(place) = damaged.pointer_mut(pointer) {
                *place = value.clone();
            }
            let text = damaged.to_string();
            let state = match read(text.as_bytes(), ID) {
                Ok(state) => state,
                Err(_) => rebuild(ID, &sources(text.as_bytes()), NOW).state,
            };
            assert_eq!(
                inconsistencies(&state, ID),
                Vec::<String>::new(),
                "{value} at {pointer}"
            );
            // What was read is written again and read alike.
            let written = serde_json::to_vec(&state).expect("JSON");
            assert_eq!(
                read(&written, ID).expect("whole"),
                state,
                "{value} at {pointer}"
            );
        }
    }
}

#[test]
fn a_field_that_is_missing_is_rebuilt_or_named() {
    let whole_value = whole();
    let mut pointers = Vec::new();
    places(&whole_value, "", &mut pointers);
    for pointer in &pointers {
        let Some((parent, name)) = pointer.rsplit_once('/') else {
            continue;
        };
        let mut damaged = whole_value.clone();
        let Some(Value::Object(object)) = damaged.pointer_mut(parent) else {
            continue;
        };
        object.remove(name);
        let text = damaged.to_string();
        let Err(wrong) = read(text.as_bytes(), ID) else {
            continue;
        };
        assert!(!wrong.is_empty());
        let rebuilt = rebuild(ID, &sources(text.as_bytes()), NOW);
        let mut expected = state();
        expected.updated_at = NOW.to_owned();
        assert_eq!(rebuilt.state, expected, "without {pointer}");
    }
}

#[test]
fn one_damaged_phase_leaves_the_others_as_they_are() {
    let mut value = whole();
    value["skill_state"]["debug"] = json!("oops");
    value["skill_state"]["develop"]["current_task"] = json!("task-009");
    let rebuilt = rebuild(ID, &sources(value.to_string().as_bytes()), NOW);
    let skill = rebuilt.state.skill_state.expect("actions");
    assert_eq!(skill.develop.current_task.as_deref(), Some("task-009"));
    assert_eq!(skill.debug, Debug::default());
    assert_eq!(rebuilt.state.extra["dashboard_colour"], "green");
    assert!(rebuilt.found.iter().any(|found| found.contains("debug.md")));
}

#[test]
fn wrong_counts_follow_the_lists() {
    let mut value = whole();
    value["skill_state"]["develop"]["completed"] = json!(2);
    let rebuilt = rebuild(ID, &sources(value.to_string().as_bytes()), NOW);
    let skill = rebuilt.state.skill_state.expect("actions");
    assert_eq!((skill.develop.total, skill.develop.completed), (2, 1));
}

#[test]
fn what_nothing_holds_is_named() {
    let rebuilt = rebuild(
        ID,
        &Sources {
            damaged: Some(b"{".to_vec()),
            tasks: Some("{\"description\":\"one\"}\nbroken\n{\"id\":\"t9\",\"description\":\"two\",\"status\":\"completed\"}\n".to_owned()),
            develop: Some("torn".to_owned()),
            ..Sources::default()
        },
        NOW,
    );
    let lost = rebuilt.lost.join("\n");
    for name in [
        "title",
        "description",
        "max_iterations",
        "status",
        "created_at",
        "skill_state.develop",
        "skill_state.debug",
        "skill_state.validate",
        "skill_state.errors",
        "line 2",
    ] {
        assert!(lost.contains(name), "{name} is not named in:\n{lost}");
    }
    let skill = rebuilt.state.skill_state.as_ref().expect("tasks");
    assert_eq!((skill.develop.total, skill.develop.completed), (2, 1));
    assert_eq!(rebuilt.state.status, Status::Paused);
    assert_eq!(inconsistencies(&rebuilt.state, ID), Vec::<String>::new());
}
