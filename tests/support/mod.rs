//! A sandbox: a throwaway repository with its own HOME, configuration and state, no network.

#![allow(dead_code, reason = "each feature uses a part of it")]

pub mod terminal;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary directory with a repository and everything that programs would otherwise take from the machine.
pub struct Sandbox {
    dir: tempfile::TempDir,
}

impl Sandbox {
    /// Makes one with an empty git repository (unborn branch `main`).
    pub fn new() -> Self {
        let sandbox = Self::plain();
        sandbox.git(["init", "-q", "-b", "main"]);
        sandbox
    }

    /// Makes one whose workspace is a plain directory.
    pub fn plain() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("holdpoint-")
            .tempdir()
            .unwrap();
        let sandbox = Self { dir };
        for part in ["work", "home", "state", "config", "tmp"] {
            fs::create_dir(sandbox.path(part)).unwrap();
        }
        sandbox.make_old_git();
        fs::write(
            sandbox.path("home/.gitconfig"),
            "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[core]\n\teditor = true\n[protocol \"file\"]\n\tallow = always\n[commit]\n\tgpgSign = false\n",
        )
        .unwrap();
        sandbox
    }

    /// Makes one with `files` committed.
    pub fn with_files(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox.git(["add", "-A"]);
        sandbox.git(["commit", "-qm", "first"]);
        sandbox
    }

    /// A second `git` at the end of PATH that says it is old: hooks then go into
    /// files whatever the machine's own git is. It is never run for anything else.
    fn make_old_git(&self) {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = self.path("old-git");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("git"), "#!/bin/sh\necho git version 2.47.0\n").unwrap();
        fs::set_permissions(dir.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A path beside the workspace.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(relative)
    }

    /// The workspace.
    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Writes a file of the workspace, making its directories.
    pub fn write(&self, relative: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.work().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Reads a file of the workspace as text.
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        fs::read_to_string(self.work().join(relative)).unwrap()
    }

    /// A command with the sandbox's environment and nothing else, in the workspace.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let bin = Path::new(env!("CARGO_BIN_EXE_holdpoint")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(bin.to_path_buf())
            .chain(std::env::split_paths(&path))
            .chain([self.path("old-git")]);
        command
            .env_clear()
            .env("PATH", std::env::join_paths(paths).unwrap())
            .env("HOME", self.path("home"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("TMPDIR", self.path("tmp"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            // A debug build's door: whoever runs the tests is not taken for the one who acts.
            .env(
                "HOLDPOINT_TEST_ANCESTRY_ROOT",
                std::process::id().to_string(),
            )
            // Another: hooks are links to the built program, not to a copy of it in each sandbox.
            .env("HOLDPOINT_TEST_LINK_PROGRAM", "1")
            .current_dir(self.work());
        command
    }

    /// Runs git and returns its standard output; fails the test when git fails.
    pub fn git<I, S>(&self, args: I) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let output = self.command("git").args(args).output().unwrap();
        assert!(
            output.status.success(),
            "git failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs `holdpoint`.
    pub fn holdpoint<I, S>(&self, args: I) -> Ran
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Ran::from(
            self.command(env!("CARGO_BIN_EXE_holdpoint"))
                .args(args)
                .output()
                .unwrap(),
        )
    }
}

/// What a program answered.
#[derive(Debug)]
pub struct Ran {
    /// Exit status; -1 when killed.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Fails the test unless the status is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }
}
