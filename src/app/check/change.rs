//! `check staged` and `check range`: what a commit would meet at the gate, or did meet.

use super::{Common, answer, who};
use crate::assess::staged;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::judge::{self, Action, Surface};
use crate::prefs;
use crate::repo::{self, Workspace};
use crate::sys::env::Env;

/// Arguments of `check staged`.
#[derive(Debug, clap::Args)]
pub(super) struct StagedArgs {
    #[command(flatten)]
    common: Common,
}

/// Arguments of `check range`.
#[derive(Debug, clap::Args)]
pub(super) struct RangeArgs {
    #[command(flatten)]
    common: Common,
    /// Two commits; with three dots, from where they parted.
    #[arg(value_name = "A..B")]
    range: String,
}

/// Judges what the next commit would change.
pub(super) fn staged(env: &Env, args: &StagedArgs) -> Result<ExitStatus> {
    let (env, workspace) = look(env, &args.common)?;
    let policy = prefs::policy(&env, &workspace)?;
    let index = repo::index_path(&env, &workspace)?;
    let action = staged::action(&workspace, &index, &[], &policy)?;
    judged(&env, &workspace, &args.common, &action)
}

/// Judges what a range of commits changed.
pub(super) fn range(env: &Env, args: &RangeArgs) -> Result<ExitStatus> {
    let (env, workspace) = look(env, &args.common)?;
    let policy = prefs::policy(&env, &workspace)?;
    let action = staged::between(&workspace, &args.range, &policy)?;
    judged(&env, &workspace, &args.common, &action)
}

fn look(env: &Env, common: &Common) -> Result<(Env, Workspace)> {
    let env = match &common.cwd {
        Some(dir) => env.at(env.cwd().join(dir)),
        None => env.clone(),
    };
    let workspace = Workspace::discover(&env)?;
    Ok((env, workspace))
}

fn judged(
    env: &Env,
    workspace: &Workspace,
    common: &Common,
    action: &Action,
) -> Result<ExitStatus> {
    let Action::StagedChange { changes } = action else {
        return Ok(ExitStatus::Passed);
    };
    let actor = who(env, common.actor);
    // A commit's rules are those of the git hook, whoever asks beforehand.
    let facts = staged::facts(env, workspace, changes, Surface::GitHook, actor)?;
    let policy = prefs::policy(env, workspace)?;
    let verdict = judge::judge(&facts, &policy);
    Ok(answer(common, &verdict, &facts, None))
}
