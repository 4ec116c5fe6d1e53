use super::*;
use crate::loops::state::{Judgement, Mode, Status, TaskStatus, TestStatus};
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

/// Texts that a table could trip over.
fn text() -> BoxedStrategy<String> {
    prop_oneof![
        any::<String>(),
        "[ -|\\\\,\n\r\t]{0,8}",
        Just(String::new()),
        Just("-".to_owned()),
        Just("---".to_owned()),
        Just("\\e".to_owned()),
        Just("a | b \\| c\n## Tasks\n| x |".to_owned()),
        Just("\u{2028}\u{85}\u{a0}".to_owned()),
    ]
    .boxed()
}

fn maybe() -> BoxedStrategy<Option<String>> {
    prop::option::of(text()).boxed()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..4)
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<u32>().prop_map(Number::from),
        (0.0..100.0f64).prop_map(|n| Number::from_f64(n).expect("finite")),
    ]
}

fn extra() -> BoxedStrategy<Map<String, Value>> {
    prop_oneof![
        3 => Just(Map::new()),
        1 => (text(), text()).prop_map(|(key, value)| {
            let mut map = Map::new();
            map.insert(format!("x-{key}"), json!([value, 1.5, null]));
            map
        }),
    ]
    .boxed()
}

prop_compose! {
    fn task()(
        id in text(), description in text(), tool in maybe(), mode in maybe(), files in texts(),
        created in maybe(), completed in maybe(), extra in extra(),
        status in prop::sample::select(vec![TaskStatus::Pending, TaskStatus::InProgress, TaskStatus::Completed, TaskStatus::Failed]),
    ) -> Task {
        Task { id, description, tool, mode, status, files_changed: files, created_at: created, completed_at: completed, extra }
    }
}

prop_compose! {
    fn hypothesis()(
        id in text(), description in text(), condition in text(), point in text(), confirm in text(),
        reject in text(), criteria in extra(), likelihood in number(), evidence in prop::option::of(extra()), reason in maybe(), extra in extra(),
        status in prop::sample::select(vec![Judgement::Pending, Judgement::Confirmed, Judgement::Rejected, Judgement::Inconclusive]),
    ) -> Hypothesis {
        Hypothesis {
            id, description, testable_condition: condition, logging_point: point,
            evidence_criteria: Criteria { confirm, reject, extra: criteria }, likelihood, status, evidence, verdict_reason: reason, extra,
        }
    }
}

prop_compose! {
    fn test_result()(
        name in text(), suite in text(), ms in number(), message in maybe(), trace in maybe(), extra in extra(),
        status in prop::sample::select(vec![TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped]),
    ) -> TestResult {
        TestResult { test_name: name, suite, status, duration_ms: ms, error_message: message, stack_trace: trace, extra }
    }
}

prop_compose! {
    fn error()(action in text(), message in text(), timestamp in text(), extra in extra()) -> ErrorNote {
        ErrorNote { action, message, timestamp, extra }
    }
}

prop_compose! {
    fn skill()(
        heads in (maybe(), maybe(), texts(), any::<bool>(), extra()),
        tasks in prop::collection::vec(task(), 0..4),
        develop in (maybe(), maybe(), extra()),
        hypotheses in prop::collection::vec(hypothesis(), 0..3),
        debug in (maybe(), maybe(), any::<u32>(), maybe(), extra()),
        results in prop::collection::vec(test_result(), 0..3),
        validate in (number(), number(), any::<bool>(), texts(), maybe(), extra()),
        errors in prop::collection::vec(error(), 0..3),
    ) -> SkillState {
        let (current_action, last_action, completed_actions, auto, extra) = heads;
        let mut skill = SkillState {
            current_action, last_action, completed_actions, errors, extra,
            mode: if auto { Mode::Auto } else { Mode::Interactive },
            develop: Develop { total: 0, completed: 0, current_task: develop.0, tasks, last_progress_at: develop.1, extra: develop.2 },
            debug: Debug { active_bug: debug.0, hypotheses_count: 0, hypotheses, confirmed_hypothesis: debug.1, iteration: debug.2.into(), last_analysis_at: debug.3, extra: debug.4 },
            validate: Validate { pass_rate: validate.0, coverage: validate.1, test_results: results, passed: validate.2, failed_tests: validate.3, last_run_at: validate.4, extra: validate.5 },
        };
        skill.recount();
        skill
    }
}

fn around(skill: &SkillState) -> LoopState {
    LoopState {
        loop_id: "loop-v2-20260122-abc123".to_owned(),
        title: "T | t".to_owned(),
        description: "d".to_owned(),
        max_iterations: 10,
        status: Status::Running,
        current_iteration: 3,
        created_at: "2026-01-22T10:00:00+08:00".to_owned(),
        updated_at: "2026-01-22T10:00:00+08:00".to_owned(),
        completed_at: None,
        failure_reason: None,
        skill_state: Some(skill.clone()),
        extra: Map::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_rebuilt_in_every_field(skill in skill()) {
        let pages = write(&around(&skill), &skill);
        let front = read_develop(&pages.develop).expect("develop.md");
        let (debug, errors) = read_debug(&pages.debug).expect("debug.md");
        let validate = read_validate(&pages.validate).expect("validate.md");
        let rebuilt = SkillState { debug, validate, errors, ..front.skill };
        prop_assert_eq!(front.iteration, 3);
        prop_assert_eq!(rebuilt, skill);
    }

    #[test]
    fn reading_anything_never_panics(text in any::<String>()) {
        let _ = (read_develop(&text), read_debug(&text), read_validate(&text));
    }
}

#[test]
fn a_page_reads_like_a_page() {
    let mut skill = SkillState::new(Mode::Auto);
    skill.develop.tasks.push(Task {
        id: "task-001".to_owned(),
        description: "Create the login form".to_owned(),
        tool: Some("codex".to_owned()),
        mode: Some("write".to_owned()),
        status: TaskStatus::Completed,
        files_changed: vec!["src/login.rs".to_owned(), "a, b.txt".to_owned()],
        created_at: Some("2026-01-22T10:00:00Z".to_owned()),
        completed_at: None,
        extra: Map::new(),
    });
    skill.recount();
    let page = write(&around(&skill), &skill).develop;
    assert!(page.starts_with("# Development: T \\| t\n"));
    assert!(page.contains("| completed | 1 |"));
    assert!(page.contains(
        "| task-001 | completed | Create the login form | codex | write | src/login.rs, a\\, b.txt | 2026-01-22T10:00:00Z | - | - |"
    ));
}
