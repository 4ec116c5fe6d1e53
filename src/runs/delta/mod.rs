//! What a run changed: put back whole, kept in its hold, applied on a person's word.
//!
//! A held change lies in the run's directory with the bytes of both sides, so
//! that neither the workspace nor a pruned safety point can take it away.

mod apply;

pub use apply::{Applied, Side, apply, carry_out, is_unfinished, misfits};

use super::beneath::{self, Content};
use super::stream::{self, Body, Found};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::holds::Hold;
use crate::judge::{ChangeOp, PathChange};
use crate::repo::{self, Git, Workspace};
use crate::sys::env::Env;
use crate::sys::{failpoint, files};
use crate::vault::{self, SafetyPoint};
use bstr::{BStr, BString, ByteSlice as _};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The version of a held change's files.
const VERSION: u32 = 1;

/// The name under which the commit that `HEAD` is on stands among refs; no ref can have it.
pub const START: &str = "HEAD^{commit}";

/// All refs and what they point to; `HEAD` too, as a branch's name or a commit.
pub fn refs(workspace: &Workspace) -> Result<BTreeMap<String, String>> {
    if workspace.git_dir.is_none() {
        return Ok(BTreeMap::new());
    }
    if let Some(read) = repo::refs::list(workspace) {
        let mut refs = read.all;
        refs.insert("HEAD".to_owned(), read.head);
        refs.extend(read.start.map(|id| (START.to_owned(), id)));
        return Ok(refs);
    }
    let listed = Git::at(workspace)
        .args(["for-each-ref", "--format=%(objectname)%(HEAD)%(refname)"])
        .read()?;
    let mut refs = BTreeMap::new();
    for line in String::from_utf8_lossy(&listed).lines() {
        // `%(HEAD)` is a star for the branch that HEAD is on, else a space.
        let Some(at) = line.find(['*', ' ']) else {
            continue;
        };
        let (id, rest) = line.split_at(at);
        let name = rest.get(1..).unwrap_or_default().to_owned();
        if rest.starts_with('*') {
            refs.insert("HEAD".to_owned(), name.clone());
            refs.insert(START.to_owned(), id.to_owned());
        }
        refs.insert(name, id.to_owned());
    }
    if refs.contains_key("HEAD") {
        return Ok(refs);
    }
    // Detached, or on an unborn branch.
    let head = Git::at(workspace)
        .args(["symbolic-ref", "-q", "HEAD"])
        .output()?;
    let head = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    refs.insert("HEAD".to_owned(), head);
    let start = Git::at(workspace)
        .args(["rev-parse", "-q", "--verify", "HEAD^{commit}"])
        .output()?;
    if start.status == Some(0) {
        let id = String::from_utf8_lossy(&start.stdout).trim().to_owned();
        refs.insert(START.to_owned(), id);
    }
    Ok(refs)
}

/// One path, with both of its sides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The path.
    pub path: BString,
    /// Its mode before; empty where there was nothing.
    pub mode_before: String,
    /// Its mode after; empty where nothing is left.
    pub mode_after: String,
    /// The file's name in the directory of the held change, without its side.
    pub name: String,
}

/// What a hold of a run's change carries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Payload {
    /// [`VERSION`].
    pub version: u32,
    /// Always `workspace_delta`.
    pub kind: String,
    /// Where the bytes lie.
    pub dir: PathBuf,
    /// What the paths are relative to, where it is not the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Every path.
    pub paths: Vec<Kept>,
}

/// Copies both sides of changes into `dir`.
///
/// # Errors
/// When a side cannot be read or written: then nothing may be put back.
pub fn keep(
    env: &Env,
    workspace: &Workspace,
    point: &SafetyPoint,
    changes: &[PathChange],
    dir: &Path,
) -> Result<Payload> {
    files::make_private_dir(dir)?;
    let mut paths = Vec::new();
    for side in sides(changes) {
        let name = format!("{:05}", paths.len());
        if !side.mode_before.is_empty() {
            let to = dir.join(format!("{name}.before"));
            stream::keep_before(env, workspace, point, side.path.as_bstr(), &to)?;
        }
        let mut mode_after = side.mode_after.clone();
        if !mode_after.is_empty() {
            let to = dir.join(format!("{name}.after"));
            match stream::keep_after(&workspace.root, side.path.as_bstr(), &to)? {
                Found::Kept => {}
                Found::Special => mode_after.clear(),
                Found::Absent => {
                    return Err(Error::new(
                        ErrorKind::Io,
                        format!("cannot keep {}: it changed while it was read", side.path),
                    ));
                }
            }
        }
        failpoint::reach();
        paths.push(Kept {
            mode_after,
            name,
            ..side
        });
    }
    Ok(Payload::new(dir.to_path_buf(), None, paths))
}

/// Whether a path is a pipe, a socket or a device.
fn is_special(root: &Path, path: &BStr) -> bool {
    root.join(path.to_path_lossy())
        .symlink_metadata()
        .is_ok_and(|meta| !meta.is_dir() && !meta.is_file() && !meta.is_symlink())
}

/// Both sides of every path of some changes; a rename is two paths.
fn sides(changes: &[PathChange]) -> Vec<Kept> {
    let mut sides = Vec::new();
    for change in changes {
        let side = |path: &BString, mode_before: &str, mode_after: &str| Kept {
            path: path.clone(),
            mode_before: mode_before.to_owned(),
            mode_after: mode_after.to_owned(),
            name: String::new(),
        };
        match &change.op {
            ChangeOp::Rename { from } => {
                sides.push(side(from, &change.mode_before, ""));
                sides.push(side(&change.path, "", &change.mode_after));
            }
            _ => sides.push(side(&change.path, &change.mode_before, &change.mode_after)),
        }
    }
    sides
}

impl Payload {
    /// Makes one from what was kept in `dir`.
    #[must_use]
    pub fn new(dir: PathBuf, root: Option<PathBuf>, paths: Vec<Kept>) -> Self {
        Self {
            version: VERSION,
            kind: "workspace_delta".to_owned(),
            dir,
            root,
            paths,
        }
    }

    fn root<'a>(&'a self, workspace: &'a Workspace) -> &'a Path {
        self.root.as_deref().unwrap_or(&workspace.root)
    }

    /// What names a path's temporary file: the same in every try.
    fn tag(&self, kept: &Kept) -> String {
        let dir = self.dir.file_name().unwrap_or_default().to_string_lossy();
        format!("{dir}-{}", kept.name)
    }

    /// Reads it from a hold; `None` for a hold of something else.
    #[must_use]
    pub fn of(hold: &Hold) -> Option<Self> {
        serde_json::from_value(hold.payload.clone())
            .ok()
            .filter(|payload: &Self| {
                payload.version == VERSION && payload.kind == "workspace_delta"
            })
    }

    /// The bytes of one side of a path; empty where it was not there.
    ///
    /// # Errors
    /// When the kept bytes cannot be read.
    pub fn bytes(&self, path: &BStr, side: Side) -> Result<Vec<u8>> {
        let in_git = path.strip_prefix(b".git/").filter(|_| self.root.is_some());
        let named = in_git.map_or(path, BStr::new);
        let Some(kept) = self.paths.iter().find(|kept| kept.path == named) else {
            return Ok(Vec::new());
        };
        Ok(match self.side(kept, side)? {
            Content::File { bytes, .. } => bytes,
            Content::Link { target } => target,
            Content::Absent | Content::Other => Vec::new(),
        })
    }

    fn side(&self, kept: &Kept, side: Side) -> Result<Content> {
        let (mode, end) = match side {
            Side::Before => (&kept.mode_before, "before"),
            Side::After => (&kept.mode_after, "after"),
        };
        if mode.is_empty() {
            return Ok(Content::Absent);
        }
        let path = self.dir.join(format!("{}.{end}", kept.name));
        let bytes = fs::read(&path).doing(ErrorKind::Damaged, || {
            format!(
                "the kept bytes of {} are gone ({})",
                kept.path,
                path.display()
            )
        })?;
        Content::from_mode(bytes, mode).ok_or_else(|| {
            Error::new(
                ErrorKind::Io,
                format!("{} is neither a file nor a link", kept.path),
            )
        })
    }

    fn body(&self, kept: &Kept, side: Side) -> Result<Body> {
        let (mode, end) = match side {
            Side::Before => (&kept.mode_before, "before"),
            Side::After => (&kept.mode_after, "after"),
        };
        Body::of(self.dir.join(format!("{}.{end}", kept.name)), mode)
    }

    /// Puts every path back as it was before the run, where the run's change still stands.
    ///
    /// A path that changed again in the meantime is left and returned.
    ///
    /// # Errors
    /// When a path cannot be written.
    pub fn put_back(&self, workspace: &Workspace) -> Result<Vec<BString>> {
        let mut left = Vec::new();
        // What the run made goes first: a link of its may stand where a directory was.
        let (made, others): (Vec<&Kept>, Vec<&Kept>) = self
            .paths
            .iter()
            .partition(|kept| kept.mode_before.is_empty());
        for kept in made.into_iter().rev().chain(others) {
            let tag = self.tag(kept);
            // A link may stand in the way of the directory; then nothing of ours is in it.
            let _ = beneath::clear(self.root(workspace), kept.path.as_bstr(), &tag);
            if !kept.mode_before.is_empty() {
                // Where the run made a directory of a file, only its own files were in it.
                beneath::remove_empty_dirs(self.root(workspace), kept.path.as_bstr());
            }
            let (root, path) = (self.root(workspace), kept.path.as_bstr());
            let before = self.body(kept, Side::Before)?;
            // A path that cannot be read is one that a link leads to: putting it back says so, or finds it gone.
            if before.is_at(root, path).unwrap_or(false) {
                continue;
            }
            let stands = is_special(root, path)
                || Body::Absent.is_at(root, path).unwrap_or(true)
                || self
                    .body(kept, Side::After)?
                    .is_at(root, path)
                    .unwrap_or(true);
            if !stands {
                left.push(kept.path.clone());
                continue;
            }
            before.put(root, path, &tag)?;
            failpoint::reach();
        }
        Ok(left)
    }

    /// Removes the directories that only the run's files were in, where a point did not have them.
    ///
    /// # Errors
    /// When the point cannot be read.
    pub fn remove_new_dirs(
        &self,
        env: &Env,
        workspace: &Workspace,
        point: &SafetyPoint,
    ) -> Result<()> {
        let mut dirs = BTreeSet::new();
        for kept in self.paths.iter().filter(|kept| kept.mode_before.is_empty()) {
            let mut path = kept.path.as_bstr();
            while let Some(slash) = path.rfind_byte(b'/') {
                path = path.get(..slash).unwrap_or_default().as_bstr();
                dirs.insert(BString::from(path));
            }
        }
        let dirs: Vec<BString> = dirs.into_iter().collect();
        let mut new = vault::absent_in(env, workspace, point, &dirs)?;
        new.sort_by_key(|dir| std::cmp::Reverse(dir.len()));
        for dir in new {
            beneath::remove_empty_dir(&workspace.root, dir.as_bstr());
        }
        Ok(())
    }

    /// Removes the directories above a path that went, where the run had left nothing in them and nobody else has.
    fn remove_emptied(&self, root: &Path, path: &BStr) {
        let stays = |dir: &BStr| {
            self.paths.iter().any(|kept| {
                !kept.mode_after.is_empty()
                    && kept
                        .path
                        .strip_prefix(dir.as_bytes())
                        .is_some_and(|rest| rest.first() == Some(&b'/'))
            })
        };
        let mut dir = path;
        while let Some(slash) = dir.rfind_byte(b'/') {
            dir = dir.get(..slash).unwrap_or_default().as_bstr();
            if stays(dir) {
                return;
            }
            beneath::remove_empty_dir(root, dir);
        }
    }

    /// Drops the kept bytes.
    ///
    /// # Errors
    /// When they cannot be removed.
    pub fn drop_bytes(&self) -> Result<()> {
        match fs::remove_dir_all(&self.dir) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).doing(ErrorKind::Io, || {
                format!("cannot remove {}", self.dir.display())
            }),
        }
    }
}

/// Puts the workspace's files back to a safety point, because an attempt is tried again; returns how many.
///
/// # Errors
/// When the point cannot be read or a file cannot be written.
pub fn back_to(env: &Env, workspace: &Workspace, id: &str) -> Result<usize> {
    let point = vault::find(env, workspace, Some(id))?;
    let changes = vault::compare(env, workspace, &point)?;
    let changes: Vec<PathChange> = changes
        .into_iter()
        .filter(|change| !crate::assess::delta::is_own_log(change.path.as_bstr()))
        .collect();
    for kept in sides(&changes)
        .iter()
        .filter(|kept| kept.mode_before.is_empty())
    {
        beneath::put(&workspace.root, kept.path.as_bstr(), &Content::Absent, id)?;
    }
    for kept in sides(&changes)
        .iter()
        .filter(|kept| !kept.mode_before.is_empty())
    {
        let path = kept.path.as_bstr();
        let content = vault::content(env, workspace, &point, path)?
            .and_then(|bytes| Content::from_mode(bytes, &kept.mode_before))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Io,
                    format!("cannot put {path} back: the safety point {id} has no file there"),
                )
            })?;
        // The attempt may have made a directory of it.
        beneath::remove_empty_dirs(&workspace.root, path);
        beneath::put(&workspace.root, kept.path.as_bstr(), &content, id)?;
    }
    Ok(changes.len())
}
