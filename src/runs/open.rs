//! Runs that are not over: who has them, and what to type where nobody does.
//!
//! Every run has a mark in `runs.open/` until its end is written down, so that
//! a command that only wants to tell a person need not read every snapshot.

use super::record::{self, Dir, Run, Started};
use super::tree::Identity;
use crate::error::Result;
use crate::repo::Workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the marks, beside that of the runs.
const OPEN: &str = "runs.open";

/// Who has a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is over.
    Over,
    /// Its wrapper leads it.
    Led,
    /// Its wrapper was killed; the command still runs under its watch and time limit.
    Unled,
    /// Nobody: what it left is not judged yet.
    Interrupted,
}

impl Standing {
    /// Finds out who has a run.
    ///
    /// # Errors
    /// When the notes of its last start cannot be read.
    pub fn of(dir: &Dir, run: &Run) -> Result<Self> {
        if run.is_over() {
            return Ok(Self::Over);
        }
        if run.lead.is_some_and(Identity::lives) {
            return Ok(Self::Led);
        }
        let started: Option<Started> = match run.last() {
            Some(attempt) => record::read(&dir.attempt(attempt.number).join("started.json"))?,
            None => None,
        };
        Ok(if started.is_some_and(|started| started.leash.lives()) {
            Self::Unled
        } else {
            Self::Interrupted
        })
    }
}

fn mark(dir: &Dir) -> Option<PathBuf> {
    let path = dir.path();
    Some(path.parent()?.with_file_name(OPEN).join(path.file_name()?))
}

/// Sets or takes away a run's mark.
///
/// A mark only saves looking: where it cannot be written, `ps` still finds the run by its snapshot.
pub(super) fn note(dir: &Dir, run: &Run) {
    let Some(mark) = mark(dir) else { return };
    if run.is_over() {
        let _ = fs::remove_file(&mark);
    } else if !mark.exists() {
        let _ = mark
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&mark, ""));
    }
}

/// Runs that are not over, oldest first, each with who has it.
///
/// # Errors
/// When a snapshot cannot be read.
pub fn runs(workspace: &Workspace) -> Result<Vec<(Run, Standing)>> {
    let Ok(entries) = fs::read_dir(workspace.state.join(OPEN)) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        let dir = Dir::of(workspace, &id);
        // A mark without a snapshot is one of a run that died before its first step.
        if !dir.path().join("run.json").exists() {
            let _ = fs::remove_file(entry.path());
            continue;
        }
        let run = dir.load()?;
        let standing = Standing::of(&dir, &run)?;
        if standing == Standing::Over {
            let _ = fs::remove_file(entry.path());
        } else {
            found.push((run, standing));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
    Ok(found)
}

/// What a person should know of a run before something else is started; `None` where all is well.
#[must_use]
pub fn warning(run: &Run, standing: Standing, root: &Path) -> Option<String> {
    let id = &run.id;
    match standing {
        Standing::Led if run.cwd.starts_with(root) => Some(format!(
            "run {id} ({}) is going on in this workspace: what changes meanwhile is judged at the end of both",
            run.options.agent
        )),
        Standing::Over | Standing::Led => None,
        Standing::Unled => Some(format!(
            "the wrapper of run {id} ({}) was killed, and the command still runs; wait for it: holdpoint run --resume {id}   or end it: holdpoint stop {id}",
            run.options.agent
        )),
        Standing::Interrupted => Some(format!(
            "run {id} ({}) was interrupted, and what it left is not judged yet; go on: holdpoint run --resume {id}",
            run.options.agent
        )),
    }
}
