//! What is left of the git directory that a point holds.
//!
//! A rollback leaves alone much that has changed in a repository since. That is
//! right only while it is the same repository: where it is gone, or another one
//! lies in its place, all of it comes back.

use super::Present;
use crate::error::Result;
use crate::repo::{Git, Workspace};
use crate::vault::diff::{Difference, Trees};
use crate::vault::point::SafetyPoint;
use crate::vault::refs;
use crate::vault::tree::Kind;
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Returns true where a file or a link has taken the place of the point's own `.git` directory.
pub(super) fn is_displaced(workspace: &Workspace, target: &SafetyPoint) -> bool {
    let dot_git = workspace.root.join(".git");
    !target.detached_git
        && target.git_dir == dot_git.as_os_str().as_bytes()
        && std::fs::symlink_metadata(&dot_git).is_ok_and(|meta| !meta.is_dir())
}

/// Returns true where the point's git directory is the one that is there now, or none is.
pub(super) fn is_same_place(workspace: &Workspace, target: &SafetyPoint) -> bool {
    let Some(now) = workspace.common_dir.as_deref() else {
        return true;
    };
    let is_own = |root: &Path, git_dir: &Path| git_dir == root.join(".git");
    let path = |bytes: &BString| PathBuf::from(OsStr::from_bytes(bytes));
    let (root, then) = (path(&target.worktree), path(&target.git_dir));
    then == now || (is_own(&root, &then) && is_own(&workspace.root, now))
}

/// Returns true where a `.git` file or link of the point names a git directory that is not there any more.
///
/// The repository was moved since; what names it now must stay.
pub(super) fn is_outdated(
    workspace: &Workspace,
    difference: &Difference,
    trees: &Trees<'_>,
) -> Result<bool> {
    let (Some(now), Some(then)) = (&difference.before, &difference.after) else {
        return Ok(false);
    };
    let may_name = |kind| matches!(kind, Kind::File | Kind::Link);
    if difference.path != ".git" || !may_name(now.kind) || !may_name(then.kind) {
        return Ok(false);
    }
    let bytes = trees.store.read(&then.id)?;
    let named = match then.kind {
        Kind::Link => Some(bytes.as_slice()),
        _ => bytes.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii),
    };
    Ok(workspace.git_dir.is_some()
        && named.is_some_and(|named| !workspace.root.join(OsStr::from_bytes(named)).is_dir()))
}

/// Returns true where what has taken the git directory's place can be taken away.
pub(super) fn goes_away(now: &Present<'_>, trees: &Trees<'_>) -> Result<bool> {
    let Some(work) = now.work else {
        return Ok(true);
    };
    let row = trees.find(&work.tree, b".git")?;
    Ok(row.is_none_or(|row| !matches!(row.kind, Kind::NotHeld(_) | Kind::Socket | Kind::Device)))
}

/// Returns true when there is no git directory left to speak of.
///
/// Without its `HEAD` alone it still has its branches, and they may have moved since.
pub(super) fn is_gone(now: &Present<'_>, trees: &Trees<'_>) -> Result<bool> {
    let Some(git) = now.git else {
        return Ok(true);
    };
    let rows = trees.get(&git.tree)?;
    let has = |name: &[u8]| rows.get(name).is_some_and(|row| row.kind == Kind::Dir);
    Ok(!has(b"objects") || !has(b"refs"))
}

/// Returns true where no commit that the point's refs name is left in the git directory:
/// another repository was made in its place, or its objects are lost and with them
/// whatever was committed since.
pub(super) fn is_replaced(
    workspace: &Workspace,
    target: &SafetyPoint,
    differences: &[Difference],
    trees: &Trees<'_>,
) -> Result<bool> {
    let is_lost = |difference: &&Difference| {
        let row = difference.after.as_ref();
        row.is_some_and(|row| row.kind.is_object())
            && difference.path.starts_with(b"objects/")
            && is_missing(difference)
    };
    let lost = differences.iter().filter(is_lost).count();
    if lost == 0 {
        return Ok(false);
    }
    let tips = tips(target, trees)?;
    if tips.is_empty() {
        return Ok(false);
    }
    let count = tips.len();
    let asked: String = tips.into_iter().map(|tip| tip + "\n").collect();
    // They may all have gone into a new pack.
    let answer = Git::at(workspace)
        .args(["cat-file", "--batch-check"])
        .input(asked.into_bytes())
        .read();
    match answer {
        Ok(answer) => {
            let missing = answer.lines().filter(|line| line.ends_with(b" missing"));
            Ok(missing.count() == count)
        }
        // git does not take it for a repository: then its files have to tell.
        Err(_) => Ok(lost == objects(target, trees)?),
    }
}

/// How many files of git's object database the point has.
fn objects(target: &SafetyPoint, trees: &Trees<'_>) -> Result<usize> {
    let row = match target.git {
        Some(git) => trees.find(&git.tree, b"objects")?,
        None => None,
    };
    let Some(row) = row.filter(|row| row.kind == Kind::Dir) else {
        return Ok(0);
    };
    let files = trees.diff(None, Some(row.id))?;
    let files = files.iter().filter_map(|file| file.after.as_ref());
    Ok(files.filter(|row| row.kind.is_object()).count())
}

/// The commits and tags that the point's refs name, as far as they lie in files.
fn tips(target: &SafetyPoint, trees: &Trees<'_>) -> Result<BTreeSet<String>> {
    let mut tips: BTreeSet<String> = target.head.iter().cloned().collect();
    let Some(git) = target.git else {
        return Ok(tips);
    };
    let is_ref = |name: &BString| *name == "packed-refs" || name.starts_with(b"refs");
    for row in trees.get(&git.tree)?.rows {
        if !is_ref(&row.name) {
            continue;
        }
        let files = match row.kind {
            Kind::Dir => trees.diff(None, Some(row.id))?,
            _ => Vec::new(),
        };
        let below = files.into_iter().filter_map(|file| file.after);
        for file in below.chain([row]).filter(|row| row.kind == Kind::File) {
            let bytes = trees.store.read(&file.id)?;
            let names = bytes.lines().filter_map(|line| line.fields().next());
            tips.extend(names.filter_map(refs::object));
        }
    }
    Ok(tips)
}

/// Returns true where nothing is there, or something of another kind than was.
pub(super) fn is_missing(difference: &Difference) -> bool {
    difference.before.as_ref().map(|row| row.kind) != difference.after.as_ref().map(|row| row.kind)
        && difference.after.is_some()
}
