//! Which gits are on PATH, and whether all of them read hooks from the configuration.

use crate::error::{Error, ErrorKind, Result};
use crate::sys::env::Env;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A version of git, as far as behaviour depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl GitVersion {
    /// The first version that runs hooks named in the configuration.
    pub const CONFIG_HOOKS: Self = Self {
        major: 2,
        minor: 54,
    };

    /// Reads the answer of `git version`.
    #[must_use]
    pub fn parse(answer: &str) -> Option<Self> {
        let word = answer.trim().strip_prefix("git version ")?;
        let mut numbers = word.split(|c: char| !c.is_ascii_digit());
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self { major, minor })
    }
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Every git on PATH with its version, in PATH order.
///
/// A repository is opened by all of them: an editor or a container may take
/// another than the person's shell, so what is installed must suit the oldest.
///
/// # Errors
/// When there is none that answers.
pub fn on_path(env: &Env) -> Result<Vec<(PathBuf, GitVersion)>> {
    let mut found = Vec::new();
    let path = env.var("PATH").unwrap_or_default();
    for dir in std::env::split_paths(path) {
        let git = dir.join("git");
        if !dir.is_absolute() || !super::is_executable(&git) {
            continue;
        }
        let answer = Command::new(&git)
            .arg("version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let version = answer
            .ok()
            .and_then(|answer| GitVersion::parse(&String::from_utf8_lossy(&answer.stdout)));
        if let Some(version) = version {
            found.push((git, version));
        }
    }
    if found.is_empty() {
        return Err(
            Error::new(ErrorKind::Config, "cannot find a git on PATH that answers")
                .hint("install git 2.39 or later"),
        );
    }
    Ok(found)
}

/// The oldest version among them.
///
/// # Errors
/// As [`on_path`].
pub fn oldest(env: &Env) -> Result<GitVersion> {
    let found = on_path(env)?;
    Ok(found
        .iter()
        .map(|(_, version)| *version)
        .min()
        .unwrap_or(GitVersion::CONFIG_HOOKS))
}

#[cfg(test)]
mod tests {
    use super::GitVersion;

    #[test]
    fn versions_are_read_from_every_vendor_s_answer() {
        for (answer, major, minor) in [
            ("git version 2.47.3\n", 2, 47),
            ("git version 2.39.5 (Apple Git-154)\n", 2, 39),
            ("git version 2.55.GIT\n", 2, 55),
            ("git version 2.54.0.windows.1\n", 2, 54),
            ("git version 3.0.0-rc1\n", 3, 0),
        ] {
            assert_eq!(
                GitVersion::parse(answer),
                Some(GitVersion { major, minor }),
                "{answer}"
            );
        }
        assert_eq!(GitVersion::parse("hub version 2.14"), None);
    }
}
