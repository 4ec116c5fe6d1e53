//! The contents that a rollback will put in place, written beside the vault first.
//!
//! So a full disk shows before anything is touched, and a power cut leaves a
//! path's old bytes or its new ones: all of them are on the disk before the first
//! path changes. What was replaced takes the place of what replaced it here.

use super::plan::{Deed, Plan, Step};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::beside::beside;
use crate::sys::{failpoint, files};
use crate::vault::ContentId;
use crate::vault::layout::Vault;
use crate::vault::walk::Side;
use bstr::BString;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

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
        files::make_private_dir(&all)?;
        files::scatter(&all);
        files::make_private_dir(&dir)?;
        Ok(Self {
            dir,
            serial: 0,
            files: Vec::new(),
            lost: BTreeSet::new(),
        })
    }

    /// Begins to write the contents of all steps; several threads may work at it.
    pub(super) fn filling<'p>(&self, vault: &'p Vault, plan: &'p Plan) -> Filling<'p> {
        Filling {
            dir: self.dir.clone(),
            vault,
            plan,
            next: AtomicUsize::new(0),
            written: Mutex::default(),
        }
    }

    /// Takes over what was written, and waits until it is on the disk.
    pub(super) fn take(&mut self, filling: Filling<'_>) -> Result<()> {
        let steps = &filling.plan.steps;
        self.serial = steps.len() as u64;
        self.files = vec![None; steps.len()];
        let written = filling.written.into_inner();
        for (at, staged) in written.unwrap_or_else(PoisonError::into_inner) {
            match (staged, steps.get(at), self.files.get_mut(at)) {
                (Written::File(path), _, Some(file)) => *file = Some(path),
                (Written::Lost, Some(step), _) => {
                    self.lost.insert((step.side, step.path.clone()));
                }
                _ => {}
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

    /// Does what puts the files in place, and lets go of what they replaced beside it.
    ///
    /// Letting go of a file takes as long as making one, so a second thread begins with it at once.
    pub(super) fn while_letting_go<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &Sender<PathBuf>) -> T,
    ) -> T {
        let (replaced, gone) = channel();
        if self.files.iter().flatten().count() < FEW {
            return work(self, &replaced);
        }
        let gone = Mutex::new(gone);
        std::thread::scope(|scope| {
            beside(scope, || let_go(&gone));
            let done = work(self, &replaced);
            drop(replaced);
            let_go(&gone);
            done
        })
    }

    /// A name for one more file.
    pub(super) fn next(&mut self) -> PathBuf {
        self.serial += 1;
        self.dir.join(self.serial.to_string())
    }
}

/// Below so many files a thread costs more than it saves.
const FEW: usize = 8;

/// Removes files as they come until no more can come; what stays is removed with the directory.
fn let_go(replaced: &Mutex<Receiver<PathBuf>>) {
    let next = || {
        replaced
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv()
    };
    while let Ok(path) = next() {
        let _ = fs::remove_file(path);
    }
}

/// What came of a step's content.
enum Written {
    /// It lies here.
    File(PathBuf),
    /// The vault does not have it as it was.
    Lost,
}

/// The contents of a plan's steps while they are written.
pub(super) struct Filling<'p> {
    dir: PathBuf,
    vault: &'p Vault,
    plan: &'p Plan,
    next: AtomicUsize,
    written: Mutex<Vec<(usize, Written)>>,
}

impl Filling<'_> {
    /// Writes one content after the other until no step is left.
    pub(super) fn work(&self) -> Result<()> {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(step) = self.plan.steps.get(at) else {
                return Ok(());
            };
            let path = self.dir.join((at + 1).to_string());
            let written = match &step.action {
                Deed::File { id, .. } => self.content(id, &path),
                Deed::Bytes(bytes) | Deed::Merged { bytes, .. } => write(&path, bytes),
                Deed::Link(id) => match self.vault.store.read(id) {
                    Ok(_) => continue,
                    Err(error) => Err(error),
                },
                _ => continue,
            };
            let written = match written {
                Ok(()) => Written::File(path),
                Err(error) if error.kind() == ErrorKind::Damaged => Written::Lost,
                Err(error) => return Err(error),
            };
            let mut all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            all.push((at, written));
        }
    }

    fn content(&self, id: &ContentId, path: &Path) -> Result<()> {
        let doing = || format!("cannot write {}", path.display());
        failpoint::reach();
        let mut file = File::create(path).doing(ErrorKind::Io, doing)?;
        self.vault.store.copy(id, &mut file)?;
        files::begin_writing(&file, 0, 0);
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    failpoint::reach();
    fs::write(path, bytes).doing(ErrorKind::Io, || format!("cannot write {}", path.display()))
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What stays is removed by the worktree's next rollback.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// As many syncs as a disk takes at a time; more threads only cost their start.
const SYNCS: usize = 8;

/// Syncs many files in several threads.
fn sync_side_by_side(paths: &[&PathBuf]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            File::open(path)
                .and_then(|file| file.sync_data())
                .doing(ErrorKind::Io, || cannot_sync(path))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..paths.len().min(SYNCS))
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
    if paths.len() <= MANY {
        return sync_side_by_side(paths);
    }
    let Some(path) = paths.first() else {
        return Ok(());
    };
    File::open(path)
        .and_then(|file| rustix::fs::syncfs(&file).map_err(Into::into))
        .doing(ErrorKind::Io, || cannot_sync(path))
}

fn cannot_sync(path: &Path) -> String {
    format!("cannot sync {}", path.display())
}
