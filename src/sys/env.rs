//! The environment of this process, read once and in one place.
//!
//! The copy of our program that hooks call knows its own places: an agent that
//! sets `HOME` or an `XDG_` variable for one `git commit` must not bring
//! preferences, confirmations and a log of its own along.

use crate::error::{Context as _, Error, ErrorKind, Result};
use bstr::ByteSlice as _;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// A copy of the environment, with the directories that follow from it.
#[derive(Clone, Debug)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    settled: Option<Settled>,
}

/// Holdpoint's directories as they were when the program was copied for hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    state: PathBuf,
    config: PathBuf,
}

/// The file beside a copy of our program that says where its directories are.
pub const PLACES: &str = "places";

/// The first line of that file.
const PLACES_VERSION: &[u8] = b"holdpoint places 1\n";

impl Settled {
    /// The directories that follow from an environment.
    ///
    /// # Errors
    /// As [`Env::state_home`].
    pub fn of(env: &Env) -> Result<Self> {
        Ok(Self {
            state: env.state_home()?,
            config: env.config_home()?,
        })
    }

    /// The text of [`PLACES`]. No path holds a NUL.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let paths = [&self.state, &self.config].map(|path| path.as_os_str().as_bytes());
        [PLACES_VERSION, paths[0], b"\0", paths[1]].concat()
    }

    /// Reads what lies beside the running program; `None` where it is no copy for hooks.
    fn beside_program() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        Self::parse(&std::fs::read(program.with_file_name(PLACES)).ok()?)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let paths = bytes.strip_prefix(PLACES_VERSION)?;
        let (state, config) = paths.split_once_str(b"\0")?;
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        Some(Self {
            state: path(state),
            config: path(config),
        })
    }
}

impl Env {
    /// Reads this process's environment and working directory.
    ///
    /// # Errors
    /// When the working directory is gone.
    pub fn read() -> Result<Self> {
        let cwd = std::env::current_dir()
            .doing(ErrorKind::Io, || {
                "cannot tell the working directory".to_owned()
            })
            .map_err(|error| {
                error.hint("it was removed or moved; go to the workspace by its name: cd DIR")
            })?;
        Ok(Self {
            vars: std::env::vars_os().collect(),
            cwd,
            settled: Settled::beside_program(),
        })
    }

    /// Makes an environment from parts.
    #[must_use]
    pub fn from_parts(vars: impl IntoIterator<Item = (OsString, OsString)>, cwd: PathBuf) -> Self {
        Self {
            vars: vars.into_iter().collect(),
            cwd,
            settled: None,
        }
    }

    /// The working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The same environment in another working directory.
    #[must_use]
    pub fn at(&self, cwd: PathBuf) -> Self {
        Self {
            vars: self.vars.clone(),
            cwd,
            settled: self.settled.clone(),
        }
    }

    /// A variable; empty counts as absent.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// A variable as text; text that is not UTF-8 counts as absent.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name).and_then(OsStr::to_str)
    }

    /// All variables, sorted by name.
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The person's home directory.
    #[must_use]
    pub fn home(&self) -> Option<PathBuf> {
        self.var("HOME").map(PathBuf::from)
    }

    /// The directory of Holdpoint's own state: `$XDG_STATE_HOME/holdpoint`, else `~/.local/state/holdpoint`.
    ///
    /// # Errors
    /// When neither variable is set.
    pub fn state_home(&self) -> Result<PathBuf> {
        if let Some(settled) = &self.settled {
            return Ok(settled.state.clone());
        }
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// The directory of the person's preferences: `$XDG_CONFIG_HOME/holdpoint`, else `~/.config/holdpoint`.
    ///
    /// # Errors
    /// When neither variable is set.
    pub fn config_home(&self) -> Result<PathBuf> {
        if let Some(settled) = &self.settled {
            return Ok(settled.config.clone());
        }
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    fn xdg(&self, name: &str, under_home: &str) -> Result<PathBuf> {
        // The XDG base directory specification: a relative value is ignored.
        if let Some(dir) = self
            .var(name)
            .map(Path::new)
            .filter(|dir| dir.is_absolute())
        {
            return Ok(dir.join("holdpoint"));
        }
        self.home()
            .filter(|home| home.is_absolute())
            .map(|home| home.join(under_home).join("holdpoint"))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Config,
                    format!("cannot place Holdpoint's files: neither {name} nor HOME is set"),
                )
                .hint(format!("set {name} to an absolute directory"))
            })
    }
}
