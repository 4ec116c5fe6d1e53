//! Judges what an iteration or a side-by-side run left behind in the workspace.
//!
//! What the gate lets pass stays. The rest is kept whole in a hold, and the
//! workspace is put back; the caller notes the hold's id in between, so that a
//! kill at any moment neither loses the change nor forgets the hold.

use crate::error::{Error, ErrorKind, Result};
use crate::gate::Answer;
use crate::holds;
use crate::judge::{Actor, Level, PathChange, Policy};
use crate::prefs;
use crate::repo::Workspace;
use crate::runs::delta::Payload;
use crate::runs::left::Left;
use crate::sys::env::Env;
use crate::sys::{clock, failpoint, out};
use crate::vault::{self, SafetyPoint};
use std::path::Path;

/// The iteration or run whose traces are judged.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// The loop or side-by-side run.
    pub(super) run: &'a str,
    /// The safety point from before it.
    pub(super) point: &'a str,
    /// The agent.
    pub(super) actor: &'a Actor,
    /// Where the bytes of a held change are kept.
    pub(super) dir: &'a Path,
}

/// What became of the changes.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Changes that stay.
    pub(super) kept: Vec<PathChange>,
    /// The hold that keeps the rest; it is still to be put back.
    pub(super) hold: Option<String>,
}

impl<'a> Scene<'a> {
    fn left(
        &self,
        (env, workspace): (&'a Env, &'a Workspace),
        (policy, point): (&'a Policy, &'a SafetyPoint),
    ) -> Left<'a> {
        Left {
            env,
            workspace,
            policy,
            point,
            start: point.head.as_deref(),
            actor: self.actor.clone(),
            session: None,
            run: self.run,
        }
    }
}

/// Judges the changes since the safety point, and holds what needs a person.
///
/// # Errors
/// When the workspace, the vault or the log cannot be read or written.
pub(super) fn settle(env: &Env, workspace: &Workspace, scene: &Scene<'_>) -> Result<Settled> {
    let policy = prefs::policy(env, workspace)?;
    let point = vault::find(env, workspace, Some(scene.point))?;
    let left = scene.left((env, workspace), (&policy, &point));
    let changes = left.changes(|path| path.starts_with(b".loop/"))?;
    let parted = left.part(changes.paths)?;
    if !parted.kept.is_empty() {
        left.record(&parted.kept)?;
    }
    let mut settled = Settled {
        kept: parted.kept,
        hold: None,
    };
    if parted.held.is_empty() {
        return Ok(settled);
    }
    let dir = scene.dir.join(format!("held-{}", clock::id()));
    let payload = left.keep(&parted.held, &dir)?;
    failpoint::reach();
    match left.ask(&parted.held, &payload)? {
        Answer::Passed(_) => {
            payload.drop_bytes()?;
            settled.kept.extend(parted.held);
        }
        Answer::Held(answer) => {
            for finding in answer
                .verdict
                .findings
                .iter()
                .filter(|finding| finding.level >= Level::Confirm)
                .take(10)
            {
                out::note(format!(
                    "holdpoint: held ({}): {}",
                    finding.rule, finding.harm
                ));
            }
            settled.hold = Some(answer.hold.id.clone());
        }
    }
    Ok(settled)
}

/// Puts the workspace back where a hold keeps a change; as often as it takes.
///
/// # Errors
/// When a path cannot be written.
pub(super) fn put_back(
    env: &Env,
    workspace: &Workspace,
    scene: &Scene<'_>,
    hold: &str,
) -> Result<()> {
    let hold = holds::find(env, workspace, hold)?;
    if hold.state_now() != holds::State::Pending {
        return Ok(());
    }
    let payload = Payload::of(&hold).ok_or_else(|| {
        Error::new(
            ErrorKind::Damaged,
            format!("the hold {} keeps no change of the workspace", hold.id),
        )
    })?;
    let policy = prefs::policy(env, workspace)?;
    let point = vault::find(env, workspace, Some(scene.point))?;
    let left = scene
        .left((env, workspace), (&policy, &point))
        .put_back(&payload)?;
    if !left.is_empty() {
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        out::note(format!(
            "holdpoint: changed again while it was judged, and left as it is: {}",
            left.join(", ")
        ));
    }
    Ok(())
}
