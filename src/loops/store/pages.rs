//! The progress files of a loop, written as they are made.

use super::Store;
use crate::error::{Context as _, ErrorKind, Result};
use crate::loops::progress;
use crate::loops::state::LoopState;
use crate::sys::failpoint;
use crate::sys::files::{self, Durability};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write as _;

impl Store {
    /// Writes the progress files of a state.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write_pages(&self, state: &LoopState) -> Result<()> {
        let Some(skill) = &state.skill_state else {
            return Ok(());
        };
        let dir = self.progress_dir(&state.loop_id);
        fs::create_dir_all(&dir)
            .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
        let pages = progress::write(state, skill);
        for (name, text) in [
            ("develop.md", pages.develop),
            ("debug.md", pages.debug),
            ("validate.md", pages.validate),
        ] {
            failpoint::reach();
            let path = dir.join(name);
            if files::read_if_there(&path)?.as_deref() != Some(text.as_bytes()) {
                files::replace(&path, text.as_bytes(), 0o644, Durability::Lazy)?;
            }
        }
        Ok(())
    }

    /// Appends lines to a log of the progress directory, unless lines of the same attempt are there.
    ///
    /// # Errors
    /// When the log cannot be read or written.
    pub fn append(&self, id: &str, log: &str, attempt: &str, lines: &[Value]) -> Result<()> {
        let dir = self.progress_dir(id);
        fs::create_dir_all(&dir)
            .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
        let path = dir.join(log);
        let before = files::read_if_there(&path)?.unwrap_or_default();
        if lines.is_empty() || memchr::memmem::find(&before, attempt.as_bytes()).is_some() {
            return Ok(());
        }
        let mut text = Vec::new();
        // A line torn by a crash is closed, so that the next one stays whole.
        if before.last().is_some_and(|last| *last != b'\n') {
            text.push(b'\n');
        }
        for line in lines {
            text.extend_from_slice(line.to_string().as_bytes());
            text.push(b'\n');
        }
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(&text))
            .doing(ErrorKind::Io, || format!("cannot write {}", path.display()))
    }
}
