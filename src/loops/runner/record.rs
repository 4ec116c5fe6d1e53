//! Records how an iteration ended: workspace, logs, progress files, state.

use super::attempt::{Attempt, Phase};
use super::{Lead, Outcome};
use crate::error::{Context as _, ErrorKind, Result};
use crate::journal::Outcome as LogOutcome;
use crate::judge::{ChangeOp, PathChange};
use crate::loops::action::{self, Turn};
use crate::loops::report::{self, Ended, Report};
use crate::loops::settle::{self, Scene};
use crate::loops::state::{LoopState, Mode, SkillState, Status};
use crate::runs::leashed;
use crate::runs::policy::confidence;
use crate::sys::{clock, failpoint, files, out};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

impl Lead<'_> {
    /// Records how an iteration ended: workspace, logs, progress files, state.
    pub(super) fn record_end(&self, attempt: &mut Attempt) -> Result<Option<Outcome>> {
        let dir = self.command_dir(attempt.iteration, attempt.starts);
        let settled = self.settle(attempt)?;
        let now = clock::rfc3339(clock::now());
        let ended = self.end_of(attempt, &dir, &settled)?;
        self.store.append(
            self.id,
            "changes.log",
            &attempt.id,
            &changes(attempt, &settled, &now),
        )?;
        self.store.append(
            self.id,
            "debug.log",
            &attempt.id,
            &[json!({
                "timestamp": now,
                "attempt": attempt.id,
                "iteration": attempt.iteration,
                "action": attempt.action,
                "event": "ended",
                "exit": ended.code,
                "duration_ms": ended.duration_ms,
                "safety_point": attempt.point,
                "hold": attempt.hold,
            })],
        )?;
        failpoint::reach();
        self.log(
            "loop_iteration",
            if ended.succeeded() {
                LogOutcome::Success
            } else {
                LogOutcome::Failure
            },
            &format!(
                "iteration {} ({}) ended with {}; {} file(s) changed",
                attempt.iteration,
                attempt.action,
                match (&ended.how, ended.code) {
                    (Some(how), _) => how.clone(),
                    (None, Some(code)) => format!("exit status {code}"),
                    (None, None) => "no status".to_owned(),
                },
                settled.len()
            ),
            &json!({
                "iteration": attempt.iteration,
                "action": attempt.action,
                "attempt": attempt.id,
                "exit": ended.code,
                "safety_point": attempt.point,
                "hold": attempt.hold,
            }),
        )?;
        if !ended.succeeded() {
            Self::say(&format!(
                "loop {}: iteration {} failed: {}",
                self.id,
                attempt.iteration,
                ended.failure()
            ));
        }
        let mut after = self.store.load(self.id)?.state;
        Self::change(&mut after, attempt, &ended, &now);
        // The pages are written first: a state is never newer than what it can be rebuilt from.
        self.store.write_pages(&after)?;
        attempt.after = Some(after);
        attempt.phase = Phase::Recorded;
        self.note(attempt)?;
        self.write_after(attempt)
    }

    /// Judges the workspace, once; notes the hold before anything is put back.
    pub(super) fn settle(&self, attempt: &mut Attempt) -> Result<Vec<PathChange>> {
        let Some(point) = attempt.point.clone() else {
            return Ok(Vec::new());
        };
        let actor = self.actor();
        let dir = self.store.private_dir(self.id);
        let scene = Scene {
            run: self.id,
            point: &point,
            actor: &actor,
            dir: &dir,
        };
        if attempt.kept.is_none() {
            let settled = settle::settle(self.env, self.workspace, &scene)?;
            attempt.kept = Some(settled.kept);
            attempt.hold = settled.hold;
            self.note(attempt)?;
        }
        if let Some(hold) = &attempt.hold {
            settle::put_back(self.env, self.workspace, &scene, hold)?;
        }
        failpoint::reach();
        Ok(attempt.kept.clone().unwrap_or_default())
    }

    /// Writes the settled state of an iteration; as often as it takes.
    pub(super) fn write_after(&self, attempt: &Attempt) -> Result<Option<Outcome>> {
        let loaded = self.update(|state| {
            // What a person asked for meanwhile stands.
            let (status, reason) = (state.status, state.failure_reason.take());
            if let Some(after) = &attempt.after {
                *state = after.clone();
                if matches!(status, Status::Paused | Status::Failed) {
                    state.status = status;
                    state.failure_reason = reason;
                }
            }
            if attempt.hold.is_some()
                && let Some(to) = action::turn(state.status, Turn::Pause)
            {
                state.status = to;
            }
            Ok(())
        })?;
        self.store.write_pages(&loaded.state)?;
        let report = self.report_path();
        if report.exists() {
            std::fs::remove_file(&report).doing(ErrorKind::Io, || {
                format!("cannot remove {}", report.display())
            })?;
        }
        self.forget(attempt)?;
        Ok(attempt.hold.clone().map(Outcome::Held))
    }

    /// Applies an ended iteration to the state.
    fn change(state: &mut LoopState, attempt: &Attempt, ended: &Ended, now: &str) {
        let own = own_fields(state, &attempt.api);
        state.current_iteration = attempt.iteration;
        let skill = state
            .skill_state
            .get_or_insert_with(|| SkillState::new(Mode::Auto));
        if !own.is_empty() {
            let message = format!(
                "the command changed fields that are not its own, put back: {}",
                own.join(", ")
            );
            out::note(format!("holdpoint: loop {}: {message}", state.loop_id));
            report::note(skill, attempt.action, message, now);
        }
        report::leave(skill, attempt.action, ended, now);
    }

    pub(super) fn end_of(
        &self,
        attempt: &Attempt,
        dir: &Path,
        changes: &[PathChange],
    ) -> Result<Ended> {
        let said = leashed::said(dir)?;
        let printed = String::from_utf8_lossy(&said.out).into_owned();
        let told = String::from_utf8_lossy(&said.err).into_owned();
        let tail = if told.trim().is_empty() {
            printed.clone()
        } else {
            told
        };
        Ok(Ended {
            code: attempt.code,
            how: attempt.how.clone(),
            counts: confidence::counts(&printed)
                .map(|counts| (u64::from(counts.passed), u64::from(counts.failed))),
            tail,
            duration_ms: attempt.duration_ms,
            command: self.shown_command(attempt.action),
            files: changes
                .iter()
                .map(|change| change.path.to_string())
                .collect(),
            report: self.read_report(),
        })
    }

    pub(super) fn report_path(&self) -> PathBuf {
        self.store.dir().join(format!("{}.report.json", self.id))
    }

    pub(super) fn read_report(&self) -> std::result::Result<Report, String> {
        match files::read_if_there(&self.report_path()) {
            Ok(None) => Ok(Report::default()),
            Ok(Some(bytes)) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Puts back API fields that a command changed, the status excepted, and names them.
///
/// The status is the one field by which others steer the loop; a stricter
/// one is what they ask for, and completing is refused.
fn own_fields(state: &mut LoopState, before: &Value) -> Vec<&'static str> {
    let mut changed = Vec::new();
    let Ok(old) = serde_json::from_value::<LoopState>(before.clone()) else {
        return changed;
    };
    let mut put_back = |name: &'static str, same: bool| {
        if !same {
            changed.push(name);
        }
    };
    put_back("title", state.title == old.title);
    put_back("description", state.description == old.description);
    put_back("max_iterations", state.max_iterations == old.max_iterations);
    put_back("created_at", state.created_at == old.created_at);
    put_back("completed_at", state.completed_at == old.completed_at);
    put_back(
        "status",
        state.status != Status::Completed && state.status != Status::Created,
    );
    if changed.contains(&"status") {
        state.status = old.status;
    }
    state.title = old.title;
    state.description = old.description;
    state.max_iterations = old.max_iterations;
    state.created_at = old.created_at;
    state.completed_at = old.completed_at;
    changed
}

/// What an iteration changed, for `changes.log`.
fn changes(attempt: &Attempt, changes: &[PathChange], now: &str) -> Vec<Value> {
    changes
        .iter()
        .map(|change| {
            let (op, from) = match &change.op {
                ChangeOp::Create => ("create", None),
                ChangeOp::Modify => ("modify", None),
                ChangeOp::Delete => ("delete", None),
                ChangeOp::Rename { from } => ("rename", Some(from.to_string())),
            };
            json!({
                "timestamp": now,
                "attempt": attempt.id,
                "iteration": attempt.iteration,
                "action": attempt.action,
                "path": change.path.to_string(),
                "op": op,
                "from": from,
                "before": change.before,
                "after": change.after,
            })
        })
        .collect()
}
