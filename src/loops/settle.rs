//! Judges what an iteration or a side-by-side run left behind in the workspace.
//!
//! What the gate lets pass stays. The rest is kept whole in a hold, and the
//! workspace is put back; the caller notes the hold's id in between, so that a
//! kill at any moment neither loses the change nor forgets the hold.

use crate::assess;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::gate::{self, Answer, Asking, Held};
use crate::holds;
use crate::judge::{
    self, Action, Actor, ChangeOp, Coverage, Facts, Level, PathChange, Policy, RuleId, Verdict,
};
use crate::prefs;
use crate::repo::Workspace;
use crate::runs::delta::{self, Payload};
use crate::sys::env::Env;
use crate::sys::{clock, failpoint, out};
use crate::vault::{self, SafetyPoint};
use bstr::{BString, ByteSlice as _};
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

/// Judges the changes since the safety point, and holds what needs a person.
///
/// # Errors
/// When the workspace, the vault or the log cannot be read or written.
pub(super) fn settle(env: &Env, workspace: &Workspace, scene: &Scene<'_>) -> Result<Settled> {
    let policy = prefs::policy(env, workspace)?;
    let point = vault::find(env, workspace, Some(scene.point))?;
    let changes = changes(env, workspace, &policy, &point)?;
    let gate = Gate {
        env,
        workspace,
        scene,
        policy: &policy,
        point: &point,
    };
    let verdict = judge::judge(&gate.facts(&changes)?, &policy);
    let (held, kept) = part(changes, &verdict);
    if !kept.is_empty() {
        gate.pass(&kept, serde_json::Value::Null)?;
    }
    let mut settled = Settled { kept, hold: None };
    if held.is_empty() {
        return Ok(settled);
    }
    let dir = scene.dir.join(format!("held-{}", clock::id()));
    let payload = delta::keep(env, workspace, &point, &held, &dir)?;
    failpoint::reach();
    let json = serde_json::to_value(&payload).doing(ErrorKind::Internal, || {
        "cannot word the held change".to_owned()
    })?;
    match gate.pass(&held, json)? {
        None => {
            payload.drop_bytes()?;
            settled.kept.extend(held);
        }
        Some(answer) => {
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
    let left = payload.put_back(workspace)?;
    let point = vault::find(env, workspace, Some(scene.point))?;
    payload.remove_new_dirs(env, workspace, &point)?;
    if !left.is_empty() {
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        out::note(format!(
            "holdpoint: changed again while it was judged, and left as it is: {}",
            left.join(", ")
        ));
    }
    Ok(())
}

/// What changed since the point, Holdpoint's own files left out.
fn changes(
    env: &Env,
    workspace: &Workspace,
    policy: &Policy,
    point: &SafetyPoint,
) -> Result<Vec<PathChange>> {
    let mut changes: Vec<PathChange> = vault::compare(env, workspace, point)?
        .into_iter()
        .filter(|change| {
            !change.path.starts_with(b".loop/") && !assess::delta::is_own_log(change.path.as_bstr())
        })
        .collect();
    let forbids = policy
        .contract
        .as_ref()
        .is_some_and(|contract| !contract.forbidden.is_empty());
    if !forbids {
        return Ok(changes);
    }
    for change in &mut changes {
        if change.op == ChangeOp::Delete || change.mode_after == "120000" {
            continue;
        }
        let before = if change.mode_before.is_empty() {
            Vec::new()
        } else {
            vault::content(env, workspace, point, old_path(change).as_bstr())?.unwrap_or_default()
        };
        let path = workspace.root.join(change.path.to_path_lossy());
        let after = crate::sys::files::read_if_there(&path)?.unwrap_or_default();
        change.added = assess::delta::added_lines(&before, &after);
    }
    Ok(changes)
}

fn old_path(change: &PathChange) -> &BString {
    match &change.op {
        ChangeOp::Rename { from } => from,
        ChangeOp::Create | ChangeOp::Modify | ChangeOp::Delete => &change.path,
    }
}

/// Parts changes into those that a person has to agree to and those that stay.
fn part(changes: Vec<PathChange>, verdict: &Verdict) -> (Vec<PathChange>, Vec<PathChange>) {
    let serious: Vec<_> = verdict
        .findings
        .iter()
        .filter(|finding| finding.level >= Level::Confirm)
        .collect();
    // A finding about the change as a whole holds the whole change.
    let all = serious.iter().any(|finding| {
        finding.rule == RuleId::FileBulk
            || !changes.iter().any(|change| change.path == finding.subject)
    });
    let named = |path: &BString| serious.iter().any(|finding| &finding.subject == path);
    let held: Vec<BString> = changes
        .iter()
        .map(|change| &change.path)
        .filter(|path| all || named(path))
        .cloned()
        .collect();
    // What stands where a held path was has to make room for it.
    let in_the_way = |path: &BString| {
        held.iter().any(|held| {
            held == path
                || held
                    .strip_prefix(path.as_slice())
                    .is_some_and(|rest| rest.first() == Some(&b'/'))
        })
    };
    changes
        .into_iter()
        .partition(|change| in_the_way(&change.path))
}

struct Gate<'a> {
    env: &'a Env,
    workspace: &'a Workspace,
    scene: &'a Scene<'a>,
    policy: &'a Policy,
    point: &'a SafetyPoint,
}

impl Gate<'_> {
    fn facts(&self, changes: &[PathChange]) -> Result<Facts> {
        let paths: Vec<BString> = changes
            .iter()
            .filter(|change| change.op != ChangeOp::Create)
            .map(|change| old_path(change).clone())
            .collect();
        let coverage = if paths.is_empty() {
            Coverage::Held {
                point: self.point.id.clone(),
            }
        } else {
            vault::coverage(self.point, &paths)
        };
        assess::delta::facts(
            self.env,
            self.workspace,
            changes,
            self.point.head.as_deref(),
            coverage,
            self.scene.actor.clone(),
        )
    }

    /// Sends changes through the gate; returns the answer where they are held.
    fn pass(&self, changes: &[PathChange], payload: serde_json::Value) -> Result<Option<Held>> {
        let action = Action::WorkspaceDelta {
            from: self.point.id.clone(),
            changes: changes.to_vec(),
        };
        let answer = gate::pass(
            self.env,
            self.workspace,
            gate::Request {
                action: &action,
                facts: self.facts(changes)?,
                policy: self.policy,
                session: None,
                run: Some(self.scene.run),
                asking: Asking::Never,
                payload,
            },
        )?;
        let (warnings, held) = match answer {
            Answer::Passed(passed) => (passed.warnings, None),
            Answer::Held(held) => (held.warnings.clone(), Some(held)),
        };
        for warning in warnings {
            out::note(format!("holdpoint: {warning}"));
        }
        Ok(held)
    }
}
