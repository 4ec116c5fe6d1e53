//! Judges what an iteration or a side-by-side run left behind in the workspace.
//!
//! What the gate lets pass stays. The rest is kept whole in a hold, and the
//! workspace is put back; the caller notes the hold's id in between, so that a
//! kill at any moment neither loses the change nor forgets the hold.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::gate::{self, Answer, Asking};
use crate::holds;
use crate::judge::{Action, Actor, Level, PathChange, Policy};
use crate::prefs;
use crate::repo::Workspace;
use crate::runs::delta::Payload;
use crate::runs::gitside;
use crate::runs::left::Left;
use crate::sys::env::Env;
use crate::sys::{clock, failpoint, out};
use crate::vault::{self, SafetyPoint};
use std::path::Path;

/// Where the copies of git's own files lie, below the loop's or run's directory.
const NOTED: &str = "noted";

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

/// Copies what decides which programs git runs, before a command is started.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) fn note(workspace: &Workspace, dir: &Path) -> Result<()> {
    gitside::note(workspace, &dir.join(NOTED))
}

/// Holds changes of the files that decide what git runs, and puts them back; stash entries that were dropped, too.
fn settle_git(env: &Env, workspace: &Workspace, scene: &Scene<'_>, policy: &Policy) -> Result<()> {
    let noted = scene.dir.join(NOTED);
    let dir = scene.dir.join(format!("held-{}", clock::id()));
    if let Some((changes, payload)) = gitside::tampered(workspace, &noted, &dir)? {
        let facts = gitside::facts(&changes, scene.actor.clone(), scene.point);
        let action = Action::WorkspaceDelta {
            from: scene.point.to_owned(),
            changes,
        };
        let json = serde_json::to_value(&payload).doing(ErrorKind::Internal, || {
            "cannot word the held change".to_owned()
        })?;
        let request = gate::Request {
            action: &action,
            facts,
            policy,
            session: None,
            run: Some(scene.run),
            asking: Asking::Never,
            payload: json,
        };
        match gate::pass(env, workspace, request)? {
            Answer::Passed(_) => payload.drop_bytes()?,
            Answer::Held(held) => {
                failpoint::reach();
                payload.put_back(workspace)?;
                let id = held.hold.id;
                out::note(format!(
                    "holdpoint: held (git's own files): {}; put back, and kept in hold {id}\n  look: holdpoint holds show {id}   apply: holdpoint confirm {id}   drop: holdpoint deny {id}",
                    held.verdict.reasoning
                ));
            }
        }
    }
    let back = gitside::put_stashes_back(workspace, &noted)?;
    if !back.is_empty() {
        out::note(format!(
            "holdpoint: stash entries were dropped, and are back: {}",
            back.join("; ")
        ));
    }
    Ok(())
}

/// Judges the changes since the safety point, and holds what needs a person.
///
/// # Errors
/// When the workspace, the vault or the log cannot be read or written.
pub(super) fn settle(env: &Env, workspace: &Workspace, scene: &Scene<'_>) -> Result<Settled> {
    let policy = prefs::policy(env, workspace)?;
    let point = vault::find(env, workspace, Some(scene.point))?;
    settle_git(env, workspace, scene, &policy)?;
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
