//! `holdpoint-run`: starts a command on a leash.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;

/// Runs the wrapper.
pub(super) fn main(_env: &Env) -> Result<ExitStatus> {
    Err(Error::new(
        ErrorKind::Usage,
        "`holdpoint-run` is not there yet",
    ))
}
