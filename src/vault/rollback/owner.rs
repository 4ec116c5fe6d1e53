//! Whether a process may live that made a lock file of git.

use crate::sys::process;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Returns true unless it is certain that the lock's maker is dead: no process has
/// the file open, and no git works in one of `dirs`.
///
/// git may close the file before it renames it, so an open file alone proves
/// nothing; a git whose directory cannot be read may be the one.
pub(super) fn may_live(lock: &Path, dirs: &[&Path]) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else {
        return true;
    };
    let owner = fs::symlink_metadata(lock).map(|meta| meta.uid()).ok();
    for entry in entries.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let is_its_user = entry.metadata().map(|meta| meta.uid()).ok() == owner;
        if (is_git(pid) && works_in(pid, dirs, is_its_user)) || has_open(pid, lock) {
            return true;
        }
    }
    false
}

fn is_git(pid: u32) -> bool {
    process::argv(pid).is_some_and(|argv| {
        argv.first().is_some_and(|program| {
            let name = program
                .rsplit(|byte| *byte == b'/')
                .next()
                .unwrap_or_default();
            name.starts_with(b"git")
        })
    })
}

fn works_in(pid: u32, dirs: &[&Path], is_its_user: bool) -> bool {
    match process::cwd(pid) {
        Some(cwd) => dirs.iter().any(|dir| cwd.starts_with(dir)),
        None => is_its_user,
    }
}

fn has_open(pid: u32, lock: &Path) -> bool {
    fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .any(|fd| fs::read_link(fd.path()).is_ok_and(|path| path == lock))
}
