//! A vault whose workspace was moved: its records are made to tell of the new place.

use super::layout::Vault;
use super::point::{SafetyPoint, ids};
use super::take::point_path;
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::{Move, Workspace, moves};
use crate::sys::failpoint;
use crate::sys::files::{self, Durability};
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Makes the records follow all moves that they have not followed yet.
///
/// Each step may be done twice, so an interrupted one is done again by the next call.
pub(super) fn follow(vault: &Vault, workspace: &Workspace) -> Result<()> {
    let moves = moves(&workspace.state)?;
    if moves.is_empty() {
        return Ok(());
    }
    take_along(vault, &moves)?;
    let count = vault.dir.join("moves");
    if !vault.points().is_dir() || done(&count)? >= moves.len() {
        return Ok(());
    }
    let _name = vault.publish()?;
    for moved in moves.iter().skip(done(&count)?) {
        relocate(vault, moved)?;
    }
    let text = format!("1 {}\n", moves.len());
    files::replace(&count, text.as_bytes(), 0o600, Durability::Synced)
}

/// How many moves the records have followed.
fn done(path: &Path) -> Result<usize> {
    let text = files::read_if_there(path)?.unwrap_or_default();
    let count = text.to_str().ok().and_then(|text| text.strip_prefix("1 "));
    Ok(count
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or_default())
}

/// A vault that `safety.store` keeps elsewhere bears the name of the state directory.
fn take_along(vault: &Vault, moves: &[Move]) -> Result<()> {
    if vault.dir.exists() {
        return Ok(());
    }
    let before = moves
        .iter()
        .rev()
        .map(|moved| vault.dir.with_file_name(&moved.state))
        .find(|dir| dir.is_dir());
    match before {
        Some(before) => fs::rename(&before, &vault.dir).doing(ErrorKind::Io, || {
            format!(
                "cannot move {} to {}",
                before.display(),
                vault.dir.display()
            )
        }),
        None => Ok(()),
    }
}

fn relocate(vault: &Vault, moved: &Move) -> Result<()> {
    let mut worktrees = BTreeSet::from([moved.from.clone()]);
    for id in ids(&vault.points())? {
        let Some(mut point) = SafetyPoint::read(&point_path(vault, &id))? else {
            continue;
        };
        let (worktree, git_dir) = (
            new_place(&point.worktree, moved),
            git_place(&point.git_dir, moved),
        );
        if worktree.is_none() && git_dir.is_none() {
            continue;
        }
        if let Some(worktree) = worktree {
            worktrees.insert(path(&point.worktree));
            point.worktree = worktree;
        }
        point.git_dir = git_dir.unwrap_or(point.git_dir);
        point.stage(&vault.points())?.name()?;
    }
    for worktree in worktrees {
        let was = BString::from(worktree.as_os_str().as_bytes());
        if let Some(now) = new_place(&was, moved) {
            rename_parts(vault, &worktree, &path(&now))?;
        }
    }
    Ok(())
}

/// The new place of what lay at or below the old one.
fn new_place(place: &BString, moved: &Move) -> Option<BString> {
    let place = path(place);
    if place.starts_with(&moved.to) {
        return None;
    }
    let rest = place.strip_prefix(&moved.from).ok()?;
    let now = if rest.as_os_str().is_empty() {
        moved.to.clone()
    } else {
        moved.to.join(rest)
    };
    Some(now.as_os_str().as_bytes().into())
}

/// The new place of a git directory, which may have been moved along beside the worktree.
fn git_place(place: &BString, moved: &Move) -> Option<BString> {
    if let Some(now) = new_place(place, moved) {
        return Some(now);
    }
    let place = path(place);
    let both = moved.from.ancestors().zip(moved.to.ancestors());
    both.take_while(|(from, to)| from.file_name().is_some() && from.file_name() == to.file_name())
        .filter_map(|(from, to)| from.parent().zip(to.parent()))
        .filter(|(from, to)| from != to && !place.exists())
        .filter_map(|(from, to)| Some(to.join(place.strip_prefix(from).ok()?)))
        .find(|now| now.join("HEAD").exists())
        .map(|now| now.as_os_str().as_bytes().into())
}

fn path(bytes: &BString) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Gives a worktree's stat cache and the list of its rollbacks their new names.
fn rename_parts(vault: &Vault, from: &Path, to: &Path) -> Result<()> {
    let (old, new) = (Vault::key_of(from), Vault::key_of(to));
    for part in ["cache", "rollback"] {
        let dir = vault.dir.join(part);
        let doing = || format!("cannot rename what is in {}", dir.display());
        for entry in fs::read_dir(&dir).doing(ErrorKind::Io, doing)? {
            let name = entry.doing(ErrorKind::Io, doing)?.file_name();
            let Some(suffix) = name.as_bytes().strip_prefix(old.as_bytes()) else {
                continue;
            };
            if suffix != b".lock" {
                failpoint::reach();
                let renamed = [new.as_bytes(), suffix].concat();
                fs::rename(dir.join(&name), dir.join(OsStr::from_bytes(&renamed)))
                    .doing(ErrorKind::Io, doing)?;
            }
        }
    }
    Ok(())
}
