//! When a gate was last called: a gate that has stopped looks like one that passes.

use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::files;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::SystemTime;

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

fn path(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.state.join(format!("install/seen-{name}"))
}
