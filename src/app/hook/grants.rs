//! What a person agreed to at an agent's own hook, for the git hooks inside that very call.
//!
//! A held `git commit` that a person confirmed passes the agent's hook once; the
//! pre-commit hook it then runs into must not ask for the same thing again. The
//! grant names rules of git only, belongs to one agent's session, ends with the
//! tool call, and at the latest after some minutes.

use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::{Actor, EffectKind, Facts, GitClass, RuleId, Verdict};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use crate::sys::{actor, clock};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

/// The format of a grant.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Grant {
    version: u32,
    agent: String,
    session: Option<String>,
    rules: Vec<RuleId>,
    until: Timestamp,
}

/// Grants the git rules of a verdict to the call that is about to run.
///
/// # Errors
/// When the grant cannot be written.
pub(super) fn give(
    workspace: &Workspace,
    agent: &str,
    session: Option<&str>,
    verdict: &Verdict,
    minutes: i64,
) -> Result<()> {
    let rules: Vec<RuleId> = verdict
        .findings
        .iter()
        .filter(|finding| finding.level.needs_person() && finding.rule.family() == "git")
        .map(|finding| finding.rule)
        .collect();
    if rules.is_empty() {
        return Ok(());
    }
    let grant = Grant {
        version: VERSION,
        agent: agent.to_owned(),
        session: session.map(str::to_owned),
        rules,
        until: clock::now()
            .checked_add(SignedDuration::from_mins(minutes))
            .unwrap_or_else(|_| clock::now()),
    };
    let dir = dir(workspace);
    files::make_private_dir(&dir)?;
    let bytes = serde_json::to_vec(&grant)
        .doing(ErrorKind::Internal, || "cannot word a grant".to_owned())?;
    let name = format!("{}.json", ulid::Ulid::generate());
    files::replace(&dir.join(name), &bytes, 0o600, Durability::Lazy)
}

/// Takes back what was granted to a session's call; the call is over.
pub(super) fn revoke(workspace: &Workspace, agent: &str, session: Option<&str>) {
    for (path, grant) in all(workspace) {
        if grant.agent == agent && grant.session.as_deref() == session {
            // One that stays ends by its time.
            let _ = fs::remove_file(path);
        }
    }
}

/// The facts without the effects that the acting agent was just granted; a grant that cannot be read grants nothing.
pub(super) fn without_granted(env: &Env, workspace: &Workspace, mut facts: Facts) -> Facts {
    let Actor::Agent { name, session } = &facts.actor else {
        return facts;
    };
    let session = session.clone().or_else(|| actor::session(env));
    let now = clock::now();
    let mut granted = Vec::new();
    for (path, grant) in all(workspace) {
        if grant.until < now {
            let _ = fs::remove_file(path);
            continue;
        }
        let same_agent = grant.agent == *name || name == "agent";
        let same_session = match (&grant.session, &session) {
            (Some(theirs), Some(ours)) => theirs == ours,
            // Some agents tell their shell no session.
            _ => true,
        };
        if same_agent && same_session {
            granted.extend(grant.rules);
        }
    }
    facts.effects.retain(|effect| match &effect.kind {
        EffectKind::Git { class, .. } => !granted.contains(&rule_of(*class)),
        _ => true,
    });
    facts
}

fn rule_of(class: GitClass) -> RuleId {
    match class {
        GitClass::Read => RuleId::GitRead,
        GitClass::SafetyPoint => RuleId::GitSafetyPoint,
        GitClass::Stage => RuleId::GitStage,
        GitClass::Commit => RuleId::GitCommit,
        GitClass::Push => RuleId::GitPush,
        GitClass::History => RuleId::GitHistory,
        GitClass::Discard => RuleId::GitDiscard,
        GitClass::Bypass => RuleId::GitBypass,
    }
}

fn all(workspace: &Workspace) -> Vec<(PathBuf, Grant)> {
    let Ok(entries) = fs::read_dir(dir(workspace)) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let grant = serde_json::from_slice::<Grant>(&fs::read(&path).ok()?).ok()?;
            (grant.version == VERSION).then_some((path, grant))
        })
        .collect()
}

fn dir(workspace: &Workspace) -> PathBuf {
    workspace.state.join("sessions/grants")
}
