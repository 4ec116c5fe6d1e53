//! `holdpoint confirm`: lets a held action pass once. Only a person can.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;

/// Arguments of `holdpoint confirm`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_env: &Env, _args: &Args) -> Result<ExitStatus> {
    Err(Error::new(
        ErrorKind::Usage,
        "`holdpoint confirm` is not there yet",
    ))
}
