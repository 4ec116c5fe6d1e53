//! Refs as they lie in files: `HEAD`, loose refs, `packed-refs`.
//!
//! Reads through a function from path to bytes, so that the same code reads the
//! refs of a git directory and those of a point.

use crate::error::{Context as _, Result};
use crate::sys::files;
use bstr::{BString, ByteSlice as _};
use rustix::io::Errno;
use std::path::Path;

/// Reads a file of a git directory by its path in it; `None` when there is none.
pub(super) type Read<'a> = dyn Fn(&[u8]) -> Result<Option<Vec<u8>>> + 'a;

/// Reads a file of a git directory as it lies; `None` where there is none, no directory for it,
/// or something in its place that is no file or that nobody may read.
pub(super) fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match files::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if !is_trouble(&error) => Ok(None),
        Err(error) => Err(error).doing(crate::error::ErrorKind::Io, || {
            format!("cannot read {}", path.display())
        }),
    }
}

/// Returns true where the system could not read, whatever lies there.
fn is_trouble(error: &std::io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(
        errno,
        Some(Errno::IO | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::STALE)
    )
}

/// Where `HEAD` points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The branch, full name; `None` when detached.
    pub(super) branch: Option<BString>,
    /// The commit, hex; `None` when unborn.
    pub(super) commit: Option<String>,
}

/// Reads `HEAD` of the worktree whose private part of the git directory is `private`.
pub(super) fn head(read: &Read<'_>, private: &[u8]) -> Result<Head> {
    let mut path = private.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(b"HEAD");
    let Some(bytes) = read(&path)? else {
        return Ok(Head::default());
    };
    Ok(match bytes.trim_ascii().strip_prefix(b"ref:") {
        Some(name) => {
            let name = name.trim_ascii();
            Head {
                branch: Some(name.into()),
                commit: value(read, name)?,
            }
        }
        None => Head {
            branch: None,
            commit: object(&bytes),
        },
    })
}

/// What a ref names: loose first, then packed, symbolic refs followed.
pub(super) fn value(read: &Read<'_>, name: &[u8]) -> Result<Option<String>> {
    let mut name = name.to_vec();
    for _ in 0..5 {
        match read(&name)? {
            Some(bytes) => match bytes.trim_ascii().strip_prefix(b"ref:") {
                Some(next) => name = next.trim_ascii().to_vec(),
                None => return Ok(object(&bytes)),
            },
            None => {
                return Ok(read(b"packed-refs")?.and_then(|packed| {
                    packed.lines().find_map(|line| {
                        let (id, packed_name) = line.split_once_str(" ")?;
                        (packed_name == name.as_slice()).then(|| object(id))?
                    })
                }));
            }
        }
    }
    Ok(None)
}

/// Returns true for what a loose ref may say: an object's name, or that of another ref.
pub(super) fn is_value(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ref:") || object(bytes).is_some()
}

/// Returns true for a list of refs that git can read.
pub(super) fn is_packed(bytes: &[u8]) -> bool {
    let is_line = |line: &[u8]| match line.split_once_str(" ") {
        _ if line.starts_with(b"#") => true,
        Some((id, name)) => object(id).is_some() && name.starts_with(b"refs/"),
        None => line.strip_prefix(b"^").and_then(object).is_some(),
    };
    (bytes.is_empty() || bytes.ends_with(b"\n")) && bytes.lines().all(is_line)
}

/// An object's name, in hex digits.
pub(super) fn object(bytes: &[u8]) -> Option<String> {
    let text = bytes.trim_ascii().to_str().ok()?;
    (matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| text.to_owned())
}

/// `packed-refs` without one ref and what is peeled of it.
pub(super) fn without(packed: &[u8], name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(packed.len());
    let mut dropped = false;
    for line in packed.lines_with_terminator() {
        if line.starts_with(b"^") && dropped {
            continue;
        }
        dropped = line
            .trim_ascii()
            .split_once_str(" ")
            .is_some_and(|(_, packed_name)| packed_name == name);
        if !dropped {
            out.extend_from_slice(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_refs_is_told_from_garbage() {
        let id = "a".repeat(40);
        for (text, expected) in [
            (String::new(), true),
            (
                format!("# pack-refs with: peeled\n{id} refs/heads/a\n^{id}\n"),
                true,
            ),
            (format!("{id} refs/heads/a"), false),
            (format!("{id} refs/heads/a\n{}", "b".repeat(20)), false),
            (format!("{id} junk\n"), false),
            ("junk\n".to_owned(), false),
            ("\0\0\n".to_owned(), false),
        ] {
            assert_eq!(is_packed(text.as_bytes()), expected, "{text:?}");
        }
    }
}
