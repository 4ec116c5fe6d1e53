//! Objects of git that are there and cannot be read: emptied, cut short, overwritten in place.
//!
//! git takes an object that has a name for one that it has, and does not write it
//! again: what the next commit stores would be lost. So a damaged object that the
//! point does not hold goes, and so do indexes and graphs that only make git complain; the point taken before the rollback holds it as it is.

use super::config;
use crate::error::Result;
use crate::vault::diff::Trees;
use crate::vault::links::{hex, is_whole};
use crate::vault::places::{is_fanout, is_immutable};
use crate::vault::point::SafetyPoint;
use crate::vault::tree::{Kind, Row};
use bstr::ByteSlice as _;
use flate2::read::ZlibDecoder;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Nobody inflates more than this to find out; such an object counts as sound.
const MOST: u64 = 1 << 30;

/// Which hash a repository names its objects by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Names {
    #[default]
    Sha1,
    Sha256,
}

impl Names {
    /// That of the repository that a point holds.
    pub(super) fn of(target: &SafetyPoint, trees: &Trees<'_>) -> Result<Self> {
        let Some(git) = target.git else {
            return Ok(Self::Sha1);
        };
        let config = match trees.find(&git.tree, b"config")? {
            Some(row) if row.kind == Kind::File => trees.store.read(&row.id)?,
            _ => Vec::new(),
        };
        let is_sha256 =
            config::entries(&config)
                .into_iter()
                .flatten()
                .any(|(section, key, value)| {
                    section == "extensions" && key == "objectformat" && value == "sha256"
                });
        Ok(if is_sha256 { Self::Sha256 } else { Self::Sha1 })
    }

    /// Returns true for a pack or a graph of a repository with other names.
    fn is_foreign(self, file: &File, name: &[u8]) -> bool {
        if let Some(rest) = name.strip_prefix(b"pack-") {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit());
            return digits.count() != self.len();
        }
        let has_version = name == b"commit-graph"
            || name.starts_with(b"multi-pack-index")
            || name.starts_with(b"graph-");
        // Signature and version come first, then which hash it is.
        let mut head = [0; 6];
        let own = match self {
            Self::Sha1 => 1,
            Self::Sha256 => 2,
        };
        has_version && file.read_exact_at(&mut head, 0).is_ok() && head[5] != own
    }

    /// How many hex digits a name has.
    fn len(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }
}

/// Returns true for a file of git's object database that cannot be read as what its name says.
pub(super) fn is_damaged(git_dir: &Path, path: &[u8], row: &Row, names: Names) -> bool {
    // In a git directory without HEAD objects are files like others.
    let is_held = matches!(row.kind, Kind::SmallObject | Kind::File);
    let is_known = loose_name(path).is_some() || is_immutable(&row.name);
    if !is_held || !is_known || !path.starts_with(b"objects/") {
        return false;
    }
    let Ok(file) = File::open(git_dir.join(OsStr::from_bytes(path))) else {
        return false;
    };
    if row.size == 0 {
        return true;
    }
    let Some(name) = loose_name(path) else {
        return names.is_foreign(&file, &row.name) || is_damaged_pack(&file, row);
    };
    if name.len() != names.len() {
        return true;
    }
    let found = if name.len() == 40 {
        hash::<Sha1>(file)
    } else {
        hash::<Sha256>(file)
    };
    match found {
        Ok(found) => found.is_some_and(|found| found != name),
        // What zlib says of bytes that are none of its own.
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
        ),
    }
}

/// The same for packs and what belongs to them.
fn is_damaged_pack(file: &File, row: &Row) -> bool {
    if row.name.ends_with(b".pack") {
        // What is sound in the rest of a pack may be all that there is of a commit.
        let mut head = [0; 4];
        return row.size < 32 || (file.read_exact_at(&mut head, 0).is_ok() && head != *b"PACK");
    }
    is_whole(file, &row.name, row.size).is_ok_and(|whole| !whole)
}

/// The hash of what a file inflates to; `None` where that is too much.
fn hash<D: Digest>(file: File) -> io::Result<Option<String>> {
    let mut inflated = ZlibDecoder::new(io::BufReader::new(file)).take(MOST);
    let mut hasher = D::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = inflated.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(buffer.split_at(read).0);
    }
    Ok((inflated.limit() > 0).then(|| hex(&hasher.finalize())))
}

/// The name of the object that lies at `objects/ab/cdef…`.
fn loose_name(path: &[u8]) -> Option<String> {
    let (fanout, rest) = path.strip_prefix(b"objects/")?.split_once_str("/")?;
    let is_name = is_fanout(fanout)
        && rest.iter().all(u8::is_ascii_hexdigit)
        && matches!(rest.len(), 38 | 62);
    is_name.then(|| format!("{}{}", fanout.as_bstr(), rest.as_bstr()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loose_objects_have_a_name() {
        let rest = "c".repeat(38);
        for (path, expected) in [
            (format!("objects/ab/{rest}"), Some(format!("ab{rest}"))),
            (format!("objects/ab/{rest}c"), None),
            (format!("objects/abc/{rest}"), None),
            (format!("objects/pack/{rest}"), None),
            (format!("refs/ab/{rest}"), None),
            ("objects/ab".to_owned(), None),
        ] {
            assert_eq!(loose_name(path.as_bytes()), expected, "{path}");
        }
    }
}
