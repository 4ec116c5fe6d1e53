//! `holdpoint save`: takes a safety point.

use super::told::written_down_of;
use crate::error::{ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::journal::LogEntry;
use crate::judge::{Level, RuleId};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{actor, bar, out};
use crate::vault;

/// Arguments of `holdpoint save`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Says what the point is for
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// Prints the point as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = match Workspace::here(env) {
        // A person who asks for a point of a directory without git gets one.
        Err(error) if error.kind() == ErrorKind::Repository => Workspace::adopt(env, env.cwd())?,
        other => other?,
    };
    let request = vault::Request::new("manual", actor::detect(env)).message(args.message.clone());
    let saved = bar::over("saving", vault::progress::steps, || {
        vault::save(env, &workspace, &request)
    })?;
    let point = &saved.point;
    // A workspace that is as the last point has it is not written anywhere.
    if saved.new {
        written_down_of(
            env,
            &workspace,
            &request.actor,
            LogEntry::new("safety_point")
                .level(Level::Autonomous)
                .rule(RuleId::GitSafetyPoint)
                .reason("saved_by_hand")
                .reasoning("git.safety-point: a safety point was asked for and taken")
                .action("save")
                .context("changed", point.changed)
                .context("not_held", point.surprises().count())
                .safety_point(Some(point.id.as_str())),
        );
    }
    for notice in &saved.notices {
        out::note(format!("holdpoint: {notice}"));
    }
    if args.json {
        let json = serde_json::json!({
            "id": point.id,
            "new": saved.new,
            "changed": if saved.new { point.changed } else { 0 },
            "bytes": if saved.new { point.bytes } else { 0 },
            "head": point.head,
            "branch": point.branch.as_ref().map(ToString::to_string),
            "not_held": point.not_held,
        });
        out::line(json.to_string());
        return Ok(ExitStatus::Passed);
    }
    out::line(&point.id);
    let surprising = point.surprises().count();
    if surprising > 0 {
        out::note(format!(
            "holdpoint: {surprising} paths are not held; see them: holdpoint points show {}",
            point.id
        ));
    }
    Ok(ExitStatus::Passed)
}
