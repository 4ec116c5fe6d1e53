//! `holdpoint logs`: shows the end of a run's output.

use crate::error::Result;
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::runs::record::{self, Dir};
use crate::runs::tail;
use crate::sys::env::Env;
use crate::sys::{files, out};
use serde_json::json;

/// Arguments of `holdpoint logs`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run; without it, the newest.
    run: Option<String>,
    /// How many lines.
    #[arg(long, short = 'n', default_value_t = tail::LINES, value_name = "N")]
    lines: usize,
    /// Which start of a command in the run; without it, the newest.
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::find(env, env.cwd())?;
    let run = record::find(&workspace, args.run.as_deref())?;
    let number = args
        .attempt
        .or_else(|| run.last().map(|attempt| attempt.number))
        .unwrap_or(1);
    let path = Dir::of(&workspace, &run.id).attempt(number).join("both");
    let bytes = files::read_if_there(&path)?.unwrap_or_default();
    let lines = tail::last_lines(&bytes, args.lines);
    if args.json {
        out::line(
            json!({"run": run.id, "attempt": number, "state": run.state, "lines": lines})
                .to_string(),
        );
        return Ok(ExitStatus::Passed);
    }
    if lines.is_empty() {
        out::note(format!("run {} has printed nothing yet", run.id));
    }
    for line in lines {
        out::line(line);
    }
    Ok(ExitStatus::Passed)
}
