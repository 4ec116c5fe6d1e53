//! Hard links to git's large immutable files: packs, commit graphs, LFS contents.
//!
//! Git never changes them in place, so a link costs no space while the person's
//! repository has them and keeps them when it has not. Where a link is not
//! possible (another file system, another owner) the file is copied.
//!
//! A program that overwrites such a file in place, against its read-only mode,
//! damages the link too: the bytes are one. `points verify` finds that out, and sets
//! a damaged link aside so that the next point links or copies what git has by then.

use super::id::ContentId;
use super::stamp::Stamp;
use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::failpoint;
use crate::sys::files;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file younger than this many seconds is synced, since git itself may not have.
const RECENT: i64 = 120;

/// The vault's directory of links.
#[derive(Debug)]
pub(super) struct Links {
    dir: PathBuf,
    touched: Mutex<BTreeSet<PathBuf>>,
}

/// What became of a file to be linked.
pub(super) enum Linked {
    /// It is in the vault under this id, and this is its stamp afterwards.
    Held(ContentId, Stamp),
    /// It went away meanwhile.
    Gone,
    /// It cannot be linked or read.
    Unreadable,
}

impl Links {
    /// The links in `dir`.
    pub(super) fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            touched: Mutex::default(),
        }
    }

    /// Where a link lies.
    pub(super) fn path(&self, id: &ContentId) -> PathBuf {
        let hex = id.hex();
        self.dir.join(hex.get(..2).unwrap_or_default()).join(hex)
    }

    /// Where all links lie.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The id of an immutable file: its own name is a hash of its content already.
    ///
    /// Packs of one name may differ in bytes, so their trailing checksum counts too.
    fn name(
        parent: &[u8],
        name: &[u8],
        stamp: &Stamp,
        file: Option<&File>,
    ) -> io::Result<ContentId> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"link\0");
        hasher.update(parent);
        hasher.update(b"/");
        hasher.update(name);
        hasher.update(&stamp.size.to_le_bytes());
        if let Some(file) = file {
            let mut tail = [0; 64];
            let len = stamp.size.min(64);
            let part = tail
                .split_at_mut(usize::try_from(len).unwrap_or_default())
                .0;
            file.read_exact_at(part, stamp.size - len)?;
            hasher.update(part);
        }
        Ok(ContentId(*hasher.finalize().as_bytes()))
    }

    /// Makes sure that the vault has the file `name` of the directory `at`.
    ///
    /// With `keep` false nothing is written; only the id is found.
    pub(super) fn hold(
        &self,
        at: BorrowedFd<'_>,
        parent: &[u8],
        name: &CStr,
        stamp: &Stamp,
        keep: bool,
    ) -> Result<Linked> {
        let doing = || {
            format!(
                "cannot link git's {} into the vault",
                name.to_string_lossy()
            )
        };
        let loose = parent.len() == 2;
        let file = if loose {
            None
        } else {
            match open(at, name) {
                Ok(file) => Some(file),
                Err(Errno::NOENT) => return Ok(Linked::Gone),
                Err(_) => return Ok(Linked::Unreadable),
            }
        };
        let id = Self::name(parent, name.to_bytes(), stamp, file.as_ref())
            .doing(ErrorKind::Io, doing)?;
        if !keep {
            return Ok(Linked::Held(id, *stamp));
        }
        let path = self.path(&id);
        let Some(dir) = path.parent() else {
            return Ok(Linked::Unreadable);
        };
        for _ in 0..2 {
            failpoint::reach();
            match rustix::fs::linkat(at, name, rustix::fs::CWD, &path, AtFlags::empty()) {
                Ok(()) => {
                    self.touch(dir);
                    if recent(stamp) {
                        File::open(&path)
                            .and_then(|file| file.sync_all())
                            .doing(ErrorKind::Io, doing)?;
                    }
                    break;
                }
                Err(Errno::EXIST) => break,
                // Either the source went away or our directory is not there yet.
                Err(Errno::NOENT) => {
                    if rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                        return Ok(Linked::Gone);
                    }
                    files::make_private_dir(dir)?;
                }
                Err(_) => {
                    files::make_private_dir(dir)?;
                    let source = match file.map_or_else(|| open(at, name), Ok) {
                        Ok(source) => source,
                        Err(Errno::NOENT) => return Ok(Linked::Gone),
                        Err(_) => return Ok(Linked::Unreadable),
                    };
                    self.copy(source, &path)?;
                    break;
                }
            }
        }
        // A new link changes the inode's ctime; the cache wants the stamp after it.
        match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Linked::Held(id, Stamp::of(&stat))),
            Err(_) => Ok(Linked::Gone),
        }
    }

    fn copy(&self, mut source: File, path: &Path) -> Result<()> {
        let doing = || format!("cannot copy into {}", path.display());
        if path.exists() {
            return Ok(());
        }
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        failpoint::reach();
        let mut target = File::create(&temporary).doing(ErrorKind::Io, doing)?;
        let copied = io::copy(&mut source, &mut target)
            .and_then(|_| {
                use std::os::unix::fs::PermissionsExt as _;
                target.set_permissions(fs::Permissions::from_mode(0o444))?;
                target.sync_all()?;
                failpoint::reach();
                fs::rename(&temporary, path)
            })
            .doing(ErrorKind::Io, doing);
        if copied.is_err() {
            // The copy's own error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
        copied?;
        if let Some(dir) = path.parent() {
            self.touch(dir);
        }
        Ok(())
    }

    fn touch(&self, dir: &Path) {
        self.touched
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(dir.to_path_buf());
    }

    /// Waits until all new links are on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        let touched =
            std::mem::take(&mut *self.touched.lock().unwrap_or_else(PoisonError::into_inner));
        for dir in touched
            .iter()
            .map(PathBuf::as_path)
            .chain((!touched.is_empty()).then_some(self.dir.as_path()))
        {
            File::open(dir)
                .and_then(|dir| dir.sync_all())
                .doing(ErrorKind::Io, || format!("cannot sync {}", dir.display()))?;
        }
        Ok(())
    }
}

/// Checks that a link is there, has the length and the end that its id was made of,
/// and that its bytes are those that git or git-lfs wrote.
pub(super) fn check(links: &Links, dir: &[u8], row: &super::tree::Row) -> Result<()> {
    let path = links.path(&row.id);
    let doing = || format!("cannot read {}", path.display());
    let file = File::open(&path).doing(ErrorKind::Io, doing)?;
    let stat = rustix::fs::fstat(&file).doing(ErrorKind::Io, doing)?;
    let stamp = Stamp::of(&stat);
    let dir = dir.strip_suffix(b"/").unwrap_or(dir);
    let parent = dir.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let with_end = (parent.len() != 2).then_some(&file);
    let id = Links::name(parent, &row.name, &stamp, with_end).doing(ErrorKind::Io, doing)?;
    if id == row.id && is_whole(&file, &row.name, stamp.size).doing(ErrorKind::Io, doing)? {
        Ok(())
    } else {
        Err(super::bytes::damaged("a link to one of git's objects"))
    }
}

/// Holds a file's bytes against the hash that it carries: git ends its packs and
/// indexes with one, git-lfs names its files by one.
pub(super) fn is_whole(file: &File, name: &[u8], size: u64) -> io::Result<bool> {
    if name.len() == 64 && name.iter().all(u8::is_ascii_hexdigit) {
        let found = digest::<sha2::Sha256>(file, size)?;
        return Ok(name.eq_ignore_ascii_case(hex(&found).as_bytes()));
    }
    let ended = name.starts_with(b"pack-")
        || name.starts_with(b"multi-pack-index")
        || name.starts_with(b"graph-")
        || name == b"commit-graph";
    if !ended {
        return Ok(true);
    }
    let ends_with = |len: u64, found: &[u8]| -> io::Result<bool> {
        let mut end = vec![0; found.len()];
        file.read_exact_at(&mut end, size.saturating_sub(len))?;
        Ok(end == found)
    };
    Ok(
        (size >= 20 && ends_with(20, &digest::<sha1::Sha1>(file, size - 20)?)?)
            || (size >= 32 && ends_with(32, &digest::<sha2::Sha256>(file, size - 32)?)?),
    )
}

/// The hash of the first `len` bytes.
fn digest<D: sha2::Digest>(file: &File, len: u64) -> io::Result<Vec<u8>> {
    let mut hasher = D::new();
    let mut buffer = vec![0; 1 << 16];
    let mut at = 0;
    while at < len {
        let wanted = usize::try_from(len - at).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = file.read_at(buffer.split_at_mut(wanted).0, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(buffer.split_at(read).0);
        at += read as u64;
    }
    Ok(hasher.finalize().to_vec())
}

/// Bytes as hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn open(at: BorrowedFd<'_>, name: &CStr) -> Result<File, Errno> {
    rustix::fs::openat(
        at.as_fd(),
        name,
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .map(File::from)
}

fn recent(stamp: &Stamp) -> bool {
    super::stamp::file_clock().0 - stamp.mtime.0 < RECENT
}
