//! What is written down of a rollback: the one under way, and those that can be undone.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::failpoint;
use crate::sys::files::{self, Durability};
use crate::vault::point::text;
use bstr::BString;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

const VERSION: u32 = 1;

/// How much of a point is put back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Branches, tags and reflogs too.
    #[serde(default)]
    pub refs: bool,
    /// Files of the worktree only.
    #[serde(default)]
    pub files_only: bool,
    /// Only these paths of the worktree, and what is below them; all when empty.
    #[serde(default)]
    pub paths: Vec<PathText>,
}

/// A path as our files spell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathText(#[serde(with = "text")] pub BString);

impl Scope {
    /// The paths as bytes.
    pub(super) fn bytes(&self) -> Vec<BString> {
        self.paths.iter().map(|path| path.0.clone()).collect()
    }
}

/// A rollback under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    /// The point that is put back.
    pub(super) target: String,
    /// The point that was taken just before.
    pub(super) before: String,
    /// How much is put back.
    pub(super) scope: Scope,
    /// Paths that are left as they are: a person changed them meanwhile.
    #[serde(default)]
    pub(super) kept: Vec<PathText>,
    /// What the list of undoable rollbacks is afterwards.
    pub(super) history: History,
}

impl Journal {
    /// Starts a journal.
    pub(super) fn new(target: String, before: String, scope: Scope, history: History) -> Self {
        Self {
            version: VERSION,
            target,
            before,
            scope,
            kept: Vec::new(),
            history,
        }
    }
}

/// One rollback that was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Past {
    /// The point taken just before it.
    pub(super) before: String,
    /// The point that shows its result: what was put back, or, once undone, what was there then.
    pub(super) after: String,
    /// How much was put back.
    pub(super) scope: Scope,
}

/// The rollbacks that can be undone and redone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct History {
    version: u32,
    /// Oldest first.
    pub(super) past: Vec<Past>,
    /// How many of them count as done; those behind can be redone.
    pub(super) done: usize,
}

impl History {
    /// Notes a rollback; what could be redone is given up.
    pub(super) fn push(&mut self, past: Past) {
        self.past.truncate(self.done);
        self.past.push(past);
        if self.past.len() > 100 {
            self.past.remove(0);
        }
        self.done = self.past.len();
    }

    /// All points that it names.
    pub(super) fn points(&self) -> impl Iterator<Item = &str> {
        self.past
            .iter()
            .flat_map(|past| [past.before.as_str(), past.after.as_str()])
    }
}

/// Reads one of the files; `None` when there is none.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = files::read_if_there(path)? else {
        return Ok(None);
    };
    let value: serde_json::Value = serde_json::from_slice(&bytes)
        .doing(ErrorKind::Damaged, || {
            format!("cannot read {}", path.display())
        })?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version > Some(u64::from(VERSION)) {
        return Err(Error::new(
            ErrorKind::Damaged,
            format!("{} was written by a newer holdpoint", path.display()),
        ));
    }
    serde_json::from_value(value)
        .map(Some)
        .doing(ErrorKind::Damaged, || {
            format!("cannot read {}", path.display())
        })
}

/// Writes one of the files.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let json = serde_json::to_vec(value).doing(ErrorKind::Internal, || {
        format!("cannot write {} as JSON", path.display())
    })?;
    files::replace(path, &json, 0o600, Durability::Synced)
}

/// Writes the list of what can be undone, after which the journal that has it too may go.
///
/// Both lie in one directory: the name that goes is never on the disk before the
/// name that comes, so the directory itself need not be synced.
pub(super) fn keep(path: &Path, history: &History) -> Result<()> {
    let json = serde_json::to_vec(history).doing(ErrorKind::Internal, || {
        format!("cannot write {} as JSON", path.display())
    })?;
    files::replace(path, &json, 0o600, Durability::Ordered)
}

/// Removes the journal: the rollback is whole.
pub(super) fn close(path: &Path) -> Result<()> {
    failpoint::reach();
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .doing(ErrorKind::Io, || {
                format!("cannot remove {}", path.display())
            }),
        _ => Ok(()),
    }
}
