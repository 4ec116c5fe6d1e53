//! The git directory's share of a rollback.

use super::Present;
use super::alternates;
use super::apply::locked;
use super::damage::{Names, is_damaged};
use super::journal::Scope;
use super::plan::{Deed, Left, Plan, Step};
use super::remains::{goes_away, is_displaced, is_gone, is_missing, is_replaced, is_same_place};
use super::scope::{Part, part};
use super::wrecks::Wrecks;
use super::{config, owner};
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::{Git, Workspace};
use crate::vault::diff::{Difference, Trees};
use crate::vault::point::{SafetyPoint, TreeRef};
use crate::vault::refs::{self, Head};
use crate::vault::tree::Kind;
use crate::vault::walk::Side;
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Where the git directory lies or has to be made again.
pub(super) fn dir(workspace: &Workspace, target: &SafetyPoint) -> Option<PathBuf> {
    if is_displaced(workspace, target) {
        return Some(workspace.root.join(".git"));
    }
    workspace.common_dir.clone().or_else(|| {
        (!target.git_dir.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(&target.git_dir)))
    })
}

/// Refuses while git itself writes the index; returns the lock of a git that died.
pub(super) fn check_free(workspace: &Workspace, plan: &Plan) -> Result<Option<PathBuf>> {
    let touches = plan.is_empty() || plan.steps.iter().any(|step| step.side == Side::Git);
    let Some(dir) = &workspace.git_dir else {
        return Ok(None);
    };
    let lock = dir.join("index.lock");
    if !touches || std::fs::symlink_metadata(&lock).is_err() {
        return Ok(None);
    }
    let common = workspace.common_dir.as_deref().unwrap_or(dir);
    if owner::may_live(&lock, &[&workspace.root, common]) {
        return Err(locked(Some(dir)));
    }
    Ok(Some(lock))
}

/// Removes the lock of a git that died.
pub(super) fn remove_lock(path: &Path) -> Result<()> {
    std::fs::remove_file(path).doing(ErrorKind::Io, || {
        format!("cannot remove {}", path.display())
    })
}

/// The refs of both sides, read as they lie in files.
struct Refs<'a> {
    common: PathBuf,
    target: &'a SafetyPoint,
    trees: &'a Trees<'a>,
}

impl Refs<'_> {
    fn now(&self, path: &[u8]) -> Result<Option<Vec<u8>>> {
        refs::read_file(&self.common.join(OsStr::from_bytes(path)))
    }

    fn then(&self, path: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(git) = self.target.git else {
            return Ok(None);
        };
        match self.trees.find(&git.tree, path)? {
            Some(row) if row.kind == Kind::File => self.trees.store.read(&row.id).map(Some),
            _ => Ok(None),
        }
    }
}

/// Adds the steps that bring the git directory back as far as `scope` says.
pub(super) fn add(
    plan: &mut Plan,
    workspace: &Workspace,
    target: &SafetyPoint,
    scope: &Scope,
    now: &Present<'_>,
    trees: &Trees<'_>,
) -> Result<()> {
    let Some(then) = target.git else {
        return Ok(());
    };
    let displaced = is_displaced(workspace, target);
    if !displaced && !is_same_place(workspace, target) {
        plan.left.push(Left::failed(
            ".git",
            "it is another repository than the one that the point holds",
        ));
        return Ok(());
    }
    if displaced && !goes_away(now, trees)? {
        plan.left.push(Left::failed(
            ".git",
            "what is in its place is held by no point; move it away",
        ));
        return Ok(());
    }
    let present = now.git.filter(|_| !displaced).map(|git| git.tree);
    let differences = trees.diff(present, Some(then.tree))?;
    let has_newer = differences
        .iter()
        .any(|difference| difference.after.is_none() && difference.path.starts_with(b"objects/"));
    let names = if has_newer {
        Names::of(target, trees)?
    } else {
        Names::default()
    };
    let mut wrecks = Wrecks::default();
    let gone = displaced || is_gone(now, trees)?;
    let replaced = !gone && is_replaced(workspace, target, &differences, trees)?;
    if gone || replaced {
        for difference in differences {
            // What was begun since would go on in the repository that comes back, and
            // another one's branches would be among its own.
            let goes = !displaced
                && matches!(
                    part(&difference.path, &target.private),
                    Part::Index
                        | Part::Operation
                        | Part::Head
                        | Part::Refs
                        | Part::Logs
                        | Part::Stash
                )
                // Linked worktrees and what was fetched belong to the other one too.
                || replaced && part(&difference.path, &target.private) == Part::History;
            if wrecks.count(&difference) || difference.after.is_some() || goes {
                plan.add(Side::Git, difference);
            } else if !displaced && let Some(common) = &workspace.common_dir {
                put_back(plan, difference, common, names);
            }
        }
        add_top(plan, then, None);
        return Ok(());
    }
    let refs = Refs {
        common: workspace.common_dir.clone().unwrap_or_default(),
        target,
        trees,
    };
    let private = target.private.as_slice();
    let reftable = trees.find(&then.tree, b"reftable")?.is_some();
    let with_refs = scope.refs || (reftable && has_lost_refs(workspace));
    let operation = with_refs || add_refs(plan, workspace, &refs, reftable)?;
    if reftable
        && !with_refs
        && differences
            .iter()
            .any(|difference| difference.path.starts_with(b"reftable/"))
    {
        plan.steps.push(Step {
            side: Side::Git,
            path: "refs/stash".into(),
            now: None,
            action: Deed::GitStash,
        });
    }
    let mut moved = BTreeSet::new();
    for difference in differences {
        if wrecks.count(&difference) {
            plan.add(Side::Git, difference);
            continue;
        }
        match part(&difference.path, private) {
            Part::Index | Part::Module => plan.add(Side::Git, difference),
            Part::Head if !reftable => plan.add(Side::Git, difference),
            Part::Operation if operation => plan.add(Side::Git, difference),
            Part::Config => {
                if config::must_return(
                    refs.now(b"config")?.as_deref(),
                    refs.then(b"config")?.as_deref(),
                ) {
                    plan.add(Side::Git, difference);
                }
            }
            Part::Missing => {
                let is_lost = is_missing(&difference) || is_misled(workspace, &difference, &refs)?;
                if is_lost && !is_ours(&difference, trees)? {
                    plan.add(Side::Git, difference);
                }
            }
            Part::Refs | Part::Logs | Part::Stash | Part::Head | Part::History if with_refs => {
                plan.add(Side::Git, difference);
            }
            Part::Stash if difference.path.starts_with(b"logs/") => plan.add(Side::Git, difference),
            Part::Objects => {
                if difference.path == alternates::PATH && !is_missing(&difference) {
                    plan.steps.extend(alternates(&refs, difference)?);
                } else {
                    put_back(plan, difference, &refs.common, names);
                }
            }
            Part::Operation => {
                if is_file(&difference) {
                    plan.left.push(Left::kept(
                        [b".git/", difference.path.as_slice()].concat(),
                        "it belongs to another commit than HEAD; --refs puts both back",
                    ));
                }
            }
            Part::Refs => {
                if names_nothing(&refs, &difference)? {
                    plan.add(Side::Git, difference);
                } else if is_file(&difference) {
                    moved.extend(moved_refs(&refs, &difference.path)?);
                }
            }
            Part::Kept if is_missing(&difference) => plan.add(Side::Git, difference),
            Part::Other if scope.refs && difference.after.is_some() => {
                plan.add(Side::Git, difference);
            }
            Part::Head | Part::Logs | Part::Stash | Part::History | Part::Kept | Part::Other => {}
        }
    }
    plan.refs_left.extend(moved);
    add_top(plan, then, now.git);
    Ok(())
}

/// Returns true for a hook that `holdpoint uninstall` may have taken away.
fn is_ours(difference: &Difference, trees: &Trees<'_>) -> Result<bool> {
    let Some(row) = difference.after.as_ref() else {
        return Ok(false);
    };
    if !difference.path.starts_with(b"hooks/") || row.size > 1 << 16 {
        return Ok(false);
    }
    match row.kind {
        Kind::File | Kind::Link => Ok(trees.store.read(&row.id)?.contains_str("holdpoint")),
        _ => Ok(false),
    }
}

/// Adds the git directory's own permission bits.
fn add_top(plan: &mut Plan, then: TreeRef, now: Option<TreeRef>) {
    if now.is_none_or(|now| now.mode != then.mode) {
        plan.steps.push(Step {
            side: Side::Git,
            path: ".".into(),
            now: None,
            action: Deed::Mode(then.mode),
        });
    }
}

/// Returns true where the file that ties the git directory of a linked worktree to it names another place.
fn is_misled(workspace: &Workspace, difference: &Difference, refs: &Refs<'_>) -> Result<bool> {
    let private = refs.target.private.as_slice();
    if private.is_empty() || difference.path != [private, b"/gitdir"].concat() {
        return Ok(false);
    }
    let own = workspace.root.join(".git");
    let names_it = |bytes: Option<Vec<u8>>| {
        bytes.is_some_and(|bytes| bytes.trim_ascii() == own.as_os_str().as_bytes())
    };
    Ok(names_it(refs.then(&difference.path)?) && !names_it(refs.now(&difference.path)?))
}

/// What it takes for the borrowed objects to be found again.
fn alternates(refs: &Refs<'_>, difference: Difference) -> Result<Option<Step>> {
    let path = difference.path;
    let (Some(now), Some(then)) = (refs.now(&path)?, refs.then(&path)?) else {
        return Ok(None);
    };
    let objects = refs.common.join("objects");
    let list = alternates::mended(&now, &then, |entry| {
        objects.join(OsStr::from_bytes(entry)).is_dir()
    });
    Ok(list.map(|list| Step {
        side: Side::Git,
        path,
        now: difference.before,
        action: Deed::Bytes(list.into()),
    }))
}

/// Objects and what belongs to them only ever come back; those that nobody can read go.
fn put_back(plan: &mut Plan, difference: Difference, common: &Path, names: Names) {
    if let (Some(now), None) = (&difference.before, &difference.after)
        && is_damaged(common, &difference.path, now, names)
    {
        plan.steps.push(Step {
            side: Side::Git,
            path: difference.path,
            now: difference.before,
            action: Deed::Remove,
        });
        return;
    }
    let missing = is_missing(&difference);
    let object = difference
        .after
        .as_ref()
        .is_some_and(|row| row.kind.is_object());
    if difference.after.is_some() && (missing || object) {
        plan.add(Side::Git, difference);
    }
}

fn is_file(difference: &Difference) -> bool {
    [&difference.before, &difference.after]
        .into_iter()
        .flatten()
        .any(|row| row.kind == Kind::File)
}

/// Returns true for the file of a ref that names no commit any more, nor another ref, and for
/// a list of refs that git cannot read: nothing was moved, it was overwritten.
fn names_nothing(refs: &Refs<'_>, difference: &Difference) -> Result<bool> {
    let path = difference.path.as_slice();
    let reads = match path {
        b"packed-refs" => refs::is_packed,
        _ if path.starts_with(b"refs/") => refs::is_value,
        _ => return Ok(false),
    };
    let (Some(now), Some(then)) = (refs.now(path)?, refs.then(path)?) else {
        return Ok(false);
    };
    Ok(!reads(&now) && reads(&then))
}

/// Returns true where git finds not even `HEAD` in its tables of refs.
fn has_lost_refs(workspace: &Workspace) -> bool {
    let head = crate::vault::take::head_by_git(workspace);
    let refs = Git::at(workspace)
        .args(["for-each-ref", "--count=1"])
        .read();
    refs.is_err() || (head.branch.is_none() && head.commit.is_none())
}

/// The refs that a differing file says have moved.
fn moved_refs(refs: &Refs<'_>, path: &[u8]) -> Result<Vec<BString>> {
    let now = |path: &[u8]| refs.now(path);
    let then = |path: &[u8]| refs.then(path);
    if path == b"packed-refs" {
        let mut names: BTreeSet<BString> = BTreeSet::new();
        for bytes in [refs.now(path)?, refs.then(path)?].into_iter().flatten() {
            names.extend(bytes.lines().filter_map(|line| {
                let (id, name) = line.split_once_str(" ")?;
                (id.len() >= 40).then(|| BString::from(name))
            }));
        }
        let mut moved = Vec::new();
        for name in names {
            if name != "refs/stash" && refs::value(&now, &name)? != refs::value(&then, &name)? {
                moved.push(name);
            }
        }
        return Ok(moved);
    }
    if path.starts_with(b"reftable/") {
        return Ok(vec!["refs (reftable)".into()]);
    }
    let differs = refs::value(&now, path)? != refs::value(&then, path)?;
    Ok(if differs {
        vec![path.into()]
    } else {
        Vec::new()
    })
}

/// Adds the stash and `HEAD`'s missing branch; returns true when `HEAD` will be the commit it was.
fn add_refs(
    plan: &mut Plan,
    workspace: &Workspace,
    refs: &Refs<'_>,
    reftable: bool,
) -> Result<bool> {
    if reftable {
        return Ok(add_reftable_head(plan, workspace, refs.target));
    }
    let now = |path: &[u8]| refs.now(path);
    let then = |path: &[u8]| refs.then(path);
    add_stash(plan, refs)?;
    let head = refs::head(&then, &refs.target.private)?;
    let Some(branch) = head.branch else {
        // Detached: HEAD itself comes back, and with it the commit. A rebase that
        // was finished meanwhile has moved its branch, and cannot go on.
        return rebased_branch_is_unmoved(refs);
    };
    let present = refs::value(&now, &branch)?;
    if present.is_none()
        && let Some(commit) = &head.commit
    {
        plan.steps.push(Step {
            side: Side::Git,
            path: branch,
            now: None,
            action: Deed::Bytes(format!("{commit}\n").into_bytes()),
        });
        return Ok(true);
    }
    Ok(present == head.commit)
}

fn rebased_branch_is_unmoved(refs: &Refs<'_>) -> Result<bool> {
    let now = |path: &[u8]| refs.now(path);
    for dir in ["rebase-merge", "rebase-apply"] {
        let mut path = refs.target.private.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(dir.as_bytes());
        let read = |name: &str| refs.then(&[path.as_slice(), b"/", name.as_bytes()].concat());
        if let (Some(name), Some(commit)) = (read("head-name")?, read("orig-head")?) {
            let name = name.trim_ascii();
            if name.starts_with(b"refs/") {
                let commit = commit.trim_ascii().to_str_lossy().into_owned();
                return Ok(refs::value(&now, name)?.as_deref() == Some(&*commit));
            }
        }
    }
    Ok(true)
}

fn add_stash(plan: &mut Plan, refs: &Refs<'_>) -> Result<()> {
    const STASH: &[u8] = b"refs/stash";
    let now = |path: &[u8]| refs.now(path);
    let then = |path: &[u8]| refs.then(path);
    let wanted = refs::value(&then, STASH)?;
    if refs::value(&now, STASH)? == wanted {
        return Ok(());
    }
    let mut step = |path: &[u8], action| {
        plan.steps.push(Step {
            side: Side::Git,
            path: path.into(),
            now: None,
            action,
        });
    };
    if let Some(commit) = wanted {
        step(STASH, Deed::Bytes(format!("{commit}\n").into_bytes()));
        return Ok(());
    }
    if refs.now(STASH)?.is_some() {
        step(STASH, Deed::Remove);
    }
    if let Some(packed) = refs.now(b"packed-refs")? {
        let rest = refs::without(&packed, STASH);
        if rest != packed {
            step(b"packed-refs", Deed::Bytes(rest));
        }
    }
    Ok(())
}

/// In a reftable repository git itself moves `HEAD`; its refs are not files that we can take apart.
fn add_reftable_head(plan: &mut Plan, workspace: &Workspace, target: &SafetyPoint) -> bool {
    let now = crate::vault::take::head_by_git(workspace);
    let then = Head {
        branch: target.branch.clone(),
        commit: target.head.clone(),
    };
    if now.branch != then.branch || (then.branch.is_none() && now.commit != then.commit) {
        let words = match (&then.branch, &then.commit) {
            (Some(branch), _) => vec!["symbolic-ref", "HEAD", branch.to_str().unwrap_or("")],
            (None, Some(commit)) => vec!["update-ref", "--no-deref", "HEAD", commit],
            (None, None) => return false,
        };
        plan.steps.push(Step {
            side: Side::Git,
            path: "HEAD".into(),
            now: None,
            action: Deed::GitHead(words.into_iter().map(str::to_owned).collect()),
        });
    }
    // Where the branch now is cannot be told before HEAD is back; its commit is compared as far as known.
    now.branch != then.branch || now.commit == then.commit
}
