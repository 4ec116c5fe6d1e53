//! `holdpoint run`: runs a command on a leash. It becomes `holdpoint-run`.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;
use crate::sys::process;
use std::ffi::OsString;

/// Arguments of `holdpoint run`.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(super) struct Args {
    /// Options of `holdpoint-run`, then `--` and the command (`holdpoint run --help`).
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    args: Vec<OsString>,
}

/// Runs the command.
pub(super) fn run(_env: &Env, _args: &Args) -> Result<ExitStatus> {
    let own = process::own_executable()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "cannot find this program's own file"))?;
    let program = own.with_file_name("holdpoint-run");
    // The words as they were typed: a parser would swallow a `--`.
    let words: Vec<OsString> = process::arguments()
        .into_iter()
        .skip_while(|word| word != "run")
        .skip(1)
        .collect();
    let error = process::become_program(&program, &words);
    Err(Error::new(
        ErrorKind::Internal,
        format!("cannot start {}", program.display()),
    )
    .because(error)
    .hint("the three programs holdpoint, holdpoint-hook and holdpoint-run belong in one directory"))
}
