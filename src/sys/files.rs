//! Files written whole or not at all.

use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::failpoint;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether a write waits until the bytes are on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The file and its directory are synced before the call returns.
    Synced,
    /// The kernel writes it when it likes.
    Lazy,
}

/// Makes a directory and its parents, readable by its owner only.
///
/// # Errors
/// When one of them cannot be made.
pub fn make_private_dir(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .doing(ErrorKind::Io, || {
            format!("cannot make the directory {}", path.display())
        })
}

/// Replaces a file by temporary file and rename, mode `mode`.
///
/// # Errors
/// When the bytes cannot be written; the old file is then as it was.
pub fn replace(path: &Path, bytes: &[u8], mode: u32, durability: Durability) -> Result<()> {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let doing = || format!("cannot write {}", path.display());
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(
        ".{}.{}.tmp",
        std::process::id(),
        SERIAL.fetch_add(1, Ordering::Relaxed)
    ));
    let temporary = path.with_file_name(name);
    let write = || -> std::io::Result<()> {
        failpoint::reach();
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)?;
        file.write_all(bytes)?;
        if durability == Durability::Synced {
            file.sync_data()?;
        }
        failpoint::reach();
        fs::rename(&temporary, path)?;
        failpoint::reach();
        if durability == Durability::Synced {
            sync_parent(path)?;
        }
        Ok(())
    };
    write()
        .inspect_err(|_| {
            // The write's own error is the one to report.
            let _ = fs::remove_file(&temporary);
        })
        .doing(ErrorKind::Io, doing)
}

/// Syncs the directory that holds `path`, so that a new name survives a power cut.
///
/// # Errors
/// As the system call.
pub fn sync_parent(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// Reads a file; `None` when there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).doing(ErrorKind::Io, || format!("cannot read {}", path.display())),
    }
}

/// Reads a file of `/proc`, which has no size to go by: in one read where it fits a page.
///
/// # Errors
/// As the system call.
pub fn read_proc(pid: impl std::fmt::Display, name: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    File::open(format!("/proc/{pid}/{name}"))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}
