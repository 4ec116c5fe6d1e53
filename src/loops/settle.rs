//! Judges what an iteration left behind in the workspace.

use crate::error::Result;
use crate::judge::{Actor, PathChange};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::vault;

/// The iteration whose traces are judged.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// The loop or side-by-side run.
    pub(super) run: &'a str,
    /// The safety point from before it.
    pub(super) point: Option<&'a str>,
    /// The agent.
    pub(super) actor: &'a Actor,
}

/// What became of an iteration's changes.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Changes that stay.
    pub(super) kept: Vec<PathChange>,
    /// The hold that keeps the rest, which was put back.
    pub(super) hold: Option<String>,
}

/// Compares the workspace with the safety point.
pub(super) fn settle(env: &Env, workspace: &Workspace, scene: &Scene<'_>) -> Result<Settled> {
    let _ = (scene.run, scene.actor);
    let Some(point) = scene.point else {
        return Ok(Settled::default());
    };
    let point = vault::find(env, workspace, Some(point))?;
    let kept = vault::compare(env, workspace, &point)?
        .into_iter()
        .filter(|change| !change.path.starts_with(b".loop/"))
        .collect();
    Ok(Settled { kept, hold: None })
}
