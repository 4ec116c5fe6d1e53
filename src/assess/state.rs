//! What git and the workspace know of a path's present bytes.

use super::around::Around;
use super::bytes;
use super::made::is_made_again;
use crate::judge::{FileState, Place};
use std::fs;
use std::path::Path;

/// Says what is known of a path's present bytes.
pub(super) fn of(around: &Around<'_>, path: &Path) -> FileState {
    let located = around.place(path);
    if around.made(&located.path) {
        return FileState::Own;
    }
    let Ok(meta) = fs::symlink_metadata(&located.path) else {
        return FileState::Absent;
    };
    let Some(relative) = located
        .relative
        .filter(|_| located.place == Place::Workspace)
    else {
        return FileState::Unknown;
    };
    if relative.as_os_str().is_empty() {
        return FileState::Unknown;
    }
    if meta.is_dir() {
        return directory(around, &relative);
    }
    if let Some(tracked) = around.tracked() {
        let name = bytes(&relative);
        if tracked.holds(name) {
            return if tracked.is_modified(name) {
                FileState::Modified
            } else {
                FileState::Clean
            };
        }
    } else if around.has_repository()
        && around.workspace().kind != crate::repo::Kind::Bare
        && index_is_there(around)
    {
        return FileState::Unknown;
    }
    untracked(around, &relative, false)
}

/// An index that is there but cannot be read proves nothing.
fn index_is_there(around: &Around<'_>) -> bool {
    around
        .workspace()
        .git_dir
        .as_ref()
        .is_some_and(|dir| dir.join("index").exists())
}

fn untracked(around: &Around<'_>, relative: &Path, is_dir: bool) -> FileState {
    if is_made_again(bytes(relative)) {
        return FileState::Ignored;
    }
    if !around.has_repository() {
        return FileState::Unknown;
    }
    if around.is_ignored(relative, is_dir) {
        FileState::Ignored
    } else {
        FileState::Untracked
    }
}

/// A directory is as bad as the worst below it.
fn directory(around: &Around<'_>, relative: &Path) -> FileState {
    let name = bytes(relative);
    match around.tracked() {
        Some(tracked) if tracked.holds_below(name) => {
            if tracked.modified_below(name, 1).is_empty() {
                FileState::Clean
            } else {
                FileState::Modified
            }
        }
        None if index_is_there(around) => FileState::Unknown,
        _ => untracked(around, relative, true),
    }
}
