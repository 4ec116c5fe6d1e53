//! Where standard input is a terminal the command has one too.

use super::{lives, pids, until, wrapper};
use crate::support::Sandbox;
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Winsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};

/// A wrapper on a pseudo-terminal of 30 rows and 90 columns, as a person has it.
pub(super) struct OnTerminal {
    pub(super) child: Child,
    master: File,
    terminal: OwnedFd,
    /// What appeared and was not asked for yet.
    seen: Vec<u8>,
}

fn start(sandbox: &Sandbox, script: &str) -> OnTerminal {
    start_with(sandbox, &[], script)
}

/// The same with options of the wrapper.
pub(super) fn start_with(sandbox: &Sandbox, options: &[&str], script: &str) -> OnTerminal {
    start_to(sandbox, options, script, None)
}

/// The same, with standard output somewhere else.
fn start_to(sandbox: &Sandbox, options: &[&str], script: &str, output: Option<File>) -> OnTerminal {
    let master =
        rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .unwrap();
    rustix::pty::unlockpt(&master).unwrap();
    let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
    let size = Winsize {
        ws_row: 30,
        ws_col: 90,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    rustix::termios::tcsetwinsize(&master, size).unwrap();
    let terminal = rustix::fs::open(
        name.as_c_str(),
        OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .unwrap();
    let end = || Stdio::from(terminal.try_clone().unwrap());
    // setsid --ctty gives the wrapper the terminal as its controlling one.
    let run = wrapper(sandbox).get_program().to_owned();
    let mut command = sandbox.command("setsid");
    command
        .env("HOLDPOINT_TEST_GRACE_MS", "300")
        .env("TERM", "xterm")
        .args(["--ctty", "--wait"])
        .arg(run)
        .args(options)
        .args(["--", "sh", "-c", script])
        .stdin(end())
        .stdout(output.map_or_else(end, Stdio::from))
        .stderr(end())
        .process_group(0);
    OnTerminal {
        child: command.spawn().unwrap(),
        master: File::from(master),
        terminal,
        seen: Vec::new(),
    }
}

impl OnTerminal {
    /// Reads what appears until `text` is among it.
    pub(super) fn read_until(&mut self, text: &str) {
        let mut buffer = [0; 1024];
        loop {
            let found = self
                .seen
                .windows(text.len())
                .position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.seen.drain(..at + text.len());
                return;
            }
            let mut ready = [rustix::event::PollFd::new(
                &self.master,
                rustix::event::PollFlags::IN,
            )];
            let patience = rustix::event::Timespec {
                tv_sec: 30,
                tv_nsec: 0,
            };
            let shown = rustix::event::poll(&mut ready, Some(&patience)).unwrap();
            let read = if shown == 0 {
                0
            } else {
                self.master.read(&mut buffer).unwrap_or(0)
            };
            assert!(
                read > 0,
                "the terminal closed or fell silent before {text:?}: {:?}",
                String::from_utf8_lossy(&self.seen)
            );
            self.seen.extend_from_slice(&buffer[..read]);
        }
    }

    fn is_raw(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.terminal)
            .unwrap()
            .local_modes;
        !modes.contains(LocalModes::ICANON)
    }
}

#[test]
fn an_interactive_command_has_a_terminal_of_the_same_size() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut on = start(
        &sandbox,
        "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && tty && read -r line && echo \"got:$line\"",
    );
    on.read_until("30 90");
    on.read_until("/dev/pts/");
    on.master.write_all(b"typed words\r").unwrap();
    on.read_until("got:typed words");
    on.read_until("is done");
    assert_eq!(on.child.wait().unwrap().code(), Some(0));
    assert!(!on.is_raw(), "the terminal is put back");
}

#[test]
fn control_c_goes_to_the_command_itself() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut on = start(
        &sandbox,
        "trap 'echo caught; exit 0' INT; echo ready; while :; do sleep 0.1; done",
    );
    on.read_until("ready");
    on.master.write_all(b"\x03").unwrap();
    on.read_until("caught");
    assert_eq!(on.child.wait().unwrap().code(), Some(0));
}

#[test]
fn control_c_twice_kills_what_does_not_listen() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let script = format!(
        "trap 'touch asked' INT; trap '' TERM; echo $$ > {}; echo ready; while :; do sleep 0.1; done",
        sandbox.path("pids").display()
    );
    let mut on = start(&sandbox, &script);
    on.read_until("ready");
    on.master.write_all(b"\x03").unwrap();
    until("it was asked", || sandbox.work().join("asked").exists());
    on.master.write_all(b"\x03").unwrap();
    on.read_until("E007");
    assert_eq!(on.child.wait().unwrap().code(), Some(130));
    assert!(!lives(pids(&sandbox, "pids")[0]));
    assert!(!on.is_raw(), "the terminal is put back");
}

#[test]
fn progress_is_shown_where_the_output_goes_elsewhere() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let output = sandbox.path("output");
    let script = format!(
        "echo told; until [ -e {} ]; do sleep 0.05; done",
        sandbox.path("go").display()
    );
    let mut on = start_to(&sandbox, &[], &script, Some(File::create(&output).unwrap()));
    on.read_until("at most");
    std::fs::write(sandbox.path("go"), "").unwrap();
    on.read_until("is done");
    assert_eq!(std::fs::read_to_string(output).unwrap(), "told\n");
}
