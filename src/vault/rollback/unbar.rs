//! Opens what only its permission bits close to its owner.
//!
//! After `chmod -R 000` every byte is still there, but the point that a rollback takes
//! first could not hold it, and nothing may be replaced that no point holds. So the
//! owner's own bits come back before the picture is taken, where the point that is
//! put back could read the path, and only there.

use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::vault::diff::{Trees, no_trees};
use crate::vault::layout::Vault;
use crate::vault::look::Now;
use crate::vault::point::{NotHeld, SafetyPoint};
use crate::vault::rollback::plan::in_paths;
use crate::vault::tree::{Kind, Why};
use bstr::{BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What an owner needs to list a directory and to change what is in it.
const DIR: u32 = 0o700;
/// What an owner needs to read a file.
const FILE: u32 = 0o400;

/// Opens the tops of the worktree and of the git directory.
pub(super) fn tops(workspace: &Workspace, target: &SafetyPoint) -> Result<()> {
    let git = workspace.common_dir.as_deref().zip(target.git);
    for (top, then) in [(&*workspace.root, target.work)]
        .into_iter()
        .filter_map(|(top, then)| Some((top, then?)))
        .chain(git)
    {
        if then.mode & DIR == DIR {
            open(top)?;
        }
    }
    Ok(())
}

/// Opens what a look could not read; returns true where looking again is worth while.
pub(super) fn below(
    vault: &Vault,
    workspace: &Workspace,
    target: &SafetyPoint,
    paths: &[BString],
    now: &Now,
) -> Result<bool> {
    let closed = |gap: &&NotHeld| gap.why == Why::Unreadable && in_paths(&gap.path, paths);
    let mut opened = false;
    for gap in now.not_held.iter().filter(closed) {
        let side = Side::of(workspace, target, &gap.path);
        opened |= side.open_all(vault, &gap.path)?;
    }
    Ok(opened)
}

/// The tree of a point to which a path belongs, and where that lies.
struct Side<'a> {
    top: &'a Path,
    tree: Option<crate::vault::ContentId>,
    prefix: &'static [u8],
}

impl<'a> Side<'a> {
    fn of(workspace: &'a Workspace, target: &SafetyPoint, path: &[u8]) -> Self {
        match &workspace.common_dir {
            Some(common) if path.starts_with(b".git/") => Self {
                top: common,
                tree: target.git.map(|git| git.tree),
                prefix: b".git/",
            },
            _ => Self {
                top: &workspace.root,
                tree: target.work.map(|work| work.tree),
                prefix: b"",
            },
        }
    }

    /// Opens a path and what is below it.
    fn open_all(&self, vault: &Vault, path: &[u8]) -> Result<bool> {
        let path = path.strip_prefix(self.prefix).unwrap_or(path);
        let mut opened = false;
        for above in above(path) {
            if self.could_read(vault, above)? {
                opened |= open(&self.top.join(OsStr::from_bytes(above)))?;
            }
        }
        let mut waiting = vec![BString::from(path)];
        while let Some(path) = waiting.pop() {
            let place = self.top.join(OsStr::from_bytes(&path));
            if !self.could_read(vault, &path)? {
                continue;
            }
            if open(&place)? {
                opened = true;
                waiting.extend(names(&place, &path));
            }
        }
        Ok(opened)
    }

    /// Returns true where the point holds what was at a path.
    fn could_read(&self, vault: &Vault, path: &[u8]) -> Result<bool> {
        let trees = Trees {
            store: &vault.store,
            fresh: &no_trees(),
        };
        let Some(tree) = self.tree else {
            return Ok(false);
        };
        let row = trees.find(&tree, path)?;
        Ok(row.is_some_and(|row| !matches!(row.kind, Kind::NotHeld(_))))
    }
}

/// The directories above a path, the topmost first: one that can be listed but not entered
/// closes what is in it.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.find_iter("/").filter_map(|at| path.get(..at))
}

/// The paths in a directory; none where it is none.
fn names(place: &Path, path: &BString) -> impl Iterator<Item = BString> {
    let entries = match fs::symlink_metadata(place) {
        Ok(meta) if meta.is_dir() => fs::read_dir(place).ok(),
        _ => None,
    };
    let path = path.clone();
    entries.into_iter().flatten().flatten().map(move |entry| {
        let mut below = path.clone();
        below.push(b'/');
        below.extend_from_slice(entry.file_name().as_bytes());
        below
    })
}

/// Gives the owner back the bits that he needs, where he has lost them and it is he who asks.
fn open(place: &Path) -> Result<bool> {
    let Ok(meta) = fs::symlink_metadata(place) else {
        return Ok(false);
    };
    let needed = match meta.file_type() {
        kind if kind.is_dir() => DIR,
        kind if kind.is_file() => FILE,
        _ => return Ok(false),
    };
    let me = rustix::process::geteuid();
    let mode = meta.permissions().mode();
    if mode & needed == needed || me.is_root() || meta.uid() != me.as_raw() {
        return Ok(false);
    }
    let place = PathBuf::from(place);
    fs::set_permissions(&place, fs::Permissions::from_mode(mode & 0o7777 | needed))
        .doing(ErrorKind::Io, || format!("cannot open {}", place.display()))?;
    Ok(true)
}
