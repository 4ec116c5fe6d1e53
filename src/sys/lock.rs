//! Advisory locks between our own processes; the kernel drops them when a process dies.

use crate::error::{Context as _, ErrorKind, Result};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// An exclusive lock, held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock at `path`, making the file when needed.
    ///
    /// # Errors
    /// When the file cannot be opened or locked.
    pub fn wait(path: &Path) -> Result<Self> {
        let file = open(path)?;
        fs2::FileExt::lock_exclusive(&file)
            .doing(ErrorKind::Io, || format!("cannot lock {}", path.display()))?;
        Ok(Self { _file: file })
    }

    /// Waits for a share of the lock at `path`: others may share it too, nobody has it alone.
    ///
    /// # Errors
    /// When the file cannot be opened or locked.
    pub fn share(path: &Path) -> Result<Self> {
        let file = open(path)?;
        fs2::FileExt::lock_shared(&file)
            .doing(ErrorKind::Io, || format!("cannot lock {}", path.display()))?;
        Ok(Self { _file: file })
    }

    /// Takes the lock at `path` if nobody has it.
    ///
    /// # Errors
    /// When the file cannot be opened or locked for another reason than being taken.
    pub fn try_take(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match fs2::FileExt::try_lock_exclusive(&file) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(error) if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => {
                Ok(None)
            }
            Err(error) => {
                Err(error).doing(ErrorKind::Io, || format!("cannot lock {}", path.display()))
            }
        }
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .doing(ErrorKind::Io, || {
            format!("cannot open the lock file {}", path.display())
        })
}
