//! Finishes a rollback that was interrupted.

use super::facing::facing;
use super::journal::{self, History, Journal};
use super::plan::Plan;
use super::staging::Staging;
use super::{Present, apply, git, make_plan};
use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::sys::out;
use crate::vault::diff::{Trees, no_trees};
use crate::vault::handled::{self, Edge};
use crate::vault::layout::Vault;
use crate::vault::look::{Keep, look};
use crate::vault::point::SafetyPoint;
use crate::vault::stamp::file_clock;
use crate::vault::take::point_path;
use crate::vault::tree::Kind;
use crate::vault::walk::{Side, Trust};
use crate::vault::with_remains;

/// Finishes a rollback that was interrupted; says what it did, where there was one.
///
/// # Errors
/// When it cannot be finished: the message names what to do.
pub fn recover(env: &Env, workspace: &Workspace) -> Result<Option<String>> {
    let workspace = &with_remains(workspace);
    let vault = Vault::find(env, workspace)?;
    let path = vault.rollback(workspace, ".journal");
    if !path.exists() {
        return Ok(None);
    }
    let _alone = Lock::wait(&vault.rollback(workspace, ".lock"))?;
    finish(env, workspace, &vault)
}

/// The same for who has the worktree's rollbacks for itself.
pub(super) fn finish(env: &Env, workspace: &Workspace, vault: &Vault) -> Result<Option<String>> {
    let path = vault.rollback(workspace, ".journal");
    let Some(journal) = journal::read::<Journal>(&path)? else {
        return Ok(None);
    };
    go_on(env, workspace, vault, &journal)
        .map(Some)
        .map_err(|error| {
            error
                .hint(format!(
                    "a rollback to {} was interrupted and could not be finished",
                    journal.target
                ))
                .hint(format!(
                    "nothing is lost: the state before it is the safety point {}",
                    journal.before
                ))
        })
}

fn go_on(env: &Env, workspace: &Workspace, vault: &Vault, journal: &Journal) -> Result<String> {
    let _contents = vault.use_contents()?;
    let read = |id: &str| {
        SafetyPoint::read(&point_path(vault, id))?.ok_or_else(|| {
            Error::new(
                ErrorKind::Damaged,
                format!("the safety point {id} of an interrupted rollback is gone"),
            )
        })
    };
    let (target, before) = (read(&journal.target)?, read(&journal.before)?);
    let workspace = &facing(vault, workspace, &target)?;
    if let Some(lock) = git::check_free(workspace, &Plan::default())? {
        git::remove_lock(&lock)?;
    }
    let now = look(vault, env, workspace, Keep::Nothing, Trust::Nothing)?;
    let mut plan = make_plan(
        vault,
        workspace,
        &target,
        &journal.scope,
        &Present::seen(&now),
    )?;
    apply::clear(workspace, &plan, &before.id);
    let mut left = Vec::new();
    let trees = Trees {
        store: &vault.store,
        fresh: &no_trees(),
    };
    let mut touched = Vec::new();
    for step in std::mem::take(&mut plan.steps) {
        let top = match step.side {
            Side::Work => before.work,
            Side::Git => before.git,
        };
        let was = match top {
            Some(top) => trees.find(&top.tree, &step.path)?,
            None => None,
        };
        // Half-way a path is as it was before, or gone, or a directory whose mode is not set yet.
        let ours = step.side == Side::Git
            || step.now.is_none()
            || step.now == was
            || step.now.as_ref().is_some_and(|row| row.kind == Kind::Dir);
        let kept = journal.kept.iter().any(|path| path.0 == step.path);
        if ours && !kept {
            touched.push(step);
        } else {
            left.push(out::path(&step.place()));
        }
    }
    plan.steps = touched;
    let restore = apply::Restore {
        vault,
        workspace,
        git_dir: git::dir(workspace, &target),
        target: &target,
        id: before.id.clone(),
        seen_at: file_clock(),
        index_mtime: target.index_mtime,
    };
    handled::note_own(workspace, Edge::Begin)?;
    let mut staging = Staging::new(vault, workspace)?;
    let filling = staging.filling(vault, &plan);
    filling.work()?;
    staging.take(filling)?;
    let more = apply::apply(&restore, &plan, &mut staging)?;
    drop(staging);
    handled::note_own(workspace, Edge::End)?;
    left.extend(more.iter().map(|left| out::path(&left.path)));
    journal::keep(&vault.rollback(workspace, ".history"), &journal.history)?;
    journal::close(&vault.rollback(workspace, ".journal"))?;
    let mut text = format!(
        "finished the rollback to {} that was interrupted",
        journal.target
    );
    if !left.is_empty() {
        text.push_str("; left as they are, since they changed meanwhile: ");
        text.push_str(&left.join(", "));
    }
    Ok(text)
}

/// The points that undo and redo of any worktree need.
pub(in crate::vault) fn needed(vault: &Vault) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    let dir = vault.dir.join("rollback");
    for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".history")
            && let Some(history) = journal::read::<History>(&entry.path())?
        {
            ids.extend(history.points().map(str::to_owned));
        }
        if name.ends_with(".journal")
            && let Some(journal) = journal::read::<Journal>(&entry.path())?
        {
            ids.extend([journal.target, journal.before]);
        }
    }
    Ok(ids)
}
