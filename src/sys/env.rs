//! The environment of this process, read once and in one place.

use crate::error::{Context as _, Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A copy of the environment, with the directories that follow from it.
#[derive(Clone, Debug)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
}

impl Env {
    /// Reads this process's environment and working directory.
    ///
    /// # Errors
    /// When the working directory is gone.
    pub fn read() -> Result<Self> {
        let cwd = std::env::current_dir().doing(ErrorKind::Io, || {
            "cannot tell the working directory".to_owned()
        })?;
        Ok(Self {
            vars: std::env::vars_os().collect(),
            cwd,
        })
    }

    /// Makes an environment from parts.
    #[must_use]
    pub fn from_parts(vars: impl IntoIterator<Item = (OsString, OsString)>, cwd: PathBuf) -> Self {
        Self {
            vars: vars.into_iter().collect(),
            cwd,
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
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// The directory of the person's preferences: `$XDG_CONFIG_HOME/holdpoint`, else `~/.config/holdpoint`.
    ///
    /// # Errors
    /// When neither variable is set.
    pub fn config_home(&self) -> Result<PathBuf> {
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
