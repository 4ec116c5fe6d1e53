//! Notes from one hook of a git command to the next: "this was judged already".
//!
//! Hooks of one command share their parent; a note is bound to that process and
//! its start time, so that no later process inherits it.

use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::repo::hooks::caller::Caller;
use crate::sys::files;
use crate::sys::process::{self, ProcessId};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Notes beyond which those of dead processes are cleared away.
const MANY: usize = 64;

/// The notes of one git command.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    dir: PathBuf,
    command: Option<ProcessId>,
}

impl Marks {
    /// The notes of the command that calls this hook.
    pub(super) fn of(workspace: &Workspace, caller: Option<&Caller>) -> Self {
        Self {
            dir: workspace.state.join("sessions/git"),
            command: caller.and_then(|caller| process::identity(caller.pid)),
        }
    }

    /// Leaves a note for the later hooks of the same command.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn set(&self, what: &str) -> Result<()> {
        match self.path(what) {
            Some(path) => self.write(&path),
            None => Ok(()),
        }
    }

    /// Returns true when an earlier hook of the same command left the note.
    pub(super) fn has(&self, what: &str) -> bool {
        self.path(what).is_some_and(|path| path.exists())
    }

    /// Leaves a note that outlives the command: a rebase is continued by another one.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn set_lasting(&self, what: &str) -> Result<()> {
        self.write(&self.dir.join(what))
    }

    /// Returns true when the lasting note is there.
    pub(super) fn has_lasting(&self, what: &str) -> bool {
        self.dir.join(what).exists()
    }

    fn path(&self, what: &str) -> Option<PathBuf> {
        let id = self.command?;
        Some(self.dir.join(format!("{}-{}-{what}", id.pid, id.started)))
    }

    fn write(&self, path: &Path) -> Result<()> {
        let create = || {
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(path)
        };
        if create().is_err() {
            files::make_private_dir(&self.dir)?;
            create().doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
        }
        self.tidy();
        Ok(())
    }

    /// Removes notes of commands that are over; failing that, they stay.
    fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return;
        };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        if paths.len() <= MANY {
            return;
        }
        for path in paths {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let mut parts = name.splitn(3, '-');
            let id = parts
                .next()
                .and_then(|pid| pid.parse().ok())
                .zip(parts.next().and_then(|started| started.parse().ok()))
                .map(|(pid, started)| ProcessId { pid, started });
            if id.is_some_and(|id| process::identity(id.pid) != Some(id)) {
                let _ = fs::remove_file(path);
            }
        }
    }
}
