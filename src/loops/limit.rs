//! A loop whose iterations are used up, and how a person lets it go on. Pure.

use super::action::{self, Action, Turn};
use super::state::{LoopState, Status};

/// Why a loop fails when its iterations are used up before `next`.
#[must_use]
pub fn used_up(most: u64, next: Action) -> String {
    format!("max_iterations ({most}) reached before {next}")
}

/// Returns true for a loop that failed because its iterations were used up, and for nothing else.
#[must_use]
pub fn gave_up(state: &LoopState) -> bool {
    state.status == Status::Failed
        && state.current_iteration >= state.max_iterations
        && state.failure_reason.as_deref().is_some_and(|reason| {
            [Action::Develop, Action::Debug, Action::Validate]
                .iter()
                .any(|next| reason == used_up(state.max_iterations, *next))
        })
}

/// Sets the most iterations; a loop that had used them up runs again where there are more now.
///
/// # Errors
/// How many are done already, where the new limit leaves a used-up loop none.
pub fn set(state: &mut LoopState, most: u64) -> Result<(), u64> {
    if gave_up(state) {
        if most <= state.current_iteration {
            return Err(state.current_iteration);
        }
        if let Some(to) = action::turn(state.status, Turn::Raise) {
            state.status = to;
            state.failure_reason = None;
        }
    }
    state.max_iterations = most;
    Ok(())
}
