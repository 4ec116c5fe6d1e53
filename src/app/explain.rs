//! `holdpoint explain`: says what a rule means and what is safe instead.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;

/// Arguments of `holdpoint explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_env: &Env, _args: &Args) -> Result<ExitStatus> {
    Err(Error::new(
        ErrorKind::Usage,
        "`holdpoint explain` is not there yet",
    ))
}
