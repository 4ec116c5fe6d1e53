//! The command of an iteration: its words, its variables, its start gate.

use super::Lead;
use super::attempt::Attempt;
use crate::error::{Error, ErrorKind, Result};
use crate::judge::Actor;
use crate::loops::action::Action;
use crate::loops::child;
use crate::loops::state::Task;
use bstr::{BString, ByteSlice as _};
use std::ffi::OsString;
use std::path::Path;

impl Lead<'_> {
    /// The command of an action, its placeholders filled in.
    pub(super) fn words(&self, attempt: &Attempt, task: Option<&Task>) -> Vec<BString> {
        if attempt.action == Action::Validate
            && let Some(validate) = &self.record.validate
        {
            return ["/bin/sh", "-c", validate].map(BString::from).to_vec();
        }
        let iteration = attempt.iteration.to_string();
        let values = [
            ("{action}", attempt.action.word()),
            ("{iteration}", iteration.as_str()),
            ("{loop}", self.id),
            ("{task}", task.map_or("", |task| task.description.as_str())),
            ("{task_id}", task.map_or("", |task| task.id.as_str())),
        ];
        self.record
            .command
            .iter()
            .map(|word| {
                let mut word = word.to_vec();
                for (name, value) in values {
                    word = word.replace(name, value);
                }
                BString::from(word)
            })
            .collect()
    }

    pub(super) fn shown_command(&self, action: Action) -> String {
        match (&self.record.validate, action) {
            (Some(validate), Action::Validate) => validate.clone(),
            _ => self
                .record
                .command
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    pub(super) fn vars(
        &self,
        attempt: &Attempt,
        task: Option<&Task>,
    ) -> Vec<(&'static str, OsString)> {
        let text = |text: &str| OsString::from(text);
        vec![
            ("HOLDPOINT_RUN", text(self.id)),
            ("HOLDPOINT_LOOP_ID", text(self.id)),
            (
                "HOLDPOINT_LOOP_STATE",
                self.store.state_path(self.id).into_os_string(),
            ),
            ("HOLDPOINT_LOOP_REPORT", self.report_path().into_os_string()),
            ("HOLDPOINT_LOOP_ACTION", text(attempt.action.word())),
            (
                "HOLDPOINT_LOOP_ITERATION",
                text(&attempt.iteration.to_string()),
            ),
            (
                "HOLDPOINT_LOOP_TASK",
                text(task.map_or("", |task| task.description.as_str())),
            ),
            (
                "HOLDPOINT_LOOP_TASK_ID",
                text(task.map_or("", |task| task.id.as_str())),
            ),
        ]
    }

    /// The start gate: the program is there, the directory is there.
    pub(super) fn gate(&self, action: Action) -> Result<()> {
        if !self.record.cwd.is_dir() {
            return Err(Error::new(
                ErrorKind::Usage,
                format!(
                    "E003: the directory {} cannot be entered",
                    self.record.cwd.display()
                ),
            ));
        }
        if action == Action::Validate && self.record.validate.is_some() {
            return Ok(());
        }
        let name = self.record.command.first().cloned().unwrap_or_default();
        if child::program(&name, &self.record.cwd, self.env.var("PATH")).is_none() {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("E001: there is no program {name} that can be run"),
            )
            .hint("check its name and your PATH")
            .hint(format!(
                "give another: holdpoint loop run {} -- COMMAND",
                self.id
            )));
        }
        Ok(())
    }

    pub(super) fn actor(&self) -> Actor {
        Actor::Agent {
            name: self
                .record
                .command
                .first()
                .and_then(|program| {
                    Path::new(&program.to_string())
                        .file_name()
                        .map(|name| name.to_string_lossy().into_owned())
                })
                .unwrap_or_else(|| "agent".to_owned()),
            session: None,
        }
    }
}
