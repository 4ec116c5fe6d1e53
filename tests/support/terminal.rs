//! A person at a terminal: a program on a pseudo-terminal of its own, answered by the test.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for text or an end before it fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A program at a terminal.
pub struct Terminal {
    child: Child,
    master: File,
    seen: Arc<Seen>,
    read_to: usize,
}

#[derive(Default)]
struct Seen {
    text: Mutex<(String, bool)>,
    more: Condvar,
}

impl Terminal {
    /// Starts a program with a new pseudo-terminal as its controlling terminal, standard input and output.
    pub fn start(mut command: Command) -> Self {
        let master = rustix::pty::openpt(
            rustix::pty::OpenptFlags::RDWR
                | rustix::pty::OpenptFlags::NOCTTY
                | rustix::pty::OpenptFlags::CLOEXEC,
        )
        .unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let slave = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        for set in [Command::stdin, Command::stdout, Command::stderr] {
            set(&mut command, Stdio::from(slave.try_clone().unwrap()));
        }
        #[allow(
            unsafe_code,
            reason = "only between fork and exec can a process get a controlling terminal; both calls are async-signal-safe"
        )]
        // SAFETY: two system calls, no allocation, no lock.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin().as_fd())?;
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // The command keeps copies of the terminal; with them the end would never be seen.
        drop(command);
        drop(slave);
        let master = File::from(master);
        let seen = Arc::new(Seen::default());
        let (mut reader, writer) = (master.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                // Linux answers with EIO once the last process has let go.
                let read = reader.read(&mut bytes).unwrap_or(0);
                let mut text = writer.text.lock().unwrap();
                text.0.push_str(&String::from_utf8_lossy(&bytes[..read]));
                text.1 = read == 0;
                writer.more.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Self {
            child,
            master,
            seen,
            read_to: 0,
        }
    }

    /// Waits until the program has shown `text` since the last wait; returns everything up to its end.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> String {
        let start = Instant::now();
        let mut seen = self.seen.text.lock().unwrap();
        loop {
            if let Some(at) = seen.0[self.read_to..].find(text) {
                let end = self.read_to + at + text.len();
                let shown = seen.0[self.read_to..end].to_owned();
                self.read_to = end;
                return shown;
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            assert!(
                !seen.1 && !left.is_zero(),
                "waited for {text:?}, saw {:?}",
                seen.0
            );
            seen = self.seen.more.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Types a line.
    pub fn types(&mut self, line: &str) {
        self.master.write_all(line.as_bytes()).unwrap();
        self.master.write_all(b"\n").unwrap();
    }

    /// Waits for a code and returns it.
    #[track_caller]
    pub fn code(&mut self) -> String {
        self.sees("Type ");
        let shown = self.sees(" to agree");
        shown.trim_end_matches(" to agree").trim().to_owned()
    }

    /// Waits for a code and types it back.
    #[track_caller]
    pub fn types_code(&mut self) {
        let code = self.code();
        self.types(&code);
    }

    /// Waits for the end; returns exit status (-1 when killed) and everything that was shown.
    pub fn ends(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        let seen = self.seen.text.lock().unwrap();
        let (seen, _) = self
            .seen
            .more
            .wait_timeout_while(seen, PATIENCE, |seen| !seen.1)
            .unwrap();
        (status.code().unwrap_or(-1), seen.0.replace("\r\n", "\n"))
    }

    /// Ends a program that would go on for ever.
    pub fn stops(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end and fails the test unless the status is `code`; returns what was shown.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> String {
        let (status, shown) = self.ends();
        assert_eq!(status, code, "{shown}");
        shown
    }
}
