//! Which packs there were when a worktree's stat cache was written.
//!
//! A stat cache tells what the last point holds, and not that the vault still has
//! it: a pack that was deleted or cut short since must not be found out by whoever
//! wants his file back. So the packs are looked at before a cache is trusted, and
//! what merges and prunes packs tells the ledgers before the old ones go.

use super::layout::{Listing, Vault};
use crate::error::Result;
use crate::repo::Workspace;
use crate::sys::files::{self, Durability};
use bstr::ByteSlice as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const VERSION: &[u8] = b"1\n";

/// The names of packs, with their sizes.
type Packs = BTreeMap<String, u64>;

/// Notes which packs there are; the caller keeps others from giving packs names since it listed them.
pub(super) fn write(vault: &Vault, workspace: &Workspace, there: &Listing) -> Result<()> {
    let packs = there
        .packs
        .iter()
        .map(|(name, size)| (name.to_string_lossy().into_owned(), *size))
        .collect();
    put(&path(vault, workspace), &packs)
}

/// Returns true where every pack is there that was there when the stat cache was written.
pub(super) fn is_whole(vault: &Vault, workspace: &Workspace) -> Result<bool> {
    let path = path(vault, workspace);
    let is_there = |(name, size): (&String, &u64)| {
        fs::metadata(vault.store.dir().join(name)).is_ok_and(|meta| meta.len() == *size)
    };
    let mut packs = read(&path)?;
    loop {
        if packs
            .as_ref()
            .is_some_and(|packs| packs.iter().all(is_there))
        {
            return Ok(true);
        }
        // They may have been merged since: the ledger told of it before they went.
        let again = read(&path)?;
        if again == packs {
            return Ok(false);
        }
        packs = again;
    }
}

/// Enters a pack that came in the place of others, before those go.
pub(super) fn replace(vault: &Vault, gone: &[&Path], came: Option<&Path>) -> Result<()> {
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    for entry in fs::read_dir(vault.dir.join("cache"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let path = entry.path();
        let is_ledger = path
            .extension()
            .is_some_and(|extension| extension == "packs");
        let Some(mut packs) = is_ledger.then(|| read(&path)).transpose()?.flatten() else {
            continue;
        };
        for pack in gone.iter().filter_map(|pack| name(pack)) {
            packs.remove(&pack);
        }
        if let Some(pack) = came
            && let (Some(name), Ok(meta)) = (name(pack), fs::metadata(pack))
        {
            packs.insert(name, meta.len());
        }
        put(&path, &packs)?;
    }
    Ok(())
}

fn path(vault: &Vault, workspace: &Workspace) -> PathBuf {
    vault.cache(workspace).with_extension("packs")
}

/// `None` where there is none that reads well.
fn read(path: &Path) -> Result<Option<Packs>> {
    let Some(bytes) = files::read_if_there(path)? else {
        return Ok(None);
    };
    let lines = bytes
        .strip_prefix(VERSION)
        .and_then(|bytes| bytes.strip_suffix(b"end\n"))
        .and_then(|bytes| bytes.to_str().ok());
    let pair = |line: &str| {
        let (name, size) = line.split_once(' ')?;
        Some((name.to_owned(), size.parse().ok()?))
    };
    Ok(lines.and_then(|lines| lines.lines().map(pair).collect()))
}

fn put(path: &Path, packs: &Packs) -> Result<()> {
    let lines = packs.iter().map(|(name, size)| format!("{name} {size}\n"));
    let text = lines.collect::<String>();
    let bytes = [VERSION, text.as_bytes(), b"end\n"].concat();
    files::replace(path, &bytes, 0o600, Durability::Lazy)
}
