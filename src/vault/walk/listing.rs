//! Opens and lists directories below a root without following links.

use rustix::fs::{FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::error::{Context as _, ErrorKind, Result};

const DIR: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The kernel takes paths of up to 4095 bytes.
const LONGEST: usize = 4000;

/// Opens the top of a tree.
pub(in crate::vault) fn open_root(path: &Path) -> Result<OwnedFd> {
    rustix::fs::open(path, DIR, Mode::empty())
        .doing(ErrorKind::Io, || format!("cannot open {}", path.display()))
}

/// Opens a directory below `root`; no component may be a link.
pub(in crate::vault) fn open_below(root: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    if path.is_empty() {
        return rustix::fs::openat(root, c".", DIR, Mode::empty());
    }
    if path.len() > LONGEST {
        let at = path
            .iter()
            .take(LONGEST)
            .rposition(|byte| *byte == b'/')
            .ok_or(Errno::NAMETOOLONG)?;
        let (head, tail) = path.split_at(at);
        let middle = open_below(root, head)?;
        return open_below(middle.as_fd(), tail.get(1..).unwrap_or_default());
    }
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match rustix::fs::openat2(root, path, DIR, Mode::empty(), resolve) {
        // Kernels before 5.6 and some sandboxes do not have it.
        Err(Errno::NOSYS | Errno::PERM) => step_below(root, path),
        other => other,
    }
}

fn step_below(root: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    let mut dir = rustix::fs::openat(root, c".", DIR, Mode::empty())?;
    for name in path.split(|byte| *byte == b'/') {
        dir = rustix::fs::openat(&dir, name, DIR, Mode::empty())?;
    }
    Ok(dir)
}

/// A directory's names, sorted.
pub(super) struct Listing<'a> {
    /// All names one after another, each ended by a zero byte.
    pub(super) names: &'a [u8],
    /// Where each is, its length with the zero byte, and its type as far as known.
    pub(super) entries: &'a [(usize, usize, FileType)],
}

impl<'a> Listing<'a> {
    /// The names with their types, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a CStr, FileType)> {
        let names = self.names;
        self.entries.iter().filter_map(move |(at, len, kind)| {
            let bytes = names.get(*at..at + len)?;
            Some((CStr::from_bytes_with_nul(bytes).ok()?, *kind))
        })
    }

    /// The type of a name.
    pub(super) fn get(&self, name: &[u8]) -> Option<FileType> {
        self.entries
            .binary_search_by(|(at, len, _)| {
                self.names
                    .get(*at..at + len - 1)
                    .unwrap_or_default()
                    .cmp(name)
            })
            .ok()
            .and_then(|found| self.entries.get(found))
            .map(|(_, _, kind)| *kind)
    }
}

/// Reads all names of a directory into the given buffers, sorted.
pub(super) fn list(
    dir: &OwnedFd,
    buffer: &mut Vec<u8>,
    names: &mut Vec<u8>,
    entries: &mut Vec<(usize, usize, FileType)>,
) -> Result<(), Errno> {
    names.clear();
    entries.clear();
    buffer.clear();
    let mut raw = RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(entry) = raw.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes_with_nul();
        if name == b".\0" || name == b"..\0" {
            continue;
        }
        entries.push((names.len(), name.len(), entry.file_type()));
        names.extend_from_slice(name);
    }
    entries.sort_unstable_by(|a, b| {
        let text = |(at, len, _): &(usize, usize, FileType)| names.get(*at..at + len - 1);
        text(a).cmp(&text(b))
    });
    Ok(())
}
