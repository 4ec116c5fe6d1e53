//! The rules, one family a file; each turns an effect into at most one finding.

mod contract;
mod file;
mod git;
mod other;

use super::facts::{Effect, Facts};
use super::policy::Policy;
use super::rule::RuleId;
use super::verdict::Finding;

/// Number of files above which one action is a bulk change (SPEC §2, `file.bulk`).
const BULK: usize = 100;

/// Returns every finding of every rule, in the order of the effects.
pub(super) fn findings(facts: &Facts, policy: &Policy) -> Vec<Finding> {
    let mut findings = Vec::new();
    for effect in &facts.effects {
        findings.extend(file::check(effect));
        findings.extend(contract::check(effect, policy));
        findings.extend(git::check(effect));
        findings.extend(other::check(effect));
    }
    findings.extend(file::bulk(facts, BULK));
    findings.extend(contract::untold(facts));
    other::lift_new_in_manifest(&mut findings, facts);
    findings
}

/// Starts a finding of `rule` at its level in the matrix.
fn found(rule: RuleId, reason: &str, effect: &Effect, harm: impl Into<String>) -> Finding {
    Finding {
        rule,
        level: rule.rule().level,
        reason: reason.to_owned(),
        subject: effect.subject.clone(),
        harm: harm.into(),
        hint: String::new(),
    }
}

impl Finding {
    /// Sets the way out.
    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Says what it is about, where that is not the effect's own subject.
    fn about(mut self, subject: &bstr::BString) -> Self {
        self.subject.clone_from(subject);
        self
    }

    /// Sets another level than the matrix's, where evidence asks for it.
    fn at(mut self, level: super::Level) -> Self {
        self.level = level;
        self
    }
}
