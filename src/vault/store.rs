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
use std::sync::{Arc, Mutex, PoisonError};

/// Reads contents from whichever pack has them.
#[derive(Debug)]
pub(super) struct Store {
    dir: PathBuf,
    packs: Mutex<Option<Arc<Vec<Pack>>>>,
}

impl Store {
    /// Opens the store in `dir`; packs are opened when the first content is asked for.
    pub(super) fn open(dir: PathBuf) -> Self {
        Self {
            dir,
            packs: Mutex::new(None),
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
        read: impl Fn(&Pack, &Entry) -> Result<T>,
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
        let (encoding, raw, payload, path) = self
            .with(id, |pack, entry| {
                Ok((
                    entry.encoding,
                    entry.raw,
                    pack.payload(entry)?,
                    pack.path().to_path_buf(),
                ))
            })?
            .ok_or_else(|| missing(id))?;
        let emit = |bytes: &[u8], out: &mut dyn Write| {
            out.write_all(bytes).doing(ErrorKind::Io, || {
                "cannot write a restored content".to_owned()
            })
        };
        match encoding {
            Encoding::Raw | Encoding::Zstd => {
                let bytes = expand(encoding, raw, payload, &path)?;
                if ContentId::of(&bytes) != *id {
                    return Err(damaged_pack(&path));
                }
                emit(&bytes, out)?;
                Ok(bytes.len() as u64)
            }
            Encoding::Chunks => {
                let mut hasher = blake3::Hasher::new();
                let mut written = 0;
                for part in parts(&payload)? {
                    let bytes = self.piece(&part)?;
                    hasher.update(&bytes);
                    emit(&bytes, out)?;
                    written += bytes.len() as u64;
                }
                if *hasher.finalize().as_bytes() != id.0 {
                    return Err(damaged_pack(&path));
                }
                Ok(written)
            }
        }
    }

    fn piece(&self, id: &ContentId) -> Result<Vec<u8>> {
        let bytes = self
            .with(id, |pack, entry| {
                if entry.encoding == Encoding::Chunks {
                    return Err(damaged_pack(pack.path()));
                }
                expand(entry.encoding, entry.raw, pack.payload(entry)?, pack.path())
            })?
            .ok_or_else(|| missing(id))?;
        if ContentId::of(&bytes) == *id {
            Ok(bytes)
        } else {
            Err(damaged("a content of the vault"))
        }
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
        for name in &names {
            packs.extend(Pack::open(&dir.join(name))?);
        }
        if packs.len() == names.len() {
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

fn expand(encoding: Encoding, raw: u64, payload: Vec<u8>, path: &Path) -> Result<Vec<u8>> {
    if encoding == Encoding::Raw {
        return Ok(payload);
    }
    let len = usize::try_from(raw).map_err(|_| damaged_pack(path))?;
    zstd::bulk::decompress(&payload, len).map_err(|error| damaged_pack(path).because(error))
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

/// One thread's way of putting contents into a pack.
pub(super) struct Packer<'a> {
    store: &'a Store,
    pack: Option<&'a PackWriter>,
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
            zstd: zstd::bulk::Compressor::new(1)
                .doing(ErrorKind::Internal, || "cannot start zstd".to_owned())?,
            small: Vec::new(),
            window: Vec::new(),
            scratch: Vec::new(),
        })
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
