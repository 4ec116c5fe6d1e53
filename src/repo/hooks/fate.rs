//! What becomes of the commits behind a ref that moves or goes away.

use super::transaction;
use crate::error::Result;
use crate::judge::RefChange;
use crate::repo::{Git, Workspace};
use bstr::{BString, ByteSlice as _};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Most lost commits that are listed.
const MOST: usize = 20;

/// What a move of one ref does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// What kind of move it is.
    pub change: RefChange,
    /// Abbreviated id and subject of commits that no other ref reaches.
    pub lost: Vec<String>,
    /// There are more of them than listed.
    pub more: bool,
    /// An annotated tag would be gone, message and signature.
    pub tag_lost: bool,
}

/// Finds out what moving a ref from `old` to `new` does; `new` is `None` for a deletion.
///
/// Commits that any ref outside `moving`, or the new value, reaches are not lost.
///
/// # Errors
/// When git does not answer.
pub fn of(workspace: &Workspace, old: &str, new: Option<&str>, moving: &[BString]) -> Result<Fate> {
    let kind = Git::at(workspace).args(["cat-file", "-t", old]).output()?;
    if kind.status != Some(0) {
        // The object is not here (a shallow clone, a remote's value): nothing of ours is dropped.
        return Ok(Fate {
            change: if new.is_some() {
                RefChange::Rewrite
            } else {
                RefChange::Delete
            },
            lost: Vec::new(),
            more: false,
            tag_lost: false,
        });
    }
    let is_tag = kind.stdout.trim() == b"tag";
    if let Some(new) = new
        && is_ancestor(workspace, old, new)?
        && !is_tag
    {
        return Ok(Fate {
            change: RefChange::FastForward,
            lost: Vec::new(),
            more: false,
            tag_lost: false,
        });
    }
    let is_commit = is_tag || kind.stdout.trim() == b"commit";
    let (lost, more) = if is_commit {
        unreached(workspace, old, new, moving)?
    } else {
        (Vec::new(), false)
    };
    let tag_lost = is_tag && !is_named_elsewhere(workspace, old, moving)?;
    Ok(Fate {
        change: if new.is_some() {
            RefChange::Rewrite
        } else {
            RefChange::Delete
        },
        lost,
        more,
        tag_lost,
    })
}

/// Returns true when `new` contains `old`.
///
/// # Errors
/// When git cannot be started.
pub fn is_ancestor(workspace: &Workspace, old: &str, new: &str) -> Result<bool> {
    let answer = Git::at(workspace)
        .args(["merge-base", "--is-ancestor", old, new])
        .output()?;
    Ok(answer.status == Some(0))
}

/// Returns true when the object is here.
///
/// # Errors
/// When git cannot be started.
pub fn is_here(workspace: &Workspace, oid: &str) -> Result<bool> {
    let answer = Git::at(workspace).args(["cat-file", "-e", oid]).output()?;
    Ok(answer.status == Some(0))
}

/// Lists commits of `old` that neither `new` nor any ref outside `moving` reaches.
///
/// # Errors
/// When git does not answer.
pub fn unreached(
    workspace: &Workspace,
    old: &str,
    new: Option<&str>,
    moving: &[BString],
) -> Result<(Vec<String>, bool)> {
    let mut git = Git::at(workspace).args([
        "log",
        "--no-show-signature",
        "--format=%h %s",
        &format!("--max-count={}", MOST + 1),
    ]);
    git = git.arg(old).arg("--not");
    if let Some(new) = new {
        git = git.arg(new);
    }
    for name in moving {
        // A ref's name cannot hold what a pattern would take for anything else.
        git = git.arg(OsStr::from_bytes(
            &[b"--exclude=", name.as_slice()].concat(),
        ));
    }
    git = git.arg("--glob=refs/*");
    if transaction::branch(workspace)?.is_none() && !moving.iter().any(|name| name == "HEAD") {
        git = git.arg("HEAD");
    }
    let listed = git.arg("--").read()?;
    let mut lost: Vec<String> = listed
        .lines()
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let more = lost.len() > MOST;
    lost.truncate(MOST);
    Ok((lost, more))
}

fn is_named_elsewhere(workspace: &Workspace, oid: &str, moving: &[BString]) -> Result<bool> {
    let listed = Git::at(workspace)
        .args(["for-each-ref", "--format=%(refname)", "--points-at", oid])
        .read()?;
    Ok(listed
        .lines()
        .any(|name| !moving.iter().any(|moving| moving == name)))
}

/// The tree of a commit, as hex; `None` for anything else.
///
/// # Errors
/// When git cannot be started.
pub fn tree_of(workspace: &Workspace, commit: &str) -> Result<Option<String>> {
    let answer = Git::at(workspace)
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(format!("{commit}^{{tree}}"))
        .output()?;
    let tree = answer.stdout.trim();
    Ok((answer.status == Some(0) && !tree.is_empty())
        .then(|| String::from_utf8_lossy(tree).into_owned()))
}
