//! The timeout and degradation logs, in the seeds' own fields.

use super::entry::body;
use serde::Serialize;
use serde_json::{Map, Value};

/// A line of `timeout_log.jsonl` (timeout guardrails, "超时日志格式").
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Timeout {
    /// A task ran for too long.
    TaskTimeout {
        /// Which agent ran it.
        agent: String,
        /// What it did.
        task: String,
        /// Seconds it has run.
        duration: f64,
        /// The limit in seconds.
        threshold: f64,
        /// What was done: `warning`, `terminated`, ….
        action: String,
    },
    /// An agent goes round in circles.
    DecisionTimeout {
        /// In which way.
        behavior: Behavior,
        /// The file that is read again and again.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The tool that fails again and again.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// How often.
        count: u64,
        /// What was done: `stopped`, `suggested`, ….
        action: String,
    },
}

/// The ways of going round in circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Behavior {
    /// The same file is read again and again.
    RepeatedReads,
    /// The same tool fails again and again.
    ConsecutiveFailures,
    /// Nothing moves.
    NoProgress,
    /// Too many searches.
    ExcessiveSearches,
}

/// A line of `degradation_log.jsonl`.
#[derive(Clone, Debug, Serialize)]
pub struct Degradation {
    /// What is not available.
    pub service: String,
    /// Why, as a machine word.
    pub reason: String,
    /// What takes over.
    pub fallback: String,
    /// The task at hand.
    pub task: String,
    /// What it costs.
    pub impact: String,
    /// Whether the fallback did the task.
    pub success: bool,
}

impl Timeout {
    pub(super) fn into_body(self) -> Map<String, Value> {
        body(&self)
    }
}

impl Degradation {
    pub(super) fn into_body(self) -> Map<String, Value> {
        body(&self)
    }
}
