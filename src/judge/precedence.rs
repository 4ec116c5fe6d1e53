//! Which rule wins where rules disagree (SPEC §2, "Precedence when rules conflict").
//!
//! safety > the person's explicit instruction > Contract > timeout protection > efficiency

use super::level::Level;
use super::modifiers::INSTRUCTION;
use super::rule::RuleId;
use super::verdict::{Adjustment, Finding};
use serde_json::{Value, json};

/// How much a rule weighs against another; the first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Precedence {
    /// What would be lost, or get out of hand.
    Safety,
    /// What the person asked for, or has to be asked.
    Instruction,
    /// What was agreed.
    Contract,
    /// Time limits and loops.
    Timeout,
    /// Getting on with the work.
    Efficiency,
}

/// The precedence of a rule.
#[must_use]
pub fn precedence(rule: RuleId) -> Precedence {
    match rule {
        RuleId::FileAuth
        | RuleId::FileDelete
        | RuleId::FileDataDelete
        | RuleId::FileOutside
        | RuleId::FileGuard
        | RuleId::GitPush
        | RuleId::GitHistory
        | RuleId::GitDiscard
        | RuleId::GitBypass
        | RuleId::DepsUpgrade
        | RuleId::SystemConfig
        | RuleId::SystemIrreversible
        | RuleId::SystemRemoteCode
        | RuleId::SystemOpaque
        | RuleId::FailAuth
        | RuleId::FailPermission => Precedence::Safety,
        _ => match rule.family() {
            "intent" => Precedence::Instruction,
            "contract" => Precedence::Contract,
            "time" | "stuck" => Precedence::Timeout,
            _ if rule == RuleId::RetryExhausted => Precedence::Timeout,
            _ => Precedence::Efficiency,
        },
    }
}

/// Describes a conflict for the log: rules of different precedence of which one lets pass what another stops.
///
/// `findings` are sorted, the deciding one first.
pub(super) fn conflict(findings: &[Finding], adjustments: &[Adjustment]) -> Option<Value> {
    let winner = findings.first()?;
    if winner.level < Level::Confirm {
        return instructed(adjustments);
    }
    let weight = precedence(winner.rule);
    let mut against: Vec<&Finding> = Vec::new();
    for finding in findings {
        let other = precedence(finding.rule) != weight;
        let disagrees = finding.level.needs_person() != winner.level.needs_person()
            || finding.level < winner.level;
        let listed = against.iter().any(|known| known.rule == finding.rule);
        if other && disagrees && !listed {
            against.push(finding);
        }
    }
    if against.is_empty() {
        return None;
    }
    let side = |finding: &Finding| {
        json!({
            "rule": finding.rule,
            "priority": precedence(finding.rule),
            "level": finding.level,
        })
    };
    let mut rules = vec![side(winner)];
    rules.extend(against.iter().map(|finding| side(finding)));
    Some(json!({
        "rules": rules,
        "winner": winner.rule,
        "why": why(winner, &against),
    }))
}

/// Describes how a person's instruction outweighed the Contract.
fn instructed(adjustments: &[Adjustment]) -> Option<Value> {
    let step = adjustments.iter().find(|step| step.by == INSTRUCTION)?;
    Some(json!({
        "rules": [
            { "rule": INSTRUCTION, "priority": Precedence::Instruction, "level": step.to },
            { "rule": step.rule, "priority": precedence(step.rule), "level": step.from },
        ],
        "winner": INSTRUCTION,
        "why": format!(
            "{} comes before {}",
            word(Precedence::Instruction),
            word(precedence(step.rule))
        ),
    }))
}

fn why(winner: &Finding, against: &[&Finding]) -> String {
    let outweighs = against
        .iter()
        .all(|other| precedence(winner.rule) < precedence(other.rule));
    if outweighs {
        format!("{} comes first", word(precedence(winner.rule)))
    } else {
        "the strictest level decides; nothing lowers Level 3".to_owned()
    }
}

fn word(precedence: Precedence) -> &'static str {
    match precedence {
        Precedence::Safety => "safety",
        Precedence::Instruction => "the person's instruction",
        Precedence::Contract => "the Contract",
        Precedence::Timeout => "timeout protection",
        Precedence::Efficiency => "efficiency",
    }
}
