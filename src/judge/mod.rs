//! Facts and policy in, verdict out. Pure: no git, no clock, no files.
//!
//! Each family of rules has a file in [`rules`]; a rule turns one effect into
//! at most one [`Finding`]. The modifiers then change levels in the fixed order
//! of SPEC §2, and the strictest finding decides. What could not be observed
//! is an `Opaque` effect, never a missing one.

mod action;
mod actor;
mod batch;
mod explain;
mod facts;
mod level;
mod modifiers;
mod policy;
mod precedence;
mod rule;
mod rules;
#[cfg(test)]
mod tests;
mod verdict;
pub mod words;

pub use action::{Action, AddedLine, After, ChangeOp, PathChange, RefChange, RefUpdate};
pub use actor::Actor;
pub use batch::{Pending, average as batch_similarity, batches, similarity};
pub use explain::{Explanation, explain};
pub use facts::{
    ContractClass, Coverage, Effect, EffectKind, Facts, FileOp, FileState, GitClass, Losses,
    Nature, PackageClass, Place, Surface, SystemClass,
};
pub use level::Level;
pub use policy::{Policy, Priority, Recoverable, Risk, Strictness, TaskContext};
pub use precedence::{Precedence, precedence};
pub use rule::{MATRIX, Rule, RuleId};
pub use verdict::{Adjustment, Decision, Finding, Verdict};

/// Judges one action.
#[must_use]
pub fn judge(facts: &Facts, policy: &Policy) -> Verdict {
    let mut findings = rules::findings(facts, policy);
    let adjustments = modifiers::apply(&mut findings, facts, policy);
    findings.sort_by(|a, b| {
        b.level
            .cmp(&a.level)
            .then_with(|| precedence(a.rule).cmp(&precedence(b.rule)))
            .then(a.rule.cmp(&b.rule))
    });
    let level = findings
        .first()
        .map_or(Level::Autonomous, |finding| finding.level);
    let mut loses = Losses::default();
    for effect in &facts.effects {
        loses.merge(&effect.loses);
    }
    let held_by_safety_point = match &facts.coverage {
        Coverage::NotTaken => None,
        Coverage::Held { .. } => Some(true),
        Coverage::Partial { .. } | Coverage::Failed { .. } => Some(false),
    };
    let reasoning = findings.first().map_or_else(
        || "read.only: nothing here is written or lost".to_owned(),
        |first| {
            format!(
                "{}: {}; {} needs {}",
                first.rule,
                first.harm,
                first.level,
                match level {
                    Level::Autonomous => "nobody",
                    Level::Transparent => "only to be told",
                    Level::Confirm | Level::MustAsk => "a person's confirmation",
                }
            )
        },
    );
    let mut context = serde_json::Map::new();
    if policy.context != TaskContext::default() {
        context.insert(
            "priority".to_owned(),
            format!("{:?}", policy.context.priority).into(),
        );
        context.insert("risk".to_owned(), policy.context.risk.word().into());
    }
    if let Some(conflict) = precedence::conflict(&findings, &adjustments) {
        context.insert("conflict".to_owned(), conflict);
    }
    Verdict {
        level,
        decision: level.into(),
        findings,
        reasoning,
        loses,
        held_by_safety_point,
        adjustments,
        context,
    }
}
