//! The modifiers of a level, in the order of SPEC §2: actor, preferences,
//! strictness, session, context, recoverability.
//!
//! What is Level 3 by then stays Level 3 through preferences, strictness,
//! session and context. Two things make it milder: evidence in the facts
//! (nothing is lost, which the rules settle; the agent's own file; a safety
//! point that holds everything), and, for the Contract's bounds alone, a
//! person's explicit instruction, which comes before the Contract.

use super::actor::Actor;
use super::facts::{Coverage, Effect, EffectKind, Facts, GitClass, Place, Surface};
use super::level::Level;
use super::policy::{Policy, Priority, Recoverable, Risk, Strictness};
use super::rule::RuleId;
use super::verdict::{Adjustment, Finding};
use crate::contract;

/// The machine word of findings about the agent's own files.
pub(super) const OWN_FILE: &str = "own_file";

/// The machine word of findings about new files outside the workspace.
pub(super) const OUTSIDE_CREATED: &str = "outside_created";

/// The modifier by which a person's instruction comes before the Contract.
pub(super) const INSTRUCTION: &str = "instruction";

/// The modifiers in their order.
const ORDER: [&str; 7] = [
    "actor",
    "preferences",
    "strictness",
    "session",
    INSTRUCTION,
    "context",
    "recoverability",
];

/// What a modifier looks at beside the finding.
struct Scene<'a> {
    facts: &'a Facts,
    policy: &'a Policy,
    at_commit: bool,
    reaches: Reaches,
}

impl Scene<'_> {
    /// The level that one modifier leaves a finding at.
    fn level(&self, modifier: &str, finding: &Finding) -> Level {
        match modifier {
            "actor" => theirs(finding, self).unwrap_or(finding.level),
            "preferences" => by_preferences(finding, self),
            "strictness" => by_strictness(finding.level, self.policy.strictness),
            "session" if self.policy.relaxed_session => {
                by_strictness(finding.level, Strictness::Relaxed)
            }
            INSTRUCTION => by_instruction(finding, self.policy),
            "context" => by_context(finding, self),
            "recoverability" => by_recoverability(finding, self),
            _ => finding.level,
        }
    }
}

/// Applies every modifier to every finding and returns what changed, step by step.
pub(super) fn apply(findings: &mut [Finding], facts: &Facts, policy: &Policy) -> Vec<Adjustment> {
    let scene = Scene {
        facts,
        policy,
        at_commit: facts.surface == Surface::GitHook || facts.effects.iter().any(is_commit),
        reaches: Reaches::of(findings, facts),
    };
    let mut adjustments = Vec::new();
    for finding in findings {
        for by in ORDER {
            let to = scene.level(by, finding);
            if to == finding.level {
                continue;
            }
            adjustments.push(Adjustment {
                rule: finding.rule,
                by: by.to_owned(),
                from: finding.level,
                to,
            });
            finding.level = to;
            if let (Reaches::Nothing { point }, "recoverability") = (&scene.reaches, by)
                && finding.reason != OWN_FILE
            {
                finding.hint = format!("undo it: holdpoint rollback {point}");
            }
            if by == INSTRUCTION {
                finding
                    .harm
                    .push_str("; a person asked for it in this session");
                finding.hint = String::from("take the instruction back: holdpoint session strict");
            }
        }
    }
    adjustments
}

fn is_commit(effect: &Effect) -> bool {
    matches!(
        effect.kind,
        EffectKind::Git {
            class: GitClass::Commit,
            ..
        }
    )
}

/// The level of what is a person's own, where a person acts; `None` for everything else.
fn theirs(finding: &Finding, scene: &Scene<'_>) -> Option<Level> {
    let Actor::Person { .. } = scene.facts.actor else {
        return None;
    };
    match finding.rule {
        // What loses nothing is a person's own to do: commits, names, settings, packages.
        RuleId::GitStage
        | RuleId::GitCommit
        | RuleId::GitPush
        | RuleId::FileRename
        | RuleId::FileConfig
        | RuleId::DepsListed
        | RuleId::DepsCommon
        | RuleId::DepsNew => Some(Level::Autonomous),
        RuleId::FileBulk if scene.at_commit => Some(Level::Autonomous),
        // A person may change what an agent may not, but is told.
        RuleId::FileAuth | RuleId::DepsUpgrade => Some(Level::Transparent),
        RuleId::FileOutside if finding.reason == OUTSIDE_CREATED => Some(Level::Transparent),
        _ => None,
    }
}

fn by_preferences(finding: &Finding, scene: &Scene<'_>) -> Level {
    // `decision_authority` is an agent's; a person keeps what is theirs.
    match scene.policy.authority.get(&finding.rule) {
        Some(level) if finding.level < Level::MustAsk && theirs(finding, scene).is_none() => *level,
        _ => finding.level,
    }
}

fn by_strictness(level: Level, strictness: Strictness) -> Level {
    match (strictness, level) {
        (Strictness::Strict, Level::Confirm) => Level::MustAsk,
        (Strictness::Relaxed, Level::Confirm) => Level::Transparent,
        (Strictness::Relaxed, Level::Transparent) => Level::Autonomous,
        (_, level) => level,
    }
}

/// What a person explicitly asked for passes the Contract's bounds with a warning; nothing else does.
fn by_instruction(finding: &Finding, policy: &Policy) -> Level {
    let bounds = matches!(
        finding.rule,
        RuleId::ContractOutOfScope | RuleId::ContractMustNotChange
    );
    if bounds && contract::lists(&policy.instructed, finding.subject.as_ref()) {
        finding.level.min(Level::Transparent)
    } else {
        finding.level
    }
}

fn by_context(finding: &Finding, scene: &Scene<'_>) -> Level {
    let lifts = lifts(finding, scene.facts);
    if lifts && scene.policy.context.risk == Risk::High {
        return Level::MustAsk;
    }
    match (scene.policy.context.priority, finding.level) {
        // An emergency lowers 2 and 1 by one, as a relaxed reading does.
        (Priority::P0, level) => by_strictness(level, Strictness::Relaxed),
        (Priority::P3, Level::Transparent) if lifts => Level::Confirm,
        (Priority::P3, Level::Autonomous) if lifts => Level::Transparent,
        (_, level) => level,
    }
}

/// Returns true where a context may lift a level: never for what only reads,
/// whose risk is low by definition, nor for a person's ordinary work, which is
/// never asked about.
fn lifts(finding: &Finding, facts: &Facts) -> bool {
    let reads = matches!(
        finding.rule,
        RuleId::ReadOnly | RuleId::GitRead | RuleId::GitSafetyPoint
    );
    !reads && facts.actor.is_agent()
}

/// How far an action reaches beyond what a safety point holds.
enum Reaches {
    /// Nowhere: the point holds everything that it would destroy.
    Nothing {
        /// The point.
        point: String,
    },
    /// Further, or no point holds it.
    Further,
}

impl Reaches {
    fn of(findings: &[Finding], facts: &Facts) -> Self {
        let Coverage::Held { point } = &facts.coverage else {
            return Self::Further;
        };
        let beyond = findings.iter().any(|finding| {
            matches!(
                finding.rule,
                RuleId::GitPush
                    | RuleId::FileOutside
                    | RuleId::FileGuard
                    | RuleId::GitBypass
                    | RuleId::SystemConfig
                    | RuleId::SystemIrreversible
                    | RuleId::SystemRemoteCode
                    | RuleId::SystemOpaque
            )
        });
        let elsewhere = facts.effects.iter().any(|effect| {
            matches!(
                effect.kind,
                EffectKind::File {
                    place: Place::Outside | Place::Unknown | Place::GitDir | Place::Guard,
                    ..
                }
            )
        });
        if beyond || elsewhere {
            Self::Further
        } else {
            Self::Nothing {
                point: point.clone(),
            }
        }
    }
}

fn by_recoverability(finding: &Finding, scene: &Scene<'_>) -> Level {
    let recoverable = scene.policy.recoverable == Recoverable::Report
        && matches!(finding.rule, RuleId::GitDiscard | RuleId::FileDelete)
        && matches!(scene.reaches, Reaches::Nothing { .. });
    if recoverable || finding.reason == OWN_FILE {
        finding.level.min(Level::Transparent)
    } else {
        finding.level
    }
}
