//! The sides of a held change as files: compared, kept and put back a piece at a time, however large they are.

use super::beneath::{self, Content};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use crate::vault::{self, SafetyPoint};
use bstr::BStr;
use std::cell::Cell;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// One side of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    Absent,
    /// A file with the bytes of `kept`.
    File {
        /// Where the bytes lie.
        kept: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link to this target.
    Link {
        /// The target.
        target: Vec<u8>,
    },
}

impl Body {
    /// The side whose bytes lie in `kept`, by its mode as a change tells it.
    ///
    /// # Errors
    /// When the bytes are gone, or the mode is neither a file's nor a link's.
    pub fn of(kept: PathBuf, mode: &str) -> Result<Self> {
        if mode.is_empty() {
            return Ok(Self::Absent);
        }
        let gone = || format!("the kept bytes are gone ({})", kept.display());
        if mode == "120000" {
            let target = std::fs::read(&kept).doing(ErrorKind::Damaged, gone)?;
            return Ok(Self::Link { target });
        }
        kept.metadata().doing(ErrorKind::Damaged, gone)?;
        match mode
            .strip_prefix("100")
            .and_then(|bits| u32::from_str_radix(bits, 8).ok())
        {
            Some(mode) => Ok(Self::File { kept, mode }),
            None => Err(Error::new(
                ErrorKind::Damaged,
                format!("{mode} is the mode of neither a file nor a link"),
            )),
        }
    }

    /// Whether a path below `root` is in this state.
    ///
    /// # Errors
    /// When it cannot be read, or a link leads to it.
    pub fn is_at(&self, root: &Path, path: &BStr) -> Result<bool> {
        match (beneath::open(root, path)?, self) {
            (beneath::Open::Absent, Self::Absent) => Ok(true),
            (beneath::Open::Link { target }, Self::Link { target: wanted }) => {
                Ok(target == *wanted)
            }
            (beneath::Open::File { file, mode }, Self::File { kept, mode: wanted }) => {
                let doing = || format!("cannot compare {path}");
                let kept = File::open(kept).doing(ErrorKind::Damaged, doing)?;
                if mode != *wanted {
                    return Ok(false);
                }
                same(file, kept).doing(ErrorKind::Io, doing)
            }
            _ => Ok(false),
        }
    }

    /// Puts a path below `root` into this state; see [`beneath::put`].
    ///
    /// # Errors
    /// As [`beneath::put`].
    pub fn put(&self, root: &Path, path: &BStr, tag: &str) -> Result<()> {
        match self {
            Self::Absent => beneath::put(root, path, &Content::Absent, tag),
            Self::Link { target } => {
                let link = Content::Link {
                    target: target.clone(),
                };
                beneath::put(root, path, &link, tag)
            }
            Self::File { kept, mode } => {
                let mut from = File::open(kept).doing(ErrorKind::Damaged, || {
                    format!("the kept bytes of {path} are gone ({})", kept.display())
                })?;
                beneath::put_file(root, path, &mut from, *mode, tag)
            }
        }
    }
}

fn same(mut a: File, mut b: File) -> std::io::Result<bool> {
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let read = fill(&mut a, &mut left)?;
        if read != fill(&mut b, &mut right)? || left.get(..read) != right.get(..read) {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file is at its end.
fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Keeps what a safety point has of a path in `to`.
///
/// # Errors
/// When the point does not hold it, or it cannot be written.
pub fn keep_before(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    path: &BStr,
    to: &Path,
) -> Result<()> {
    let held = Cell::new(true);
    let copied = files::replace_by(to, 0o600, Durability::Synced, &|out| {
        let copied = vault::copy_content(env, workspace, point, path, out);
        held.set(copied.map_err(std::io::Error::other)?);
        Ok(())
    });
    if held.get() {
        return copied;
    }
    Err(Error::new(
        ErrorKind::Damaged,
        format!("the safety point {} does not hold {path}", point.id),
    )
    .hint(format!("look at it: holdpoint points show {}", point.id)))
}

/// What was found of a path that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is kept.
    Kept,
    /// A pipe, a socket, a device or a directory: it holds nothing that could be kept.
    Special,
    /// Nothing is there.
    Absent,
}

/// Keeps what is below `root` under a path in `to`.
///
/// # Errors
/// When it cannot be read or written.
pub fn keep_after(root: &Path, path: &BStr, to: &Path) -> Result<Found> {
    match beneath::open(root, path)? {
        beneath::Open::Absent => Ok(Found::Absent),
        beneath::Open::Other => Ok(Found::Special),
        beneath::Open::Link { target } => {
            files::replace(to, &target, 0o600, Durability::Synced)?;
            Ok(Found::Kept)
        }
        beneath::Open::File { file, .. } => {
            files::replace_by(to, 0o600, Durability::Synced, &|out| {
                std::io::copy(&mut &file, out).map(|_| ())
            })?;
            Ok(Found::Kept)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_kept_compared_and_put_back_by_pieces() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().join("root");
        std::fs::create_dir(&root).expect("the root");
        let bytes: Vec<u8> = (0..=255).cycle().take(PIECE * 2 + 17).collect();
        std::fs::write(root.join("f"), &bytes).expect("a file");
        let path = BStr::new("f");
        let kept = dir.path().join("kept");
        assert_eq!(keep_after(&root, path, &kept).expect("kept"), Found::Kept);
        let body = Body::File {
            kept: kept.clone(),
            mode: 0o640,
        };
        assert!(!body.is_at(&root, path).expect("compared"));
        body.put(&root, path, "t").expect("put");
        assert!(body.is_at(&root, path).expect("compared"));
        let mut other = bytes.clone();
        *other.last_mut().expect("a byte") ^= 1;
        std::fs::write(root.join("f"), &other).expect("a file");
        assert!(!body.is_at(&root, path).expect("compared"));
        body.put(&root, path, "t").expect("put");
        assert_eq!(std::fs::read(root.join("f")).expect("f"), bytes);
        assert_eq!(
            keep_after(&root, BStr::new("none"), &kept).expect("looked"),
            Found::Absent
        );
    }
}
