//! One file per command: arguments on top, then observe, assess, judge, protect, record, reply.
//!
//! Three entries, one a program: [`holdpoint`], [`holdpoint_hook`] and [`holdpoint_run`].

mod check;
mod chosen;
mod collab;
mod completions;
mod confirm;
mod contract;
mod decide;
mod demo;
mod deny;
mod doctor;
mod explain;
mod extend;
mod holds;
mod hook;
mod hunks;
mod init;
mod log;
mod logs;
mod loops;
mod points;
mod prefs;
mod ps;
mod rollback;
mod run;
mod save;
mod session;
mod status;
mod stop;
mod told;
mod uninstall;
mod wire;
mod wrapper;

use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;
use crate::sys::out;
use clap::Parser;
use std::process::ExitCode;

/// Makes it safe to let coding agents work in a git repository.
#[derive(Parser)]
#[command(name = "holdpoint", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Guards this repository: hooks, Contract template, `.ccg/`.
    Init(init::Args),
    /// Takes the hooks and settings out again, byte for byte.
    Uninstall(uninstall::Args),
    /// Shows Contract, last safety point, pending holds and hooks on one screen.
    Status(status::Args),
    /// Checks that every gate is alive, and says what git would really run.
    Doctor(doctor::Args),
    /// Takes a safety point.
    Save(save::Args),
    /// Lists safety points; shows, drops, prunes and verifies them.
    Points(points::Args),
    /// Puts the workspace back to a safety point.
    Rollback(rollback::Args),
    /// Judges an action without doing anything.
    Check(check::Args),
    /// Says what a rule means and what is safe instead.
    Explain(explain::Args),
    /// Lists what waits for a person.
    Holds(holds::Args),
    /// Lets a held action pass once. Only a person can.
    Confirm(confirm::Args),
    /// Refuses a held action.
    Deny(deny::Args),
    /// Reads the decision log.
    Log(log::Args),
    /// Writes, shows and checks the Contract.
    Contract(contract::Args),
    /// Shows and sets preferences.
    Prefs(prefs::Args),
    /// Relaxes or tightens this session.
    Session(session::Args),
    /// Runs a command on a leash.
    Run(run::Args),
    /// Lists wrapped runs.
    Ps(ps::Args),
    /// Shows a run's output.
    Logs(logs::Args),
    /// Stops a run.
    Stop(stop::Args),
    /// Gives a run more time.
    Extend(extend::Args),
    /// Repeats an agent command with gates at every iteration.
    #[command(name = "loop")]
    Loop(loops::Args),
    /// Runs two agents side by side.
    Collab(collab::Args),
    /// Validates agents' structured decisions.
    Decide(decide::Args),
    /// Shows the main job on a repository that it makes itself.
    Demo(demo::Args),
    /// Prints a shell completion script.
    Completions(completions::Args),
}

/// The command line of `holdpoint`, for completions and for the test that demands help on every option.
#[must_use]
pub fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs a person's command.
#[must_use]
pub fn holdpoint() -> ExitCode {
    // clap itself exits with 2 on a usage error, which is our code for it too.
    let cli = Cli::parse();
    finish(Env::read().and_then(|env| dispatch(&env, cli.command)))
}

fn dispatch(env: &Env, command: Command) -> Result<ExitStatus> {
    match command {
        Command::Init(args) => init::run(env, &args),
        Command::Uninstall(args) => uninstall::run(env, &args),
        Command::Status(args) => status::run(env, &args),
        Command::Doctor(args) => doctor::run(env, &args),
        Command::Save(args) => save::run(env, &args),
        Command::Points(args) => points::run(env, &args),
        Command::Rollback(args) => rollback::run(env, &args),
        Command::Check(args) => check::run(env, &args),
        Command::Explain(args) => explain::run(env, &args),
        Command::Holds(args) => holds::run(env, &args),
        Command::Confirm(args) => confirm::run(env, &args),
        Command::Deny(args) => deny::run(env, &args),
        Command::Log(args) => log::run(env, &args),
        Command::Contract(args) => contract::run(env, &args),
        Command::Prefs(args) => prefs::run(env, &args),
        Command::Session(args) => session::run(env, &args),
        Command::Run(args) => run::run(env, &args),
        Command::Ps(args) => ps::run(env, &args),
        Command::Logs(args) => logs::run(env, &args),
        Command::Stop(args) => stop::run(env, &args),
        Command::Extend(args) => extend::run(env, &args),
        Command::Loop(args) => loops::run(env, &args),
        Command::Collab(args) => collab::run(env, &args),
        Command::Decide(args) => decide::run(env, &args),
        Command::Demo(args) => demo::run(env, &args),
        Command::Completions(args) => completions::run(env, &args),
    }
}

/// Runs what git and agents call.
#[must_use]
pub fn holdpoint_hook() -> ExitStatus {
    hook::main()
}

/// Runs the wrapper.
#[must_use]
pub fn holdpoint_run() -> ExitCode {
    finish(Env::read().and_then(|env| wrapper::main(&env)))
}

/// Words an error and turns a result into the process's exit status.
fn finish(result: Result<ExitStatus>) -> ExitCode {
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            tell(&error);
            ExitStatus::from(error.kind()).into()
        }
    }
}

fn tell(error: &Error) {
    out::note(format!("holdpoint: {error}"));
}
