//! Rules `deps.*`, `system.*`, and findings that arrive already classed.

use super::found;
use crate::judge::facts::{Effect, EffectKind, Facts, FileOp, PackageClass, SystemClass};
use crate::judge::level::Level;
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

/// Names of files that list packages.
const MANIFESTS: &[&str] = &[
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "Pipfile",
    "environment.yml",
    "go.mod",
    "Gemfile",
    "composer.json",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
];

/// Lifts `deps.new` to Level 3 where an agent adds the package to the manifest
/// (decision framework, "安装不在 requirements.txt 的依赖").
pub(super) fn lift_new_in_manifest(findings: &mut [Finding], facts: &Facts) {
    if !facts.actor.is_agent() || !findings.iter().any(|one| one.rule == RuleId::DepsNew) {
        return;
    }
    let adds = facts.effects.iter().any(|effect| {
        let writes = matches!(
            &effect.kind,
            EffectKind::File {
                op: FileOp::Create | FileOp::Modify | FileOp::Overwrite,
                ..
            }
        );
        let name = effect.subject.rsplit(|byte| *byte == b'/').next();
        writes && MANIFESTS.iter().any(|known| name == Some(known.as_bytes()))
    });
    if adds {
        for finding in findings
            .iter_mut()
            .filter(|one| one.rule == RuleId::DepsNew)
        {
            finding.level = Level::MustAsk;
            finding
                .harm
                .push_str(", and would be added to the manifest");
        }
    }
}
