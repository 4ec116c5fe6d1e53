//! The policy that counts is the one a person last confirmed (SPEC §3).
//!
//! A sealed copy of the policy files lies under Holdpoint's own state, out of
//! the worktree. It is written by `init` (what a person finds there when
//! Holdpoint comes is taken as agreed), by `holdpoint contract confirm` and
//! `holdpoint prefs confirm`, and by a confirmed hold on a policy file. An
//! agent that edits or deletes the worktree's files changes nothing but what
//! it makes stricter.

use crate::contract::PLACES;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::{self, Workspace};
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::sys::seal::Seal;
use crate::sys::{clock, files};
use bstr::ByteSlice as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The files of the policy, relative to the top of the main worktree.
#[must_use]
pub fn policy_files() -> Vec<&'static str> {
    let mut files = PLACES.to_vec();
    files.push(super::FILE);
    files.push(super::COMMANDS);
    files.push(super::DECISIONS);
    files
}

/// The files of a policy, by their path; what is not there was not there.
pub type Texts = BTreeMap<String, String>;

/// What a person last confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmed {
    version: u32,
    /// When, RFC 3339.
    pub at: String,
    /// In which way: `init`, `terminal`, `hold ID`, `first sight`.
    pub by: String,
    /// The files as they were.
    pub files: Texts,
    seal: String,
}

const VERSION: u32 = 1;
const PURPOSE: &str = "policy";

impl Confirmed {
    /// Reads it; `None` where nothing was ever settled.
    ///
    /// # Errors
    /// When it is damaged, or was not written by Holdpoint for this repository.
    pub fn read(env: &Env, workspace: &Workspace) -> Result<Option<Self>> {
        let path = path(workspace);
        let Some(bytes) = files::read_if_there(&path)? else {
            return Ok(None);
        };
        let damaged = |why: &str| {
            Error::new(
                ErrorKind::Damaged,
                format!("the confirmed policy {} {why}", path.display()),
            )
            .hint("look at the files under .ccg, then confirm them: holdpoint contract confirm")
        };
        let confirmed: Self =
            serde_json::from_slice(&bytes).map_err(|error| damaged("is damaged").because(error))?;
        if confirmed.version != VERSION {
            return Err(damaged("was written by another version of Holdpoint"));
        }
        if confirmed.files.is_empty() {
            // Nothing was agreed to: there is nothing that a forger could have loosened.
            return Ok(Some(confirmed));
        }
        let seal = Seal::open(env)?;
        if confirmed.is_of(&seal, workspace.main_root()) {
            return Ok(Some(confirmed));
        }
        // It came along with a workspace that was moved.
        let moves = repo::moves(&workspace.state)?;
        if moves
            .iter()
            .any(|moved| moved.is_sealed(&seal) && confirmed.is_of(&seal, &moved.from))
        {
            return confirmed.seal_and_write(env, workspace).map(Some);
        }
        Err(damaged("was changed by something else than Holdpoint"))
    }

    fn is_of(&self, seal: &Seal, root: &Path) -> bool {
        let parts = self.parts(root);
        seal.fits(&self.seal, PURPOSE, &parts.each_ref().map(Vec::as_slice))
    }

    fn seal_and_write(mut self, env: &Env, workspace: &Workspace) -> Result<Self> {
        let parts = self.parts(workspace.main_root());
        self.seal = Seal::open(env)?.of(PURPOSE, &parts.each_ref().map(Vec::as_slice));
        let json = serde_json::to_vec_pretty(&self).doing(ErrorKind::Internal, || {
            "cannot write the confirmed policy".to_owned()
        })?;
        files::replace(&path(workspace), &json, 0o600, files::Durability::Synced)?;
        Ok(self)
    }

    fn parts(&self, root: &Path) -> [Vec<u8>; 4] {
        [
            root.as_os_str().as_bytes().to_vec(),
            self.at.clone().into_bytes(),
            self.by.clone().into_bytes(),
            serde_json::to_vec(&self.files).unwrap_or_default(),
        ]
    }
}

/// Makes the given files the policy that counts. The caller has seen to it that a person agrees.
///
/// # Errors
/// When it cannot be written.
pub fn adopt(env: &Env, workspace: &Workspace, texts: Texts, by: &str) -> Result<()> {
    workspace.make_state()?;
    let dir = workspace.state.join("policy");
    files::make_private_dir(&dir)?;
    let _lock = Lock::wait(&dir.join("lock"))?;
    let confirmed = Confirmed {
        version: VERSION,
        at: clock::rfc3339(clock::now()),
        by: by.to_owned(),
        files: texts,
        seal: String::new(),
    };
    confirmed.seal_and_write(env, workspace).map(|_| ())
}

/// Whether the confirmed policy, whoever wrote it, names a file at all.
pub(super) fn may_hold(workspace: &Workspace, name: &str) -> Result<bool> {
    let bytes = files::read_if_there(&path(workspace))?;
    Ok(bytes.is_some_and(|bytes| bytes.contains_str(name)))
}

/// The policy files as they are in a worktree.
///
/// # Errors
/// When one is there and cannot be read as text.
pub fn texts_in(root: &Path) -> Result<Texts> {
    let mut texts = Texts::new();
    for name in policy_files() {
        if let Some(text) = text_in(root, name)? {
            texts.insert(name.to_owned(), text);
        }
    }
    Ok(texts)
}

/// One policy file as it is in a worktree.
///
/// # Errors
/// As [`texts_in`].
pub fn text_in(root: &Path, name: &str) -> Result<Option<String>> {
    let Some(bytes) = files::read_if_there(&root.join(name))? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).doing(ErrorKind::Config, || {
        format!("cannot read {name}: it is not UTF-8 text")
    })?;
    Ok(Some(text))
}

fn path(workspace: &Workspace) -> std::path::PathBuf {
    workspace.state.join("policy").join("confirmed.json")
}
