//! Puts a workspace back to a point, and back again.
//!
//! A rollback takes a safety point of its own first, writes down in a journal
//! what it is about to do, does it, and removes the journal. A call that finds a
//! journal finishes it: whatever is still as it was before is put back, what is
//! already put back is let be, and what somebody changed since is left and named.

mod apply;
pub(super) mod config;
mod git;
mod journal;
mod owner;
mod plan;
mod scope;
mod stash;

pub use journal::{PathText, Scope};
pub use plan::{Deed, Left, Pick, Plan, Step};

use super::diff::Fresh;
use super::diff::Trees;
use super::handled::{self, Edge, Handled};
use super::layout::Vault;
use super::point::{SafetyPoint, TreeRef};
use super::stamp::{Stamp, file_clock};
use super::take::{Keep, Now, look, no_trees, point_path, take};
use super::tree::Kind;
use super::walk::{Side, Trust};
use super::{Request, about, with_remains};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use bstr::{BString, ByteSlice as _};
use journal::{History, Journal, Past};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

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
    let history: History =
        journal::read(&vault.rollback(workspace, ".history"))?.unwrap_or_default();
    let (target, scope, history) = resolve(env, workspace, &vault, aim, scope, history)?;
    let now = look(&vault, env, workspace, Keep::Nothing, Trust::Nothing)?;
    let plan = make_plan(&vault, workspace, &target, &scope, &Present::seen(&now))?;
    let persons = persons(workspace, &target, &plan)?;
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
        if plan::in_paths(&difference.path, &paths) {
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
    recover(env, workspace)?;
    let workspace = &with_remains(workspace);
    let vault = Vault::open(env, workspace)?;
    let history: History =
        journal::read(&vault.rollback(workspace, ".history"))?.unwrap_or_default();
    let (target, scope, history) = resolve(env, workspace, &vault, aim, scope, history)?;
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
    let _alone = Lock::wait(&vault.rollback(workspace, ".lock"))?;
    let mut begun = Begun::new(env, &vault, workspace, &preview, &request)?;
    preview.plan = begun.plan.clone();
    if begun.plan.is_empty() && matches!(aim, Aim::Point(_)) {
        return Ok(Straight::Nothing(Box::new(preview)));
    }
    let mut left = Vec::new();
    if changed == Changed::Keep {
        preview.persons = persons(workspace, &preview.target, &begun.plan)?;
        left = keep_persons(&mut begun.plan, &preview.persons);
    }
    let done = begun.finish(&vault, workspace, &preview, left)?;
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
    git::check_free(workspace, &preview.plan)?;
    let mut begun = Begun::new(env, &vault, workspace, preview, request)?;
    let mut left = Vec::new();
    if changed == Changed::Keep {
        left = keep_changed(&mut begun.plan, &preview.plan);
    }
    left.extend(keep_persons(&mut begun.plan, &preview.persons));
    begun.plan.pick(&preview.picks);
    begun.finish(&vault, workspace, preview, left)
}

/// A rollback whose point is taken and whose plan is made; nothing is touched yet.
struct Begun {
    before: SafetyPoint,
    plan: Plan,
    seen_at: (i64, u32),
}

impl Begun {
    fn new(
        env: &Env,
        vault: &Vault,
        workspace: &Workspace,
        preview: &Preview,
        request: &Request,
    ) -> Result<Self> {
        let seen_at = file_clock();
        let taken = take(vault, env, &about(workspace, request), Trust::Nothing)?;
        let _contents = vault.use_contents()?;
        let now = Present {
            work: taken.point.work,
            git: taken.point.git,
            trees: &taken.trees,
        };
        let plan = make_plan(vault, workspace, &preview.target, &preview.scope, &now)?;
        Ok(Self {
            before: taken.point,
            plan,
            seen_at,
        })
    }

    fn finish(
        self,
        vault: &Vault,
        workspace: &Workspace,
        preview: &Preview,
        mut left: Vec<Left>,
    ) -> Result<Done> {
        let Self {
            before,
            plan,
            seen_at,
        } = self;
        let dead_lock = git::check_free(workspace, &plan)?;
        let _contents = vault.use_contents()?;
        let mut history = preview.history.clone();
        note(&mut history, &before, preview);
        let mut journal = Journal::new(
            preview.target.id.clone(),
            before.id.clone(),
            preview.scope.clone(),
            history,
        );
        journal.kept = left
            .iter()
            .map(|left: &Left| left.path.clone())
            .chain(picked(preview))
            .map(PathText)
            .collect();
        let path = vault.rollback(workspace, ".journal");
        let restore = apply::Restore {
            vault,
            workspace,
            git_dir: git::dir(workspace, &preview.target),
            target: &preview.target,
            id: before.id.clone(),
            seen_at,
            index_mtime: preview.target.index_mtime,
        };
        handled::note_own(workspace, Edge::Begin)?;
        let steps = apply::apply(&restore, &plan, || {
            journal::write(&path, &journal)?;
            dead_lock.as_deref().map_or(Ok(()), remove_lock)
        })?;
        left.extend(steps);
        handled::note_own(workspace, Edge::End)?;
        journal::keep(&vault.rollback(workspace, ".history"), &journal.history)?;
        journal::close(&path)?;
        left.extend(plan.left);
        Ok(Done {
            before,
            changed: plan.steps.len().saturating_sub(left.len()),
            left,
            refs_left: plan.refs_left,
            dead_lock,
        })
    }
}

fn remove_lock(path: &Path) -> Result<()> {
    std::fs::remove_file(path).doing(ErrorKind::Io, || {
        format!("cannot remove {}", path.display())
    })
}

/// Writes a rollback, an undo or a redo into the history.
fn note(history: &mut History, before: &SafetyPoint, preview: &Preview) {
    let at = match preview.aim {
        Aim::Point(_) => {
            history.push(Past {
                before: before.id.clone(),
                after: preview.target.id.clone(),
                scope: preview.scope.clone(),
            });
            return;
        }
        // Redoing an undo brings back what was there when it was undone, and the
        // other way round, so that neither ever loses what came between.
        Aim::Undo => history.done,
        Aim::Redo => history.done.saturating_sub(1),
    };
    if let Some(past) = history.past.get_mut(at) {
        let id = before.id.clone();
        match preview.aim {
            Aim::Undo => past.after = id,
            Aim::Point(_) | Aim::Redo => past.before = id,
        }
    }
}

/// Paths of which not all is wanted: whoever finishes the rollback later leaves them.
fn picked(preview: &Preview) -> impl Iterator<Item = BString> {
    preview
        .picks
        .iter()
        .filter(|(_, pick)| **pick != Pick::Whole)
        .map(|(path, _)| path.clone())
}

/// The files of a plan that a person edited since the agent's last write.
fn persons(workspace: &Workspace, target: &SafetyPoint, plan: &Plan) -> Result<Vec<BString>> {
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
fn keep_persons(plan: &mut Plan, persons: &[BString]) -> Vec<Left> {
    let is_theirs = |step: &Step| step.is_work() && persons.contains(&step.path);
    plan.steps.retain(|step| !is_theirs(step));
    persons
        .iter()
        .map(|path| Left {
            path: path.clone(),
            why: "a person edited it since the agent's last write; --force puts it back too"
                .to_owned(),
        })
        .collect()
}

/// Takes out of the plan what is not as the preview showed it.
fn keep_changed(plan: &mut Plan, preview: &Plan) -> Vec<Left> {
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
            || shown
                .get(&(step.side, &step.path))
                .is_some_and(|steps| steps.iter().any(|old| old.now == step.now));
        if !as_shown {
            left.push(Left {
                path: step.path.clone(),
                why: "it changed after the preview".to_owned(),
            });
        }
        as_shown
    });
    left
}

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
    let Some(journal) = journal::read::<Journal>(&path)? else {
        return Ok(None);
    };
    finish(env, workspace, &vault, &journal)
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

fn finish(env: &Env, workspace: &Workspace, vault: &Vault, journal: &Journal) -> Result<String> {
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
    if let Some(lock) = git::check_free(workspace, &Plan::default())? {
        remove_lock(&lock)?;
    }
    let now = look(vault, env, workspace, Keep::Nothing, Trust::Nothing)?;
    let mut plan = make_plan(
        vault,
        workspace,
        &target,
        &journal.scope,
        &Present::seen(&now),
    )?;
    apply::clear(vault, workspace, &plan, &before.id)?;
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
            left.push(step.shown());
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
    // The journal of the rollback that was interrupted is there already.
    let more = apply::apply(&restore, &plan, || Ok(()))?;
    handled::note_own(workspace, Edge::End)?;
    left.extend(more.into_iter().map(|left| left.path.to_string()));
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
pub(super) fn needed(vault: &Vault) -> Result<Vec<String>> {
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
