//! Rules `contract.*`: what was agreed, and changes of the agreement.

use super::found;
use crate::contract::Placement;
use crate::judge::facts::{
    ContractClass, Effect, EffectKind, Facts, FileOp, Nature, Place, Surface,
};
use crate::judge::policy::Policy;
use crate::judge::rule::RuleId;
use crate::judge::verdict::Finding;

/// Returns the findings of one effect against the Contract.
pub(super) fn check(effect: &Effect, policy: &Policy) -> Vec<Finding> {
    match &effect.kind {
        EffectKind::Contract { class } => vec![changed(effect, *class)],
        EffectKind::File {
            op,
            place: Place::Workspace,
            nature,
            ..
        } => {
            if matches!(nature, Nature::Contract | Nature::Policy) {
                return Vec::new();
            }
            let mut findings = Vec::new();
            if let FileOp::Rename { from } = op {
                findings.extend(placed(effect, from, policy));
            }
            let own = effect.subject.clone();
            findings.extend(placed(effect, &own, policy));
            findings
        }
        EffectKind::AddedLine { number, text } => forbidden(effect, *number, text, policy)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns a finding for a Contract that changes without anybody having said how.
pub(super) fn untold(facts: &Facts) -> Option<Finding> {
    // A commit's and a run's Contract has been compared with the confirmed one.
    if matches!(facts.surface, Surface::GitHook | Surface::Run) {
        return None;
    }
    let effect = facts.effects.iter().find(|effect| {
        matches!(
            effect.kind,
            EffectKind::File {
                place: Place::Workspace,
                nature: Nature::Contract,
                ..
            }
        )
    })?;
    let gone = matches!(
        effect.kind,
        EffectKind::File {
            op: FileOp::Delete | FileOp::Rename { .. },
            ..
        }
    );
    let (rule, what) = if gone {
        (RuleId::ContractRelax, "the Contract would go away")
    } else {
        (
            RuleId::ContractScope,
            "the Contract would change in a way that cannot be told beforehand",
        )
    };
    Some(
        found(rule, "contract_changed", effect, what)
            .with_hint("a person edits the Contract, then: holdpoint contract confirm"),
    )
}

fn changed(effect: &Effect, class: ContractClass) -> Finding {
    let (rule, reason) = match class {
        ContractClass::Create => (RuleId::ContractCreate, "contract_created"),
        ContractClass::Detail => (RuleId::ContractDetail, "contract_detail"),
        ContractClass::FixConflict => (RuleId::ContractFixConflict, "contract_conflict_fixed"),
        ContractClass::Scope => (RuleId::ContractScope, "contract_scope_changed"),
        ContractClass::Relax => (RuleId::ContractRelax, "contract_relaxed"),
    };
    let what = if effect.evidence.is_empty() {
        rule.rule().when
    } else {
        &effect.evidence
    };
    found(rule, reason, effect, what)
}

fn placed(effect: &Effect, path: &bstr::BString, policy: &Policy) -> Option<Finding> {
    // Holdpoint's own files are judged by rules of their own.
    if path.starts_with(b".ccg/") {
        return None;
    }
    let contract = policy.contract.as_ref()?;
    match contract.place(path.as_ref()) {
        Placement::InScope => None,
        Placement::OutOfScope { why } => Some(
            found(
                RuleId::ContractOutOfScope,
                "out_of_scope",
                effect,
                format!("{path} is outside the Contract: {why}"),
            )
            .about(path)
            .with_hint("fix the code: change only what is in scope; where the scope itself is wrong, a person widens it: holdpoint contract confirm"),
        ),
        Placement::Frozen { by } => Some(
            found(
                RuleId::ContractMustNotChange,
                "must_not_change",
                effect,
                format!("{path} must not change: the Contract freezes {by}"),
            )
            .about(path)
            .with_hint("fix the code: leave it as it is; where the Contract is wrong, a person changes it: holdpoint contract confirm"),
        ),
    }
}

fn forbidden(
    effect: &Effect,
    number: u64,
    text: &bstr::BString,
    policy: &Policy,
) -> Option<Finding> {
    let contract = policy.contract.as_ref()?;
    let pattern = contract.forbids(text.as_ref())?;
    Some(
        found(
            RuleId::ContractForbidden,
            "forbidden_pattern",
            effect,
            format!(
                "{}:{number} matches the forbidden {pattern}",
                effect.subject
            ),
        )
        .with_hint("fix the code: write the line without it; where the Contract is wrong, a person changes it: holdpoint contract confirm"),
    )
}
