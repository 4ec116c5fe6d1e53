//! `holdpoint demo`: shows the main job on a repository that it makes itself.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;

/// Arguments of `holdpoint demo`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_env: &Env, _args: &Args) -> Result<ExitStatus> {
    Err(Error::new(
        ErrorKind::Usage,
        "`holdpoint demo` is not there yet",
    ))
}
