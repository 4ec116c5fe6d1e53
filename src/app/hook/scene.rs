//! Everything around one call of a git hook: where, who, by which policy, under which command.

use super::grants;
use super::marks::Marks;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::gate::{self, Answer, Asking};
use crate::judge::{Action, Actor, Facts, Policy, words};
use crate::prefs;
use crate::repo::Workspace;
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::heartbeat;
use crate::sys::env::Env;
use crate::sys::{actor, out};

/// The surroundings of one call.
pub(super) struct Scene {
    pub(super) env: Env,
    pub(super) workspace: Workspace,
    pub(super) actor: Actor,
    pub(super) policy: Policy,
    pub(super) caller: Option<Caller>,
    pub(super) marks: Marks,
}

impl Scene {
    /// Looks around; the only way from a hook's call to a judgement.
    ///
    /// # Errors
    /// When the workspace or the policy cannot be read: the caller then blocks.
    pub(super) fn look(caller: Option<Caller>) -> Result<Self> {
        let env = Env::read()?;
        let workspace = Workspace::discover(&env)?;
        let policy = prefs::policy(&env, &workspace)?;
        let actor = actor::detect(&env);
        let marks = Marks::of(&workspace, caller.as_ref());
        if workspace.state.join("install").is_dir() {
            heartbeat::beat(&workspace, "git")?;
        }
        Ok(Self {
            env,
            workspace,
            actor,
            policy,
            caller,
            marks,
        })
    }

    /// Returns true where observing would itself be seen: Holdpoint's own files would lie in the worktree.
    ///
    /// A home directory that is a worktree has them there; git's own tests run so.
    pub(super) fn would_show(&self) -> bool {
        self.policy.observe && self.workspace.state.starts_with(&self.workspace.root)
    }

    /// Puts an action before the gate, tells the outcome, and returns whether git may go on.
    ///
    /// What a person has just agreed to at the agent's own hook is not asked again.
    ///
    /// # Errors
    /// As [`gate::pass`].
    pub(super) fn pass(&self, action: &Action, facts: Facts) -> Result<bool> {
        let facts = grants::without_granted(&self.env, &self.workspace, facts);
        let session = actor::session(&self.env);
        let answer = gate::pass(
            &self.env,
            &self.workspace,
            gate::Request {
                action,
                facts,
                policy: &self.policy,
                session: session.as_deref(),
                run: self.env.text("HOLDPOINT_RUN"),
                asking: Asking::Allowed,
                payload: serde_json::Value::Null,
            },
        )?;
        // Observing means that git behaves, and looks, as if we were not there.
        if self.policy.observe {
            return Ok(true);
        }
        Ok(match answer {
            Answer::Passed(passed) => {
                warn(&passed.warnings);
                if passed.confirmed.is_none()
                    && let Some(line) = words::passed(&passed.verdict)
                {
                    out::note(line);
                }
                true
            }
            Answer::Held(held) => {
                warn(&held.warnings);
                out::note(if self.actor.is_agent() {
                    words::held_for_agent(&held.verdict, &held.hold.id)
                } else {
                    words::held(&held.verdict, &held.hold.id)
                });
                false
            }
        })
    }

    /// As [`Scene::pass`], as an exit status.
    ///
    /// # Errors
    /// As [`gate::pass`].
    pub(super) fn decide(&self, action: &Action, facts: Facts) -> Result<ExitStatus> {
        Ok(if self.pass(action, facts)? {
            ExitStatus::Passed
        } else {
            ExitStatus::Held
        })
    }
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        out::note(format!("holdpoint: warning: {warning}"));
    }
}
