//! What was agreed beforehand: the Contract, the preferences, the session, the context.

use super::level::Level;
use super::rule::RuleId;
use crate::contract::{Contract, PathPattern};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything agreed beforehand that a verdict depends on.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The Contract that counts; `None` when there is none, and then nothing is out of scope.
    pub contract: Option<Contract>,
    /// Levels that preferences set for single rules.
    pub authority: BTreeMap<RuleId, Level>,
    /// How strictly levels 1 and 2 are read.
    pub strictness: Strictness,
    /// A person said "no need to ask" for this session.
    pub relaxed_session: bool,
    /// Paths that a person explicitly asked to be changed in this session, though the Contract leaves them out.
    pub instructed: Vec<PathPattern>,
    /// What a proven safety point does to Level 3 discards and deletions.
    pub recoverable: Recoverable,
    /// The task at hand.
    pub context: TaskContext,
    /// The lowest level of passed actions that is logged.
    pub log_from: Level,
    /// Observe mode: judge and record, never refuse.
    pub observe: bool,
}

/// `global_strictness` (SPEC §2, modifier 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// Level 2 becomes 1, 1 becomes 0.
    Relaxed,
    /// As the matrix says.
    #[default]
    Normal,
    /// Level 2 becomes 3.
    Strict,
}

/// `recoverable` (SPEC §2, modifier 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recoverable {
    /// A Level 3 discard stays Level 3.
    #[default]
    Hold,
    /// A Level 3 discard that a safety point holds whole is reported with the undo command.
    Report,
}

/// Priority of a task (SPEC §2, modifier 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Priority {
    /// Emergency.
    P0,
    /// High.
    P1,
    /// Normal.
    #[default]
    P2,
    /// Exploration.
    P3,
}

/// How much could go wrong.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads, and fully reversible work with tests.
    #[default]
    Low,
    /// Writes that are partly reversible.
    Medium,
    /// Anything irreversible, untested, or production data.
    High,
}

impl Risk {
    /// The word used in logs and the Contract.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Priority and risk of the task at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskContext {
    /// From `--priority`, the Contract, or the task's words.
    pub priority: Priority,
    /// From the Contract or the task.
    pub risk: Risk,
}
