//! Git hooks: which events are guarded, where git looks for them, and how they get in and out.
//!
//! Two ways in, never both at once. Git 2.54 and later reads hooks from its
//! configuration ([`config`]): one `include` line, nobody displaced. Older git
//! knows one file an event ([`files`]): a link to our program, an existing hook
//! moved aside and run first. A [`Receipt`] beside the vault notes what was
//! there, so that taking the hooks out restores it byte for byte.

pub mod caller;
pub mod config;
pub mod deploy;
mod event;
pub mod fate;
pub mod files;
pub mod heartbeat;
pub mod inspect;
pub mod install;
pub mod machine;
pub mod place;
pub(in crate::repo) mod receipt;
pub mod transaction;
pub mod tripwire;
pub mod version;

pub use event::{Event, KNOWN};
pub use receipt::{ConfigReceipt, HookReceipt, Mode, Receipt};

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;
use crate::sys::process;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The program that git and agents call.
pub const PROGRAM: &str = "holdpoint-hook";

/// Finds [`PROGRAM`]: on PATH where that is the one beside this program, else the one beside it.
///
/// A place on PATH outlives an upgrade; the resolved place of a versioned
/// installation does not.
///
/// # Errors
/// When neither is there.
pub fn program(env: &Env) -> Result<PathBuf> {
    let beside = process::own_executable()
        .and_then(|own| own.parent().map(|dir| dir.join(PROGRAM)))
        .filter(|path| is_executable(path));
    let on_path = env.var("PATH").and_then(|path| {
        std::env::split_paths(path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(PROGRAM))
            .find(|path| is_executable(path))
    });
    match (beside, on_path) {
        (Some(beside), Some(on_path))
            if fs::canonicalize(&on_path).ok() == fs::canonicalize(&beside).ok() =>
        {
            Ok(on_path)
        }
        (Some(beside), _) => Ok(beside),
        (None, Some(on_path)) => Ok(on_path),
        (None, None) => Err(Error::new(
            ErrorKind::Config,
            format!("cannot find the program {PROGRAM}"),
        )
        .hint(format!("install {PROGRAM} beside holdpoint, or on PATH"))),
    }
}

/// Returns true for a regular file (through links) that somebody may run.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns true when the path is a link to our program or a shim of ours.
#[must_use]
pub fn is_ours(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => {
            fs::read_link(path).is_ok_and(|to| to.file_name() == Some(OsStr::new(PROGRAM)))
        }
        Ok(meta) if meta.is_file() && meta.len() < 4096 => crate::sys::files::read(path)
            .is_ok_and(|bytes| memchr::memmem::find(&bytes, files::MARK).is_some()),
        _ => false,
    }
}

/// The worktrees of submodules that are checked out.
#[must_use]
pub fn submodules(workspace: &Workspace) -> Vec<PathBuf> {
    let listed = Git::at(workspace)
        .args(["ls-files", "-z", "--stage"])
        .arg("--")
        .read()
        .unwrap_or_default();
    listed
        .split(|byte| *byte == 0)
        .filter(|line| line.starts_with(b"160000 "))
        .filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1))
        .map(|path| workspace.root.join(OsStr::from_bytes(path)))
        .filter(|path| path.join(".git").exists())
        .collect()
}

/// Returns true when a worktree's git directory has hook files of ours.
#[must_use]
pub fn is_guarded(worktree: &Path) -> bool {
    let dot_git = worktree.join(".git");
    let git_dir = match crate::sys::files::read(&dot_git) {
        Ok(bytes) => {
            let target = bytes.strip_prefix(b"gitdir:").unwrap_or(&bytes);
            worktree.join(OsStr::from_bytes(target.trim_ascii()))
        }
        Err(_) => dot_git,
    };
    is_ours(&git_dir.join("hooks/reference-transaction"))
}

/// Makes a directory that others may read: git runs hooks for whoever works in the repository.
fn make_shared_dir(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path)
        .doing(ErrorKind::Io, || {
            format!("cannot make the directory {}", path.display())
        })
}

/// Quotes a path for a POSIX shell.
#[must_use]
pub fn shell_quoted(bytes: &[u8]) -> Vec<u8> {
    crate::shell::quoted(bytes).into()
}
