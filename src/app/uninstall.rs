//! `holdpoint uninstall`: takes the hooks and settings out again, byte for byte.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;

/// Arguments of `holdpoint uninstall`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_env: &Env, _args: &Args) -> Result<ExitStatus> {
    Err(Error::new(
        ErrorKind::Usage,
        "`holdpoint uninstall` is not there yet",
    ))
}
