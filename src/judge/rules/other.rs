//! Rules `deps.*`, `system.*`, and findings that arrive already classed.

use super::found;
use crate::judge::facts::{Effect, EffectKind, PackageClass, SystemClass};
use crate::judge::rule::RuleId;
use crate::judge::verdict::Finding;

/// Returns the finding of one effect outside files, Contract and git.
pub(super) fn check(effect: &Effect) -> Option<Finding> {
    let (rule, reason) = match &effect.kind {
        EffectKind::Package { class } => match class {
            PackageClass::Listed => (RuleId::DepsListed, "listed_dependency"),
            PackageClass::Common => (RuleId::DepsCommon, "common_tool"),
            PackageClass::New => (RuleId::DepsNew, "new_dependency"),
            PackageClass::Upgrade => (RuleId::DepsUpgrade, "version_changed"),
        },
        EffectKind::System { class } => match class {
            SystemClass::Config => (RuleId::SystemConfig, "system_config"),
            SystemClass::Irreversible => (RuleId::SystemIrreversible, "irreversible"),
            SystemClass::RemoteCode => (RuleId::SystemRemoteCode, "remote_code"),
        },
        EffectKind::Guard => (RuleId::FileGuard, "guard_tampering"),
        EffectKind::Opaque { .. } => (RuleId::SystemOpaque, "opaque"),
        EffectKind::Declared { .. } => (RuleId::SystemIrreversible, "declared"),
        EffectKind::Ruled { rule } => (*rule, "ruled"),
        EffectKind::Read
        | EffectKind::File { .. }
        | EffectKind::AddedLine { .. }
        | EffectKind::Git { .. }
        | EffectKind::Contract { .. } => return None,
    };
    let what = if effect.evidence.is_empty() {
        rule.rule().when
    } else {
        &effect.evidence
    };
    let finding = found(rule, reason, effect, format!("{}: {what}", effect.subject));
    Some(match &effect.kind {
        EffectKind::Opaque { worst } => finding.at(*worst),
        EffectKind::Declared { level } => finding.at(*level),
        _ => finding,
    })
}
