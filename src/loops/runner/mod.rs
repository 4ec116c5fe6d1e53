//! Leads a loop from action to action: one runner at a time, one safety point an iteration.
//!
//! Before an iteration's command starts, a note of the attempt is on the disk;
//! after it ended, its end is. So a killed runner leaves one of four traces,
//! and the next runner goes on from it: planned (nothing ran), started (the
//! command is looked for, waited for, or was lost), ended (its result is
//! recorded), recorded (the note is dropped). No iteration is lost, and one
//! that has to be done again is named.

mod attempt;
mod command;
mod record;

use super::action::{self, Action, Control, Turn};
use super::limit;
use super::report;
use super::state::{LoopState, Mode, SkillState, Status, Task, TaskStatus};
use super::store::{self, Loaded, Record, Repaired, Store, write_json};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::journal::{self, LogEntry, Outcome as LogOutcome};
use crate::judge::Level;
use crate::repo::Workspace;
use crate::runs::leashed;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::sys::process::{self, ProcessId};
use crate::sys::{clock, files, out};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a run of a loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The loop is completed.
    Completed,
    /// It was paused.
    Paused,
    /// It failed, was stopped, or had failed before.
    Failed(String),
    /// The person pressed Ctrl-C; the loop is paused.
    Cancelled,
    /// A change waits for a person; the loop is paused.
    Held(String),
}

/// Who runs a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    /// The process.
    pub pid: u32,
    /// Clock ticks from boot to its start.
    pub started: u64,
    /// Since when, RFC 3339.
    pub since: String,
    /// Where, as the terminal or `-`.
    pub directory: PathBuf,
}

/// One loop, led by this process.
pub struct Lead<'a> {
    env: &'a Env,
    workspace: &'a Workspace,
    store: Store,
    id: &'a str,
    record: Record,
    cancelled: Arc<AtomicBool>,
    quiet: bool,
    _lock: Lock,
}

/// Says who runs a loop, if anybody does.
///
/// # Errors
/// When the lock cannot be looked at.
pub fn who(store: &Store, id: &str) -> Result<Option<Runner>> {
    let dir = store.private_dir(id);
    if !dir.exists() || Lock::try_take(&dir.join("runner.lock"))?.is_some() {
        return Ok(None);
    }
    Ok(Some(noted_runner(&dir)?.unwrap_or(Runner {
        pid: 0,
        started: 0,
        since: "an unknown time".to_owned(),
        directory: PathBuf::new(),
    })))
}

fn noted_runner(dir: &Path) -> Result<Option<Runner>> {
    Ok(files::read_if_there(&dir.join("runner.json"))?
        .and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Tells what was done with a damaged state.
pub fn tell_repair(id: &str, repaired: Option<&Repaired>) {
    let Some(repaired) = repaired else { return };
    out::note(format!(
        "holdpoint: the state of {id} was damaged: {}",
        repaired.wrong.join("; ")
    ));
    if let Some(aside) = &repaired.aside {
        out::note(format!("  set aside: {}", aside.display()));
    }
    for found in &repaired.found {
        out::note(format!("  rebuilt: {found}"));
    }
    for lost in &repaired.lost {
        out::note(format!("  could not be rebuilt: {lost}"));
    }
    if !repaired.lost.is_empty() {
        out::note(format!(
            "  put right what was lost by hand: .loop/{id}.json"
        ));
    }
}

impl<'a> Lead<'a> {
    /// Takes the lead of a loop.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`], naming the runner, when another process has it.
    pub fn take(
        env: &'a Env,
        workspace: &'a Workspace,
        store: Store,
        id: &'a str,
        quiet: bool,
    ) -> Result<Self> {
        let dir = store.private_dir(id);
        files::make_private_dir(&dir)?;
        let Some(lock) = Lock::try_take(&dir.join("runner.lock"))? else {
            let by = noted_runner(&dir)?.map_or_else(
                || "another process".to_owned(),
                |runner| {
                    format!(
                        "process {} in {}, since {}",
                        runner.pid,
                        runner.directory.display(),
                        runner.since
                    )
                },
            );
            return Err(
                Error::new(ErrorKind::Busy, format!("the loop {id} is run by {by}"))
                    .hint(format!("watch it: holdpoint loop status {id} --watch"))
                    .hint(format!("pause it: holdpoint loop pause {id}")),
            );
        };
        let record = store
            .record(id)?
            .filter(|record| !record.command.is_empty());
        let record = record.ok_or_else(|| {
            Error::new(
                ErrorKind::Config,
                format!("Holdpoint has no command for the loop {id}"),
            )
            .hint(format!("give one: holdpoint loop run {id} -- COMMAND"))
        })?;
        let own = process::identity(std::process::id()).unwrap_or(ProcessId {
            pid: std::process::id(),
            started: 0,
        });
        write_json(
            &dir.join("runner.json"),
            &Runner {
                pid: own.pid,
                started: own.started,
                since: clock::rfc3339(clock::now()),
                directory: env.cwd().to_path_buf(),
            },
        )?;
        // What an iteration leaves behind comes to this process where its own leash is killed.
        leashed::adopt_orphans()?;
        let cancelled = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&cancelled))
                .doing(ErrorKind::Internal, || "cannot watch for Ctrl-C".to_owned())?;
        }
        Ok(Self {
            env,
            workspace,
            store,
            id,
            record,
            cancelled,
            quiet,
            _lock: lock,
        })
    }

    /// Leads the loop until it is done, or somebody or something stops it.
    ///
    /// # Errors
    /// When its files, the vault or the log cannot be written; the loop can be run again.
    pub fn run(&self) -> Result<Outcome> {
        self.start()?;
        if let Some(attempt) = self.attempt()?
            && let Some(outcome) = self.recover(attempt)?
        {
            return Ok(outcome);
        }
        loop {
            let loaded = self.store.load(self.id)?;
            tell_repair(self.id, loaded.repaired.as_ref());
            let state = loaded.state;
            match action::control(state.status) {
                Control::GoOn => {}
                Control::PauseExit => {
                    self.update(|state| {
                        if let Some(skill) = &mut state.skill_state {
                            skill.current_action = Some("paused".to_owned());
                        }
                        Ok(())
                    })?;
                    return Ok(Outcome::Paused);
                }
                Control::StopExit if state.status == Status::Completed => {
                    return Ok(Outcome::Completed);
                }
                Control::StopExit => {
                    return Ok(Outcome::Failed(
                        state
                            .failure_reason
                            .unwrap_or_else(|| format!("its status is {}", state.status)),
                    ));
                }
            }
            if let Some(outcome) = self.step(&state)? {
                return Ok(outcome);
            }
        }
    }

    fn update(&self, change: impl FnOnce(&mut LoopState) -> Result<()>) -> Result<Loaded> {
        let loaded = self.store.update(self.id, change)?;
        tell_repair(self.id, loaded.repaired.as_ref());
        Ok(loaded)
    }

    /// Turns a created loop into a running one.
    fn start(&self) -> Result<()> {
        let loaded = self.store.load(self.id)?;
        tell_repair(self.id, loaded.repaired.as_ref());
        match loaded.state.status {
            Status::Created => {
                self.update(|state| turn(state, Turn::Start, "run"))?;
                Ok(())
            }
            Status::Paused => Err(store::no_turn(self.id, Status::Paused, "run")),
            Status::Running | Status::Completed | Status::Failed => Ok(()),
        }
    }

    /// Takes one action; returns how the run ended, where it did.
    fn step(&self, state: &LoopState) -> Result<Option<Outcome>> {
        let next = action::next(state);
        if next.is_iteration() && state.current_iteration >= state.max_iterations {
            let reason = limit::used_up(state.max_iterations, next);
            self.update(|state| {
                turn(state, Turn::Fail, "fail")?;
                state.failure_reason = Some(reason.clone());
                Ok(())
            })?;
            self.log("loop_failed", LogOutcome::Failure, &reason, &json!({}))?;
            return Ok(Some(Outcome::Failed(reason)));
        }
        match next {
            Action::Init => self.init()?,
            Action::Complete => return self.complete().map(Some),
            Action::Develop | Action::Debug | Action::Validate => {
                return self.iterate(state, next);
            }
        }
        Ok(None)
    }

    fn init(&self) -> Result<()> {
        let text = files::read_if_there(&self.store.tasks_path(self.id))?.unwrap_or_default();
        let (listed, skipped) = super::rebuild::tasks(&String::from_utf8_lossy(&text));
        for line in skipped {
            out::note(format!(
                "holdpoint: line {line} of {} is no task; it is left out",
                self.store.tasks_path(self.id).display()
            ));
        }
        let now = clock::rfc3339(clock::now());
        let loaded = self.update(|state| {
            let mut tasks = listed.clone();
            if tasks.is_empty() {
                tasks.push(only_task(&state.description, &now));
            }
            let mut skill = state
                .skill_state
                .take()
                .unwrap_or_else(|| SkillState::new(Mode::Auto));
            skill.current_action = Some(Action::Init.word().to_owned());
            skill.develop.tasks = tasks;
            skill.recount();
            state.skill_state = Some(skill);
            Ok(())
        })?;
        self.store.write_pages(&loaded.state)?;
        Self::say(&format!(
            "loop {}: {} task(s)",
            self.id,
            loaded
                .state
                .skill_state
                .as_ref()
                .map_or(0, |skill| skill.develop.total)
        ));
        Ok(())
    }

    fn complete(&self) -> Result<Outcome> {
        let now = clock::rfc3339(clock::now());
        let loaded = self.update(|state| {
            turn(state, Turn::Complete, "complete")?;
            state.completed_at = Some(now.clone());
            if let Some(skill) = &mut state.skill_state {
                skill.current_action = Some(Action::Complete.word().to_owned());
                report::finish(skill, Action::Complete);
            }
            Ok(())
        })?;
        self.store.write_pages(&loaded.state)?;
        self.log(
            "loop_completed",
            LogOutcome::Success,
            "all tasks are done and the validation passed",
            &json!({ "iterations": loaded.state.current_iteration }),
        )?;
        Ok(Outcome::Completed)
    }

    fn say(text: &str) {
        out::note(format!("holdpoint: {text}"));
    }

    fn log(&self, decision: &str, outcome: LogOutcome, what: &str, context: &Value) -> Result<()> {
        let mut entry = LogEntry::new(decision)
            .level(Level::Transparent)
            .reason(decision)
            .reasoning(what)
            .action(format!("loop {}", self.id))
            .outcome(outcome)
            .actor(&self.actor())
            .run(Some(self.id))
            .safety_point(
                context
                    .get("safety_point")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            )
            .hold(
                context
                    .get("hold")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
        for (key, value) in context.as_object().into_iter().flatten() {
            entry = entry.context(key.clone(), value);
        }
        let written = journal::append(self.env, self.workspace, entry)?;
        for note in &written.notes {
            out::note(format!("holdpoint: {note}"));
        }
        Ok(())
    }
}

fn only_task(description: &str, now: &str) -> Task {
    Task {
        id: "task-001".to_owned(),
        description: description.to_owned(),
        tool: Some("bash".to_owned()),
        mode: Some("write".to_owned()),
        status: TaskStatus::Pending,
        files_changed: Vec::new(),
        created_at: Some(now.to_owned()),
        completed_at: None,
        extra: Map::new(),
    }
}

/// Turns a loop's status, if the table has the turn.
///
/// # Errors
/// When it has not.
pub fn turn(state: &mut LoopState, turn: Turn, what: &str) -> Result<()> {
    let to = action::turn(state.status, turn)
        .ok_or_else(|| store::no_turn(&state.loop_id, state.status, what))?;
    state.status = to;
    Ok(())
}
