//! This process's call and its ancestors, as the kernel tells them.
//!
//! Git gives a hook no command line; the parent's own is exact (`/proc`). Where
//! there is no `/proc` every answer is `None`, and callers judge what they see.

use super::files::read_proc;
use crate::error::{Context as _, Error, ErrorKind, Result};
use bstr::BString;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A process at one point of its life; the start time tells a reused id apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// Clock ticks from boot to its start.
    pub started: u64,
}

/// The arguments of this process, the program's own name first.
#[must_use]
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The parent's process id.
#[must_use]
pub fn parent_pid() -> Option<u32> {
    rustix::process::getppid()
        .map(|pid| pid.as_raw_nonzero().get())
        .and_then(|pid| u32::try_from(pid).ok())
}

/// The arguments that a process was started with; `None` when it is gone or not to be read.
#[must_use]
pub fn argv(pid: u32) -> Option<Vec<BString>> {
    let bytes = read_proc(pid, "cmdline").ok()?;
    let mut argv: Vec<BString> = bytes.split(|byte| *byte == 0).map(BString::from).collect();
    if argv.last().is_some_and(|last| last.is_empty()) {
        argv.pop();
    }
    (!argv.is_empty()).then_some(argv)
}

/// The directory that a process works in.
#[must_use]
pub fn cwd(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The program that a process runs.
#[must_use]
pub fn executable(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// A process's parent and its own start time.
#[must_use]
pub fn status(pid: u32) -> Option<(u32, ProcessId)> {
    let stat = read_proc(pid, "stat").ok()?;
    // The name in parentheses may itself hold spaces and parentheses.
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(stat.get(after + 1..)?).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some((parent, ProcessId { pid, started }))
}

/// The identity of a process.
#[must_use]
pub fn identity(pid: u32) -> Option<ProcessId> {
    status(pid).map(|(_, id)| id)
}

/// Returns true while a process lives; one that is dead and not yet collected does not.
#[must_use]
pub fn lives(id: ProcessId) -> bool {
    if identity(id.pid) != Some(id) {
        return false;
    }
    let Ok(stat) = fs::read(format!("/proc/{}/stat", id.pid)) else {
        return false;
    };
    let state = stat
        .iter()
        .rposition(|byte| *byte == b')')
        .and_then(|at| stat.get(at + 2));
    !matches!(state, None | Some(b'Z' | b'X' | b'x'))
}

/// The path of this very program.
#[must_use]
pub fn own_executable() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Reads standard input to its end.
///
/// # Errors
/// As the system call.
pub fn read_stdin() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads standard input to its end, if that comes in time.
///
/// # Errors
/// [`ErrorKind::TimedOut`] when it does not, [`ErrorKind::Io`] when it cannot be read.
pub fn read_stdin_within(limit: std::time::Duration) -> Result<Vec<u8>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let doing = || "cannot read standard input".to_owned();
    let end = std::time::Instant::now() + limit;
    let stdin = std::io::stdin();
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        let left = end.saturating_duration_since(std::time::Instant::now());
        let wait = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut ready, Some(&wait)) {
            Ok(0) => {
                return Err(Error::new(
                    ErrorKind::TimedOut,
                    format!("it took longer than {} s to be told", limit.as_secs()),
                ));
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error).doing(ErrorKind::Io, doing),
        }
        match rustix::io::read(&stdin, &mut part) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(part.get(..count).unwrap_or_default()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).doing(ErrorKind::Io, doing),
        }
    }
}

/// Speaks with whoever started this process, over standard input and output.
///
/// # Errors
/// As `speak`.
pub fn with_pipes<T>(
    speak: impl FnOnce(&mut dyn std::io::Read, &mut dyn std::io::Write) -> std::io::Result<T>,
) -> std::io::Result<T> {
    speak(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())
}

/// Asks a process to end (SIGTERM).
///
/// # Errors
/// As the system call.
pub fn terminate(pid: u32) -> std::io::Result<()> {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    Ok(())
}

/// Replaces this process by another program, keeping file descriptors and environment.
///
/// Returns only when that fails.
#[must_use]
pub fn become_program(program: &std::path::Path, args: &[OsString]) -> std::io::Error {
    use std::os::unix::process::CommandExt as _;
    std::process::Command::new(program).args(args).exec()
}

/// A path as bytes.
#[must_use]
pub fn path_bytes(path: &std::path::Path) -> BString {
    BString::from(path.as_os_str().as_bytes())
}

/// One variable of the environment, for a call too short to copy all of them.
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Ends this process at once, from any thread.
pub fn exit_now(code: u8) -> ! {
    std::process::exit(i32::from(code))
}

/// Starts the program beside this one and does not wait for it; failing that, nothing happens.
pub fn start_alone(program: &str, args: &[&str], dir: &std::path::Path) {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    let beside = own_executable().map(|own| own.with_file_name(program));
    let program = match beside {
        Some(path) if path.is_file() => path,
        _ => PathBuf::from(program),
    };
    let _ = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
}
