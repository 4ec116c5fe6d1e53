//! A loop's files: the state, the task list, the progress files, and Holdpoint's own record.
//!
//! The shared files lie in `.loop/` of the worktree; what only Holdpoint needs
//! (the command, the last API fields, locks, the attempt under way) lies with
//! its state, out of reach of the agent's `git clean`.

mod list;
mod pages;

pub use list::Listed;

use super::rebuild::{self, Rebuilt, Sources};
use super::state::{LoopState, Status};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::{Kind, Workspace};
use crate::sys::files::{self, Durability};
use crate::sys::lock::Lock;
use crate::sys::{clock, failpoint};
use bstr::BString;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of Holdpoint's own files of a loop.
pub const VERSION: u32 = 1;

/// What Holdpoint keeps of a loop beside the shared state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// [`VERSION`].
    pub version: u32,
    /// The command of an iteration, with placeholders.
    pub command: Vec<BString>,
    /// The command that validates, where it is another one.
    pub validate: Option<String>,
    /// The directory in which commands run.
    pub cwd: PathBuf,
    /// How long one iteration's command may take, in seconds; without it, as long as it takes.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// The API fields as they were written last, and whether an action was taken (`acted`).
    pub api: Value,
}

/// The loops of a workspace.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    private: PathBuf,
}

/// A state as it was found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The state.
    pub state: LoopState,
    /// How it was put together again, where it was damaged.
    pub repaired: Option<Repaired>,
}

/// How a damaged state was put together again.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// What was wrong.
    pub wrong: Vec<String>,
    /// Where the damaged file is now.
    pub aside: Option<PathBuf>,
    /// Where each part came from.
    pub found: Vec<String>,
    /// What could not be rebuilt.
    pub lost: Vec<String>,
}

impl Store {
    /// The loops of a workspace.
    ///
    /// # Errors
    /// In a bare repository, which has no files to work on.
    pub fn of(workspace: &Workspace) -> Result<Self> {
        if workspace.kind == Kind::Bare {
            return Err(Error::new(
                ErrorKind::Repository,
                "a bare repository has no worktree for a loop to work in",
            ));
        }
        Ok(Self {
            root: workspace.root.clone(),
            private: workspace.state.join("loops"),
        })
    }

    /// The directory of the shared files.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.root.join(".loop")
    }

    /// The state file.
    #[must_use]
    pub fn state_path(&self, id: &str) -> PathBuf {
        self.dir().join(format!("{id}.json"))
    }

    /// The task list.
    #[must_use]
    pub fn tasks_path(&self, id: &str) -> PathBuf {
        self.dir().join(format!("{id}.tasks.jsonl"))
    }

    /// The directory of the progress files.
    #[must_use]
    pub fn progress_dir(&self, id: &str) -> PathBuf {
        self.dir().join(format!("{id}.progress"))
    }

    /// Holdpoint's own directory for a loop.
    #[must_use]
    pub fn private_dir(&self, id: &str) -> PathBuf {
        self.private.join(id)
    }

    /// Makes a loop.
    ///
    /// # Errors
    /// When there is one of that id, or its files cannot be written.
    pub fn create(&self, state: &LoopState, record: &Record, tasks: &str) -> Result<()> {
        check_id(&state.loop_id)?;
        self.make_dir()?;
        let _lock = self.lock(&state.loop_id)?;
        let path = self.state_path(&state.loop_id);
        if path.exists() {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("there is a loop {} already", state.loop_id),
            ));
        }
        if !tasks.is_empty() {
            files::replace(
                &self.tasks_path(&state.loop_id),
                tasks.as_bytes(),
                0o644,
                Durability::Synced,
            )?;
        }
        self.write_record(&state.loop_id, record)?;
        self.write(state)
    }

    fn make_dir(&self) -> Result<()> {
        let dir = self.dir();
        if fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_symlink()) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("{} is a link; loops are kept in a directory", dir.display()),
            )
            .hint("remove the link"));
        }
        fs::create_dir_all(&dir)
            .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
        let ignore = dir.join(".gitignore");
        if !ignore.exists() {
            // The state of a loop is no part of the work that it does.
            files::replace(&ignore, b"*\n", 0o644, Durability::Lazy)?;
        }
        Ok(())
    }

    fn lock(&self, id: &str) -> Result<Lock> {
        let dir = self.private_dir(id);
        files::make_private_dir(&dir)?;
        Lock::wait(&dir.join("state.lock"))
    }

    /// Reads a loop's state; a damaged one is set aside and rebuilt.
    ///
    /// # Errors
    /// When there is no such loop, or its files cannot be read or written.
    pub fn load(&self, id: &str) -> Result<Loaded> {
        check_id(id)?;
        self.must_exist(id)?;
        let _lock = self.lock(id)?;
        self.load_locked(id)
    }

    /// Changes a loop's state: read, changed, written, all under the lock.
    ///
    /// # Errors
    /// As [`Store::load`], and what `change` says.
    pub fn update(
        &self,
        id: &str,
        change: impl FnOnce(&mut LoopState) -> Result<()>,
    ) -> Result<Loaded> {
        check_id(id)?;
        self.must_exist(id)?;
        let _lock = self.lock(id)?;
        let mut loaded = self.load_locked(id)?;
        change(&mut loaded.state)?;
        loaded.state.updated_at = clock::rfc3339(clock::now());
        failpoint::reach();
        self.write(&loaded.state)?;
        failpoint::reach();
        Ok(loaded)
    }

    /// Rebuilds a loop's state whether or not it looks damaged.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn rebuild(&self, id: &str) -> Result<Loaded> {
        check_id(id)?;
        self.must_exist(id)?;
        let _lock = self.lock(id)?;
        let bytes = files::read_if_there(&self.state_path(id))?;
        let wrong = match &bytes {
            None => vec!["there is no state file".to_owned()],
            Some(bytes) => rebuild::read(bytes, id).err().unwrap_or_default(),
        };
        self.repair(id, bytes, wrong)
    }

    fn must_exist(&self, id: &str) -> Result<()> {
        if self.state_path(id).exists()
            || self.record_path(id).exists()
            || self.progress_dir(id).exists()
            || self.migrate(id)?
        {
            return Ok(());
        }
        Err(
            Error::new(ErrorKind::Usage, format!("there is no loop {id}"))
                .hint("list the loops: holdpoint loop list"),
        )
    }

    fn load_locked(&self, id: &str) -> Result<Loaded> {
        let bytes = files::read_if_there(&self.state_path(id))?;
        let wrong = match &bytes {
            None => vec!["there is no state file".to_owned()],
            Some(bytes) => match rebuild::read(bytes, id) {
                Ok(state) => {
                    return Ok(Loaded {
                        state,
                        repaired: None,
                    });
                }
                Err(wrong) => wrong,
            },
        };
        self.repair(id, bytes, wrong)
    }

    fn repair(&self, id: &str, bytes: Option<Vec<u8>>, wrong: Vec<String>) -> Result<Loaded> {
        self.make_dir()?;
        let page = |name: &str| -> Result<Option<String>> {
            Ok(files::read_if_there(&self.progress_dir(id).join(name))?
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        };
        let tasks = files::read_if_there(&self.tasks_path(id))?;
        let sources = Sources {
            damaged: bytes,
            record: self.record(id)?.map(|record| record.api),
            develop: page("develop.md")?,
            debug: page("debug.md")?,
            validate: page("validate.md")?,
            tasks: tasks.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        let now = clock::rfc3339(clock::now());
        let Rebuilt { state, found, lost } = rebuild::rebuild(id, &sources, &now);
        let aside = if let Some(bytes) = sources.damaged.as_ref().filter(|_| !wrong.is_empty()) {
            let path = self.free_name(&format!(
                "{id}.json.damaged-{}",
                now.replace([':', '.'], "-")
            ));
            failpoint::reach();
            files::replace(&path, bytes, 0o644, Durability::Synced)?;
            Some(path)
        } else {
            None
        };
        failpoint::reach();
        self.write(&state)?;
        Ok(Loaded {
            state,
            repaired: Some(Repaired {
                wrong,
                aside,
                found,
                lost,
            }),
        })
    }

    /// A path in the directory that nothing has: two damages in one millisecond are two files.
    fn free_name(&self, name: &str) -> PathBuf {
        let first = self.dir().join(name);
        if !first.exists() {
            return first;
        }
        self.dir().join(format!("{name}-{}", clock::id()))
    }

    fn write(&self, state: &LoopState) -> Result<()> {
        let mut bytes = serde_json::to_vec_pretty(state).doing(ErrorKind::Internal, || {
            format!("cannot word the state of {}", state.loop_id)
        })?;
        bytes.push(b'\n');
        files::replace(
            &self.state_path(&state.loop_id),
            &bytes,
            0o644,
            Durability::Synced,
        )?;
        failpoint::reach();
        let mut record = self.record(&state.loop_id)?.unwrap_or_default();
        record.version = VERSION;
        record.api = api(state);
        self.write_record(&state.loop_id, &record)
    }

    fn record_path(&self, id: &str) -> PathBuf {
        self.private_dir(id).join("record.json")
    }

    /// Holdpoint's own record of a loop; a damaged one counts as none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn record(&self, id: &str) -> Result<Option<Record>> {
        Ok(files::read_if_there(&self.record_path(id))?
            .and_then(|bytes| serde_json::from_slice::<Record>(&bytes).ok())
            .filter(|record| record.version == VERSION))
    }

    /// Writes Holdpoint's own record of a loop.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_record(&self, id: &str, record: &Record) -> Result<()> {
        write_json(&self.record_path(id), record)
    }
}

/// The API fields of a state, and whether an action was taken.
#[must_use]
pub fn api(state: &LoopState) -> Value {
    let mut value = serde_json::to_value(state).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        let acted = object.remove("skill_state").is_some();
        object.insert("acted".to_owned(), acted.into());
    }
    value
}

/// Writes one of Holdpoint's own files.
pub(super) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut bytes = serde_json::to_vec(value).doing(ErrorKind::Internal, || {
        format!("cannot word {}", path.display())
    })?;
    bytes.push(b'\n');
    files::replace(path, &bytes, 0o600, Durability::Synced)
}

/// An id is also a file's name, so it holds no path.
fn check_id(id: &str) -> Result<()> {
    let good = !id.is_empty()
        && id.len() <= 128
        && !id.starts_with('.')
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if good {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Usage,
        format!("{id:?} cannot be the id of a loop"),
    )
    .hint("ids hold letters, digits, `-`, `_` and `.`"))
}

/// Says that a status has no such turn.
#[must_use]
pub fn no_turn(id: &str, status: Status, what: &str) -> Error {
    let error = Error::new(
        ErrorKind::Usage,
        format!("cannot {what} the loop {id}: it is {status}"),
    );
    match status {
        Status::Paused => error.hint(format!("go on: holdpoint loop resume {id}")),
        Status::Created => error.hint(format!("begin: holdpoint loop run {id}")),
        Status::Completed | Status::Failed => {
            error.hint("make another: holdpoint loop create --title T --description D -- COMMAND")
        }
        Status::Running => error,
    }
}
