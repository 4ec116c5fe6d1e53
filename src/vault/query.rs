//! Questions to points: which there are, what they hold, how they differ from now.

use super::diff::{Difference, Trees, no_trees};
use super::gaps::is_expected;
use super::layout::Vault;
use super::look::{Keep, look};
use super::point::{SafetyPoint, ids};
use super::take::point_path;
use super::tree::{Kind, Row};
use super::walk::Trust;
use crate::error::{Error, ErrorKind, Result};
use crate::judge::{ChangeOp, Coverage, PathChange};
use crate::repo::Workspace;
use crate::sys::env::Env;
use bstr::{BStr, BString, ByteSlice as _};

/// Lists the safety points of the repository, oldest first; of all its worktrees, without [`unreadable`] ones.
///
/// # Errors
/// When the vault cannot be read.
pub fn points(env: &Env, workspace: &Workspace) -> Result<Vec<SafetyPoint>> {
    let vault = Vault::find(env, workspace)?;
    let mut points = Vec::new();
    for id in ids(&vault.points())? {
        points.extend(SafetyPoint::read_sound(&point_path(&vault, &id))?);
    }
    Ok(points)
}

/// Lists the points whose records cannot be read.
///
/// # Errors
/// When the vault cannot be listed.
pub fn unreadable(env: &Env, workspace: &Workspace) -> Result<Vec<String>> {
    let vault = Vault::find(env, workspace)?;
    let mut ids = ids(&vault.points())?;
    ids.retain(|id| SafetyPoint::read(&point_path(&vault, id)).is_err());
    Ok(ids)
}

/// Finds a point by its id, the start or the end of its id; without one, the worktree's newest.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is none or more than one.
pub fn find(env: &Env, workspace: &Workspace, name: Option<&str>) -> Result<SafetyPoint> {
    let vault = Vault::find(env, workspace)?;
    let Some(name) = name else {
        for id in ids(&vault.points())?.iter().rev() {
            if let Some(point) = SafetyPoint::read_sound(&point_path(&vault, id))?
                && point.is_of(workspace)
            {
                return Ok(point);
            }
        }
        return Err(Error::new(
            ErrorKind::Usage,
            "there is no safety point of this worktree",
        )
        .hint("take one: holdpoint save")
        .hint(MOVED));
    };
    let id = id_of(&vault, name)?;
    SafetyPoint::read(&point_path(&vault, &id))?.ok_or_else(|| no_such(name))
}

/// The id of the one point whose id is `name`, or starts or ends with it.
pub(super) fn id_of(vault: &Vault, name: &str) -> Result<String> {
    if name.is_empty() {
        return Err(no_such("without a name"));
    }
    let known = ids(&vault.points())?;
    let upper = name.to_ascii_uppercase();
    let matching: Vec<&String> = known
        .iter()
        .filter(|id| id.starts_with(&upper) || (upper.len() >= 4 && id.ends_with(&upper)))
        .collect();
    match matching.as_slice() {
        [id] => Ok((*id).clone()),
        [] => Err(no_such(name)),
        _ => Err(Error::new(
            ErrorKind::Usage,
            format!("{} safety points are named {name}", matching.len()),
        )
        .hint("give more of the id: holdpoint points")),
    }
}

/// The point that a rollback without an id means: the last of this run, else of this session, else of this worktree.
///
/// Points that a rollback took for itself do not count; `--undo` goes back to
/// those. One taken after files were lost counts only where there is no other.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is none.
pub fn last_wanted(env: &Env, workspace: &Workspace) -> Result<SafetyPoint> {
    let run = env.text("HOLDPOINT_RUN");
    let session = crate::sys::actor::session(env);
    let vault = Vault::find(env, workspace)?;
    let (mut of_session, mut early, mut any) = (None, None, None);
    // From the newest on, and no further than needed: a vault may hold thousands.
    for id in ids(&vault.points())?.iter().rev() {
        let Some(point) = SafetyPoint::read_sound(&point_path(&vault, id))? else {
            continue;
        };
        if !point.is_of(workspace) || point.reason == "before-rollback" {
            continue;
        }
        if point.reason == super::AFTER_LOSS {
            any.get_or_insert(point);
            continue;
        }
        if run.is_some() && point.run.as_deref() == run {
            return Ok(point);
        }
        if session.is_some() && point.session == session {
            of_session.get_or_insert_with(|| point.clone());
        }
        early.get_or_insert(point);
        if run.is_none() && (session.is_none() || of_session.is_some()) {
            break;
        }
    }
    of_session.or(early).or(any).ok_or_else(|| {
        Error::new(
            ErrorKind::Usage,
            "there is no safety point of this worktree",
        )
        .hint("take one: holdpoint save")
        .hint(MOVED)
    })
}

/// Points are found by the place of the worktree, so that they are found without `.git`.
const MOVED: &str = "where this directory came from another file system, its points are kept for its old place: \
                     move it back to roll back";

fn no_such(name: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("there is no safety point {name}"))
        .hint("see which there are: holdpoint points")
}

/// Reads what a point holds under a path of the worktree; `None` where it holds no file or link there.
///
/// # Errors
/// When the vault cannot be read or is damaged.
pub fn content(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    path: &BStr,
) -> Result<Option<Vec<u8>>> {
    let vault = Vault::find(env, workspace)?;
    let Some(row) = row(&vault, point, path)? else {
        return Ok(None);
    };
    match row.kind {
        Kind::File | Kind::Link => vault.store.read(&row.id).map(Some),
        _ => Ok(None),
    }
}

/// How large what a point holds under a path of the worktree is; `None` where it holds no file or link there.
///
/// # Errors
/// When the vault cannot be read or is damaged.
pub fn size(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    path: &BStr,
) -> Result<Option<u64>> {
    let vault = Vault::find(env, workspace)?;
    let row = row(&vault, point, path)?;
    Ok(row
        .filter(|row| matches!(row.kind, Kind::File | Kind::Link))
        .map(|row| row.size))
}

/// Writes out what a point holds under a path, a piece at a time; false where it holds no file or link there.
///
/// # Errors
/// As [`content`], and when `out` cannot be written.
pub fn copy_content(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    path: &BStr,
    out: &mut dyn std::io::Write,
) -> Result<bool> {
    let vault = Vault::find(env, workspace)?;
    match row(&vault, point, path)? {
        Some(row) if matches!(row.kind, Kind::File | Kind::Link) => {
            vault.store.copy(&row.id, out).map(|_| true)
        }
        _ => Ok(false),
    }
}

fn row(vault: &Vault, point: &SafetyPoint, path: &BStr) -> Result<Option<Row>> {
    let Some(work) = point.work else {
        return Ok(None);
    };
    let trees = Trees {
        store: &vault.store,
        fresh: &no_trees(),
    };
    trees.find(&work.tree, path)
}

/// Returns those of `paths` under which the point has nothing: they were made after it.
///
/// # Errors
/// When the vault cannot be read or is damaged.
pub fn absent_in(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    paths: &[BString],
) -> Result<Vec<BString>> {
    let vault = Vault::find(env, workspace)?;
    let mut absent = Vec::new();
    for path in paths {
        let unknown = point
            .not_held
            .iter()
            .any(|gap| overlaps(gap.path.as_bstr(), path.as_bstr()));
        if !unknown && row(&vault, point, path.as_bstr())?.is_none() {
            absent.push(path.clone());
        }
    }
    Ok(absent)
}

/// Says whether a point holds everything under the given paths of the worktree.
///
/// An empty path stands for the whole workspace; ignored output that a point
/// never holds counts only where a path names it or what is in it.
#[must_use]
pub fn coverage(point: &SafetyPoint, paths: &[BString]) -> Coverage {
    let mut missing: Vec<BString> = Vec::new();
    for gap in &point.not_held {
        let hit = paths.iter().any(|path| {
            overlaps(gap.path.as_bstr(), path.as_bstr())
                && (!is_expected(gap.why) || inside(path.as_bstr(), gap.path.as_bstr()))
        });
        if hit {
            missing.push(gap.path.clone());
        }
    }
    if missing.is_empty() {
        Coverage::Held {
            point: point.id.clone(),
        }
    } else {
        Coverage::Partial {
            point: point.id.clone(),
            missing,
        }
    }
}

/// Returns true when one of the two paths is the other or lies below it.
fn overlaps(a: &BStr, b: &BStr) -> bool {
    inside(a, b) || inside(b, a)
}

/// Returns true when `path` is `dir` or lies below it.
pub(super) fn inside(path: &BStr, dir: &BStr) -> bool {
    dir.is_empty()
        || path
            .strip_prefix(dir.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// What differs between a point and the workspace now; nothing is written.
///
/// # Errors
/// When the workspace or the vault cannot be read.
pub fn differences(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
) -> Result<Vec<Difference>> {
    let workspace = &super::with_remains(workspace);
    let vault = Vault::open(env, workspace)?;
    let _contents = vault.use_contents()?;
    let now = look(&vault, env, workspace, Keep::Nothing, Trust::Stamps)?;
    let trees = Trees {
        store: &vault.store,
        fresh: &now.picture.trees,
    };
    trees.diff(
        point.work.map(|work| work.tree),
        now.picture.work.map(|work| work.tree),
    )
}

/// What changed in the worktree since a point, one entry a file or link, sorted by path.
///
/// A path that went away while exactly one of the same bytes came is a rename.
/// Ignored output that no point holds is left out.
///
/// # Errors
/// When the workspace or the vault cannot be read.
pub fn compare(env: &Env, workspace: &Workspace, point: &SafetyPoint) -> Result<Vec<PathChange>> {
    Ok(as_changes(differences(env, workspace, point)?))
}

/// What changed from one point to another, as [`compare`] tells it.
///
/// # Errors
/// When the vault cannot be read.
pub fn compare_points(
    env: &Env,
    workspace: &Workspace,
    from: &SafetyPoint,
    to: &SafetyPoint,
) -> Result<Vec<PathChange>> {
    let vault = Vault::find(env, workspace)?;
    let trees = Trees {
        store: &vault.store,
        fresh: &no_trees(),
    };
    Ok(as_changes(trees.diff(
        from.work.map(|work| work.tree),
        to.work.map(|work| work.tree),
    )?))
}

fn as_changes(differences: Vec<Difference>) -> Vec<PathChange> {
    let mut changes = Vec::new();
    for difference in differences {
        let before = difference.before.as_ref().and_then(file);
        let after = difference.after.as_ref().and_then(file);
        let op = match (&before, &after) {
            (None, None) => continue,
            (None, Some(_)) => ChangeOp::Create,
            (Some(_), None) => ChangeOp::Delete,
            (Some(_), Some(_)) => ChangeOp::Modify,
        };
        let (before, mode_before) = before.unwrap_or_default();
        let (after, mode_after) = after.unwrap_or_default();
        changes.push(PathChange {
            path: difference.path,
            op,
            before,
            after,
            mode_before,
            mode_after,
            added: Vec::new(),
        });
    }
    pair_renames(&mut changes);
    changes
}

/// A file's content and mode as a change tells them; `None` for a directory or ignored output.
fn file(row: &Row) -> Option<(String, String)> {
    let mode = |kind: &str| format!("{kind}{:03o}", row.mode & 0o7777);
    match row.kind {
        Kind::File | Kind::Object | Kind::SmallObject => Some((row.id.hex(), mode("100"))),
        Kind::Link => Some((row.id.hex(), "120000".to_owned())),
        Kind::Fifo => Some((String::new(), mode("010"))),
        Kind::Socket => Some((String::new(), mode("140"))),
        Kind::Device => Some((String::new(), format!("{:06o}", row.mode))),
        Kind::NotHeld(why) if !is_expected(why) => Some((String::new(), String::new())),
        Kind::Dir | Kind::NotHeld(_) => None,
    }
}

fn pair_renames(changes: &mut Vec<PathChange>) {
    use std::collections::HashMap;
    let mut gone: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut came: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, change) in changes.iter().enumerate() {
        match change.op {
            ChangeOp::Delete if !change.before.is_empty() => {
                gone.entry(&change.before).or_default().push(at);
            }
            ChangeOp::Create if !change.after.is_empty() => {
                came.entry(&change.after).or_default().push(at);
            }
            _ => {}
        }
    }
    let mut pairs = Vec::new();
    for (id, from) in gone {
        if let ([from], Some([to])) = (from.as_slice(), came.get(id).map(Vec::as_slice)) {
            pairs.push((*from, *to));
        }
    }
    let mut dropped = Vec::new();
    for (from, to) in pairs {
        let Some(old) = changes.get(from).cloned() else {
            continue;
        };
        if let Some(new) = changes.get_mut(to) {
            new.op = ChangeOp::Rename { from: old.path };
            new.before = old.before;
            new.mode_before = old.mode_before;
            dropped.push(from);
        }
    }
    dropped.sort_unstable();
    for at in dropped.into_iter().rev() {
        changes.remove(at);
    }
}
