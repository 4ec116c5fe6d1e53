//! What a path argument names: one path, what a pattern matches, or something that is not known.

use crate::assess::around::Around;
use crate::shell::{Arg, Dir, TOKEN, UNKNOWN};
use bstr::{BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Most paths that one pattern is followed to.
const MOST_MATCHES: usize = 120;

/// What a path argument names.
pub(super) enum Target {
    /// One path.
    Path(PathBuf),
    /// What a pattern matches now.
    Matches { paths: Vec<PathBuf>, more: bool },
    /// A pattern that matches nothing that can be listed, as a path.
    Pattern(PathBuf),
    /// Not known; `under` is the directory that is known to hold it.
    Unknown { under: Option<PathBuf> },
}

/// Whether a path is given by its name or by a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Exactly,
    ByPattern,
}

pub(super) fn target(dir: &Dir, path: &Arg) -> Target {
    let text = path.text.as_slice();
    let absolute = text.starts_with(b"/");
    let base = Around::dir(dir);
    if base.is_none() && !absolute {
        return Target::Unknown { under: None };
    }
    let base = base.unwrap_or_else(|| PathBuf::from("/"));
    if path.is_literal() {
        return Target::Path(base.join(OsStr::from_bytes(text)));
    }
    // The directory before the first part that is not plain.
    let special = text
        .iter()
        .position(|byte| matches!(*byte, UNKNOWN | TOKEN) || (path.glob && b"*?[".contains(byte)))
        .unwrap_or(text.len());
    let known = text
        .get(..special)
        .and_then(|before| before.rfind_byte(b'/'))
        .map_or(&b""[..], |at| text.get(..=at).unwrap_or_default());
    let under = base.join(OsStr::from_bytes(known));
    if path.has_unknown() {
        let nothing_known = known.is_empty() && text.first() == Some(&UNKNOWN);
        return Target::Unknown {
            under: (!nothing_known).then_some(under),
        };
    }
    let rest: BString = text
        .get(known.len()..)
        .unwrap_or_default()
        .iter()
        .map(|byte| if *byte == TOKEN { b'*' } else { *byte })
        .collect::<Vec<_>>()
        .into();
    if rest.contains_str("**") {
        return Target::Pattern(under.join(OsStr::from_bytes(&rest)));
    }
    let mut paths = Vec::new();
    let mut budget = 20_000;
    let more = expand(&under, &rest, &mut paths, &mut budget);
    if paths.is_empty() {
        return Target::Pattern(under.join(OsStr::from_bytes(&rest)));
    }
    Target::Matches { paths, more }
}

/// Lists what a pattern matches below a directory; true when there is more.
fn expand(dir: &Path, pattern: &BString, paths: &mut Vec<PathBuf>, budget: &mut u32) -> bool {
    let (first, rest) = match pattern.find_byte(b'/') {
        Some(at) => (
            pattern.get(..at).unwrap_or_default(),
            pattern
                .get(at + 1..)
                .unwrap_or_default()
                .trim_start_with(|c| c == '/'),
        ),
        None => (pattern.as_slice(), &b""[..]),
    };
    if !first.iter().any(|byte| b"*?[".contains(byte)) {
        let next = dir.join(OsStr::from_bytes(first));
        if rest.is_empty() {
            if fs::symlink_metadata(&next).is_ok() {
                paths.push(next);
            }
            return false;
        }
        return expand(&next, &BString::from(rest), paths, budget);
    }
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    let mut names: Vec<std::ffi::OsString> = Vec::new();
    for entry in entries.flatten() {
        if *budget == 0 {
            return true;
        }
        *budget -= 1;
        let name = entry.file_name();
        let hidden = name.as_bytes().starts_with(b".");
        if (!hidden || first.starts_with(b".")) && crate::shell::matches(first, name.as_bytes()) {
            names.push(name);
        }
    }
    names.sort();
    for name in names {
        if paths.len() >= MOST_MATCHES {
            return true;
        }
        let next = dir.join(&name);
        if rest.is_empty() {
            paths.push(next);
        } else if next.is_dir() && expand(&next, &BString::from(rest), paths, budget) {
            return true;
        }
    }
    false
}
