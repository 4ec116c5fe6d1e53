//! Trees that are copied over trees: which files they replace.

use super::around::Around;
use super::files::{replaced, unpack};
use super::place::Located;
use crate::judge::{Effect, Place};
use crate::shell::{Arg, Deed};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Most entries of a tree that are compared.
const MOST: usize = 4000;

/// Most new files that are named one by one.
const MOST_NEW: usize = 50;

/// Adds the effects of laying the files below `from` over those below a directory.
pub(super) fn effects(
    around: &Around<'_>,
    deed: &Deed,
    from: &Arg,
    onto: &Located,
    effects: &mut Vec<Effect>,
) {
    let source = match (from.literal(), Around::dir(&deed.dir)) {
        (Some(text), Some(dir)) => dir.join(OsStr::from_bytes(text)),
        (Some(text), None) if text.starts_with(b"/") => PathBuf::from(OsStr::from_bytes(text)),
        _ => return unpack(onto, effects),
    };
    if onto.place != Place::Workspace || !source.is_dir() {
        return unpack(onto, effects);
    }
    let mut left = MOST;
    match names(&source, Path::new(""), &mut left) {
        Some(names) => {
            let (old, new): (Vec<PathBuf>, Vec<PathBuf>) = names
                .iter()
                .map(|name| onto.path.join(name))
                .partition(|path| fs::symlink_metadata(path).is_ok());
            let few = new.len() <= MOST_NEW;
            for path in old.iter().chain(new.iter().filter(|_| few)) {
                replaced(around, path, effects);
            }
            if !few {
                unpack(onto, effects);
            }
        }
        None => unpack(onto, effects),
    }
}

/// The files below a directory, relative to it; `None` where they are too many or cannot be read.
fn names(top: &Path, below: &Path, left: &mut usize) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(top.join(below)).ok()? {
        let entry = entry.ok()?;
        *left = left.checked_sub(1)?;
        let name = below.join(entry.file_name());
        if entry.file_type().ok()?.is_dir() {
            found.extend(names(top, &name, left)?);
        } else {
            found.push(name);
        }
    }
    Some(found)
}
