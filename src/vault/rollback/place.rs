//! Changes one name of a directory that is open already; no link is followed.

use crate::sys::failpoint;
use crate::vault::stamp::Stamp;
use crate::vault::tree::Kind;
use bstr::ByteSlice as _;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Puts a staged file in its place; what was there takes the staged one's name.
///
/// Letting go of a replaced file may wait for the disk, so that is left for the
/// end, when it can be done for all of them side by side.
pub(super) fn exchange(staged: &Path, dir: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
    use rustix::fs::{CWD, RenameFlags, renameat, renameat_with};
    match renameat_with(CWD, staged, dir, name, RenameFlags::EXCHANGE) {
        // Nothing is there, or the file system cannot exchange.
        Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS) => renameat(CWD, staged, dir, name),
        Ok(()) => {
            let stat = rustix::fs::statat(CWD, staged, AtFlags::SYMLINK_NOFOLLOW)?;
            if Stamp::of(&stat).kind() != Kind::Dir {
                return Ok(());
            }
            // A directory came there a moment ago, with files that no point holds.
            renameat_with(CWD, staged, dir, name, RenameFlags::EXCHANGE)?;
            Err(Errno::ISDIR)
        }
        other => other,
    }
}

/// Gives what root made to the owner of the directory.
pub(super) fn own(dir: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let stat = rustix::fs::fstat(dir)?;
    rustix::fs::chownat(
        dir,
        name,
        Some(Uid::from_raw(stat.st_uid)),
        Some(Gid::from_raw(stat.st_gid)),
        AtFlags::SYMLINK_NOFOLLOW,
    )
}

/// Renames within a directory; the temporary name goes either way.
pub(super) fn swap(dir: &OwnedFd, from: &[u8], to: &[u8]) -> Result<(), Errno> {
    failpoint::reach();
    rustix::fs::renameat(dir, from, dir, to).inspect_err(|_| {
        // The rename's own error is the one to report.
        let _ = rustix::fs::unlinkat(dir, from, AtFlags::empty());
    })
}

pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.rfind_byte(b'/') {
        Some(at) => (
            path.get(..at).unwrap_or_default(),
            path.get(at + 1..).unwrap_or_default(),
        ),
        None => (b"", path),
    }
}

pub(super) fn missing_is_fine(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

pub(super) fn set_mode(dir: &OwnedFd, name: &[u8], mode: u32) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode);
    match rustix::fs::openat(dir, OsStr::from_bytes(name), flags, Mode::empty()) {
        Ok(file) => rustix::fs::fchmod(&file, mode),
        Err(Errno::LOOP) => Ok(()),
        // A file that its owner may not read, or a pipe without a reader: by name.
        Err(_) => {
            let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if Stamp::of(&stat).kind() == Kind::Link {
                return Ok(());
            }
            rustix::fs::chmodat(dir, name, mode, AtFlags::empty())
        }
    }
}
