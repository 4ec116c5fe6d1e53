//! One command of a loop or of a side-by-side run, in a process group of its own.
//!
//! Its directory tells how far it came, whoever asks: a shell as its parent
//! claims the directory before it starts the command and writes down the
//! status after it. So the command outlives a killed runner without being
//! lost, and is never started twice: whoever makes `claimed` first decides.
//!
//! ```text
//! DIR/claimed/  the command was started, or shall not be any more
//! DIR/pid       the shell's line in /proc
//! DIR/status    its exit status
//! DIR/out, err  what it printed
//! ```

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::files;
use crate::sys::process::{self, ProcessId};
use crate::sys::{clock, failpoint};
use bstr::BString;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The parent of every command.
const PARENT: &str = r#"mkdir "$0/claimed" 2>/dev/null || exit 125
{ read -r line </proc/$$/stat && echo "$line" || echo "$$"; } >"$0/pid.new" 2>/dev/null
mv -f "$0/pid.new" "$0/pid"
"$@"
status=$?
echo "$status" >"$0/status.new" && mv -f "$0/status.new" "$0/status"
exit "$status""#;

/// How often a command is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// How long a command has to leave after SIGTERM.
pub const GRACE: Duration = Duration::from_secs(5);

/// How long a claimed directory may be without the process that claimed it.
const BIRTH: Duration = Duration::from_secs(2);

/// How much of the end of an output is read.
const TAIL: u64 = 64 * 1024;

/// How much of its beginning.
const HEAD: u64 = 16 * 1024;

/// A command to start.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program and its arguments.
    pub argv: &'a [BString],
    /// Where it runs.
    pub cwd: &'a Path,
    /// Further variables.
    pub vars: Vec<(&'static str, OsString)>,
    /// Its own directory, made when needed.
    pub dir: PathBuf,
}

/// A command that was started, by this process or an earlier one.
#[derive(Debug)]
pub struct Running {
    dir: PathBuf,
    child: Option<Child>,
    group: Option<i32>,
    identity: Option<ProcessId>,
    begun: Duration,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, or by a signal that its parent saw (128 and the signal's number).
    Left(i32),
    /// Killed with its parent, or nobody saw how.
    Lost,
}

impl End {
    /// The exit status, where there is one.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Left(code) => Some(code),
            Self::Lost => None,
        }
    }
}

/// What became of a command that an earlier process was to start.
#[derive(Debug)]
pub enum Found {
    /// It was not started, and will not be.
    NeverStarted,
    /// It runs.
    Alive(Running),
    /// It has ended.
    Ended(End),
}

/// Starts a command.
///
/// # Errors
/// When no process can be started (E003).
pub fn start(start: &Start<'_>) -> Result<Running> {
    files::make_private_dir(&start.dir)?;
    let output = |name: &str| -> Result<Stdio> {
        let path = start.dir.join(name);
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map(Stdio::from)
            .doing(ErrorKind::Io, || format!("cannot open {}", path.display()))
    };
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(PARENT)
        .arg(&start.dir)
        .args(start.argv.iter().map(|word| OsStr::from_bytes(word)))
        .current_dir(start.cwd)
        .envs(start.vars.iter().map(|(name, value)| (name, value)))
        .env_remove("HOLDPOINT_TEST_DIE_AT")
        .stdin(Stdio::null())
        .stdout(output("out")?)
        .stderr(output("err")?)
        .process_group(0);
    failpoint::reach();
    let child = command.spawn().doing(ErrorKind::Guarded, || {
        "E003: cannot start a process".to_owned()
    })?;
    failpoint::reach();
    let group = i32::try_from(child.id()).ok();
    Ok(Running {
        dir: start.dir.clone(),
        identity: process::identity(child.id()),
        child: Some(child),
        group,
        begun: clock::monotonic(),
    })
}

/// Finds out what became of a command that an earlier process was to start in `dir`.
///
/// # Errors
/// When the directory cannot be read or written.
pub fn find(dir: &Path) -> Result<Found> {
    files::make_private_dir(dir)?;
    match fs::create_dir(dir.join("claimed")) {
        Ok(()) => return Ok(Found::NeverStarted),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(error).doing(ErrorKind::Io, || {
                format!("cannot look into {}", dir.display())
            });
        }
    }
    let begun = clock::monotonic();
    loop {
        if let Some(code) = status(dir)? {
            return Ok(Found::Ended(End::Left(code)));
        }
        if let Some(id) = claimant(dir)? {
            if process::lives(id) {
                return Ok(Found::Alive(Running {
                    dir: dir.to_path_buf(),
                    child: None,
                    group: i32::try_from(id.pid).ok(),
                    identity: Some(id),
                    begun,
                }));
            }
            // It may have left between the two looks.
            let end = status(dir)?.map_or(End::Lost, End::Left);
            return Ok(Found::Ended(end));
        }
        if clock::monotonic().saturating_sub(begun) > BIRTH {
            return Ok(Found::Ended(End::Lost));
        }
        std::thread::sleep(LOOK);
    }
}

fn status(dir: &Path) -> Result<Option<i32>> {
    Ok(files::read_if_there(&dir.join("status"))?
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.trim().parse().ok()))
}

/// The process that claimed the directory, from its line in `/proc`.
fn claimant(dir: &Path) -> Result<Option<ProcessId>> {
    let Some(bytes) = files::read_if_there(&dir.join("pid"))? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    let pid = text
        .split_ascii_whitespace()
        .next()
        .and_then(|pid| pid.parse().ok());
    let started = text
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_ascii_whitespace().nth(19))
        .and_then(|started| started.parse().ok());
    Ok(pid.map(|pid| ProcessId {
        pid,
        started: started.unwrap_or_default(),
    }))
}

impl Running {
    /// How long this process has watched it.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        clock::monotonic().saturating_sub(self.begun)
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.identity.map(|id| id.pid)
    }

    /// Looks whether it has ended.
    ///
    /// # Errors
    /// When its directory cannot be read.
    pub fn look(&mut self) -> Result<Option<End>> {
        match &mut self.child {
            Some(child) => {
                let left = child.try_wait().doing(ErrorKind::Internal, || {
                    "cannot wait for the command".to_owned()
                })?;
                if left.is_none() {
                    return Ok(None);
                }
            }
            None => {
                if self.identity.is_some_and(process::lives) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(status(&self.dir)?.map_or(End::Lost, End::Left)))
    }

    /// Waits until it has ended, or until `leave` says to stop waiting.
    ///
    /// # Errors
    /// As [`Running::look`].
    pub fn wait(&mut self, mut leave: impl FnMut(&Self) -> bool) -> Result<Option<End>> {
        loop {
            if let Some(end) = self.look()? {
                return Ok(Some(end));
            }
            if leave(self) {
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends the whole group: SIGTERM, and SIGKILL after [`GRACE`].
    ///
    /// # Errors
    /// As [`Running::look`].
    pub fn end(&mut self) -> Result<End> {
        self.signal(Signal::TERM);
        let begun = clock::monotonic();
        let left = self.wait(|_| clock::monotonic().saturating_sub(begun) > GRACE)?;
        // Members of the group may stay when their leader has left.
        while self.group_lives() && clock::monotonic().saturating_sub(begun) <= GRACE {
            std::thread::sleep(LOOK);
        }
        self.signal(Signal::KILL);
        match left {
            Some(end) => Ok(end),
            None => self
                .wait(|_| false)?
                .ok_or_else(|| Error::new(ErrorKind::Internal, "a killed command did not end")),
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group.and_then(Pid::from_raw) {
            // Nobody may be left to get it.
            let _ = kill_process_group(group, signal);
        }
    }

    fn group_lives(&self) -> bool {
        self.group
            .and_then(Pid::from_raw)
            .is_some_and(|group| test_kill_process_group(group).is_ok())
    }
}

/// The beginning and the end of what a command printed, in `out` or `err`.
#[must_use]
pub fn ends(dir: &Path, name: &str) -> (Vec<u8>, Vec<u8>) {
    let read = |from_end: bool| -> std::io::Result<Vec<u8>> {
        let mut file = fs::File::open(dir.join(name))?;
        let mut bytes = Vec::new();
        if from_end {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
            file.take(TAIL).read_to_end(&mut bytes)?;
        } else {
            file.take(HEAD).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    // A command that never printed has no file; an unreadable one says nothing.
    (
        read(false).unwrap_or_default(),
        read(true).unwrap_or_default(),
    )
}

/// Passes on what a command prints, as it grows.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    at: u64,
}

impl Follow {
    /// Follows `out` or `err` of a command.
    #[must_use]
    pub fn new(dir: &Path, name: &str) -> Self {
        Self {
            path: dir.join(name),
            at: 0,
        }
    }

    /// What was printed since the last call.
    pub fn more(&mut self) -> Vec<u8> {
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = fs::File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.at))?;
            let mut bytes = Vec::new();
            file.take(1 << 20).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().unwrap_or_default();
        self.at += bytes.len() as u64;
        bytes
    }
}

/// Finds a program as the shell would; `None` where there is none that can be run.
#[must_use]
pub fn program(name: &[u8], cwd: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let can_run = |path: &Path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    let name = Path::new(OsStr::from_bytes(name));
    if name.as_os_str().as_bytes().contains(&b'/') {
        let path = cwd.join(name);
        return can_run(&path).then_some(path);
    }
    std::env::split_paths(path?)
        .map(|dir| cwd.join(dir).join(name))
        .find(|path| can_run(path))
}
