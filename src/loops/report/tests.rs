use super::*;
use crate::loops::action::next;
use crate::loops::state::{LoopState, Mode, Status, derived};

const NOW: &str = "2026-11-20T00:00:00.000Z";

fn ended(code: i32) -> Ended {
    Ended {
        code: Some(code),
        how: None,
        tail: "so it went\n\n".to_owned(),
        counts: None,
        duration_ms: 5,
        command: "cargo test".to_owned(),
        files: vec!["a.rs".to_owned()],
        report: Ok(Report::default()),
    }
}

fn task(id: &str) -> Task {
    Task {
        id: id.to_owned(),
        description: id.to_owned(),
        tool: None,
        mode: None,
        status: TaskStatus::Pending,
        files_changed: Vec::new(),
        created_at: None,
        completed_at: None,
        extra: Map::new(),
    }
}

fn running(tasks: &[&str]) -> LoopState {
    let mut skill = SkillState::new(Mode::Auto);
    skill.develop.tasks = tasks.iter().map(|id| task(id)).collect();
    skill.recount();
    LoopState {
        loop_id: "l".to_owned(),
        title: "t".to_owned(),
        description: "d".to_owned(),
        max_iterations: 9,
        status: Status::Running,
        current_iteration: 0,
        created_at: NOW.to_owned(),
        updated_at: NOW.to_owned(),
        completed_at: None,
        failure_reason: None,
        skill_state: Some(skill),
        extra: Map::new(),
    }
}

/// Takes the next action with this end and returns which it was.
fn step(state: &mut LoopState, end: &Ended) -> Action {
    let action = next(state);
    let skill = state.skill_state.as_mut().expect("actions");
    enter(skill, action);
    leave(skill, action, end, NOW);
    action
}

#[test]
fn tasks_come_first_then_the_tests_then_the_end() {
    let mut state = running(&["one", "two"]);
    assert_eq!(step(&mut state, &ended(0)), Action::Develop);
    assert_eq!(step(&mut state, &ended(0)), Action::Develop);
    assert!((derived(&state).overall_progress - 50.0).abs() < 1e-9);
    assert_eq!(step(&mut state, &ended(0)), Action::Validate);
    assert_eq!(next(&state), Action::Complete);
    assert!((derived(&state).overall_progress - 75.0).abs() < 1e-9);
    let skill = state.skill_state.expect("actions");
    assert_eq!(skill.develop.tasks[0].files_changed, ["a.rs"]);
    assert_eq!(skill.validate.test_results[0].test_name, "cargo test");
}

#[test]
fn a_failure_is_debugged_before_the_task_is_tried_again() {
    let mut state = running(&["one"]);
    assert_eq!(step(&mut state, &ended(1)), Action::Develop);
    let skill = state.skill_state.as_ref().expect("actions");
    assert_eq!(
        skill.debug.active_bug.as_deref(),
        Some("one: exit status 1: so it went")
    );
    assert_eq!(skill.develop.tasks[0].status, TaskStatus::Failed);
    assert_eq!(step(&mut state, &ended(1)), Action::Debug);
    assert_eq!(step(&mut state, &ended(0)), Action::Debug);
    assert_eq!(step(&mut state, &ended(0)), Action::Develop);
    assert_eq!(step(&mut state, &ended(3)), Action::Validate);
    assert_eq!(step(&mut state, &ended(0)), Action::Debug);
    assert_eq!(step(&mut state, &ended(0)), Action::Validate);
    assert_eq!(next(&state), Action::Complete);
    let skill = state.skill_state.expect("actions");
    assert_eq!(skill.debug.iteration, 3);
    assert_eq!(skill.errors.len(), 3);
}

#[test]
fn a_report_says_more_than_an_exit_status() {
    let mut state = running(&["one"]);
    let mut end = ended(0);
    end.report = Ok(Report {
        done: Some(false),
        ..Report::default()
    });
    assert_eq!(step(&mut state, &end), Action::Develop);
    assert_eq!(next(&state), Action::Develop);
    let report = r#"{"tasks":[{"id":"two","description":"found on the way","status":"pending"}]}"#;
    end.report = serde_json::from_str(report).map_err(|error| error.to_string());
    assert_eq!(step(&mut state, &end), Action::Develop);
    let skill = state.skill_state.as_ref().expect("actions");
    assert_eq!((skill.develop.total, skill.develop.completed), (2, 1));
    end.report = Err("torn".to_owned());
    assert_eq!(step(&mut state, &end), Action::Develop);
    let skill = state.skill_state.as_ref().expect("actions");
    assert_eq!(skill.develop.completed, 2);
    assert!(skill.errors[0].message.contains("torn"));
    let report = r#"{"test_results":[{"test_name":"a","suite":"s","status":"passed","duration_ms":1},{"test_name":"b","suite":"s","status":"failed","duration_ms":2}],"coverage":81.5}"#;
    end.report = serde_json::from_str(report).map_err(|error| error.to_string());
    assert_eq!(step(&mut state, &end), Action::Validate);
    let skill = state.skill_state.as_ref().expect("actions");
    assert!(!skill.validate.passed);
    assert_eq!(skill.validate.failed_tests, ["b"]);
    assert_eq!(skill.validate.pass_rate, 50.into());
    assert_eq!(next(&state), Action::Debug);
}
