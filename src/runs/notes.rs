//! What a leash writes to the logs while its attempt is going on.

use super::tree::MARK;
use crate::journal::{self, Behavior, LogEntry, Outcome, Timeout};
use crate::judge::{Actor, RuleId};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::out;
use jiff::Timestamp;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A time limit that was passed.
#[derive(Clone, Copy, Debug)]
pub struct TaskTimeout<'a> {
    /// The run.
    pub run: &'a str,
    /// The agent.
    pub agent: &'a str,
    /// The task.
    pub task: &'a str,
    /// How long it has taken.
    pub elapsed: Duration,
    /// Which limit was passed.
    pub threshold: Duration,
    /// What was done: `warning` or `terminated`.
    pub action: &'a str,
    /// The rule that spoke.
    pub rule: Option<RuleId>,
}

/// Logs a time limit that was passed. A log that cannot be written is told, and the watch goes on.
pub fn task_timeout(env: &Env, workspace: Option<&Workspace>, timeout: &TaskTimeout<'_>) {
    let Some(workspace) = workspace else { return };
    let line = Timeout::TaskTimeout {
        agent: timeout.agent.to_owned(),
        task: timeout.task.to_owned(),
        duration: timeout.elapsed.as_secs_f64().round(),
        threshold: timeout.threshold.as_secs_f64().round(),
        action: timeout.action.to_owned(),
    };
    let written = journal::append_timeout(env, workspace, line).and_then(|_| {
        let Some(rule) = timeout.rule else {
            return Ok(());
        };
        let entry = LogEntry::new(if timeout.action == "terminated" {
            "force_stop"
        } else {
            "report"
        })
        .level(rule.rule().level)
        .rule(rule)
        .reason(if timeout.action == "terminated" {
            "over_limit"
        } else {
            "over_default"
        })
        .reasoning(format!(
            "{rule}: {} has run for {} s, the limit is {} s",
            timeout.task,
            timeout.elapsed.as_secs(),
            timeout.threshold.as_secs()
        ))
        .action(timeout.task)
        .outcome(if timeout.action == "terminated" {
            Outcome::Stopped
        } else {
            Outcome::Pending
        })
        .actor(&agent(timeout.agent))
        .run(Some(timeout.run))
        .context("mark", MARK);
        journal::append(env, workspace, entry).map(|_| ())
    });
    if let Err(error) = written {
        out::note(format!("holdpoint: {error}"));
    }
}

/// Logs that nothing has moved for long.
pub fn no_progress(
    env: &Env,
    workspace: Option<&Workspace>,
    run: &str,
    name: &str,
    silent: Duration,
) {
    let Some(workspace) = workspace else { return };
    let rule = RuleId::StuckNoProgress;
    let written = journal::append_timeout(
        env,
        workspace,
        Timeout::DecisionTimeout {
            behavior: Behavior::NoProgress,
            file: None,
            tool: None,
            count: silent.as_secs(),
            action: "progress_check".to_owned(),
        },
    )
    .and_then(|_| {
        let entry = LogEntry::new("report")
            .level(rule.rule().level)
            .rule(rule)
            .reason("no_progress")
            .reasoning(format!(
                "{rule}: no output and no file written for {} s",
                silent.as_secs()
            ))
            .actor(&agent(name))
            .run(Some(run))
            .outcome(Outcome::Pending);
        journal::append(env, workspace, entry).map(|_| ())
    });
    if let Err(error) = written {
        out::note(format!("holdpoint: {error}"));
    }
}

fn agent(name: &str) -> Actor {
    Actor::Agent {
        name: name.to_owned(),
        session: None,
    }
}

/// How many files are looked at before it is taken that something moves.
const MOST: usize = 50_000;

/// Returns true where a file below `root` was written since, git's own directory apart.
#[must_use]
pub fn written_since(root: &Path, since: Timestamp) -> bool {
    let mut dirs = vec![root.to_path_buf()];
    let mut seen = 0;
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST {
                return true;
            }
            let Ok(meta) = entry.metadata() else { continue };
            let written = meta
                .modified()
                .ok()
                .and_then(|at| Timestamp::try_from(at).ok())
                .is_some_and(|at| at >= since);
            if written && !meta.is_dir() {
                return true;
            }
            if meta.is_dir() && entry.file_name() != ".git" {
                dirs.push(entry.path());
            }
        }
    }
    false
}
