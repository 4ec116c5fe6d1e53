//! `holdpoint completions`: prints a shell completion script.

use crate::error::Result;
use crate::exit::ExitStatus;
use crate::sys::env::Env;
use crate::sys::out;

/// Arguments of `holdpoint completions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The shell to complete in.
    shell: clap_complete::Shell,
}

/// Runs the command.
#[allow(
    clippy::unnecessary_wraps,
    reason = "every command returns the same type"
)]
pub(super) fn run(_env: &Env, args: &Args) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "holdpoint", &mut script);
    out::raw(&script);
    Ok(ExitStatus::Passed)
}
