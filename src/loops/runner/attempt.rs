//! One iteration: planned, started, ended, recorded; and taken up again after a kill.

use super::{Lead, Outcome};
use crate::error::{Context as _, ErrorKind, Result};
use crate::journal::Outcome as LogOutcome;
use crate::judge::PathChange;
use crate::loops::action::{self, Action, Control, Turn};
use crate::loops::report;
use crate::loops::settle;
use crate::loops::state::LoopState;
use crate::loops::store::{self, VERSION, write_json};
use crate::runs::leashed::{self, Company, Found, Leashed, Start};
use crate::runs::policy::limits;
use crate::runs::record::{Cause, End};
use crate::sys::{clock, failpoint, files, out};
use crate::vault;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Iterations whose output is kept.
const KEPT: u64 = 20;

/// How far an attempt came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// Nothing was started.
    Planned,
    /// The command was started, or was about to be.
    Started,
    /// The command has ended.
    Ended,
    /// The state after it is settled, and only has to be written.
    Recorded,
}

/// One iteration under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    pub(super) version: u32,
    pub(super) id: String,
    pub(super) iteration: u64,
    pub(super) action: Action,
    pub(super) phase: Phase,
    /// Starts of the command, each in a directory of its own.
    pub(super) starts: u32,
    pub(super) point: Option<String>,
    pub(super) begun: String,
    pub(super) code: Option<i32>,
    /// Why it did not end by itself, where it did not.
    #[serde(default)]
    pub(super) how: Option<String>,
    pub(super) duration_ms: u64,
    /// The API fields when it began.
    pub(super) api: Value,
    /// The state after it, once settled.
    pub(super) after: Option<LoopState>,
    /// What it changed and may keep, once judged.
    pub(super) kept: Option<Vec<PathChange>>,
    /// The hold that keeps a part of its changes.
    pub(super) hold: Option<String>,
}

impl Lead<'_> {
    pub(super) fn attempt_path(&self) -> PathBuf {
        self.store.private_dir(self.id).join("attempt.json")
    }

    pub(super) fn attempt(&self) -> Result<Option<Attempt>> {
        let Some(bytes) = files::read_if_there(&self.attempt_path())? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .doing(ErrorKind::Damaged, || {
                format!(
                    "cannot tell how far the last iteration came: {} is damaged",
                    self.attempt_path().display()
                )
            })
    }

    pub(super) fn note(&self, attempt: &Attempt) -> Result<()> {
        failpoint::reach();
        write_json(&self.attempt_path(), attempt)?;
        failpoint::reach();
        Ok(())
    }

    pub(super) fn forget(&self, attempt: &Attempt) -> Result<()> {
        failpoint::reach();
        std::fs::remove_file(self.attempt_path()).doing(ErrorKind::Io, || {
            format!("cannot remove {}", self.attempt_path().display())
        })?;
        failpoint::reach();
        for start in 1..=attempt.starts {
            // What the command printed is kept for the last few iterations only.
            if attempt.iteration > KEPT {
                let old = self.command_dir(attempt.iteration - KEPT, start);
                if old.exists() {
                    let _ = std::fs::remove_dir_all(old);
                }
            }
        }
        Ok(())
    }

    pub(super) fn command_dir(&self, iteration: u64, start: u32) -> PathBuf {
        self.store
            .private_dir(self.id)
            .join(format!("{iteration}.{start}"))
    }

    /// Runs one iteration from its beginning.
    pub(super) fn iterate(&self, state: &LoopState, next: Action) -> Result<Option<Outcome>> {
        self.gate(next)?;
        let mut attempt = Attempt {
            version: VERSION,
            id: clock::id(),
            iteration: state.current_iteration + 1,
            action: next,
            phase: Phase::Planned,
            starts: self.starts_of(state.current_iteration + 1),
            point: None,
            begun: clock::rfc3339(clock::now()),
            code: None,
            how: None,
            duration_ms: 0,
            api: store::api(state),
            after: None,
            kept: None,
            hold: None,
        };
        self.note(&attempt)?;
        self.go(&mut attempt)
    }

    /// Directories of earlier starts of an iteration.
    pub(super) fn starts_of(&self, iteration: u64) -> u32 {
        let mut starts = 0;
        while self.command_dir(iteration, starts + 1).exists() {
            starts += 1;
        }
        starts
    }

    /// Takes the safety point, starts the command, waits for it and records it.
    pub(super) fn go(&self, attempt: &mut Attempt) -> Result<Option<Outcome>> {
        let mut request = vault::Request::new("before-loop-iteration", self.actor());
        request.run = Some(self.id.to_owned());
        request = request.message(Some(format!(
            "loop {}, iteration {}, {}",
            self.id, attempt.iteration, attempt.action
        )));
        let saved = vault::save(self.env, self.workspace, &request)?;
        for notice in &saved.notices {
            out::note(format!("holdpoint: {notice}"));
        }
        attempt.point = Some(saved.point.id.clone());
        failpoint::reach();
        settle::note(self.workspace, &self.store.private_dir(self.id))?;
        let loaded = self.update(|state| {
            if let Some(skill) = &mut state.skill_state {
                report::enter(skill, attempt.action);
            }
            Ok(())
        })?;
        // A pause or stop that came meanwhile acts before the command starts.
        if action::control(loaded.state.status) != Control::GoOn {
            self.forget(attempt)?;
            return Ok(None);
        }
        self.store.write_pages(&loaded.state)?;
        attempt.api = store::api(&loaded.state);
        attempt.starts += 1;
        attempt.phase = Phase::Started;
        self.note(attempt)?;
        let task = loaded
            .state
            .skill_state
            .as_ref()
            .and_then(report::next_task)
            .cloned();
        let words = self.words(attempt, task.as_ref());
        Self::say(&format!(
            "loop {}: iteration {} of {}, {}{}",
            self.id,
            attempt.iteration,
            loaded.state.max_iterations,
            attempt.action,
            task.as_ref()
                .filter(|_| attempt.action == Action::Develop)
                .map_or_else(String::new, |task| format!(
                    " {}: {}",
                    task.id, task.description
                ))
        ));
        let spec = Start {
            argv: &words,
            cwd: &self.record.cwd,
            run: self.id,
            agent: &self.agent(),
            title: &format!("iteration {}", attempt.iteration),
            vars: self.vars(attempt, task.as_ref()),
            limits: self.limits(),
        }
        .spec(self.env)?;
        let dir = self.command_dir(attempt.iteration, attempt.starts);
        let running = leashed::start(&dir, &spec, self.voice(), Company::Alone)?;
        self.stay(attempt, running)
    }

    /// Waits for the command and records its end.
    pub(super) fn stay(
        &self,
        attempt: &mut Attempt,
        mut running: Leashed,
    ) -> Result<Option<Outcome>> {
        let end = running.wait(self.env, |_| self.cancelled.load(Ordering::Relaxed))?;
        let Some(end) = end else {
            running.end(self.env)?;
            self.settle(attempt)?;
            return self.cancel(attempt).map(Some);
        };
        self.ended(attempt, &end)
    }

    pub(super) fn ended(&self, attempt: &mut Attempt, end: &End) -> Result<Option<Outcome>> {
        attempt.code = end.exit.shell_code().map(i32::from);
        attempt.how = how(end);
        attempt.duration_ms = end.elapsed_ms;
        attempt.phase = Phase::Ended;
        self.note(attempt)?;
        self.record_end(attempt)
    }

    /// The person pressed Ctrl-C: the command is gone, the loop pauses.
    pub(super) fn cancel(&self, attempt: &Attempt) -> Result<Outcome> {
        let message = format!(
            "iteration {} was cancelled by the person (E007); what it had done and may keep is still there",
            attempt.iteration
        );
        self.interrupted(attempt, &message)?;
        self.update(|state| {
            if let Some(to) = action::turn(state.status, Turn::Pause) {
                state.status = to;
            }
            Ok(())
        })?;
        self.forget(attempt)?;
        Ok(Outcome::Cancelled)
    }

    /// Notes an iteration that was not finished, where people look for it.
    pub(super) fn interrupted(&self, attempt: &Attempt, message: &str) -> Result<()> {
        out::note(format!("holdpoint: loop {}: {message}", self.id));
        if let Some(point) = &attempt.point {
            out::note(format!(
                "  put the workspace back to before it: holdpoint rollback {point}"
            ));
        }
        let now = clock::rfc3339(clock::now());
        let loaded = self.update(|state| {
            if let Some(skill) = &mut state.skill_state {
                report::note(skill, attempt.action, message.to_owned(), &now);
            }
            Ok(())
        })?;
        self.store.write_pages(&loaded.state)?;
        self.store.append(
            self.id,
            "debug.log",
            &format!("{}.{}", attempt.id, attempt.starts),
            &[json!({
                "timestamp": now,
                "attempt": format!("{}.{}", attempt.id, attempt.starts),
                "iteration": attempt.iteration,
                "action": attempt.action,
                "event": "interrupted",
                "message": message,
            })],
        )?;
        self.log(
            "loop_interrupted",
            LogOutcome::Partial,
            message,
            &json!({
                "iteration": attempt.iteration,
                "action": attempt.action,
                "attempt": attempt.id,
                "safety_point": attempt.point,
            }),
        )
    }

    /// Goes on from what a killed runner left.
    pub(super) fn recover(&self, mut attempt: Attempt) -> Result<Option<Outcome>> {
        match attempt.phase {
            Phase::Recorded => self.write_after(&attempt),
            Phase::Planned => {
                Self::say(&format!(
                    "loop {}: the last runner was killed before iteration {} began",
                    self.id, attempt.iteration
                ));
                self.forget(&attempt)?;
                Ok(None)
            }
            Phase::Ended => {
                Self::say(&format!(
                    "loop {}: the last runner was killed after iteration {} ended; recording it",
                    self.id, attempt.iteration
                ));
                self.record_end(&mut attempt)
            }
            Phase::Started => {
                let dir = self.command_dir(attempt.iteration, attempt.starts);
                match leashed::find(&dir, self.voice(), Company::Alone)? {
                    Found::NeverStarted => {
                        Self::say(&format!(
                            "loop {}: the last runner was killed before iteration {} began",
                            self.id, attempt.iteration
                        ));
                        self.forget(&attempt)?;
                        Ok(None)
                    }
                    Found::Alive(running) => {
                        Self::say(&format!(
                            "loop {}: iteration {} is still running (process {}); waiting for it",
                            self.id,
                            attempt.iteration,
                            running.pid().unwrap_or_default()
                        ));
                        self.stay(&mut attempt, running)
                    }
                    Found::Ended(end) if end.cause != Cause::Lost => {
                        Self::say(&format!(
                            "loop {}: iteration {} ended while nobody watched; recording it",
                            self.id, attempt.iteration
                        ));
                        self.ended(&mut attempt, &end)
                    }
                    Found::Ended(_) => {
                        let message = format!(
                            "iteration {} was killed before it ended and is done again; what it had done so far and may keep is still there",
                            attempt.iteration
                        );
                        self.interrupted(&attempt, &message)?;
                        // The next start's safety point must not take over what nobody judged.
                        self.settle(&mut attempt)?;
                        self.forget(&attempt)?;
                        Ok(None)
                    }
                }
            }
        }
    }
}

/// Why a command did not end by itself, where it did not.
fn how(end: &End) -> Option<String> {
    let took = Duration::from_millis(end.elapsed_ms);
    match &end.cause {
        Cause::Left | Cause::Cancelled => None,
        Cause::NotStarted { why } => Some(why.clone()),
        Cause::TimeLimit => Some(format!(
            "ended at its time limit, after {}",
            limits::say(Duration::from_secs(took.as_secs()))
        )),
        Cause::Stopped { by } => Some(format!("ended by {by}")),
        Cause::Lost => Some("whoever watched it was killed, and its status is lost".to_owned()),
    }
}
