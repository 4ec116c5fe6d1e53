//! Passes an agent's output on, untouched, and keeps its ends.
//!
//! The agent writes into named pipes of the run's directory that it has open
//! for reading as well. So a killed leash does not break them: the agent waits
//! when they are full, and whoever resumes the run reads on.

use super::News;
use super::side::{self, Side};
use crate::error::{Context as _, ErrorKind, Result};
use crate::runs::tail::Ends;
use crate::runs::terminal;
use crate::sys::clock;
use crate::sys::files::{self, Durability};
use crate::sys::out::{self, Stream};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{ErrorKind as Io, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// How much a pipe holds.
const PIPE: usize = 1024 * 1024;

/// What the pumps know of the output.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Standard output.
    pub(crate) out: Ends,
    /// Standard error.
    pub(crate) err: Ends,
    /// Both, as they came.
    pub(crate) both: Ends,
    /// When the last byte came.
    pub(crate) last_output: Option<Duration>,
    /// What stands on the person's screen and has to give way to output.
    pub(crate) screen: Option<super::show::Bar>,
    /// What pours through standard output and was not read yet.
    out_side: Option<Side>,
    written: u64,
}

impl Shared {
    /// Reads what poured through, so that the ends are what they should be.
    pub(crate) fn catch_up(&mut self) {
        if let Some(side) = &mut self.out_side {
            side.read_out(&mut [&mut self.out, &mut self.both]);
        }
    }

    /// Writes the ends to the attempt's directory, if anything passed since.
    pub(crate) fn flush(&mut self, dir: &Path) -> Result<()> {
        self.catch_up();
        let passed = self.both.passed();
        if passed == self.written {
            return Ok(());
        }
        for (name, bytes) in [
            ("head", self.out.head().to_vec()),
            ("head-err", self.err.head().to_vec()),
            ("out", self.out.tail()),
            ("err", self.err.tail()),
            ("both", self.both.tail()),
        ] {
            files::replace(&dir.join(name), &bytes, 0o600, Durability::Lazy)?;
        }
        self.written = passed;
        Ok(())
    }
}

/// The agent's ends of its streams.
pub(super) struct AgentEnds {
    /// Its standard input, where it has a terminal.
    pub(super) input: Option<Stdio>,
    /// Its standard output.
    pub(super) output: Stdio,
    /// Its standard error.
    pub(super) error: Stdio,
}

/// The threads that pass output on.
pub(super) struct Pumps {
    sources: Vec<(Stream, File)>,
    agent: Vec<OwnedFd>,
    master: Option<OwnedFd>,
    shared: Arc<Mutex<Shared>>,
    news: Sender<News>,
    threads: Vec<JoinHandle<()>>,
}

impl Pumps {
    /// Opens the streams.
    pub(super) fn open(
        dir: &Path,
        pty: bool,
        shared: &Arc<Mutex<Shared>>,
        news: &Sender<News>,
    ) -> Result<Self> {
        let mut pumps = Self {
            sources: Vec::new(),
            agent: Vec::new(),
            master: None,
            shared: Arc::clone(shared),
            news: news.clone(),
            threads: Vec::new(),
        };
        if pty {
            let pty = terminal::open_pty()?;
            pumps
                .sources
                .push((Stream::Out, terminal::duplicate(&pty.master)?));
            pumps.agent.push(pty.agent);
            pumps.master = Some(pty.master);
        } else {
            for (stream, name) in [(Stream::Out, "out.pipe"), (Stream::Err, "err.pipe")] {
                let (ours, agents) = pipe(&dir.join(name))?;
                pumps.sources.push((stream, ours));
                pumps.agent.push(agents);
            }
        }
        Ok(pumps)
    }

    /// Opens the pipes of an agent whose leash was killed, and passes on.
    pub(super) fn read_on(
        dir: &Path,
        shared: &Arc<Mutex<Shared>>,
        news: &Sender<News>,
    ) -> Result<Self> {
        Self::open(dir, false, shared, news).map(Self::begin)
    }

    /// The agent's ends, for its start.
    pub(super) fn ends(&self) -> Result<AgentEnds> {
        let end = |index: usize| -> Result<Stdio> {
            let fd = self.agent.get(index).or(self.agent.first());
            match fd {
                Some(fd) => Ok(Stdio::from(terminal::duplicate(fd)?)),
                None => Ok(Stdio::null()),
            }
        };
        Ok(AgentEnds {
            input: if self.master.is_some() {
                Some(end(0)?)
            } else {
                None
            },
            output: end(0)?,
            error: end(1)?,
        })
    }

    /// Starts to pass on; from here on only the agent holds its ends.
    pub(super) fn begin(mut self) -> Self {
        self.agent.clear();
        // Where our own output is a pipe, a larger one saves most of the waiting; no other output has a size.
        let _ = rustix::pipe::fcntl_setpipe_size(rustix::stdio::stdout(), PIPE);
        for (stream, source) in std::mem::take(&mut self.sources) {
            let shared = Arc::clone(&self.shared);
            let news = self.news.clone();
            self.threads.push(std::thread::spawn(move || {
                pass(stream, source, &shared, &news);
            }));
        }
        if let Some(master) = &self.master
            && let Ok(master) = terminal::duplicate(master)
        {
            let news = self.news.clone();
            // Not waited for: it blocks in a read from the person's terminal.
            std::thread::spawn(move || type_on(master, &news));
        }
        self
    }

    /// Gives the agent's terminal the size of the person's.
    pub(super) fn follow_size(&self) {
        if let Some(master) = &self.master {
            terminal::follow_size(master.as_fd());
        }
    }

    /// Waits for what is still in the pipes, but not for a pipe that somebody holds open.
    pub(super) fn finish(self, patience: Duration) {
        let until = clock::monotonic() + patience;
        while clock::monotonic() < until && self.threads.iter().any(|thread| !thread.is_finished())
        {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Makes a named pipe: our end, and the agent's.
fn pipe(path: &Path) -> Result<(File, OwnedFd)> {
    let doing = || format!("cannot make the pipe {}", path.display());
    match rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error).doing(ErrorKind::Io, doing),
    }
    let ours = rustix::fs::open(
        path,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .doing(ErrorKind::Io, doing)?;
    let agents = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .doing(ErrorKind::Io, doing)?;
    rustix::fs::fcntl_setfl(&ours, OFlags::empty()).doing(ErrorKind::Io, doing)?;
    // A smaller pipe only makes more, shorter reads.
    let _ = rustix::pipe::fcntl_setpipe_size(&ours, PIPE);
    Ok((File::from(ours), agents))
}

/// A stream on its way.
struct Passing<'a> {
    stream: Stream,
    source: File,
    shared: &'a Mutex<Shared>,
    /// Whoever reads our output is still there.
    heard: bool,
    /// The output can take what is moved inside the kernel.
    movable: bool,
}

/// What a step of passing on came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// So many bytes passed.
    Passed(usize),
    /// The stream has ended.
    Ended,
}

fn pass(stream: Stream, source: File, shared: &Mutex<Shared>, news: &Sender<News>) {
    let mut buffer = vec![0_u8; CHUNK];
    let mut passing = Passing {
        stream,
        source,
        shared,
        heard: true,
        // What comes over standard error is little and is read at once.
        movable: stream == Stream::Out,
    };
    let mut pours = false;
    loop {
        let heard = passing.heard;
        let moved = if pours && passing.movable && passing.heard {
            passing.pour()
        } else {
            None
        };
        let step = moved.unwrap_or_else(|| passing.copy(&mut buffer));
        if heard && !passing.heard {
            let _ = news.send(News::ReaderGone);
        }
        match step {
            Step::Ended => break,
            Step::Passed(bytes) => pours = bytes >= POURS,
        }
    }
    let _ = news.send(News::StreamEnded);
}

/// So much at once means that there is more to come.
const POURS: usize = 64 * 1024;

impl Passing<'_> {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a stretch and writes it on.
    fn copy(&mut self, buffer: &mut [u8]) -> Step {
        let read = loop {
            match self.source.read(buffer) {
                Ok(0) => return Step::Ended,
                Ok(read) => break read,
                Err(error) if error.kind() == Io::Interrupted => {}
                // EIO is how a pseudo-terminal says that its last user has left.
                Err(_) => return Step::Ended,
            }
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        let screen = {
            let mut shared = self.lock();
            shared.catch_up();
            match self.stream {
                Stream::Out => shared.out.pass(bytes),
                Stream::Err => shared.err.pass(bytes),
            }
            shared.both.pass(bytes);
            shared.last_output = Some(clock::monotonic());
            shared.screen.clone()
        };
        if !self.heard {
            return Step::Passed(read);
        }
        let passed = match screen {
            Some(screen) => screen.aside(|| out::pass_on(self.stream, bytes)),
            None => out::pass_on(self.stream, bytes),
        };
        // What the agent still prints is kept in the ends, as for a reader that never was.
        self.heard = passed.is_ok();
        Step::Passed(read)
    }

    /// Moves a stretch on inside the kernel; `None` where it has to be copied.
    fn pour(&mut self) -> Option<Step> {
        let sharing = {
            let mut shared = self.lock();
            let shared = &mut *shared;
            if shared.screen.is_some() || !shared.out.has_begun() || !shared.both.has_begun() {
                return None;
            }
            if shared.out_side.is_none() {
                shared.out_side = Side::open(PIPE);
            }
            let side = shared.out_side.as_mut()?;
            let sharing = side.share(&self.source, &mut [&mut shared.out, &mut shared.both]);
            if matches!(sharing, side::Shared::Bytes(_)) {
                shared.last_output = Some(clock::monotonic());
            }
            sharing
        };
        match sharing {
            side::Shared::Bytes(bytes) => Some(self.move_on(bytes)),
            // The copying read waits for more.
            side::Shared::Nothing => None,
            side::Shared::Ended => Some(Step::Ended),
            side::Shared::NotSo => {
                self.movable = false;
                None
            }
        }
    }

    /// Moves on what the side pipe has already; what cannot be moved is copied.
    fn move_on(&mut self, bytes: usize) -> Step {
        let moved = side::move_on(&self.source, &rustix::stdio::stdout(), bytes).unwrap_or(0);
        let mut left = bytes.saturating_sub(moved);
        if left > 0 {
            self.movable = false;
        }
        let mut buffer = [0; 16 * 1024];
        while left > 0 {
            let room = left.min(buffer.len());
            let Some(part) = buffer.get_mut(..room) else {
                break;
            };
            let read = match self.source.read(part) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == Io::Interrupted => continue,
                Err(_) => break,
            };
            left -= read;
            let part = buffer.get(..read).unwrap_or_default();
            if self.heard && out::pass_on(self.stream, part).is_err() {
                self.heard = false;
            }
        }
        Step::Passed(bytes)
    }
}

/// Within this time a second Ctrl-C is meant for the wrapper.
const TWICE: Duration = Duration::from_secs(2);

/// Passes the person's keys to the agent's terminal; a second Ctrl-C soon after the first also ends the run.
fn type_on(mut master: File, news: &Sender<News>) {
    let mut buffer = [0_u8; 4096];
    let mut last_interrupt: Option<Duration> = None;
    loop {
        let bytes = match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
            Ok(0) => return,
            Ok(read) => buffer.get(..read).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        if master.write_all(bytes).is_err() {
            return;
        }
        if bytes.contains(&INTERRUPT) {
            let now = clock::monotonic();
            let again = last_interrupt.is_some_and(|last| now.saturating_sub(last) < TWICE);
            if again && news.send(News::InterruptedTwice).is_err() {
                return;
            }
            last_interrupt = Some(now);
        }
    }
}

/// Ctrl-C as a terminal in raw mode delivers it.
const INTERRUPT: u8 = 3;
