//! What the hook answers, before and after it is worded for one protocol.

use serde_json::Value;

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call goes on, and nothing is said.
    Pass,
    /// The call goes on, and the agent is told this.
    Tell(String),
    /// The agent asks its person, with this reason.
    Ask(String),
    /// The call does not happen, for this reason.
    Deny(String),
    /// The call goes on with another command.
    Rewrite {
        /// The command that runs instead.
        command: String,
        /// What the agent is told, if anything.
        tell: Option<String>,
    },
    /// The agent is told to stop what it is doing, for this reason.
    Stop(String),
}

/// Bytes and status for the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output; one JSON object or nothing.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit status.
    pub exit: u8,
}

impl Reply {
    /// Exit status 0 and nothing said.
    #[must_use]
    pub fn silent() -> Self {
        Self::default()
    }

    /// Exit status 0 and one JSON object.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self {
            stdout: format!("{value}\n"),
            ..Self::default()
        }
    }

    /// Exit status 2 and the reason on standard error.
    #[must_use]
    pub fn blocked(reason: &str) -> Self {
        Self {
            stdout: String::new(),
            stderr: format!("{}\n", limited(reason)),
            exit: 2,
        }
    }
}

/// Longest text, in bytes, that every agent passes on whole.
const LONGEST: usize = 9_500;

/// A reason cut to what agents pass on, never empty: an empty one lets the call through in two agents.
#[must_use]
pub(super) fn limited(reason: &str) -> String {
    let reason = reason.trim();
    if reason.is_empty() {
        return "holdpoint refuses this call".to_owned();
    }
    if reason.len() <= LONGEST {
        return reason.to_owned();
    }
    let end = (0..=LONGEST)
        .rev()
        .find(|at| reason.is_char_boundary(*at))
        .unwrap_or(0);
    format!("{} …", reason.get(..end).unwrap_or_default())
}
