//! `holdpoint demo`: shows the main job on a repository that it makes itself.
//!
//! Everything is real: git, the hooks, the hold, the lost work and the way
//! back. Repository and state lie in one temporary directory, which is removed
//! at the end unless `--keep` is given.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;
use crate::sys::{files, out};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arguments of `holdpoint demo`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Keep the demo's directory and print where it is.
    #[arg(long)]
    keep: bool,
}

const CONTRACT: &str = "# Contract: greet in two languages

## Scope

### In Scope
- `src/`

### Out of Scope
- `src/legal/`

## Must-Not-Change
- `LICENSE`

## Forbidden Patterns
- /password\\s*=/
";

/// Runs the command.
pub(super) fn run(_env: &Env, args: &Args) -> Result<ExitStatus> {
    let dir = std::env::temp_dir().join(format!("holdpoint-demo-{}", ulid::Ulid::generate()));
    files::make_private_dir(&dir)?;
    let stage = Stage::build(&dir)?;
    let played = play(&stage);
    if args.keep {
        out::line(format!("\nKept: {}", stage.work.display()));
        out::line(format!(
            "  go there and look: cd {} && export XDG_STATE_HOME={} && holdpoint status",
            stage.work.display(),
            stage.state.display()
        ));
    } else {
        fs::remove_dir_all(&dir).doing(ErrorKind::Io, || {
            format!("cannot remove the demo's directory {}", dir.display())
        })?;
    }
    played?;
    Ok(ExitStatus::Passed)
}

fn play(stage: &Stage) -> Result<()> {
    out::line("Holdpoint's main job, on a repository made for this demo.\n");
    out::line("1. A repository with a Contract: src/ may change, LICENSE and src/legal/ may not.");
    stage.quiet(&["git", "init", "-q", "-b", "main"])?;
    stage.write("src/hello.txt", "hello\n")?;
    stage.write("src/legal/terms.txt", "no warranty\n")?;
    stage.write("LICENSE", "MIT OR Apache-2.0\n")?;
    stage.quiet(&["git", "add", "-A"])?;
    stage.quiet(&["git", "commit", "-qm", "start"])?;
    stage.write(".ccg/contract.md", CONTRACT)?;
    stage.shown(&["holdpoint", "init"], Expect::Passes)?;

    out::line("\n2. A commit inside the Contract passes, without a word.");
    stage.write("src/hello.txt", "hello\nbonjour\n")?;
    stage.shown(
        &["git", "commit", "-qam", "greet in French"],
        Expect::Passes,
    )?;

    out::line("\n3. A commit that touches what the Contract freezes is held.");
    stage.write("LICENSE", "all rights reserved\n")?;
    stage.shown(
        &["git", "commit", "-qam", "change the licence"],
        Expect::Held,
    )?;
    stage.shown(&["holdpoint", "holds"], Expect::Passes)?;
    out::line("   Only a person at a terminal can confirm it; then the same commit passes once.");

    out::line("\n4. Work is lost, and comes back: staged, unstaged and untracked files alike.");
    stage.quiet(&["git", "checkout", "-q", "--", "LICENSE"])?;
    stage.quiet(&["git", "reset", "-q"])?;
    stage.write("src/hello.txt", "hello\nbonjour\nhallo, not committed\n")?;
    stage.write("src/notes.txt", "never added to git\n")?;
    stage.shown(
        &["holdpoint", "save", "-m", "before the accident"],
        Expect::Passes,
    )?;
    stage.shown(&["git", "reset", "--hard", "-q", "HEAD"], Expect::Passes)?;
    stage.shown(&["git", "clean", "-fdxq", "--exclude=.ccg"], Expect::Passes)?;
    stage.shown(&["holdpoint", "rollback", "--yes"], Expect::Passes)?;
    stage.holds("src/hello.txt", "hello\nbonjour\nhallo, not committed\n")?;
    stage.holds("src/notes.txt", "never added to git\n")?;
    out::line("   Both files are back, byte for byte.");

    out::line("\n5. Everything is written down, in a chain that shows if a line was changed.");
    stage.shown(&["holdpoint", "log"], Expect::Passes)?;
    stage.shown(&["holdpoint", "log", "--verify"], Expect::Passes)?;
    Ok(())
}

/// What a step's exit status has to be for the demo to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Passes,
    Held,
}

/// The demo's repository, home and state.
struct Stage {
    work: PathBuf,
    home: PathBuf,
    state: PathBuf,
    /// Where our own programs lie.
    programs: PathBuf,
}

impl Stage {
    fn build(dir: &Path) -> Result<Self> {
        let programs = std::env::current_exe()
            .doing(ErrorKind::Io, || {
                "cannot tell where holdpoint lies".to_owned()
            })?
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default();
        if !programs.join("holdpoint-hook").exists() {
            return Err(Error::new(
                ErrorKind::Config,
                format!(
                    "holdpoint-hook is not beside holdpoint in {}",
                    programs.display()
                ),
            )
            .hint("install all three programs: cargo install --path ."));
        }
        let stage = Self {
            work: dir.join("repository"),
            home: dir.join("home"),
            state: dir.join("state"),
            programs,
        };
        for dir in [&stage.work, &stage.home, &stage.state] {
            files::make_private_dir(dir)?;
        }
        Ok(stage)
    }

    fn command(&self, words: &[&str]) -> Command {
        let (program, rest) = words.split_first().unwrap_or((&"true", &[]));
        let mut command = match *program {
            "holdpoint" => Command::new(self.programs.join("holdpoint")),
            other => Command::new(other),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&path));
        command
            .args(rest)
            .current_dir(&self.work)
            .env("PATH", std::env::join_paths(paths).unwrap_or(path.clone()))
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", &self.state)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.org"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.org"),
        ] {
            command.env(name, value);
        }
        command
    }

    /// Runs a step of the scenery, without showing it.
    fn quiet(&self, words: &[&str]) -> Result<()> {
        let output = self.command(words).output().doing(ErrorKind::Guarded, || {
            format!("cannot run {}", words.join(" "))
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Guarded,
            format!(
                "{} failed: {}",
                words.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        ))
    }

    /// Runs a step of the play, with its output.
    fn shown(&self, words: &[&str], expect: Expect) -> Result<()> {
        let typed: Vec<String> = words
            .iter()
            .map(|word| {
                if word.contains(' ') {
                    format!("'{word}'")
                } else {
                    (*word).to_owned()
                }
            })
            .collect();
        out::line(format!("   $ {}", typed.join(" ")));
        let output = self.command(words).output().doing(ErrorKind::Guarded, || {
            format!("cannot run {}", words.join(" "))
        })?;
        for text in [&output.stdout, &output.stderr] {
            for line in String::from_utf8_lossy(text).lines() {
                out::line(format!("     {line}"));
            }
        }
        let held = !output.status.success();
        if held == (expect == Expect::Held) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Internal,
            format!(
                "the demo went another way: {} gave {}",
                words.join(" "),
                output.status
            ),
        ))
    }

    fn write(&self, relative: &str, text: &str) -> Result<()> {
        let path = self.work.join(relative);
        let doing = || format!("cannot write {}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).doing(ErrorKind::Io, doing)?;
        }
        fs::write(&path, text).doing(ErrorKind::Io, doing)
    }

    /// Fails unless the file has exactly these bytes.
    fn holds(&self, relative: &str, text: &str) -> Result<()> {
        let path = self.work.join(relative);
        let found = fs::read_to_string(&path).doing(ErrorKind::Internal, || {
            format!("{relative} did not come back")
        })?;
        if found == text {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Internal,
            format!("{relative} came back with other bytes"),
        ))
    }
}
