//! The stat cache of one worktree: which contents the last point found where.
//!
//! A base file holds a block for every directory; a small delta file beside it
//! holds the blocks that changed since, so that a point after one edit rewrites
//! one block and not the whole cache. The cache is only ever a short cut: a file
//! that does not read as it was written is left aside and everything is read anew.
//!
//! ```text
//! base:  "HPSTAT\0\2" nonce[16] header blocks:u32 length:u32… block… crc:u32 "END."
//! delta: "HPSTAD\0\2" nonce[16] header blocks:u32 (index:u32 length:u32)… block… crc:u32 "END."
//! ```
//!
//! It is written without waiting for the disk. The sum keeps what a power cut or
//! the disk made of it from getting into a point, as a content that nobody has.

use super::bytes::{Reader, damaged};
use super::id::ContentId;
use super::stamp::Stamp;
use super::tree::Kind;
use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::files::{self, Durability};
use flate2::Crc;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

const BASE: &[u8; 8] = b"HPSTAT\0\x02";
const DELTA: &[u8; 8] = b"HPSTAD\0\x02";
const END: &[u8; 4] = b"END.";
/// How many bytes stand behind the blocks.
const TAIL: usize = 4 + END.len();
const WHAT: &str = "the stat cache";
/// How many bytes stand before a directory's rows.
pub(super) const HEAD: usize = 8 + 1 + 44 + ContentId::LEN;

/// The row's stamp may stand for other bytes by now: read the file again.
pub(super) const RACY: u8 = 1;
/// The directory is ignored by git, and is held all the same.
pub(super) const IGNORED: u8 = 2;
/// The ignored directory has tracked files too, so what else is in it is judged name by name.
pub(super) const MIXED: u8 = 4;

/// One side of a picture: the worktree or the git directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Root {
    /// The block of its top directory.
    pub(super) block: u32,
    /// Its tree.
    pub(super) tree: ContentId,
    /// The top directory's permission bits.
    pub(super) mode: u32,
}

/// What the cache is a picture of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// The point that was taken or found when the cache was written.
    pub(super) point: String,
    /// What the ignore rules and the index looked like.
    pub(super) rules: ContentId,
    /// The worktree.
    pub(super) work: Option<Root>,
    /// The git directory.
    pub(super) git: Option<Root>,
}

impl Header {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.point.len() as u64).to_le_bytes());
        out.extend_from_slice(self.point.as_bytes());
        out.extend_from_slice(&self.rules.0);
        for root in [self.work, self.git] {
            let root = root.unwrap_or(Root {
                block: u32::MAX,
                tree: ContentId::default(),
                mode: 0,
            });
            out.extend_from_slice(&root.block.to_le_bytes());
            out.extend_from_slice(&root.tree.0);
            out.extend_from_slice(&root.mode.to_le_bytes());
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let len = reader.len()?;
        let point = std::str::from_utf8(reader.take(len)?)
            .map_err(|_| damaged(WHAT))?
            .to_owned();
        let rules = ContentId(reader.array()?);
        let mut roots = [None, None];
        for root in &mut roots {
            let block = reader.u32()?;
            let tree = ContentId(reader.array()?);
            let mode = reader.u32()?;
            *root = (block != u32::MAX).then_some(Root { block, tree, mode });
        }
        let [work, git] = roots;
        Ok(Self {
            point,
            rules,
            work,
            git,
        })
    }
}

/// One directory of the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    /// The directory's own stamp.
    pub(super) stamp: Stamp,
    /// True where the directory's stamp may stand for another listing.
    pub(super) racy: bool,
    /// Its tree.
    pub(super) tree: ContentId,
    rows: &'a [u8],
}

/// One name of a directory of the cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedRow<'a> {
    /// The name.
    pub(super) name: &'a [u8],
    /// What it was.
    pub(super) kind: Kind,
    /// [`RACY`] and [`IGNORED`].
    pub(super) flags: u8,
    /// Its stamp; not kept for a directory.
    pub(super) stamp: Stamp,
    /// Its content; for a directory only the block's number.
    pub(super) id: ContentId,
    /// The row as it is written.
    pub(super) raw: &'a [u8],
}

impl CachedRow<'_> {
    /// The block of a directory.
    pub(super) fn block(&self) -> u32 {
        let [a, b, c, d, ..] = self.id.0;
        u32::from_le_bytes([a, b, c, d])
    }
}

/// The id that stands for a directory's block in a row.
pub(super) fn block_id(block: u32) -> ContentId {
    let mut id = ContentId::default();
    id.0.split_at_mut(4).0.copy_from_slice(&block.to_le_bytes());
    id
}

/// The rows of a directory of the cache, in the order of their names.
#[derive(Clone, Debug)]
pub(super) struct Rows<'a> {
    reader: &'a [u8],
    dev: u64,
}

impl<'a> Rows<'a> {
    /// Reads rows that were written for a directory on the device `dev`.
    pub(super) fn new(reader: &'a [u8], dev: u64) -> Self {
        Self { reader, dev }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = CachedRow<'a>;

    fn next(&mut self) -> Option<CachedRow<'a>> {
        // A row that does not read ends the directory: what follows counts as new.
        let (head, rest) = self.reader.split_first_chunk::<ROW>()?;
        let [kind, flags, low, high, ..] = *head;
        let len = usize::from(u16::from_le_bytes([low, high]));
        let row = CachedRow {
            name: rest.get(..len)?,
            kind: Kind::from_code(kind)?,
            flags,
            stamp: read_stamp(part::<4, _, _>(head), self.dev),
            id: ContentId(*part::<{ 4 + STAMP }, _, _>(head)),
            raw: self.reader.get(..ROW + len)?,
        };
        self.reader = rest.get(len..)?;
        Some(row)
    }
}

/// Bytes of a row before its name.
const ROW: usize = 1 + 1 + 2 + STAMP + ContentId::LEN;

/// Bytes of a stamp, without the device.
const STAMP: usize = 4 + 8 + 12 + 12 + 8;

/// The `N` bytes from `AT` on, without a check when it runs: every row is read this way.
#[inline]
fn part<const AT: usize, const N: usize, const WHOLE: usize>(bytes: &[u8; WHOLE]) -> &[u8; N] {
    const { assert!(AT + N <= WHOLE, "a part lies in the whole") };
    match bytes.get(AT..).and_then(<[u8]>::first_chunk) {
        Some(part) => part,
        None => unreachable!(),
    }
}

fn read_stamp(bytes: &[u8; STAMP], dev: u64) -> Stamp {
    Stamp {
        mode: u32::from_le_bytes(*part::<0, _, _>(bytes)),
        size: u64::from_le_bytes(*part::<4, _, _>(bytes)),
        mtime: (
            i64::from_le_bytes(*part::<12, _, _>(bytes)),
            u32::from_le_bytes(*part::<20, _, _>(bytes)),
        ),
        ctime: (
            i64::from_le_bytes(*part::<24, _, _>(bytes)),
            u32::from_le_bytes(*part::<32, _, _>(bytes)),
        ),
        ino: u64::from_le_bytes(*part::<36, _, _>(bytes)),
        dev,
    }
}

fn write_stamp(stamp: &Stamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&stamp.mode.to_le_bytes());
    out.extend_from_slice(&stamp.size.to_le_bytes());
    for (seconds, nanos) in [stamp.mtime, stamp.ctime] {
        out.extend_from_slice(&seconds.to_le_bytes());
        out.extend_from_slice(&nanos.to_le_bytes());
    }
    out.extend_from_slice(&stamp.ino.to_le_bytes());
}

impl<'a> Block<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes, WHAT);
        let dev = reader.u64()?;
        let racy = reader.u8()? != 0;
        let stamp = read_stamp(&reader.array()?, dev);
        let tree = ContentId(reader.array()?);
        Ok(Self {
            stamp,
            racy,
            tree,
            rows: reader.rest(),
        })
    }

    /// Its rows.
    pub(super) fn rows(&self) -> Rows<'a> {
        Rows::new(self.rows, self.stamp.dev)
    }

    /// The first `len` bytes of its rows.
    pub(super) fn front(&self, len: usize) -> &'a [u8] {
        self.rows.get(..len).unwrap_or_default()
    }

    /// All its rows as they are written.
    pub(super) fn raw(&self) -> &'a [u8] {
        self.rows
    }
}

/// Makes a directory of the cache of rows that are written already.
pub(super) fn write_block(
    stamp: &Stamp,
    racy: bool,
    tree: &ContentId,
    rows: &[u8],
    out: &mut Vec<u8>,
) {
    out.clear();
    write_head(stamp, racy, tree, out);
    out.extend_from_slice(rows);
}

fn write_head(stamp: &Stamp, racy: bool, tree: &ContentId, out: &mut Vec<u8>) {
    out.extend_from_slice(&stamp.dev.to_le_bytes());
    out.push(u8::from(racy));
    write_stamp(stamp, out);
    out.extend_from_slice(&tree.0);
}

/// Adds a name to a directory of the cache.
pub(super) fn write_row(row: &CachedRow<'_>, out: &mut Vec<u8>) {
    out.push(row.kind.code());
    out.push(row.flags);
    let len = u16::try_from(row.name.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&len.to_le_bytes());
    write_stamp(&row.stamp, out);
    out.extend_from_slice(&row.id.0);
    out.extend_from_slice(row.name.split_at(len.into()).0);
}

/// A cache in memory.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// What it is a picture of.
    pub(super) header: Header,
    nonce: [u8; 16],
    base: Vec<u8>,
    delta: Vec<u8>,
    /// Which file, from where, to where.
    places: Vec<(bool, usize, usize)>,
    /// Blocks that the delta file holds, by number.
    changed: BTreeMap<u32, (usize, usize)>,
}

impl Cache {
    /// Reads the cache at `path`; an empty one where there is none that can be trusted.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let Some(base) = files::read_if_there(path)? else {
            return Ok(Self::default());
        };
        let Ok(mut cache) = Self::read_base(base) else {
            return Ok(Self::default());
        };
        // A delta of another base is one that a crash left behind; the base is newer.
        if let Some(delta) = files::read_if_there(&delta_path(path))?
            && cache.read_delta(delta).is_err()
        {
            return Ok(Self::default());
        }
        Ok(cache)
    }

    /// Removes the cache at `path`; the next point reads everything.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub(super) fn forget(path: &Path) -> Result<()> {
        for path in [path.to_path_buf(), delta_path(path)] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).doing(ErrorKind::Io, || {
                        format!("cannot remove {}", path.display())
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns true when nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn read_base(base: Vec<u8>) -> Result<Self> {
        if !is_whole(&base) {
            return Err(damaged(WHAT));
        }
        let mut reader = Reader::new(&base, WHAT);
        if reader.take(BASE.len())? != BASE {
            return Err(damaged(WHAT));
        }
        let nonce = reader.array()?;
        let header = Header::decode(&mut reader)?;
        let count = reader.u32()? as usize;
        let lengths = reader.take(count.checked_mul(4).ok_or_else(|| damaged(WHAT))?)?;
        let mut at = base.len() - reader.rest().len();
        let mut places = Vec::with_capacity(count);
        let mut numbers = Reader::new(lengths, WHAT);
        for _ in 0..count {
            let len = numbers.u32()? as usize;
            places.push((false, at, at + len));
            at += len;
        }
        if at + TAIL != base.len() {
            return Err(damaged(WHAT));
        }
        Ok(Self {
            header,
            nonce,
            base,
            delta: Vec::new(),
            places,
            changed: BTreeMap::new(),
        })
    }

    fn read_delta(&mut self, delta: Vec<u8>) -> Result<()> {
        let mut reader = Reader::new(&delta, WHAT);
        if !is_whole(&delta)
            || reader.take(DELTA.len())? != DELTA
            || reader.array::<16>()? != self.nonce
        {
            return Ok(());
        }
        let header = Header::decode(&mut reader)?;
        let count = reader.u32()? as usize;
        let table = reader.take(count.checked_mul(8).ok_or_else(|| damaged(WHAT))?)?;
        let mut at = delta.len() - reader.rest().len();
        let mut numbers = Reader::new(table, WHAT);
        let mut changed = BTreeMap::new();
        for _ in 0..count {
            let block = numbers.u32()?;
            let len = numbers.u32()? as usize;
            changed.insert(block, (at, at + len));
            at += len;
        }
        if at + TAIL != delta.len() {
            return Err(damaged(WHAT));
        }
        for (block, (start, end)) in &changed {
            let block = *block as usize;
            if block >= self.places.len() {
                self.places.resize(block + 1, (true, 0, 0));
            }
            if let Some(place) = self.places.get_mut(block) {
                *place = (true, *start, *end);
            }
        }
        self.header = header;
        self.changed = changed;
        self.delta = delta;
        Ok(())
    }

    /// The number that the next new directory gets.
    pub(super) fn next_block(&self) -> u32 {
        u32::try_from(self.places.len()).unwrap_or(u32::MAX)
    }

    fn bytes(&self, block: u32) -> Option<&[u8]> {
        let (delta, start, end) = *self.places.get(block as usize)?;
        let file = if delta { &self.delta } else { &self.base };
        file.get(start..end)
    }

    /// A directory by its number.
    pub(super) fn block(&self, block: u32) -> Option<Block<'_>> {
        Block::decode(self.bytes(block)?).ok()
    }

    /// Writes what changed: `blocks` are new or replace those of the same number.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn write(
        &self,
        path: &Path,
        header: &Header,
        blocks: &BTreeMap<u32, Vec<u8>>,
    ) -> Result<()> {
        let mut delta: BTreeMap<u32, &[u8]> = BTreeMap::new();
        for (block, (start, end)) in &self.changed {
            delta.insert(*block, self.delta.get(*start..*end).unwrap_or_default());
        }
        for (block, bytes) in blocks {
            delta.insert(*block, bytes);
        }
        let size: usize = delta.values().map(|bytes| bytes.len() + 8).sum();
        if self.is_empty() || size > (self.base.len() / 8).max(64 << 10) {
            return self.write_base(path, header, &delta);
        }
        let mut out = Vec::with_capacity(size + 256);
        out.extend_from_slice(DELTA);
        out.extend_from_slice(&self.nonce);
        header.encode(&mut out);
        out.extend_from_slice(&u32::try_from(delta.len()).unwrap_or(0).to_le_bytes());
        for (block, bytes) in &delta {
            out.extend_from_slice(&block.to_le_bytes());
            out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(0).to_le_bytes());
        }
        for bytes in delta.values() {
            out.extend_from_slice(bytes);
        }
        let sum = sum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out.extend_from_slice(END);
        let path = delta_path(path);
        // A rename over a file makes ext4 start to write the new one out. Whoever
        // finds no delta in between reads a few files more.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
        .doing(ErrorKind::Io, || {
            format!("cannot replace {}", path.display())
        })?;
        files::replace(&path, &out, 0o600, Durability::Lazy)
    }

    /// Writes a new base of the directories that are still reached, in the order of the walk.
    ///
    /// Renumbering changes no length, so the table of lengths can go out before
    /// the blocks, and no second copy of the cache is ever in memory.
    fn write_base(&self, path: &Path, header: &Header, delta: &BTreeMap<u32, &[u8]>) -> Result<()> {
        let find = |block: u32| {
            delta
                .get(&block)
                .copied()
                .or_else(|| self.bytes(block))
                .unwrap_or_default()
        };
        let mut header = header.clone();
        let mut order: Vec<u32> = Vec::new();
        for root in [&mut header.work, &mut header.git].into_iter().flatten() {
            let mut at = order.len();
            let first = u32::try_from(at).unwrap_or(u32::MAX);
            order.push(root.block);
            root.block = first;
            while let Some(block) = order.get(at).copied() {
                let rows = Block::decode(find(block))?.rows();
                order.extend(
                    rows.filter(|row| row.kind == Kind::Dir)
                        .map(|row| row.block()),
                );
                at += 1;
            }
        }
        let roots = [header.work, header.git];
        files::replace_by(path, 0o600, Durability::Lazy, &|out| {
            let mut out = Summed {
                out,
                sum: Crc::new(),
            };
            let mut head = Vec::with_capacity(256);
            head.extend_from_slice(BASE);
            head.extend_from_slice(&ulid::Ulid::generate().to_bytes());
            header.encode(&mut head);
            head.extend_from_slice(&u32::try_from(order.len()).unwrap_or(0).to_le_bytes());
            out.write_all(&head)?;
            for block in &order {
                let len = u32::try_from(find(*block).len()).unwrap_or(0);
                out.write_all(&len.to_le_bytes())?;
            }
            let mut next = 0;
            let mut bytes = Vec::new();
            for (at, block) in order.iter().enumerate() {
                if roots.iter().flatten().any(|root| root.block as usize == at) {
                    next = u32::try_from(at).unwrap_or(u32::MAX) + 1;
                }
                let Ok(old) = Block::decode(find(*block)) else {
                    return Err(std::io::ErrorKind::InvalidData.into());
                };
                bytes.clear();
                write_head(&old.stamp, old.racy, &old.tree, &mut bytes);
                for mut row in old.rows() {
                    if row.kind == Kind::Dir {
                        row.id = block_id(next);
                        next += 1;
                    }
                    write_row(&row, &mut bytes);
                }
                out.write_all(&bytes)?;
            }
            let sum = out.sum.sum();
            out.write_all(&sum.to_le_bytes())?;
            out.write_all(END)
        })
    }
}

/// Returns true for a file that reads as it was written.
fn is_whole(bytes: &[u8]) -> bool {
    let Some((bytes, end)) = bytes.split_last_chunk::<{ END.len() }>() else {
        return false;
    };
    let Some((bytes, noted)) = bytes.split_last_chunk() else {
        return false;
    };
    end == END && sum(bytes) == u32::from_le_bytes(*noted)
}

fn sum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// Sums up what passes.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: Crc,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn delta_path(path: &Path) -> PathBuf {
    path.with_extension("delta")
}
