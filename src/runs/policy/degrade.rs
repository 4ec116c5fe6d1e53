//! Who takes over when a service cannot be used.
//!
//! Source: the decision framework's degradation trees; SPEC §8 "Degrading".

use super::outcome::Kind;
use crate::judge::RuleId;
use serde::{Deserialize, Serialize};

/// One step down a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Who takes over; several work together.
    pub to: Vec<String>,
    /// What gets worse by it, as a clause.
    pub impact: String,
}

/// The main agent: whoever started the run.
pub const MAIN: &str = "main";

/// The built-in chain of an agent, best first; the last step hands back to the main agent.
#[must_use]
pub fn chain(agent: &str, front_end: bool) -> Vec<Step> {
    let step = |to: &[&str], impact: &str| Step {
        to: to.iter().map(|name| (*name).to_owned()).collect(),
        impact: impact.to_owned(),
    };
    let main = step(
        &[MAIN],
        "the main agent does it itself, without a second pair of eyes",
    );
    match agent {
        "codex" => vec![
            step(
                &["coder"],
                "the review looks for critical problems only (a lower standard)",
            ),
            main,
        ],
        "gemini" | "gemini-cli" if front_end => vec![step(
            &["codex", MAIN],
            "codex guides the design and the main agent writes it, without the front-end specialist",
        )],
        "gemini" | "gemini-cli" => vec![
            step(
                &["codex", "coder"],
                "codex guides and the coder writes, without the advice asked for",
            ),
            main,
        ],
        "coder" => vec![main],
        _ => Vec::new(),
    }
}

/// What is done about a service that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "degradation", rename_all = "snake_case")]
pub enum Degradation {
    /// A configured fallback takes over.
    Planned {
        /// Its place in the chain, from 1.
        level: u32,
    },
    /// No fallback is configured; the main agent could take over.
    Unplanned {
        /// What that means.
        step: Step,
    },
    /// Nothing is left.
    None,
}

impl Degradation {
    /// The rule that speaks.
    #[must_use]
    pub fn rule(&self) -> RuleId {
        match self {
            Self::Planned { .. } => RuleId::DegradePlanned,
            Self::Unplanned { .. } => RuleId::DegradeUnplanned,
            Self::None => RuleId::DegradeNone,
        }
    }
}

/// Whether an error is one that another service could be spared.
#[must_use]
pub fn helps(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::NetworkTimeout
            | Kind::ConnectionReset
            | Kind::RateLimit
            | Kind::Quota
            | Kind::Busy
            | Kind::Unavailable
            | Kind::Authentication
            | Kind::NotFound
            | Kind::Upstream
            | Kind::Dependency
            | Kind::Unknown
    )
}

/// Decides who takes over: `used` fallbacks of `configured` already failed, `most` may be used.
#[must_use]
pub fn next(agent: &str, front_end: bool, used: u32, configured: u32, most: u32) -> Degradation {
    if used < configured && used < most {
        return Degradation::Planned { level: used + 1 };
    }
    if used > 0 || most == 0 {
        return Degradation::None;
    }
    chain(agent, front_end)
        .into_iter()
        .next()
        .map_or(Degradation::None, |step| Degradation::Unplanned { step })
}

/// Words of a task that make it front-end work.
#[must_use]
pub fn is_front_end(task: &str) -> bool {
    let lower = task.to_lowercase();
    [
        "front-end",
        "frontend",
        "front end",
        "css",
        "react",
        "vue",
        "svelte",
        "layout",
        "前端",
        "界面",
    ]
    .iter()
    .any(|word| lower.contains(word))
        || lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| matches!(word, "ui" | "ux" | "html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chains_are_the_seeds() {
        let names = |agent, front| -> Vec<Vec<String>> {
            chain(agent, front)
                .into_iter()
                .map(|step| step.to)
                .collect()
        };
        assert_eq!(names("codex", false), [vec!["coder"], vec![MAIN]]);
        assert_eq!(names("gemini", true), [vec!["codex", MAIN]]);
        assert_eq!(names("gemini", false), [vec!["codex", "coder"], vec![MAIN]]);
        assert_eq!(names("coder", false), [vec![MAIN]]);
        assert!(names("make", false).is_empty());
    }

    #[test]
    fn fallbacks_are_used_in_turn_and_then_nothing_is_left() {
        assert_eq!(
            next("codex", false, 0, 2, 2),
            Degradation::Planned { level: 1 }
        );
        assert_eq!(
            next("codex", false, 1, 2, 2),
            Degradation::Planned { level: 2 }
        );
        assert_eq!(next("codex", false, 2, 2, 2), Degradation::None);
        assert_eq!(next("codex", false, 1, 2, 1), Degradation::None);
        assert!(matches!(
            next("codex", false, 0, 0, 2),
            Degradation::Unplanned { .. }
        ));
        assert_eq!(next("make", false, 0, 0, 2), Degradation::None);
        assert_eq!(next("codex", false, 0, 2, 0), Degradation::None);
    }

    #[test]
    fn code_errors_are_not_handed_on() {
        for kind in [
            Kind::Syntax,
            Kind::TestFailure,
            Kind::Permission,
            Kind::Cancelled,
        ] {
            assert!(!helps(kind), "{kind}");
        }
        for kind in [Kind::Quota, Kind::Authentication, Kind::Unavailable] {
            assert!(helps(kind), "{kind}");
        }
    }

    #[test]
    fn front_end_work_is_told_by_words() {
        for (task, expected) in [
            ("Fix the login UI", true),
            ("重做前端页面", true),
            ("rebuild the guide", false),
            ("add a build step", false),
        ] {
            assert_eq!(is_front_end(task), expected, "{task}");
        }
    }
}
