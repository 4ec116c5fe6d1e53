//! Finds the workspace and Holdpoint's own directory for it, without starting git.

use super::moved;
use super::note::Note;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use bstr::ByteSlice as _;
use sha2::{Digest as _, Sha256};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// What sort of workspace it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The main worktree of a repository.
    Main,
    /// A linked worktree (`git worktree add`).
    Linked,
    /// A submodule's worktree, its git directory inside the superproject's.
    Submodule,
    /// A bare repository; there is no worktree.
    Bare,
    /// A directory that Holdpoint knows, whose `.git` is missing or was never there.
    Plain,
}

/// A workspace: a worktree (or bare repository, or plain directory) and where its parts lie.
///
/// All paths are absolute; [`Workspace::root`] and the git directories are canonical.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The top of the worktree; for a bare repository its git directory.
    pub root: PathBuf,
    /// What sort it is.
    pub kind: Kind,
    /// This worktree's own git directory (`.git`, or `.git/worktrees/NAME`).
    pub git_dir: Option<PathBuf>,
    /// The git directory shared by all worktrees.
    pub common_dir: Option<PathBuf>,
    /// Holdpoint's own directory for this repository, outside the workspace. Not made yet.
    pub state: PathBuf,
}

impl Workspace {
    /// Finds the workspace of the working directory, as git would: `GIT_DIR` and
    /// `GIT_WORK_TREE` first, then upwards.
    ///
    /// # Errors
    /// [`ErrorKind::Repository`] when there is none.
    pub fn discover(env: &Env) -> Result<Self> {
        match env.var("GIT_DIR") {
            Some(dir) => Self::exported(env, dir),
            None => Self::find(env, env.cwd()),
        }
    }

    /// Finds the workspace that contains `start`, ignoring git's variables.
    ///
    /// # Errors
    /// [`ErrorKind::Repository`] when there is none.
    pub fn find(env: &Env, start: &Path) -> Result<Self> {
        let start = canonical(start)?;
        for dir in start.ancestors() {
            let dot_git = dir.join(".git");
            let resolved = resolve_dot_git(&dot_git);
            if resolved.is_err()
                && let Some(lost) = Self::without_git_dir(env, dir, &dot_git)?
            {
                return Ok(lost);
            }
            if let Some(git_dir) = resolved? {
                if let Some(linked) = Self::displaced(env, dir, &git_dir)? {
                    return Ok(linked);
                }
                return Self::from_git_dir(env, &git_dir, Some(dir.to_path_buf()));
            }
            if is_git_dir(dir) {
                return Self::from_git_dir(env, dir, None);
            }
        }
        if let Some(known) = Self::known(env, &start)? {
            return Ok(known);
        }
        Err(Error::new(
            ErrorKind::Repository,
            format!("{} is not in a git repository", start.display()),
        )
        .hint("go to one, or make one: git init"))
    }

    /// Finds the workspace of the working directory, whatever repository git's variables name.
    ///
    /// # Errors
    /// [`ErrorKind::Repository`] when there is none either way.
    pub fn here(env: &Env) -> Result<Self> {
        let found = Self::find(env, env.cwd());
        // A repository that lost its `.git` inside another one is still itself.
        if let Some(known) = Self::known(env, env.cwd())?
            && found
                .as_ref()
                .is_ok_and(|found| known.root != found.root && known.root.starts_with(&found.root))
        {
            return Ok(known);
        }
        found.or_else(|error| match env.var("GIT_DIR") {
            Some(_) => Self::discover(env),
            None => Err(error),
        })
    }

    /// Takes the repository that `--git-dir` and `--work-tree` name, as git does for a command.
    ///
    /// # Errors
    /// [`ErrorKind::Repository`] when there is none, or when its configuration names a worktree of its own.
    pub fn named(env: &Env, git_dir: &Path, work_tree: &Path) -> Result<Self> {
        let git_dir = match resolve_dot_git(git_dir)? {
            Some(git_dir) => git_dir,
            None => git_dir.to_path_buf(),
        };
        let elsewhere = files::read_if_there(&git_dir.join("config"))?
            .is_some_and(|text| text.to_ascii_lowercase().contains_str("worktree"));
        if elsewhere || !is_git_dir(&git_dir) {
            return Err(Error::new(
                ErrorKind::Repository,
                format!(
                    "{} is no repository that can be read here",
                    git_dir.display()
                ),
            ));
        }
        Self::from_git_dir(env, &git_dir, Some(canonical(work_tree)?))
    }

    /// Takes a directory that is in no repository as a workspace of its own.
    ///
    /// # Errors
    /// [`ErrorKind::Repository`] when it is the root or the home directory, which hold more than one workspace.
    pub fn adopt(env: &Env, dir: &Path) -> Result<Self> {
        let root = canonical(dir)?;
        let home = env.home().and_then(|home| fs::canonicalize(home).ok());
        if root.parent().is_none() || home.as_deref() == Some(&*root) {
            return Err(Error::new(
                ErrorKind::Repository,
                format!("{} is no workspace", root.display()),
            )
            .hint("go to the directory that you work in"));
        }
        Self::plain(env, &root)
    }

    /// Takes any directory as a workspace, to judge what would happen in it.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn plain(env: &Env, dir: &Path) -> Result<Self> {
        let root = canonical(dir)?;
        Ok(Self {
            state: settled(env, &root)?,
            root,
            kind: Kind::Plain,
            git_dir: None,
            common_dir: None,
        })
    }

    fn exported(env: &Env, dir: &OsStr) -> Result<Self> {
        let git_dir = canonical(&env.cwd().join(dir))?;
        let worktree = env
            .var("GIT_WORK_TREE")
            .map(|tree| canonical(&env.cwd().join(tree)))
            .transpose()?;
        // With GIT_DIR alone git takes the working directory as the top, except
        // that it sets GIT_DIR for hooks of linked worktrees and submodules,
        // whose top it has already made the working directory.
        let worktree = match worktree {
            Some(tree) => Some(tree),
            None if is_bare(&git_dir) => None,
            None if git_dir.file_name() == Some(OsStr::new(".git")) => {
                let cwd = canonical(env.cwd())?;
                if leads_to(&cwd.join(".git"), &git_dir) {
                    Some(cwd)
                } else {
                    git_dir.parent().map(Path::to_path_buf)
                }
            }
            None => Some(linked_root(&git_dir).map_or_else(|| canonical(env.cwd()), Ok)?),
        };
        Self::from_git_dir(env, &git_dir, worktree)
    }

    fn from_git_dir(env: &Env, git_dir: &Path, root: Option<PathBuf>) -> Result<Self> {
        // Below a root that has no link in its path only the last name may be one.
        let is_below =
            |root: &Path| git_dir.parent() == Some(root) && git_dir.file_name().is_some();
        let is_plain = root.as_deref().is_some_and(is_below)
            && fs::symlink_metadata(git_dir).is_ok_and(|meta| meta.is_dir());
        let git_dir = if is_plain {
            git_dir.to_path_buf()
        } else {
            canonical(git_dir)?
        };
        let is_own = root
            .as_deref()
            .is_some_and(|root| git_dir.parent() == Some(root) && git_dir.ends_with(".git"));
        // Only a linked worktree has its objects elsewhere; who puts such a note
        // into a worktree's own `.git` makes git look at another repository.
        let common_dir = match files::read_if_there(&git_dir.join("commondir"))? {
            Some(bytes) if !is_own => {
                let named = git_dir.join(OsStr::from_bytes(bytes.trim_ascii()));
                match canonical(&named) {
                    Ok(named) if is_git_dir(&named) => named,
                    named => match repository_of(&git_dir) {
                        Some(repository) => repository.to_path_buf(),
                        None => named?,
                    },
                }
            }
            _ => git_dir.clone(),
        };
        let kind = if root.is_none() {
            Kind::Bare
        } else if git_dir != common_dir
            || root
                .as_deref()
                .is_some_and(|root| is_borrowed(&git_dir, root))
        {
            Kind::Linked
        } else if git_dir.file_name() == Some(OsStr::new(".git")) {
            Kind::Main
        } else {
            Kind::Submodule
        };
        let root = root.unwrap_or_else(|| git_dir.clone());
        // All worktrees of a repository share one directory of ours, keyed by
        // the main worktree's place so that it is found again without `.git`.
        let key = if kind == Kind::Linked {
            key_of(&common_dir)
        } else {
            &root
        };
        let state = settled(env, key)?;
        if kind == Kind::Linked && git_dir != common_dir {
            let note = Note::of_linked(key, &root, &git_dir);
            moved::settle_linked(&env.state_home()?, &note, &state_dir(env, &root)?, &state)?;
        }
        Ok(Self {
            state,
            root,
            kind,
            git_dir: Some(git_dir),
            common_dir: Some(common_dir),
        })
    }

    /// The top of the main worktree, where `.ccg` lies; a bare repository's git directory.
    #[must_use]
    pub fn main_root(&self) -> &Path {
        match (self.kind, &self.common_dir) {
            (Kind::Linked, Some(common)) if common.file_name() == Some(OsStr::new(".git")) => {
                common.parent().unwrap_or(&self.root)
            }
            (Kind::Linked, Some(common)) => common,
            _ => &self.root,
        }
    }

    /// Makes Holdpoint's directory for this repository, owner-only, with the note of whose it is.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_state(&self) -> Result<()> {
        if self.kind == Kind::Linked && self.common_dir.is_none() {
            // Whose it is was noted while the repository was there.
            return Ok(());
        }
        let note = Note::of(self.main_root());
        if Note::read(&self.state)?.is_some_and(|known| known.says(&note)) {
            return Ok(());
        }
        note.write(&self.state, Durability::Synced)
    }

    /// A path relative to the worktree's top, `/` between components; `None` outside.
    #[must_use]
    pub fn relative<'a>(&self, path: &'a Path) -> Option<&'a [u8]> {
        path.strip_prefix(&self.root)
            .ok()
            .map(|path| path.as_os_str().as_bytes())
    }
}

/// Returns true where `GIT_WORK_TREE` lets a repository work in a directory that is not its own.
///
/// Its rules, holds and log are still those of its main worktree.
fn is_borrowed(git_dir: &Path, root: &Path) -> bool {
    git_dir.file_name() == Some(OsStr::new(".git"))
        && git_dir.parent() != Some(root)
        && !leads_to(&root.join(".git"), git_dir)
}

/// Returns true where a `.git` is a link to a git directory or a file that names it.
fn leads_to(dot_git: &Path, git_dir: &Path) -> bool {
    let led = resolve_dot_git(dot_git).ok().flatten();
    led.and_then(|dir| fs::canonicalize(dir).ok()).as_deref() == Some(git_dir)
}

/// The place by which a repository with linked worktrees is known.
pub(super) fn key_of(common_dir: &Path) -> &Path {
    match (common_dir.file_name(), common_dir.parent()) {
        (Some(name), Some(parent)) if name == OsStr::new(".git") => parent,
        _ => common_dir,
    }
}

/// Holdpoint's directory for the repository at `key`, with what was kept for it under another name.
pub(super) fn settled(env: &Env, key: &Path) -> Result<PathBuf> {
    let state = state_dir(env, key)?;
    moved::settle(&env.state_home()?, key, &state)?;
    Ok(state)
}

/// Holdpoint's directory for the repository at `key`: a readable name and a hash of the whole path.
pub(super) fn state_dir(env: &Env, key: &Path) -> Result<PathBuf> {
    let mut name: String = key
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(40)
        .collect();
    if name.starts_with('.') {
        name.insert(0, '_');
    }
    name.push('-');
    for byte in &Sha256::digest(key.as_os_str().as_bytes())[..8] {
        let _ = write!(name, "{byte:02x}");
    }
    Ok(env.state_home()?.join("repos").join(name))
}

pub(super) fn canonical(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).doing(ErrorKind::Repository, || {
        format!("cannot find {}", path.display())
    })
}

/// Follows a `.git` directory or file to the git directory; `None` when it is neither.
fn resolve_dot_git(dot_git: &Path) -> Result<Option<PathBuf>> {
    let Ok(meta) = fs::metadata(dot_git) else {
        return Ok(None);
    };
    if meta.is_dir() {
        return Ok(is_git_dir(dot_git).then(|| dot_git.to_path_buf()));
    }
    if !meta.is_file() {
        return Ok(None);
    }
    let bytes = files::read(dot_git).doing(ErrorKind::Repository, || {
        format!("cannot read {}", dot_git.display())
    })?;
    let Some(target) = bytes.strip_prefix(b"gitdir:") else {
        return Ok(None);
    };
    let target = Path::new(OsStr::from_bytes(target.trim_ascii()));
    let dir = dot_git.parent().unwrap_or(Path::new("/")).join(target);
    if is_git_dir(&dir) {
        Ok(Some(dir))
    } else {
        Err(Error::new(
            ErrorKind::Repository,
            format!(
                "{} points to {}, which is no git directory",
                dot_git.display(),
                dir.display()
            ),
        )
        .hint("repair the worktree: git worktree repair"))
    }
}

/// git's own test: a HEAD, and objects and refs (own or through `commondir`).
pub(crate) fn is_git_dir(dir: &Path) -> bool {
    let has_head = fs::symlink_metadata(dir.join("HEAD")).is_ok();
    has_head
        && (dir.join("commondir").is_file()
            || (dir.join("objects").is_dir() && dir.join("refs").is_dir()))
}

fn is_bare(git_dir: &Path) -> bool {
    git_dir.file_name() != Some(OsStr::new(".git"))
        && !git_dir.join("gitdir").is_file()
        && !git_dir
            .components()
            .any(|part| part == Component::Normal(OsStr::new("modules")))
}

/// The repository in whose `worktrees` a linked worktree's git directory lies.
fn repository_of(git_dir: &Path) -> Option<&Path> {
    let worktrees = git_dir.parent()?;
    let repository = worktrees.parent()?;
    (worktrees.ends_with("worktrees") && is_git_dir(repository)).then_some(repository)
}

/// The worktree that a linked worktree's git directory names in its `gitdir` file.
pub(super) fn linked_root(git_dir: &Path) -> Option<PathBuf> {
    let bytes = files::read(git_dir.join("gitdir")).ok()?;
    let dot_git = git_dir.join(OsStr::from_bytes(bytes.trim_ascii()));
    fs::canonicalize(dot_git.parent()?).ok()
}
