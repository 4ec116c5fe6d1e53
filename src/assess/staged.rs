//! A commit's change as facts: the content of the index against `HEAD`.
//!
//! Nothing here is lost for good, since every byte of it is in git's objects;
//! what counts is what was agreed.

use crate::contract;
use crate::error::Result;
use crate::judge::{
    Action, Actor, ChangeOp, Coverage, Effect, EffectKind, Facts, FileOp, FileState, GitClass,
    Nature, PathChange, Place, Policy, Surface,
};
use crate::repo::{self, Workspace};
use std::path::Path;

/// Observes what a commit of `index` would change.
///
/// Added lines are read only where the Contract forbids patterns.
///
/// # Errors
/// When the index or `HEAD` cannot be read.
pub fn action(workspace: &Workspace, index: &Path, policy: &Policy) -> Result<Action> {
    let mut changes = repo::staged(workspace, index)?;
    let forbids = policy
        .contract
        .as_ref()
        .is_some_and(|contract| !contract.forbidden.is_empty());
    if forbids {
        repo::add_lines(workspace, &mut changes)?;
    }
    Ok(Action::StagedChange { changes })
}
