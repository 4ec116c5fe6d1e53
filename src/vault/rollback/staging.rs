//! The contents that a rollback will put in place, written beside the vault first.
//!
//! So a full disk shows before anything is touched, and a power cut leaves a
//! path's old bytes or its new ones: all of them are on the disk before the first
//! path changes. What was replaced takes the place of what replaced it here.

use super::plan::{Deed, Plan, Step};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::{failpoint, files};
use crate::vault::ContentId;
use crate::vault::layout::Vault;
use crate::vault::walk::Side;
use bstr::BString;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of one rollback; it goes with all that is in it.
pub(super) struct Staging {
    dir: PathBuf,
    serial: u64,
    files: Vec<Option<PathBuf>>,
    /// Paths whose contents the vault does not have as they were.
    lost: BTreeSet<(Side, BString)>,
}

impl Staging {
    /// Makes an empty one, and removes those of this worktree's rollbacks that were interrupted.
    ///
    /// The caller has the worktree's rollbacks for itself.
    pub(super) fn new(vault: &Vault, workspace: &Workspace) -> Result<Self> {
        let all = vault.dir.join("staging");
        let key = Vault::key(workspace);
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&key) {
                // What stays is in nobody's way, and the next one tries again.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let dir = all.join(format!("{key}.{}", ulid::Ulid::generate()));
        files::make_private_dir(&dir)?;
        Ok(Self {
            dir,
            serial: 0,
            files: Vec::new(),
            lost: BTreeSet::new(),
        })
    }

    /// Writes the contents of all steps and waits until they are on the disk.
    pub(super) fn fill(&mut self, vault: &Vault, plan: &Plan) -> Result<()> {
        for step in &plan.steps {
            let staged = match &step.action {
                Deed::File { id, .. } => self.write_content(vault, id).map(Some),
                Deed::Bytes(bytes) | Deed::Merged { bytes, .. } => self.write(bytes).map(Some),
                Deed::Link(id) => vault.store.read(id).map(|_| None),
                _ => Ok(None),
            };
            match staged {
                Err(error) if error.kind() == ErrorKind::Damaged => {
                    self.lost.insert((step.side, step.path.clone()));
                    self.files.push(None);
                }
                staged => self.files.push(staged?),
            }
        }
        sync_all(&self.files.iter().flatten().collect::<Vec<_>>())
    }

    /// Returns true for a step of a path whose content is lost: nothing may be done to it.
    pub(super) fn is_lost(&self, step: &Step) -> bool {
        !self.lost.is_empty() && self.lost.contains(&(step.side, step.path.clone()))
    }

    /// The staged file of a step.
    pub(super) fn of(&self, step: usize) -> Option<PathBuf> {
        self.files.get(step).cloned().flatten()
    }

    /// A name for one more file.
    pub(super) fn next(&mut self) -> PathBuf {
        self.serial += 1;
        self.dir.join(self.serial.to_string())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.next();
        failpoint::reach();
        fs::write(&path, bytes)
            .doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn write_content(&mut self, vault: &Vault, id: &ContentId) -> Result<PathBuf> {
        let path = self.next();
        let doing = || format!("cannot write {}", path.display());
        failpoint::reach();
        let mut file = File::create(&path).doing(ErrorKind::Io, doing)?;
        vault.store.copy(id, &mut file)?;
        file.flush().doing(ErrorKind::Io, doing)?;
        Ok(path)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let files: Vec<&PathBuf> = self.files.iter().flatten().collect();
        // Letting go of a file that a path had may wait for the disk, so all wait side by side.
        let _ = side_by_side(&files, |path| {
            let _ = fs::remove_file(path);
            Ok(())
        });
        // What stays is removed by the worktree's next rollback.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// As many as a disk takes at a time; more only cost their start.
const THREADS: usize = 8;

/// Does the same to many paths in several threads, since each waits for the disk.
fn side_by_side(paths: &[&PathBuf], deed: impl Fn(&Path) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            deed(path)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..paths.len().min(THREADS))
            .map(|_| scope.spawn(work))
            .collect();
        let mut result = work();
        for thread in threads {
            let other = thread.join().unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::Internal,
                    "a thread of a rollback panicked",
                ))
            });
            result = result.and(other);
        }
        result
    })
}

/// Above this many files one sync of their file system costs less than one each.
const MANY: usize = 512;

/// Waits until files are on the disk; it takes the syncs of several threads as one.
fn sync_all(paths: &[&PathBuf]) -> Result<()> {
    let doing = |path: &Path| format!("cannot sync {}", path.display());
    if paths.len() > MANY {
        let Some(path) = paths.first() else {
            return Ok(());
        };
        return File::open(path)
            .and_then(|file| rustix::fs::syncfs(&file).map_err(Into::into))
            .doing(ErrorKind::Io, || doing(path));
    }
    side_by_side(paths, |path| {
        File::open(path)
            .and_then(|file| file.sync_data())
            .doing(ErrorKind::Io, || doing(path))
    })
}
