//! Runs the hook that was there before ours, with the same arguments and standard input.

use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::hooks::{files, machine};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The hook that has to run before ours.
#[derive(Debug)]
pub(super) struct Chained {
    file: PathBuf,
    /// The path it lay at before it was moved aside.
    was: PathBuf,
}

impl Chained {
    /// Finds it for the file that git ran: one moved aside, or the repository's own behind a machine-wide link.
    pub(super) fn find(called_as: &Path, git_dir: &Path) -> Option<Self> {
        if let Some(file) = files::prior_of(called_as) {
            return Some(Self {
                file,
                was: called_as.to_path_buf(),
            });
        }
        machine::passed_on(called_as, git_dir).map(|file| Self {
            was: file.clone(),
            file,
        })
    }

    /// Returns true when it is our own program, which then judges instead of us.
    pub(super) fn is_ours(&self) -> bool {
        crate::repo::hooks::is_ours(&self.file) || machine::is_program(&self.file)
    }

    /// Runs it and returns its exit status; `input` where git writes to its standard input.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(&self, args: &[OsString], input: Option<&[u8]>) -> Result<i32> {
        let doing = || format!("cannot run the hook {}", self.file.display());
        let mut command = self.command(args);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().doing(ErrorKind::Config, doing)?;
        if let (Some(bytes), Some(mut stdin)) = (input, child.stdin.take()) {
            // A hook may leave without reading; its status tells.
            let _ = stdin.write_all(bytes);
        }
        let status = child.wait().doing(ErrorKind::Io, doing)?;
        Ok(exit_code(status))
    }

    /// Becomes it; returns only when it cannot be started.
    pub(super) fn replace_us(&self, args: &[OsString]) -> std::io::Error {
        use std::os::unix::process::CommandExt as _;
        self.command(args).exec()
    }

    /// A shell script that looks at its own name is run under the name it had.
    fn command(&self, args: &[OsString]) -> Command {
        if self.file != self.was
            && let Some(shell) = shell_that_asks_its_name(&self.file)
        {
            let mut command = Command::new(shell);
            command
                .env("HOLDPOINT_PRIOR", &self.file)
                .args(["-c", ". \"$HOLDPOINT_PRIOR\""])
                .arg(&self.was)
                .args(args);
            return command;
        }
        let mut command = Command::new(&self.file);
        command.args(args);
        command
    }
}

/// The shell of a script that mentions `$0`; `None` for anything else.
fn shell_that_asks_its_name(file: &Path) -> Option<&'static str> {
    let bytes = std::fs::read(file).ok()?;
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    let interpreter = first.strip_prefix(b"#!")?.trim_ascii();
    let shell = interpreter
        .rsplit(|byte| matches!(byte, b'/' | b' '))
        .next()?;
    let asks = memchr::memmem::find(&bytes, b"$0").is_some()
        || memchr::memmem::find(&bytes, b"${0").is_some();
    match shell {
        b"sh" | b"dash" if asks => Some("sh"),
        b"bash" if asks => Some("bash"),
        _ => None,
    }
}

fn exit_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(1)
}
