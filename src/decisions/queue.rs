//! Puts simultaneous decisions in order (section 4 of the seed).
//!
//! A more urgent decision comes before a less urgent one; error recovery
//! interrupts everything else; a request for clarification stops what comes
//! after it until the user has answered. Equals keep the order in which they came.

use super::kind::DecisionType;
use serde::Serialize;

/// What becomes of a decision in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Carried out now.
    Next,
    /// Waits for the more urgent ones before it.
    Waiting,
    /// Stopped by an error recovery; taken up again when that is done.
    Interrupted,
    /// Stopped until the user has answered.
    Blocked,
}

/// A decision in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its place, from 1.
    pub position: usize,
    /// Its place among the decisions as they came, from 0.
    pub index: usize,
    /// Its type.
    #[serde(serialize_with = "word")]
    pub action_type: DecisionType,
    /// 1 is the most urgent.
    pub priority: u8,
    /// What becomes of it.
    pub state: State,
    /// The decision that holds it up, by its place among them as they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_up_by: Option<usize>,
    /// Whether it stays inside the agent: never published.
    pub internal: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn word<S: serde::Serializer>(kind: &DecisionType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.word())
}

/// Orders decisions, each given by its place among those that came and its type.
#[must_use]
pub fn order(decisions: &[(usize, DecisionType)]) -> Vec<Place> {
    let mut sorted = decisions.to_vec();
    sorted.sort_by_key(|(index, kind)| (kind.priority(), *index));
    let first_of = |wanted: DecisionType| {
        sorted
            .iter()
            .find(|(_, kind)| *kind == wanted)
            .map(|(index, _)| *index)
    };
    let recovery = first_of(DecisionType::ErrorRecovery);
    let question = first_of(DecisionType::RequestClarification);
    let mut places = Vec::with_capacity(sorted.len());
    for (at, &(index, kind)) in sorted.iter().enumerate() {
        let (state, held_up_by) = if at == 0 {
            (State::Next, None)
        } else if kind == DecisionType::ErrorRecovery {
            (State::Waiting, sorted.first().map(|(first, _)| *first))
        } else if recovery.is_some() {
            (State::Interrupted, recovery)
        } else if question.is_some() {
            (State::Blocked, question)
        } else {
            (
                State::Waiting,
                at.checked_sub(1)
                    .and_then(|before| sorted.get(before))
                    .map(|(before, _)| *before),
            )
        };
        places.push(Place {
            position: at + 1,
            index,
            action_type: kind,
            priority: kind.priority(),
            state,
            held_up_by,
            internal: kind == DecisionType::Continue,
        });
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use DecisionType as T;

    fn states(kinds: &[DecisionType]) -> Vec<(DecisionType, State)> {
        let numbered: Vec<_> = kinds.iter().copied().enumerate().collect();
        order(&numbered)
            .into_iter()
            .map(|place| (place.action_type, place.state))
            .collect()
    }

    #[test]
    fn the_ten_types_stand_in_the_seeds_order() {
        let mut backwards = T::ALL.to_vec();
        backwards.reverse();
        let sorted: Vec<_> = states(&backwards)
            .into_iter()
            .map(|(kind, _)| kind)
            .collect();
        assert_eq!(sorted, T::ALL);
        let priorities: Vec<u8> = T::ALL.iter().map(|kind| kind.priority()).collect();
        assert_eq!(priorities, (1..=10).collect::<Vec<u8>>());
    }

    #[test]
    fn error_recovery_interrupts_everything_else() {
        assert_eq!(
            states(&[
                T::Respond,
                T::RequestClarification,
                T::ErrorRecovery,
                T::ErrorRecovery
            ]),
            [
                (T::ErrorRecovery, State::Next),
                (T::ErrorRecovery, State::Waiting),
                (T::RequestClarification, State::Interrupted),
                (T::Respond, State::Interrupted),
            ]
        );
    }

    #[test]
    fn a_question_blocks_what_comes_after_it() {
        assert_eq!(
            states(&[T::ExecuteWorkflow, T::RequestClarification, T::Continue]),
            [
                (T::RequestClarification, State::Next),
                (T::ExecuteWorkflow, State::Blocked),
                (T::Continue, State::Blocked),
            ]
        );
    }

    #[test]
    fn equals_keep_their_order_and_wait_for_each_other() {
        let places = order(&[
            (4, T::CreateNode),
            (2, T::CreateNode),
            (9, T::SpawnSubagent),
        ]);
        let order: Vec<usize> = places.iter().map(|place| place.index).collect();
        assert_eq!(order, [9, 2, 4]);
        assert_eq!(places.last().and_then(|place| place.held_up_by), Some(2));
        assert!(super::order(&[]).is_empty());
    }
}
