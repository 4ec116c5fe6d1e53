//! `holdpoint holds`: lists what waits for a person, and shows one hold with its evidence.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::holds::{self, Hold, State};
use crate::judge::{self, Action, After, ChangeOp, PathChange, Pending};
use crate::repo::{Git, Workspace};
use crate::runs::delta::{Payload, Side};
use crate::sys::env::Env;
use crate::sys::{clock, files, out};
use bstr::ByteSlice as _;
use serde_json::Value;
use similar::TextDiff;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Bytes of a file above which no diff is shown.
const SHOWN: usize = 512 * 1024;

/// Arguments of `holdpoint holds`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Sub>,
    /// Lists settled holds too.
    #[arg(long)]
    all: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Shows one hold: why, evidence, what would be lost, and the change itself.
    Show {
        /// The hold's id, or the end of it.
        id: String,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    match &args.command {
        Some(Sub::Show { id, json }) => show(env, &workspace, id, *json),
        None => list(env, &workspace, args),
    }
}

/// The error of a verb that was given no hold, with what could be typed.
pub(super) fn unnamed(env: &Env, workspace: &Workspace, verb: &str) -> Result<Error> {
    let error = Error::new(
        ErrorKind::Usage,
        format!("which hold to {verb} was not said"),
    );
    let pending: Vec<Hold> = holds::list(env, workspace)?
        .into_iter()
        .filter(|hold| hold.state_now() == State::Pending)
        .collect();
    Ok(match pending.as_slice() {
        [] => error.hint("none is pending"),
        pending => pending.iter().take(3).fold(error, |error, hold| {
            error.hint(format!("{}: holdpoint {verb} {}", hold.summary, hold.id))
        }),
    })
}

fn list(env: &Env, workspace: &Workspace, args: &Args) -> Result<ExitStatus> {
    let mut found = holds::list(env, workspace)?;
    found.retain(|hold| args.all || matches!(hold.state_now(), State::Pending | State::Confirmed));
    if args.json {
        let all = found.iter().map(shown).collect::<Result<Vec<_>>>()?;
        out::line(json(&all)?);
        return Ok(ExitStatus::Passed);
    }
    if found.is_empty() {
        out::line("Nothing waits for you.");
        return Ok(ExitStatus::Passed);
    }
    for hold in &found {
        out::line(format!(
            "{}  {}  {:<9} {:<8} {}",
            hold.id,
            hold.level,
            state(hold),
            left(hold),
            hold.summary
        ));
        out::line(format!("    {}, by {}", hold.reasoning, hold.actor.word()));
    }
    for (id, count) in alike(&found) {
        out::line("");
        out::line(format!(
            "{count} of them are alike: holdpoint confirm --like {id}"
        ));
    }
    out::line("");
    out::line(
        "Look: holdpoint holds show ID   Agree: holdpoint confirm ID   Refuse: holdpoint deny ID",
    );
    Ok(ExitStatus::Passed)
}

/// The batches among the holds that wait: an id of each, and how many they are.
fn alike(holds: &[Hold]) -> Vec<(String, usize)> {
    let pending: Vec<Pending> = holds
        .iter()
        .filter(|hold| hold.state_now() == State::Pending)
        .filter_map(Hold::as_pending)
        .collect();
    judge::batches(&pending, false)
        .iter()
        .filter_map(|batch| Some((batch.first()?.id.clone(), batch.len())))
        .collect()
}

fn show(env: &Env, workspace: &Workspace, id: &str, as_json: bool) -> Result<ExitStatus> {
    let hold = holds::find(env, workspace, id)?;
    if as_json {
        out::line(json(&shown(&hold)?)?);
        return Ok(ExitStatus::Passed);
    }
    out::line(holds::screen(&hold));
    out::line(format!("  state   {}, {}", state(&hold), left(&hold)));
    if let Some(why) = &hold.why {
        out::line(format!("  refused {why}"));
    }
    let diff = diff(workspace, &hold)?;
    if !diff.is_empty() {
        out::line("");
        out::line(diff.trim_end());
    }
    if hold.state_now() == State::Pending {
        out::line("");
        out::line(format!(
            "Agree: holdpoint confirm {}   Refuse: holdpoint deny {} --why TEXT",
            hold.id, hold.id
        ));
    }
    Ok(ExitStatus::Passed)
}

/// A hold as JSON for people and scripts: paths and commands as text.
fn shown(hold: &Hold) -> Result<Value> {
    let mut value = serde_json::to_value(hold)
        .doing(ErrorKind::Internal, || "cannot print as JSON".to_owned())?;
    as_text(&mut value);
    Ok(value)
}

/// Turns lists of bytes, the only lists of numbers in a hold, into texts.
fn as_text(value: &mut Value) {
    match value {
        Value::Array(items) => {
            let bytes: Option<Vec<u8>> = items
                .iter()
                .map(|item| item.as_u64().and_then(|byte| u8::try_from(byte).ok()))
                .collect();
            match bytes {
                Some(bytes) if !bytes.is_empty() => {
                    *value = String::from_utf8_lossy(&bytes).into_owned().into();
                }
                _ => items.iter_mut().for_each(as_text),
            }
        }
        Value::Object(members) => members.values_mut().for_each(as_text),
        _ => {}
    }
}

pub(super) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string_pretty(value)
        .doing(ErrorKind::Internal, || "cannot print as JSON".to_owned())
}

fn state(hold: &Hold) -> &'static str {
    match hold.state_now() {
        State::Pending => "pending",
        State::Confirmed => "confirmed",
        State::Denied => "denied",
        State::Expired => "expired",
        State::Used => "used",
    }
}

/// How long it waits still.
fn left(hold: &Hold) -> String {
    let ends = hold
        .confirmation
        .as_ref()
        .map_or(hold.expires, |confirmation| confirmation.expires);
    let seconds = ends.duration_since(clock::now()).as_secs();
    match seconds {
        ..=0 => "over".to_owned(),
        1..=90 => format!("{seconds} s left"),
        _ => format!("{} min left", seconds / 60),
    }
}

/// The change that a hold keeps back, as a unified diff; empty where the action is no change of files.
pub(super) fn diff(workspace: &Workspace, hold: &Hold) -> Result<String> {
    let changes = match &hold.action {
        Action::Write { path, after } => return written(workspace, path.as_bstr(), after),
        Action::StagedChange { changes } | Action::WorkspaceDelta { changes, .. } => changes,
        _ => return Ok(String::new()),
    };
    let mut text = String::new();
    // A settled hold keeps no bytes any more.
    let kept = Payload::of(hold).filter(|kept| kept.dir.is_dir());
    for change in changes.iter().take(50) {
        text.push_str(&changed(workspace, kept.as_ref(), change)?);
    }
    if let Some(more) = changes.len().checked_sub(50).filter(|more| *more > 0) {
        text = format!("{text}… and {more} more files\n");
    }
    Ok(text)
}

fn written(workspace: &Workspace, path: &bstr::BStr, after: &After) -> Result<String> {
    let file = workspace.root.join(OsStr::from_bytes(path));
    let before = files::read_if_there(&file)?.unwrap_or_default();
    Ok(match after {
        After::Content { bytes } => unified(path, &before, bytes),
        After::Gone => unified(path, &before, b""),
        After::MovedTo { path: to } => format!("{path} -> {to}\n"),
        After::Unknown => String::new(),
    })
}

/// Both sides of a change: from what a run left and the hold keeps, else from the repository.
fn sides(
    workspace: &Workspace,
    kept: Option<&Payload>,
    change: &PathChange,
) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    if let Some(kept) = kept {
        let old = match &change.op {
            ChangeOp::Rename { from } => from,
            ChangeOp::Create | ChangeOp::Modify | ChangeOp::Delete => &change.path,
        };
        let before = kept.bytes(old.as_bstr(), Side::Before)?;
        let after = kept.bytes(change.path.as_bstr(), Side::After)?;
        return Ok(Some((before, after)));
    }
    let before = blob(workspace, &change.before)?;
    let after = blob(workspace, &change.after)?;
    Ok(before.zip(after))
}

fn changed(workspace: &Workspace, kept: Option<&Payload>, change: &PathChange) -> Result<String> {
    let path = change.path.as_bstr();
    let Some((before, after)) = sides(workspace, kept, change)? else {
        return Ok(format!("{} {path}\n", op(&change.op)));
    };
    let mut text = unified(path, &before, &after);
    if matches!(change.op, ChangeOp::Rename { .. }) {
        text.insert_str(0, &format!("{} {path}\n", op(&change.op)));
    }
    if text.is_empty() {
        text = format!(
            "{} {path} ({} -> {})\n",
            op(&change.op),
            change.mode_before,
            change.mode_after
        );
    }
    Ok(text)
}

fn op(op: &ChangeOp) -> String {
    match op {
        ChangeOp::Create => "new".to_owned(),
        ChangeOp::Modify => "changed".to_owned(),
        ChangeOp::Delete => "deleted".to_owned(),
        ChangeOp::Rename { from } => format!("renamed from {from}:"),
    }
}

/// A blob of the repository; `None` when it has none of that id.
fn blob(workspace: &Workspace, id: &str) -> Result<Option<Vec<u8>>> {
    if id.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if workspace.git_dir.is_none() || !id.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let output = Git::at(workspace).args(["cat-file", "blob", id]).output()?;
    Ok((output.status == Some(0)).then_some(output.stdout))
}

fn unified(path: &bstr::BStr, before: &[u8], after: &[u8]) -> String {
    if before.len() + after.len() > SHOWN || before.contains(&0) || after.contains(&0) {
        return format!(
            "{path}: {} bytes become {} bytes\n",
            before.len(),
            after.len()
        );
    }
    let (before, after) = (before.to_str_lossy(), after.to_str_lossy());
    TextDiff::from_lines(before.as_ref(), after.as_ref())
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}
