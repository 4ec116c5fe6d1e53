//! Puts one path of a workspace into a given state, and follows no link on the way.
//!
//! A run may have swapped a directory for a link that leads out of the
//! workspace; whoever wrote through it would do the run's work for it.

use crate::error::{Context as _, Error, ErrorKind, Result};
use bstr::{BStr, ByteSlice as _};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What a path holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Absent,
    /// A file of these bytes and permission bits.
    File {
        /// The bytes.
        bytes: Vec<u8>,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link to this target.
    Link {
        /// The target.
        target: Vec<u8>,
    },
    /// Something else: a directory, a device, a pipe.
    Other,
}

impl Content {
    /// Content from bytes and a mode as a change tells it (`100644`, `120000`); `None` for what is no file or link.
    #[must_use]
    pub fn from_mode(bytes: Vec<u8>, mode: &str) -> Option<Self> {
        if mode.is_empty() {
            return Some(Self::Absent);
        }
        if mode == "120000" {
            return Some(Self::Link { target: bytes });
        }
        let bits = mode.strip_prefix("100")?;
        Some(Self::File {
            bytes,
            mode: u32::from_str_radix(bits, 8).ok()?,
        })
    }
}

/// What a path holds, its bytes not read yet.
#[derive(Debug)]
pub enum Open {
    /// Nothing.
    Absent,
    /// A file, open to be read.
    File {
        /// The file.
        file: File,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link to this target.
    Link {
        /// The target.
        target: Vec<u8>,
    },
    /// Something else: a directory, a device, a pipe.
    Other,
}

/// Opens a path below `root`.
///
/// # Errors
/// When it cannot be opened, or a link leads to it.
pub fn open(root: &Path, path: &BStr) -> Result<Open> {
    let doing = || format!("cannot read {path}");
    let Some((dir, name)) = parent(root, path, Parents::AsTheyAre)? else {
        return Ok(Open::Absent);
    };
    let stat = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Open::Absent),
        Err(error) => return Err(error).doing(ErrorKind::Io, doing),
    };
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => {
            let fd = rustix::fs::openat(
                &dir,
                name,
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                Mode::empty(),
            )
            .doing(ErrorKind::Io, doing)?;
            Ok(Open::File {
                file: File::from(fd),
                mode: stat.st_mode & 0o7777,
            })
        }
        rustix::fs::FileType::Symlink => {
            let target =
                rustix::fs::readlinkat(&dir, name, Vec::new()).doing(ErrorKind::Io, doing)?;
            Ok(Open::Link {
                target: target.into_bytes(),
            })
        }
        _ => Ok(Open::Other),
    }
}

/// Reads a path below `root`.
///
/// # Errors
/// When it cannot be read, or a link leads to it.
pub fn read(root: &Path, path: &BStr) -> Result<Content> {
    Ok(match open(root, path)? {
        Open::Absent => Content::Absent,
        Open::File { mut file, mode } => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut bytes)
                .doing(ErrorKind::Io, || format!("cannot read {path}"))?;
            Content::File { bytes, mode }
        }
        Open::Link { target } => Content::Link { target },
        Open::Other => Content::Other,
    })
}

/// The name that a path's new content has until it is whole; `tag` tells whose it is.
fn temporary(tag: &str) -> String {
    format!(".holdpoint-{tag}.tmp")
}

/// Removes what a killed [`put`] with this tag left beside a path.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn clear(root: &Path, path: &BStr, tag: &str) -> Result<()> {
    let Some((dir, _)) = parent(root, path, Parents::AsTheyAre)? else {
        return Ok(());
    };
    match rustix::fs::unlinkat(&dir, temporary(tag), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error).doing(ErrorKind::Io, || {
            format!("cannot remove a temporary file beside {path}")
        }),
    }
}

/// Puts a path below `root` into a state: by temporary file and rename, or by removing it.
///
/// The temporary file is named by `tag`, so that whoever finishes the work of
/// a killed process finds it.
///
/// # Errors
/// When a link or a file stands in the way of its directories, or the write fails.
pub fn put(root: &Path, path: &BStr, content: &Content, tag: &str) -> Result<()> {
    let doing = || format!("cannot put {path} back");
    let parents = if *content == Content::Absent {
        Parents::AsTheyAre
    } else {
        Parents::Made
    };
    let Some((dir, name)) = parent(root, path, parents)? else {
        return Ok(());
    };
    let temporary = temporary(tag);
    if *content != Content::Absent {
        clear(root, path, tag)?;
    }
    match content {
        Content::Absent => match rustix::fs::unlinkat(&dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error).doing(ErrorKind::Io, doing),
        },
        Content::File { bytes, mode } => put_file(root, path, &mut bytes.as_slice(), *mode, tag),
        Content::Link { target } => {
            let made = rustix::fs::symlinkat(target.as_slice(), &dir, temporary.as_str())
                .map_err(std::io::Error::from);
            finish(&dir, &temporary, name, made).doing(ErrorKind::Io, doing)
        }
        Content::Other => {
            Err(Error::new(ErrorKind::Io, doing()).because("it is neither a file nor a link"))
        }
    }
}

/// Puts a file with the bytes of `from` below `root`; see [`put`].
///
/// # Errors
/// As [`put`].
pub fn put_file(
    root: &Path,
    path: &BStr,
    from: &mut dyn std::io::Read,
    mode: u32,
    tag: &str,
) -> Result<()> {
    let doing = || format!("cannot put {path} back");
    clear(root, path, tag)?;
    let Some((dir, name)) = parent(root, path, Parents::Made)? else {
        return Ok(());
    };
    let temporary = temporary(tag);
    let fd = rustix::fs::openat(
        &dir,
        temporary.as_str(),
        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC,
        Mode::RUSR | Mode::WUSR,
    )
    .doing(ErrorKind::Io, doing)?;
    let mut file = File::from(fd);
    let written = std::io::copy(from, &mut file)
        .and_then(|_| file.sync_data())
        .and_then(|()| {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(std::io::Error::from)
        });
    finish(&dir, &temporary, name, written).doing(ErrorKind::Io, doing)
}

fn finish(
    dir: &OwnedFd,
    temporary: &str,
    name: &OsStr,
    made: std::io::Result<()>,
) -> std::io::Result<()> {
    made.and_then(|()| {
        // An empty directory may stand where the file was.
        if let Err(error) = rustix::fs::renameat(dir, temporary, dir, name) {
            if error == Errno::ISDIR {
                rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?;
                rustix::fs::renameat(dir, temporary, dir, name)?;
                return Ok(());
            }
            return Err(error.into());
        }
        Ok(())
    })
    .inspect_err(|_| {
        // The first error is the one to report.
        let _ = rustix::fs::unlinkat(dir, temporary, AtFlags::empty());
    })
}

/// Removes a directory below `root` if it is empty.
pub fn remove_empty_dir(root: &Path, path: &BStr) {
    if let Ok(Some((dir, name))) = parent(root, path, Parents::AsTheyAre) {
        // One that is not empty is to stay.
        let _ = rustix::fs::unlinkat(&dir, name, AtFlags::REMOVEDIR);
    }
}

/// Removes a directory below `root` and the directories in it, as far as they hold no file.
pub fn remove_empty_dirs(root: &Path, path: &BStr) {
    let dir = root.join(path.to_path_lossy());
    let is_dir = dir.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let Ok(entries) = is_dir.then(|| std::fs::read_dir(&dir)).transpose() else {
        return;
    };
    for entry in entries.into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let mut below = path.to_owned();
            below.push(b'/');
            below.extend_from_slice(entry.file_name().as_bytes());
            remove_empty_dirs(root, below.as_bstr());
        }
    }
    if is_dir {
        remove_empty_dir(root, path);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parents {
    AsTheyAre,
    Made,
}

/// Opens the directory of a path, and gives its last component; `None` where the directory is not there.
fn parent<'a>(
    root: &Path,
    path: &'a BStr,
    parents: Parents,
) -> Result<Option<(OwnedFd, &'a OsStr)>> {
    let doing = || format!("cannot reach {path}");
    let mut dir = rustix::fs::open(
        root,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .doing(ErrorKind::Io, doing)?;
    let mut components = path.split_str("/").peekable();
    while let Some(component) = components.next() {
        if component.is_empty() || component == b"." || component == b".." {
            return Err(Error::new(ErrorKind::Io, doing()).because("it is no plain path"));
        }
        let name = OsStr::from_bytes(component);
        if components.peek().is_none() {
            return Ok(Some((dir, name)));
        }
        let open = |dir: &OwnedFd| {
            rustix::fs::openat2(
                dir,
                name,
                OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
                Mode::empty(),
                ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
            )
        };
        dir = match open(&dir) {
            Ok(next) => next,
            Err(Errno::NOENT) if parents == Parents::Made => {
                rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(0o777))
                    .doing(ErrorKind::Io, doing)?;
                open(&dir).doing(ErrorKind::Io, doing)?
            }
            Err(Errno::NOENT | Errno::NOTDIR) if parents == Parents::AsTheyAre => {
                return Ok(None);
            }
            Err(error) => return Err(error).doing(ErrorKind::Io, doing),
        };
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn file(bytes: &[u8]) -> Content {
        Content::File {
            bytes: bytes.to_vec(),
            mode: 0o755,
        }
    }

    #[test]
    fn states_are_put_and_read_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = BStr::new("a/b/c");
        for content in [
            file(b"one\0two"),
            Content::Link {
                target: b"../x".to_vec(),
            },
            file(b""),
            Content::Absent,
        ] {
            put(dir.path(), path, &content, "t").expect("it is put");
            assert_eq!(read(dir.path(), path).expect("it is read"), content);
        }
        remove_empty_dir(dir.path(), BStr::new("a/b"));
        assert!(!dir.path().join("a/b").exists());
        assert_eq!(fs::read_dir(dir.path().join("a")).expect("a").count(), 0);
    }

    #[test]
    fn what_a_killed_put_left_is_in_nobodys_way() {
        let dir = tempfile::tempdir().expect("a directory");
        let litter = dir.path().join(".holdpoint-t.tmp");
        fs::write(&litter, "half").expect("a file");
        let path = BStr::new("x");
        put(dir.path(), path, &file(b"whole"), "t").expect("it is put");
        assert!(!litter.exists());
        fs::write(&litter, "half").expect("a file");
        clear(dir.path(), path, "t").expect("it is cleared");
        assert!(!litter.exists());
        assert_eq!(fs::read(dir.path().join("x")).expect("x"), b"whole");
    }

    #[test]
    fn no_link_is_followed_out() {
        let dir = tempfile::tempdir().expect("a directory");
        let outside = tempfile::tempdir().expect("a directory");
        symlink(outside.path(), dir.path().join("src")).expect("a link");
        assert!(put(dir.path(), BStr::new("src/x"), &file(b"x"), "t").is_err());
        assert!(put(dir.path(), BStr::new("../x"), &file(b"x"), "t").is_err());
        assert!(!outside.path().join("x").exists());
        fs::write(outside.path().join("y"), "kept").expect("a file");
        assert!(put(dir.path(), BStr::new("src/y"), &Content::Absent, "t").is_err());
        assert!(outside.path().join("y").exists());
    }
}
