//! What the judge answers.

use super::facts::Losses;
use super::level::Level;
use super::rule::RuleId;
use bstr::BString;
use serde::{Deserialize, Serialize};

/// One rule that an effect matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule.
    pub rule: RuleId,
    /// Its level here, after the modifiers.
    pub level: Level,
    /// Short machine word (`out_of_scope`, `file_deleted`, …).
    pub reason: String,
    /// To what: path, ref, package.
    pub subject: BString,
    /// The harm in one line.
    pub harm: String,
    /// The way out in one line; empty where there is none to give.
    pub hint: String,
}

/// What becomes of the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Passes silently (Level 0).
    Allow,
    /// Passes, and is told (Level 1).
    Report,
    /// A person is asked, where one can be; else it is held (Level 2).
    Ask,
    /// Held until a person confirms (Level 3).
    Hold,
}

impl Decision {
    /// The word used in logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Report => "report",
            Self::Ask => "ask",
            Self::Hold => "hold",
        }
    }
}

impl From<Level> for Decision {
    fn from(level: Level) -> Self {
        match level {
            Level::Autonomous => Self::Allow,
            Level::Transparent => Self::Report,
            Level::Confirm => Self::Ask,
            Level::MustAsk => Self::Hold,
        }
    }
}

/// One step by which a modifier changed a finding's level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjustment {
    /// Whose level changed.
    pub rule: RuleId,
    /// Which modifier: `actor`, `preferences`, `strictness`, `session`, `instruction`, `context`, `recoverability`.
    pub by: String,
    /// Level before.
    pub from: Level,
    /// Level after.
    pub to: Level,
}

/// The judgement of one action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The highest level among the findings.
    pub level: Level,
    /// What becomes of the action.
    pub decision: Decision,
    /// All rules that matched, strictest first.
    pub findings: Vec<Finding>,
    /// One sentence a person understands: rule, condition, conclusion.
    pub reasoning: String,
    /// What would be gone that exists nowhere else.
    pub loses: Losses,
    /// Whether a safety point holds all of it; `None` when none was taken.
    pub held_by_safety_point: Option<bool>,
    /// How modifiers changed levels, in order.
    pub adjustments: Vec<Adjustment>,
    /// Further context for the log (priority, risk, complexity, conflict).
    pub context: serde_json::Map<String, serde_json::Value>,
}

impl Verdict {
    /// The rule ids, strictest first, without repeats.
    #[must_use]
    pub fn rules(&self) -> Vec<RuleId> {
        let mut rules = Vec::new();
        for finding in &self.findings {
            if !rules.contains(&finding.rule) {
                rules.push(finding.rule);
            }
        }
        rules
    }

    /// The deciding finding's machine word, `no_risk` where nothing matched.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.findings
            .first()
            .map_or("no_risk", |finding| finding.reason.as_str())
    }
}
