//! Holds of a run that is over, made anew where nobody answered in time: the change is still kept.

use super::{Scene, guard};
use crate::assess;
use crate::error::Result;
use crate::gate::{self, Answer, Asking};
use crate::holds::{self, State};
use crate::judge::{Action, Coverage, Effect, EffectKind, Facts, GitClass, Surface};
use crate::runs::delta;
use crate::runs::record::Run;

/// Makes a new hold for every expired one whose change is still kept; returns their ids.
pub fn renew(scene: &Scene<'_>, run: &mut Run) -> Result<Vec<String>> {
    let mut made = Vec::new();
    for id in run.holds.clone() {
        let hold = holds::find(scene.env, scene.workspace, &id)?;
        if hold.state_now() != State::Expired {
            continue;
        }
        let facts = match &hold.action {
            Action::WorkspaceDelta { from, changes } => assess::delta::facts(
                scene.env,
                scene.workspace,
                changes,
                None,
                Coverage::Held {
                    point: from.clone(),
                },
                run.actor(),
            )?,
            Action::RefUpdates { updates } => Facts {
                surface: Surface::Run,
                actor: run.actor(),
                effects: updates
                    .iter()
                    .map(|update| {
                        Effect::new(
                            EffectKind::Git {
                                class: GitClass::History,
                                lossy: true,
                            },
                            update.name.clone(),
                        )
                        .because("the run moved it, and it was put back")
                    })
                    .collect(),
                coverage: Coverage::NotTaken,
            },
            _ => continue,
        };
        let request = gate::Request {
            action: &hold.action,
            facts,
            policy: scene.policy,
            session: hold.session.as_deref(),
            run: Some(&run.id),
            asking: Asking::Never,
            payload: hold.payload.clone(),
        };
        match gate::pass(scene.env, scene.workspace, request)? {
            Answer::Held(again) => {
                run.holds.push(again.hold.id.clone());
                made.push(again.hold.id.clone());
            }
            // What was agreed has changed since: it needs nobody any more.
            Answer::Passed(_) => {
                if let Some(payload) = delta::Payload::of(&hold) {
                    delta::apply(scene.workspace, &payload)?;
                }
                guard::log(
                    scene,
                    run,
                    guard::Note::new("allow", crate::judge::RuleId::FileModify, "no_longer_held")
                        .saying(format!("{}: by the policy of now it stays", hold.summary)),
                )?;
            }
        }
    }
    Ok(made)
}
