//! A command on a leash, as whoever started it sees it: started once, found again after a crash, ended whole.
//!
//! The [`leash`](super::leash) is a process of its own and stays with the
//! command, whatever group or session its descendants move to; this side
//! starts it, waits for the note that it leaves, and knows what to do when
//! either of the two was killed. The notes lie in a directory of one start
//! (see [`record`]); a directory is never used for two.

use super::gate;
use super::policy::limits::Limits;
use super::policy::outcome::Exit;
use super::record::{self, Cause, End, Spec, Started, VERSION};
use super::tree::{self, Brood, Identity, LEASH_MARK};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::env::Env;
use crate::sys::files;
use crate::sys::lock::Lock;
use crate::sys::{clock, failpoint, out, process};
use bstr::BString;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How often a leash of another process is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Where the command's output goes, beside the ends that are kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// To this process's standard output and standard error.
    PassedOn,
    /// Nowhere.
    Kept,
    /// Whole, to the files `whole` and `whole-err` of the start's directory.
    Written,
}

/// Whether this process has other commands on leashes at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// It has not: every descendant of this process belongs to this one command.
    Alone,
    /// It has: only what carries the command's own mark is taken for its.
    Others,
}

/// A plain command to start: no terminal, no input, no confinement.
#[derive(Debug)]
pub struct Start<'a> {
    /// The program and its arguments.
    pub argv: &'a [BString],
    /// Where it runs.
    pub cwd: &'a Path,
    /// The loop, run or side-by-side run that it belongs to; its processes see it as `HOLDPOINT_RUN`.
    pub run: &'a str,
    /// The agent; its processes see it as `HOLDPOINT_AGENT`.
    pub agent: &'a str,
    /// What it does, in a few words for the log.
    pub title: &'a str,
    /// Further variables.
    pub vars: Vec<(BString, BString)>,
    /// When to warn and when to end it.
    pub limits: Limits,
}

impl Start<'_> {
    /// Finds the program and writes down all that the leash has to know.
    ///
    /// # Errors
    /// `E001` when there is no such program, or it cannot be run.
    pub fn spec(&self, env: &Env) -> Result<Spec> {
        let name = self.argv.first().map(AsRef::as_ref);
        Ok(Spec {
            version: VERSION,
            run: self.run.to_owned(),
            number: 1,
            token: clock::id(),
            mark: clock::id(),
            program: gate::find(env, name.unwrap_or_default(), self.cwd)?,
            argv: self.argv.to_vec(),
            cwd: self.cwd.to_path_buf(),
            agent: self.agent.to_owned(),
            vars: self.vars.clone(),
            title: self.title.to_owned(),
            limits: self.limits,
            pty: false,
            no_input: true,
            sandbox: None,
            quiet: true,
            no_progress: Duration::from_mins(10),
        })
    }
}

/// A command on a leash, started by this process or an earlier one.
#[derive(Debug)]
pub struct Leashed {
    dir: PathBuf,
    /// The leash, where it is this process's child.
    child: Option<Child>,
    voice: Voice,
    company: Company,
    begun: Duration,
}

/// What became of a command that an earlier process was to start.
#[derive(Debug)]
pub enum Found {
    /// It was not started, and what was on the way to start it will not.
    NeverStarted,
    /// It runs.
    Alive(Leashed),
    /// It has ended.
    Ended(End),
}

/// The beginnings and ends of what a command printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The beginning of its standard output.
    pub head: Vec<u8>,
    /// The end of its standard output.
    pub out: Vec<u8>,
    /// The beginning of its standard error.
    pub head_err: Vec<u8>,
    /// The end of its standard error.
    pub err: Vec<u8>,
    /// The end of both as they came.
    pub both: Vec<u8>,
}

/// Reads what is kept of the output of the command in `dir`; it may still be going on.
///
/// # Errors
/// When a file is there and cannot be read.
pub fn said(dir: &Path) -> Result<Said> {
    let read = |name: &str| -> Result<Vec<u8>> {
        Ok(files::read_if_there(&dir.join(name))?.unwrap_or_default())
    };
    Ok(Said {
        head: read("head")?,
        out: read("out")?,
        head_err: read("head-err")?,
        err: read("err")?,
        both: read("both")?,
    })
}

/// Makes this process the one that orphans of its descendants come to, so that a killed leash leaves nothing unseen.
///
/// # Errors
/// When the kernel refuses.
pub fn adopt_orphans() -> Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(std::io::Error::from)
        .doing(ErrorKind::Internal, || {
            "cannot become the reaper of what the run starts".to_owned()
        })
}

/// Starts the command of `spec`, with its notes in `dir`.
///
/// # Errors
/// When no process can be started (E003).
pub fn start(dir: &Path, spec: &Spec, voice: Voice, company: Company) -> Result<Leashed> {
    files::make_private_dir(dir)?;
    record::write(&dir.join("spec.json"), spec)?;
    Leashed::new(dir, voice, company).with_leash(Mode::Start, spec)
}

/// Finds out what became of the command that an earlier process was to start in `dir`.
///
/// # Errors
/// When its notes cannot be read, or nobody can be found to stay with what it left.
pub fn find(dir: &Path, voice: Voice, company: Company) -> Result<Found> {
    files::make_private_dir(dir)?;
    let leashed = Leashed::new(dir, voice, company);
    match leashed.settle_lock()? {
        Kept::Leash => Ok(Found::Alive(leashed)),
        Kept::End(end) => Ok(Found::Ended(end)),
        Kept::Nothing => Ok(Found::NeverStarted),
        Kept::Orphans(spec) => leashed.with_leash(Mode::Adopt, &spec).map(Found::Alive),
    }
}

/// What a leash is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// To start the command.
    Start,
    /// To stay with what a killed leash left.
    Adopt,
}

/// What a directory's notes come to.
enum Kept {
    /// A leash is there.
    Leash,
    /// It has ended.
    End(End),
    /// Nothing was started.
    Nothing,
    /// The leash was killed, and some of what it watched lives.
    Orphans(Box<Spec>),
}

impl Leashed {
    fn new(dir: &Path, voice: Voice, company: Company) -> Self {
        Self {
            dir: dir.to_path_buf(),
            child: None,
            voice,
            company,
            begun: clock::monotonic(),
        }
    }

    fn with_leash(mut self, mode: Mode, spec: &Spec) -> Result<Self> {
        let own = process::own_executable().ok_or_else(|| {
            Error::new(ErrorKind::Internal, "cannot find this program's own file")
        })?;
        let mut command = Command::new(own.with_file_name("holdpoint-run"));
        command
            .arg(match mode {
                Mode::Start => "--leash",
                Mode::Adopt => "--adopt",
            })
            .arg(&self.dir)
            .args(["--token", &spec.token])
            // A command between fork and exec still has its leash's environment.
            .env(LEASH_MARK, &spec.mark);
        if spec.no_input {
            command.stdin(Stdio::null());
        }
        match self.voice {
            Voice::PassedOn => {}
            Voice::Kept => {
                command.stdout(Stdio::null()).stderr(Stdio::null());
            }
            Voice::Written => {
                command
                    .stdout(appended(&self.dir.join("whole"))?)
                    .stderr(appended(&self.dir.join("whole-err"))?);
            }
        }
        failpoint::hand_on(&mut command);
        failpoint::reach();
        self.child = Some(command.spawn().doing(ErrorKind::Guarded, || {
            "E003: cannot start a process".to_owned()
        })?);
        failpoint::reach();
        Ok(self)
    }

    /// How long this process has watched it.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        clock::monotonic().saturating_sub(self.begun)
    }

    /// How long to wait between two looks: a leash of this process's own announces its end by SIGCHLD.
    #[must_use]
    pub fn pace(&self) -> Duration {
        if self.child.is_some() {
            Duration::from_secs(1)
        } else {
            LOOK
        }
    }

    /// The command's own process, while it is known.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        let started: Option<Started> = record::read(&self.dir.join("started.json")).ok().flatten();
        started
            .and_then(|started| started.child)
            .map(|child| child.pid)
    }

    /// Looks whether it has ended; where a leash was killed, stays with what it left or ends it.
    ///
    /// # Errors
    /// When its notes cannot be read or written.
    pub fn look(&mut self, env: &Env) -> Result<Option<End>> {
        if let Some(child) = &mut self.child {
            let left = child.try_wait().doing(ErrorKind::Internal, || {
                "cannot wait for the leash".to_owned()
            })?;
            if left.is_none() {
                return Ok(None);
            }
            self.child = None;
            return match record::read(&self.dir.join("end.json"))? {
                Some(end) => Ok(Some(end)),
                None => self.clear(env).map(Some),
            };
        }
        match self.settle_lock()? {
            Kept::Leash => Ok(None),
            Kept::End(end) => Ok(Some(end)),
            // It was there a moment ago, so something was started.
            Kept::Nothing => self.clear(env).map(Some),
            Kept::Orphans(spec) => {
                let adopter = Self::new(&self.dir, self.voice, self.company)
                    .with_leash(Mode::Adopt, &spec)?;
                self.child = adopter.child;
                Ok(None)
            }
        }
    }

    /// Waits until it has ended, or until `leave` says to stop waiting.
    ///
    /// # Errors
    /// As [`Leashed::look`].
    pub fn wait(&mut self, env: &Env, mut leave: impl FnMut(&Self) -> bool) -> Result<Option<End>> {
        loop {
            if let Some(end) = self.look(env)? {
                return Ok(Some(end));
            }
            if leave(self) {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Hands a signal to the leash: interrupt and terminate end the command, as a person would.
    pub fn signal(&self, signal: Signal) {
        let leash = match &self.child {
            Some(child) => i32::try_from(child.id()).ok().and_then(Identity::of),
            None => record::read::<Started>(&self.dir.join("started.json"))
                .ok()
                .flatten()
                .map(|started| started.leash),
        };
        if let Some(leash) = leash {
            leash.signal(signal);
        }
    }

    /// Ends the command and every process that came of it: SIGTERM, then SIGKILL.
    ///
    /// # Errors
    /// As [`Leashed::look`].
    pub fn end(&mut self, env: &Env) -> Result<End> {
        let mut asked: Option<Duration> = None;
        loop {
            if let Some(end) = self.look(env)? {
                return Ok(end);
            }
            // A leash that is just starting may have no handler yet, or no note of itself.
            let now = clock::monotonic();
            if asked.is_none_or(|asked| now.saturating_sub(asked) >= Duration::from_secs(1)) {
                asked = Some(now);
                self.signal(Signal::TERM);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Reads the notes; where no leash is there any more, sees to it that none comes late.
    fn settle_lock(&self) -> Result<Kept> {
        let Some(lock) = Lock::try_take(&self.dir.join("leash.lock"))? else {
            return Ok(Kept::Leash);
        };
        if let Some(end) = record::read(&self.dir.join("end.json"))? {
            return Ok(Kept::End(end));
        }
        let Some(mut spec) = record::read::<Spec>(&self.dir.join("spec.json"))? else {
            return Ok(Kept::Nothing);
        };
        let was_started = self.dir.join("started.json").exists();
        if was_started && tree::marked(&spec.mark).is_empty() {
            let end = lost(&self.dir)?;
            record::write(&self.dir.join("end.json"), &end)?;
            return Ok(Kept::End(end));
        }
        // A leash that comes late finds another token, and leaves.
        spec.token = clock::id();
        record::write(&self.dir.join("spec.json"), &spec)?;
        drop(lock);
        Ok(if was_started {
            Kept::Orphans(Box::new(spec))
        } else {
            Kept::Nothing
        })
    }

    /// Ends what a killed leash of this process's own left unwatched.
    fn clear(&self, env: &Env) -> Result<End> {
        out::note("holdpoint: the process that watched the run was killed; ending what it left");
        let spec: Option<Spec> = record::read(&self.dir.join("spec.json"))?;
        let started: Option<Started> = record::read(&self.dir.join("started.json"))?;
        let mark = spec.map(|spec| spec.mark).unwrap_or_default();
        let child = started.and_then(|started| started.child);
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let ended = tree::end(
            tree::grace(env),
            || {
                let mut found = tree::marked(&mark);
                match (self.company, child) {
                    (Company::Alone, _) => found.extend(tree::below(own)),
                    (Company::Others, Some(child)) if child.lives() => {
                        found.extend(tree::read(child.pid));
                        found.extend(tree::below(child.pid));
                    }
                    (Company::Others, _) => {}
                }
                found
            },
            || {
                if self.company == Company::Alone {
                    collect_orphans();
                }
                Brood::Some
            },
        );
        let mut end = lost(&self.dir)?;
        end.not_ended = ended.left;
        record::write(&self.dir.join("end.json"), &end)?;
        Ok(end)
    }
}

/// A file that output is added to.
fn appended(path: &Path) -> Result<Stdio> {
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map(Stdio::from)
        .doing(ErrorKind::Io, || format!("cannot open {}", path.display()))
}

/// Takes dead orphans from the process table.
fn collect_orphans() {
    while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
}

/// The end of a command whose end nobody saw.
fn lost(dir: &Path) -> Result<End> {
    let started: Option<Started> = record::read(&dir.join("started.json"))?;
    let elapsed = started
        .and_then(|started| started.at.parse::<jiff::Timestamp>().ok())
        .map_or(0, |at| clock::now().duration_since(at).as_millis());
    Ok(End {
        version: VERSION,
        exit: Exit::Lost,
        cause: Cause::Lost,
        elapsed_ms: u64::try_from(elapsed).unwrap_or_default(),
        at: clock::rfc3339(clock::now()),
        silent_ms: 0,
        printed: 0,
        left_behind: Vec::new(),
        not_ended: Vec::new(),
    })
}
