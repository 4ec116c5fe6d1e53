//! Who acts: a person or an agent.

use serde::{Deserialize, Serialize};

/// Who is about to act, as far as it can be told from outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// Nothing points to an agent.
    Person {
        /// A controlling terminal is there to ask on.
        terminal: bool,
    },
    /// An agent hook, a wrapped run, an agent among the ancestors or its mark in the environment.
    Agent {
        /// The agent's name where it is known (`claude`, `codex`, …), else `agent`.
        name: String,
        /// The agent's own session id where it is known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        session: Option<String>,
    },
}

impl Actor {
    /// Returns true for an agent.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        matches!(self, Self::Agent { .. })
    }

    /// The short word used in logs: `person` or `agent:NAME`.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::Person { .. } => "person".to_owned(),
            Self::Agent { name, .. } => format!("agent:{name}"),
        }
    }
}
