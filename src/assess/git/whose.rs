//! Which repository a deed is about.

use crate::assess::around::Around;
use crate::repo::Workspace;
use crate::shell::Arg;
use crate::shell::programs::git::GitDeed;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

pub(super) enum Repository {
    Here,
    There(Workspace),
    /// One that only this script can have made.
    Fresh,
    Unknown,
}

pub(super) fn repository(around: &Around<'_>, git: &GitDeed) -> Repository {
    let named = git.repo.git_dir.is_some() || git.repo.work_tree.is_some();
    let Some(dir) = Around::dir(&git.repo.dir) else {
        return Repository::Unknown;
    };
    if git.made && is_fresh(around, &dir) {
        return Repository::Fresh;
    }
    if named {
        return by_name(around, git, &dir).map_or(Repository::Unknown, Repository::There);
    }
    if dir == around.cwd() {
        return if around.has_repository() {
            Repository::Here
        } else {
            Repository::Unknown
        };
    }
    match Workspace::find(around.env(), &dir) {
        Ok(workspace)
            if workspace.root == around.workspace().root
                && dir.starts_with(&workspace.root)
                && dir.starts_with(around.cwd()) =>
        {
            Repository::There(workspace)
        }
        Ok(workspace) if workspace.git_dir.is_some() => Repository::There(workspace),
        _ => Repository::Unknown,
    }
}

/// A temporary directory that is not there yet, and below no repository.
fn is_fresh(around: &Around<'_>, dir: &Path) -> bool {
    let temporary = ["/tmp", "/var/tmp", "/private/tmp"]
        .iter()
        .any(|place| dir != Path::new(place) && dir.starts_with(place));
    // Beside the work at hand it may be the name that is wrong.
    temporary
        && !dir.starts_with(around.cwd())
        && !dir.exists()
        && !dir.ancestors().any(|above| above.join(".git").exists())
}

/// The repository that `--git-dir`, `--work-tree` or git's variables name.
fn by_name(around: &Around<'_>, git: &GitDeed, dir: &Path) -> Option<Workspace> {
    let path = |arg: &Arg| Some(dir.join(OsStr::from_bytes(arg.literal()?)));
    let work_tree = match &git.repo.work_tree {
        Some(tree) => path(tree)?,
        None => dir.to_path_buf(),
    };
    let git_dir = match &git.repo.git_dir {
        Some(git_dir) => path(git_dir)?,
        None => Workspace::find(around.env(), dir).ok()?.git_dir?,
    };
    // Any other directory would be filled with the repository's files.
    let own = Workspace::find(around.env(), &work_tree).ok()?;
    let named = Workspace::named(around.env(), &git_dir, &work_tree).ok()?;
    (own.root == named.root && own.git_dir == named.git_dir).then_some(named)
}
