//! One file of contents, written once, with its own index at the end.
//!
//! ```text
//! "HPPACK\0\1"  payload payload …  entry entry …  trailer
//! entry:   id[32] offset:u64 raw:u64 stored:u64 encoding:u8      sorted by id
//! trailer: index offset:u64 count:u64 BLAKE3 of the index[32] "HPINDX\0\1"
//! ```
//!
//! A content that zstd does not shrink is stored as it is. A content above
//! [`chunk::WHOLE`](super::chunk) is a list of chunks, each a content itself.

use super::bytes::{Reader, damaged};
use super::id::ContentId;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::failpoint;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const HEAD: &[u8; 8] = b"HPPACK\0\x01";
const TAIL: &[u8; 8] = b"HPINDX\0\x01";
const ENTRY: usize = 32 + 8 + 8 + 8 + 1;
const TRAILER: usize = 8 + 8 + 32 + 8;
/// Indexes up to this many entries are read whole; larger ones are probed in place.
const SMALL: u64 = 2048;

/// How a payload is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// The bytes themselves.
    Raw,
    /// One zstd frame.
    Zstd,
    /// The ids and lengths of its chunks, one after another.
    Chunks,
}

/// Where a content lies in a pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The content.
    pub(super) id: ContentId,
    /// Where its payload starts.
    pub(super) offset: u64,
    /// Its length in bytes.
    pub(super) raw: u64,
    /// Its payload's length in bytes.
    pub(super) stored: u64,
    /// How the payload is stored.
    pub(super) encoding: Encoding,
}

impl Entry {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.id.0);
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.raw.to_le_bytes());
        out.extend_from_slice(&self.stored.to_le_bytes());
        out.push(match self.encoding {
            Encoding::Raw => 0,
            Encoding::Zstd => 1,
            Encoding::Chunks => 2,
        });
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, "a pack's index");
        Ok(Self {
            id: ContentId(reader.array()?),
            offset: reader.u64()?,
            raw: reader.u64()?,
            stored: reader.u64()?,
            encoding: match reader.u8()? {
                0 => Encoding::Raw,
                1 => Encoding::Zstd,
                2 => Encoding::Chunks,
                _ => return Err(damaged("a pack's index")),
            },
        })
    }
}

/// A pack being written. Several threads may add to it; the file is made by the first content.
pub(super) struct PackWriter {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    file: Option<BufWriter<File>>,
    offset: u64,
    entries: Vec<Entry>,
    known: Places,
}

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
pub(super) struct Finished {
    /// The temporary name.
    pub(super) path: PathBuf,
    /// Length of the file.
    pub(super) bytes: u64,
    /// The file, whose lock tells others that it has a living owner.
    file: File,
}

impl Finished {
    /// Waits until all is on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        failpoint::reach();
        self.file.sync_data().doing(ErrorKind::Io, || {
            format!("cannot write {}", self.path.display())
        })
    }
}

impl PackWriter {
    /// Prepares a pack that will be written to `path`; nothing is made yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true when this pack already has the content.
    pub(super) fn has(&self, id: &ContentId) -> bool {
        let inner = self.inner();
        inner.known.find(id, &inner.entries)
    }

    /// Adds a payload; the first of two equal contents wins.
    pub(super) fn add(
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
    pub(super) fn finish(self) -> Result<Option<Finished>> {
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
    pub(super) fn abandon(self) {
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

/// A finished pack, open for reading.
#[derive(Debug)]
pub(super) struct Pack {
    path: PathBuf,
    file: File,
    index_at: u64,
    count: u64,
    digest: [u8; 32],
    /// The entries as they are stored, where they are few.
    small: Option<Vec<u8>>,
}

impl Pack {
    /// Opens a pack; `None` when it is gone.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error)
                    .doing(ErrorKind::Io, || format!("cannot read {}", path.display()));
            }
        };
        let doing = || format!("cannot read {}", path.display());
        let len = file.metadata().doing(ErrorKind::Io, doing)?.len();
        let at = len
            .checked_sub(TRAILER as u64)
            .ok_or_else(|| damaged_pack(path))?;
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, at)
            .doing(ErrorKind::Io, doing)?;
        let mut reader = Reader::new(&trailer, "a pack's trailer");
        let index_at = reader.u64()?;
        let count = reader.u64()?;
        let digest = reader.array()?;
        let fits = count
            .checked_mul(ENTRY as u64)
            .and_then(|index| index.checked_add(index_at))
            == Some(at);
        if reader.rest() != TAIL || !fits {
            return Err(damaged_pack(path));
        }
        let mut pack = Self {
            path: path.to_path_buf(),
            file,
            index_at,
            count,
            digest,
            small: None,
        };
        if count <= SMALL {
            pack.small = Some(pack.rows(0, count)?);
        }
        Ok(Some(pack))
    }

    /// Where the pack lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of the file are payload and head.
    pub(super) fn payload_bytes(&self) -> u64 {
        self.index_at
    }

    /// Reads `count` entries of the index as they are stored, starting with the one at `first`.
    fn rows(&self, first: u64, count: u64) -> Result<Vec<u8>> {
        let len = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(ENTRY))
            .ok_or_else(|| damaged_pack(&self.path))?;
        let mut bytes = vec![0; len];
        self.file
            .read_exact_at(&mut bytes, self.index_at + first * ENTRY as u64)
            .doing(ErrorKind::Io, || {
                format!("cannot read {}", self.path.display())
            })?;
        Ok(bytes)
    }

    /// All entries, in the order of their ids.
    pub(super) fn all(&self) -> Result<Vec<Entry>> {
        let rows = self.rows(0, self.count)?;
        rows.chunks_exact(ENTRY).map(Entry::decode).collect()
    }

    /// Finds a content.
    pub(super) fn find(&self, id: &ContentId) -> Result<Option<Entry>> {
        if let Some(small) = &self.small {
            return probe(small, id);
        }
        // Ids are hashes, so an id's place follows from its value: one or two
        // short reads find it in an index of any length.
        let (mut low, mut high) = (0, self.count);
        let mut guess = scale(id.prefix(), self.count);
        while low < high {
            let first = guess.saturating_sub(WINDOW / 2).clamp(low, high - 1);
            let rows = self.rows(first, WINDOW.min(high - first))?;
            let (window, _) = rows.as_chunks::<ENTRY>();
            let (Some(front), Some(back)) = (window.first(), window.last()) else {
                return Ok(None);
            };
            if id.0[..] < front[..ContentId::LEN] {
                high = first;
            } else if id.0[..] > back[..ContentId::LEN] {
                low = first + window.len() as u64;
            } else {
                return probe(&rows, id);
            }
            guess = low + (high - low) / 2;
        }
        Ok(None)
    }

    /// Reads a payload as it is stored.
    pub(super) fn payload(&self, entry: &Entry) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.payload_into(entry, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a payload as it is stored into a buffer.
    pub(super) fn payload_into(&self, entry: &Entry, bytes: &mut Vec<u8>) -> Result<()> {
        let len = usize::try_from(entry.stored).map_err(|_| damaged_pack(&self.path))?;
        if entry
            .offset
            .checked_add(entry.stored)
            .is_none_or(|end| end > self.index_at)
        {
            return Err(damaged_pack(&self.path));
        }
        bytes.resize(len, 0);
        self.file
            .read_exact_at(bytes, entry.offset)
            .doing(ErrorKind::Io, || {
                format!("cannot read {}", self.path.display())
            })
    }

    /// Reads a content that is not a list of chunks, checks it against its id and returns its length.
    pub(super) fn check(&self, entry: &Entry) -> Result<u64> {
        let payload = self.payload(entry)?;
        let bytes = if entry.encoding == Encoding::Zstd {
            let len = usize::try_from(entry.raw).map_err(|_| damaged_pack(&self.path))?;
            zstd::bulk::decompress(&payload, len)
                .map_err(|error| damaged_pack(&self.path).because(error))?
        } else {
            payload
        };
        if ContentId::of(&bytes) == entry.id {
            Ok(bytes.len() as u64)
        } else {
            Err(damaged_pack(&self.path))
        }
    }

    /// Checks the index against its own hash.
    pub(super) fn check_index(&self) -> Result<()> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = Vec::new();
        for entry in self.all()? {
            buffer.clear();
            entry.encode(&mut buffer);
            hasher.update(&buffer);
        }
        if *hasher.finalize().as_bytes() == self.digest {
            Ok(())
        } else {
            Err(damaged_pack(&self.path))
        }
    }
}

/// Finds an entry among stored ones, which are in the order of their ids.
fn probe(rows: &[u8], id: &ContentId) -> Result<Option<Entry>> {
    let (rows, _) = rows.as_chunks::<ENTRY>();
    rows.binary_search_by(|row| row[..ContentId::LEN].cmp(&id.0))
        .ok()
        .and_then(|at| rows.get(at))
        .map(|row| Entry::decode(row))
        .transpose()
}

const WINDOW: u64 = 64;

fn scale(prefix: u64, count: u64) -> u64 {
    u64::try_from((u128::from(prefix) * u128::from(count)) >> 64).unwrap_or(0)
}

/// The error for a pack that does not read as it was written.
pub(super) fn damaged_pack(path: &Path) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("the pack {} is damaged", path.display()),
    )
    .hint("see which points are whole: holdpoint points verify")
}
