//! Where the vault's parts lie.
//!
//! ```text
//! vault/VERSION            format of everything below
//! vault/store/ULID.pack    contents, one file a point that brought new ones
//! vault/store/ULID.json    the points; one directory, so that one sync makes both names last
//! vault/links/ab/…         hard links to git's objects
//! vault/cache/WORKTREE.*   stat caches, each with the packs that it relies on
//! vault/store/ULID.pack.damaged  what a check set aside
//! vault/rollback/WORKTREE.* journal of a rollback under way, list of what can be undone
//! vault/moves              how many moves of the workspace the records have followed
//! vault/lock               held while a point is given its name
//! vault/merge.lock         held by the one who makes one pack of many
//! vault/gc.lock            shared by everyone who uses contents, exclusive for who deletes them
//! ```

use super::links::Links;
use super::moved;
use super::settings::Settings;
use super::store::Store;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use crate::sys::lock::Lock;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const VERSION: &[u8] = b"1\n";

/// What lies in a vault's store. Listing it takes longer the more points there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// The ids of the points, in their order.
    pub(super) ids: Vec<String>,
    /// The names of all finished packs, with their sizes.
    pub(super) packs: Vec<(OsString, u64)>,
    /// The names of what is half written.
    pub(super) temporaries: Vec<OsString>,
}

/// One repository's vault.
#[derive(Debug)]
pub(super) struct Vault {
    /// Its directory.
    pub(super) dir: PathBuf,
    /// Its contents.
    pub(super) store: Store,
    /// Its links to git's objects.
    pub(super) links: Links,
    /// How points are taken and kept.
    pub(super) settings: Settings,
    /// What lay in the store when the last point of this process had its name.
    seen: Mutex<Option<Arc<Listing>>>,
}

impl Vault {
    /// Names the vault of a workspace; nothing is made.
    pub(super) fn find(env: &Env, workspace: &Workspace) -> Result<Self> {
        let settings = super::settings(env, workspace)?;
        let dir = match (&settings.store, workspace.state.file_name()) {
            (Some(store), Some(name)) => store.join(name),
            _ => workspace.state.join("vault"),
        };
        let vault = Self {
            store: Store::open(dir.join("store")),
            links: Links::new(dir.join("links")),
            settings,
            seen: Mutex::default(),
            dir,
        };
        moved::follow(&vault, workspace)?;
        match files::read_if_there(&vault.dir.join("VERSION"))? {
            Some(version) if version != VERSION => Err(Error::new(
                ErrorKind::Damaged,
                format!(
                    "the vault {} was written by another version of holdpoint",
                    vault.dir.display()
                ),
            )
            .hint("use that version, or move the vault: safety.store")),
            _ => Ok(vault),
        }
    }

    /// Names the vault and makes its directories.
    pub(super) fn open(env: &Env, workspace: &Workspace) -> Result<Self> {
        let vault = Self::find(env, workspace)?;
        files::outlive_size_limit()?;
        workspace.make_state()?;
        let version = vault.dir.join("VERSION");
        if !version.exists() {
            for part in ["store", "links", "cache", "rollback"] {
                files::make_private_dir(&vault.dir.join(part))?;
            }
            files::replace(&version, VERSION, 0o600, Durability::Synced)?;
        }
        Ok(vault)
    }

    /// The directory of the points.
    pub(super) fn points(&self) -> PathBuf {
        self.dir.join("store")
    }

    /// A short name for a worktree.
    pub(super) fn key(workspace: &Workspace) -> String {
        Self::key_of(&workspace.root)
    }

    /// A short name for the worktree at `root`.
    pub(super) fn key_of(root: &Path) -> String {
        let hash = blake3::hash(root.as_os_str().as_bytes());
        hash.to_hex().chars().take(16).collect()
    }

    /// The stat cache of a worktree.
    pub(super) fn cache(&self, workspace: &Workspace) -> PathBuf {
        self.dir.join("cache").join(Self::key(workspace) + ".base")
    }

    /// A file of a worktree's rollbacks.
    pub(super) fn rollback(&self, workspace: &Workspace, suffix: &str) -> PathBuf {
        self.dir
            .join("rollback")
            .join(Self::key(workspace) + suffix)
    }

    /// Keeps contents from being deleted while they are being used.
    pub(super) fn use_contents(&self) -> Result<Lock> {
        Lock::share(&self.dir.join("gc.lock"))
    }

    /// Waits until nobody uses contents, and keeps everybody out.
    pub(super) fn own_contents(&self) -> Result<Lock> {
        Lock::wait(&self.dir.join("gc.lock"))
    }

    /// Keeps others from giving a point its name.
    pub(super) fn publish(&self) -> Result<Lock> {
        Lock::wait(&self.dir.join("lock"))
    }

    /// Makes sure that a point may be taken while a rollback is not under way.
    pub(super) fn no_rollback(&self, workspace: &Workspace) -> Result<Lock> {
        Lock::share(&self.rollback(workspace, ".lock"))
    }

    /// How many bytes the vault's packs take; the points' records hardly count.
    pub(super) fn size(&self) -> Result<u64> {
        Ok(self.lately()?.packs.iter().map(|(_, size)| size).sum())
    }

    /// Lists the store.
    pub(super) fn list(&self) -> Result<Listing> {
        let dir = self.store.dir();
        let doing = || format!("cannot list {}", dir.display());
        let mut there = Listing::default();
        for entry in std::fs::read_dir(dir).doing(ErrorKind::Io, doing)? {
            let entry = entry.doing(ErrorKind::Io, doing)?;
            let name = entry.file_name();
            let bytes = name.as_bytes();
            if bytes.starts_with(b"tmp-") {
                there.temporaries.push(name);
            } else if bytes.ends_with(b".pack") {
                // A pack may be merged into another between the two calls.
                let size = entry.metadata().map_or(0, |meta| meta.len());
                there.packs.push((name, size));
            } else if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")) {
                there.ids.push(id.to_owned());
            }
        }
        there.ids.sort_unstable();
        Ok(there)
    }

    /// What lies in the store, as this process saw it last: good for tidying up, which looks again.
    pub(super) fn lately(&self) -> Result<Arc<Listing>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone().map_or_else(|| self.list().map(Arc::new), Ok)
    }

    /// Remembers what lies in the store.
    pub(super) fn saw(&self, there: Listing) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(there));
    }
}
