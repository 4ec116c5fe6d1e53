//! `holdpoint confirm`: lets held actions pass once. Only a person can.

use super::holds::diff;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::holds::{self, Hold, Scope, State};
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{self, Action, Actor, Pending, Risk};
use crate::prefs;
use crate::repo::Workspace;
use crate::runs::delta;
use crate::sys::env::Env;
use crate::sys::out;
use crate::sys::terminal::Terminal;
use bstr::BString;

/// Arguments of `holdpoint confirm`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The holds' ids, or the ends of them.
    ids: Vec<String>,
    /// A hold whose like are confirmed together with it.
    #[arg(long, value_name = "ID", conflicts_with_all = ["ids", "for_session", "always"])]
    like: Option<String>,
    /// Agrees to the hold's rules for this session (Level 2 only).
    #[arg(long)]
    for_session: bool,
    /// Agrees to the hold's rules for good, by a preference (Level 2 only).
    #[arg(long, conflicts_with = "for_session")]
    always: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    if args.ids.is_empty() && args.like.is_none() {
        return Err(super::holds::unnamed(env, &workspace, "confirm")?);
    }
    let named = args
        .like
        .as_deref()
        .or(args.ids.first().map(String::as_str));
    let terminal = holds::person(env, &workspace, "confirm a hold", named)?;
    if let Some(id) = &args.like {
        return batch(env, &workspace, id, &terminal);
    }
    let scope = match (args.for_session, args.always) {
        (true, _) => Scope::Session,
        (_, true) => Scope::Always,
        _ => Scope::Once,
    };
    for id in &args.ids {
        let mut hold = holds::find(env, &workspace, id)?;
        if delta::is_unfinished(&hold) {
            out::line(format!(
                "{} was confirmed before, and is applied now.",
                hold.id
            ));
        } else {
            fits(&workspace, &hold)?;
            hold = holds::confirm_with(env, &workspace, &hold, scope, &terminal)?;
            told(&hold, scope);
        }
        carry_out(env, &workspace, &hold)?;
    }
    Ok(ExitStatus::Passed)
}

/// Applies the held change of a wrapped run, which is not repeated but kept.
fn carry_out(env: &Env, workspace: &Workspace, hold: &Hold) -> Result<()> {
    let Some(done) = delta::carry_out(env, workspace, hold)? else {
        return Ok(());
    };
    for (what, paths) in [("Applied", &done.applied), ("Merged", &done.merged)] {
        for path in paths {
            out::line(format!("{what}: {path}"));
        }
    }
    misfit(hold, &done.conflicts)
}

/// Refuses, before anybody is asked, a change that would not fit.
fn fits(workspace: &Workspace, hold: &Hold) -> Result<()> {
    if hold.state_now() != State::Pending {
        return Ok(());
    }
    misfit(hold, &delta::misfits(workspace, hold)?)
}

fn misfit(hold: &Hold, conflicts: &[BString]) -> Result<()> {
    if conflicts.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = conflicts
        .iter()
        .take(NAMED)
        .map(ToString::to_string)
        .collect();
    let more = conflicts.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let error = Error::new(
        ErrorKind::Guarded,
        format!(
            "nothing was applied: {}{more} moved on since the run, and the held change does not fit",
            named.join(", ")
        ),
    );
    let kept = delta::Payload::of(hold).map(|payload| payload.dir);
    Err(match kept {
        Some(dir) => error
            .hint(format!(
                "put the files back as they were before the run, then: holdpoint confirm {}",
                hold.id
            ))
            .hint(format!(
                "or take the change by hand: both sides of every file are in {}",
                dir.display()
            )),
        None => error.hint(format!("look: holdpoint holds show {}", hold.id)),
    })
}

/// Paths that a message names.
const NAMED: usize = 10;

fn told(hold: &Hold, scope: Scope) {
    out::line(format!("Confirmed: {}", hold.summary));
    match scope {
        Scope::Once => {}
        Scope::Session => {
            out::line("Its rules pass for four hours. Take it back: holdpoint session strict");
        }
        Scope::Always => {
            for rule in &hold.rules {
                out::line(format!(
                    "Preference set: decision_authority.{rule} = level_1"
                ));
            }
        }
    }
    let until = hold
        .confirmation
        .as_ref()
        .map_or(hold.expires, |confirmation| confirmation.expires);
    if !matches!(hold.action, Action::WorkspaceDelta { .. }) {
        out::line(format!(
            "Now repeat the command: it passes once, until {}.",
            crate::sys::clock::rfc3339(until)
        ));
    }
}

/// What a person chose for a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    All,
    OneByOne,
    Skip,
}

fn batch(env: &Env, workspace: &Workspace, id: &str, terminal: &Terminal) -> Result<ExitStatus> {
    let wanted = holds::find(env, workspace, id)?;
    let pending: Vec<Hold> = holds::list(env, workspace)?
        .into_iter()
        .filter(|hold| hold.state_now() == State::Pending)
        .collect();
    let high_risk = prefs::policy(env, workspace)?.context.risk == Risk::High;
    let candidates: Vec<Pending> = pending.iter().filter_map(Hold::as_pending).collect();
    let group = judge::batches(&candidates, high_risk)
        .into_iter()
        .find(|group| group.iter().any(|one| one.id == wanted.id));
    let Some(group) = group else {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("the hold {} is part of no batch", wanted.id),
        )
        .hint("a batch is three or more alike within five minutes, of one level, without deletions and what cannot be undone, and not at high risk")
        .hint(format!("holdpoint confirm {}", wanted.id)));
    };
    let holds: Vec<&Hold> = pending
        .iter()
        .filter(|hold| group.iter().any(|one| one.id == hold.id))
        .collect();
    terminal.say(&format!("{} holds alike, {}:", holds.len(), wanted.level))?;
    for hold in &holds {
        terminal.say(&format!("  {}  {}", hold.id, hold.summary))?;
    }
    let choice = choose(workspace, &holds, terminal)?;
    let results = match choice {
        Choice::All => all(env, workspace, &holds, terminal)?,
        Choice::OneByOne => one_by_one(env, workspace, &holds, terminal)?,
        Choice::Skip => Vec::new(),
    };
    let confirmed = results.len();
    let entry = LogEntry::new("batch")
        .level(wanted.level)
        .reason("batch")
        .reasoning(format!(
            "a person confirmed {confirmed} of {} alike",
            holds.len()
        ))
        .rule(
            wanted
                .rules
                .first()
                .copied()
                .unwrap_or(crate::judge::RuleId::ReadOnly),
        )
        .context("count", holds.len())
        .context("similarity", judge::batch_similarity(&group))
        .context("choice", format!("{choice:?}"))
        .context(
            "results",
            holds
                .iter()
                .map(|hold| {
                    let word = if results.contains(&hold.id) {
                        "confirmed"
                    } else {
                        "waits"
                    };
                    format!("{} {word}", hold.id)
                })
                .collect::<Vec<_>>(),
        )
        .outcome(if confirmed == holds.len() {
            Outcome::Success
        } else {
            Outcome::Partial
        })
        .overridden()
        .actor(&Actor::Person { terminal: true });
    journal::append(env, workspace, entry)?;
    out::line(format!(
        "Confirmed {confirmed} of {}. Now repeat the commands.",
        holds.len()
    ));
    Ok(ExitStatus::Passed)
}

fn choose(workspace: &Workspace, holds: &[&Hold], terminal: &Terminal) -> Result<Choice> {
    loop {
        let answer = terminal.ask("[a]ll, [p]review, [o]ne by one, [s]kip all: ")?;
        match answer.to_ascii_lowercase().as_str() {
            "a" | "all" => return Ok(Choice::All),
            "o" | "one" => return Ok(Choice::OneByOne),
            "s" | "skip" | "" => return Ok(Choice::Skip),
            "p" | "preview" => {
                for hold in holds {
                    terminal.say(&format!("\n{}  {}", hold.id, hold.summary))?;
                    terminal.say(diff(workspace, hold)?.trim_end())?;
                }
            }
            _ => {}
        }
    }
}

fn all(
    env: &Env,
    workspace: &Workspace,
    holds: &[&Hold],
    terminal: &Terminal,
) -> Result<Vec<String>> {
    let question = format!("Let all {} pass?", holds.len());
    let level = holds
        .iter()
        .map(|hold| hold.level)
        .max()
        .unwrap_or_default();
    if !holds::agrees(terminal, level, &question)? {
        return Ok(Vec::new());
    }
    settle(env, workspace, holds)
}

fn one_by_one(
    env: &Env,
    workspace: &Workspace,
    holds: &[&Hold],
    terminal: &Terminal,
) -> Result<Vec<String>> {
    let mut confirmed = Vec::new();
    for (index, hold) in holds.iter().enumerate() {
        terminal.say(&holds::screen(hold))?;
        terminal.say(diff(workspace, hold)?.trim_end())?;
        let answer = terminal.ask("[y]es, [n]o, [a]nd all that remain, [q]uit: ")?;
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" if holds::agrees(terminal, hold.level, "Let it pass?")? => {
                confirmed.extend(settle(env, workspace, &[hold])?);
            }
            "a" => {
                confirmed.extend(all(env, workspace, &holds[index..], terminal)?);
                break;
            }
            "q" => break,
            _ => {}
        }
    }
    Ok(confirmed)
}

fn settle(env: &Env, workspace: &Workspace, holds: &[&Hold]) -> Result<Vec<String>> {
    holds
        .iter()
        .map(|hold| {
            fits(workspace, hold)?;
            let hold = holds::settle(env, workspace, &hold.id, Scope::Once)?;
            carry_out(env, workspace, &hold)?;
            Ok(hold.id)
        })
        .collect()
}
