//! Which paths of a safety point a person named.

use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::out;
use crate::sys::paths::{past_links, plain};
use crate::vault::rollback::PathText;
use crate::vault::{self, SafetyPoint};
use bstr::BString;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Paths as typed, relative to the worktree's top.
///
/// A path that a point has is that path, though a link lies in its way now; any
/// other may come through a link.
///
/// # Errors
/// [`ErrorKind::Usage`] for what is in neither, or outside, or git's own.
pub(super) fn paths(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    typed: &[PathBuf],
) -> Result<Vec<PathText>> {
    typed
        .iter()
        .map(|path| one(env, workspace, point, path).map(PathText))
        .collect()
}

fn one(env: &Env, workspace: &Workspace, point: &SafetyPoint, typed: &Path) -> Result<BString> {
    let clean = plain(&env.cwd().join(typed));
    let inside = |path: &Path| {
        let relative = path.strip_prefix(&workspace.root).ok()?;
        Some(BString::from(relative.as_os_str().as_bytes()))
    };
    let as_typed = inside(&clean);
    let resolved = inside(&past_links(&clean));
    let shown = out::path(typed.as_os_str().as_bytes());
    let refused = |why: &str| Error::new(ErrorKind::Usage, format!("{shown} {why}"));
    for path in as_typed.iter().chain(&resolved) {
        if is_gits(workspace, path) {
            return Err(refused("is git's own").hint(format!(
                "git's files come back together: holdpoint rollback {} --refs",
                point.id
            )));
        }
        if path.is_empty() || !absent(env, workspace, point, path)? {
            return Ok(path.clone());
        }
    }
    let resolved = resolved.ok_or_else(|| {
        refused("is not in the workspace")
            .hint(format!("the workspace is {}", workspace.root.display()))
    })?;
    let place = workspace.root.join(OsStr::from_bytes(&resolved));
    if fs::symlink_metadata(place).is_ok() {
        return Ok(resolved);
    }
    Err(
        refused("is neither in the workspace nor in the safety point").hint(format!(
            "names are taken as they are, not as patterns; see which differ: holdpoint rollback {} --dry-run",
            point.id
        )),
    )
}

fn absent(env: &Env, workspace: &Workspace, point: &SafetyPoint, path: &BString) -> Result<bool> {
    let absent = vault::absent_in(env, workspace, point, std::slice::from_ref(path))?;
    Ok(!absent.is_empty())
}

fn is_gits(workspace: &Workspace, path: &BString) -> bool {
    let is_file =
        fs::symlink_metadata(workspace.root.join(".git")).is_ok_and(|meta| meta.is_file());
    path.starts_with(b".git/") || (path == ".git" && !is_file)
}
