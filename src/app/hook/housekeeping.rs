//! `pre-auto-gc`: nothing is cleared away while somebody may still want it back.

use super::scene::Scene;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::holds::{self, State};
use crate::repo::hooks::caller::Caller;
use crate::sys::out;

/// Puts automatic housekeeping off while a hold waits for a person.
///
/// # Errors
/// When the holds cannot be read; git then leaves everything as it is.
pub(super) fn judge(caller: Option<Caller>) -> Result<ExitStatus> {
    let scene = Scene::look(caller)?;
    if scene.would_show() {
        return Ok(ExitStatus::Passed);
    }
    let waiting = holds::list(&scene.env, &scene.workspace)?
        .iter()
        .filter(|hold| matches!(hold.state_now(), State::Pending | State::Confirmed))
        .count();
    if waiting == 0 || scene.policy.observe {
        return Ok(ExitStatus::Passed);
    }
    out::note(format!(
        "holdpoint: automatic gc waits, {waiting} held actions may still need what it would clear away (holdpoint holds)"
    ));
    Ok(ExitStatus::Held)
}
