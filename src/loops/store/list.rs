//! Which loops there are, and those at the old place moved forward.

use super::{Store, check_id};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::loops::state::LoopState;
use crate::loops::{old, rebuild};
use crate::sys::{clock, files};
use std::fs;
use std::path::{Path, PathBuf};

/// A loop as a listing shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its state, or what is wrong with it.
    pub state: std::result::Result<LoopState, Vec<String>>,
}

impl Store {
    /// All loops, oldest first; those at the old place are moved forward.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let mut listed = Vec::new();
        for id in names(&self.old_dir(), |_| true)? {
            if check_id(&id).is_ok()
                && !self.state_path(&id).exists()
                && let Err(error) = self.migrate(&id)
            {
                listed.push(Listed {
                    id,
                    state: Err(vec![error.to_string()]),
                });
            }
        }
        let ids = names(&self.dir(), |name| {
            // What an agent reports of an iteration lies beside the states.
            Path::new(name).extension() == Some(std::ffi::OsStr::new("json"))
                && !name.ends_with(".report.json")
        })?;
        for name in ids {
            let id = name.trim_end_matches(".json").to_owned();
            let bytes = fs::read(self.state_path(&id))
                .doing(ErrorKind::Io, || format!("cannot read the state of {id}"))?;
            listed.push(Listed {
                state: rebuild::read(&bytes, &id),
                id,
            });
        }
        listed.sort_by(|a, b| created(a).cmp(&created(b)).then(a.id.cmp(&b.id)));
        Ok(listed)
    }

    fn old_dir(&self) -> PathBuf {
        self.root.join(".workflow/.loop")
    }

    /// Moves a loop from its old place forward; returns false where there is none.
    pub(super) fn migrate(&self, id: &str) -> Result<bool> {
        let old = self.old_dir().join(id).join("state.json");
        let Some(bytes) = files::read_if_there(&old)? else {
            return Ok(false);
        };
        self.make_dir()?;
        let _lock = self.lock(id)?;
        if self.state_path(id).exists() {
            return Ok(true);
        }
        let now = clock::rfc3339(clock::now());
        let state = old::forward(id, &bytes, &now).map_err(|why| {
            Error::new(
                ErrorKind::Damaged,
                format!("cannot move {} forward: {why}", old.display()),
            )
            .hint("put it right by hand, or move it away: it is left as it is")
        })?;
        self.write(&state)?;
        self.write_pages(&state)?;
        let moved = old.with_file_name("state.json.moved");
        fs::rename(&old, &moved)
            .doing(ErrorKind::Io, || format!("cannot rename {}", old.display()))?;
        Ok(true)
    }
}

fn created(listed: &Listed) -> String {
    listed
        .state
        .as_ref()
        .map_or_else(|_| String::new(), |state| state.created_at.clone())
}

/// The names in a directory; none where there is no directory.
fn names(dir: &Path, keep: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).doing(ErrorKind::Io, || format!("cannot list {}", dir.display()));
        }
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.doing(ErrorKind::Io, || format!("cannot list {}", dir.display()))?;
        if let Ok(name) = entry.file_name().into_string()
            && keep(&name)
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
