//! Asks git's plumbing, with nothing of the caller's environment in the way.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use std::ffi::OsStr;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Variables that would point git at another repository or change what it does
/// (`git rev-parse --local-env-vars`, and the ones that run programs).
const CLEARED: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
    "GIT_WORK_TREE",
];

/// What git answered.
#[derive(Clone, Debug)]
pub struct Output {
    /// Standard output, as bytes.
    pub stdout: Vec<u8>,
    /// Standard error, as bytes.
    pub stderr: Vec<u8>,
    /// Exit status; `None` when killed by a signal.
    pub status: Option<i32>,
}

/// One git command to ask: no hooks, no fsmonitor, no lazy fetch, no optional locks, no pager.
#[derive(Debug)]
pub struct Git {
    command: Command,
    words: Vec<String>,
    input: Option<Vec<u8>>,
}

impl Git {
    /// Starts a command in the workspace's repository.
    #[must_use]
    pub fn at(workspace: &Workspace) -> Self {
        let mut git = Self::bare();
        if let Some(git_dir) = &workspace.git_dir {
            git.command.arg("--git-dir").arg(git_dir);
            if workspace.kind != super::Kind::Bare {
                git.command.arg("--work-tree").arg(&workspace.root);
            }
        }
        git.command.current_dir(&workspace.root);
        git
    }

    /// Starts a command that needs no repository.
    #[must_use]
    pub fn bare() -> Self {
        let mut command = Command::new("git");
        for name in CLEARED {
            command.env_remove(name);
        }
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "gc.auto=0"])
            .arg("--no-pager");
        // Hooks of the configuration (git 2.54) run whatever `core.hooksPath` says.
        for event in super::hooks::Event::ALL {
            command
                .arg("-c")
                .arg(format!("hook.holdpoint-{event}.enabled=false"));
        }
        Self {
            command,
            words: Vec::new(),
            input: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.words.push(arg.as_ref().to_string_lossy().into_owned());
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I, S>(self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        args.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of git's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives standard input.
    #[must_use]
    pub fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = Some(bytes);
        self
    }

    /// Runs it and returns what it answered, whatever the status.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn output(mut self) -> Result<Output> {
        let doing = format!("cannot run git {}", self.words.join(" "));
        self.command
            .stdin(if self.input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self
            .command
            .spawn()
            .doing(ErrorKind::Repository, || doing.clone())?;
        let feeder = self.input.take().and_then(|bytes| {
            child.stdin.take().map(|mut stdin| {
                std::thread::spawn(move || {
                    // git may leave before it has read everything; its status tells.
                    let _ = stdin.write_all(&bytes);
                })
            })
        });
        let output = child
            .wait_with_output()
            .doing(ErrorKind::Repository, || doing)?;
        if let Some(feeder) = feeder {
            let _ = feeder.join();
        }
        Ok(Output {
            stdout: output.stdout,
            stderr: output.stderr,
            status: output.status.code(),
        })
    }

    /// Runs it and returns its standard output.
    ///
    /// # Errors
    /// When it cannot be started or does not exit with 0; the error carries git's own words.
    pub fn read(self) -> Result<Vec<u8>> {
        let words = self.words.join(" ");
        let output = self.output()?;
        if output.status == Some(0) {
            return Ok(output.stdout);
        }
        Err(Error::new(
            ErrorKind::Repository,
            format!(
                "git {words} failed{}: {}",
                output
                    .status
                    .map_or_else(|| " (killed)".to_owned(), |code| format!(" ({code})")),
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        ))
    }
}
