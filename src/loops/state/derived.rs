//! What follows from a state: whether its parts agree, and how far it is. Pure.

use super::{LoopState, Mode, SkillState, Status, TaskStatus};
use serde::Serialize;

/// What is wrong with a state that has the right types.
#[must_use]
pub fn inconsistencies(state: &LoopState, id: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if state.loop_id != id {
        wrong.push(format!(
            "loop_id is {:?}, but the file belongs to {id:?}",
            state.loop_id
        ));
    }
    if state.description.trim().is_empty() {
        wrong.push("description is empty".to_owned());
    }
    if state.status == Status::Created && state.skill_state.is_some() {
        wrong.push("status is created, but actions were taken".to_owned());
    }
    let Some(skill) = &state.skill_state else {
        if state.status == Status::Completed {
            wrong.push("status is completed, but nothing was done".to_owned());
        }
        return wrong;
    };
    if state.status == Status::Completed && !skill.validate.passed {
        wrong.push("status is completed, but the validation has not passed".to_owned());
    }
    let mut count = |name: &str, written: u64, counted: u64| {
        if written != counted {
            wrong.push(format!("{name} is {written}, but there are {counted}"));
        }
    };
    count(
        "develop.total",
        skill.develop.total,
        skill.develop.tasks.len() as u64,
    );
    count(
        "develop.completed",
        skill.develop.completed,
        skill.develop.completed_tasks(),
    );
    count(
        "debug.hypotheses_count",
        skill.debug.hypotheses_count,
        skill.debug.hypotheses.len() as u64,
    );
    for (name, rate) in [
        ("validate.pass_rate", &skill.validate.pass_rate),
        ("validate.coverage", &skill.validate.coverage),
    ] {
        if !rate
            .as_f64()
            .is_some_and(|rate| (0.0..=100.0).contains(&rate))
        {
            wrong.push(format!("{name} is {rate}, not from 0 to 100"));
        }
    }
    wrong
}

/// What can be computed from a state; never stored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Derived {
    /// Share of tasks completed, 0 to 100.
    pub develop_progress: f64,
    /// A task is still to be done.
    pub has_pending_develop: bool,
    /// A hypothesis was confirmed.
    pub debug_completed: bool,
    /// The validation passed, with results to show for it.
    pub validation_passed: bool,
    /// Half the develop progress, and 25 each for a confirmed hypothesis and a passed validation.
    pub overall_progress: f64,
}

/// Computes the derived fields.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts of tasks are small")]
pub fn derived(state: &LoopState) -> Derived {
    let empty = SkillState::new(Mode::Auto);
    let skill = state.skill_state.as_ref().unwrap_or(&empty);
    let develop_progress = if skill.develop.total > 0 {
        skill.develop.completed as f64 / skill.develop.total as f64 * 100.0
    } else {
        0.0
    };
    let debug_completed = skill.debug.confirmed_hypothesis.is_some();
    let validation_passed = skill.validate.passed && !skill.validate.test_results.is_empty();
    let quarter = |done: bool| if done { 25.0 } else { 0.0 };
    Derived {
        develop_progress,
        has_pending_develop: skill
            .develop
            .tasks
            .iter()
            .any(|task| task.status == TaskStatus::Pending),
        debug_completed,
        validation_passed,
        overall_progress: develop_progress * 0.5
            + quarter(debug_completed)
            + quarter(validation_passed),
    }
}
