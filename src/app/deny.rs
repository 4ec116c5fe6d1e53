//! `holdpoint deny`: refuses a held action.

use crate::error::Result;
use crate::exit::ExitStatus;
use crate::holds;
use crate::repo::Workspace;
use crate::runs::delta::Payload;
use crate::runs::gitside::RefPayload;
use crate::sys::env::Env;
use crate::sys::out;

/// Arguments of `holdpoint deny`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The hold's id, or the end of it.
    ids: Vec<String>,
    /// Why, for the log and for the agent.
    #[arg(long)]
    why: Option<String>,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    if args.ids.is_empty() {
        return Err(super::holds::unnamed(env, &workspace, "deny")?);
    }
    for id in &args.ids {
        let hold = holds::deny(env, &workspace, id, args.why.as_deref())?;
        if let Some(payload) = Payload::of(&hold) {
            payload.drop_bytes()?;
        }
        if let Some(payload) = RefPayload::of(&hold) {
            payload.drop_bytes()?;
        }
        out::line(format!("Refused: {} ({})", hold.summary, hold.id));
    }
    Ok(ExitStatus::Passed)
}
