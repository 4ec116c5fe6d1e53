//! Asks a person, at the terminal and nowhere else.

use super::hold::{Hold, State, after};
use super::screen::screen;
use super::{sign, store};
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{Actor, Level};
use crate::prefs::{self, Signing};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::seal::Seal;
use crate::sys::terminal::Terminal;
use crate::sys::{actor, clock, out};

/// How far an agreement reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The exact action, once.
    #[default]
    Once,
    /// The hold's rules, for this session. Level 2 only.
    Session,
    /// The hold's rules, by a preference. Level 2 only.
    Always,
}

/// Proves that a person is there; logs what was refused, and why.
///
/// # Errors
/// [`ErrorKind::Refused`] with what speaks against it.
pub fn person(
    env: &Env,
    workspace: &Workspace,
    wanted: &str,
    hold: Option<&str>,
) -> Result<Terminal> {
    actor::person(env).or_else(|why| {
        refused(env, workspace, wanted, &why, hold)?;
        Err(Error::new(
            ErrorKind::Refused,
            format!("only a person can {wanted}: {why}"),
        )
        .hint("a person does it in a terminal of their own, not in one that an agent started"))
    })
}

/// Logs that something only a person may do was refused.
///
/// # Errors
/// When the log cannot be written.
pub fn refused(
    env: &Env,
    workspace: &Workspace,
    wanted: &str,
    why: &str,
    hold: Option<&str>,
) -> Result<()> {
    let entry = LogEntry::new("refuse")
        .level(Level::MustAsk)
        .reason("not_a_person")
        .reasoning(format!("only a person can {wanted}: {why}"))
        .action(wanted)
        .outcome(Outcome::Stopped)
        .actor(&actor::detect(env))
        .hold(hold);
    journal::append(env, workspace, entry).map(|_| ())
}

/// Asks the person at the terminal about a hold and writes the answer down; true when they agree.
///
/// For a gate that stands in front of a person's own command: where no person
/// can be proven, the hold stays, and what speaks against it is told.
///
/// # Errors
/// When the answer cannot be written down.
pub fn ask(env: &Env, workspace: &Workspace, hold: &Hold) -> Result<bool> {
    let terminal = match actor::person(env) {
        Ok(terminal) => terminal,
        Err(why) => {
            refused(env, workspace, "confirm a hold", &why, Some(&hold.id))?;
            out::note(format!("holdpoint: you are not asked here, because {why}"));
            return Ok(false);
        }
    };
    match confirm_with(env, workspace, hold, Scope::Once, &terminal) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Refused) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Lets a hold pass, once a person at the terminal has agreed to it.
///
/// # Errors
/// [`ErrorKind::Refused`] where no person is proven, [`ErrorKind::Cancelled`] where they decline.
pub fn confirm(env: &Env, workspace: &Workspace, id: &str, scope: Scope) -> Result<Hold> {
    let terminal = person(env, workspace, "confirm a hold", Some(id))?;
    let hold = store::find(env, workspace, id)?;
    confirm_with(env, workspace, &hold, scope, &terminal)
}

/// As [`confirm`], with a person already proven.
///
/// # Errors
/// As [`confirm`].
pub fn confirm_with(
    env: &Env,
    workspace: &Workspace,
    hold: &Hold,
    scope: Scope,
    terminal: &Terminal,
) -> Result<Hold> {
    still_waits(hold)?;
    if scope != Scope::Once && hold.level != Level::Confirm {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("{} is confirmed once each time, not for longer", hold.level),
        )
        .hint(format!("holdpoint confirm {}", hold.id)));
    }
    terminal.say(&screen(hold))?;
    if !agrees(terminal, hold.level, "Let it pass?")? {
        return Err(
            Error::new(ErrorKind::Cancelled, "not confirmed; the hold still waits")
                .hint(format!("refuse it for good: holdpoint deny {}", hold.id)),
        );
    }
    settle(env, workspace, &hold.id, scope)
}

/// Asks the question that a level calls for: a code to be typed back at Level 3, yes or no below.
///
/// # Errors
/// When the terminal is gone or nobody answers.
pub fn agrees(terminal: &Terminal, level: Level, question: &str) -> Result<bool> {
    if level == Level::MustAsk {
        terminal.types_code(question)
    } else {
        terminal.agrees(question)
    }
}

fn still_waits(hold: &Hold) -> Result<()> {
    let what = match hold.state_now() {
        State::Pending => return Ok(()),
        State::Confirmed => "is confirmed already",
        State::Denied => "was refused",
        State::Expired => "has expired",
        State::Used => "has been used",
    };
    Err(
        Error::new(ErrorKind::Usage, format!("the hold {} {what}", hold.id))
            .hint("repeat the command to make a new one"),
    )
}

/// Writes an agreement down. The caller has proven a person, who has agreed.
///
/// # Errors
/// When it no longer waits, or cannot be signed or written.
pub fn settle(env: &Env, workspace: &Workspace, id: &str, scope: Scope) -> Result<Hold> {
    let preferences = prefs::load(env, workspace)?.confirm;
    let seal = Seal::open(env)?;
    let hold = {
        let _lock = store::lock(workspace)?;
        let mut hold = store::find(env, workspace, id)?;
        still_waits(&hold)?;
        let seconds = store::seconds(env, workspace, hold.level);
        let signature = if preferences.signing == Signing::Ssh {
            let nonce = clock::id();
            let expires = after(clock::now(), seconds);
            let statement = hold.statement(&nonce, expires);
            let signature = sign::sign(&preferences, workspace, &statement)?;
            Some((nonce, expires, signature))
        } else {
            None
        };
        hold.confirmed(&seal, workspace, seconds, signature);
        if !sign::is_good(&preferences, workspace, &hold)? {
            return Err(Error::new(
                ErrorKind::Refused,
                "the key that signed is not one that confirm.allowed_signers lists",
            ));
        }
        store::write(workspace, &hold)?;
        hold
    };
    widen(env, workspace, &hold, scope)?;
    let entry = LogEntry::new("confirm")
        .level(hold.level)
        .reason(hold.reason.clone())
        .reasoning(format!("a person agreed at the terminal: {}", hold.summary))
        .context("scope", format!("{scope:?}").to_lowercase())
        .context("action_hash", &hold.action_hash)
        .action(hold.summary.clone())
        .outcome(Outcome::Success)
        .overridden()
        .actor(&Actor::Person { terminal: true })
        .session(hold.session.clone())
        .run(hold.run.clone())
        .safety_point(hold.safety_point.clone())
        .hold(Some(hold.id.clone()));
    let entry = hold
        .rules
        .iter()
        .fold(entry, |entry, rule| entry.rule(*rule));
    journal::append(env, workspace, entry)?;
    Ok(hold)
}

/// Carries an agreement beyond the one action.
fn widen(env: &Env, workspace: &Workspace, hold: &Hold, scope: Scope) -> Result<()> {
    let rules: Vec<_> = hold
        .rules
        .iter()
        .copied()
        .filter(|rule| rule.rule().level == Level::Confirm)
        .collect();
    match scope {
        Scope::Once => Ok(()),
        Scope::Session => {
            let until = after(clock::now(), SESSION);
            prefs::session::change(env, workspace, |session| {
                session
                    .grants
                    .extend(rules.iter().map(|rule| prefs::session::Grant {
                        rule: *rule,
                        until,
                        hold: hold.id.clone(),
                    }));
            })
            .map(|_| ())
        }
        Scope::Always => rules.iter().try_for_each(|rule| {
            prefs::set(
                env,
                workspace,
                prefs::Target::Repository,
                &format!("decision_authority.{rule}"),
                "level_1".into(),
            )
        }),
    }
}

/// Seconds that a session's agreement holds.
const SESSION: u64 = 4 * 3600;

/// Refuses a hold.
///
/// # Errors
/// [`ErrorKind::Refused`] for an agent, [`ErrorKind::Usage`] where nothing waits.
pub fn deny(env: &Env, workspace: &Workspace, id: &str, why: Option<&str>) -> Result<Hold> {
    let actor = actor::detect(env);
    if actor.is_agent() {
        let reason = format!("this is {}", actor.word());
        refused(env, workspace, "refuse a hold", &reason, Some(id))?;
        return Err(Error::new(
            ErrorKind::Refused,
            format!("only a person can refuse a hold: {reason}"),
        ));
    }
    let hold = {
        let _lock = store::lock(workspace)?;
        let mut hold = store::find(env, workspace, id)?;
        still_waits(&hold)?;
        hold.state = State::Denied;
        hold.why = why.map(str::to_owned);
        store::write(workspace, &hold)?;
        hold
    };
    let entry = LogEntry::new("deny")
        .level(hold.level)
        .reason(hold.reason.clone())
        .reasoning(format!(
            "a person refused: {}{}",
            hold.summary,
            why.map_or_else(String::new, |why| format!(" ({why})"))
        ))
        .action(hold.summary.clone())
        .outcome(Outcome::Stopped)
        .actor(&actor)
        .session(hold.session.clone())
        .run(hold.run.clone())
        .safety_point(hold.safety_point.clone())
        .hold(Some(hold.id.clone()));
    let entry = hold
        .rules
        .iter()
        .fold(entry, |entry, rule| entry.rule(*rule));
    journal::append(env, workspace, entry)?;
    Ok(hold)
}
