//! A commit's change as facts: the content of the index against `HEAD`.
//!
//! Nothing here is lost for good, since every byte of it is in git's objects;
//! what counts is what was agreed.

use super::{nature, policy};
use crate::contract::Contract;
use crate::error::Result;
use crate::judge::{
    Action, Actor, ChangeOp, Coverage, Effect, EffectKind, Facts, FileOp, FileState, GitClass,
    Nature, PathChange, Place, Policy, Surface,
};
use crate::repo::{self, Workspace};
use crate::sys::env::Env;
use std::path::Path;

/// Observes what a commit of `index` would change.
///
/// Added lines are read only where the Contract forbids patterns. What a merge
/// brings as one of the commits `merging` has it was judged there.
///
/// # Errors
/// When the index or `HEAD` cannot be read.
pub fn action(
    workspace: &Workspace,
    index: &Path,
    merging: &[String],
    policy: &Policy,
) -> Result<Action> {
    let changes = repo::staged(workspace, index, merging)?;
    finish(workspace, changes, policy)
}

/// Observes what a range of commits changed: `A..B`, or `A...B` from where they parted.
///
/// # Errors
/// When git does not know the range.
pub fn between(workspace: &Workspace, range: &str, policy: &Policy) -> Result<Action> {
    finish(workspace, repo::between(workspace, range)?, policy)
}

fn finish(workspace: &Workspace, changes: Vec<PathChange>, policy: &Policy) -> Result<Action> {
    let mut changes = changes;
    let forbids = policy
        .contract
        .as_ref()
        .is_some_and(Contract::has_forbidden);
    if forbids {
        repo::add_lines(workspace, &mut changes)?;
    }
    Ok(Action::StagedChange { changes })
}

/// Assesses the changes of a commit.
///
/// # Errors
/// When the confirmed policy cannot be read.
pub fn facts(
    env: &Env,
    workspace: &Workspace,
    changes: &[PathChange],
    surface: Surface,
    actor: Actor,
) -> Result<Facts> {
    let mut effects = vec![
        Effect::new(
            EffectKind::Git {
                class: GitClass::Commit,
                lossy: false,
            },
            "commit",
        )
        .because(format!("{} paths", changes.len())),
    ];
    for change in changes {
        // The Contract is judged by what changes in it: `policy::effects`.
        if nature(change.path.as_ref()) != Nature::Contract {
            effects.push(path_effect(change));
        }
        effects.extend(change.added.iter().map(|line| {
            Effect::new(
                EffectKind::AddedLine {
                    number: line.number,
                    text: line.text.clone(),
                },
                change.path.clone(),
            )
        }));
    }
    effects.extend(policy::effects(env, workspace, changes)?);
    Ok(Facts {
        surface,
        actor,
        effects,
        coverage: Coverage::NotTaken,
    })
}

fn path_effect(change: &PathChange) -> Effect {
    let op = match &change.op {
        ChangeOp::Create => FileOp::Create,
        ChangeOp::Modify => FileOp::Modify,
        ChangeOp::Delete => FileOp::Delete,
        ChangeOp::Rename { from } => FileOp::Rename { from: from.clone() },
    };
    let evidence = match op {
        FileOp::Delete => "its last version stays in git's history",
        _ => "",
    };
    Effect::new(
        EffectKind::File {
            op,
            place: Place::Workspace,
            nature: match nature(change.path.as_ref()) {
                // Preferences count as confirmed, whatever is committed.
                Nature::Policy => Nature::Config,
                nature => nature,
            },
            state: FileState::Clean,
        },
        change.path.clone(),
    )
    .because(evidence)
}
