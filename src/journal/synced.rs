//! One process's sync serves all that wrote before it began.
//!
//! A note beside the mirror says of which file how much is on the disk. It is
//! written after a sync, so that it never says too much. Whoever has the note's
//! lock syncs. The others look again for a moment, which is as long as a sync
//! takes on a good disk, and then sync for themselves: the kernel brings syncs
//! that run at one time together, sooner than processes wake each other.

use fs2::FileExt;
use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of a note: the inode, how much of it is on the disk, and a check of both.
const NOTE: usize = 24;

/// How long a sync that another process has begun is waited for.
const MOMENT: Duration = Duration::from_micros(100);

/// Returns when all that is in the mirror now is on the disk.
pub(super) fn wait(mirror: &File, path: &Path) -> Result<()> {
    let meta = mirror.metadata()?;
    let (inode, end) = (meta.ino(), meta.len());
    let note = open(path)?;
    let is_known = || {
        let mut known = [0; NOTE];
        note.read_exact_at(&mut known, 0).is_ok() && upto(&known, inode) >= Some(end)
    };
    let start = Instant::now();
    while !is_known() {
        match FileExt::try_lock_exclusive(&note) {
            Ok(()) if is_known() => return Ok(()),
            Ok(()) => {
                // The lock is kept until all is noted: nobody makes the file shorter meanwhile.
                let end = mirror.metadata()?.len();
                mirror.sync_data()?;
                return note.write_all_at(&noted(inode, end), 0);
            }
            Err(_) if start.elapsed() < MOMENT => std::thread::yield_now(),
            Err(_) => return mirror.sync_data(),
        }
    }
    Ok(())
}

/// Makes the file shorter and forgets what was synced of it.
pub(super) fn shorten(file: &File, path: &Path, end: u64) -> Result<()> {
    if !path.with_extension("synced").exists() {
        return file.set_len(end);
    }
    let note = open(path)?;
    FileExt::lock_exclusive(&note)?;
    note.set_len(0)?;
    file.set_len(end)
}

fn noted(inode: u64, end: u64) -> [u8; NOTE] {
    let mut note = [0; NOTE];
    let (head, check) = note.split_at_mut(16);
    head.split_at_mut(8).0.copy_from_slice(&inode.to_le_bytes());
    head.split_at_mut(8).1.copy_from_slice(&end.to_le_bytes());
    check.copy_from_slice(blake3::hash(head).as_bytes().split_at(8).0);
    note
}

/// How much a note says is on the disk; one that another process is writing at the moment says nothing.
fn upto(note: &[u8; NOTE], inode: u64) -> Option<u64> {
    let end = u64::from_le_bytes(note.get(8..16)?.try_into().ok()?);
    (*note == noted(inode, end)).then_some(end)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_speaks_of_its_own_file_and_only_whole() {
        let note = noted(7, 0x0100);
        assert_eq!(upto(&note, 7), Some(0x0100));
        assert_eq!(upto(&note, 8), None);
        let other = noted(7, 0x00ff);
        let mut torn = note;
        torn[8] = other[8];
        assert_eq!(upto(&torn, 7), None);
        assert_eq!(upto(&[0; NOTE], 0), None);
    }

    #[test]
    fn what_is_noted_is_not_synced_again_until_the_file_was_shortened() {
        let dir = tempfile::tempdir().expect("io");
        let path = dir.path().join("log.jsonl");
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .expect("io");
        std::io::Write::write_all(&mut &file, b"one\ntwo\n").expect("io");
        wait(&file, &path).expect("io");
        let inode = file.metadata().expect("io").ino();
        let note = |path: &Path| {
            let bytes = std::fs::read(path.with_extension("synced")).expect("io");
            <[u8; NOTE]>::try_from(bytes).ok()
        };
        assert_eq!(note(&path).and_then(|note| upto(&note, inode)), Some(8));
        shorten(&file, &path, 4).expect("io");
        assert_eq!(note(&path), None);
        assert_eq!(file.metadata().expect("io").len(), 4);
    }
}
