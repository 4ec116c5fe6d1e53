//! `holdpoint uninstall`: takes the hooks and settings out again, byte for byte.

use super::wire::Wiring;
use crate::agents::Agent;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::repo::hooks::install;
use crate::repo::hooks::machine::{self, Scope};
use crate::sys::env::Env;
use crate::sys::{actor, out};

/// Arguments of `holdpoint uninstall`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Takes out only the hooks of this agent
    #[arg(long, value_name = "NAME", value_parser = super::init::agent_named, conflicts_with_all = ["global", "system"])]
    agent: Option<Agent>,
    /// Takes agents' hooks out of the user's settings
    #[arg(long, conflicts_with_all = ["global", "system"])]
    user: bool,
    /// Takes out what `init --global` put in
    #[arg(long, conflicts_with = "system")]
    global: bool,
    /// Takes out what `init --system` put in
    #[arg(long)]
    system: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    only_a_person(env)?;
    if args.user || args.agent.is_some() {
        return agents(env, args);
    }
    let (left, what) = if args.global || args.system {
        let scope = if args.global {
            Scope::Global
        } else {
            Scope::System
        };
        (
            machine::uninstall(env, scope)?,
            format!("the {} installation", scope.word()),
        )
    } else {
        let workspace = Workspace::discover(env)?;
        let agents = Wiring::repository(&workspace.root, &workspace.state).take_out(env, None)?;
        for line in &agents {
            out::line(line);
        }
        let left = install::uninstall(env, &workspace)?;
        if left.is_none() && !agents.is_empty() {
            return Ok(ExitStatus::Passed);
        }
        (left, format!("the hooks of {}", workspace.root.display()))
    };
    match left {
        None => out::line(format!("{what}: none of ours are installed; nothing to do")),
        Some(left) => {
            out::line(format!(
                "{what} are out; everything else is as it was before"
            ));
            for line in left {
                out::line(format!("  left alone: {line}"));
            }
            out::line("safety points, holds and the log stay; .ccg/ stays too");
        }
    }
    Ok(ExitStatus::Passed)
}

fn agents(env: &Env, args: &Args) -> Result<ExitStatus> {
    let wiring = if args.user {
        Wiring::user(env)?
    } else {
        let workspace = Workspace::discover(env)?;
        Wiring::repository(&workspace.root, &workspace.state)
    };
    let said = wiring.take_out(env, args.agent)?;
    if said.is_empty() {
        out::line("no agent's settings have hooks of ours; nothing to do");
    }
    for line in said {
        out::line(line);
    }
    Ok(ExitStatus::Passed)
}

/// The gate's own hooks are not an agent's to take out.
fn only_a_person(env: &Env) -> Result<()> {
    if actor::detect(env).is_agent() {
        return Err(Error::new(
            ErrorKind::Refused,
            "an agent may not take Holdpoint's hooks out",
        )
        .hint("a person does it in a terminal of their own: holdpoint uninstall"));
    }
    Ok(())
}
