//! After a tool has run: what it did, for the guardrails, and what the agent is told.

use super::before::shown;
use crate::agents::{Agent, Answer, Call, Intent};
use crate::app::hook::grants;
use crate::error::{Context as _, ErrorKind, Result};
use crate::journal::{self, Behavior, Timeout};
use crate::judge::RuleId;
use crate::prefs::{self, Guardrails};
use crate::repo::Workspace;
use crate::runs::policy::guardrails::{self, Limits, Notice, Seen, What};
use crate::sys::clock;
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use crate::sys::lock::Lock;
use sha2::{Digest as _, Sha256};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Events beyond which a session's file is cut.
const MOST: usize = 400;

/// Events that are kept when it is.
const KEPT: usize = 200;

/// Longest error that is remembered, in bytes.
const LONGEST: usize = 400;

/// Records a tool's end and says whether the agent goes round in circles.
///
/// # Errors
/// When the record cannot be read or written; nothing is refused then.
pub(super) fn record(env: &Env, agent: Agent, call: &Call) -> Result<Answer> {
    let cwd = call.cwd.as_ref().map_or_else(
        || env.cwd().to_path_buf(),
        |cwd| env.cwd().join(OsStr::from_bytes(cwd)),
    );
    let Ok(workspace) = Workspace::find(env, &cwd) else {
        return Ok(Answer::Pass);
    };
    grants::revoke(&workspace, agent.name(), call.session.as_deref());
    let Some(what) = what(call) else {
        return Ok(Answer::Pass);
    };
    let limits = limits(&prefs::load(env, &workspace)?.guardrails);
    let file = file(&workspace, agent, call)?;
    let _lock = Lock::wait(&file.with_extension("lock"))?;
    let mut seen = read(&file)?;
    let now = clock::now();
    let fresh = seen.len();
    seen.push(Seen { at: now, what });
    let notice = guardrails::judge(&seen, now, limits);
    if let Some(notice) = &notice {
        seen.push(Seen {
            at: now,
            what: What::Noticed { rule: notice.rule },
        });
    }
    store(&file, &seen, fresh)?;
    let Some(notice) = notice else {
        return Ok(Answer::Pass);
    };
    journal::append_timeout(env, &workspace, timeout(&notice))?;
    let text = format!("Holdpoint ({}): {}", notice.rule, notice.text);
    if let Some(run) = env.text("HOLDPOINT_RUN").filter(|run| is_id(run)) {
        let dir = crate::runs::record::Dir::of(&workspace, run);
        // A loop's commands carry the mark too, and have no directory among the runs.
        if dir.path().is_dir() {
            dir.tell(&format!("{}: {}", notice.rule, notice.text))?;
        }
    }
    Ok(if notice.stop {
        Answer::Stop(text)
    } else {
        Answer::Tell(text)
    })
}

/// Whether a text from the environment can be a run's id, and nothing that leads elsewhere.
fn is_id(text: &str) -> bool {
    text.len() == 26 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn what(call: &Call) -> Option<What> {
    if let Some(error) = &call.failure {
        let end = (0..=LONGEST.min(error.len()))
            .rev()
            .find(|at| error.is_char_boundary(*at))
            .unwrap_or(0);
        return Some(What::Failed {
            tool: call.tool.clone(),
            error: error.get(..end).unwrap_or_default().to_owned(),
        });
    }
    match &call.intent {
        Intent::Read { search: true, .. } => Some(What::Searched),
        Intent::Read {
            path: Some(path), ..
        } => Some(What::Read {
            path: shown(path.as_ref()),
        }),
        Intent::Read { path: None, .. } => None,
        Intent::Steps(_) | Intent::Unknown { .. } => Some(What::Worked {
            tool: call.tool.clone(),
        }),
    }
}

fn limits(preferences: &Guardrails) -> Limits {
    Limits {
        reads: preferences.max_same_file_reads,
        read_window: preferences.read_window,
        failures: preferences.max_consecutive_failures,
        searches: preferences.max_searches,
        search_window: preferences.search_window,
        no_progress: preferences.no_progress_timeout,
    }
}

fn timeout(notice: &Notice) -> Timeout {
    Timeout::DecisionTimeout {
        behavior: match notice.rule {
            RuleId::StuckRereads => Behavior::RepeatedReads,
            RuleId::StuckFailures => Behavior::ConsecutiveFailures,
            RuleId::StuckSearches => Behavior::ExcessiveSearches,
            _ => Behavior::NoProgress,
        },
        file: notice.file.clone(),
        tool: notice.tool.clone(),
        count: notice.count,
        action: if notice.stop { "stopped" } else { "suggested" }.to_owned(),
    }
}

/// The file of one agent session; a sub-agent is counted on its own.
fn file(workspace: &Workspace, agent: Agent, call: &Call) -> Result<PathBuf> {
    let dir = workspace.state.join("sessions");
    files::make_private_dir(&dir)?;
    let session = call.session.as_deref().unwrap_or("none");
    let whose = match &call.subagent {
        Some(subagent) => format!("{session}/{subagent}"),
        None => session.to_owned(),
    };
    // An id is the agent's own text; only its hash becomes a file name.
    let mut name = format!("{agent}-");
    for byte in Sha256::digest(whose.as_bytes()).iter().take(8) {
        let _ = write!(name, "{byte:02x}");
    }
    Ok(dir.join(format!("{name}.jsonl")))
}

fn read(file: &Path) -> Result<Vec<Seen>> {
    let bytes = files::read_if_there(file)?.unwrap_or_default();
    // A line torn by a crash is no event.
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// Appends what is new, or cuts the file when it has grown long.
fn store(file: &Path, seen: &[Seen], fresh: usize) -> Result<()> {
    let cut = seen.len() > MOST;
    let from = if cut { seen.len() - KEPT } else { fresh };
    let mut lines = Vec::new();
    for event in seen.get(from..).unwrap_or_default() {
        serde_json::to_writer(&mut lines, event)
            .doing(ErrorKind::Internal, || "cannot word an event".to_owned())?;
        lines.push(b'\n');
    }
    if cut {
        return files::replace(file, &lines, 0o600, Durability::Lazy);
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| file.write_all(&lines))
        .doing(ErrorKind::Io, || format!("cannot write {}", file.display()))
}
