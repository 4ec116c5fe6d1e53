//! Files that git does not hold, where a tree that is to be checked out has files of its own.

use super::{Git, Tracked, Workspace, is_ignored};
use crate::error::Result;
use bstr::{BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

/// Which files give way to a tree's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveWay {
    /// Ignored ones only; for any other git refuses.
    Ignored,
    /// Every one that is not tracked.
    All,
}

/// Lists files on disk that checking out `target` would overwrite with another content.
///
/// # Errors
/// When git does not answer.
pub fn overwritten(
    workspace: &Workspace,
    tracked: &Tracked,
    target: &str,
    which: GiveWay,
) -> Result<Vec<BString>> {
    let listed = Git::at(workspace)
        .args(["diff-tree", "-r", "-z", "--no-renames", "--name-only"])
        .args(["--diff-filter=A", "HEAD", target, "--"])
        .read()?;
    let mut found = Vec::new();
    for path in listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
    {
        let file = workspace.root.join(OsStr::from_bytes(path));
        let Ok(meta) = fs::symlink_metadata(&file) else {
            continue;
        };
        if meta.is_dir() || tracked.holds(path.as_bstr()) {
            continue;
        }
        if which == GiveWay::Ignored && !is_ignored(workspace, path.as_bstr(), false)? {
            continue;
        }
        let blob = [target.as_bytes(), b":", path].concat();
        let theirs = Git::at(workspace)
            .args(["cat-file", "blob"])
            .arg(OsStr::from_bytes(&blob))
            .output()?;
        let same = meta.is_file() && fs::read(&file).is_ok_and(|bytes| bytes == theirs.stdout);
        if !same {
            found.push(path.into());
        }
    }
    Ok(found)
}
