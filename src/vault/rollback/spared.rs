//! What a rollback leaves as it is, since somebody else wrote it meanwhile.

use super::plan::{Cause, Deed, Left, Plan, Step};
use crate::error::Result;
use crate::repo::Workspace;
use crate::vault::handled::Handled;
use crate::vault::point::SafetyPoint;
use crate::vault::query::inside;
use crate::vault::stamp::Stamp;
use crate::vault::tree::Kind;
use crate::vault::walk::Side;
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// The files of a plan that a person edited since the agent's last write.
pub(super) fn persons(
    workspace: &Workspace,
    target: &SafetyPoint,
    plan: &Plan,
) -> Result<Vec<BString>> {
    let handled = Handled::since(workspace, &target.created)?;
    let mut paths: Vec<BString> = Vec::new();
    for step in plan.steps.iter().filter(|step| step.is_work()) {
        let Some(now) = &step.now else { continue };
        let place = workspace.root.join(OsStr::from_bytes(&step.path));
        if now.kind == Kind::File
            && let Ok(stat) = rustix::fs::lstat(&place)
            && handled.is_a_persons(step.path.as_bstr(), Stamp::of(&stat).ctime, &now.id)
        {
            paths.push(step.path.clone());
        }
    }
    paths.dedup();
    Ok(paths)
}

/// Takes out of the plan what a person edited.
pub(super) fn keep_persons(plan: &mut Plan, persons: &[BString]) -> Vec<Left> {
    let is_theirs = |step: &Step| step.is_work() && persons.contains(&step.path);
    plan.steps.retain(|step| !is_theirs(step));
    persons
        .iter()
        .map(|path| {
            let why = "a person edited it since the agent's last write; --force puts it back too";
            Left::kept(path.clone(), why)
        })
        .collect()
}

/// Returns true for what the preview could not look at.
fn was_closed(preview: &Plan, path: &BString) -> bool {
    preview
        .left
        .iter()
        .any(|left| left.cause == Cause::Failed && inside(path.as_bstr(), left.path.as_bstr()))
}

/// Takes out of the plan what is not as the preview showed it.
pub(super) fn keep_changed(plan: &mut Plan, preview: &Plan) -> Vec<Left> {
    let shown: BTreeMap<(Side, &BString), Vec<&Step>> =
        preview
            .steps
            .iter()
            .fold(BTreeMap::new(), |mut shown, step| {
                shown
                    .entry((step.side, &step.path))
                    .or_insert_with(Vec::new)
                    .push(step);
                shown
            });
    let mut left = Vec::new();
    plan.steps.retain(|step| {
        let as_shown = step.side == Side::Git
            || matches!(
                step.action,
                Deed::RemoveDir | Deed::MakeDir(_) | Deed::Object(_)
            )
            || was_closed(preview, &step.path)
            || shown
                .get(&(step.side, &step.path))
                .is_some_and(|steps| steps.iter().any(|old| old.now == step.now));
        if !as_shown {
            left.push(Left::kept(
                step.path.clone(),
                "it changed after the preview",
            ));
        }
        as_shown
    });
    left
}
