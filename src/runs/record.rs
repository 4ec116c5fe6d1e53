//! A run's directory: the snapshot after each step, and the notes that its processes leave for each other.
//!
//! ```text
//! runs/RUN/run.json       the snapshot; written by whoever leads the run
//! runs.open/RUN         a mark, until the run is over
//! runs/RUN/lead.lock      held by whoever leads it
//! runs/RUN/control.json   what a person asked for: stop, more time
//! runs/RUN/N/spec.json    what attempt N starts
//! runs/RUN/N/leash.lock   held by the attempt's leash
//! runs/RUN/N/started.json who runs it
//! runs/RUN/N/end.json     how it ended
//! runs/RUN/N/{head,out,err,both}  the ends of its output
//! ```

use super::open;
use super::policy::limits::Limits;
use super::policy::outcome::{Exit, Outcome};
use super::policy::task::{Event, State, next};
use super::tree::Identity;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::judge::{Priority, Risk};
use crate::repo::Workspace;
use crate::sys::files::{self, Durability};
use crate::sys::lock::Lock;
use crate::sys::{clock, failpoint};
use bstr::BString;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of everything in a run's directory.
pub const VERSION: u32 = 1;

/// What is done with a change that would be held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// It is held for a person.
    #[default]
    Ask,
    /// It is kept: a person said so beforehand.
    Accept,
    /// It is dropped: a person said so beforehand.
    Reject,
}

/// What was asked for on the command line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Options {
    /// The agent's name.
    pub agent: String,
    /// The task's text.
    pub task: Option<String>,
    /// The command, with placeholders.
    pub command: Vec<BString>,
    /// Commands that take over, with placeholders.
    pub fallbacks: Vec<Vec<BString>>,
    /// The session to go on with.
    pub session: Option<String>,
    /// Retries, where somebody asked for a number.
    pub retries: Option<u32>,
    /// Checks the tests after an attempt.
    pub test: Option<String>,
    /// Accepts the result.
    pub accept: Option<String>,
    /// Reviews the result.
    pub review: Option<String>,
    /// A retry goes on from what the attempt before left behind.
    pub keep_partial: bool,
    /// The process tree is confined by the kernel.
    pub sandbox: bool,
    /// Further directories that the confined tree may write.
    #[serde(default)]
    pub sandbox_write: Vec<PathBuf>,
    /// The only ports to which the confined tree may connect.
    #[serde(default)]
    pub sandbox_ports: Option<Vec<u16>>,
    /// The wrapped command's own status is passed on.
    pub pass_status: bool,
    /// What is done with a change that would be held.
    pub held: Held,
    /// No terminal is made, whatever standard input is.
    pub no_pty: bool,
    /// No progress is shown.
    pub quiet: bool,
}

/// What an attempt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The wrapped command itself.
    Work,
    /// The test command.
    Test,
    /// The acceptance command.
    Accept,
    /// The review command.
    Review,
}

/// One start of a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// Its number in the run, from 1; also the name of its directory.
    pub number: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// The agent it starts.
    pub agent: String,
    /// The safety point taken before it.
    pub point: Option<String>,
    /// Its time limits.
    pub limits: Limits,
    /// When it was started.
    pub started: String,
    /// How it ended, once it has.
    pub end: Option<End>,
    /// What went wrong, if something did and it is classed.
    pub outcome: Option<Outcome>,
}

/// One step of the task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// When.
    pub at: String,
    /// State before.
    pub from: State,
    /// What happened.
    pub on: Event,
    /// State after.
    pub to: State,
    /// Why, where there is something to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A run as it is written to its snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// [`VERSION`].
    pub version: u32,
    /// ULID.
    pub id: String,
    /// When it was made.
    pub created: String,
    /// The directory in which the command runs.
    pub cwd: PathBuf,
    /// What was asked for.
    pub options: Options,
    /// Priority of the task.
    pub priority: Priority,
    /// Risk of the task.
    pub risk: Risk,
    /// Where the task stands.
    pub state: State,
    /// Every start of a command, in order.
    pub attempts: Vec<Attempt>,
    /// Every step of the task, in order.
    pub steps: Vec<Step>,
    /// Session ids, by agent.
    pub sessions: BTreeMap<String, String>,
    /// The next attempt starts a new session.
    pub fresh_session: bool,
    /// How many fallbacks took over.
    pub fallen_back: u32,
    /// Retries made, by kind of error.
    pub retried: BTreeMap<String, u32>,
    /// Confidence in the next fix, in its arithmetic, where one was worked out.
    pub confidence: Option<super::policy::confidence::Confidence>,
    /// Tests that passed and failed at the last count.
    pub counts: Option<super::policy::confidence::Counts>,
    /// The safety point from before the first attempt.
    pub point: Option<String>,
    /// The refs from before the first attempt.
    pub refs: BTreeMap<String, String>,
    /// The holds that keep what was put back.
    pub holds: Vec<String>,
    /// What it deleted so that everything was put back, in words.
    #[serde(default)]
    pub rebuilt: Vec<String>,
    /// The workspace delta was judged.
    pub judged: bool,
    /// Who leads it.
    pub lead: Option<Identity>,
    /// The exit status it was left with, once it is over.
    pub status: Option<u8>,
    /// When it was over.
    pub ended: Option<String>,
}

/// What the leash of an attempt is to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// [`VERSION`].
    pub version: u32,
    /// The run.
    pub run: String,
    /// The attempt's number.
    pub number: u32,
    /// A word of this very start: a leash of an earlier one leaves.
    pub token: String,
    /// What every process of this start carries in its environment.
    pub mark: String,
    /// The command, rendered.
    pub argv: Vec<BString>,
    /// The program, found.
    pub program: PathBuf,
    /// Where it runs.
    pub cwd: PathBuf,
    /// The agent's name.
    pub agent: String,
    /// Further variables.
    #[serde(default)]
    pub vars: Vec<(BString, BString)>,
    /// The task, in a few words.
    pub title: String,
    /// Its time limits.
    pub limits: Limits,
    /// It gets a terminal of its own.
    pub pty: bool,
    /// It gets an empty standard input.
    pub no_input: bool,
    /// Its tree is confined: to what.
    pub sandbox: Option<super::stage::Confinement>,
    /// No progress is shown.
    pub quiet: bool,
    /// Silence after which progress is checked.
    pub no_progress: std::time::Duration,
}

/// Who runs an attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Started {
    /// [`VERSION`].
    pub version: u32,
    /// The start's token.
    pub token: String,
    /// The leash.
    pub leash: Identity,
    /// The command's process, once it is there.
    pub child: Option<Identity>,
    /// When.
    pub at: String,
}

/// Why an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// The command left by itself.
    Left,
    /// It could not be started.
    NotStarted {
        /// Why.
        why: String,
    },
    /// The maximum time was over.
    TimeLimit,
    /// `holdpoint stop`, or a signal to the wrapper.
    Stopped {
        /// By what.
        by: String,
    },
    /// The person pressed Ctrl-C.
    Cancelled,
    /// Whoever watched it was killed.
    Lost,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// [`VERSION`].
    pub version: u32,
    /// The status.
    pub exit: Exit,
    /// Why.
    #[serde(flatten)]
    pub cause: Cause,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// When.
    pub at: String,
    /// Time since its last output, in milliseconds.
    pub silent_ms: u64,
    /// Bytes of output.
    pub printed: u64,
    /// Processes that it left behind and that were ended.
    pub left_behind: Vec<String>,
    /// Processes that could not be ended.
    pub not_ended: Vec<String>,
}

/// What a person asked a running attempt for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Control {
    /// [`VERSION`].
    pub version: u32,
    /// It shall stop.
    pub stop: bool,
    /// Its maximum, in seconds, counted from its start.
    pub max_seconds: Option<u64>,
}

/// The directory of one run.
#[derive(Clone, Debug)]
pub struct Dir {
    path: PathBuf,
}

impl Dir {
    /// The directory of a run of a workspace; it need not be there.
    #[must_use]
    pub fn of(workspace: &Workspace, run: &str) -> Self {
        Self {
            path: workspace.state.join("runs").join(run),
        }
    }

    /// The directory at a path.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it.
    pub fn make(&self) -> Result<()> {
        files::make_private_dir(&self.path)
    }

    /// The directory of an attempt.
    #[must_use]
    pub fn attempt(&self, number: u32) -> PathBuf {
        self.path.join(number.to_string())
    }

    /// Takes the lead of the run, if nobody has it.
    pub fn lead(&self) -> Result<Option<Lock>> {
        Lock::try_take(&self.path.join("lead.lock"))
    }

    /// Waits for the lead of the run.
    pub fn wait_for_lead(&self) -> Result<Lock> {
        Lock::wait(&self.path.join("lead.lock"))
    }

    /// Writes the snapshot and waits for the disk: before something starts, is held or is over.
    pub fn save(&self, run: &Run) -> Result<()> {
        self.snapshot(run, Durability::Synced)
    }

    /// Writes the snapshot of a step that nothing was done for yet.
    pub fn note(&self, run: &Run) -> Result<()> {
        self.snapshot(run, Durability::Lazy)
    }

    fn snapshot(&self, run: &Run, durability: Durability) -> Result<()> {
        failpoint::reach();
        put(&self.path.join("run.json"), run, durability)?;
        open::note(self, run);
        failpoint::reach();
        Ok(())
    }

    /// Reads the snapshot.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such run, [`ErrorKind::Damaged`] when it cannot be read.
    pub fn load(&self) -> Result<Run> {
        let run: Run = read(&self.path.join("run.json"))?.ok_or_else(|| {
            Error::new(
                ErrorKind::Usage,
                format!(
                    "there is no run {}",
                    self.path.file_name().unwrap_or_default().to_string_lossy()
                ),
            )
            .hint("list the runs: holdpoint ps --all")
        })?;
        if run.version != VERSION {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("run {} has version {}, not {VERSION}", run.id, run.version),
            )
            .hint("it was made by another version of holdpoint; use that one"));
        }
        Ok(run)
    }

    /// Reads what a person asked for.
    pub fn control(&self) -> Result<Control> {
        Ok(read(&self.path.join("control.json"))?.unwrap_or_default())
    }

    /// Writes down what the agent's own hook told it while it was going on.
    ///
    /// # Errors
    /// When there is no such run, or the note cannot be written.
    pub fn tell(&self, notice: &str) -> Result<()> {
        use std::io::Write as _;
        let path = self.path.join("told");
        let doing = || format!("cannot write {}", path.display());
        let line = format!("{}\n", notice.replace('\n', " "));
        let mut file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .doing(ErrorKind::Io, doing)?;
        file.write_all(line.as_bytes()).doing(ErrorKind::Io, doing)
    }

    /// What the agent's own hook told it, oldest first.
    ///
    /// # Errors
    /// When the notes cannot be read.
    pub fn told(&self) -> Result<Vec<String>> {
        let bytes = files::read_if_there(&self.path.join("told"))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// Changes what a person asks for.
    pub fn ask(&self, change: impl FnOnce(&mut Control)) -> Result<()> {
        let _lock = Lock::wait(&self.path.join("control.lock"))?;
        let mut control = self.control()?;
        control.version = VERSION;
        change(&mut control);
        write(&self.path.join("control.json"), &control)
    }
}

/// Writes a note between processes as JSON, whole or not at all: it need not outlive the machine.
pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    put(path, value, Durability::Lazy)
}

fn put<T: Serialize>(path: &Path, value: &T, durability: Durability) -> Result<()> {
    let mut bytes = serde_json::to_vec(value).doing(ErrorKind::Internal, || {
        format!("cannot word {}", path.display())
    })?;
    bytes.push(b'\n');
    files::replace(path, &bytes, 0o600, durability)
}

/// Reads a note; `None` when there is none.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = files::read_if_there(path)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .doing(ErrorKind::Damaged, || {
            format!("{} is damaged", path.display())
        })
}

/// All runs of a workspace, newest last; those whose snapshot cannot be read are returned by name.
pub fn list(workspace: &Workspace) -> Result<(Vec<Run>, Vec<String>)> {
    let path = workspace.state.join("runs");
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((Vec::new(), Vec::new()));
        }
        Err(error) => {
            return Err(error).doing(ErrorKind::Io, || format!("cannot list {}", path.display()));
        }
    };
    let mut runs = Vec::new();
    let mut damaged = Vec::new();
    for entry in entries {
        let entry = entry.doing(ErrorKind::Io, || format!("cannot list {}", path.display()))?;
        let dir = Dir::at(entry.path());
        match dir.load() {
            Ok(run) => runs.push(run),
            // A directory without a snapshot belongs to a run that died before its first step.
            Err(error) if error.kind() == ErrorKind::Usage => {}
            Err(_) => damaged.push(entry.file_name().to_string_lossy().into_owned()),
        }
    }
    runs.sort_by(|a, b| a.id.cmp(&b.id));
    Ok((runs, damaged))
}

/// Finds a run by its id or an unambiguous end or beginning of it; without one, the newest.
pub fn find(workspace: &Workspace, wanted: Option<&str>) -> Result<Run> {
    let (runs, _) = list(workspace)?;
    let none = || {
        Error::new(
            ErrorKind::Usage,
            match wanted {
                Some(wanted) => format!("there is no run {wanted} here"),
                None => "nothing was run here yet".to_owned(),
            },
        )
        .hint("list the runs: holdpoint ps --all")
    };
    let Some(wanted) = wanted else {
        return runs.into_iter().next_back().ok_or_else(none);
    };
    let upper = wanted.to_ascii_uppercase();
    let mut found: Vec<Run> = runs
        .into_iter()
        .filter(|run| {
            run.id == upper
                || (upper.len() >= 4 && (run.id.ends_with(&upper) || run.id.starts_with(&upper)))
        })
        .collect();
    if found.len() > 1 {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("{wanted} names {} runs", found.len()),
        )
        .hint("type more of the id: holdpoint ps --all"));
    }
    found.pop().ok_or_else(none)
}

impl Run {
    /// Takes a step of the task, if the table has it.
    pub fn step(&mut self, on: Event, note: impl Into<String>) -> Result<()> {
        let transition = next(self.state, on).doing(ErrorKind::Internal, || {
            format!("run {} took a wrong turn", self.id)
        })?;
        self.steps.push(Step {
            at: clock::rfc3339(clock::now()),
            from: self.state,
            on,
            to: transition.to,
            note: note.into(),
        });
        self.state = transition.to;
        Ok(())
    }

    /// The attempt that was made last.
    #[must_use]
    pub fn last(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// What went wrong in the last attempt; `None` where it worked, or is not judged yet.
    #[must_use]
    pub fn last_outcome(&self) -> Option<&Outcome> {
        self.last()?.outcome.as_ref()
    }

    /// The last attempt of the wrapped command itself.
    #[must_use]
    pub fn last_work(&self) -> Option<&Attempt> {
        self.attempts
            .iter()
            .rev()
            .find(|attempt| attempt.purpose == Purpose::Work)
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.status.is_some()
    }

    /// The name under which people know it: the agent, else the program.
    #[must_use]
    pub fn title(&self) -> String {
        self.options.task.clone().unwrap_or_else(|| {
            self.options
                .command
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        })
    }
}
