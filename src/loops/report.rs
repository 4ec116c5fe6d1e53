//! What a finished action changes in the agent's side. Pure.
//!
//! An agent that knows of loops edits `skill_state` itself, or leaves a report
//! file (`HOLDPOINT_LOOP_REPORT`); of any other command, the exit status and
//! the output tell.

use super::action::Action;
use super::state::{
    ErrorNote, Hypothesis, Judgement, SkillState, Task, TaskStatus, TestResult, TestStatus,
};
use serde::Deserialize;
use serde_json::{Map, Number, Value};

/// What an agent reports of one action; everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// False where the task is not done although the command succeeded.
    pub done: Option<bool>,
    /// One sentence on what was done, or went wrong.
    pub message: Option<String>,
    /// Tasks that are new or have changed, by id.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// The bug that is looked for; an empty text says that there is none any more.
    pub active_bug: Option<String>,
    /// Hypotheses that are new or have changed, by id.
    #[serde(default)]
    pub hypotheses: Vec<Hypothesis>,
    /// The hypothesis that was confirmed.
    pub confirmed_hypothesis: Option<String>,
    /// The tests.
    pub test_results: Option<Vec<TestResult>>,
    /// Share of tests that passed, 0 to 100.
    pub pass_rate: Option<Number>,
    /// Share of code that the tests reach, 0 to 100.
    pub coverage: Option<Number>,
}

/// How an action's command ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Exit status; `None` where it was killed.
    pub code: Option<i32>,
    /// Why it did not end by itself, where it did not.
    pub how: Option<String>,
    /// The end of what it printed.
    pub tail: String,
    /// Tests that passed and failed, where the output counts them.
    pub counts: Option<(u64, u64)>,
    /// How long it took.
    pub duration_ms: u64,
    /// The command, for people.
    pub command: String,
    /// Files that it changed.
    pub files: Vec<String>,
    /// What the agent reported, or why its report cannot be read.
    pub report: Result<Report, String>,
}

impl Ended {
    /// Returns true where it ended by itself, and well.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.code == Some(0) && self.how.is_none()
    }

    /// Why it failed, in one line.
    #[must_use]
    pub fn failure(&self) -> String {
        let how = match (&self.how, self.code) {
            (Some(how), _) => how.clone(),
            (None, Some(code)) => format!("exit status {code}"),
            (None, None) => "killed".to_owned(),
        };
        let last = self
            .tail
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or_default();
        if last.is_empty() {
            how
        } else {
            format!("{how}: {last}")
        }
    }
}

/// The next task to work on: one under way, else a failed one, else the first pending one.
#[must_use]
pub fn next_task(skill: &SkillState) -> Option<&Task> {
    [
        TaskStatus::InProgress,
        TaskStatus::Failed,
        TaskStatus::Pending,
    ]
    .into_iter()
    .find_map(|status| {
        skill
            .develop
            .tasks
            .iter()
            .find(|task| task.status == status)
    })
}

/// Enters an action: what the state says while its command runs.
pub fn enter(skill: &mut SkillState, action: Action) {
    skill.current_action = Some(action.word().to_owned());
    if action == Action::Develop {
        let id = next_task(skill).map(|task| task.id.clone());
        for task in &mut skill.develop.tasks {
            if Some(&task.id) == id.as_ref() {
                task.status = TaskStatus::InProgress;
            }
        }
        skill.develop.current_task = id;
        skill.recount();
    }
}

/// Leaves an action: the seed's transition for it, with what the command and its report say.
pub fn leave(skill: &mut SkillState, action: Action, ended: &Ended, now: &str) {
    let report = match &ended.report {
        Ok(report) => report.clone(),
        Err(why) => {
            note(
                skill,
                action,
                format!("the report cannot be used: {why}"),
                now,
            );
            Report::default()
        }
    };
    merge(skill, &report);
    match action {
        Action::Develop => developed(skill, ended, &report, now),
        Action::Debug => debugged(skill, ended, &report, now),
        Action::Validate => validated(skill, ended, &report, now),
        Action::Init | Action::Complete => {}
    }
    finish(skill, action);
    skill.recount();
}

/// Marks an action as finished.
pub fn finish(skill: &mut SkillState, action: Action) {
    let word = action.finished_word().to_owned();
    skill.completed_actions.push(word.clone());
    skill.last_action = Some(word);
}

/// Notes that something went wrong.
pub fn note(skill: &mut SkillState, action: Action, message: String, now: &str) {
    skill.errors.push(ErrorNote {
        action: action.word().to_owned(),
        message,
        timestamp: now.to_owned(),
        extra: Map::new(),
    });
}

fn merge(skill: &mut SkillState, report: &Report) {
    for task in &report.tasks {
        match skill
            .develop
            .tasks
            .iter_mut()
            .find(|known| known.id == task.id)
        {
            Some(known) => retold(known, task),
            None => skill.develop.tasks.push(task.clone()),
        }
    }
    for hypothesis in &report.hypotheses {
        match skill
            .debug
            .hypotheses
            .iter_mut()
            .find(|known| known.id == hypothesis.id)
        {
            Some(known) => {
                let before = std::mem::replace(known, hypothesis.clone());
                keep(&mut known.extra, before.extra);
                let criteria = &mut known.evidence_criteria;
                keep(&mut criteria.extra, before.evidence_criteria.extra);
            }
            None => skill.debug.hypotheses.push(hypothesis.clone()),
        }
    }
    let confirmed = report.confirmed_hypothesis.clone().or_else(|| {
        report
            .hypotheses
            .iter()
            .find(|hypothesis| hypothesis.status == Judgement::Confirmed)
            .map(|hypothesis| hypothesis.id.clone())
    });
    if confirmed.is_some() {
        skill.debug.confirmed_hypothesis = confirmed;
    }
    if let Some(bug) = &report.active_bug {
        skill.debug.active_bug = (!bug.is_empty()).then(|| bug.clone());
    }
}

/// Takes over what a report says of a task; of what it leaves out, what was known stays.
fn retold(known: &mut Task, told: &Task) {
    let before = std::mem::replace(known, told.clone());
    known.tool = known.tool.take().or(before.tool);
    known.mode = known.mode.take().or(before.mode);
    known.created_at = known.created_at.take().or(before.created_at);
    if known.status == TaskStatus::Completed {
        known.completed_at = known.completed_at.take().or(before.completed_at);
    }
    if known.files_changed.is_empty() {
        known.files_changed = before.files_changed;
    }
    keep(&mut known.extra, before.extra);
}

/// Keeps unknown fields that a newer value does not have.
fn keep(newer: &mut Map<String, Value>, older: Map<String, Value>) {
    for (name, value) in older {
        newer.entry(name).or_insert(value);
    }
}

fn developed(skill: &mut SkillState, ended: &Ended, report: &Report, now: &str) {
    let current = skill.develop.current_task.clone();
    let succeeded = ended.succeeded();
    let told = report
        .tasks
        .iter()
        .any(|task| Some(&task.id) == current.as_ref());
    let mut what = String::new();
    if let Some(task) = skill
        .develop
        .tasks
        .iter_mut()
        .find(|task| Some(&task.id) == current.as_ref())
    {
        what.clone_from(&task.id);
        for file in &ended.files {
            if !task.files_changed.contains(file) {
                task.files_changed.push(file.clone());
            }
        }
        if !told {
            task.status = match (succeeded, report.done) {
                (true, Some(false)) => TaskStatus::InProgress,
                (true, _) => TaskStatus::Completed,
                (false, _) => TaskStatus::Failed,
            };
        }
        if task.status == TaskStatus::Completed && task.completed_at.is_none() {
            task.completed_at = Some(now.to_owned());
        }
    }
    skill.develop.last_progress_at = Some(now.to_owned());
    if !succeeded {
        let failure = format!("{what}: {}", ended.failure());
        skill.debug.active_bug = Some(failure.clone());
        note(skill, Action::Develop, failure, now);
    }
    // What was tested before this change says nothing of it.
    skill.validate.passed = false;
}

fn debugged(skill: &mut SkillState, ended: &Ended, report: &Report, now: &str) {
    skill.debug.iteration += 1;
    skill.debug.last_analysis_at = Some(now.to_owned());
    if !ended.succeeded() {
        note(skill, Action::Debug, ended.failure(), now);
        return;
    }
    if report.active_bug.is_none() && report.done != Some(false) {
        skill.debug.active_bug = None;
    }
    if skill.debug.active_bug.is_none() {
        for task in &mut skill.develop.tasks {
            if task.status == TaskStatus::Failed {
                task.status = TaskStatus::Pending;
            }
        }
    }
    skill.validate.passed = false;
}

fn validated(skill: &mut SkillState, ended: &Ended, report: &Report, now: &str) {
    let results = report
        .test_results
        .clone()
        .unwrap_or_else(|| vec![as_test(ended)]);
    let failed: Vec<String> = results
        .iter()
        .filter(|test| test.status == TestStatus::Failed)
        .map(|test| test.test_name.clone())
        .collect();
    let passed = ended.succeeded() && failed.is_empty() && report.done != Some(false);
    let phase = &mut skill.validate;
    phase.pass_rate = report
        .pass_rate
        .clone()
        .filter(is_share)
        .unwrap_or_else(|| rate(ended, &results));
    if let Some(coverage) = report.coverage.clone().filter(is_share) {
        phase.coverage = coverage;
    }
    phase.test_results = results;
    phase.failed_tests.clone_from(&failed);
    phase.passed = passed;
    phase.last_run_at = Some(now.to_owned());
    if !passed {
        let what = if failed.is_empty() {
            ended.failure()
        } else {
            format!("failed tests: {}", failed.join(", "))
        };
        let bug = format!("validation: {what}");
        skill.debug.active_bug = Some(bug.clone());
        note(skill, Action::Validate, bug, now);
    }
}

fn is_share(number: &Number) -> bool {
    number
        .as_f64()
        .is_some_and(|share| (0.0..=100.0).contains(&share))
}

/// The validation command itself as a test, where nobody reported single ones.
fn as_test(ended: &Ended) -> TestResult {
    TestResult {
        test_name: ended.command.clone(),
        suite: "loop".to_owned(),
        status: if ended.succeeded() {
            TestStatus::Passed
        } else {
            TestStatus::Failed
        },
        duration_ms: ended.duration_ms.into(),
        error_message: (!ended.succeeded()).then(|| ended.failure()),
        stack_trace: None,
        extra: Map::new(),
    }
}

/// The share of tests that passed: as the output counts them, else by the results.
#[expect(clippy::cast_precision_loss, reason = "counts of tests are small")]
fn rate(ended: &Ended, results: &[TestResult]) -> Number {
    let count =
        |status: TestStatus| results.iter().filter(|test| test.status == status).count() as u64;
    let (passed, failed) = ended
        .counts
        .unwrap_or_else(|| (count(TestStatus::Passed), count(TestStatus::Failed)));
    let all = passed + failed;
    if all == 0 {
        return 0.into();
    }
    let share = (passed as f64 / all as f64 * 1000.0).round() / 10.0;
    if share.fract() == 0.0 {
        return (passed * 100 / all).into();
    }
    Number::from_f64(share).unwrap_or_else(|| 0.into())
}

#[cfg(test)]
mod tests;
