//! `holdpoint extend`: gives a run more time.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;

/// Arguments of `holdpoint extend`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_env: &Env, _args: &Args) -> Result<ExitStatus> {
    Err(Error::new(
        ErrorKind::Usage,
        "`holdpoint extend` is not there yet",
    ))
}
