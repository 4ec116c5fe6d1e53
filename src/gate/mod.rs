//! The pipeline of SPEC §1 in one place: judge, protect, record, answer.
//!
//! Every surface that can let something through or stop it comes here with an
//! action and its facts. What a surface prints, and with which status it leaves,
//! is its own affair; what passes and what is held is decided only here.

mod protect;
mod record;

use crate::assess::policy;
use crate::error::Result;
use crate::holds::{self, Hold};
use crate::judge::{self, Action, Actor, Decision, Facts, Policy, Verdict};
use crate::repo::Workspace;
use crate::sys::env::Env;

/// One action that wants to pass.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What is about to happen; a confirmation is bound to its digest.
    pub action: &'a Action,
    /// What it would touch, lose and leave.
    pub facts: Facts,
    /// The policy that counts.
    pub policy: &'a Policy,
    /// The agent's session, where there is one.
    pub session: Option<&'a str>,
    /// The wrapped run, where there is one.
    pub run: Option<&'a str>,
    /// Whether a person at the terminal may be asked at once.
    pub asking: Asking,
    /// What the hold's maker needs to carry it out on confirmation; null where the action is repeated.
    pub payload: serde_json::Value,
}

/// Whether the gate may ask on the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// It may, where the actor is a person with a terminal.
    Allowed,
    /// It may not: the surface has a way of its own to ask, or none.
    Never,
}

/// What the gate answers.
#[derive(Debug)]
pub enum Answer {
    /// The action goes on.
    Passed(Passed),
    /// The action waits for a person, or a person at the terminal did not agree.
    Held(Held),
}

/// An action that goes on.
#[derive(Debug)]
pub struct Passed {
    /// The judgement.
    pub verdict: Verdict,
    /// The safety point taken before it, where one was needed.
    pub point: Option<String>,
    /// The hold whose confirmation let it pass.
    pub confirmed: Option<String>,
    /// What went wrong without stopping the action; to be told, loudly.
    pub warnings: Vec<String>,
}

/// An action that does not go on.
#[derive(Debug)]
pub struct Held {
    /// The judgement.
    pub verdict: Verdict,
    /// The hold to confirm or deny.
    pub hold: Box<Hold>,
    /// The safety point taken before it.
    pub point: Option<String>,
    /// What went wrong on the way.
    pub warnings: Vec<String>,
}

/// Judges the action, protects what it could destroy, records the decision, and answers.
///
/// # Errors
/// When the decision cannot be recorded or a hold cannot be made; the caller then blocks.
pub fn pass(env: &Env, workspace: &Workspace, request: Request<'_>) -> Result<Answer> {
    let mut facts = request.facts;
    let mut warnings = Vec::new();
    let first = judge::judge(&facts, request.policy);
    let point = if protect::is_needed(&facts, &first) {
        let who = protect::Who {
            session: request.session,
            run: request.run,
        };
        protect::cover(env, workspace, &mut facts, &who, &mut warnings)
    } else {
        protect::taken(&facts)
    };
    let verdict = judge::judge(&facts, request.policy);
    let scene = record::Scene {
        env,
        workspace,
        action: request.action,
        facts: &facts,
        session: request.session,
        run: request.run,
        point: point.as_deref(),
    };

    if request.policy.observe || matches!(verdict.decision, Decision::Allow | Decision::Report) {
        if request.policy.observe || verdict.level >= request.policy.log_from {
            record::passed(&scene, &verdict, request.policy.observe, &mut warnings)?;
        }
        return Ok(Answer::Passed(Passed {
            verdict,
            point,
            confirmed: None,
            warnings,
        }));
    }

    let digest = request.action.digest();
    let mut confirmed = holds::take_confirmed(env, workspace, &digest)?;
    if confirmed.is_none() {
        let hold = holds::make(env, workspace, &scene.draft(&verdict, request.payload))?;
        record::held(&scene, &verdict, &hold)?;
        let may_ask = request.asking == Asking::Allowed
            && matches!(facts.actor, Actor::Person { terminal: true });
        if may_ask && holds::ask(env, workspace, &hold)? {
            confirmed = holds::take_confirmed(env, workspace, &digest)?;
        }
        if confirmed.is_none() {
            return Ok(Answer::Held(Held {
                verdict,
                hold: Box::new(hold),
                point,
                warnings,
            }));
        }
    }
    let hold = confirmed.map(|hold| hold.id);
    if let (Action::StagedChange { changes }, Some(hold)) = (request.action, &hold) {
        policy::adopt(env, workspace, changes, hold)?;
    }
    record::confirmed(&scene, &verdict, hold.as_deref())?;
    Ok(Answer::Passed(Passed {
        verdict,
        point,
        confirmed: hold,
        warnings,
    }))
}
