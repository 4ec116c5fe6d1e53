//! The vault's contents: all packs together.

use super::bytes::{Reader, damaged};
use super::chunk;
use super::id::ContentId;
use super::pack::{Encoding, Entry, Pack, PackWriter, damaged_pack};
use super::tree::Tree;
use crate::error::{Context as _, Error, ErrorKind, Result};
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reads contents from whichever pack has them.
pub(super) struct Store {
    dir: PathBuf,
    packs: Mutex<Option<Arc<Vec<Pack>>>>,
    /// The buffers of whoever read last, for who reads next.
    spare: Mutex<Option<Unpacker>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("dir", &self.dir)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the store in `dir`; packs are opened when the first content is asked for.
    pub(super) fn open(dir: PathBuf) -> Self {
        Self {
            dir,
            packs: Mutex::new(None),
            spare: Mutex::new(None),
        }
    }

    /// Where the packs lie.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// All packs, newest first.
    pub(super) fn packs(&self) -> Result<Arc<Vec<Pack>>> {
        let mut held = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(packs) = &*held {
            return Ok(Arc::clone(packs));
        }
        let packs = Arc::new(list(&self.dir)?);
        *held = Some(Arc::clone(&packs));
        Ok(packs)
    }

    /// Forgets which packs there are; the next question looks again.
    pub(super) fn refresh(&self) {
        *self.packs.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns true when a pack has the content.
    pub(super) fn has(&self, id: &ContentId) -> Result<bool> {
        for pack in self.packs()?.iter() {
            if pack.find(id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn with<T>(
        &self,
        id: &ContentId,
        mut read: impl FnMut(&Pack, &Entry) -> Result<T>,
    ) -> Result<Option<T>> {
        // A pack may have been merged into another since the list was made.
        for attempt in 0..2 {
            if attempt > 0 {
                self.refresh();
            }
            for pack in self.packs()?.iter() {
                if let Some(entry) = pack.find(id)? {
                    return read(pack, &entry).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// Writes a content to `out`, piece by piece, and checks it against its id.
    pub(super) fn copy(&self, id: &ContentId, out: &mut dyn Write) -> Result<u64> {
        let mut unpacker = self.spare().take().map_or_else(Unpacker::new, Ok)?;
        let copied = self.copy_through(&mut unpacker, id, out);
        *self.spare() = Some(unpacker);
        copied
    }

    fn spare(&self) -> MutexGuard<'_, Option<Unpacker>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn copy_through(
        &self,
        unpacker: &mut Unpacker,
        id: &ContentId,
        out: &mut dyn Write,
    ) -> Result<u64> {
        let emit = |bytes: &[u8], out: &mut dyn Write| {
            out.write_all(bytes).doing(ErrorKind::Io, || {
                "cannot write a restored content".to_owned()
            })
        };
        let Some(list) = self.unpack(unpacker, id)? else {
            if ContentId::of(&unpacker.content) != *id {
                return Err(damaged("a content of the vault"));
            }
            emit(&unpacker.content, out)?;
            return Ok(unpacker.content.len() as u64);
        };
        let mut hasher = blake3::Hasher::new();
        let mut written = 0;
        for part in &list {
            if self.unpack(unpacker, part)?.is_some() {
                return Err(damaged("a list of chunks"));
            }
            hasher.update(&unpacker.content);
            emit(&unpacker.content, out)?;
            written += unpacker.content.len() as u64;
        }
        if *hasher.finalize().as_bytes() != id.0 {
            return Err(damaged("a content of the vault"));
        }
        Ok(written)
    }

    /// Reads a content in one piece into the unpacker; its chunks where it has some.
    ///
    /// The caller holds what it makes of it against the id: of a list that is the whole only.
    fn unpack(&self, unpacker: &mut Unpacker, id: &ContentId) -> Result<Option<Vec<ContentId>>> {
        self.with(id, |pack, entry| unpacker.read(pack, entry))?
            .ok_or_else(|| missing(id))
    }

    /// Reads a whole content.
    pub(super) fn read(&self, id: &ContentId) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.copy(id, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a directory.
    pub(super) fn tree(&self, id: &ContentId) -> Result<Tree> {
        Tree::decode(&self.read(id)?)
    }

    /// The chunks that a content consists of, where it has any.
    pub(super) fn chunks(&self, id: &ContentId) -> Result<Vec<ContentId>> {
        self.with(id, |pack, entry| {
            if entry.encoding == Encoding::Chunks {
                parts(&pack.payload(entry)?)
            } else {
                Ok(Vec::new())
            }
        })?
        .ok_or_else(|| missing(id))
    }
}

/// How often the packs are listed anew when some went away meanwhile.
const ATTEMPTS: usize = 10;

fn list(dir: &Path) -> Result<Vec<Pack>> {
    for _ in 0..ATTEMPTS {
        let names = names(dir)?;
        let mut packs = Vec::with_capacity(names.len());
        let mut damaged = 0;
        for name in &names {
            match Pack::open(&dir.join(name)) {
                // What it held is missing; the others are as good as before.
                Err(error) if error.kind() == ErrorKind::Damaged => damaged += 1,
                opened => packs.extend(opened?),
            }
        }
        if packs.len() + damaged == names.len() {
            return Ok(packs);
        }
    }
    Err(Error::new(
        ErrorKind::Busy,
        format!("cannot list {}: its packs keep moving", dir.display()),
    ))
}

fn names(dir: &Path) -> Result<Vec<OsString>> {
    let doing = || format!("cannot list {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).doing(ErrorKind::Io, doing),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.doing(ErrorKind::Io, doing)?.file_name();
        if name
            .to_str()
            .and_then(|name| name.strip_suffix(".pack"))
            .is_some_and(|name| !name.starts_with("tmp-"))
        {
            names.push(name);
        }
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names)
}

/// What it takes to read contents one after another.
struct Unpacker {
    zstd: zstd::bulk::Decompressor<'static>,
    payload: Vec<u8>,
    content: Vec<u8>,
}

impl Unpacker {
    fn new() -> Result<Self> {
        Ok(Self {
            zstd: zstd::bulk::Decompressor::new()
                .doing(ErrorKind::Internal, || "cannot start zstd".to_owned())?,
            payload: Vec::new(),
            content: Vec::new(),
        })
    }

    /// Reads a content into `content`; returns its chunks where it has some.
    fn read(&mut self, pack: &Pack, entry: &Entry) -> Result<Option<Vec<ContentId>>> {
        let damaged = || damaged_pack(pack.path());
        match entry.encoding {
            Encoding::Raw => pack.payload_into(entry, &mut self.content)?,
            Encoding::Zstd => {
                pack.payload_into(entry, &mut self.payload)?;
                let len = usize::try_from(entry.raw)
                    .ok()
                    .filter(|len| *len <= chunk::WHOLE)
                    .ok_or_else(damaged)?;
                self.content.clear();
                self.content.reserve(len);
                self.zstd
                    .decompress_to_buffer(&self.payload, &mut self.content)
                    .map_err(|error| damaged().because(error))?;
            }
            Encoding::Chunks => {
                pack.payload_into(entry, &mut self.payload)?;
                return parts(&self.payload).map(Some);
            }
        }
        Ok(None)
    }
}

fn parts(payload: &[u8]) -> Result<Vec<ContentId>> {
    let mut reader = Reader::new(payload, "a list of chunks");
    let mut parts = Vec::with_capacity(payload.len() / ContentId::LEN);
    while !reader.is_empty() {
        parts.push(ContentId(reader.array()?));
    }
    Ok(parts)
}

fn missing(id: &ContentId) -> Error {
    Error::new(
        ErrorKind::Damaged,
        format!("the vault does not have the content {id}"),
    )
    .hint("see which points are whole: holdpoint points verify")
}

/// Bytes from which a content is worth another thread's while.
const LONG: usize = 32 << 10;

/// Somebody else who may compress a content and add it to the same pack.
pub(super) trait Aside: Sync {
    /// Takes the content where somebody has time for it, and sees to it that it is added.
    fn offer(&self, id: ContentId, bytes: &[u8]) -> bool;
}

/// One thread's way of putting contents into a pack.
pub(super) struct Packer<'a> {
    store: &'a Store,
    pack: Option<&'a PackWriter>,
    aside: Option<&'a dyn Aside>,
    zstd: zstd::bulk::Compressor<'static>,
    small: Vec<u8>,
    window: Vec<u8>,
    /// A buffer for whoever reads what is to be put.
    pub(super) scratch: Vec<u8>,
}

impl<'a> Packer<'a> {
    /// Prepares to write to `pack`; without one, contents are only named.
    pub(super) fn new(store: &'a Store, pack: Option<&'a PackWriter>) -> Result<Self> {
        Ok(Self {
            store,
            pack,
            aside: None,
            zstd: zstd::bulk::Compressor::new(1)
                .doing(ErrorKind::Internal, || "cannot start zstd".to_owned())?,
            small: Vec::new(),
            window: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Lets others who have nothing to do compress what is long.
    pub(super) fn helped_by(mut self, aside: &'a dyn Aside) -> Self {
        self.aside = Some(aside);
        self
    }

    /// Keeps a content that is in memory.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<ContentId> {
        if bytes.len() > chunk::WHOLE {
            let mut source = bytes;
            return self.stream(&mut source).map(|(id, _)| id);
        }
        let id = ContentId::of(bytes);
        self.put_named(id, bytes)?;
        Ok(id)
    }

    fn put_named(&mut self, id: ContentId, bytes: &[u8]) -> Result<()> {
        let Some(pack) = self.pack else {
            return Ok(());
        };
        if pack.has(&id) || self.store.has(&id)? {
            return Ok(());
        }
        if bytes.len() >= LONG && self.aside.is_some_and(|aside| aside.offer(id, bytes)) {
            return Ok(());
        }
        self.pack_named(id, bytes)
    }

    /// Compresses a content that the pack has not got, and adds it.
    pub(super) fn pack_named(&mut self, id: ContentId, bytes: &[u8]) -> Result<()> {
        let Some(pack) = self.pack else {
            return Ok(());
        };
        self.small.clear();
        self.small
            .reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        self.zstd
            .compress_to_buffer(bytes, &mut self.small)
            .doing(ErrorKind::Internal, || {
                "cannot compress a content".to_owned()
            })?;
        let raw = bytes.len() as u64;
        if self.small.len() < bytes.len() {
            pack.add(id, raw, Encoding::Zstd, &self.small)
        } else {
            pack.add(id, raw, Encoding::Raw, bytes)
        }
    }

    /// Keeps a content of any length that is read piece by piece; returns its id and length.
    pub(super) fn stream(&mut self, source: &mut dyn Read) -> Result<(ContentId, u64)> {
        let mut window = std::mem::take(&mut self.window);
        window.resize(chunk::LOOK * 2, 0);
        let streamed = self.stream_through(source, &mut window);
        self.window = window;
        streamed
    }

    fn stream_through(
        &mut self,
        source: &mut dyn Read,
        buffer: &mut [u8],
    ) -> Result<(ContentId, u64)> {
        let mut hasher = blake3::Hasher::new();
        let mut list = Vec::new();
        let mut total = 0_u64;
        let (mut start, mut end, mut at_end) = (0, 0, false);
        loop {
            let window = buffer.get(start..end).unwrap_or_default();
            if let Some(len) = (at_end || window.len() >= chunk::LOOK)
                .then(|| chunk::cut(window, at_end))
                .flatten()
            {
                let piece = window.split_at(len).0;
                let id = ContentId::of(piece);
                hasher.update(piece);
                total += len as u64;
                list.extend_from_slice(&id.0);
                self.put_named(id, piece)?;
                start += len;
            } else if at_end {
                break;
            } else {
                buffer.copy_within(start..end, 0);
                end -= start;
                start = 0;
                let free = buffer.get_mut(end..).unwrap_or_default();
                match source.read(free) {
                    Ok(0) => at_end = true,
                    Ok(read) => end += read,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        return Err(error).doing(ErrorKind::Io, || "cannot read a file".to_owned());
                    }
                }
            }
        }
        let id = ContentId(*hasher.finalize().as_bytes());
        if let Some(pack) = self.pack
            && !pack.has(&id)
            && !self.store.has(&id)?
        {
            if list.len() == ContentId::LEN {
                // One chunk is the content itself and is there already.
            } else if list.is_empty() {
                self.put_named(id, b"")?;
            } else {
                pack.add(id, total, Encoding::Chunks, &list)?;
            }
        }
        Ok((id, total))
    }
}
