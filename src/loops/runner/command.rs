//! The command of an iteration: its words, its variables, its start gate.

use super::Lead;
use super::attempt::Attempt;
use crate::error::{Error, ErrorKind, Result};
use crate::judge::Actor;
use crate::loops::action::Action;
use crate::loops::state::Task;
use crate::runs::gate;
use crate::runs::leashed::Voice;
use crate::runs::policy::limits::Limits;
use bstr::{BString, ByteSlice as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::time::Duration;

/// As long as it takes.
const NO_LIMIT: Duration = Duration::from_hours(1_000_000);

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

    pub(super) fn vars(&self, attempt: &Attempt, task: Option<&Task>) -> Vec<(BString, BString)> {
        let path = |path: std::path::PathBuf| BString::from(path.into_os_string().into_vec());
        let task = |word: fn(&Task) -> &str| BString::from(task.map_or("", word));
        [
            ("ID", self.id.into()),
            ("STATE", path(self.store.state_path(self.id))),
            ("REPORT", path(self.report_path())),
            ("ACTION", attempt.action.word().into()),
            ("ITERATION", attempt.iteration.to_string().into()),
            ("TASK", task(|task| &task.description)),
            ("TASK_ID", task(|task| &task.id)),
        ]
        .into_iter()
        .map(|(name, value)| (format!("HOLDPOINT_LOOP_{name}").into(), value))
        .collect()
    }

    /// How long an iteration's command may take.
    pub(super) fn limits(&self) -> Limits {
        let max = self.record.timeout.map_or(NO_LIMIT, Duration::from_secs);
        Limits { default: max, max }
    }

    /// Where the command's output goes.
    pub(super) fn voice(&self) -> Voice {
        if self.quiet {
            Voice::Kept
        } else {
            Voice::PassedOn
        }
    }

    /// The agent's name: its program's.
    pub(super) fn agent(&self) -> String {
        self.record
            .command
            .first()
            .and_then(|program| {
                Path::new(&program.to_string())
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            })
            .unwrap_or_else(|| "agent".to_owned())
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
        gate::find(self.env, name.as_bstr(), &self.record.cwd)
            .map(drop)
            .map_err(|error| {
                Error::new(ErrorKind::Usage, error.doing())
                    .hint("check its name and your PATH")
                    .hint(format!(
                        "give another: holdpoint loop run {} -- COMMAND",
                        self.id
                    ))
            })
    }

    pub(super) fn actor(&self) -> Actor {
        Actor::Agent {
            name: self.agent(),
            session: None,
        }
    }
}
