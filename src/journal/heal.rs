//! Brings mirror and copy together before a line is added to both.

use super::store::{hex, open, read_range};
use super::synced;
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::{clock, files};
use bstr::ByteSlice as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How much of two files' common part is compared before one is taken to continue the other.
const OVERLAP: u64 = 64 * 1024;

/// Sets a torn last line aside into a file beside the log; returns that file.
pub(super) fn torn(file: &File, path: &Path) -> Result<Option<PathBuf>> {
    let doing = || format!("cannot set aside the torn line of {}", path.display());
    let end = file.metadata().doing(ErrorKind::Io, doing)?.len();
    if end == 0 || read_range(file, end - 1, end).doing(ErrorKind::Io, doing)? == b"\n" {
        return Ok(None);
    }
    let all = read_range(file, 0, end).doing(ErrorKind::Io, doing)?;
    let whole = all.rfind_byte(b'\n').map_or(0, |newline| newline + 1);
    let aside = path.with_extension("torn");
    let mut side = open(&aside, 0o600)?;
    side.write_all(&all[whole..])
        .and_then(|()| side.write_all(b"\n"))
        .and_then(|()| side.sync_data())
        .and_then(|()| synced::shorten(file, path, whole as u64))
        .doing(ErrorKind::Io, doing)?;
    Ok(Some(aside))
}

/// How much of the common part is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Its end, where the lengths differ: for every entry.
    Tail,
    /// All of it: for a repair.
    Whole,
}

/// Opens the copy for appending, with the mirror's bytes in it.
///
/// Shorter after a crash: completed. Gone: written again. Longer by lines
/// of another tool (seed format, no chain): taken over into the mirror.
/// Anything else was altered: set aside whole, and written again.
pub(super) fn copy(
    workspace: &Workspace,
    mirror: &File,
    path: &Path,
    care: Care,
    notes: &mut Vec<String>,
) -> Result<File> {
    let doing = || format!("cannot bring {} up to date", path.display());
    let known = path
        .file_name()
        .map(|name| {
            workspace
                .state
                .join("log")
                .join(name)
                .with_extension("seen")
        })
        .unwrap_or_default();
    let found = path.symlink_metadata().ok();
    let there = found.as_ref().is_some_and(fs::Metadata::is_file);
    if found.is_some() && !there {
        // A directory, link or pipe in its place is nothing that we put there.
        let aside = path.with_extension(format!("found-{}", clock::id()));
        fs::rename(path, &aside).doing(ErrorKind::Io, doing)?;
        notes.push(format!(
            "{} was no file; what was found is kept as {}",
            path.display(),
            aside.display()
        ));
    }
    let mut whole = mirror.metadata().doing(ErrorKind::Io, doing)?.len();
    if !there && whole > 0 && known.exists() {
        notes.push(format!(
            "{} was deleted; it is written again from the mirror",
            path.display()
        ));
    }
    let mut file = open(path, 0o644)?;
    if (!there || whole == 0) && !known.exists() {
        files::replace(&known, b"", 0o600, files::Durability::Lazy)?;
    }
    let length = file.metadata().doing(ErrorKind::Io, doing)?.len();
    if length == whole && care == Care::Tail {
        return Ok(file);
    }
    let common = length.min(whole);
    let same = {
        let start = match care {
            Care::Tail => common.saturating_sub(OVERLAP),
            Care::Whole => 0,
        };
        read_range(&file, start, common).doing(ErrorKind::Io, doing)?
            == read_range(mirror, start, common).doing(ErrorKind::Io, doing)?
    };
    if same && length > whole {
        let extra = read_range(&file, whole, length).doing(ErrorKind::Io, doing)?;
        if foreign(&extra) {
            let mut mirror = mirror;
            mirror.write_all(&extra).doing(ErrorKind::Io, doing)?;
            return Ok(file);
        }
    }
    if !same || length > whole {
        let aside = set_aside(workspace, path)?;
        notes.push(format!(
            "{} was altered; what was found is kept as {}, and it is written again from the mirror",
            path.display(),
            aside.display()
        ));
        file.set_len(0).doing(ErrorKind::Io, doing)?;
        whole = mirror.metadata().doing(ErrorKind::Io, doing)?.len();
    }
    let start = file.metadata().doing(ErrorKind::Io, doing)?.len();
    let missing = read_range(mirror, start, whole).doing(ErrorKind::Io, doing)?;
    file.write_all(&missing).doing(ErrorKind::Io, doing)?;
    Ok(file)
}

/// Returns true for whole lines of JSON objects that claim no place in the chain.
fn foreign(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Claim {
        hash: Option<serde::de::IgnoredAny>,
    }
    bytes.ends_with(b"\n")
        && bytes.lines().all(|line| {
            line.trim().is_empty()
                || serde_json::from_slice::<Claim>(line).is_ok_and(|claim| claim.hash.is_none())
        })
}

fn set_aside(workspace: &Workspace, path: &Path) -> Result<PathBuf> {
    let dir = workspace.state.join("log").join("altered");
    files::make_private_dir(&dir)?;
    let bytes =
        fs::read(path).doing(ErrorKind::Io, || format!("cannot read {}", path.display()))?;
    let aside = dir.join(format!("{}-{}.jsonl", clock::id(), &hex(&bytes)[..8]));
    files::replace(&aside, &bytes, 0o600, files::Durability::Synced)?;
    Ok(aside)
}
