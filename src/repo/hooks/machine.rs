//! An installation for every repository of a user or of the machine.
//!
//! Git 2.54 and later: the same include as in a repository, in the global or
//! system configuration. Older git: `core.hooksPath` sent to a directory of
//! ours with a link for every hook that git knows; a repository's own hook of
//! that name runs first.

use super::config::{self, Programs};
use super::receipt::{Mode, Receipt};
use super::version::GitVersion;
use super::{KNOWN, PROGRAM};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Git;
use crate::sys::env::Env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The name of the hooks directory, by which our program knows that it has to pass on.
pub const DIRECTORY: &str = "holdpoint-machine-hooks";

/// For whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every repository that this user works in.
    Global,
    /// Every repository on the machine.
    System,
}

impl Scope {
    /// Git's own word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::System => "system",
        }
    }

    /// The configuration file that git reads for it.
    ///
    /// # Errors
    /// When it cannot be told.
    pub fn config_file(self, env: &Env) -> Result<PathBuf> {
        match self {
            Self::Global => global_file(env),
            Self::System => system_file(env),
        }
    }

    /// The directory that holds our part and the note.
    ///
    /// # Errors
    /// As [`Scope::config_file`].
    pub fn install_dir(self, env: &Env) -> Result<PathBuf> {
        match self {
            Self::Global => Ok(env.state_home()?.join("machine")),
            Self::System => {
                let file = system_file(env)?;
                Ok(file.parent().unwrap_or(Path::new("/etc")).join("holdpoint"))
            }
        }
    }

    /// The note of this installation.
    ///
    /// # Errors
    /// As [`Scope::config_file`].
    pub fn note(self, env: &Env) -> Result<PathBuf> {
        Ok(self.install_dir(env)?.join("git.json"))
    }
}

fn global_file(env: &Env) -> Result<PathBuf> {
    if let Some(path) = env.var("GIT_CONFIG_GLOBAL") {
        return Ok(env.cwd().join(path));
    }
    let home = env.home().ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            "cannot find the global configuration: HOME is not set",
        )
    })?;
    let at_home = home.join(".gitconfig");
    let xdg = env
        .var("XDG_CONFIG_HOME")
        .map_or_else(|| home.join(".config"), PathBuf::from)
        .join("git/config");
    // As git does: the second only where it is there and the first is not.
    Ok(if !at_home.exists() && xdg.exists() {
        xdg
    } else {
        at_home
    })
}

fn system_file(env: &Env) -> Result<PathBuf> {
    if let Some(path) = env.var("GIT_CONFIG_SYSTEM") {
        return Ok(env.cwd().join(path));
    }
    // Only git knows the prefix that it was built for; `--edit` shows it on every version.
    let answer = Git::bare()
        .env("GIT_EDITOR", "echo")
        .args(["config", "--system", "--edit"])
        .output()?;
    let path = answer.stdout.trim_ascii();
    if path.is_empty() {
        return Err(Error::new(
            ErrorKind::Config,
            "cannot find git's system configuration file",
        )
        .hint("name it: GIT_CONFIG_SYSTEM=/etc/gitconfig holdpoint init --system"));
    }
    Ok(PathBuf::from(OsStr::from_bytes(path)))
}

/// Installs and returns whether anything had to be done.
///
/// # Errors
/// [`ErrorKind::Refused`] when hooks already go elsewhere in that scope; otherwise when a file cannot be written.
pub fn install(env: &Env, scope: Scope, program: &Path, git: GitVersion) -> Result<bool> {
    let dir = scope.install_dir(env)?;
    let note = scope.note(env)?;
    let mode = if git >= GitVersion::CONFIG_HOOKS {
        Mode::Config
    } else {
        Mode::Files
    };
    let mut receipt =
        Receipt::read(&note)?.unwrap_or_else(|| Receipt::new(mode, program.to_path_buf()));
    super::make_shared_dir(&dir)?;
    let file = scope.config_file(env)?;
    let programs = Programs::below(&dir);
    let (changed, text) = match mode {
        Mode::Config => {
            let changed = programs.refresh(program)?;
            (changed, config::include_of(&programs.hooks_config()))
        }
        Mode::Files => {
            let hooks = dir.join(DIRECTORY);
            may_send_hooks(env, scope, &hooks)?;
            let changed = programs.refresh(program)? | link_all(&hooks, &programs.copy())?;
            let path = config::quoted(hooks.as_os_str().as_bytes());
            let text = [b"[core]\n\thooksPath = ".as_slice(), &path, b"\n"].concat();
            (changed, text)
        }
    };
    let added = config::append(&file, &text, &mut receipt, &note)?;
    Ok(changed || added)
}

/// Takes the installation out; returns what had to be left, or `None` when there was none.
///
/// # Errors
/// When a file cannot be written.
pub fn uninstall(env: &Env, scope: Scope) -> Result<Option<Vec<String>>> {
    let note = scope.note(env)?;
    let Some(receipt) = Receipt::read(&note)? else {
        return Ok(None);
    };
    // The configuration first: a command that is gone stops git, a file that nobody names does not.
    let left = config::remove(&receipt)?;
    let dir = scope.install_dir(env)?;
    for part in [dir.join(DIRECTORY), Programs::below(&dir).dir, note.clone()] {
        let removed = if part.is_dir() {
            fs::remove_dir_all(&part)
        } else {
            fs::remove_file(&part)
        };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).doing(ErrorKind::Io, || {
                    format!("cannot remove {}", part.display())
                });
            }
            _ => {}
        }
    }
    // Only when nothing else is in it.
    let _ = fs::remove_dir(&dir);
    Ok(Some(left))
}

fn may_send_hooks(env: &Env, scope: Scope, ours: &Path) -> Result<()> {
    let file = scope.config_file(env)?;
    let answer = Git::bare()
        .args(["config", "--null", "--type=path", "--file"])
        .arg(&file)
        .args(["--get", "core.hooksPath"])
        .output()?;
    let value = answer.stdout.strip_suffix(b"\0").unwrap_or(&answer.stdout);
    if answer.status != Some(0) || Path::new(OsStr::from_bytes(value)) == ours {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Refused,
        format!(
            "core.hooksPath in {} already sends git to {}",
            file.display(),
            String::from_utf8_lossy(value)
        ),
    )
    .hint(format!(
        "to let Holdpoint have it: git config --{} --unset core.hooksPath, then: holdpoint init --{}",
        scope.word(),
        scope.word()
    ))
    .hint("or guard single repositories: holdpoint init"))
}

fn link_all(hooks: &Path, program: &Path) -> Result<bool> {
    super::make_shared_dir(hooks)?;
    let mut changed = false;
    for name in KNOWN {
        let link = hooks.join(name);
        if fs::read_link(&link).is_ok_and(|to| to == program) {
            continue;
        }
        let temporary = hooks.join(format!("{name}.{}.tmp", std::process::id()));
        symlink(program, &temporary)
            .and_then(|()| fs::rename(&temporary, &link))
            .doing(ErrorKind::Io, || format!("cannot write {}", link.display()))?;
        changed = true;
    }
    Ok(changed)
}

/// The repository's own hook that a call of our machine-wide link stands before; `None` when there is none.
///
/// `git_dir` is the git directory as the hook's environment gives it.
#[must_use]
pub fn passed_on(called_as: &Path, git_dir: &Path) -> Option<PathBuf> {
    own_hook(called_as, git_dir).filter(|own| super::is_executable(own))
}

/// The repository's own hook that git would have passed over with a hint: it is not executable.
#[must_use]
pub fn ignored(called_as: &Path, git_dir: &Path) -> Option<PathBuf> {
    own_hook(called_as, git_dir).filter(|own| own.is_file() && !super::is_executable(own))
}

/// Where the repository's own hook of that name would lie.
fn own_hook(called_as: &Path, git_dir: &Path) -> Option<PathBuf> {
    let dir = called_as.parent()?;
    if dir.file_name() != Some(OsStr::new(DIRECTORY)) {
        return None;
    }
    let common = match crate::sys::files::read(git_dir.join("commondir")) {
        Ok(bytes) => git_dir.join(OsStr::from_bytes(bytes.trim_ascii())),
        Err(_) => git_dir.to_path_buf(),
    };
    let hooks = if common == Path::new(".") {
        // In a bare repository git itself runs `hooks/NAME`, which scripts see as `$0`.
        PathBuf::from("hooks")
    } else {
        common.join("hooks")
    };
    Some(hooks.join(called_as.file_name()?))
}

/// Returns true when the file is our program itself, by whatever link.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| path.file_name() == Some(OsStr::new(PROGRAM)))
}
