//! Puts a workspace back to a point, and back again.
//!
//! A rollback takes a safety point of its own first, writes down in a journal
//! what it is about to do, does it, and removes the journal. A call that finds a
//! journal finishes it: whatever is still as it was before is put back, what is
//! already put back is let be, and what somebody changed since is left and named.

mod alternates;
mod apply;
mod begun;
pub(super) mod config;
mod damage;
mod facing;
mod git;
mod journal;
mod owner;
mod place;
mod plan;
mod recover;
mod remains;
mod scope;
mod spared;
mod staging;
mod stash;
mod unbar;
mod wrecks;

pub use journal::{PathText, Scope};
pub use plan::{Cause, Deed, Left, Pick, Plan, Step};
pub(super) use recover::needed;
pub use recover::recover;

use super::diff::Fresh;
use super::diff::Trees;
use super::layout::Vault;
use super::look::{Keep, Now, look};
use super::point::{SafetyPoint, TreeRef};
use super::take::point_path;
use super::walk::{Side, Trust};
use super::{Request, about, with_remains};
use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use begun::Begun;
use bstr::BString;
use facing::facing;
use journal::History;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a rollback aims at.
#[derive(Clone, Debug)]
pub enum Aim {
    /// A point.
    Point(String),
    /// What was there before the last rollback.
    Undo,
    /// What was there before the last undo.
    Redo,
}

/// A rollback that has been thought through and not been done.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The point that would be put back.
    pub target: SafetyPoint,
    /// How much of it.
    pub scope: Scope,
    /// What would be done.
    pub plan: Plan,
    /// Files that a person edited since the agent's last write; they are left while they stand here.
    pub persons: Vec<BString>,
    /// How much of which paths is wanted; all of those that are not named.
    pub picks: BTreeMap<BString, Pick>,
    aim: Aim,
    history: History,
}

/// A rollback that was done.
#[derive(Clone, Debug)]
pub struct Done {
    /// The point taken just before; `rollback --undo` goes back to it.
    pub before: SafetyPoint,
    /// How many paths were changed.
    pub changed: usize,
    /// What was left as it is.
    pub left: Vec<Left>,
    /// Refs that have moved and were not put back.
    pub refs_left: Vec<BString>,
    /// The lock of a git that died, which was removed.
    pub dead_lock: Option<PathBuf>,
}

/// What to do about paths that changed after the preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// They are left as they are.
    Keep,
    /// They are put back too; the point taken just before holds them.
    Overwrite,
}

/// Thinks a rollback through; nothing is written.
///
/// # Errors
/// When there is no such point, nothing to undo, or the workspace cannot be read.
pub fn plan(env: &Env, workspace: &Workspace, aim: &Aim, scope: Scope) -> Result<Preview> {
    recover(env, workspace)?;
    let workspace = &with_remains(workspace);
    let vault = Vault::open(env, workspace)?;
    let _contents = vault.use_contents()?;
    let history = history(&vault, workspace)?;
    let (target, scope, history) = resolve(env, workspace, &vault, aim, scope, history)?;
    let workspace = &facing(&vault, workspace, &target)?;
    let now = look(&vault, env, workspace, Keep::Nothing, Trust::Nothing)?;
    let plan = make_plan(&vault, workspace, &target, &scope, &Present::seen(&now))?;
    let persons = spared::persons(workspace, &target, &plan)?;
    Ok(Preview {
        target,
        scope,
        plan,
        persons,
        picks: BTreeMap::new(),
        aim: aim.clone(),
        history,
    })
}

fn resolve(
    env: &Env,
    workspace: &Workspace,
    vault: &Vault,
    aim: &Aim,
    scope: Scope,
    mut history: History,
) -> Result<(SafetyPoint, Scope, History)> {
    let named = |id: &str| {
        SafetyPoint::read(&point_path(vault, id))?.ok_or_else(|| {
            Error::new(
                ErrorKind::Usage,
                format!("the safety point {id} is gone, it was dropped or pruned"),
            )
        })
    };
    match aim {
        Aim::Point(id) => {
            let target = super::find(env, workspace, Some(id))?;
            Ok((target, scope, history))
        }
        Aim::Undo => {
            let past = history
                .done
                .checked_sub(1)
                .and_then(|at| history.past.get(at))
                .cloned();
            let past = past.ok_or_else(|| {
                Error::new(ErrorKind::Usage, "there is no rollback to undo")
                    .hint("see what there is: holdpoint points")
            })?;
            history.done -= 1;
            Ok((named(&past.before)?, past.scope, history))
        }
        Aim::Redo => {
            let past = history.past.get(history.done).cloned().ok_or_else(|| {
                Error::new(ErrorKind::Usage, "there is no undone rollback to redo")
            })?;
            history.done += 1;
            Ok((named(&past.after)?, past.scope, history))
        }
    }
}

/// The workspace as a plan starts from it.
pub(super) struct Present<'a> {
    pub(super) work: Option<TreeRef>,
    pub(super) git: Option<TreeRef>,
    trees: &'a Fresh,
}

impl<'a> Present<'a> {
    fn seen(now: &'a Now) -> Self {
        Self {
            work: now.picture.work.map(Into::into),
            git: now.picture.git.map(Into::into),
            trees: &now.picture.trees,
        }
    }
}

fn make_plan(
    vault: &Vault,
    workspace: &Workspace,
    target: &SafetyPoint,
    scope: &Scope,
    now: &Present<'_>,
) -> Result<Plan> {
    let trees = Trees {
        store: &vault.store,
        fresh: now.trees,
    };
    let mut plan = Plan::default();
    let paths = scope.bytes();
    let work = now.work.map(|root| root.tree);
    for difference in trees.diff(work, target.work.map(|work| work.tree))? {
        if (plan::in_paths(&difference.path, &paths) || plan::leads_to(&difference, &paths))
            && !remains::is_outdated(workspace, &difference, &trees)?
        {
            plan.add(Side::Work, difference);
        }
    }
    if let (Some(root), Some(then)) = (now.work, target.work)
        && root.mode != then.mode
        && paths.is_empty()
    {
        plan.steps.push(Step {
            side: Side::Work,
            path: ".".into(),
            now: None,
            action: Deed::Mode(then.mode),
        });
    }
    if !scope.files_only && paths.is_empty() {
        git::add(&mut plan, workspace, target, scope, now, &trees)?;
    }
    plan.order();
    Ok(plan)
}

/// What came of a rollback without a preview.
#[derive(Clone, Debug)]
pub enum Straight {
    /// The workspace is as the point has it; what is left as it is stands in the preview.
    Nothing(Box<Preview>),
    /// It was done.
    Done(Box<Preview>, Box<Done>),
}

/// Thinks a rollback through and does it: the point taken before it is the picture that the plan rests on.
///
/// # Errors
/// As [`plan`] and [`apply`].
pub fn straight(
    env: &Env,
    workspace: &Workspace,
    aim: &Aim,
    scope: Scope,
    request: &dyn Fn(&SafetyPoint) -> Request,
    changed: Changed,
) -> Result<Straight> {
    let workspace = &with_remains(workspace);
    let vault = Vault::open(env, workspace)?;
    let _alone = Lock::wait(&vault.rollback(workspace, ".lock"))?;
    recover::finish(env, workspace, &vault)?;
    let history = history(&vault, workspace)?;
    let (target, scope, history) = resolve(env, workspace, &vault, aim, scope, history)?;
    let workspace = &facing(&vault, workspace, &target)?;
    let request = request(&target);
    let mut preview = Preview {
        target,
        scope,
        plan: Plan::default(),
        persons: Vec::new(),
        picks: BTreeMap::new(),
        aim: aim.clone(),
        history,
    };
    let about = about(workspace, &request);
    let mut begun = Begun::new(env, &vault, &about, &preview)?;
    preview.plan = begun.plan.clone();
    if begun.plan.is_empty() && matches!(aim, Aim::Point(_)) {
        begun.abandon();
        return Ok(Straight::Nothing(Box::new(preview)));
    }
    if changed == Changed::Keep {
        preview.persons = spared::persons(workspace, &preview.target, &begun.plan)?;
        begun.left = spared::keep_persons(&mut begun.plan, &preview.persons);
    }
    let done = begun.finish(&about, &preview)?;
    Ok(Straight::Done(Box::new(preview), Box::new(done)))
}

/// Does a rollback that was thought through before.
///
/// # Errors
/// When the point before it cannot be taken (nothing is touched then), when git
/// holds the index, or when the disk is full; the journal then finishes it later.
pub fn apply(
    env: &Env,
    workspace: &Workspace,
    preview: &Preview,
    request: &Request,
    changed: Changed,
) -> Result<Done> {
    let workspace = &with_remains(workspace);
    let vault = Vault::open(env, workspace)?;
    let _alone = Lock::wait(&vault.rollback(workspace, ".lock"))?;
    recover::finish(env, workspace, &vault)?;
    let workspace = &facing(&vault, workspace, &preview.target)?;
    git::check_free(workspace, &preview.plan)?;
    let (_, _, history) = resolve(
        env,
        workspace,
        &vault,
        &preview.aim,
        preview.scope.clone(),
        history(&vault, workspace)?,
    )?;
    if history != preview.history && !matches!(preview.aim, Aim::Point(_)) {
        return Err(Error::new(
            ErrorKind::Busy,
            "another rollback was done after the summary was shown",
        )
        .hint("see what there is now, and try again: holdpoint points"));
    }
    let preview = &Preview {
        history,
        ..preview.clone()
    };
    let about = about(workspace, request);
    let mut begun = Begun::new(env, &vault, &about, preview)?;
    if changed == Changed::Keep {
        begun.left = spared::keep_changed(&mut begun.plan, &preview.plan);
    }
    let persons = spared::keep_persons(&mut begun.plan, &preview.persons);
    begun.left.extend(persons);
    begun.plan.pick(&preview.picks);
    begun.finish(&about, preview)
}

/// The rollbacks of a worktree that can be undone and redone.
fn history(vault: &Vault, workspace: &Workspace) -> Result<History> {
    Ok(journal::read(&vault.rollback(workspace, ".history"))?.unwrap_or_default())
}
