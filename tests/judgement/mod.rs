//! Feature: judgement. Contract, preferences, holds, log, and the proof that a person is there.

mod contract;
mod levels;
mod log;
mod persons;
mod prefs;
mod situations;
mod tmux;

use crate::support::Sandbox;
use crate::support::terminal::Terminal;

/// A program of ours at a terminal of its own.
fn at_terminal(sandbox: &Sandbox, arguments: &[&str]) -> Terminal {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(arguments);
    Terminal::start(command)
}
