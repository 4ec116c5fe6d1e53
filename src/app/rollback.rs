//! `holdpoint rollback`: puts the workspace back to a safety point.

use super::chosen;
use super::hunks;
use super::points::{Toward, text_diff};
use super::told::written_down_as;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::journal::{LogEntry, Outcome};
use crate::judge::Actor;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::terminal::Terminal;
use crate::sys::{actor, bar, out};
use crate::vault::rollback::{
    self, Aim, Cause, Changed, Left, PathText, Pick, Preview, Scope, Straight,
};
use crate::vault::{self, Request, SafetyPoint};
use bstr::BString;
use std::path::PathBuf;

/// Arguments of `holdpoint rollback`.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct Args {
    /// The point's id, or the start or end of it; without one the last of this run, session or worktree
    #[arg(conflicts_with_all = ["undo", "redo"])]
    id: Option<String>,
    /// Goes back to what was there before the last rollback
    #[arg(long, conflicts_with = "redo")]
    undo: bool,
    /// Takes the last undo back
    #[arg(long)]
    redo: bool,
    /// Puts branches, tags and reflogs back too
    #[arg(long)]
    refs: bool,
    /// Puts files back and leaves the index and all else of git
    #[arg(long)]
    file_only: bool,
    /// Asks hunk by hunk what is put back, at a terminal; leaves the index
    #[arg(long, conflicts_with_all = ["yes", "dry_run", "undo", "redo", "refs", "json"])]
    hunks: bool,
    /// Shows what would change and changes nothing
    #[arg(long)]
    dry_run: bool,
    /// Also overwrites what changed after the summary was shown, and what a person edited since the agent's last write
    #[arg(long)]
    force: bool,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Only these paths, and what is below them
    #[arg(last = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::here(env)?;
    if let Some(notice) = rollback::recover(env, &workspace)? {
        out::note(format!("holdpoint: {notice}"));
    }
    let (aim, paths) = aim(env, &workspace, args)?;
    let scope = Scope {
        refs: args.refs,
        files_only: args.file_only || args.hunks,
        paths,
    };
    let actor = actor::detect(env);
    let request = |target: &SafetyPoint| {
        Request::new("before-rollback", actor.clone())
            .message(Some(format!("before the rollback to {}", target.id)))
    };
    let changed = if args.force {
        Changed::Overwrite
    } else {
        Changed::Keep
    };
    let terminal = (!args.yes).then(Terminal::to_talk).flatten();
    if args.hunks && terminal.is_none() {
        return Err(
            Error::new(ErrorKind::Usage, "there is no terminal to choose hunks at")
                .hint("put whole files back: holdpoint rollback ID -- PATHS"),
        );
    }
    // Where nobody is shown anything first, one look at the workspace is enough.
    if terminal.is_none() && !args.dry_run {
        let straight = bar::over("restoring", vault::progress::steps, || {
            rollback::straight(env, &workspace, &aim, scope, &request, changed)
        })?;
        return Ok(match straight {
            Straight::Nothing(preview) => nothing(&preview, args.json),
            Straight::Done(preview, done) => {
                note_down(env, &workspace, &actor, &preview, &done);
                report(&preview, &done, args.json)
            }
        });
    }
    let mut preview = bar::over("looking", vault::progress::steps, || {
        rollback::plan(env, &workspace, &aim, scope)
    })?;
    if args.dry_run {
        show(env, &workspace, &preview, args.json)?;
        return Ok(ExitStatus::Passed);
    }
    if preview.plan.is_empty() && matches!(aim, Aim::Point(_)) {
        return Ok(nothing(&preview, args.json));
    }
    if args.force {
        preview.persons.clear();
    }
    if let Some(terminal) = terminal
        && !is_agreed(env, &workspace, args, &terminal, &mut preview)?
    {
        return Ok(ExitStatus::Cancelled);
    }
    let request = request(&preview.target);
    let done = bar::over("restoring", vault::progress::steps, || {
        rollback::apply(env, &workspace, &preview, &request, changed)
    })?;
    note_down(env, &workspace, &actor, &preview, &done);
    Ok(report(&preview, &done, args.json))
}

/// What is gone back to, and how much of it.
fn aim(env: &Env, workspace: &Workspace, args: &Args) -> Result<(Aim, Vec<PathText>)> {
    if args.undo || args.redo {
        if !args.paths.is_empty() {
            return Err(
                Error::new(ErrorKind::Usage, "a rollback is taken back as a whole")
                    .hint("single paths: holdpoint rollback ID -- PATHS"),
            );
        }
        let aim = if args.undo { Aim::Undo } else { Aim::Redo };
        return Ok((aim, Vec::new()));
    }
    let point = match &args.id {
        Some(id) => vault::find(env, workspace, Some(id))?,
        None => vault::last_wanted(env, workspace)?,
    };
    let paths = chosen::paths(env, workspace, &point, &args.paths)?;
    Ok((Aim::Point(point.id), paths))
}

/// Shows what would be done and asks, first of all about what a person edited.
fn is_agreed(
    env: &Env,
    workspace: &Workspace,
    args: &Args,
    terminal: &Terminal,
    preview: &mut Preview,
) -> Result<bool> {
    if !preview.persons.is_empty() {
        terminal.say("edited by a person since the agent's last write:")?;
        for path in &preview.persons {
            terminal.say(&format!("  {}", out::path(path)))?;
        }
        if terminal.agrees("Put these back too?")? {
            preview.persons.clear();
        }
    }
    if args.hunks {
        preview.picks = hunks::pick(env, workspace, terminal, preview)?;
        return Ok(preview.picks.values().any(|pick| *pick != Pick::Leave));
    }
    terminal.say(preview.plan.to_string().trim_end())?;
    let count = preview.plan.steps.len();
    let paths = if count == 1 { "path" } else { "paths" };
    terminal.agrees(&format!("Put back {count} {paths}?"))
}

fn note_down(
    env: &Env,
    workspace: &Workspace,
    actor: &Actor,
    preview: &Preview,
    done: &rollback::Done,
) {
    let outcome = match status_of(&done.left) {
        ExitStatus::Passed => Outcome::Success,
        _ => Outcome::Partial,
    };
    written_down_as(
        env,
        workspace,
        actor,
        LogEntry::new("rollback")
            .outcome(outcome)
            .reason("asked_for")
            .reasoning("a rollback was asked for; a safety point was taken before it")
            .action(format!("put back {} paths", done.changed))
            .context("before", done.before.id.as_str())
            .context("left", done.left.len())
            .context("refs", preview.scope.refs)
            .safety_point(Some(preview.target.id.as_str())),
    );
}

fn nothing(preview: &Preview, json: bool) -> ExitStatus {
    let (left, refs_left) = (&preview.plan.left, &preview.plan.refs_left);
    if json {
        let value = serde_json::json!({
            "point": preview.target.id,
            "before": null,
            "changed": 0,
            "left": as_json(left),
            "refs_left": names(refs_left),
        });
        out::line(value.to_string());
    }
    tell_left(left, &preview.target);
    tell_refs(refs_left, &preview.target);
    let status = status_of(left);
    if status == ExitStatus::Passed {
        out::note(format!(
            "nothing to do: the workspace is as the safety point {} has it",
            preview.target.id
        ));
    }
    status
}

fn report(preview: &Preview, done: &rollback::Done, json: bool) -> ExitStatus {
    if json {
        let value = serde_json::json!({
            "point": preview.target.id,
            "before": done.before.id,
            "changed": done.changed,
            "left": as_json(&done.left),
            "refs_left": names(&done.refs_left),
        });
        out::line(value.to_string());
    } else {
        out::line(format!(
            "put back {} paths from the safety point {}",
            done.changed, preview.target.id
        ));
    }
    if let Some(lock) = &done.dead_lock {
        out::note(format!(
            "removed {}, which a git that died had left behind",
            lock.display()
        ));
    }
    tell_left(&done.left, &preview.target);
    tell_refs(&done.refs_left, &preview.target);
    out::note("to undo this: holdpoint rollback --undo");
    status_of(&done.left)
}

fn as_json(left: &[Left]) -> Vec<serde_json::Value> {
    left.iter()
        .map(|left| {
            serde_json::json!({
                "path": left.path.to_string(),
                "why": left.why,
                "failed": left.cause == Cause::Failed,
            })
        })
        .collect()
}

fn names(refs: &[BString]) -> Vec<String> {
    refs.iter().map(ToString::to_string).collect()
}

/// Something that should have been put back and was not is a failure, whatever else was done.
fn status_of(left: &[Left]) -> ExitStatus {
    if left.iter().any(|left| left.cause == Cause::Failed) {
        ExitStatus::GuardedFailed
    } else {
        ExitStatus::Passed
    }
}

fn tell_left(left: &[Left], target: &SafetyPoint) {
    for left in left {
        let does = match left.cause {
            Cause::Kept => "left as it is",
            Cause::Failed => "could not be put back",
        };
        out::note(format!("{does}: {} ({})", out::path(&left.path), left.why));
    }
    if status_of(left) != ExitStatus::Passed {
        let is_gits = |left: &Left| left.path.starts_with(b".git");
        let paths = if left.iter().any(is_gits) {
            ""
        } else {
            " -- PATHS"
        };
        out::note(format!(
            "see to what is in the way, then put back the rest: holdpoint rollback {}{paths}",
            target.id
        ));
    }
}

fn tell_refs(refs: &[BString], target: &SafetyPoint) {
    if !refs.is_empty() {
        out::note(format!(
            "{} refs have moved and were left; to put them back: holdpoint rollback {} --refs",
            refs.len(),
            target.id
        ));
    }
}

fn show(env: &Env, workspace: &Workspace, preview: &Preview, json: bool) -> Result<()> {
    if json {
        let steps: Vec<_> = preview
            .plan
            .steps
            .iter()
            .map(|step| serde_json::json!({ "path": step.place().to_string(), "does": step.to_string() }))
            .collect();
        let value = serde_json::json!({ "point": preview.target.id, "steps": steps });
        out::line(value.to_string());
        return Ok(());
    }
    if preview.plan.is_empty() {
        tell_left(&preview.plan.left, &preview.target);
        out::note(format!(
            "nothing would change: a rollback to {} finds everything as it is there",
            preview.target.id
        ));
        return Ok(());
    }
    out::line(format!("rollback to {} would:", preview.target.id));
    for path in &preview.persons {
        out::line(format!(
            "ask about {} (a person edited it since the agent's last write)",
            out::path(path)
        ));
    }
    out::line(preview.plan.to_string().trim_end());
    let changes = vault::compare(env, workspace, &preview.target)?;
    for change in &changes {
        let wanted = preview
            .plan
            .steps
            .iter()
            .any(|step| step.is_work() && step.path == change.path);
        if wanted
            && let Some(diff) = text_diff(env, workspace, &preview.target, change, Toward::Point)?
        {
            out::line(diff);
        }
    }
    Ok(())
}
