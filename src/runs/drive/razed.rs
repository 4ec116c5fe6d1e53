//! A run that deleted the workspace, its repository or commits: they are there again before anything is judged.

use super::{Scene, guard};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::RuleId;
use crate::repo::hooks::fate;
use crate::runs::gitside;
use crate::runs::record::Run;
use crate::sys::out;
use crate::vault::rollback::{self, Aim, Changed, Scope, Straight};
use crate::vault::{self, SafetyPoint};
use std::fmt::Write as _;

/// Puts everything back to the run's safety point where the workspace, its repository or a commit is gone.
///
/// What was left of the workspace is in a safety point of its own.
///
/// # Errors
/// When it cannot be put back: then what is left is told, and the run can be resumed.
pub(super) fn rebuild(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    let workspace = scene.workspace;
    let Some(point) = run.point.clone() else {
        return Ok(());
    };
    let root_gone = !workspace.root.is_dir();
    let lacks_git = workspace
        .git_dir
        .as_ref()
        .is_some_and(|dir| dir.join("HEAD").symlink_metadata().is_err());
    let what = match (root_gone, lacks_git) {
        (true, _) => "the whole workspace",
        (false, true) => "the repository (.git)",
        (false, false) if lost_commits(scene, run)? => "commits for good (their objects are gone)",
        (false, false) => return Ok(()),
    };
    out::note(format!(
        "holdpoint: the run deleted {what}; putting everything back from the safety point {point}"
    ));
    std::fs::create_dir_all(&workspace.root).doing(ErrorKind::Io, || {
        format!("cannot make {}", workspace.root.display())
    })?;
    let mut remains = workspace.clone();
    if lacks_git {
        remains.git_dir = None;
        remains.common_dir = None;
    }
    let actor = run.actor();
    let request = |target: &SafetyPoint| {
        vault::Request::new("before-rollback", actor.clone()).message(Some(format!(
            "what a run that deleted {what} left, before the rollback to {}",
            target.id
        )))
    };
    let straight = rollback::straight(
        scene.env,
        &remains,
        &Aim::Point(point.clone()),
        Scope {
            refs: true,
            ..Scope::default()
        },
        &request,
        Changed::Overwrite,
    )
    .map_err(|error| {
        error.hint(format!(
            "mkdir -p {root}; cd {root}; holdpoint rollback {point}",
            root = workspace.root.display()
        ))
    })?;
    let mut said =
        format!("the run deleted {what}; all is back as the safety point {point} has it");
    if let Straight::Done(_, done) = straight {
        let _ = write!(
            said,
            ", and what the run had left is in {id} (holdpoint rollback {id})",
            id = done.before.id
        );
    }
    guard::log(
        scene,
        run,
        guard::Note::new("rollback", RuleId::FileDelete, "workspace_deleted").saying(said.clone()),
    )?;
    run.rebuilt.push(said);
    scene.dir.save(run)
}

/// Whether a branch, tag or stash has moved away from a commit that is nowhere any more.
fn lost_commits(scene: &Scene<'_>, run: &Run) -> Result<bool> {
    if scene.workspace.git_dir.is_none() {
        return Ok(false);
    }
    let now = guard::refs(scene)?;
    for (name, old, _) in gitside::moved(&run.refs, &now) {
        let own = ["refs/heads/", "refs/tags/", "refs/stash"]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        if own && !old.is_empty() && !fate::is_here(scene.workspace, &old)? {
            return Ok(true);
        }
    }
    Ok(false)
}
