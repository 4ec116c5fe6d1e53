//! Trees and archives that land on trees: which files they replace.

use super::around::Around;
use super::bytes;
use super::files::{replaced, unpack};
use super::nature::nature;
use super::place::Located;
use crate::judge::{Effect, Nature, Place};
use crate::shell::{Arg, Deed, Members};
use bstr::ByteSlice as _;
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
        Some(names) => over(around, &names, onto, effects),
        None => unpack(onto, effects),
    }
}

/// Adds the effects of an archive's members landing below a directory.
pub(super) fn extracted(
    around: &Around<'_>,
    deed: &Deed,
    members: &Members,
    onto: &Located,
    effects: &mut Vec<Effect>,
) {
    let archive = members
        .archive
        .literal()
        .zip(Around::dir(&deed.dir))
        .map(|(text, dir)| dir.join(OsStr::from_bytes(text)));
    let names = archive
        .filter(|_| onto.place == Place::Workspace)
        .and_then(|archive| super::archive::names(&archive, MOST));
    match names {
        Some(names) => {
            let names: Vec<PathBuf> = names
                .iter()
                .filter(|name| wanted(name, &members.only))
                .filter_map(|name| {
                    if members.flat {
                        return name.file_name().map(PathBuf::from);
                    }
                    let rest: PathBuf = name.components().skip(members.strip).collect();
                    (!rest.as_os_str().is_empty()).then_some(rest)
                })
                .collect();
            over(around, &names, onto, effects);
        }
        None => unpack(onto, effects),
    }
}

/// Whether a member is one of those named, or lies below one.
fn wanted(name: &Path, only: &[Arg]) -> bool {
    only.is_empty()
        || only.iter().any(|arg| {
            let text = arg.text.as_slice();
            let text = text.strip_prefix(b"./").unwrap_or(text);
            !arg.is_known()
                || name.starts_with(OsStr::from_bytes(text))
                || crate::shell::matches(text, name.as_os_str().as_bytes())
        })
}

/// Adds the effects of files landing at these names below a directory.
fn over(around: &Around<'_>, names: &[PathBuf], onto: &Located, effects: &mut Vec<Effect>) {
    let (old, new): (Vec<PathBuf>, Vec<PathBuf>) = names
        .iter()
        .map(|name| onto.path.join(name))
        .partition(|path| fs::symlink_metadata(path).is_ok());
    let few = new.len() <= MOST_NEW;
    // Among a great many new files, those that are not just any file are named all the same.
    let special = |path: &PathBuf| {
        let located = around.place(path);
        located.place != Place::Workspace
            || located
                .relative
                .is_some_and(|name| nature(bytes(&name).as_bstr()) != Nature::Ordinary)
    };
    for path in old
        .iter()
        .chain(new.iter().filter(|path| few || special(path)))
    {
        replaced(around, path, effects);
    }
    if !few {
        unpack(onto, effects);
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
