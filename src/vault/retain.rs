//! Forgets what need not be kept.
//!
//! Points are dropped first; contents that no point and no stat cache needs are
//! deleted afterwards, alone in the vault. Small packs are merged on the way, so
//! that looking up a content costs the same after a thousand points.

use super::cache::Cache;
use super::id::ContentId;
use super::layout::Vault;
use super::ledger;
use super::pack::{Pack, PackWriter};
use super::point::{SafetyPoint, ids};
use super::rollback;
use super::take::point_path;
use super::tree::Kind;
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{clock, failpoint, files};
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A pack below this size is merged with others when there are many.
const SMALL: u64 = 4 << 20;

/// This many small packs may lie side by side.
const MANY: usize = 64;

/// What a prune did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Points that were dropped.
    pub points: usize,
    /// Bytes that the vault's packs lost.
    pub bytes: u64,
    /// Links to git's objects that were dropped.
    pub links: usize,
}

/// Drops one point and returns its id.
///
/// # Errors
/// When there is no such point, or an interrupted rollback needs it.
pub fn drop_point(env: &Env, workspace: &Workspace, name: &str) -> Result<String> {
    let vault = Vault::find(env, workspace)?;
    // A record that is damaged can be dropped too.
    let id = super::query::id_of(&vault, name)?;
    let _name = vault.publish()?;
    remove(&point_path(&vault, &id))?;
    Ok(id)
}

/// Drops points that are neither recent nor young nor in `keep`, and deletes what nothing needs.
///
/// # Errors
/// When the vault cannot be read or written; what is left is whole.
pub fn prune(env: &Env, workspace: &Workspace, keep: &BTreeSet<String>) -> Result<Pruned> {
    let vault = Vault::open(env, workspace)?;
    let _alone = vault.own_contents()?;
    let _name = vault.publish()?;
    let mut pruned = Pruned {
        points: expire(&vault, keep)?,
        ..Pruned::default()
    };
    let live = mark(&vault)?;
    pruned.bytes = sweep_packs(&vault, &live)?;
    pruned.links = sweep_links(&vault, &live.links)?;
    clear_temporaries(&vault)?;
    let staging = vault.dir.join("staging");
    if staging.exists() && rollback::needed(&vault)?.is_empty() {
        fs::remove_dir_all(&staging).doing(ErrorKind::Io, || {
            format!("cannot remove {}", staging.display())
        })?;
    }
    vault.store.refresh();
    Ok(pruned)
}

/// Starts a prune in a process of its own, at most once a day and only where a point has grown old.
///
/// Returns what to tell when that fails: the point itself is safe all the same.
pub(super) fn prune_beside(env: &Env, workspace: &Workspace, vault: &Vault) -> Option<String> {
    let start = || -> Result<()> {
        let there = vault.lately()?;
        let all = &there.ids;
        let old = all
            .first()
            .filter(|_| all.len() > vault.settings.keep)
            .is_some_and(|id| !is_young(id, oldest_kept(vault)));
        let note = vault.dir.join("pruned");
        let day = std::time::Duration::from_hours(24);
        let lately = fs::metadata(&note)
            .and_then(|meta| meta.modified())
            .is_ok_and(|at| at.elapsed().is_ok_and(|ago| ago < day));
        if !old || lately {
            return Ok(());
        }
        files::replace(&note, b"", 0o600, files::Durability::Lazy)?;
        Command::new(crate::repo::hooks::program(env)?.with_file_name("holdpoint"))
            .args(["points", "prune"])
            .current_dir(&workspace.root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(|_| ())
            .doing(ErrorKind::Io, || {
                "cannot start holdpoint points prune".to_owned()
            })
    };
    start()
        .err()
        .map(|error| format!("old safety points were not pruned: {error}"))
}

/// Points that were taken before this moment, in milliseconds, may go.
fn oldest_kept(vault: &Vault) -> i64 {
    clock::now().as_millisecond() - i64::from(vault.settings.keep_days) * 24 * 60 * 60 * 1000
}

fn is_young(id: &str, oldest: i64) -> bool {
    ulid::Ulid::from_string(id)
        .is_ok_and(|id| i64::try_from(id.timestamp_ms()).unwrap_or(i64::MAX) >= oldest)
}

fn expire(vault: &Vault, keep: &BTreeSet<String>) -> Result<usize> {
    let mut needed = keep.clone();
    needed.extend(rollback::needed(vault)?);
    let oldest = oldest_kept(vault);
    let all = ids(&vault.points())?;
    let count = all.len().saturating_sub(vault.settings.keep);
    let mut dropped = 0;
    for id in all.iter().take(count) {
        if !is_young(id, oldest) && !needed.contains(id) {
            remove(&point_path(vault, id))?;
            dropped += 1;
        }
    }
    Ok(dropped)
}

#[derive(Default)]
struct Live {
    contents: HashSet<ContentId>,
    links: HashSet<ContentId>,
}

/// Finds everything that a point or a stat cache reaches.
fn mark(vault: &Vault) -> Result<Live> {
    let mut live = Live::default();
    for id in ids(&vault.points())? {
        if let Some(point) = SafetyPoint::read(&point_path(vault, &id))? {
            for tree in [point.work, point.git].into_iter().flatten() {
                reach(vault, tree.tree, &mut live)?;
            }
        }
    }
    for entry in fs::read_dir(vault.dir.join("cache"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = entry.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "base")
        {
            let header = Cache::load(&path)?.header;
            for root in [header.work, header.git].into_iter().flatten() {
                // A cache of a point that was dropped by hand may name trees that are gone.
                if vault.store.has(&root.tree)? {
                    reach(vault, root.tree, &mut live)?;
                }
            }
        }
    }
    Ok(live)
}

fn reach(vault: &Vault, tree: ContentId, live: &mut Live) -> Result<()> {
    let mut waiting = vec![tree];
    while let Some(id) = waiting.pop() {
        if !live.contents.insert(id) {
            continue;
        }
        for row in vault.store.tree(&id)?.rows {
            match row.kind {
                Kind::Dir => waiting.push(row.id),
                Kind::Object => {
                    live.links.insert(row.id);
                }
                Kind::File | Kind::Link | Kind::SmallObject => {
                    let fresh = live.contents.insert(row.id);
                    if fresh && row.size > super::chunk::WHOLE as u64 {
                        live.contents.extend(vault.store.chunks(&row.id)?);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Deletes packs without live contents; rewrites those that are mostly dead, and small ones where there are many.
fn sweep_packs(vault: &Vault, live: &Live) -> Result<u64> {
    let packs = vault.store.packs()?;
    let before: u64 = packs.iter().map(Pack::payload_bytes).sum();
    let small = packs
        .iter()
        .filter(|pack| pack.payload_bytes() < SMALL)
        .count();
    let mut rewritten: Vec<&Pack> = Vec::new();
    for pack in packs.iter() {
        let alive: u64 = pack
            .all()?
            .iter()
            .filter(|entry| live.contents.contains(&entry.id))
            .map(|entry| entry.stored)
            .sum();
        let mostly_dead = alive < pack.payload_bytes() / 2;
        if mostly_dead || (small > MANY && pack.payload_bytes() < SMALL) {
            rewritten.push(pack);
        }
    }
    if rewritten.is_empty() {
        return Ok(0);
    }
    let name = ulid::Ulid::generate();
    let writer = PackWriter::new(vault.store.dir().join(format!("tmp-{name}.pack")));
    for pack in &rewritten {
        for entry in pack.all()? {
            if live.contents.contains(&entry.id) {
                writer.add(entry.id, entry.raw, entry.encoding, &pack.payload(&entry)?)?;
            }
        }
    }
    let mut after = before
        - rewritten
            .iter()
            .map(|pack| pack.payload_bytes())
            .sum::<u64>();
    let mut came = None;
    if let Some(finished) = writer.finish()? {
        finished.sync()?;
        after += finished.bytes;
        let path = vault.store.dir().join(format!("{name}.pack"));
        failpoint::reach();
        fs::rename(&finished.path, &path)
            .and_then(|()| files::sync_parent(&path))
            .doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
        came = Some(path);
    }
    let gone: Vec<_> = rewritten.iter().map(|pack| pack.path()).collect();
    ledger::replace(vault, &gone, came.as_deref())?;
    for path in gone {
        remove(path)?;
    }
    Ok(before.saturating_sub(after))
}

/// Removes what dead savers left; nobody else uses the vault now.
fn clear_temporaries(vault: &Vault) -> Result<()> {
    for entry in fs::read_dir(vault.store.dir())
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("tmp-") || name.contains(".json.") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn sweep_links(vault: &Vault, live: &HashSet<ContentId>) -> Result<usize> {
    let mut dropped = 0;
    for path in all_links(vault)? {
        let id = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(ContentId::from_hex);
        if id.is_none_or(|id| !live.contains(&id)) {
            remove(&path)?;
            dropped += 1;
        }
    }
    Ok(dropped)
}

fn all_links(vault: &Vault) -> Result<Vec<PathBuf>> {
    let dir = vault.links.dir();
    let doing = || format!("cannot list {}", dir.display());
    let mut paths = Vec::new();
    for fan in fs::read_dir(dir).doing(ErrorKind::Io, doing)? {
        let fan = fan.doing(ErrorKind::Io, doing)?.path();
        for entry in fs::read_dir(&fan).doing(ErrorKind::Io, doing)? {
            paths.push(entry.doing(ErrorKind::Io, doing)?.path());
        }
    }
    Ok(paths)
}

fn remove(path: &Path) -> Result<()> {
    failpoint::reach();
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error)
            .doing(ErrorKind::Io, || {
                format!("cannot remove {}", path.display())
            }),
        _ => Ok(()),
    }
}
