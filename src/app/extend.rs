//! `holdpoint extend`: gives a run more time.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::runs::policy::limits;
use crate::runs::record::{self, Dir, Run};
use crate::sys::env::Env;
use crate::sys::{actor, out};
use std::time::Duration;

/// Arguments of `holdpoint extend`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run, or the time for the newest run.
    run: String,
    /// By how much: seconds, or 20m, 1h.
    by: Option<String>,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let (wanted, by) = match &args.by {
        Some(by) => (Some(args.run.as_str()), by.as_str()),
        None => (None, args.run.as_str()),
    };
    let by = limits::read(by).filter(|by| !by.is_zero()).ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("`{by}` is no time")).hint("holdpoint extend RUN 20m")
    })?;
    // The one that is limited does not move its own limit.
    let actor = actor::detect(env);
    if actor.is_agent() {
        return Err(Error::new(
            ErrorKind::Refused,
            format!(
                "only a person can give a run more time; this is {}",
                actor.word()
            ),
        ));
    }
    let workspace = Workspace::find(env, env.cwd())?;
    let run = going_on(&workspace, wanted)?;
    let limits = run
        .last()
        .map(|attempt| attempt.limits)
        .ok_or_else(|| Error::new(ErrorKind::Usage, format!("run {} has not started", run.id)))?;
    let mut max = Duration::ZERO;
    Dir::of(&workspace, &run.id).ask(|control| {
        let now = control.max_seconds.map_or(limits.max, Duration::from_secs);
        max = now + by;
        control.max_seconds = Some(max.as_secs());
    })?;
    out::line(format!(
        "run {} may now take {} in all",
        run.id,
        limits::say(max)
    ));
    Ok(ExitStatus::Passed)
}

/// Finds a run that is not over; without a name, the newest.
pub(super) fn going_on(workspace: &Workspace, wanted: Option<&str>) -> Result<Run> {
    let run = match wanted {
        Some(_) => record::find(workspace, wanted)?,
        None => record::list(workspace)?
            .0
            .into_iter()
            .rev()
            .find(|run| !run.is_over())
            .ok_or_else(|| {
                Error::new(ErrorKind::Usage, "no run is going on here")
                    .hint("past ones: holdpoint ps --all")
            })?,
    };
    if run.is_over() {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("run {} is over ({})", run.id, run.state),
        ));
    }
    Ok(run)
}
