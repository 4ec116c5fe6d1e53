//! The five actions, which one is next, and when a loop may go on. Pure tables.

use super::state::{LoopState, Status, TaskStatus};
use std::fmt;

/// One action of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Reads the tasks.
    Init,
    /// Works on a task.
    Develop,
    /// Looks for what is wrong.
    Debug,
    /// Tests what was made.
    Validate,
    /// Closes the loop.
    Complete,
}

impl Action {
    /// The word in `current_action`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Develop => "develop",
            Self::Debug => "debug",
            Self::Validate => "validate",
            Self::Complete => "complete",
        }
    }

    /// The word in `last_action` and `completed_actions`.
    #[must_use]
    pub fn finished_word(self) -> &'static str {
        match self {
            Self::Init => "action-init",
            Self::Develop => "action-develop-with-file",
            Self::Debug => "action-debug-with-file",
            Self::Validate => "action-validate-with-file",
            Self::Complete => "action-complete",
        }
    }

    /// Returns true for an action that runs the command and counts as an iteration.
    #[must_use]
    pub fn is_iteration(self) -> bool {
        matches!(self, Self::Develop | Self::Debug | Self::Validate)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a loop does before its next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Goes on.
    GoOn,
    /// Leaves, ready to resume.
    PauseExit,
    /// Leaves for good.
    StopExit,
}

/// Reads the control signal in a status, as every action does before it begins.
#[must_use]
pub fn control(status: Status) -> Control {
    match status {
        Status::Running => Control::GoOn,
        Status::Paused => Control::PauseExit,
        Status::Failed | Status::Created | Status::Completed => Control::StopExit,
    }
}

/// What a person or the loop itself does to its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The first action begins.
    Start,
    /// A person pauses.
    Pause,
    /// A person resumes.
    Resume,
    /// A person stops it.
    Stop,
    /// It is done.
    Complete,
    /// It gives up.
    Fail,
    /// A person gives a loop that used up its iterations more of them.
    Raise,
}

/// The status after a turn; `None` where the table has no such turn.
#[must_use]
pub fn turn(status: Status, turn: Turn) -> Option<Status> {
    match (status, turn) {
        (Status::Created | Status::Running, Turn::Start)
        | (Status::Running | Status::Paused, Turn::Resume)
        | (Status::Failed, Turn::Raise) => Some(Status::Running),
        (Status::Created | Status::Running | Status::Paused, Turn::Pause) => Some(Status::Paused),
        (Status::Created | Status::Running | Status::Paused | Status::Failed, Turn::Stop)
        | (Status::Running, Turn::Fail) => Some(Status::Failed),
        (Status::Running, Turn::Complete) => Some(Status::Completed),
        _ => None,
    }
}

/// The action that comes next.
///
/// A bug is looked for before anything else is built on it; tasks come before
/// the tests; the tests are run again after every change.
#[must_use]
pub fn next(state: &LoopState) -> Action {
    let Some(skill) = &state.skill_state else {
        return Action::Init;
    };
    if skill.completed_actions.is_empty() && skill.develop.tasks.is_empty() {
        return Action::Init;
    }
    if skill.debug.active_bug.is_some() {
        return Action::Debug;
    }
    if skill
        .develop
        .tasks
        .iter()
        .any(|task| task.status != TaskStatus::Completed)
    {
        return Action::Develop;
    }
    if skill.validate.passed
        && skill.last_action.as_deref() == Some(Action::Validate.finished_word())
    {
        return Action::Complete;
    }
    Action::Validate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_running_loop_goes_on() {
        for (status, expected) in [
            (Status::Created, Control::StopExit),
            (Status::Running, Control::GoOn),
            (Status::Paused, Control::PauseExit),
            (Status::Completed, Control::StopExit),
            (Status::Failed, Control::StopExit),
        ] {
            assert_eq!(control(status), expected, "{status}");
        }
    }

    #[test]
    fn only_the_tables_turns_exist() {
        use Status as S;
        for (from, event, to) in [
            (S::Created, Turn::Start, Some(S::Running)),
            (S::Created, Turn::Pause, Some(S::Paused)),
            (S::Created, Turn::Resume, None),
            (S::Created, Turn::Complete, None),
            (S::Created, Turn::Fail, None),
            (S::Running, Turn::Pause, Some(S::Paused)),
            (S::Running, Turn::Complete, Some(S::Completed)),
            (S::Running, Turn::Fail, Some(S::Failed)),
            (S::Paused, Turn::Start, None),
            (S::Paused, Turn::Resume, Some(S::Running)),
            (S::Paused, Turn::Stop, Some(S::Failed)),
            (S::Paused, Turn::Complete, None),
            (S::Completed, Turn::Start, None),
            (S::Completed, Turn::Pause, None),
            (S::Completed, Turn::Resume, None),
            (S::Completed, Turn::Stop, None),
            (S::Failed, Turn::Start, None),
            (S::Failed, Turn::Resume, None),
            (S::Failed, Turn::Raise, Some(S::Running)),
            (S::Completed, Turn::Raise, None),
            (S::Paused, Turn::Raise, None),
        ] {
            assert_eq!(turn(from, event), to, "{from} {event:?}");
        }
    }
}
