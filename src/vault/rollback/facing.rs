//! The workspace as the point that is put back sees it.
//!
//! A `.git` that is a file or a link belongs to the worktree's own picture, and the
//! git directory that it names lies elsewhere. Where a directory, or another
//! repository, has taken its place since, git's own view of the workspace is not
//! the one that the point has: what is at `.git` now is then a part of the worktree,
//! held and taken away like any other, and the git directory is the point's.

use crate::error::Result;
use crate::repo::{Kind as Place, Workspace, is_git_dir};
use crate::vault::layout::Vault;
use crate::vault::point::SafetyPoint;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Looks at `workspace` the way in which `target` was taken.
pub(super) fn facing(
    vault: &Vault,
    workspace: &Workspace,
    target: &SafetyPoint,
) -> Result<Workspace> {
    let named = PathBuf::from(OsStr::from_bytes(&target.git_dir));
    let dot_git = workspace.root.join(".git");
    let has_own = std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| meta.is_dir());
    let lies_there = !target.git_dir.is_empty() && is_git_dir(&named);
    if matches!(workspace.kind, Place::Linked | Place::Bare)
        || !target.is_of(workspace)
        || workspace.common_dir.as_ref() == Some(&named)
        || !(has_own || lies_there)
        || !holds_dot_git(vault, target)?
    {
        return Ok(workspace.clone());
    }
    let git_dir = lies_there.then_some(named);
    let kind = match (&git_dir, target.detached_git) {
        (None, _) => Place::Plain,
        (Some(_), true) => Place::Submodule,
        (Some(_), false) => Place::Main,
    };
    Ok(Workspace {
        kind,
        common_dir: git_dir.clone(),
        git_dir,
        ..workspace.clone()
    })
}

/// Returns true where the point has something at `.git` in its worktree.
fn holds_dot_git(vault: &Vault, target: &SafetyPoint) -> Result<bool> {
    let Some(work) = target.work else {
        return Ok(false);
    };
    Ok(vault.store.tree(&work.tree)?.get(b".git").is_some())
}
