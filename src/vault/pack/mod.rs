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

mod write;

pub(super) use write::{Finished, PackWriter};

use super::bytes::{Reader, damaged};
use super::id::ContentId;
use crate::error::{Context as _, Error, ErrorKind, Result};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

const HEAD: &[u8; 8] = b"HPPACK\0\x01";
const TAIL: &[u8; 8] = b"HPINDX\0\x01";
const ENTRY: usize = 32 + 8 + 8 + 8 + 1;
const TRAILER: usize = 8 + 8 + 32 + 8;
/// Indexes up to this many entries are read at once; larger ones are probed in place.
const SMALL: u64 = 2048;
/// Indexes up to this many entries are read once they have been probed often.
const MEDIUM: u64 = 1 << 18;
/// A probe costs what it costs to read this many entries.
const PROBE: u64 = 512;

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

/// A finished pack, open for reading.
#[derive(Debug)]
pub(super) struct Pack {
    path: PathBuf,
    file: File,
    index_at: u64,
    count: u64,
    digest: [u8; 32],
    /// The first bytes of all ids, where they are few or often asked for: most
    /// questions are about contents that no pack has, and that is enough for those.
    fronts: OnceLock<Vec<u32>>,
    probes: AtomicU32,
    reading: Mutex<()>,
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
        let pack = Self {
            path: path.to_path_buf(),
            file,
            index_at,
            count,
            digest,
            fronts: OnceLock::new(),
            probes: AtomicU32::new(0),
            reading: Mutex::default(),
        };
        if count <= SMALL {
            pack.read_fronts()?;
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

    /// Reads the first bytes of all ids, once.
    fn read_fronts(&self) -> Result<&[u32]> {
        const PIECE: u64 = 1024;
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fronts) = self.fronts.get() {
            return Ok(fronts);
        }
        let mut fronts = Vec::with_capacity(usize::try_from(self.count).unwrap_or_default());
        let mut first = 0;
        while first < self.count {
            let rows = self.rows(first, PIECE.min(self.count - first))?;
            let (rows, _) = rows.as_chunks::<ENTRY>();
            fronts.extend(rows.iter().map(front));
            first += PIECE;
        }
        Ok(self.fronts.get_or_init(|| fronts))
    }

    /// Finds a content.
    pub(super) fn find(&self, id: &ContentId) -> Result<Option<Entry>> {
        let fronts = match self.fronts.get() {
            Some(fronts) => fronts,
            None if self.is_worth_reading() => self.read_fronts()?,
            None => return self.search(id),
        };
        let wanted = (id.prefix() >> 32) as u32;
        let from = fronts.partition_point(|front| *front < wanted);
        let alike = fronts
            .iter()
            .skip(from)
            .take_while(|front| **front == wanted)
            .count();
        if alike == 0 {
            return Ok(None);
        }
        probe(&self.rows(from as u64, alike as u64)?, id)
    }

    /// Counts a probe; returns true once reading the index would have cost no more than all of them.
    fn is_worth_reading(&self) -> bool {
        let probes = u64::from(self.probes.fetch_add(1, Ordering::Relaxed));
        self.count <= MEDIUM && probes * PROBE >= self.count
    }

    /// Finds a content in the file.
    fn search(&self, id: &ContentId) -> Result<Option<Entry>> {
        // Ids are hashes, so an id's place follows from its value: one or two
        // short reads find it in an index of any length.
        let (mut low, mut high) = (0, self.count);
        let mut guess = scale(id.prefix(), self.count);
        for round in 0.. {
            if low >= high {
                break;
            }
            if round > 2 {
                // A damaged index keeps no order that could be guessed from.
                guess = low + (high - low) / 2;
            }
            let first = guess.saturating_sub(WINDOW / 2).clamp(low, high - 1);
            let rows = self.rows(first, WINDOW.min(high - first))?;
            let (window, _) = rows.as_chunks::<ENTRY>();
            let (Some(front), Some(back)) = (window.first(), window.last()) else {
                return Ok(None);
            };
            // From there an id's place follows the more exactly.
            if id.0[..] < front[..ContentId::LEN] {
                high = first;
                let ahead = place(front).saturating_sub(id.prefix());
                guess = first.saturating_sub(scale(ahead, self.count));
            } else if id.0[..] > back[..ContentId::LEN] {
                low = first + window.len() as u64;
                let behind = id.prefix().saturating_sub(place(back));
                guess = low.saturating_add(scale(behind, self.count));
            } else {
                return probe(&rows, id);
            }
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

/// The first bytes of an entry's id, in the order of the ids.
fn front(row: &[u8; ENTRY]) -> u32 {
    (place(row) >> 32) as u32
}

/// The start of an entry's id as a number, as [`ContentId::prefix`].
fn place(row: &[u8; ENTRY]) -> u64 {
    row.first_chunk().copied().map_or(0, u64::from_be_bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_found_by_probing_and_by_the_first_bytes_of_the_ids() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.pack");
        let writer = PackWriter::new(path.clone());
        let id = |n: u32| ContentId::of(&n.to_le_bytes());
        let many = u32::try_from(SMALL).expect("small") * 3;
        for n in 0..many {
            writer
                .add(id(n), 4, Encoding::Raw, &n.to_le_bytes())
                .expect("added");
        }
        writer.finish().expect("written").expect("a pack");
        let pack = Pack::open(&path).expect("sound").expect("there");
        assert!(pack.fronts.get().is_none(), "too long to be read at once");
        for n in 0..many {
            let entry = pack.search(&id(n)).expect("read").expect("found");
            assert_eq!(pack.payload(&entry).expect("read"), n.to_le_bytes());
            assert!(pack.search(&id(n + many)).expect("read").is_none());
        }
        for n in 0..many {
            assert!(pack.find(&id(n)).expect("read").is_some());
            assert!(pack.find(&id(n + many)).expect("read").is_none());
        }
        assert!(pack.fronts.get().is_some(), "it was asked often");
    }
}
