//! Rules `git.*`: what a git command does to git's own state.

use super::found;
use crate::judge::facts::{Effect, EffectKind, GitClass};
use crate::judge::level::Level;
use crate::judge::rule::RuleId;
use crate::judge::verdict::Finding;

/// Returns the finding of one git effect.
pub(super) fn check(effect: &Effect) -> Option<Finding> {
    let EffectKind::Git { class, lossy } = &effect.kind else {
        return None;
    };
    let (rule, reason, hint) = match class {
        GitClass::Read => (RuleId::GitRead, "git_read", ""),
        GitClass::SafetyPoint => (RuleId::GitSafetyPoint, "safety_point", ""),
        GitClass::Stage => (RuleId::GitStage, "git_stage", ""),
        GitClass::Commit => (RuleId::GitCommit, "git_commit", ""),
        GitClass::Push => (RuleId::GitPush, "git_push", "ask a person to push"),
        GitClass::History => (RuleId::GitHistory, "git_history", "commit on top instead"),
        GitClass::Discard => (
            RuleId::GitDiscard,
            "git_discard",
            "commit or stash what is there first",
        ),
        GitClass::Bypass => (RuleId::GitBypass, "git_bypass", "let the hooks run"),
    };
    let harm = if effect.evidence.is_empty() {
        format!("{}: {}", effect.subject, rule.rule().when)
    } else {
        format!("{}: {}", effect.subject, effect.evidence)
    };
    let finding = found(rule, reason, effect, harm).with_hint(hint);
    // Evidence, not fear: what loses nothing is only told.
    let harmless = matches!(class, GitClass::History | GitClass::Discard) && !lossy;
    Some(if harmless {
        finding.at(Level::Transparent)
    } else {
        finding
    })
}
