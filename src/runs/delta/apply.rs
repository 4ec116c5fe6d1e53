//! Held changes carried out on a person's word: whole, or not at all.

use super::{Kept, Payload};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::holds::{Hold, State};
use crate::repo::{Git, Workspace};
use crate::runs::beneath::{self, Content};
use crate::runs::gitside::RefPayload;
use crate::sys::env::Env;
use crate::sys::{failpoint, files};
use crate::vault;
use bstr::{BString, ByteSlice as _};
use std::fs;
use std::path::PathBuf;

/// A side of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What was there before the run.
    Before,
    /// What the run left.
    After,
}

/// What applying a held change did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Paths that are as the run left them.
    pub applied: Vec<BString>,
    /// Paths that had moved on, into which the run's change was merged.
    pub merged: Vec<BString>,
    /// Paths that had moved on so that the change does not fit: left as they are.
    pub conflicts: Vec<BString>,
}

/// The note that a confirmed change is being applied; it goes when that is done.
const APPLYING: &str = "applying";

/// Whether a hold is of a run's change that a person has confirmed and that is not applied to the end.
///
/// So it is where the process that was to apply it was killed.
#[must_use]
pub fn is_unfinished(hold: &Hold) -> bool {
    let dir = Payload::of(hold)
        .map(|payload| payload.dir)
        .or_else(|| RefPayload::of(hold).and_then(|payload| payload.dir));
    let Some(dir) = dir else {
        return false;
    };
    match hold.state_now() {
        State::Confirmed => true,
        State::Used => fs::read(dir.join(APPLYING)).is_ok_and(|id| id == hold.id.as_bytes()),
        State::Pending | State::Denied | State::Expired => false,
    }
}

/// The paths or refs of a held change of a run that have moved on so that it does not fit any more.
///
/// # Errors
/// When the workspace or the kept bytes cannot be read.
pub fn misfits(workspace: &Workspace, hold: &Hold) -> Result<Vec<BString>> {
    if let Some(refs) = RefPayload::of(hold) {
        return refs.misfits(workspace);
    }
    Ok(match Payload::of(hold) {
        Some(payload) => plan(workspace, &payload)?.done.conflicts,
        None => Vec::new(),
    })
}

/// Carries out a confirmed hold of a run's change, once; `None` for a hold of something else.
///
/// What a killed call began is finished by the next.
///
/// # Errors
/// When no safety point can be taken first, or a path cannot be written.
pub fn carry_out(env: &Env, workspace: &Workspace, hold: &Hold) -> Result<Option<Applied>> {
    let payload = Payload::of(hold);
    let refs = RefPayload::of(hold);
    let dir = match (&payload, &refs) {
        (Some(payload), _) => Some(payload.dir.clone()),
        (_, Some(refs)) => refs.dir.clone(),
        (None, None) => return Ok(None),
    };
    let actor = crate::sys::actor::detect(env);
    vault::save(
        env,
        workspace,
        &vault::Request {
            run: hold.run.clone(),
            ..vault::Request::new("before a confirmed change is applied", actor)
        },
    )?;
    let unfinished = is_unfinished(hold);
    if !(hold.state_now() == State::Used && unfinished) {
        if let Some(dir) = &dir {
            let note = dir.join(APPLYING);
            files::replace(&note, hold.id.as_bytes(), 0o600, files::Durability::Synced)?;
        }
        failpoint::reach();
        let taken = unfinished && crate::holds::take_again(env, workspace, hold)?
            || crate::holds::take_confirmed(env, workspace, &hold.action_hash)?.is_some();
        if !taken {
            return Err(Error::new(
                ErrorKind::Refused,
                format!("the hold {} is not confirmed, or was used already", hold.id),
            ));
        }
    }
    failpoint::reach();
    let applied = match (payload, refs) {
        (Some(payload), _) => Some(apply(workspace, &payload)?),
        (None, Some(refs)) => {
            refs.apply(workspace)?;
            Some(Applied {
                applied: refs.updates.into_iter().map(|update| update.name).collect(),
                ..Applied::default()
            })
        }
        (None, None) => None,
    };
    let is_whole = applied
        .as_ref()
        .is_some_and(|applied| applied.conflicts.is_empty());
    if let Some(dir) = dir.filter(|_| is_whole) {
        let note = dir.join(APPLYING);
        fs::remove_file(&note).doing(ErrorKind::Io, || {
            format!("cannot remove {}", note.display())
        })?;
    }
    Ok(applied)
}

/// What is to be done to apply a held change.
#[derive(Debug, Default)]
struct Plan<'a> {
    done: Applied,
    puts: Vec<(&'a Kept, Content)>,
}

/// Works out what applying a held change comes to; three-way where the files moved on since.
fn plan<'a>(workspace: &Workspace, payload: &'a Payload) -> Result<Plan<'a>> {
    let mut plan = Plan::default();
    // What goes away goes first: a directory may become a file.
    let (gone, others): (Vec<&Kept>, Vec<&Kept>) = payload
        .paths
        .iter()
        .partition(|kept| kept.mode_after.is_empty());
    for kept in gone.into_iter().chain(others) {
        let path = kept.path.as_bstr();
        let after = payload.side(kept, Side::After)?;
        let before = payload.side(kept, Side::Before)?;
        // Where a link or a file is in the way of its directory, the path has moved on as well.
        let Ok(now) = beneath::read(payload.root(workspace), path) else {
            plan.done.conflicts.push(kept.path.clone());
            continue;
        };
        if now == after {
            plan.done.applied.push(kept.path.clone());
        } else if now == before {
            plan.done.applied.push(kept.path.clone());
            plan.puts.push((kept, after));
        } else if let Some(merged) = merge(&before, &now, &after)? {
            plan.done.merged.push(kept.path.clone());
            if merged != now {
                plan.puts.push((kept, merged));
            }
        } else {
            plan.done.conflicts.push(kept.path.clone());
        }
    }
    Ok(plan)
}

/// Applies a held change that a person confirmed, whole or not at all; three-way where files moved on since.
///
/// Where one path has moved on so that its change does not fit, nothing is written.
///
/// # Errors
/// When a path cannot be read or written.
pub fn apply(workspace: &Workspace, payload: &Payload) -> Result<Applied> {
    let plan = plan(workspace, payload)?;
    if !plan.done.conflicts.is_empty() {
        return Ok(Applied {
            conflicts: plan.done.conflicts,
            ..Applied::default()
        });
    }
    let root = payload.root(workspace);
    for (kept, content) in &plan.puts {
        failpoint::reach();
        beneath::put(root, kept.path.as_bstr(), content, &payload.tag(kept))?;
        if *content == Content::Absent {
            payload.remove_emptied(root, kept.path.as_bstr());
        }
    }
    Ok(plan.done)
}

/// Merges two changes of a text; `None` where they do not fit together.
fn merge(before: &Content, now: &Content, after: &Content) -> Result<Option<Content>> {
    let (
        Content::File {
            bytes: base,
            mode: base_mode,
        },
        Content::File { bytes: ours, mode },
        Content::File {
            bytes: theirs,
            mode: their_mode,
        },
    ) = (before, now, after)
    else {
        return Ok(None);
    };
    let dir = tempfile_dir()?;
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf> {
        let path = dir.join(name);
        files::replace(&path, bytes, 0o600, files::Durability::Lazy)?;
        Ok(path)
    };
    let (ours, base, theirs) = (
        write("ours", ours)?,
        write("base", base)?,
        write("theirs", theirs)?,
    );
    let output = Git::bare()
        .args(["merge-file", "-p", "-q"])
        .arg(&ours)
        .arg(&base)
        .arg(&theirs)
        .output()?;
    // The directory is only ours; what stays of it is a temporary file.
    let _ = fs::remove_dir_all(&dir);
    Ok((output.status == Some(0)).then_some(Content::File {
        bytes: output.stdout,
        mode: if their_mode == base_mode {
            *mode
        } else {
            *their_mode
        },
    }))
}

fn tempfile_dir() -> Result<PathBuf> {
    let dir = std::env::temp_dir().join(format!("holdpoint-merge-{}", ulid::Ulid::generate()));
    files::make_private_dir(&dir)?;
    Ok(dir)
}
