//! Takes a safety point: look, and only if something differs, publish.

use super::cache::{Cache, Header};
use super::layout::{Listing, Vault};
use super::ledger;
use super::look::{Keep, Now, look};
use super::pack::{Finished, Pack, PackWriter};
use super::point::{About, SafetyPoint};
use super::refs;
use super::walk::Trust;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;
use crate::sys::{clock, failpoint, files};
use bstr::{BString, ByteSlice as _};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Takes a point; false where the workspace is as the last point has it.
pub(super) fn take(
    vault: &Vault,
    env: &Env,
    about: &About<'_>,
    trust: Trust,
) -> Result<(SafetyPoint, bool)> {
    let _contents = vault.use_contents()?;
    let mut now = look(vault, env, about.workspace, Keep::Contents, trust)?;
    settle(vault, about, &mut now)
}

/// Makes a point of what was seen, or finds the one that has it already.
///
/// The caller uses contents since before it looked.
pub(super) fn settle(
    vault: &Vault,
    about: &About<'_>,
    now: &mut Now,
) -> Result<(SafetyPoint, bool)> {
    let pack = now.pack.take();
    let settled = settle_with(vault, about, now, pack);
    if settled.is_err() {
        // Links that were made for a point that is not there do no harm; prune finds them.
        vault.store.refresh();
    }
    settled
}

fn settle_with(
    vault: &Vault,
    about: &About<'_>,
    now: &Now,
    pack: Option<PackWriter>,
) -> Result<(SafetyPoint, bool)> {
    let workspace = about.workspace;
    let header = &now.cache.header;
    let same_roots = {
        let tree = |root: Option<super::cache::Root>| root.map(|root| (root.tree, root.mode));
        !now.cache.is_empty()
            && tree(header.work) == tree(now.picture.work)
            && tree(header.git) == tree(now.picture.git)
    };
    if same_roots
        && let Some(point) = SafetyPoint::read_sound(&point_path(vault, &header.point))?
        && point.not_held == now.not_held
    {
        if let Some(pack) = pack {
            pack.abandon();
        }
        if !now.picture.blocks.is_empty() || header.rules != now.rules {
            let _name = vault.publish()?;
            learn(vault, workspace, now, &point.id, &vault.list()?)?;
        }
        return Ok((point, false));
    }
    let mut point = SafetyPoint::about(String::new(), String::new(), about);
    point.work = now.picture.work.map(Into::into);
    point.git = now.picture.git.map(Into::into);
    point.not_held.clone_from(&now.not_held);
    point.index_mtime = now.index_mtime;
    point.changed = now.picture.changed;
    let head = head(workspace, now)?;
    point.head = head.commit;
    point.branch = head.branch;
    publish(vault, workspace, now, point, pack)
}

fn publish(
    vault: &Vault,
    workspace: &Workspace,
    now: &Now,
    point: SafetyPoint,
    pack: Option<PackWriter>,
) -> Result<(SafetyPoint, bool)> {
    let finished = pack.map(PackWriter::finish).transpose()?.flatten();
    vault.links.sync()?;
    std::thread::scope(|scope| {
        let data = finished
            .as_ref()
            .map(|finished| scope.spawn(|| finished.sync()));
        let durable = || {
            data.map_or(Ok(()), |data| {
                data.join().unwrap_or_else(|_| {
                    Err(Error::new(
                        ErrorKind::Internal,
                        "a thread that synced a pack panicked",
                    ))
                })
            })
        };
        name(vault, workspace, now, point, finished.as_ref(), durable)
    })
}

/// Gives a point its name; `durable` waits until its contents are on the disk.
fn name(
    vault: &Vault,
    workspace: &Workspace,
    now: &Now,
    mut point: SafetyPoint,
    finished: Option<&Finished>,
    durable: impl FnOnce() -> Result<()>,
) -> Result<(SafetyPoint, bool)> {
    let _name = vault.publish()?;
    let mut there = vault.list()?;
    if let Some(last) = newest(vault, workspace, &there.ids)?
        && (last.work, last.git, &last.not_held) == (point.work, point.git, &point.not_held)
    {
        durable()?;
        match finished {
            // The last point needs what the vault had lost.
            Some(finished) if now.anew || vault_lacks(vault, finished)? => {
                let path = vault.store.dir().join(format!("{}.pack", clock::id()));
                fs::rename(&finished.path, &path)
                    .and_then(|()| files::sync_parent(&path))
                    .doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
                vault.store.refresh();
            }
            Some(finished) => remove(&finished.path)?,
            None => {}
        }
        learn(vault, workspace, now, &last.id, &vault.list()?)?;
        return Ok((last, false));
    }
    let at = clock::now();
    point.id = next_id(at, there.ids.last())?;
    point.created = clock::rfc3339(at);
    point.bytes = finished.map_or(0, |finished| finished.bytes);
    // Data first: it is on the disk, and so is the record, before anything names them.
    let record = point.stage(&vault.points())?;
    durable()?;
    if let Some(finished) = finished {
        let name = vault.store.dir().join(format!("{}.pack", point.id));
        failpoint::reach();
        // The record's own sync of the directory makes this name last too.
        fs::rename(&finished.path, &name)
            .doing(ErrorKind::Io, || format!("cannot write {}", name.display()))?;
        there
            .packs
            .push((format!("{}.pack", point.id).into(), finished.bytes));
    }
    record.name()?;
    learn(vault, workspace, now, &point.id, &there)?;
    clear_leftovers(vault, &there.temporaries);
    there.ids.push(point.id.clone());
    vault.saw(there);
    vault.store.refresh();
    Ok((point, true))
}

/// Returns true where the vault has not got all that a pack brings: it was lost, and the
/// stat cache that would have told of it too.
fn vault_lacks(vault: &Vault, finished: &Finished) -> Result<bool> {
    vault.store.refresh();
    let Some(pack) = Pack::open(&finished.path)? else {
        return Ok(false);
    };
    for entry in pack.all()? {
        if !vault.store.has(&entry.id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Writes down in the cache what was found.
fn learn(
    vault: &Vault,
    workspace: &Workspace,
    now: &Now,
    point: &str,
    there: &Listing,
) -> Result<()> {
    let header = Header {
        point: point.to_owned(),
        rules: now.rules,
        work: now.picture.work,
        git: now.picture.git,
    };
    let path = vault.cache(workspace);
    match now.cache.write(&path, &header, &now.picture.blocks) {
        // It was damaged where nobody had looked.
        Err(error) if error.kind() == ErrorKind::Damaged => Cache::forget(&path)?,
        written => written?,
    }
    ledger::write(vault, workspace, there)
}

/// The file of a point's record.
pub(super) fn point_path(vault: &Vault, id: &str) -> PathBuf {
    vault.points().join(format!("{id}.json"))
}

fn newest(vault: &Vault, workspace: &Workspace, ids: &[String]) -> Result<Option<SafetyPoint>> {
    for id in ids.iter().rev() {
        if let Some(point) = SafetyPoint::read_sound(&point_path(vault, id))?
            && point.is_of(workspace)
        {
            return Ok(Some(point));
        }
    }
    Ok(None)
}

/// An id that sorts after all others, whatever the clock says.
fn next_id(at: jiff::Timestamp, last: Option<&String>) -> Result<String> {
    let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
    let fresh = ulid::Ulid::from_parts(millis, ulid::Ulid::generate().random());
    let last = last.and_then(|last| ulid::Ulid::from_string(last).ok());
    Ok(match last {
        Some(last) if last >= fresh => last
            .increment()
            .map_err(|_| Error::new(ErrorKind::Damaged, "the vault has no id left"))?,
        _ => fresh,
    }
    .to_string())
}

/// Removes what dead processes left half written; a living one has its file locked.
fn clear_leftovers(vault: &Vault, temporaries: &[OsString]) {
    for name in temporaries {
        let path = vault.store.dir().join(name);
        if let Ok(file) = fs::File::open(&path)
            && fs2::FileExt::try_lock_exclusive(&file).is_ok()
        {
            // Nobody needs it; the next save tries again.
            let _ = fs::remove_file(path);
        }
    }
}

fn remove(path: &std::path::Path) -> Result<()> {
    fs::remove_file(path).doing(ErrorKind::Io, || {
        format!("cannot remove {}", path.display())
    })
}

fn head(workspace: &Workspace, now: &Now) -> Result<refs::Head> {
    let (Some(_), Some(own)) = (now.picture.git, &workspace.git_dir) else {
        return Ok(refs::Head::default());
    };
    let private = workspace
        .common_dir
        .as_deref()
        .and_then(|common| own.strip_prefix(common).ok())
        .map(|path| path.as_os_str().as_bytes().to_vec())
        .unwrap_or_default();
    let common = workspace.common_dir.clone().unwrap_or_default();
    if common.join("reftable").is_dir() {
        return Ok(head_by_git(workspace));
    }
    refs::head(
        &|path| refs::read_file(&common.join(std::ffi::OsStr::from_bytes(path))),
        &private,
    )
}

/// Asks git where `HEAD` points; where git cannot tell, the point holds it all the same.
pub(super) fn head_by_git(workspace: &Workspace) -> refs::Head {
    let ask = |args: &[&str]| {
        Git::at(workspace)
            .args(args)
            .read()
            .ok()
            .map(|out| BString::from(out.trim_ascii()))
            .filter(|out| !out.is_empty())
    };
    refs::Head {
        branch: ask(&["symbolic-ref", "-q", "HEAD"]),
        commit: ask(&["rev-parse", "-q", "--verify", "HEAD"]).map(|id| id.to_str_lossy().into()),
    }
}
