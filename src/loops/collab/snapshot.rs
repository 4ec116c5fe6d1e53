//! The snapshot of a side-by-side run, in the seed's fields, and its files.

use super::machine::{Backend, Code, DegradedLevel, Event, Role, State, next};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::loops::store::write_json;
use crate::repo::Workspace;
use crate::sys::files;
use crate::sys::lock::Lock;
use bstr::BString;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the snapshot.
pub const VERSION: u32 = 1;

/// How far one agent is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not started.
    #[default]
    Pending,
    /// Started, not ended.
    Running,
    /// Ended well.
    Success,
    /// Ended badly.
    Failed,
    /// Ended at its time limit.
    Timeout,
    /// Not asked for.
    Skipped,
}

impl Status {
    /// The word in the snapshot.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
        }
    }
}

/// One agent's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Names the start that counts.
    pub task_id: Option<String>,
    /// How far it is.
    pub status: Status,
    /// Its session.
    pub session_id: Option<String>,
    /// When its last start began, RFC 3339.
    #[serde(default)]
    pub begun_at: Option<String>,
    /// Starts so far; each has a directory of its own.
    #[serde(default)]
    pub starts: u32,
    /// What went wrong, as a code.
    #[serde(default)]
    pub error_code: Option<Code>,
    /// What went wrong, in words.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Retries made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retries {
    /// Of codex.
    pub codex: u32,
    /// Of gemini.
    pub gemini: u32,
}

/// What was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// What the agents are asked to be.
    pub role: Role,
    /// The task.
    pub task: String,
    /// Who is asked.
    pub backends: Vec<Backend>,
    /// The whole time, in milliseconds; one agent has half of it.
    pub timeout_ms: u64,
    /// No session ids are needed.
    pub lite: bool,
    /// Sessions to go on with.
    pub sessions: Vec<(Backend, String)>,
    /// The commands, with placeholders.
    pub commands: Vec<(Backend, Vec<BString>)>,
    /// Where they run.
    pub cwd: PathBuf,
}

/// Everything that is known of a run after a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// [`VERSION`].
    pub version: u32,
    /// The run.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// How bad a degraded result is.
    pub degraded_level: Option<DegradedLevel>,
    /// What is missing.
    pub missing_dimensions: Vec<String>,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// Codex's part.
    pub codex: Part,
    /// Gemini's part.
    pub gemini: Part,
    /// Retries made.
    pub retries: Retries,
    /// Why it is degraded.
    pub degraded_reason: Option<String>,
    /// What is lost by it.
    #[serde(default)]
    pub impact: Option<String>,
    /// The code of what went wrong.
    pub error_code: Option<Code>,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// When it ended, RFC 3339.
    pub ended_at: Option<String>,
    /// The safety point from before it.
    pub safety_point: Option<String>,
    /// What the agents changed was judged, and put back where it is held.
    #[serde(default)]
    pub settled: bool,
    /// The hold that keeps a part of what they changed.
    #[serde(default)]
    pub hold: Option<String>,
    /// What was asked for.
    pub plan: Plan,
}

impl Snapshot {
    /// A run before its first step.
    #[must_use]
    pub fn new(id: String, started_at: String, plan: Plan) -> Self {
        let part = |backend| Part {
            status: if plan.backends.contains(&backend) {
                Status::Pending
            } else {
                Status::Skipped
            },
            ..Part::default()
        };
        Self {
            version: VERSION,
            id,
            state: State::Init,
            degraded_level: None,
            missing_dimensions: Vec::new(),
            started_at,
            codex: part(Backend::Codex),
            gemini: part(Backend::Gemini),
            retries: Retries::default(),
            degraded_reason: None,
            impact: None,
            error_code: None,
            failure_reason: None,
            ended_at: None,
            safety_point: None,
            settled: false,
            hold: None,
            plan,
        }
    }

    /// An agent's part.
    #[must_use]
    pub fn part(&self, backend: Backend) -> &Part {
        match backend {
            Backend::Codex => &self.codex,
            Backend::Gemini => &self.gemini,
        }
    }

    /// An agent's part, to be changed.
    pub fn part_mut(&mut self, backend: Backend) -> &mut Part {
        match backend {
            Backend::Codex => &mut self.codex,
            Backend::Gemini => &mut self.gemini,
        }
    }

    /// An agent's retries, to be changed.
    pub fn retries_mut(&mut self, backend: Backend) -> &mut u32 {
        match backend {
            Backend::Codex => &mut self.retries.codex,
            Backend::Gemini => &mut self.retries.gemini,
        }
    }

    /// Takes a turn of the machine.
    ///
    /// # Errors
    /// When the table has no such turn.
    pub fn turn(&mut self, event: Event) -> Result<()> {
        self.state = next(self.state, event).doing(ErrorKind::Internal, || {
            format!("the run {} took a wrong turn", self.id)
        })?;
        Ok(())
    }
}

/// The files of one side-by-side run.
#[derive(Clone, Debug)]
pub struct Dir {
    path: PathBuf,
}

impl Dir {
    /// The directory of a run; it need not be there.
    #[must_use]
    pub fn of(workspace: &Workspace, id: &str) -> Self {
        Self {
            path: workspace.state.join("collab").join(id),
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self) -> Result<()> {
        files::make_private_dir(&self.path)
    }

    /// The directory of one start of an agent.
    #[must_use]
    pub fn start(&self, backend: Backend, start: u32) -> PathBuf {
        self.path.join(format!("{}.{start}", backend.word()))
    }

    /// Takes the lead of the run.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when another process leads it.
    pub fn lead(&self) -> Result<Lock> {
        Lock::try_take(&self.path.join("lead.lock"))?.ok_or_else(|| {
            Error::new(
                ErrorKind::Busy,
                "another process leads this run; it will print the result",
            )
        })
    }

    /// Writes the snapshot.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, snapshot: &Snapshot) -> Result<()> {
        crate::sys::failpoint::reach();
        write_json(&self.path.join("snapshot.json"), snapshot)?;
        crate::sys::failpoint::reach();
        Ok(())
    }

    /// Reads the snapshot; `None` when there is no such run.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn load(&self) -> Result<Option<Snapshot>> {
        let Some(bytes) = files::read_if_there(&self.path.join("snapshot.json"))? else {
            return Ok(None);
        };
        let path = self.path.join("snapshot.json");
        let snapshot: Snapshot = serde_json::from_slice(&bytes)
            .doing(ErrorKind::Damaged, || {
                format!("{} is damaged", path.display())
            })?;
        if snapshot.version != VERSION {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!(
                    "{} has the version {}, and this release reads {VERSION}",
                    path.display(),
                    snapshot.version
                ),
            )
            .hint("take it up with the release that began it"));
        }
        Ok(Some(snapshot))
    }
}
