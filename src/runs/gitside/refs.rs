//! Refs that a run moved: kept in a hold with their objects, put back, applied on a person's word.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::holds::Hold;
use crate::judge::RefUpdate;
use crate::repo::{Git, Workspace};
use crate::sys::files::{self};
use crate::sys::out;
use bstr::{BString, ByteSlice as _};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a hold of moved refs carries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RefPayload {
    /// Always 1.
    pub version: u32,
    /// Always `refs`.
    pub kind: String,
    /// Where its files lie.
    #[serde(default)]
    pub dir: Option<PathBuf>,
    /// A bundle of the commits that came.
    pub bundle: Option<PathBuf>,
    /// The moves.
    pub updates: Vec<RefUpdate>,
}

/// The refs that moved between two pictures, `HEAD`, remote-tracking refs and the stash apart.
#[must_use]
pub fn moved(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<(String, String, String)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| {
            name.starts_with("refs/") && !name.starts_with("refs/remotes/") && *name != "refs/stash"
        })
        .filter_map(|name| {
            let old = before.get(name).cloned().unwrap_or_default();
            let new = after.get(name).cloned().unwrap_or_default();
            (old != new).then(|| (name.clone(), old, new))
        })
        .collect()
}

/// Keeps the commits that moved refs brought, as a bundle.
///
/// # Errors
/// When git cannot write it.
pub fn keep_refs(workspace: &Workspace, updates: Vec<RefUpdate>, dir: &Path) -> Result<RefPayload> {
    files::make_private_dir(dir)?;
    let path = dir.join("refs.bundle");
    let mut git = Git::at(workspace)
        .args(["bundle", "create", "-q"])
        .arg(&path);
    let mut any = false;
    for update in updates.iter().filter(|update| !update.new.is_empty()) {
        git = git.arg(update.name.to_os_str_lossy());
        any = true;
    }
    for update in updates.iter().filter(|update| !update.old.is_empty()) {
        git = git.arg(format!("^{}", update.old));
    }
    // A ref that only moved back brings no commit, and git makes no empty bundle.
    let made = any && git.output()?.status == Some(0);
    Ok(RefPayload {
        version: 1,
        kind: "refs".to_owned(),
        dir: Some(dir.to_path_buf()),
        bundle: made.then_some(path),
        updates,
    })
}

/// Puts `HEAD` back on the branch or commit that it was on; the index and the files stay.
///
/// # Errors
/// When git refuses.
pub fn put_head_back(
    workspace: &Workspace,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Result<()> {
    let was = |refs: &BTreeMap<String, String>| refs.get("HEAD").cloned().unwrap_or_default();
    let start = before.get(crate::runs::delta::START);
    let (head, is) = (was(before), was(now));
    let message = ["-m", "holdpoint run: put back"];
    let git = Git::at(workspace);
    if !head.is_empty() && head != is {
        git.arg("symbolic-ref").args(message).args(["HEAD", &head])
    } else if let Some(start) = start
        && head.is_empty()
        && (!is.is_empty() || now.get(crate::runs::delta::START) != Some(start))
    {
        git.args(["update-ref", "--no-deref"])
            .args(message)
            .args(["HEAD", start])
    } else {
        return Ok(());
    }
    .read()
    .map(|_| ())
}

/// Moves refs back to where they were.
///
/// # Errors
/// When git refuses: somebody moved them again.
pub fn put_refs_back(workspace: &Workspace, updates: &[RefUpdate]) -> Result<()> {
    move_refs(
        workspace,
        updates
            .iter()
            .map(|update| (&update.name, &update.new, &update.old)),
    )
}

fn move_refs<'a>(
    workspace: &Workspace,
    moves: impl Iterator<Item = (&'a BString, &'a String, &'a String)>,
) -> Result<()> {
    let mut input = Vec::new();
    for (name, from, to) in moves {
        let verb = match (from.is_empty(), to.is_empty()) {
            (true, _) => format!("create {name}\0{to}\0"),
            (_, true) => format!("delete {name}\0{from}\0"),
            _ => format!("update {name}\0{to}\0{from}\0"),
        };
        input.extend_from_slice(verb.as_bytes());
    }
    if input.is_empty() {
        return Ok(());
    }
    Git::at(workspace)
        .args(["update-ref", "-m", "holdpoint run", "--stdin", "-z"])
        .input(input)
        .read()
        .map(|_| ())
}

impl RefPayload {
    /// Reads it from a hold; `None` for a hold of something else.
    #[must_use]
    pub fn of(hold: &Hold) -> Option<Self> {
        serde_json::from_value(hold.payload.clone())
            .ok()
            .filter(|payload: &Self| payload.version == 1 && payload.kind == "refs")
    }

    /// The refs that are neither where they were before the run nor where it had them.
    ///
    /// # Errors
    /// When the refs cannot be read.
    pub fn misfits(&self, workspace: &Workspace) -> Result<Vec<BString>> {
        let now = crate::runs::delta::refs(workspace)?;
        Ok(self
            .updates
            .iter()
            .filter(|update| {
                let is = now.get(&update.name.to_string());
                let is = is.map(String::as_str).unwrap_or_default();
                is != update.old && is != update.new
            })
            .map(|update| update.name.clone())
            .collect())
    }

    /// Moves the refs to where the run had them, all or none; whoever moved one since keeps their place.
    ///
    /// # Errors
    /// When the commits cannot be brought back, or a ref has moved on.
    pub fn apply(&self, workspace: &Workspace) -> Result<()> {
        if let Some(bundle) = &self.bundle {
            Git::at(workspace)
                .args(["bundle", "unbundle"])
                .arg(bundle)
                .read()?;
        }
        let now = crate::runs::delta::refs(workspace)?;
        let to_go = self.updates.iter().filter(|update| {
            now.get(&update.name.to_string())
                .map(String::as_str)
                .unwrap_or_default()
                != update.new
        });
        move_refs(
            workspace,
            to_go.map(|update| (&update.name, &update.old, &update.new)),
        )
        .map_err(|error| {
            Error::new(
                ErrorKind::Guarded,
                "the held refs cannot be moved: they have moved on since",
            )
            .because(error)
        })?;
        self.follow(workspace, now.get("HEAD"))
    }

    /// Lets the index follow the branch that `HEAD` is on, so that the commits that came do not look undone.
    ///
    /// What the person has staged since is left; no file is touched.
    fn follow(&self, workspace: &Workspace, head: Option<&String>) -> Result<()> {
        let moved = self.updates.iter().find(|update| {
            head.is_some_and(|head| update.name == head.as_str())
                && !update.old.is_empty()
                && !update.new.is_empty()
        });
        if let Some(update) = moved {
            let followed = Git::at(workspace)
                .args(["read-tree", "-i", "-m", &update.old, &update.new])
                .output()?;
            if followed.status != Some(0) {
                out::note(format!(
                    "holdpoint: {} has moved, and the index has not followed: {}",
                    update.name,
                    String::from_utf8_lossy(&followed.stderr).trim()
                ));
            }
        }
        Ok(())
    }

    /// Drops the kept commits.
    ///
    /// # Errors
    /// When the bundle cannot be removed.
    pub fn drop_bytes(&self) -> Result<()> {
        let dir = self.dir.as_deref();
        match dir.or_else(|| self.bundle.as_ref()?.parent()) {
            Some(dir) if dir.exists() => fs::remove_dir_all(dir)
                .doing(ErrorKind::Io, || format!("cannot remove {}", dir.display())),
            _ => Ok(()),
        }
    }
}
