//! Stash entries that a run dropped.

use crate::error::Result;
use crate::repo::{Git, Workspace};
use crate::runs::record;
use std::path::Path;

/// A stash entry: its commit and its message.
pub type Stash = (String, String);

/// The stash entries, newest first.
///
/// # Errors
/// When git cannot list them.
pub fn stashes(workspace: &Workspace) -> Result<Vec<Stash>> {
    let Some(common) = &workspace.common_dir else {
        return Ok(Vec::new());
    };
    // Looked at first, because a process is what a run's start costs most.
    if !common.join("logs/refs/stash").exists() && !common.join("reftable").is_dir() {
        return Ok(Vec::new());
    }
    let listed = Git::at(workspace)
        .args(["log", "-g", "-z", "--format=%H %gs", "refs/stash", "--"])
        .output()?;
    // Without a stash there is no such reference.
    if listed.status != Some(0) {
        return Ok(Vec::new());
    }
    Ok(listed
        .stdout
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .filter_map(|line| {
            let (id, message) = line.split_once(' ')?;
            Some((id.to_owned(), message.to_owned()))
        })
        .collect())
}

/// Puts back the stash entries that went since [`note`], below those that came; returns what they were called.
///
/// # Errors
/// When git cannot store one.
pub fn put_stashes_back(workspace: &Workspace, noted: &Path) -> Result<Vec<String>> {
    let before: Vec<Stash> = record::read(&noted.join("stash.json"))?.unwrap_or_default();
    let now = stashes(workspace)?;
    let gone: Vec<String> = before
        .iter()
        .filter(|entry| !now.contains(entry))
        .map(|(_, message)| message.clone())
        .collect();
    if gone.is_empty() {
        return Ok(gone);
    }
    let came = now.iter().filter(|entry| !before.contains(entry));
    let wanted: Vec<&Stash> = came.chain(&before).collect();
    if !now.is_empty() {
        Git::at(workspace)
            .args(["update-ref", "-d", "refs/stash"])
            .read()?;
    }
    for (id, message) in wanted.into_iter().rev() {
        Git::at(workspace)
            .args(["stash", "store", "-q", "-m", message, id])
            .read()?;
    }
    Ok(gone)
}
