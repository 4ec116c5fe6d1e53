//! The policy that a verdict rests on: confirmed, and where the worktree is stricter, the worktree's.

use super::confirmed::{self, Confirmed, Texts, texts_in};
use super::layers::Layers;
use super::session;
use super::typed::Mode;
use crate::contract::{Contract, Fault, PLACES};
use crate::error::{Error, ErrorKind, Result};
use crate::judge::{Level, Policy, Priority, Risk, TaskContext};
use crate::repo::{Kind, Workspace};
use crate::sys::env::Env;
use crate::sys::{actor, clock};

/// Reads the policy that counts in a workspace.
///
/// # Errors
/// When the Contract or a preference cannot be read: a gate then cannot decide.
pub fn policy(env: &Env, workspace: &Workspace) -> Result<Policy> {
    let worktree = texts_in(workspace.main_root())?;
    let agreed = match Confirmed::read(env, workspace)? {
        Some(confirmed) => confirmed.files,
        None => first_sight(env, workspace, &worktree)?,
    };
    let layers = Layers::of(env, &agreed, &worktree)?;
    let preferences = layers.preferences()?;
    let mut contracts = Contracts::read(&agreed, &worktree)?;
    if workspace.kind == Kind::Linked {
        // A linked worktree may narrow what the main one agreed.
        contracts.narrow(&texts_in(&workspace.root)?)?;
    }
    let context = contracts.context();
    let session = session::read(env, workspace)?;
    let mut authority: std::collections::BTreeMap<_, _> = layers
        .authority()
        .into_iter()
        .map(|(rule, (level, _))| (rule, level))
        .collect();
    for rule in session.granted() {
        let level = authority.get(&rule).copied().unwrap_or(rule.rule().level);
        if level == Level::Confirm {
            authority.insert(rule, Level::Transparent);
        }
    }
    Ok(Policy {
        contract: contracts.joined(),
        authority,
        strictness: preferences.global_strictness,
        relaxed_session: session.is_relaxed(),
        instructed: session.instructed()?,
        recoverable: preferences.recoverable,
        context,
        log_from: preferences.logging.min_level,
        observe: preferences.gate.mode == Mode::Observe,
    })
}

/// What counts as agreed where nothing was ever settled.
///
/// A person's first look at a repository takes its files as agreed; an agent's
/// takes nothing as agreed, so that what the agent wrote itself never counts.
/// Where Holdpoint is at work already, the answer is kept.
pub(super) fn first_sight(env: &Env, workspace: &Workspace, worktree: &Texts) -> Result<Texts> {
    let settled = if actor::detect(env).is_agent() {
        Texts::new()
    } else {
        worktree.clone()
    };
    if workspace.state.join("repo.json").exists() {
        confirmed::adopt(env, workspace, settled.clone(), "first sight")?;
    }
    Ok(settled)
}

/// Settles what is agreed when Holdpoint comes to a repository, once: `init` and the first run call it.
///
/// # Errors
/// When it cannot be written.
pub fn baseline(env: &Env, workspace: &Workspace) -> Result<()> {
    workspace.make_state()?;
    if Confirmed::read(env, workspace)?.is_none() {
        first_sight(env, workspace, &texts_in(workspace.main_root())?)?;
    }
    Ok(())
}

/// The Contract as confirmed, and versions beside it that count where they are stricter.
struct Contracts {
    agreed: Option<Contract>,
    beside: Vec<Contract>,
    agreed_text: Option<String>,
}

impl Contracts {
    fn read(agreed: &Texts, worktree: &Texts) -> Result<Self> {
        let agreed_text = text(agreed).map(|(_, text)| text.to_owned());
        let mut contracts = Self {
            agreed: text(agreed)
                .map(|(name, text)| parse(name, text))
                .transpose()?,
            beside: Vec::new(),
            agreed_text,
        };
        contracts.narrow(worktree)?;
        Ok(contracts)
    }

    fn narrow(&mut self, worktree: &Texts) -> Result<()> {
        if let Some((name, text)) = text(worktree)
            && self.agreed_text.as_deref() != Some(text)
        {
            let contract = parse(name, text)?;
            contract.verify().map_err(|fault| broken(name, &fault))?;
            self.beside.push(contract);
        }
        Ok(())
    }

    /// Priority and risk as agreed; an unconfirmed version may only make them stricter.
    fn context(&self) -> TaskContext {
        let mut context = TaskContext {
            priority: self
                .agreed
                .as_ref()
                .and_then(|c| c.priority)
                .unwrap_or_default(),
            risk: self
                .agreed
                .as_ref()
                .and_then(|c| c.risk)
                .unwrap_or_default(),
        };
        for contract in &self.beside {
            let risk = contract.risk.unwrap_or_default();
            context.risk = context.risk.max(risk);
            match (context.priority, contract.priority.unwrap_or_default()) {
                (Priority::P0, other) if other != Priority::P0 && contract.priority.is_some() => {
                    context.priority = other;
                }
                (_, Priority::P3) => context.priority = Priority::P3,
                _ => {}
            }
        }
        if context.risk == Risk::High {
            // High risk lifts everything; an emergency must not undo that.
            context.priority = if context.priority == Priority::P0 {
                Priority::P1
            } else {
                context.priority
            };
        }
        context
    }

    fn joined(self) -> Option<Contract> {
        let now = clock::now();
        self.agreed
            .into_iter()
            .chain(self.beside)
            .map(|mut contract| {
                contract.expired = contract.expires.is_some_and(|expires| expires <= now);
                contract
            })
            .reduce(Contract::and)
    }
}

/// The Contract among the files of a policy.
fn text(texts: &Texts) -> Option<(&'static str, &str)> {
    PLACES
        .iter()
        .find_map(|place| Some((*place, texts.get(*place)?.as_str())))
}

fn parse(name: &str, text: &str) -> Result<Contract> {
    Contract::parse(text.as_bytes()).map_err(|fault| broken(name, &fault))
}

/// Words a fault of a Contract, with file and line.
#[must_use]
pub fn broken(name: &str, fault: &Fault) -> Error {
    let accepted = fault.accepted.clone();
    let error = Error::new(
        ErrorKind::Config,
        format!("{name}:{}: {}", fault.line, fault.what),
    );
    if accepted.is_empty() {
        error.hint(format!("mend line {} of {name}", fault.line))
    } else {
        error.hint(format!("accepted: {accepted}"))
    }
}
