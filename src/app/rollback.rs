//! `holdpoint rollback`: puts the workspace back to a safety point.

use super::hunks;
use super::points::{Toward, text_diff};
use super::told::written_down_of;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::journal::LogEntry;
use crate::judge::Actor;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::terminal::Terminal;
use crate::sys::{actor, bar, out};
use crate::vault::rollback::{self, Aim, Changed, PathText, Pick, Preview, Scope, Straight};
use crate::vault::{self, Request, SafetyPoint};
use bstr::BString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

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
    let scope = Scope {
        refs: args.refs,
        files_only: args.file_only || args.hunks,
        paths: args
            .paths
            .iter()
            .map(|path| relative(env, &workspace, path).map(PathText))
            .collect::<Result<_>>()?,
    };
    let aim = match (&args.id, args.undo, args.redo) {
        (_, true, _) => Aim::Undo,
        (_, _, true) => Aim::Redo,
        (Some(id), ..) => Aim::Point(id.clone()),
        (None, ..) => Aim::Point(vault::last_wanted(env, &workspace)?.id),
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
            Straight::Nothing(preview) => nothing(&preview),
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
        return Ok(nothing(&preview));
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
            terminal.say(&format!("  {path}"))?;
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
    written_down_of(
        env,
        workspace,
        actor,
        LogEntry::new("rollback")
            .reason("asked_for")
            .reasoning("a rollback was asked for; a safety point was taken before it")
            .action(format!("put back {} paths", done.changed))
            .context("before", done.before.id.as_str())
            .context("left", done.left.len())
            .context("refs", preview.scope.refs)
            .safety_point(Some(preview.target.id.as_str())),
    );
}

fn nothing(preview: &Preview) -> ExitStatus {
    tell_left(preview);
    out::note(format!(
        "nothing to do: the workspace is as the safety point {} has it",
        preview.target.id
    ));
    ExitStatus::Passed
}

fn report(preview: &Preview, done: &rollback::Done, json: bool) -> ExitStatus {
    if json {
        let value = serde_json::json!({
            "point": preview.target.id,
            "before": done.before.id,
            "changed": done.changed,
            "left": done.left.iter().map(|left| serde_json::json!({
                "path": left.path.to_string(), "why": left.why,
            })).collect::<Vec<_>>(),
            "refs_left": done.refs_left.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        out::line(value.to_string());
    } else {
        out::line(format!(
            "put back {} paths from the safety point {}",
            done.changed, preview.target.id
        ));
    }
    for left in &done.left {
        out::note(format!("left as it is: {} ({})", left.path, left.why));
    }
    if let Some(lock) = &done.dead_lock {
        out::note(format!(
            "removed {}, which a git that died had left behind",
            lock.display()
        ));
    }
    if !done.refs_left.is_empty() {
        out::note(format!(
            "{} refs have moved and were left; to put them back: holdpoint rollback {} --refs",
            done.refs_left.len(),
            preview.target.id
        ));
    }
    out::note("to undo this: holdpoint rollback --undo");
    ExitStatus::Passed
}

fn tell_left(preview: &Preview) {
    for left in &preview.plan.left {
        out::note(format!("left as it is: {} ({})", left.path, left.why));
    }
    if !preview.plan.refs_left.is_empty() {
        out::note(format!(
            "{} refs have moved; to put them back: holdpoint rollback {} --refs",
            preview.plan.refs_left.len(),
            preview.target.id
        ));
    }
}

fn show(env: &Env, workspace: &Workspace, preview: &Preview, json: bool) -> Result<()> {
    if json {
        let steps: Vec<_> = preview
            .plan
            .steps
            .iter()
            .map(|step| serde_json::json!({ "path": step.shown(), "does": step.to_string() }))
            .collect();
        let value = serde_json::json!({ "point": preview.target.id, "steps": steps });
        out::line(value.to_string());
        return Ok(());
    }
    out::line(format!("rollback to {} would:", preview.target.id));
    for path in &preview.persons {
        out::line(format!(
            "ask about {path} (a person edited it since the agent's last write)"
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

/// A path as typed, relative to the worktree's top.
fn relative(env: &Env, workspace: &Workspace, path: &Path) -> Result<BString> {
    let mut clean = PathBuf::new();
    for component in env.cwd().join(path).components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    // The working directory may be reached through a link; the top never is.
    let parent = clean
        .parent()
        .and_then(|dir| std::fs::canonicalize(dir).ok());
    let full = match (parent, clean.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => clean,
    };
    full.strip_prefix(&workspace.root)
        .map(|path| BString::from(path.as_os_str().as_bytes()))
        .map_err(|_| {
            Error::new(
                ErrorKind::Usage,
                format!("{} is not in the workspace", path.display()),
            )
        })
}
