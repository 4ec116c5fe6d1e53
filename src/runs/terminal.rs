//! The person's terminal, and the one that is made for an interactive agent.

use crate::error::{Context as _, ErrorKind, Result};
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{OptionalActions, OutputModes, Termios};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A pseudo-terminal: the side that we keep, and the side for the agent.
#[derive(Debug)]
pub struct Pty {
    /// Ours.
    pub master: OwnedFd,
    /// The agent's.
    pub agent: OwnedFd,
}

/// Makes a pseudo-terminal of the size of the person's.
///
/// # Errors
/// When the system has none left.
pub fn open_pty() -> Result<Pty> {
    let doing = || "cannot make a pseudo-terminal".to_owned();
    let master =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .doing(ErrorKind::Io, doing)?;
    rustix::pty::grantpt(&master).doing(ErrorKind::Io, doing)?;
    rustix::pty::unlockpt(&master).doing(ErrorKind::Io, doing)?;
    let name = rustix::pty::ptsname(&master, Vec::new()).doing(ErrorKind::Io, doing)?;
    let agent = rustix::fs::open(
        name.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .doing(ErrorKind::Io, doing)?;
    if !stdout_is_terminal() {
        // What goes to a pipe or a file goes as the command wrote it, without a terminal's line ends.
        if let Ok(mut settings) = rustix::termios::tcgetattr(&agent) {
            settings.output_modes.remove(OutputModes::OPOST);
            let _ = rustix::termios::tcsetattr(&agent, OptionalActions::Now, &settings);
        }
    }
    follow_size(master.as_fd());
    Ok(Pty { master, agent })
}

/// Gives a pseudo-terminal the size of the person's terminal.
pub fn follow_size(master: BorrowedFd<'_>) {
    if let Ok(size) = rustix::termios::tcgetwinsize(rustix::stdio::stdin()) {
        // A size that cannot be set only makes the agent's screen the wrong shape.
        let _ = rustix::termios::tcsetwinsize(master, size);
    }
}

/// Returns true where standard input is a terminal.
#[must_use]
pub fn stdin_is_terminal() -> bool {
    rustix::termios::isatty(rustix::stdio::stdin())
}

/// Returns true where standard input is a terminal and this process is in its foreground.
#[must_use]
pub fn in_foreground() -> bool {
    stdin_is_terminal()
        && rustix::termios::tcgetpgrp(rustix::stdio::stdin())
            .is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Returns true where standard output is a terminal.
#[must_use]
pub fn stdout_is_terminal() -> bool {
    rustix::termios::isatty(rustix::stdio::stdout())
}

/// Returns true where standard error is a terminal.
#[must_use]
pub fn stderr_is_terminal() -> bool {
    rustix::termios::isatty(rustix::stdio::stderr())
}

/// How the person's terminal was set when this was made; put back when dropped.
#[derive(Debug)]
pub struct Settings {
    saved: Option<Termios>,
}

impl Settings {
    /// Notes how the terminal on standard input is set, if there is one.
    #[must_use]
    pub fn note() -> Self {
        Self {
            saved: rustix::termios::tcgetattr(rustix::stdio::stdin()).ok(),
        }
    }

    /// Notes it, and sets the terminal to pass every key on.
    #[must_use]
    pub fn raw() -> Self {
        let settings = Self::note();
        if let Some(mut raw) = settings.saved.clone() {
            raw.make_raw();
            // Left as it was, keys arrive a line late; nothing breaks.
            let _ =
                rustix::termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &raw);
        }
        settings
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved {
            // The terminal may be gone, and then there is nothing to put back.
            let _ =
                rustix::termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, saved);
        }
    }
}

/// Makes the terminal on standard input the controlling terminal of a new session.
///
/// # Errors
/// When this process already leads a group, or the terminal has another session.
pub fn take_control() -> Result<()> {
    rustix::process::setsid().doing(ErrorKind::Internal, || "cannot start a session".to_owned())?;
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin()).doing(ErrorKind::Internal, || {
        "cannot take control of the pseudo-terminal".to_owned()
    })
}

/// A second descriptor of the same file.
///
/// # Errors
/// When the process has too many open.
pub fn duplicate(fd: &impl AsFd) -> Result<File> {
    fd.as_fd()
        .try_clone_to_owned()
        .map(File::from)
        .doing(ErrorKind::Io, || "cannot duplicate a descriptor".to_owned())
}
