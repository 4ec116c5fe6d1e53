//! The states of two agents side by side, and what decides between them. Pure.
//!
//! Source: `state_machine_gates`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a side-by-side run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// Nothing was started.
    Init,
    /// At least one agent runs.
    Running,
    /// Done.
    Success,
    /// One agent's result is missing; a person decides.
    Degraded,
    /// Handed back to the caller.
    Failed,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Init => "INIT",
            Self::Running => "RUNNING",
            Self::Success => "SUCCESS",
            Self::Degraded => "DEGRADED",
            Self::Failed => "FAILED",
        })
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The start gate let at least one agent start.
    Started,
    /// The start gate let nobody start.
    GateFailed,
    /// Every agent that was asked for gave a usable result.
    AllSucceeded,
    /// One of two did.
    OneSucceeded,
    /// None did, or none printed a session id.
    NoneSucceeded,
    /// A person takes the degraded result.
    Accepted,
    /// A person does not, or a core dimension is missing.
    Rejected,
    /// A person cancelled.
    Cancelled,
}

/// A turn that the table does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTurn {
    /// From where.
    pub from: State,
    /// By what.
    pub event: Event,
}

impl fmt::Display for NoTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no turn for {:?}", self.from, self.event)
    }
}

impl std::error::Error for NoTurn {}

/// The state after an event.
///
/// # Errors
/// When the table has no such turn.
pub fn next(from: State, event: Event) -> Result<State, NoTurn> {
    use Event as E;
    use State as S;
    match (from, event) {
        (S::Init, E::Started) => Ok(S::Running),
        (S::Running, E::AllSucceeded) | (S::Degraded, E::Accepted) => Ok(S::Success),
        (S::Running, E::OneSucceeded) => Ok(S::Degraded),
        (S::Init, E::GateFailed | E::Cancelled)
        | (S::Running, E::NoneSucceeded | E::Cancelled)
        | (S::Degraded, E::Rejected | E::Cancelled) => Ok(S::Failed),
        (from, event) => Err(NoTurn { from, event }),
    }
}

/// One of the two agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The back-end dimension.
    Codex,
    /// The front-end dimension.
    Gemini,
}

impl Backend {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Codex, Self::Gemini];

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// What it covers.
    #[must_use]
    pub fn dimension(self) -> &'static str {
        match self {
            Self::Codex => "backend",
            Self::Gemini => "frontend",
        }
    }
}

/// What the agents are asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Designs; the back end is the core.
    Architect,
    /// Analyses; both are the core.
    Analyzer,
    /// Reviews; the front end is the core.
    Reviewer,
    /// Develops; both are the core.
    Developer,
}

impl Role {
    /// Returns true where a result without this agent's dimension misses the point.
    #[must_use]
    pub fn needs(self, backend: Backend) -> bool {
        match self {
            Self::Architect => backend == Backend::Codex,
            Self::Reviewer => backend == Backend::Gemini,
            // The seed names no core for development; the stricter reading is that it has both.
            Self::Analyzer | Self::Developer => true,
        }
    }

    /// The role's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Architect => "architect",
            Self::Analyzer => "analyzer",
            Self::Reviewer => "reviewer",
            Self::Developer => "developer",
        }
    }
}

/// How bad a degraded result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum DegradedLevel {
    /// A dimension beside the core is missing.
    Acceptable,
    /// A core dimension is missing.
    Unacceptable,
}

/// The seed's error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Code {
    /// The program is not there or cannot be run.
    E001,
    /// The command cannot be rendered.
    E002,
    /// The process cannot be started.
    E003,
    /// One agent timed out.
    E004,
    /// Both agents timed out.
    E005,
    /// No session id in the output.
    E006,
    /// The person cancelled.
    E007,
}

impl Code {
    /// What to do about it.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::E001 => "check that the program is installed and on your PATH",
            Self::E002 => "check the command in the preferences (collab.codex)",
            Self::E003 => "check the program's interpreter and the machine's resources",
            Self::E004 => "it is tried once more by itself; raise --timeout",
            Self::E005 => "go on without them, or raise --timeout",
            Self::E006 => "check the output's format; --lite does without session ids",
            Self::E007 => "nothing to do",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// How one agent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub backend: Backend,
    /// Whether its command succeeded and said something.
    pub succeeded: bool,
    /// Its session.
    pub session: Option<String>,
    /// What went wrong, as a code where there is one.
    pub code: Option<Code>,
    /// What went wrong, in words.
    pub reason: String,
}

/// What the results mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What happened.
    pub event: Event,
    /// How bad it is, where one result is missing.
    pub level: Option<DegradedLevel>,
    /// The dimensions that are missing.
    pub missing: Vec<&'static str>,
    /// Why, where something is missing.
    pub reason: Option<String>,
    /// What is lost by it, where one result is missing.
    pub impact: Option<String>,
    /// The code that stands for it.
    pub code: Option<Code>,
}

/// Holds the results against the result gate.
///
/// A result is usable where its command succeeded and a session id was found;
/// in lite mode no session is needed. Without any session there is no
/// degraded result: words without a session are a failure.
#[must_use]
pub fn decide(results: &[Ended], role: Role, lite: bool) -> Outcome {
    let usable = |result: &&Ended| result.succeeded && (lite || result.session.is_some());
    let missing: Vec<&Ended> = results.iter().filter(|result| !usable(result)).collect();
    if missing.is_empty() && !results.is_empty() {
        return Outcome {
            event: Event::AllSucceeded,
            level: None,
            missing: Vec::new(),
            reason: None,
            impact: None,
            code: None,
        };
    }
    let all_timed_out = missing.len() == results.len()
        && missing.len() > 1
        && missing.iter().all(|result| result.code == Some(Code::E004));
    let why = |result: &Ended| {
        let (code, reason) = fault(result);
        code.map_or_else(
            || format!("{}: {reason}", result.backend.word()),
            |code| format!("{}: {reason} ({code})", result.backend.word()),
        )
    };
    let reason = missing
        .iter()
        .map(|result| why(result))
        .collect::<Vec<_>>()
        .join("; ");
    let code = if all_timed_out {
        Some(Code::E005)
    } else {
        missing.first().and_then(|result| fault(result).0)
    };
    let one = missing.len() < results.len();
    let level = one.then(|| {
        if missing.iter().any(|result| role.needs(result.backend)) {
            DegradedLevel::Unacceptable
        } else {
            DegradedLevel::Acceptable
        }
    });
    Outcome {
        event: if one {
            Event::OneSucceeded
        } else {
            Event::NoneSucceeded
        },
        level,
        missing: missing
            .iter()
            .map(|result| result.backend.dimension())
            .collect(),
        reason: Some(reason),
        impact: level.map(|level| impact(level, role, &missing)),
        code,
    }
}

/// What a result without these agents misses.
fn impact(level: DegradedLevel, role: Role, missing: &[&Ended]) -> String {
    let dimensions: Vec<&str> = missing
        .iter()
        .map(|result| result.backend.dimension())
        .collect();
    let dimensions = dimensions.join(" and ");
    match level {
        DegradedLevel::Acceptable => format!(
            "nothing was said on the {dimensions}; it is not the core of what the {} is asked",
            role.word()
        ),
        DegradedLevel::Unacceptable => format!(
            "nothing was said on the {dimensions}, which is the core of what the {} is asked",
            role.word()
        ),
    }
}

fn fault(result: &Ended) -> (Option<Code>, &str) {
    if result.succeeded {
        (Some(Code::E006), "no session id in its output")
    } else {
        (result.code, result.reason.as_str())
    }
}

#[cfg(test)]
mod tests;
