//! `holdpoint uninstall`: takes the hooks and settings out again, byte for byte.

use crate::error::Result;
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::repo::hooks::install;
use crate::repo::hooks::machine::{self, Scope};
use crate::sys::env::Env;
use crate::sys::out;

/// Arguments of `holdpoint uninstall`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Takes out what `init --global` put in
    #[arg(long, conflicts_with = "system")]
    global: bool,
    /// Takes out what `init --system` put in
    #[arg(long)]
    system: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
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
        (
            install::uninstall(&workspace)?,
            format!("the hooks of {}", workspace.root.display()),
        )
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
