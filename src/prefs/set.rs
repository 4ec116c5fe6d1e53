//! Sets one preference in a file, leaving the rest of it as it stands.

use super::confirmed::{self, Confirmed};
use super::document::Document;
use super::keys::{self, LEVELS};
use super::{FILE, user_file};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files;
use serde_json::{Map, Value};
use std::path::Path;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The repository's.
    Repository,
    /// The person's own.
    User,
}

/// Sets a preference, and for the repository's file confirms what was set. The
/// caller has seen to it that a person agrees.
///
/// # Errors
/// When the key is not known, the value is not accepted, or the file cannot be changed.
pub fn set(
    env: &Env,
    workspace: &Workspace,
    target: Target,
    key: &str,
    value: Value,
) -> Result<()> {
    check(key, &value)?;
    match target {
        Target::User => {
            let path = user_file(env)?;
            if let Some(dir) = path.parent() {
                files::make_private_dir(dir)?;
            }
            let text = changed(&path, key, value)?;
            files::replace(&path, text.as_bytes(), 0o600, files::Durability::Synced)
        }
        Target::Repository => {
            let path = workspace.main_root().join(FILE);
            if let Some(dir) = path.parent() {
                std::fs::create_dir_all(dir)
                    .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
            }
            // Only this key is agreed to now, whatever else the worktree's file says.
            let mut agreed = Confirmed::read(env, workspace)?
                .map(|confirmed| confirmed.files)
                .unwrap_or_default();
            let before = agreed.get(FILE).cloned().unwrap_or_default();
            agreed.insert(FILE.to_owned(), edit(&before, key, value.clone(), FILE)?);
            let text = changed(&path, key, value)?;
            files::replace(&path, text.as_bytes(), 0o644, files::Durability::Synced)?;
            confirmed::adopt(env, workspace, agreed, "prefs set")
        }
    }
}

/// Refuses an unknown key and a value that is not accepted.
///
/// # Errors
/// [`ErrorKind::Usage`] with what would be accepted.
pub fn check(key: &str, value: &Value) -> Result<()> {
    let accepted = if let Some(rule) = key.strip_prefix("decision_authority.") {
        if keys::aliases(rule).is_empty() {
            return Err(unknown(key));
        }
        let kind = keys::Kind::Choice(LEVELS);
        (!kind.accepts(value)).then(|| kind.accepted())
    } else {
        let known = keys::key(key).ok_or_else(|| unknown(key))?;
        (!known.kind.accepts(value)).then(|| known.kind.accepted())
    };
    match accepted {
        None => Ok(()),
        Some(accepted) => Err(
            Error::new(ErrorKind::Usage, format!("{key} cannot be {value}"))
                .hint(format!("accepted: {accepted}")),
        ),
    }
}

fn unknown(key: &str) -> Error {
    let error = Error::new(ErrorKind::Usage, format!("the key {key} is not known"));
    match keys::nearest(key) {
        Some(nearest) => error.hint(format!("did you mean {nearest}?")),
        None => error.hint("see them all: holdpoint prefs schema"),
    }
}

fn changed(path: &Path, key: &str, value: Value) -> Result<String> {
    let text = files::read_if_there(path)?
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    edit(&text, key, value, &path.display().to_string())
}

/// Puts a value into a file's text.
fn edit(text: &str, key: &str, value: Value, file: &str) -> Result<String> {
    // A file that cannot be read is not overwritten.
    Document::parse(text, file)?;
    let mut tree = super::document::read_object(text);
    let (group, name) = match key.split_once('.') {
        Some((group, name)) => (Some(group), name),
        None => (None, key),
    };
    match group {
        None => {
            tree.insert(name.to_owned(), value);
        }
        Some(group) => {
            let entry = tree
                .entry(group)
                .or_insert_with(|| Value::Object(Map::new()));
            if let Some(members) = entry.as_object_mut() {
                members.insert(name.to_owned(), value);
            }
        }
    }
    serde_json::to_string_pretty(&tree)
        .map(|json| format!("{json}\n"))
        .doing(ErrorKind::Internal, || {
            format!("cannot write {}", Path::new(file).display())
        })
}
