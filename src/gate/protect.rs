//! Takes a safety point before anything that could destroy, and says what it holds.

use crate::judge::{
    Coverage, Effect, EffectKind, Facts, FileOp, FileState, GitClass, Level, Nature, Place,
    Surface, Verdict,
};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::vault;
use bstr::BString;

/// In which session and run the action comes up.
pub(super) struct Who<'a> {
    pub(super) session: Option<&'a str>,
    pub(super) run: Option<&'a str>,
}

/// Returns true where the action could destroy something that a point can hold, or will be held.
pub(super) fn is_needed(facts: &Facts, verdict: &Verdict) -> bool {
    if facts.surface == Surface::Check || facts.coverage != Coverage::NotTaken {
        return false;
    }
    if verdict.level >= Level::Confirm {
        return true;
    }
    // A commit's bytes are all in git already; an agent's write replaces the only copy.
    facts.surface != Surface::GitHook && facts.effects.iter().any(destroys)
}

fn destroys(effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::File {
            op, place, state, ..
        } => {
            *place == Place::Workspace
                && !matches!(op, FileOp::Create)
                && !matches!(state, FileState::Absent | FileState::Own)
        }
        EffectKind::Git { class, lossy } => {
            *lossy && matches!(class, GitClass::History | GitClass::Discard)
        }
        EffectKind::Opaque { .. } => true,
        _ => false,
    }
}

/// Returns true where the point has to hold the path itself: its bytes may be nowhere else.
///
/// Clean files are in git; build output that git ignores is not worth a person's time.
fn must_be_held(effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::File { nature, state, .. } => {
            destroys(effect)
                && match state {
                    FileState::Clean | FileState::Absent | FileState::Own => false,
                    FileState::Ignored => !matches!(nature, Nature::Ordinary | Nature::Config),
                    FileState::Modified | FileState::Untracked | FileState::Unknown => true,
                }
        }
        _ => false,
    }
}

/// The point that the caller took before it came here.
pub(super) fn taken(facts: &Facts) -> Option<String> {
    match &facts.coverage {
        Coverage::Held { point } | Coverage::Partial { point, .. } => Some(point.clone()),
        Coverage::NotTaken | Coverage::Failed { .. } => None,
    }
}

/// Takes the point and notes in the facts what it covers; a failure raises the level and is warned of.
pub(super) fn cover(
    env: &Env,
    workspace: &Workspace,
    facts: &mut Facts,
    who: &Who<'_>,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let saved = vault::save(
        env,
        workspace,
        &vault::Request {
            session: who.session.map(str::to_owned),
            run: who.run.map(str::to_owned),
            ..vault::Request::new("gate", facts.actor.clone())
        },
    );
    match saved {
        Ok(saved) => {
            warnings.extend(saved.notices);
            let paths: Vec<BString> = facts
                .effects
                .iter()
                .filter(|effect| must_be_held(effect))
                .map(|effect| effect.subject.clone())
                .collect();
            facts.coverage = vault::coverage(&saved.point, &paths);
            if let Coverage::Partial { missing, .. } = &facts.coverage {
                let names: Vec<String> = missing.iter().take(3).map(ToString::to_string).collect();
                let text = format!("the safety point does not hold {}", names.join(", "));
                uncovered(facts, &text);
                warnings.push(text);
            }
            Some(saved.point.id)
        }
        Err(error) => {
            let text = format!("no safety point could be taken: {error}");
            facts.coverage = Coverage::Failed {
                why: error.doing().to_owned(),
            };
            uncovered(facts, &text);
            warnings.push(text);
            None
        }
    }
}

/// A gate that needed a point and has none, or a partial one, asks a person.
fn uncovered(facts: &mut Facts, why: &str) {
    facts.effects.push(
        Effect::new(
            EffectKind::Opaque {
                worst: Level::Confirm,
            },
            "safety point",
        )
        .because(why),
    );
}
