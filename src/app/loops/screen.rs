//! A loop on one screen, once or as it goes on.

use crate::error::Result;
use crate::exit::ExitStatus;
use crate::loops::runner::{self, Runner};
use crate::loops::state::{Derived, LoopState, Mode, SkillState, Status, derived};
use crate::loops::store::Store;
use crate::sys::out;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::Duration;

/// How often `status --watch` looks.
const LOOK: Duration = Duration::from_millis(250);

/// Shows a loop until it is completed or failed.
pub(super) fn watch(store: &Store, id: &str) -> Result<ExitStatus> {
    let terminal = std::io::stdout().is_terminal();
    let mut shown = String::new();
    loop {
        let loaded = store.load(id)?;
        if loaded.repaired.is_some() {
            runner::tell_repair(id, loaded.repaired.as_ref());
            // What was told stays above the screen.
            shown.clear();
        }
        let runner = runner::who(store, id)?;
        let mut text = screen(&loaded.state, runner.as_ref());
        if terminal {
            text = cut(&text, out::columns());
        }
        if text != shown {
            let back = if terminal && !shown.is_empty() {
                // Up to the first line of what was shown, and clear from there.
                format!("\x1b[{}A\x1b[J", shown.lines().count())
            } else {
                String::new()
            };
            out::raw(format!("{back}{text}\n").as_bytes());
            shown = text;
        }
        if matches!(loaded.state.status, Status::Completed | Status::Failed) && runner.is_none() {
            return Ok(ExitStatus::Passed);
        }
        std::thread::sleep(LOOK);
    }
}

/// A loop on one screen.
pub(super) fn screen(state: &LoopState, runner: Option<&Runner>) -> String {
    let Derived {
        develop_progress,
        debug_completed,
        validation_passed,
        overall_progress,
        ..
    } = derived(state);
    let empty = SkillState::new(Mode::Auto);
    let skill = state.skill_state.as_ref().unwrap_or(&empty);
    let mut text = format!(
        "{}  {}\n  {}, iteration {} of {}",
        state.loop_id,
        first_line(&state.title),
        state.status,
        state.current_iteration,
        state.max_iterations
    );
    if let Some(action) = &skill.current_action {
        let _ = write!(text, ", {}", first_line(action));
    }
    if let Some(runner) = runner {
        let _ = write!(
            text,
            "; run by process {} since {}",
            runner.pid, runner.since
        );
    }
    if let Some(reason) = &state.failure_reason {
        let _ = write!(text, "; {}", first_line(reason));
    }
    let _ = write!(
        text,
        "\n  overall   {} {overall_progress:3.0}%\n  develop   {} {develop_progress:3.0}%  {} of {} tasks",
        bar(overall_progress),
        bar(develop_progress),
        skill.develop.completed,
        skill.develop.total,
    );
    let _ = write!(
        text,
        "\n  debug     {} hypotheses, {} analyses{}",
        skill.debug.hypotheses_count,
        skill.debug.iteration,
        if debug_completed {
            ", one confirmed"
        } else {
            ""
        }
    );
    let _ = write!(
        text,
        "\n  validate  {}, {}% of the tests pass, {}% covered",
        if validation_passed {
            "passed"
        } else {
            "not passed"
        },
        skill.validate.pass_rate,
        skill.validate.coverage
    );
    if let Some(id) = &skill.develop.current_task {
        let task = skill.develop.tasks.iter().find(|task| &task.id == id);
        let _ = write!(
            text,
            "\n  task      {} {}{}",
            first_line(id),
            first_line(task.map_or("", |task| task.description.as_str())),
            task.map_or_else(String::new, |task| format!(" ({})", task.status.word()))
        );
    }
    if let Some(bug) = &skill.debug.active_bug {
        let _ = write!(text, "\n  bug       {}", first_line(bug));
    }
    if let Some(error) = skill.errors.last() {
        let _ = write!(
            text,
            "\n  last error ({}, {}): {}",
            first_line(&error.action),
            first_line(&error.timestamp),
            first_line(&error.message)
        );
    }
    text
}

fn bar(percent: f64) -> String {
    let filled = (1..=20)
        .filter(|step| f64::from(*step) * 5.0 <= percent + 0.01)
        .count();
    format!("[{}{}]", "#".repeat(filled), ".".repeat(20 - filled))
}

/// The first line of a text, without what a terminal would act on, cut to fit.
pub(super) fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(100)
        .collect()
}

/// Cuts each line to the terminal's width: a line that wraps would not be cleared.
fn cut(text: &str, columns: usize) -> String {
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut left = columns.saturating_sub(1);
            line.chars()
                .take_while(|c| {
                    // Beyond ASCII a character may take two columns.
                    let wide = if c.is_ascii() { 1 } else { 2 };
                    let fits = wide <= left;
                    left = left.saturating_sub(wide);
                    fits
                })
                .collect()
        })
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_to_the_terminal() {
        assert_eq!(cut("abcdef\nab", 5), "abcd\nab");
        assert_eq!(cut("登录功能", 6), "登录");
    }

    #[test]
    fn nothing_that_a_terminal_acts_on_is_shown() {
        assert_eq!(first_line("a\x1b[2Jb\u{9b}1mc\nd"), "a[2Jb1mc");
    }
}
