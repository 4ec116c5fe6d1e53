//! Files that git does not hold, where a tree that is to be checked out has files of its own.

use super::status::is_blob;
use super::{Git, Others, Tracked, Workspace, is_ignored, others};
use crate::error::Result;
use bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;

/// Which files give way to a tree's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveWay {
    /// Ignored ones only; for any other git refuses.
    Ignored,
    /// Every one that is not tracked.
    All,
}

/// The files that come: those of `to` that are new or other than on the first side.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// The commit or tree that they are compared with; `None` for the index.
    pub from: Option<&'a str>,
    /// A commit or tree.
    pub to: &'a str,
}

/// One file that comes.
struct Comer<'a> {
    path: &'a BStr,
    /// Its object's id, as hex.
    id: &'a [u8],
}

/// Lists files on disk that the incoming ones would overwrite with another content.
///
/// # Errors
/// When git does not answer.
pub fn overwritten(
    workspace: &Workspace,
    tracked: &Tracked,
    incoming: Incoming<'_>,
    which: GiveWay,
) -> Result<Vec<BString>> {
    let mut git = Git::at(workspace);
    git = match incoming.from {
        Some(from) => git.args(["diff-tree", "-r"]).args(RAW).arg(from),
        // Reversed: what the tree has and the index has not.
        None => git.args(["diff-index", "--cached", "-R"]).args(RAW),
    };
    let listed = git.args([incoming.to, "--"]).read()?;
    let mut found: Vec<BString> = Vec::new();
    let mut fields = listed.split(|byte| *byte == 0);
    while let (Some(numbers), Some(path)) = (fields.next(), fields.next()) {
        let comer = Comer {
            path: path.as_bstr(),
            id: numbers
                .split(|byte| *byte == b' ')
                .nth(3)
                .unwrap_or_default(),
        };
        if tracked.holds(comer.path) {
            continue;
        }
        for lost in in_its_way(workspace, tracked, &comer, which)? {
            if !found.contains(&lost) {
                found.push(lost);
            }
        }
    }
    Ok(found)
}

/// The form of the lists: mode, mode, id, id and status, then the path, each ended by a zero byte.
const RAW: [&str; 5] = [
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--diff-filter=d",
];

/// What one incoming file takes the place of.
fn in_its_way(
    workspace: &Workspace,
    tracked: &Tracked,
    comer: &Comer<'_>,
    which: GiveWay,
) -> Result<Vec<BString>> {
    let gives_way = |path: &BStr| -> Result<bool> {
        Ok(!tracked.holds(path) && (which == GiveWay::All || is_ignored(workspace, path, false)?))
    };
    let look = |path: &BStr| fs::symlink_metadata(workspace.root.join(OsStr::from_bytes(path)));
    // A file where the tree has a directory goes.
    for at in comer.path.find_iter(b"/") {
        let above = comer.path.get(..at).unwrap_or_default().as_bstr();
        match look(above) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) if gives_way(above)? => return Ok(vec![above.to_owned()]),
            Ok(_) | Err(_) => return Ok(Vec::new()),
        }
    }
    match look(comer.path) {
        // A directory where the tree has a file goes, with what is in it.
        Ok(meta) if meta.is_dir() => {
            let below = match which {
                GiveWay::All => Others::All,
                GiveWay::Ignored => Others::Ignored,
            };
            others(workspace, below, &[comer.path.to_owned()])
        }
        Ok(meta) if gives_way(comer.path)? && !is_same(workspace, comer, &meta) => {
            Ok(vec![comer.path.to_owned()])
        }
        Ok(_) | Err(_) => Ok(Vec::new()),
    }
}

fn is_same(workspace: &Workspace, comer: &Comer<'_>, meta: &Metadata) -> bool {
    let mut id = Vec::with_capacity(comer.id.len() / 2);
    for pair in comer.id.chunks(2) {
        let byte = std::str::from_utf8(pair)
            .ok()
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let Some(byte) = byte else { return false };
        id.push(byte);
    }
    meta.is_file()
        && fs::read(workspace.root.join(OsStr::from_bytes(comer.path)))
            .is_ok_and(|bytes| is_blob(&bytes, &id))
}
