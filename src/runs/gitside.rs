//! The git side of a run: its refs, the index under what was put back, and the files that decide what git runs.

use super::beneath::{self, Content};
use super::delta::{Kept, Payload};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::holds::Hold;
use crate::judge::{
    Actor, ChangeOp, Coverage, Effect, EffectKind, Facts, FileOp, FileState, Nature, PathChange,
    Place, RefUpdate, Surface,
};
use crate::repo::{Git, Workspace, hooks};
use crate::sys::files::{self, Durability};
use crate::sys::out;
use bstr::{BString, ByteSlice as _};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Copies what a run must not change unseen: the index, and what decides which programs git runs.
///
/// # Errors
/// When a file cannot be read or written.
pub fn note(workspace: &Workspace, dir: &Path) -> Result<()> {
    let (Some(git_dir), Some(common)) = (&workspace.git_dir, &workspace.common_dir) else {
        return Ok(());
    };
    files::make_private_dir(dir)?;
    if let Some(index) = files::read_if_there(&git_dir.join("index"))? {
        files::replace(&dir.join("index"), &index, 0o600, Durability::Lazy)?;
    }
    super::record::write(&dir.join("stash.json"), &stashes(workspace)?)?;
    let mut seen = Vec::new();
    for (number, path) in guarded(common)?.into_iter().enumerate() {
        let content = beneath::read(common, path.as_bstr())?;
        let (bytes, mode) = match content {
            Content::File { bytes, mode } => (bytes, format!("100{mode:03o}")),
            Content::Link { target } => (target, "120000".to_owned()),
            Content::Absent | Content::Other => continue,
        };
        let name = format!("git-{number:04}");
        files::replace(&dir.join(&name), &bytes, 0o600, Durability::Lazy)?;
        seen.push((path, name, mode));
    }
    super::record::write(&dir.join("git.json"), &seen)
}

/// Operations of git's that wait to be finished, each as a sentence.
#[must_use]
pub fn under_way(workspace: &Workspace) -> Vec<String> {
    let Some(git_dir) = &workspace.git_dir else {
        return Vec::new();
    };
    let locks = ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"]
        .into_iter()
        .map(|name| git_dir.join(name))
        .filter(|path| path.symlink_metadata().is_ok())
        .map(|path| {
            format!(
                "git's lock {path} was left behind: while it is there, git refuses to work; where no git runs any more: rm {path}",
                path = path.display()
            )
        });
    [
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
    ]
    .into_iter()
    .filter(|(file, _)| git_dir.join(file).symlink_metadata().is_ok())
    .map(|(_, name)| {
        format!("a {name} is not finished; go on: git {name} --continue   give it up: git {name} --abort")
    })
    .chain(locks)
    .collect()
}

/// The files below a git directory that decide what git runs.
fn guarded(common: &Path) -> Result<BTreeSet<BString>> {
    let mut paths = BTreeSet::new();
    for name in ["config", "config.worktree", "info/attributes"] {
        if common.join(name).symlink_metadata().is_ok() {
            paths.insert(BString::from(name));
        }
    }
    match fs::read_dir(common.join("hooks")) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry.doing(ErrorKind::Io, || "cannot list the hooks".to_owned())?;
                let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
                if is_file && !entry.file_name().as_bytes().ends_with(b".sample") {
                    let mut path = BString::from("hooks/");
                    path.extend_from_slice(entry.file_name().as_bytes());
                    paths.insert(path);
                }
            }
            Ok(paths)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(paths),
        Err(error) => Err(error).doing(ErrorKind::Io, || "cannot list the hooks".to_owned()),
    }
}

/// Changes of the files that [`note`] copied, with both sides kept in `into`; `None` where nothing of weight changed.
///
/// git itself writes a branch's upstream and a remote's address into its
/// configuration; keys of that kind are nobody's concern.
///
/// # Errors
/// When a side cannot be read or kept.
pub fn tampered(
    workspace: &Workspace,
    noted: &Path,
    into: &Path,
) -> Result<Option<(Vec<PathChange>, Payload)>> {
    let Some(common) = &workspace.common_dir else {
        return Ok(None);
    };
    let Some(seen) =
        super::record::read::<Vec<(BString, String, String)>>(&noted.join("git.json"))?
    else {
        return Ok(None);
    };
    let before: BTreeMap<BString, (String, String)> = seen
        .into_iter()
        .map(|(path, name, mode)| (path, (name, mode)))
        .collect();
    let mut paths = guarded(common)?;
    paths.extend(before.keys().cloned());
    let mut changes = Vec::new();
    let mut kept = Vec::new();
    for path in paths {
        let (old, mode_before) = match before.get(&path) {
            Some((name, mode)) => (
                fs::read(noted.join(name)).doing(ErrorKind::Damaged, || {
                    format!("the copy of .git/{path} is gone")
                })?,
                mode.clone(),
            ),
            None => (Vec::new(), String::new()),
        };
        let (new, mode_after) = match beneath::read(common, path.as_bstr())? {
            Content::File { bytes, mode } => (bytes, format!("100{mode:03o}")),
            Content::Link { target } => (target, "120000".to_owned()),
            Content::Absent | Content::Other => (Vec::new(), String::new()),
        };
        if old == new && mode_before == mode_after {
            continue;
        }
        let is_config = path == "config" || path == "config.worktree";
        if is_config && mode_before == mode_after && only_bookkeeping(&old, &new)? {
            continue;
        }
        files::make_private_dir(into)?;
        let name = format!("git-{:05}", kept.len());
        for (side, bytes, mode) in [("before", &old, &mode_before), ("after", &new, &mode_after)] {
            if !mode.is_empty() {
                let file = into.join(format!("{name}.{side}"));
                files::replace(&file, bytes, 0o600, Durability::Synced)?;
            }
        }
        let mut shown = BString::from(".git/");
        shown.extend_from_slice(&path);
        changes.push(PathChange {
            path: shown,
            op: match (mode_before.is_empty(), mode_after.is_empty()) {
                (true, _) => ChangeOp::Create,
                (_, true) => ChangeOp::Delete,
                _ => ChangeOp::Modify,
            },
            before: hooks::files::hex_sha256(&old),
            after: hooks::files::hex_sha256(&new),
            mode_before: mode_before.clone(),
            mode_after: mode_after.clone(),
            added: Vec::new(),
        });
        kept.push(Kept {
            path,
            mode_before,
            mode_after,
            name,
        });
    }
    Ok((!changes.is_empty()).then(|| {
        let payload = Payload::new(into.to_path_buf(), Some(common.clone()), kept);
        (changes, payload)
    }))
}

/// What changes of the files that decide what git runs are to the judge.
#[must_use]
pub fn facts(changes: &[PathChange], actor: Actor, point: &str) -> Facts {
    let effects = changes
        .iter()
        .map(|change| {
            Effect::new(
                EffectKind::File {
                    op: match change.op {
                        ChangeOp::Create => FileOp::Create,
                        ChangeOp::Delete => FileOp::Delete,
                        ChangeOp::Modify | ChangeOp::Rename { .. } => FileOp::Modify,
                    },
                    place: Place::GitDir,
                    nature: Nature::Config,
                    state: FileState::Modified,
                },
                change.path.clone(),
            )
            .because("it decides what git runs")
        })
        .collect();
    Facts {
        surface: Surface::Run,
        actor,
        effects,
        coverage: Coverage::Held {
            point: point.to_owned(),
        },
    }
}

/// Whether two configurations differ only in what git keeps there for itself.
fn only_bookkeeping(old: &[u8], new: &[u8]) -> Result<bool> {
    let keys = |bytes: &[u8]| -> Result<Option<BTreeSet<BString>>> {
        let output = Git::bare()
            .args(["config", "--file", "-", "--list", "-z"])
            .input(bytes.to_vec())
            .output()?;
        Ok((output.status == Some(0)).then(|| {
            output
                .stdout
                .split(|byte| *byte == 0)
                .filter(|entry| !entry.is_empty())
                .map(BString::from)
                .collect()
        }))
    };
    let (Some(old), Some(new)) = (keys(old)?, keys(new)?) else {
        return Ok(false);
    };
    Ok(old.symmetric_difference(&new).all(|entry| {
        let lower = entry.to_ascii_lowercase();
        let key = lower
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        key.starts_with(b"branch.")
            || (key.starts_with(b"remote.") && (key.ends_with(b".url") || key.ends_with(b".fetch")))
            || (key.starts_with(b"submodule.")
                && (key.ends_with(b".active") || key.ends_with(b".url")))
    }))
}

/// Makes the index under paths that were put back what it was before the run.
///
/// # Errors
/// When git cannot read or write the index.
pub fn restore_index(workspace: &Workspace, noted: &Path, paths: &[BString]) -> Result<()> {
    let Some(git_dir) = &workspace.git_dir else {
        return Ok(());
    };
    let before = files::read_if_there(&noted.join("index"))?;
    let now = files::read_if_there(&git_dir.join("index"))?;
    if before == now || paths.is_empty() {
        return Ok(());
    }
    let entries = |index: Option<PathBuf>| -> Result<BTreeMap<BString, Vec<BString>>> {
        let Some(index) = index else {
            return Ok(BTreeMap::new());
        };
        let listed = Git::at(workspace)
            .env("GIT_INDEX_FILE", &index)
            .args(["ls-files", "-s", "-z"])
            .read()?;
        let mut found: BTreeMap<BString, Vec<BString>> = BTreeMap::new();
        for entry in listed.split(|byte| *byte == 0) {
            let Some(tab) = entry.find_byte(b'\t') else {
                continue;
            };
            let (fields, path) = entry.split_at(tab);
            let path = BString::from(path.get(1..).unwrap_or_default());
            if paths.contains(&path) {
                found.entry(path).or_default().push(BString::from(fields));
            }
        }
        Ok(found)
    };
    let old = entries(before.is_some().then(|| noted.join("index")))?;
    let new = entries(now.is_some().then(|| git_dir.join("index")))?;
    let mut input = Vec::new();
    for path in paths {
        let (was, is) = (old.get(path), new.get(path));
        if was == is {
            continue;
        }
        input.extend_from_slice(b"0 0000000000000000000000000000000000000000\t");
        input.extend_from_slice(path);
        input.push(0);
        for fields in was.into_iter().flatten() {
            input.extend_from_slice(fields);
            input.push(b'\t');
            input.extend_from_slice(path);
            input.push(0);
        }
    }
    if input.is_empty() {
        return Ok(());
    }
    Git::at(workspace)
        .args(["update-index", "-z", "--index-info"])
        .input(input)
        .read()
        .map(|_| ())
}

/// A stash entry: its commit and its message.
pub type Stash = (String, String);

/// The stash entries, newest first.
///
/// # Errors
/// When git cannot list them.
pub fn stashes(workspace: &Workspace) -> Result<Vec<Stash>> {
    let Some(common) = &workspace.common_dir else {
        return Ok(Vec::new());
    };
    // Looked at first, because a process is what a run's start costs most.
    if !common.join("logs/refs/stash").exists() && !common.join("reftable").is_dir() {
        return Ok(Vec::new());
    }
    let listed = Git::at(workspace)
        .args(["log", "-g", "-z", "--format=%H %gs", "refs/stash", "--"])
        .output()?;
    // Without a stash there is no such reference.
    if listed.status != Some(0) {
        return Ok(Vec::new());
    }
    Ok(listed
        .stdout
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .filter_map(|line| {
            let (id, message) = line.split_once(' ')?;
            Some((id.to_owned(), message.to_owned()))
        })
        .collect())
}

/// Puts back the stash entries that went since [`note`], below those that came; returns what they were called.
///
/// # Errors
/// When git cannot store one.
pub fn put_stashes_back(workspace: &Workspace, noted: &Path) -> Result<Vec<String>> {
    let before: Vec<Stash> = super::record::read(&noted.join("stash.json"))?.unwrap_or_default();
    let now = stashes(workspace)?;
    let gone: Vec<String> = before
        .iter()
        .filter(|entry| !now.contains(entry))
        .map(|(_, message)| message.clone())
        .collect();
    if gone.is_empty() {
        return Ok(gone);
    }
    let came = now.iter().filter(|entry| !before.contains(entry));
    let wanted: Vec<&Stash> = came.chain(&before).collect();
    if !now.is_empty() {
        Git::at(workspace)
            .args(["update-ref", "-d", "refs/stash"])
            .read()?;
    }
    for (id, message) in wanted.into_iter().rev() {
        Git::at(workspace)
            .args(["stash", "store", "-q", "-m", message, id])
            .read()?;
    }
    Ok(gone)
}

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
    let start = before.get(super::delta::START);
    let (head, is) = (was(before), was(now));
    let message = ["-m", "holdpoint run: put back"];
    let git = Git::at(workspace);
    if !head.is_empty() && head != is {
        git.arg("symbolic-ref").args(message).args(["HEAD", &head])
    } else if let Some(start) = start
        && head.is_empty()
        && (!is.is_empty() || now.get(super::delta::START) != Some(start))
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
        let now = super::delta::refs(workspace)?;
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
        let now = super::delta::refs(workspace)?;
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

/// Whether this repository's git hooks judge commits and refs themselves.
#[must_use]
pub fn hooks_judge(workspace: &Workspace) -> bool {
    hooks::install::note(workspace).is_file()
}
