//! The modifiers of a level, in the order of SPEC §2: actor, preferences, session, context, recoverability.

use super::actor::Actor;
use super::facts::{Facts, Surface};
use super::level::Level;
use super::policy::{Policy, Strictness};
use super::rule::RuleId;
use super::verdict::{Adjustment, Finding};

/// Applies every modifier to every finding and returns what changed.
pub(super) fn apply(findings: &mut [Finding], facts: &Facts, policy: &Policy) -> Vec<Adjustment> {
    let mut adjustments = Vec::new();
    for finding in findings {
        let mut set = |finding: &mut Finding, by: &str, to: Level| {
            if to != finding.level {
                adjustments.push(Adjustment {
                    rule: finding.rule,
                    by: by.to_owned(),
                    from: finding.level,
                    to,
                });
                finding.level = to;
            }
        };
        let level = by_actor(finding, facts);
        set(finding, "actor", level);
        if finding.level < Level::MustAsk {
            if let Some(level) = policy.authority.get(&finding.rule) {
                set(finding, "preferences", *level);
            }
            let level = by_strictness(finding.level, policy.strictness);
            set(finding, "strictness", level);
            if policy.relaxed_session {
                let level = by_strictness(finding.level, Strictness::Relaxed);
                set(finding, "session", level);
            }
        }
    }
    adjustments
}

fn by_actor(finding: &Finding, facts: &Facts) -> Level {
    let Actor::Person { .. } = facts.actor else {
        return finding.level;
    };
    let at_commit = facts.surface == Surface::GitHook;
    match finding.rule {
        RuleId::GitStage | RuleId::GitCommit | RuleId::GitPush => Level::Autonomous,
        RuleId::FileRename | RuleId::FileConfig | RuleId::FileBulk if at_commit => {
            Level::Autonomous
        }
        // A person may change what an agent may not, but is told.
        RuleId::FileAuth if at_commit => Level::Transparent,
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
