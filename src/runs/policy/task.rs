//! The task's state machine, as a table.
//!
//! Source: the decision framework's "task execution state machine" and its
//! table of transitions. Only what [`TRANSITIONS`] lists exists; every other
//! move is an error, so that a snapshot can never claim a path nobody took.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing was started.
    #[default]
    Pending,
    /// An attempt runs.
    Running,
    /// An attempt ended well.
    Succeeded,
    /// The acceptance command runs.
    Accepting,
    /// The review command runs.
    Reviewing,
    /// All is done.
    Done,
    /// An attempt ended badly.
    Failed,
    /// What went wrong is known.
    Classified,
    /// The same is tried again, after a wait.
    Retrying,
    /// Another try with what was learned.
    Fixing,
    /// A person has to decide.
    NeedsPerson,
}

/// What moves a task from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first attempt starts.
    Start,
    /// The attempt ended well.
    Succeed,
    /// The attempt ended badly.
    Fail,
    /// The result is taken to acceptance.
    Accept,
    /// What went wrong was found out.
    Classify,
    /// It was transient.
    Transient,
    /// It was an error in the code.
    CodeError,
    /// It was an error in the environment.
    EnvironmentError,
    /// It cannot be recovered from.
    Unrecoverable,
    /// Fewer attempts were made than allowed.
    AttemptsLeft,
    /// As many attempts were made as allowed.
    AttemptsSpent,
    /// The fix is likely enough to work.
    Confident,
    /// The fix is not likely enough to work.
    Doubtful,
    /// Acceptance or review passed.
    Pass,
    /// Acceptance was not passed.
    NotPassed,
    /// The review found something that blocks.
    Blocking,
}

/// Whether a transition is taken without asking (the seed's "autonomous decision" column).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// Taken at once.
    Autonomous,
    /// Taken where the conditions of the retry and fix rules hold, else asked.
    Conditional,
    /// Always ends at a person.
    Person,
}

/// One allowed move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// State before.
    pub from: State,
    /// What happened.
    pub on: Event,
    /// Whether it is taken without asking.
    pub autonomy: Autonomy,
    /// State after.
    pub to: State,
}

const fn row(from: State, on: Event, autonomy: Autonomy, to: State) -> Transition {
    Transition {
        from,
        on,
        autonomy,
        to,
    }
}

/// All moves there are.
///
/// The seed's table starts at "running"; its diagram adds the start, and the
/// states "succeeded" and "failed" through which the table's first two rows pass.
pub const TRANSITIONS: &[Transition] = {
    use Autonomy::{Autonomous, Conditional, Person};
    use Event as E;
    use State as S;
    &[
        row(S::Pending, E::Start, Autonomous, S::Running),
        row(S::Running, E::Succeed, Autonomous, S::Succeeded),
        row(S::Succeeded, E::Accept, Autonomous, S::Accepting),
        row(S::Running, E::Fail, Autonomous, S::Failed),
        row(S::Failed, E::Classify, Autonomous, S::Classified),
        row(S::Classified, E::Transient, Autonomous, S::Retrying),
        row(S::Classified, E::CodeError, Conditional, S::Fixing),
        row(S::Classified, E::EnvironmentError, Conditional, S::Fixing),
        row(S::Classified, E::Unrecoverable, Person, S::NeedsPerson),
        row(S::Retrying, E::AttemptsLeft, Autonomous, S::Running),
        row(S::Retrying, E::AttemptsSpent, Person, S::NeedsPerson),
        row(S::Fixing, E::Confident, Autonomous, S::Running),
        row(S::Fixing, E::Doubtful, Person, S::NeedsPerson),
        row(S::Accepting, E::Pass, Autonomous, S::Reviewing),
        row(S::Accepting, E::NotPassed, Autonomous, S::Fixing),
        row(S::Reviewing, E::Pass, Autonomous, S::Done),
        row(S::Reviewing, E::Blocking, Conditional, S::Fixing),
    ]
};

/// A move that the table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSuchTransition {
    /// State before.
    pub from: State,
    /// What happened.
    pub on: Event,
}

impl fmt::Display for NoSuchTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a task that is {} cannot take the event {}",
            self.from, self.on
        )
    }
}

impl std::error::Error for NoSuchTransition {}

/// Returns the move for an event, if the table has one.
pub fn next(from: State, on: Event) -> Result<Transition, NoSuchTransition> {
    TRANSITIONS
        .iter()
        .copied()
        .find(|row| row.from == from && row.on == on)
        .ok_or(NoSuchTransition { from, on })
}

impl State {
    /// All states, in the order of the diagram.
    pub const ALL: [Self; 11] = [
        Self::Pending,
        Self::Running,
        Self::Succeeded,
        Self::Accepting,
        Self::Reviewing,
        Self::Done,
        Self::Failed,
        Self::Classified,
        Self::Retrying,
        Self::Fixing,
        Self::NeedsPerson,
    ];

    /// Returns true where no event leads on.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::NeedsPerson)
    }

    /// The word used in snapshots, listings and logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Accepting => "accepting",
            Self::Reviewing => "reviewing",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Classified => "classified",
            Self::Retrying => "retrying",
            Self::Fixing => "fixing",
            Self::NeedsPerson => "needs_person",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Event {
    /// All events.
    pub const ALL: [Self; 16] = [
        Self::Start,
        Self::Succeed,
        Self::Fail,
        Self::Accept,
        Self::Classify,
        Self::Transient,
        Self::CodeError,
        Self::EnvironmentError,
        Self::Unrecoverable,
        Self::AttemptsLeft,
        Self::AttemptsSpent,
        Self::Confident,
        Self::Doubtful,
        Self::Pass,
        Self::NotPassed,
        Self::Blocking,
    ];

    /// The word used in snapshots and logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Succeed => "succeed",
            Self::Fail => "fail",
            Self::Accept => "accept",
            Self::Classify => "classify",
            Self::Transient => "transient",
            Self::CodeError => "code_error",
            Self::EnvironmentError => "environment_error",
            Self::Unrecoverable => "unrecoverable",
            Self::AttemptsLeft => "attempts_left",
            Self::AttemptsSpent => "attempts_spent",
            Self::Confident => "confident",
            Self::Doubtful => "doubtful",
            Self::Pass => "pass",
            Self::NotPassed => "not_passed",
            Self::Blocking => "blocking",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_rows_are_there_with_their_autonomy() {
        use Autonomy::{Autonomous, Conditional, Person};
        let seed = [
            (
                State::Classified,
                Event::Transient,
                Autonomous,
                State::Retrying,
            ),
            (
                State::Classified,
                Event::CodeError,
                Conditional,
                State::Fixing,
            ),
            (
                State::Classified,
                Event::EnvironmentError,
                Conditional,
                State::Fixing,
            ),
            (
                State::Classified,
                Event::Unrecoverable,
                Person,
                State::NeedsPerson,
            ),
            (
                State::Retrying,
                Event::AttemptsLeft,
                Autonomous,
                State::Running,
            ),
            (
                State::Retrying,
                Event::AttemptsSpent,
                Person,
                State::NeedsPerson,
            ),
            (State::Fixing, Event::Confident, Autonomous, State::Running),
            (State::Fixing, Event::Doubtful, Person, State::NeedsPerson),
            (State::Accepting, Event::Pass, Autonomous, State::Reviewing),
            (
                State::Accepting,
                Event::NotPassed,
                Autonomous,
                State::Fixing,
            ),
            (State::Reviewing, Event::Pass, Autonomous, State::Done),
            (
                State::Reviewing,
                Event::Blocking,
                Conditional,
                State::Fixing,
            ),
        ];
        for (from, on, autonomy, to) in seed {
            let found = next(from, on).expect("the seed lists it");
            assert_eq!((found.autonomy, found.to), (autonomy, to), "{from} on {on}");
        }
    }

    #[test]
    fn no_other_move_exists() {
        let allowed = State::ALL
            .into_iter()
            .flat_map(|from| Event::ALL.into_iter().map(move |on| (from, on)))
            .filter(|(from, on)| next(*from, *on).is_ok())
            .count();
        assert_eq!(allowed, TRANSITIONS.len());
        assert_eq!(allowed, 17);
    }

    #[test]
    fn every_state_but_the_two_last_leads_on_and_all_are_reached() {
        for state in State::ALL {
            let leads_on = TRANSITIONS.iter().any(|row| row.from == state);
            assert_eq!(leads_on, !state.is_final(), "{state}");
            let reached = TRANSITIONS.iter().any(|row| row.to == state);
            assert_eq!(reached, state != State::Pending, "{state}");
        }
    }

    #[test]
    fn a_refused_move_says_what_it_was() {
        let error = next(State::Done, Event::Start).expect_err("nothing leaves done");
        assert_eq!(
            error.to_string(),
            "a task that is done cannot take the event start"
        );
    }
}
