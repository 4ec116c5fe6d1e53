//! `holdpoint stop`: stops a run, all of its processes.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::runs::record::{self, Dir};
use crate::sys::env::Env;
use crate::sys::out;

/// Arguments of `holdpoint stop`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run; without it, the newest that is going on.
    run: Option<String>,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::find(env, env.cwd())?;
    let run = super::extend::going_on(&workspace, args.run.as_deref())?;
    let dir = Dir::of(&workspace, &run.id);
    dir.ask(|control| control.stop = true)?;
    // The leash looks within a second; until then it may still be starting.
    let left = (0..150).all(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        dir.load()
            .is_ok_and(|run| !run.is_over() && is_watched(&dir, &run))
    });
    if left {
        return Err(Error::new(
            ErrorKind::Busy,
            format!("run {} was asked to stop and has not yet", run.id),
        )
        .hint("look again: holdpoint ps"));
    }
    out::line(format!("run {} is stopped", run.id));
    Ok(ExitStatus::Passed)
}

/// Whether a drive or a leash still has the run.
fn is_watched(dir: &Dir, run: &record::Run) -> bool {
    let leash: Option<record::Started> = run
        .last()
        .and_then(|attempt| record::read(&dir.attempt(attempt.number).join("started.json")).ok())
        .flatten();
    run.lead.is_some_and(crate::runs::tree::Identity::lives)
        || leash.is_some_and(|started| started.leash.lives())
}
