//! The modifiers of a level, in the order of SPEC §2: actor, preferences,
//! strictness, session, context, recoverability.
//!
//! What is Level 3 by then stays Level 3 through preferences, strictness,
//! session and context; only evidence in the facts makes it milder: nothing is
//! lost (settled by the rules), the agent's own file, a safety point that holds
//! everything.

use super::actor::Actor;
use super::facts::{Coverage, Effect, EffectKind, Facts, GitClass, Place, Surface};
use super::level::Level;
use super::policy::{Policy, Priority, Recoverable, Risk, Strictness};
use super::rule::RuleId;
use super::verdict::{Adjustment, Finding};

/// The machine word of findings about the agent's own files.
pub(super) const OWN_FILE: &str = "own_file";

/// Applies every modifier to every finding and returns what changed, step by step.
pub(super) fn apply(findings: &mut [Finding], facts: &Facts, policy: &Policy) -> Vec<Adjustment> {
    let at_commit = facts.surface == Surface::GitHook || facts.effects.iter().any(is_commit);
    let reaches = Reaches::of(findings, facts);
    let mut adjustments = Vec::new();
    for finding in findings {
        let steps: [(&str, &dyn Fn(&Finding) -> Level); 6] = [
            ("actor", &|finding| by_actor(finding, facts, at_commit)),
            ("preferences", &|finding| {
                // `decision_authority` is an agent's; a person keeps what is theirs.
                if theirs(finding, facts, at_commit).is_some() {
                    finding.level
                } else {
                    by_preferences(finding, policy)
                }
            }),
            ("strictness", &|finding| {
                by_strictness(finding.level, policy.strictness)
            }),
            ("session", &|finding| by_session(finding.level, policy)),
            ("context", &|finding| by_context(finding, facts, policy)),
            ("recoverability", &|finding| {
                by_recoverability(finding, policy, &reaches)
            }),
        ];
        for (by, step) in steps {
            let to = step(finding);
            if to != finding.level {
                adjustments.push(Adjustment {
                    rule: finding.rule,
                    by: by.to_owned(),
                    from: finding.level,
                    to,
                });
                finding.level = to;
            }
        }
        if let (Reaches::Nothing { point }, true) = (&reaches, finding.reason != OWN_FILE) {
            let recovered = adjustments
                .last()
                .is_some_and(|last| last.by == "recoverability" && last.rule == finding.rule);
            if recovered {
                finding.hint = format!("undo it: holdpoint rollback {point}");
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
fn theirs(finding: &Finding, facts: &Facts, at_commit: bool) -> Option<Level> {
    let Actor::Person { .. } = facts.actor else {
        return None;
    };
    match finding.rule {
        RuleId::GitStage | RuleId::GitCommit | RuleId::GitPush => Some(Level::Autonomous),
        RuleId::FileRename | RuleId::FileConfig | RuleId::FileBulk if at_commit => {
            Some(Level::Autonomous)
        }
        // A person may change what an agent may not, but is told.
        RuleId::FileAuth if at_commit => Some(Level::Transparent),
        _ => None,
    }
}

fn by_actor(finding: &Finding, facts: &Facts, at_commit: bool) -> Level {
    theirs(finding, facts, at_commit).unwrap_or(finding.level)
}

fn by_preferences(finding: &Finding, policy: &Policy) -> Level {
    match policy.authority.get(&finding.rule) {
        Some(level) if finding.level < Level::MustAsk => *level,
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

fn by_session(level: Level, policy: &Policy) -> Level {
    if policy.relaxed_session {
        by_strictness(level, Strictness::Relaxed)
    } else {
        level
    }
}

fn by_context(finding: &Finding, facts: &Facts, policy: &Policy) -> Level {
    let level = match (policy.context.priority, finding.level) {
        (Priority::P0, Level::Confirm) => Level::Transparent,
        (Priority::P0, Level::Transparent) => Level::Autonomous,
        (Priority::P3, level) if !lifts(finding, facts) => level,
        (Priority::P3, Level::Transparent) => Level::Confirm,
        (Priority::P3, Level::Autonomous) => Level::Transparent,
        (_, level) => level,
    };
    if policy.context.risk == Risk::High && lifts(finding, facts) {
        Level::MustAsk
    } else {
        level
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

fn by_recoverability(finding: &Finding, policy: &Policy, reaches: &Reaches) -> Level {
    if finding.reason == OWN_FILE {
        return finding.level.min(Level::Transparent);
    }
    let recoverable = policy.recoverable == Recoverable::Report
        && matches!(finding.rule, RuleId::GitDiscard | RuleId::FileDelete)
        && matches!(reaches, Reaches::Nothing { .. });
    if recoverable {
        finding.level.min(Level::Transparent)
    } else {
        finding.level
    }
}
