//! When a gate was last called: a gate that has stopped looks like one that passes.

use super::fate;
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::{Git, Workspace};
use crate::sys::files;
use bstr::ByteSlice as _;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Notes that the gate `name` was called just now.
///
/// # Errors
/// When the note cannot be written.
pub fn beat(workspace: &Workspace, name: &str) -> Result<()> {
    let path = path(workspace, name);
    let touch = || {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()))
    };
    if touch().is_err() {
        files::make_private_dir(&workspace.state.join("install"))?;
        touch().doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// When the gate was last called; `None` when never.
#[must_use]
pub fn last(workspace: &Workspace, name: &str) -> Option<SystemTime> {
    fs::metadata(path(workspace, name))
        .and_then(|meta| meta.modified())
        .ok()
}

/// A branch that was moved off commits, as its reflog has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// When.
    pub when: SystemTime,
    /// The branch's short name.
    pub branch: String,
    /// What moved it, in the reflog's words.
    pub how: String,
}

/// Most entries of the reflogs that are looked at.
const MOST: &str = "--max-count=500";

/// The newest move of a branch after `since` that left commits behind.
///
/// Git asks a hook before every one of these; a move forward is looked at by none.
///
/// # Errors
/// When git does not answer.
pub fn newest_move(workspace: &Workspace, since: SystemTime) -> Result<Option<Move>> {
    let answer = Git::at(workspace)
        .args(["log", "--walk-reflogs", "--branches", MOST])
        .args(["--date=unix", "--format=%gD %H %gs", "--"])
        .output()?;
    // Newest first: an entry's old value is the new one of the next entry of the same branch.
    let mut later: HashMap<Vec<u8>, (SystemTime, String, String)> = HashMap::new();
    for line in answer.stdout.lines() {
        let Some((branch, when, new, how)) = entry(line) else {
            continue;
        };
        if let Some((moved, to, how)) = later.remove(branch)
            && to != new
            && !fate::is_ancestor(workspace, new, &to)?
        {
            return Ok(Some(Move {
                when: moved,
                branch: branch.to_str_lossy().into_owned(),
                how,
            }));
        }
        if when > since {
            later.insert(branch.to_vec(), (when, new.to_owned(), how.to_owned()));
        }
    }
    Ok(None)
}

/// Reads `refs/heads/main@{1700000000} ID MESSAGE`.
fn entry(line: &[u8]) -> Option<(&[u8], SystemTime, &str, &str)> {
    let (selector, rest) = line.split_once_str(" ")?;
    let (name, time) = selector.strip_suffix(b"}")?.rsplit_once_str("@{")?;
    let (id, how) = rest.to_str().ok()?.split_once(' ')?;
    let seconds = time.to_str().ok()?.parse().ok()?;
    let when = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    let branch = name.strip_prefix(b"refs/heads/").unwrap_or(name);
    Some((branch, when, id, how))
}

fn path(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.state.join(format!("install/seen-{name}"))
}
