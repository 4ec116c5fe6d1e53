//! The leash: the process that stays with an agent from its start to the end of its last descendant.
//!
//! It leads a session of its own, so that no key pressed at the person's
//! terminal reaches it, and is the subreaper of all it starts. It passes
//! output on untouched, watches the time, and writes down how the attempt
//! ended. It outlives a killed drive.

mod pump;
mod show;
mod side;
mod watch;

use super::policy::outcome::Exit;
use super::record::{self, Cause, Dir, End, Spec, Started, VERSION};
use super::tree::{self, AGENT_MARK, Brood, Identity, LEASH_MARK, MARK};
use super::{signals, terminal};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::sys::{clock, failpoint};
use pump::{Pumps, Shared};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus as Status, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use watch::{Heed, Watch};

/// How often the time and a person's wishes are looked at.
const TICK: Duration = Duration::from_millis(250);

/// How long output may still come after the last process is gone.
const DRAIN: Duration = Duration::from_secs(2);

/// How long processes left behind have to leave by themselves.
const LINGER: Duration = Duration::from_millis(200);

/// What the leash waits for.
#[derive(Debug)]
pub(super) enum News {
    /// A signal came.
    Signal(i32),
    /// A stream ended.
    StreamEnded,
    /// The person pressed Ctrl-C twice at the agent's own terminal.
    InterruptedTwice,
    /// Whoever reads our output is gone.
    ReaderGone,
}

/// Runs the leash of the attempt in `dir`.
pub fn main(env: &Env, dir: &Path, token: &str) -> Result<ExitStatus> {
    // Already a leader when a person starts it by hand; then there is nothing to leave.
    let _ = rustix::process::setsid();
    let _lock = Lock::wait(&dir.join("leash.lock"))?;
    let spec: Spec = record::read(&dir.join("spec.json"))?
        .ok_or_else(|| Error::new(ErrorKind::Damaged, "the attempt's spec.json is missing"))?;
    // Who resumed the run in the meantime started it anew, under another token.
    if spec.token != token || dir.join("started.json").exists() || dir.join("end.json").exists() {
        return Err(Error::new(
            ErrorKind::Busy,
            "this attempt was taken over by another process",
        ));
    }
    super::leashed::adopt_orphans()?;
    let (sender, news) = channel();
    signals::send(
        &[
            signals::SIGINT,
            signals::SIGTERM,
            signals::SIGHUP,
            signals::SIGCHLD,
            signals::SIGWINCH,
        ],
        sender.clone(),
        News::Signal,
    )?;
    let mut started = Started {
        version: VERSION,
        token: token.to_owned(),
        leash: Identity::own()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "cannot read /proc/self/stat"))?,
        child: None,
        at: clock::rfc3339(clock::now()),
    };
    failpoint::reach();
    record::write(&dir.join("started.json"), &started)?;
    failpoint::reach();
    let shared = Arc::new(Mutex::new(Shared::default()));
    let settings = spec.pty.then(terminal::Settings::raw);
    let mut leash = Leash {
        run: dir
            .parent()
            .map_or_else(|| Dir::at(PathBuf::new()), |run| Dir::at(run.to_path_buf())),
        dir,
        shared: Arc::clone(&shared),
        begun: clock::monotonic(),
        exit: None,
        child: None,
    };
    let end = match leash.start(&spec, &sender) {
        Ok(pumps) => {
            started.child = leash.child.and_then(Identity::of);
            failpoint::reach();
            record::write(&dir.join("started.json"), &started)?;
            failpoint::reach();
            leash.stay(env, &spec, &news, pumps)?
        }
        Err(error) => leash.end(Cause::NotStarted {
            why: error.to_string(),
        }),
    };
    drop(settings);
    leash.flush()?;
    failpoint::reach();
    record::write(&dir.join("end.json"), &end)?;
    failpoint::reach();
    Ok(ExitStatus::Passed)
}

/// Stays with what a killed leash left: reads on, watches the time, ends it when it is over.
///
/// Its status is lost with the leash that was its parent.
pub fn adopt(env: &Env, dir: &Path, token: &str) -> Result<ExitStatus> {
    // See `main`.
    let _ = rustix::process::setsid();
    let _lock = Lock::wait(&dir.join("leash.lock"))?;
    let mut spec: Spec = record::read(&dir.join("spec.json"))?
        .ok_or_else(|| Error::new(ErrorKind::Damaged, "the attempt's spec.json is missing"))?;
    let Some(mut started) = record::read::<Started>(&dir.join("started.json"))? else {
        return Err(Error::new(
            ErrorKind::Damaged,
            "the attempt was not started",
        ));
    };
    if spec.token != token || dir.join("end.json").exists() {
        return Err(Error::new(
            ErrorKind::Busy,
            "this attempt was taken over by another process",
        ));
    }
    // Its terminal died with the leash that held it.
    spec.pty = false;
    let (sender, news) = channel();
    signals::send(
        &[signals::SIGINT, signals::SIGTERM, signals::SIGHUP],
        sender.clone(),
        News::Signal,
    )?;
    let so_far = started
        .at
        .parse::<jiff::Timestamp>()
        .ok()
        .and_then(|at| Duration::try_from(clock::now().duration_since(at)).ok())
        .unwrap_or_default();
    started.leash = Identity::own()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "cannot read /proc/self/stat"))?;
    record::write(&dir.join("started.json"), &started)?;
    let shared = Arc::new(Mutex::new(Shared::default()));
    let mut leash = Leash {
        run: dir
            .parent()
            .map_or_else(|| Dir::at(PathBuf::new()), |run| Dir::at(run.to_path_buf())),
        dir,
        shared: Arc::clone(&shared),
        begun: clock::monotonic().saturating_sub(so_far),
        exit: None,
        child: None,
    };
    let pumps = Pumps::read_on(dir, &shared, &sender)?;
    let end = leash.wait_out(env, &spec, &news, pumps)?;
    leash.flush()?;
    record::write(&dir.join("end.json"), &end)?;
    Ok(ExitStatus::Passed)
}

struct Leash<'a> {
    run: Dir,
    dir: &'a Path,
    shared: Arc<Mutex<Shared>>,
    begun: Duration,
    exit: Option<Exit>,
    child: Option<i32>,
}

impl Leash<'_> {
    /// Starts the command and the pumps of its output.
    fn start(&mut self, spec: &Spec, news: &Sender<News>) -> Result<Pumps> {
        let pumps = Pumps::open(self.dir, spec.pty, &self.shared, news)?;
        let mut command = if spec.pty || spec.sandbox.is_some() {
            // A session of its own and a confinement have to be set up inside the new process.
            let mut command = Command::new(own_program()?);
            command.arg("--stage").arg(self.dir.join("spec.json"));
            command
        } else {
            let mut command = Command::new(&spec.program);
            if let Some(name) = spec.argv.first() {
                command.arg0(std::ffi::OsStr::from_bytes(name));
            }
            command.args(
                spec.argv
                    .iter()
                    .skip(1)
                    .map(|word| std::ffi::OsStr::from_bytes(word)),
            );
            command
        };
        if !spec.pty {
            command.process_group(0);
        }
        command
            .current_dir(&spec.cwd)
            .envs(spec.vars.iter().map(|(name, value)| {
                (
                    std::ffi::OsStr::from_bytes(name),
                    std::ffi::OsStr::from_bytes(value),
                )
            }))
            .env(MARK, &spec.run)
            .env(LEASH_MARK, &spec.mark)
            .env(AGENT_MARK, &spec.agent)
            .env_remove("HOLDPOINT_TEST_DIE_AT");
        let ends = pumps.ends()?;
        match ends.input {
            Some(input) => command.stdin(input),
            None if spec.no_input => command.stdin(Stdio::null()),
            None => command.stdin(Stdio::inherit()),
        };
        command.stdout(ends.output).stderr(ends.error);
        failpoint::reach();
        let child = command.spawn().doing(ErrorKind::Guarded, || {
            format!("E003: cannot start {}", spec.program.display())
        })?;
        self.child = i32::try_from(child.id()).ok();
        failpoint::reach();
        Ok(pumps.begin())
    }

    /// Stays with the command until nothing of it is left.
    fn stay(&mut self, env: &Env, spec: &Spec, news: &Receiver<News>, pumps: Pumps) -> Result<End> {
        let mut watch = Watch::new(env, spec, self.run.clone(), self.begun);
        let mut cause = Cause::Left;
        let mut interrupts = 0_u32;
        let mut flushed = clock::monotonic();
        while self.exit.is_none() {
            match news.recv_timeout(TICK) {
                Ok(News::Signal(signals::SIGCHLD) | News::StreamEnded)
                | Err(RecvTimeoutError::Timeout) => {
                    self.collect();
                }
                Ok(News::Signal(signals::SIGWINCH)) => pumps.follow_size(),
                Ok(News::Signal(signals::SIGINT)) => {
                    interrupts += 1;
                    cause = Cause::Cancelled;
                    if interrupts > 1 {
                        break;
                    }
                    watch.tell_interrupted();
                    self.signal_group(rustix::process::Signal::INT);
                }
                Ok(News::Signal(_)) => {
                    cause = Cause::Stopped {
                        by: "a signal to the wrapper".to_owned(),
                    };
                    break;
                }
                Ok(News::InterruptedTwice) => {
                    cause = Cause::Cancelled;
                    break;
                }
                Ok(News::ReaderGone) => self.signal_group(rustix::process::Signal::PIPE),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(ErrorKind::Internal, "the leash lost its news"));
                }
            }
            let now = clock::monotonic();
            if now.saturating_sub(flushed) >= Duration::from_secs(1) {
                flushed = now;
                self.flush()?;
            }
            match watch.look(&self.shared)? {
                Heed::GoOn => {}
                Heed::TimeLimit => {
                    cause = Cause::TimeLimit;
                    break;
                }
                Heed::Stop => {
                    cause = Cause::Stopped {
                        by: "holdpoint stop".to_owned(),
                    };
                    break;
                }
            }
        }
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let left_by_itself = self.exit.is_some();
        // What the command started in the background often leaves right after it.
        let until = clock::monotonic() + LINGER;
        while left_by_itself && self.collect() == Brood::Some && clock::monotonic() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = tree::end(tree::grace(env), || tree::below(own), || self.collect());
        self.collect();
        pumps.finish(DRAIN);
        watch.finish();
        let mut end = self.end(cause);
        if left_by_itself {
            end.left_behind = ended.signalled;
        }
        end.not_ended = ended.left;
        Ok(end)
    }

    /// Waits until nothing that carries the run's mark is left.
    fn wait_out(
        &mut self,
        env: &Env,
        spec: &Spec,
        news: &Receiver<News>,
        pumps: Pumps,
    ) -> Result<End> {
        let mut watch = Watch::new(env, spec, self.run.clone(), self.begun);
        let mut cause = Cause::Lost;
        while !tree::marked(&spec.mark).is_empty() {
            match news.recv_timeout(TICK) {
                Ok(News::Signal(signals::SIGINT)) => {
                    cause = Cause::Cancelled;
                    break;
                }
                Ok(News::Signal(_)) => {
                    cause = Cause::Stopped {
                        by: "a signal to the wrapper".to_owned(),
                    };
                    break;
                }
                Ok(News::StreamEnded | News::ReaderGone | News::InterruptedTwice) | Err(_) => {}
            }
            match watch.look(&self.shared)? {
                Heed::GoOn => {}
                Heed::TimeLimit => {
                    cause = Cause::TimeLimit;
                    break;
                }
                Heed::Stop => {
                    cause = Cause::Stopped {
                        by: "holdpoint stop".to_owned(),
                    };
                    break;
                }
            }
        }
        let ended = tree::end(
            tree::grace(env),
            || tree::marked(&spec.mark),
            || Brood::Some,
        );
        pumps.finish(DRAIN);
        watch.finish();
        let mut end = self.end(cause);
        end.not_ended = ended.left;
        Ok(end)
    }

    /// Takes every dead child from the process table, and the command's status with it.
    fn collect(&mut self) -> Brood {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if Some(pid.as_raw_nonzero().get()) == self.child {
                        let status = Status::from_raw(status.as_raw());
                        self.exit = Some(match (status.code(), status.signal()) {
                            (Some(code), _) => Exit::Code(code),
                            (None, Some(signal)) => Exit::Signal(signal),
                            (None, None) => Exit::Lost,
                        });
                    }
                }
                Ok(None) | Err(Errno::INTR) => return Brood::Some,
                // No child is left, and with it no descendant: orphans come to us.
                Err(_) => return Brood::None,
            }
        }
    }

    fn signal_group(&self, signal: rustix::process::Signal) {
        if let Some(pid) = self.child.and_then(Pid::from_raw) {
            // The group may be gone already.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    fn end(&self, cause: Cause) -> End {
        let now = clock::monotonic();
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.catch_up();
        let stage_failed = (self.exit == Some(Exit::Code(super::stage::NOT_STARTED)))
            .then(|| std::fs::read_to_string(self.dir.join("not-started")).ok())
            .flatten();
        End {
            version: VERSION,
            exit: self.exit.unwrap_or(Exit::Lost),
            cause: match stage_failed {
                Some(why) => Cause::NotStarted { why },
                None => cause,
            },
            elapsed_ms: millis(now.saturating_sub(self.begun)),
            at: clock::rfc3339(clock::now()),
            silent_ms: millis(now.saturating_sub(shared.last_output.unwrap_or(self.begun))),
            printed: shared.out.passed() + shared.err.passed(),
            left_behind: Vec::new(),
            not_ended: Vec::new(),
        }
    }

    /// Writes the ends of the output to the attempt's directory.
    fn flush(&self) -> Result<()> {
        self.shared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .flush(self.dir)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn own_program() -> Result<PathBuf> {
    crate::sys::process::own_executable()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "cannot find this program's own file"))
}
