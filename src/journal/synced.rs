//! One process's sync serves all that wrote before it began.
//!
//! A note beside the mirror says of which file how much is on the disk. It is
//! written after the sync, so that it never says too much; whoever waited for
//! its lock looks whether there is anything left to do.

use fs2::FileExt;
use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Returns when all that is in the mirror now is on the disk.
pub(super) fn wait(mirror: &File, path: &Path) -> Result<()> {
    let meta = mirror.metadata()?;
    let (inode, end) = (meta.ino(), meta.len());
    let note = open(path)?;
    FileExt::lock_exclusive(&note)?;
    if holds(&note, inode, end) {
        return Ok(());
    }
    let upto = mirror.metadata()?.len();
    mirror.sync_data()?;
    let known = u128::from(inode) << 64 | u128::from(upto);
    note.write_all_at(&known.to_le_bytes(), 0)
}

/// Forgets what was synced of a file that becomes shorter, where anything was noted of it.
pub(super) fn forget(path: &Path) -> Result<()> {
    if path.with_extension("synced").exists() {
        let note = open(path)?;
        FileExt::lock_exclusive(&note)?;
        note.set_len(0)?;
    }
    Ok(())
}

/// Whether the note, of which the caller has a lock, says that a file is on the disk up to an end.
fn holds(note: &File, inode: u64, end: u64) -> bool {
    let mut known = [0; 16];
    note.read_exact_at(&mut known, 0).is_ok() && {
        let known = u128::from_le_bytes(known);
        known >> 64 == u128::from(inode) && known & u128::from(u64::MAX) >= u128::from(end)
    }
}

/// The note; a lock on it ends with it.
fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path.with_extension("synced"))
}
