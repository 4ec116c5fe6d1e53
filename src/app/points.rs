//! `holdpoint points`: lists safety points; shows, drops, prunes and verifies them.

use super::told::written_down;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::holds::{self, State};
use crate::journal::LogEntry;
use crate::judge::{ChangeOp, PathChange};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{bar, out};
use crate::vault::{self, SafetyPoint, rollback};
use bstr::{BStr, ByteSlice as _};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Arguments of `holdpoint points`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prints JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Shows what changed since a point.
    Show {
        /// The point's id, or the start or end of it; the newest without one
        id: Option<String>,
    },
    /// Forgets a point; what only it held is deleted by the next prune
    Drop {
        /// The point's id, or the start or end of it
        id: String,
    },
    /// Forgets old points and deletes what nothing needs any more
    Prune,
    /// Reads everything back and says which points are whole
    Verify,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::here(env)?;
    match (rollback::recover(env, &workspace), &args.command) {
        (Ok(notice), _) => notice
            .iter()
            .for_each(|notice| out::note(format!("holdpoint: {notice}"))),
        (Err(error), Some(Command::Drop { .. } | Command::Prune)) => return Err(error),
        // Who looks for a way back must see which there are.
        (Err(error), _) => out::note(format!("holdpoint: {error}")),
    }
    match &args.command {
        None => list(env, &workspace, args.json),
        Some(Command::Show { id }) => show(env, &workspace, id.as_deref(), args.json),
        Some(Command::Drop { id }) => {
            let id = vault::drop_point(env, &workspace, id)?;
            written_down(
                env,
                &workspace,
                LogEntry::new("safety_point")
                    .reason("dropped")
                    .reasoning("a safety point was dropped by hand; what only it held is gone at the next prune")
                    .action("drop a safety point")
                    .safety_point(Some(id.as_str())),
            );
            out::line(format!("dropped {id}"));
            Ok(ExitStatus::Passed)
        }
        Some(Command::Prune) => prune(env, &workspace, args.json),
        Some(Command::Verify) => verify(env, &workspace, args.json),
    }
}

fn list(env: &Env, workspace: &Workspace, json: bool) -> Result<ExitStatus> {
    let points = vault::points(env, workspace)?;
    for id in vault::unreadable(env, workspace)? {
        out::note(format!(
            "holdpoint: the record of {id} cannot be read; to forget it: holdpoint points drop {id}"
        ));
    }
    if json {
        out::line(as_json(&points)?);
        return Ok(ExitStatus::Passed);
    }
    if points.is_empty() {
        out::note("there is no safety point yet; take one: holdpoint save");
    }
    for point in &points {
        let mut line = format!(
            "{}  {}  {:<16} {:<12} {:>5} changed {:>8} KiB",
            point.id,
            point.created,
            point.reason,
            point.actor.word(),
            point.changed,
            point.bytes.div_ceil(1024),
        );
        let gaps: usize = point.not_held.iter().map(|gap| gap.count).sum();
        if gaps > 0 {
            let _ = write!(line, "  {gaps} not held");
        }
        if let Some(message) = &point.message {
            line.push_str("  ");
            line.push_str(&message.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        if !point.is_of(workspace) {
            let _ = write!(line, "  ({})", out::path(&point.worktree));
        }
        out::line(line);
    }
    Ok(ExitStatus::Passed)
}

fn prune(env: &Env, workspace: &Workspace, json: bool) -> Result<ExitStatus> {
    // What a person may still be asked about must be there when they answer.
    let keep: BTreeSet<String> = holds::list(env, workspace)?
        .into_iter()
        .filter(|hold| matches!(hold.state_now(), State::Pending | State::Confirmed))
        .filter_map(|hold| hold.safety_point)
        .collect();
    let pruned = bar::over("pruning", vault::progress::steps, || {
        vault::prune(env, workspace, &keep)
    })?;
    written_down(
        env,
        workspace,
        LogEntry::new("safety_point")
            .reason("pruned")
            .reasoning(
                "points past their time were dropped; the recent, the young and the held stay",
            )
            .action("prune safety points")
            .context("points", pruned.points),
    );
    if json {
        let value = serde_json::json!({
            "points": pruned.points, "bytes": pruned.bytes, "links": pruned.links,
        });
        out::line(value.to_string());
    } else {
        out::line(format!(
            "dropped {} points, freed {} KiB and {} links to git's objects",
            pruned.points,
            pruned.bytes.div_ceil(1024),
            pruned.links
        ));
    }
    Ok(ExitStatus::Passed)
}

fn verify(env: &Env, workspace: &Workspace, json: bool) -> Result<ExitStatus> {
    let faults = bar::over("verifying", vault::progress::steps, || {
        vault::verify(env, workspace)
    })?;
    let count = vault::points(env, workspace).map_or(0, |points| points.len());
    if json {
        let list: Vec<_> = faults
            .iter()
            .map(|fault| serde_json::json!({ "point": fault.point, "what": fault.what }))
            .collect();
        out::line(serde_json::json!({ "points": count, "faults": list }).to_string());
    } else {
        for fault in &faults {
            let whose = fault.point.as_deref().unwrap_or("the vault");
            out::line(format!("{whose}: {}", fault.what));
        }
        if faults.is_empty() {
            out::line(format!("{count} points are whole"));
        }
    }
    Ok(if faults.is_empty() {
        ExitStatus::Passed
    } else {
        ExitStatus::Internal
    })
}

fn as_json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Error::new(ErrorKind::Internal, "cannot write JSON").because(error))
}

fn show(env: &Env, workspace: &Workspace, id: Option<&str>, json: bool) -> Result<ExitStatus> {
    let point = vault::find(env, workspace, id)?;
    let changes = vault::compare(env, workspace, &point)?;
    if json {
        let value = serde_json::json!({ "point": point, "changes": changes });
        out::line(as_json(&value)?);
        return Ok(ExitStatus::Passed);
    }
    out::line(describe(&point));
    for change in &changes {
        out::line(summary(change));
        if let Some(diff) = text_diff(env, workspace, &point, change, Toward::Now)? {
            out::line(diff);
        }
    }
    if changes.is_empty() {
        out::line("the worktree is as the point has it");
    }
    Ok(ExitStatus::Passed)
}

/// A point in a few lines.
fn describe(point: &SafetyPoint) -> String {
    let mut text = format!(
        "safety point {}\ntaken {} ({}) by {}",
        point.id,
        point.created,
        point.reason,
        point.actor.word()
    );
    if let Some(message) = &point.message {
        let _ = write!(text, "\n    {message}");
    }
    match (&point.branch, &point.head) {
        (Some(branch), Some(head)) => {
            let _ = write!(text, "\non {branch} at {head}");
        }
        (Some(branch), None) => {
            let _ = write!(text, "\non {branch}, no commit yet");
        }
        (None, Some(head)) => {
            let _ = write!(text, "\ndetached at {head}");
        }
        (None, None) => {}
    }
    for gap in &point.not_held {
        let path = out::path(&gap.path);
        let _ = write!(text, "\nnot held: {path} ({})", gap.why.words());
        if gap.count > 1 {
            let _ = write!(text, ", {} paths below it", gap.count);
        }
    }
    text
}

/// One changed path in a line.
pub(super) fn summary(change: &PathChange) -> String {
    let path = out::path(&change.path);
    match &change.op {
        ChangeOp::Create => format!("new       {path}"),
        ChangeOp::Delete => format!("deleted   {path}"),
        ChangeOp::Rename { from } => format!("renamed   {} -> {path}", out::path(from)),
        ChangeOp::Modify if change.before == change.after => {
            format!(
                "mode      {path} ({} -> {})",
                change.mode_before, change.mode_after
            )
        }
        ChangeOp::Modify => format!("modified  {path}"),
    }
}

/// Which way a diff reads.
#[derive(Clone, Copy)]
pub(super) enum Toward {
    /// What was done since the point.
    Now,
    /// What a rollback would do.
    Point,
}

/// A side of a diff by its name.
fn side(which: &str, path: &BStr) -> String {
    out::path(&[which.as_bytes(), path].concat())
}

/// Above this size a file's change is not shown line by line.
const SHOWN: u64 = 1 << 20;

/// The changed lines of a text file; `None` for anything else.
pub(super) fn text_diff(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    change: &PathChange,
    toward: Toward,
) -> Result<Option<String>> {
    if change.before == change.after {
        return Ok(None);
    }
    let old_path = match &change.op {
        ChangeOp::Rename { from } => from,
        _ => &change.path,
    };
    let held = vault::size(env, workspace, point, old_path.as_bstr())?;
    if held.is_some_and(|size| size > SHOWN) {
        return Ok(None);
    }
    let before = vault::content(env, workspace, point, old_path.as_bstr())?.unwrap_or_default();
    let place = workspace.root.join(change.path.to_path_lossy());
    let after = match std::fs::symlink_metadata(&place) {
        Ok(meta) if meta.is_file() && meta.len() <= SHOWN => {
            std::fs::read(&place).unwrap_or_default()
        }
        Ok(meta) if meta.is_file() => return Ok(None),
        _ => Vec::new(),
    };
    let (Ok(before), Ok(after)) = (std::str::from_utf8(&before), std::str::from_utf8(&after))
    else {
        return Ok(None);
    };
    let (old, new) = match toward {
        Toward::Now => (before, after),
        Toward::Point => (after, before),
    };
    let (a, b) = match toward {
        Toward::Now => (old_path.as_bstr(), change.path.as_bstr()),
        Toward::Point => (change.path.as_bstr(), old_path.as_bstr()),
    };
    let text = similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(&side("a/", a), &side("b/", b))
        .to_string();
    Ok(Some(text.trim_end().to_owned()))
}
