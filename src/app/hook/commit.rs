//! `pre-commit`, `pre-merge-commit`, `prepare-commit-msg`: the staged change before it is a commit.
//!
//! Whichever of them runs first judges; `prepare-commit-msg` runs under
//! `--no-verify` too and judges what the first was not asked about.

use super::scene::Scene;
use crate::assess::refs::Moved;
use crate::assess::{refs, staged};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::judge::{RefChange, RefUpdate, Surface};
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::fate::{self, Fate};
use crate::repo::hooks::{Event, transaction};
use bstr::BString;
use std::path::PathBuf;

/// The note that the commit under way was judged.
pub(super) const JUDGED: &str = "commit";

/// Judges the staged change, and with `--amend` the commit that would be replaced.
///
/// # Errors
/// When it cannot be judged; git then does not commit.
pub(super) fn judge(event: Event, caller: Option<Caller>) -> Result<ExitStatus> {
    if event == Event::PrepareCommitMsg
        && caller
            .as_ref()
            .is_some_and(|caller| caller.is(&["rebase", "am"]))
    {
        // Commits that were judged when they were made are put on another
        // base; refusing one of them would leave the rebase half-way.
        return Ok(ExitStatus::Passed);
    }
    let scene = Scene::look(caller)?;
    if scene.would_show() {
        return Ok(ExitStatus::Passed);
    }
    if event == Event::PrepareCommitMsg && scene.marks.has(JUDGED) {
        return Ok(ExitStatus::Passed);
    }
    let index = index(&scene);
    let action = staged::action(
        &scene.workspace,
        &index,
        &merging(event, &scene),
        &scene.policy,
    )?;
    let crate::judge::Action::StagedChange { changes } = &action else {
        return Ok(ExitStatus::Passed);
    };
    let mut facts = staged::facts(
        &scene.env,
        &scene.workspace,
        changes,
        Surface::GitHook,
        scene.actor.clone(),
    )?;
    if let Some(amended) = amended(&scene)? {
        facts.effects.push(refs::effect(&amended));
    }
    let status = scene.decide(&action, facts)?;
    if status == ExitStatus::Passed {
        scene.marks.set(JUDGED)?;
    }
    Ok(status)
}

/// The index that the commit is made from: git names it where it is not the worktree's own.
fn index(scene: &Scene) -> PathBuf {
    scene.env.var("GIT_INDEX_FILE").map_or_else(
        || {
            scene
                .workspace
                .git_dir
                .clone()
                .unwrap_or_else(|| scene.workspace.root.join(".git"))
                .join("index")
        },
        |file| scene.env.cwd().join(file),
    )
}

/// The commits that are being merged, which git names in the environment before it writes `MERGE_HEAD`.
///
/// Only its own hook for a merge may say so: at any other commit the variables
/// are somebody's who wants a change to pass for a merged one.
fn merging(event: Event, scene: &Scene) -> Vec<String> {
    if event != Event::PreMergeCommit {
        return Vec::new();
    }
    scene
        .env
        .vars()
        .filter_map(|(name, _)| name.to_str()?.strip_prefix("GITHEAD_"))
        .filter(|id| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .map(str::to_owned)
        .collect()
}

/// The commit that `--amend` replaces.
fn amended(scene: &Scene) -> Result<Option<Moved>> {
    let amends = scene
        .caller
        .as_ref()
        .is_some_and(|caller| caller.is(&["commit"]) && caller.has(None, "amend"));
    if !amends {
        return Ok(None);
    }
    let workspace = &scene.workspace;
    let Some(old) = transaction::current(workspace, "HEAD".into())? else {
        return Ok(None);
    };
    let branch = transaction::branch(workspace)?;
    let moving: Vec<BString> = branch.iter().cloned().chain(["HEAD".into()]).collect();
    let (lost, more) = fate::unreached(workspace, &old, Some(&format!("{old}^@")), &moving)?;
    Ok(Some(Moved {
        update: RefUpdate {
            name: branch.unwrap_or_else(|| "HEAD".into()),
            change: RefChange::Rewrite,
            old,
            new: "amended".to_owned(),
        },
        fate: Fate {
            change: RefChange::Rewrite,
            lost,
            more,
            tag_lost: false,
        },
    }))
}
