//! The git side of a run: its refs, the index under what was put back, and the files that decide what git runs.

mod refs;
mod stash;

pub use refs::{RefPayload, keep_refs, moved, put_head_back, put_refs_back};
pub use stash::{Stash, put_stashes_back, stashes};

use super::beneath::{self, Content};
use super::delta::{Kept, Payload};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::{
    Actor, ChangeOp, Coverage, Effect, EffectKind, Facts, FileOp, FileState, Nature, PathChange,
    Place, Surface,
};
use crate::repo::{Git, Workspace, hooks};
use crate::sys::files::{self, Durability};
use bstr::{BString, ByteSlice as _};
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

/// Whether this repository's git hooks judge commits and refs themselves.
#[must_use]
pub fn hooks_judge(workspace: &Workspace) -> bool {
    hooks::install::note(workspace).is_file()
}
