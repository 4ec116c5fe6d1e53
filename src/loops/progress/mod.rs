//! Progress files: readable by a person, and enough to rebuild the agent's side from. Pure.
//!
//! `develop.md` carries the actions and tasks, `debug.md` the hypotheses and
//! errors, `validate.md` the tests. Each value stands in a table; nothing is
//! hidden in comments, so that a person who corrects a cell corrects the state.

mod cell;
mod table;

use super::state::{
    Criteria, Debug, Develop, ErrorNote, Hypothesis, LoopState, SkillState, Task, TestResult,
    Validate,
};
use table::{Page, Tables, number, read_extra, word, write_extra};

const ABOUT: &str = "Written by the loop after each action; the state can be rebuilt from it.";

/// The three pages of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// `develop.md`.
    pub develop: String,
    /// `debug.md`.
    pub debug: String,
    /// `validate.md`.
    pub validate: String,
}

/// Writes the pages.
#[must_use]
pub fn write(state: &LoopState, skill: &SkillState) -> Pages {
    Pages {
        develop: develop(state, skill),
        debug: debug(state, skill),
        validate: validate(state, skill),
    }
}

fn option(text: Option<&String>) -> String {
    cell::write(text.map(String::as_str))
}

fn develop(state: &LoopState, skill: &SkillState) -> String {
    let mut page = Page::new(&format!("Development: {}", state.title), ABOUT);
    page.fields(
        "Loop",
        &[
            ("loop", cell::write(Some(&state.loop_id))),
            ("iteration", state.current_iteration.to_string()),
            ("mode", skill.mode.word().to_owned()),
            ("current action", option(skill.current_action.as_ref())),
            ("last action", option(skill.last_action.as_ref())),
            ("more", write_extra(&skill.extra)),
        ],
    );
    let phase = &skill.develop;
    page.fields(
        "Progress",
        &[
            ("total", phase.total.to_string()),
            ("completed", phase.completed.to_string()),
            ("current task", option(phase.current_task.as_ref())),
            ("last progress", option(phase.last_progress_at.as_ref())),
            ("more", write_extra(&phase.extra)),
        ],
    );
    page.rows(
        "Tasks",
        &[
            "id",
            "status",
            "description",
            "tool",
            "mode",
            "files changed",
            "created",
            "completed",
            "more",
        ],
        phase.tasks.iter().map(|task| {
            vec![
                cell::write(Some(&task.id)),
                task.status.word().to_owned(),
                cell::write(Some(&task.description)),
                option(task.tool.as_ref()),
                option(task.mode.as_ref()),
                cell::write_list(&task.files_changed),
                option(task.created_at.as_ref()),
                option(task.completed_at.as_ref()),
                write_extra(&task.extra),
            ]
        }),
    );
    page.rows(
        "Actions",
        &["action"],
        skill
            .completed_actions
            .iter()
            .map(|action| vec![cell::write(Some(action))]),
    );
    page.text()
}

fn debug(state: &LoopState, skill: &SkillState) -> String {
    let phase = &skill.debug;
    let mut page = Page::new(&format!("Debugging: {}", state.title), ABOUT);
    page.fields(
        "Progress",
        &[
            ("active bug", option(phase.active_bug.as_ref())),
            (
                "confirmed hypothesis",
                option(phase.confirmed_hypothesis.as_ref()),
            ),
            ("hypotheses", phase.hypotheses_count.to_string()),
            ("iteration", phase.iteration.to_string()),
            ("last analysis", option(phase.last_analysis_at.as_ref())),
            ("more", write_extra(&phase.extra)),
        ],
    );
    page.rows(
        "Hypotheses",
        &[
            "id",
            "status",
            "description",
            "likelihood",
            "testable condition",
            "logging point",
            "confirmed by",
            "rejected by",
            "more criteria",
            "evidence",
            "reason",
            "more",
        ],
        phase.hypotheses.iter().map(|hypothesis| {
            let evidence = hypothesis
                .evidence
                .as_ref()
                .map(|evidence| serde_json::Value::Object(evidence.clone()).to_string());
            vec![
                cell::write(Some(&hypothesis.id)),
                hypothesis.status.word().to_owned(),
                cell::write(Some(&hypothesis.description)),
                hypothesis.likelihood.to_string(),
                cell::write(Some(&hypothesis.testable_condition)),
                cell::write(Some(&hypothesis.logging_point)),
                cell::write(Some(&hypothesis.evidence_criteria.confirm)),
                cell::write(Some(&hypothesis.evidence_criteria.reject)),
                write_extra(&hypothesis.evidence_criteria.extra),
                option(evidence.as_ref()),
                option(hypothesis.verdict_reason.as_ref()),
                write_extra(&hypothesis.extra),
            ]
        }),
    );
    page.rows(
        "Errors",
        &["when", "action", "message", "more"],
        skill.errors.iter().map(|error| {
            vec![
                cell::write(Some(&error.timestamp)),
                cell::write(Some(&error.action)),
                cell::write(Some(&error.message)),
                write_extra(&error.extra),
            ]
        }),
    );
    page.text()
}

fn validate(state: &LoopState, skill: &SkillState) -> String {
    let phase = &skill.validate;
    let mut page = Page::new(&format!("Validation: {}", state.title), ABOUT);
    page.fields(
        "Progress",
        &[
            ("passed", phase.passed.to_string()),
            ("pass rate", phase.pass_rate.to_string()),
            ("coverage", phase.coverage.to_string()),
            ("last run", option(phase.last_run_at.as_ref())),
            ("more", write_extra(&phase.extra)),
        ],
    );
    page.rows(
        "Tests",
        &["test", "suite", "status", "ms", "message", "trace", "more"],
        phase.test_results.iter().map(|test| {
            vec![
                cell::write(Some(&test.test_name)),
                cell::write(Some(&test.suite)),
                test.status.word().to_owned(),
                test.duration_ms.to_string(),
                option(test.error_message.as_ref()),
                option(test.stack_trace.as_ref()),
                write_extra(&test.extra),
            ]
        }),
    );
    page.rows(
        "Failed tests",
        &["test"],
        phase
            .failed_tests
            .iter()
            .map(|name| vec![cell::write(Some(name))]),
    );
    page.text()
}

/// What `develop.md` says of the agent's side as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Iterations done when it was written.
    pub iteration: u64,
    /// The agent's side, its phases empty but for development.
    pub skill: SkillState,
}

/// Reads `develop.md`.
///
/// # Errors
/// What keeps it from being read.
pub fn read_develop(text: &str) -> Result<Front, String> {
    let tables = Tables::read(text);
    let field = |section: &str, name: &str| tables.field(section, name);
    let mut skill = SkillState::new(word(field("Loop", "mode")?)?);
    skill.current_action = cell::read(field("Loop", "current action")?)?;
    skill.last_action = cell::read(field("Loop", "last action")?)?;
    skill.extra = read_extra(field("Loop", "more")?)?;
    skill.completed_actions = tables
        .rows("Actions")?
        .iter()
        .map(|row| row.needed("action"))
        .collect::<Result<_, _>>()?;
    skill.develop = Develop {
        total: number(field("Progress", "total")?)?,
        completed: number(field("Progress", "completed")?)?,
        current_task: cell::read(field("Progress", "current task")?)?,
        last_progress_at: cell::read(field("Progress", "last progress")?)?,
        extra: read_extra(field("Progress", "more")?)?,
        tasks: tables
            .rows("Tasks")?
            .iter()
            .map(|row| {
                Ok(Task {
                    id: row.needed("id")?,
                    status: row.word("status")?,
                    description: row.needed("description")?,
                    tool: row.text("tool")?,
                    mode: row.text("mode")?,
                    files_changed: cell::read_list(row.cell("files changed")?)?,
                    created_at: row.text("created")?,
                    completed_at: row.text("completed")?,
                    extra: read_extra(row.cell("more")?)?,
                })
            })
            .collect::<Result<_, String>>()?,
    };
    Ok(Front {
        iteration: number(field("Loop", "iteration")?)?,
        skill,
    })
}

/// Reads `debug.md`.
///
/// # Errors
/// What keeps it from being read.
pub fn read_debug(text: &str) -> Result<(Debug, Vec<ErrorNote>), String> {
    let tables = Tables::read(text);
    let field = |name: &str| tables.field("Progress", name);
    let phase = Debug {
        active_bug: cell::read(field("active bug")?)?,
        confirmed_hypothesis: cell::read(field("confirmed hypothesis")?)?,
        hypotheses_count: number(field("hypotheses")?)?,
        iteration: number(field("iteration")?)?,
        last_analysis_at: cell::read(field("last analysis")?)?,
        extra: read_extra(field("more")?)?,
        hypotheses: tables
            .rows("Hypotheses")?
            .iter()
            .map(|row| {
                Ok(Hypothesis {
                    id: row.needed("id")?,
                    status: row.word("status")?,
                    description: row.needed("description")?,
                    likelihood: number(row.cell("likelihood")?)?,
                    testable_condition: row.needed("testable condition")?,
                    logging_point: row.needed("logging point")?,
                    evidence_criteria: Criteria {
                        confirm: row.needed("confirmed by")?,
                        reject: row.needed("rejected by")?,
                        // Pages of earlier releases have no such column.
                        extra: read_extra(row.cell("more criteria").unwrap_or("-"))?,
                    },
                    evidence: match row.text("evidence")? {
                        Some(json) => Some(number(&json)?),
                        None => None,
                    },
                    verdict_reason: row.text("reason")?,
                    extra: read_extra(row.cell("more")?)?,
                })
            })
            .collect::<Result<_, String>>()?,
    };
    let errors = tables
        .rows("Errors")?
        .iter()
        .map(|row| {
            Ok(ErrorNote {
                timestamp: row.needed("when")?,
                action: row.needed("action")?,
                message: row.needed("message")?,
                extra: read_extra(row.cell("more")?)?,
            })
        })
        .collect::<Result<_, String>>()?;
    Ok((phase, errors))
}

/// Reads `validate.md`.
///
/// # Errors
/// What keeps it from being read.
pub fn read_validate(text: &str) -> Result<Validate, String> {
    let tables = Tables::read(text);
    let field = |name: &str| tables.field("Progress", name);
    Ok(Validate {
        passed: number(field("passed")?)?,
        pass_rate: number(field("pass rate")?)?,
        coverage: number(field("coverage")?)?,
        last_run_at: cell::read(field("last run")?)?,
        extra: read_extra(field("more")?)?,
        test_results: tables
            .rows("Tests")?
            .iter()
            .map(|row| {
                Ok(TestResult {
                    test_name: row.needed("test")?,
                    suite: row.needed("suite")?,
                    status: row.word("status")?,
                    duration_ms: number(row.cell("ms")?)?,
                    error_message: row.text("message")?,
                    stack_trace: row.text("trace")?,
                    extra: read_extra(row.cell("more")?)?,
                })
            })
            .collect::<Result<_, String>>()?,
        failed_tests: tables
            .rows("Failed tests")?
            .iter()
            .map(|row| row.needed("test"))
            .collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests;
