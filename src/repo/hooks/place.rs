//! Where git looks for hook files, and whether they are ours to add to.

use crate::error::{Error, ErrorKind, Result};
use crate::repo::{Git, Kind, Workspace};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The directory that git takes hook files from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksDir {
    /// The directory, absolute.
    pub path: PathBuf,
    /// Who says so.
    pub set_by: SetBy,
}

/// What decides the hooks directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetBy {
    /// Nobody: it is the repository's own.
    Default,
    /// `core.hooksPath`.
    Setting {
        /// `local`, `worktree`, `global`, `system`, `command`.
        scope: String,
        /// The value as it is written.
        value: String,
        /// A relative value names another directory in each linked worktree.
        relative: bool,
    },
}

/// Asks git's configuration where hook files are taken from.
///
/// # Errors
/// When git does not answer.
pub fn effective(workspace: &Workspace) -> Result<HooksDir> {
    let common = common_dir(workspace)?;
    // Our own call carries a `-c core.hooksPath`, listed with scope `command`.
    let answer = Git::at(workspace)
        .args(["config", "--show-scope", "--null", "--type=path"])
        .args(["--get-all", "core.hooksPath"])
        .output()?;
    let mut words = answer.stdout.split(|byte| *byte == 0);
    let mut last = None;
    while let (Some(scope), Some(value)) = (words.next(), words.next()) {
        if scope != b"command" {
            last = Some((scope, value));
        }
    }
    let Some((scope, value)) = last else {
        return Ok(HooksDir {
            path: common.join("hooks"),
            set_by: SetBy::Default,
        });
    };
    let written = Path::new(OsStr::from_bytes(value));
    let base = if workspace.kind == Kind::Bare {
        &common
    } else {
        &workspace.root
    };
    Ok(HooksDir {
        path: base.join(written),
        set_by: SetBy::Setting {
            scope: String::from_utf8_lossy(scope).into_owned(),
            value: String::from_utf8_lossy(value).into_owned(),
            relative: written.is_relative(),
        },
    })
}

/// Returns the hooks directory if hook files may be added to it.
///
/// # Errors
/// [`ErrorKind::Refused`] with what to type, where the directory is shared
/// beyond this repository, tracked by it, or switched off.
pub fn to_install(workspace: &Workspace) -> Result<HooksDir> {
    let dir = effective(workspace)?;
    let SetBy::Setting { scope, value, .. } = &dir.set_by else {
        return Ok(dir);
    };
    let common = common_dir(workspace)?;
    if value.is_empty() || fs::metadata(&dir.path).is_ok_and(|meta| !meta.is_dir()) {
        return Err(Error::new(
            ErrorKind::Refused,
            format!("hooks are switched off here: core.hooksPath is '{value}' ({scope})"),
        )
        .hint(format!(
            "switch them on: git config --{scope} --unset core.hooksPath"
        ))
        .hint("then: holdpoint init"));
    }
    let resolved = fs::canonicalize(&dir.path).unwrap_or_else(|_| dir.path.clone());
    let inside = resolved.starts_with(&workspace.root) || resolved.starts_with(&common);
    let shared = scope != "local" && scope != "worktree";
    if shared || !inside {
        return Err(Error::new(
            ErrorKind::Refused,
            format!(
                "core.hooksPath ({scope}) sends git to {}, which is not this repository's own; \
                 hooks put there would run for others too",
                dir.path.display()
            ),
        )
        .hint(format!(
            "give this repository its own: git config --local core.hooksPath '{}'",
            common.join("hooks").display()
        ))
        .hint("then: holdpoint init")
        .hint("or guard every repository of this user: holdpoint init --global")
        .hint("or use git 2.54 or later, whose hooks need no hooks directory"));
    }
    if resolved.starts_with(&workspace.root)
        && !resolved.starts_with(&common)
        && is_tracked(workspace, &resolved)?
    {
        return Err(Error::new(
            ErrorKind::Refused,
            format!(
                "core.hooksPath ({scope}) sends git to {}, which this repository tracks; \
                 a link to this machine's program does not belong in a commit",
                dir.path.display()
            ),
        )
        .hint("call Holdpoint from the hooks there, as their last line:")
        .hint("  exec holdpoint-hook git pre-commit \"$@\"    (likewise prepare-commit-msg, pre-push, pre-rebase, reference-transaction)")
        .hint("or use git 2.54 or later, whose hooks need no hooks directory"));
    }
    Ok(dir)
}

/// The git directory shared by all worktrees.
///
/// # Errors
/// When the workspace has no repository.
pub fn common_dir(workspace: &Workspace) -> Result<PathBuf> {
    workspace.common_dir.clone().ok_or_else(|| {
        Error::new(
            ErrorKind::Repository,
            format!("{} has no git repository", workspace.root.display()),
        )
        .hint("make one: git init")
    })
}

fn is_tracked(workspace: &Workspace, dir: &Path) -> Result<bool> {
    let Some(relative) = workspace.relative(dir) else {
        return Ok(false);
    };
    let listed = Git::at(workspace)
        .args(["ls-files", "-z", "--"])
        .arg(OsStr::from_bytes(relative))
        .read()?;
    Ok(!listed.is_empty())
}
