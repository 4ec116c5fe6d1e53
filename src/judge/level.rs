//! The four levels of authority.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How much authority an action needs (SPEC §2). Ordered: stricter is greater.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Level {
    /// 0: no risk, or reversible and expected.
    #[default]
    #[serde(rename = "level_0")]
    Autonomous,
    /// 1: low risk and reversible; the person should know.
    #[serde(rename = "level_1")]
    Transparent,
    /// 2: medium risk; may miss the person's intent.
    #[serde(rename = "level_2")]
    Confirm,
    /// 3: high risk, irreversible, or changes what was agreed.
    #[serde(rename = "level_3")]
    MustAsk,
}

impl Level {
    /// All levels, mildest first.
    pub const ALL: [Self; 4] = [
        Self::Autonomous,
        Self::Transparent,
        Self::Confirm,
        Self::MustAsk,
    ];

    /// The level as the number that people read.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The level of a number, if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The word used in logs and preferences: `level_0` … `level_3`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Autonomous => "level_0",
            Self::Transparent => "level_1",
            Self::Confirm => "level_2",
            Self::MustAsk => "level_3",
        }
    }

    /// Returns true where a person has to agree before the action goes on.
    #[must_use]
    pub fn needs_person(self) -> bool {
        self >= Self::Confirm
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Level {}", self.number())
    }
}
