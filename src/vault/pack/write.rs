//! Writes a pack: contents as they come, from several threads, the index at the end.

use super::{Encoding, Entry, HEAD, TAIL, TRAILER};
use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::{failpoint, files};
use crate::vault::id::ContentId;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pack being written. Several threads may add to it; the file is made by the first content.
pub(in crate::vault) struct PackWriter {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    file: Option<BufWriter<File>>,
    offset: u64,
    /// Up to here the disk has been asked to write.
    asked: u64,
    entries: Vec<Entry>,
    known: Places,
}

/// So many bytes are worth a request to the disk.
const REQUEST: u64 = 1 << 20;

/// Where an id stands in a list of entries: a hash table of four bytes a place,
/// since ids are hashes already and stand in the list.
#[derive(Default)]
struct Places(Vec<u32>);

impl Places {
    fn slots(&self, id: &ContentId) -> impl Iterator<Item = usize> + use<> {
        let mask = self.0.len().wrapping_sub(1);
        let first = usize::try_from(id.prefix() & 0xffff_ffff).unwrap_or(0);
        (0..=mask).map(move |step| first.wrapping_add(step) & mask)
    }

    fn find(&self, id: &ContentId, entries: &[Entry]) -> bool {
        if self.0.is_empty() {
            return false;
        }
        for slot in self.slots(id) {
            match self.0.get(slot).copied() {
                None | Some(0) => return false,
                Some(place) => {
                    if entries
                        .get(place as usize - 1)
                        .is_some_and(|entry| entry.id == *id)
                    {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Enters the last of `entries`.
    fn add_last(&mut self, entries: &[Entry]) {
        // At most three slots of four are taken.
        let from = if entries.len() * 4 > self.0.len() * 3 {
            self.0 = vec![0; (entries.len() * 2).next_power_of_two().max(64)];
            0
        } else {
            entries.len().saturating_sub(1)
        };
        for (at, entry) in entries.iter().enumerate().skip(from) {
            let free = self
                .slots(&entry.id)
                .find(|slot| self.0.get(*slot) == Some(&0));
            if let Some(place) = free.and_then(|slot| self.0.get_mut(slot)) {
                *place = u32::try_from(at + 1).unwrap_or(0);
            }
        }
    }
}

/// A pack that is whole, under its temporary name; it is on the disk after [`Finished::sync`].
#[derive(Debug)]
pub(in crate::vault) struct Finished {
    /// The temporary name.
    pub(in crate::vault) path: PathBuf,
    /// Length of the file.
    pub(in crate::vault) bytes: u64,
    /// The file, whose lock tells others that it has a living owner.
    file: File,
}

impl Finished {
    /// Waits until all is on the disk.
    pub(in crate::vault) fn sync(&self) -> Result<()> {
        failpoint::reach();
        self.file.sync_data().doing(ErrorKind::Io, || {
            format!("cannot write {}", self.path.display())
        })
    }
}

impl PackWriter {
    /// Prepares a pack that will be written to `path`; nothing is made yet.
    pub(in crate::vault) fn new(path: PathBuf) -> Self {
        Self {
            path,
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true when this pack already has the content.
    pub(in crate::vault) fn has(&self, id: &ContentId) -> bool {
        let inner = self.inner();
        inner.known.find(id, &inner.entries)
    }

    /// Adds a payload; the first of two equal contents wins.
    pub(in crate::vault) fn add(
        &self,
        id: ContentId,
        raw: u64,
        encoding: Encoding,
        payload: &[u8],
    ) -> Result<()> {
        let mut inner = self.inner();
        if inner.known.find(&id, &inner.entries) {
            return Ok(());
        }
        let doing = || format!("cannot write {}", self.path.display());
        if inner.file.is_none() {
            failpoint::reach();
            let file = own_file(&self.path).doing(ErrorKind::Io, doing)?;
            let mut file = BufWriter::with_capacity(1 << 18, file);
            file.write_all(HEAD).doing(ErrorKind::Io, doing)?;
            inner.offset = HEAD.len() as u64;
            inner.file = Some(file);
        }
        if let Some(file) = &mut inner.file {
            failpoint::reach();
            file.write_all(payload).doing(ErrorKind::Io, doing)?;
        }
        let stored = payload.len() as u64;
        let offset = inner.offset;
        inner.offset += stored;
        if inner.offset - inner.asked >= REQUEST {
            let (from, to) = (inner.asked, inner.offset);
            inner.asked = to;
            if let Some(file) = &inner.file {
                files::begin_writing(file.get_ref(), from, to - from);
            }
        }
        inner.entries.push(Entry {
            id,
            offset,
            raw,
            stored,
            encoding,
        });
        let Inner { known, entries, .. } = &mut *inner;
        known.add_last(entries);
        Ok(())
    }

    /// Writes the index; `None` when nothing was added.
    pub(in crate::vault) fn finish(self) -> Result<Option<Finished>> {
        let path = self.path;
        let doing = || format!("cannot write {}", path.display());
        let Inner {
            file,
            offset,
            mut entries,
            ..
        } = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(mut file) = file else {
            return Ok(None);
        };
        entries.sort_unstable_by_key(|entry| entry.id);
        let mut hasher = blake3::Hasher::new();
        let mut index = 0_u64;
        let mut buffer = Vec::with_capacity(1 << 16);
        let count = entries.len() as u64;
        for block in entries.chunks(1024) {
            buffer.clear();
            for entry in block {
                entry.encode(&mut buffer);
            }
            hasher.update(&buffer);
            file.write_all(&buffer).doing(ErrorKind::Io, doing)?;
            index += buffer.len() as u64;
        }
        buffer.clear();
        buffer.extend_from_slice(&offset.to_le_bytes());
        buffer.extend_from_slice(&count.to_le_bytes());
        buffer.extend_from_slice(hasher.finalize().as_bytes());
        buffer.extend_from_slice(TAIL);
        failpoint::reach();
        file.write_all(&buffer).doing(ErrorKind::Io, doing)?;
        let file = file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .doing(ErrorKind::Io, doing)?;
        Ok(Some(Finished {
            bytes: offset + index + TRAILER as u64,
            path,
            file,
        }))
    }

    /// Gives up; removes what was written.
    pub(in crate::vault) fn abandon(self) {
        if self.inner().file.is_some() {
            // It is only a temporary file; the next save clears it away otherwise.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes a file and locks it, which shows others that its writer lives.
///
/// Who clears away the files of dead writers may come between making and
/// locking; the file then has no name any more, and another is made.
fn own_file(path: &Path) -> std::io::Result<File> {
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        fs2::FileExt::lock_exclusive(&file)?;
        if file.metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
}
