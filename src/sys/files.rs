//! Files written whole or not at all.

use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::failpoint;
use rustix::fs::Advice;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZeroU64;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Whether a write waits until the bytes are on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The file and its directory are synced before the call returns.
    Synced,
    /// The bytes are synced before the file has its name; the name lasts when the next one in its directory does.
    Ordered,
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

/// Asks ext4 to give each directory made in this one from now on a group of inodes of its own.
///
/// Without a journal it passes over every inode freed in the last minutes, one by
/// one, for each file it makes: beside directories that are made and removed whole,
/// that is most of what a file costs. Elsewhere the flag is unknown, and nothing is lost.
pub fn scatter(dir: &Path) {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    if let Ok(dir) = File::open(dir)
        && let Ok(flags) = ioctl_getflags(&dir)
        && !flags.contains(IFlags::TOPDIR)
    {
        let _ = ioctl_setflags(&dir, flags | IFlags::TOPDIR);
    }
}

/// Asks the disk to write `len` bytes of a file from `from` on, all to its end for zero; does not wait.
///
/// A later sync then waits for less. It only makes things faster: nobody may rest on it.
pub fn begin_writing(file: &File, from: u64, len: u64) {
    // Bytes that are on the disk are dropped from memory by this, those under way are not.
    let _ = rustix::fs::fadvise(file, from, NonZeroU64::new(len), Advice::DontNeed);
}

/// Replaces a file by temporary file and rename, mode `mode`.
///
/// # Errors
/// When the bytes cannot be written; the old file is then as it was.
pub fn replace(path: &Path, bytes: &[u8], mode: u32, durability: Durability) -> Result<()> {
    replace_by(path, mode, durability, &|out| out.write_all(bytes))
}

/// The same for what is not in memory as a whole: `write` is called once.
///
/// # Errors
/// As [`replace`], and whatever `write` says.
pub fn replace_by(
    path: &Path,
    mode: u32,
    durability: Durability,
    write: &dyn Fn(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<()> {
    let doing = || format!("cannot write {}", path.display());
    let temporary = temporary(path);
    let whole = || -> std::io::Result<()> {
        failpoint::reach();
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)?;
        let mut out = std::io::BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        let file = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        if durability != Durability::Lazy {
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
    whole()
        .inspect_err(|_| {
            // The write's own error is the one to report.
            let _ = fs::remove_file(&temporary);
        })
        .doing(ErrorKind::Io, doing)
}

/// A file whose bytes are on the disk and whose name it has not got yet; dropped, it goes.
#[derive(Debug)]
pub struct Staged {
    temporary: PathBuf,
    path: PathBuf,
    is_named: bool,
}

impl Staged {
    /// Gives the file its name and waits until that lasts.
    ///
    /// # Errors
    /// As the system calls.
    pub fn name(mut self) -> Result<()> {
        failpoint::reach();
        fs::rename(&self.temporary, &self.path)
            .and_then(|()| {
                self.is_named = true;
                failpoint::reach();
                sync_parent(&self.path)
            })
            .doing(ErrorKind::Io, || {
                format!("cannot write {}", self.path.display())
            })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_named {
            // Nobody needs it.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes what `path` is to hold beside it and waits until the bytes are on the disk.
///
/// # Errors
/// When the bytes cannot be written.
pub fn stage(path: &Path, bytes: &[u8], mode: u32) -> Result<Staged> {
    let staged = Staged {
        temporary: temporary(path),
        path: path.to_path_buf(),
        is_named: false,
    };
    failpoint::reach();
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&staged.temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_data()
        })
        .doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
    Ok(staged)
}

/// Lets a write beyond the shell's limit for files (`ulimit -f`) fail, where it would end the process.
///
/// # Errors
/// As the system call.
pub fn outlive_size_limit() -> Result<()> {
    let beyond = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, beyond)
        .map(|_| ())
        .doing(ErrorKind::Io, || "cannot set a signal".to_owned())
}

/// A name beside `path` that no other call has.
fn temporary(path: &Path) -> PathBuf {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(
        ".{}.{}.tmp",
        std::process::id(),
        SERIAL.fetch_add(1, Ordering::Relaxed)
    ));
    path.with_file_name(name)
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
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).doing(ErrorKind::Io, || format!("cannot read {}", path.display())),
    }
}

/// Opens a file for reading, and no pipe or device of that name, whose end may never come.
///
/// # Errors
/// As the system calls.
pub fn open(path: impl AsRef<Path>) -> std::io::Result<File> {
    open_sized(path.as_ref()).map(|(file, _)| file)
}

/// The same, with the file's length in bytes.
fn open_sized(path: &Path) -> std::io::Result<(File, u64)> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nonblock)
        .open(path)?;
    let metadata = file.metadata()?;
    let kind = metadata.file_type();
    if kind.is_fifo() {
        return Err(std::io::Error::other("it is a pipe, no file"));
    }
    if kind.is_char_device() || kind.is_block_device() {
        return Err(std::io::Error::other("it is a device, no file"));
    }
    Ok((file, metadata.len()))
}

/// Reads a file, and no pipe or device of that name.
///
/// # Errors
/// As the system calls.
pub fn read(path: impl AsRef<Path>) -> std::io::Result<Vec<u8>> {
    let (file, len) = open_sized(path.as_ref())?;
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
    // The standard library would ask for the size and the position again.
    file.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
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
