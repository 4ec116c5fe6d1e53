//! Keeps the number of packs small, whatever the number of points.
//!
//! Every point with new contents brings a pack, and looking a content up asks
//! each pack. So when many packs of about one size lie side by side, the save
//! that finds them makes one of them: each content is rewritten once a size
//! class, and there are a few classes only.
//!
//! Others may be reading meanwhile. The new pack is there before the old ones go,
//! whoever has one open keeps it, and whoever does not find a content looks again.

use super::layout::Vault;
use super::ledger;
use super::pack::{Pack, PackWriter};
use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::lock::Lock;
use crate::sys::{failpoint, files};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// This many packs of one class may lie side by side.
const MANY: usize = 16;

/// No merge writes more than this.
const MOST: u64 = 512 << 20;

/// Makes one pack of many small ones, where there are many.
///
/// # Errors
/// When the vault cannot be read or written; no content is lost then.
pub(super) fn merge(vault: &Vault) -> Result<()> {
    let _contents = vault.use_contents()?;
    let Some(group) = crowded(vault)? else {
        return Ok(());
    };
    // Somebody else is at it already.
    let Some(_alone) = Lock::try_take(&vault.dir.join("merge.lock"))? else {
        return Ok(());
    };
    let name = ulid::Ulid::generate();
    let dir = vault.store.dir();
    let writer = PackWriter::new(dir.join(format!("tmp-{name}.pack")));
    for path in &group {
        // One that is gone was merged by another process a moment ago.
        if let Some(pack) = Pack::open(path)? {
            for entry in pack.all()? {
                writer.add(entry.id, entry.raw, entry.encoding, &pack.payload(&entry)?)?;
            }
        }
    }
    let Some(finished) = writer.finish()? else {
        return Ok(());
    };
    finished.sync()?;
    let path = dir.join(format!("{name}.pack"));
    failpoint::reach();
    fs::rename(&finished.path, &path)
        .and_then(|()| files::sync_parent(&path))
        .doing(ErrorKind::Io, || format!("cannot write {}", path.display()))?;
    let _name = vault.publish()?;
    let gone: Vec<_> = group.iter().map(PathBuf::as_path).collect();
    ledger::replace(vault, &gone, Some(&path))?;
    for path in group {
        failpoint::reach();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).doing(ErrorKind::Io, || {
                    format!("cannot remove {}", path.display())
                });
            }
            _ => {}
        }
    }
    vault.store.refresh();
    Ok(())
}

/// The smallest packs that share a class with too many others.
fn crowded(vault: &Vault) -> Result<Option<Vec<PathBuf>>> {
    let dir = vault.store.dir();
    let mut classes: BTreeMap<u32, Vec<(u64, PathBuf)>> = BTreeMap::new();
    for (path, size) in &vault.lately()?.packs {
        classes
            .entry(class(*size))
            .or_default()
            .push((*size, dir.join(path)));
    }
    for mut packs in classes.into_values() {
        if packs.len() < MANY {
            continue;
        }
        packs.sort_unstable();
        let mut sum = 0;
        let group: Vec<PathBuf> = packs
            .into_iter()
            .take_while(|(size, _)| {
                sum += size;
                sum <= MOST
            })
            .map(|(_, path)| path)
            .collect();
        if group.len() > 1 {
            return Ok(Some(group));
        }
    }
    Ok(None)
}

/// Packs of one class differ in size by no more than a factor of 16.
fn class(size: u64) -> u32 {
    (size >> 16).checked_ilog2().map_or(0, |log| 1 + log / 4)
}
