//! `holdpoint session`: relaxes or tightens this session.

use super::holds::json;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::holds;
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{Actor, Level};
use crate::prefs::session::{self, Instruction, Session};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{clock, out};
use jiff::{SignedDuration, Timestamp};

/// Longest time for which a session can be relaxed.
const LONGEST: SignedDuration = SignedDuration::from_hours(12);

/// Arguments of `holdpoint session`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, clap::Subcommand)]
enum Sub {
    /// Says "no need to ask" for a while: Level 2 passes with a message, Level 1 silently. Level 3 is asked all the same.
    Relax {
        /// For how long: 30m, 1h, at most 12h.
        #[arg(long = "for", value_name = "TIME", default_value = "1h")]
        time: String,
    },
    /// Lets paths change for a while though the Contract leaves them out; each such change is told and logged.
    Instruct {
        /// Paths and globs with gitignore semantics, relative to the top of the worktree.
        #[arg(required = true)]
        paths: Vec<String>,
        /// For how long: 30m, 1h, at most 12h.
        #[arg(long = "for", value_name = "TIME", default_value = "1h")]
        time: String,
    },
    /// Takes back what was relaxed, asked for or agreed to for this session.
    Strict,
    /// Shows what is relaxed and until when.
    Show {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    match &args.command {
        Sub::Relax { time } => relax(env, &workspace, time),
        Sub::Instruct { paths, time } => instruct(env, &workspace, paths, time),
        Sub::Strict => strict(env, &workspace),
        Sub::Show { json } => show(env, &workspace, *json),
    }
}

fn relax(env: &Env, workspace: &Workspace, time: &str) -> Result<ExitStatus> {
    let until = until(time)?;
    let terminal = holds::person(env, workspace, "relax a session", None)?;
    let question = format!(
        "Until {} nothing of Level 2 is asked about in {}. Level 3 still is. Agree?",
        clock::rfc3339(until),
        workspace.main_root().display()
    );
    if !terminal.agrees(&question)? {
        return Err(Error::new(ErrorKind::Cancelled, "not relaxed"));
    }
    session::change(env, workspace, |session| {
        session.relaxed_until = Some(until);
    })?;
    let entry = LogEntry::new("session_relax")
        .reason("no_need_to_ask")
        .reasoning(format!(
            "a person said \"no need to ask\" until {}",
            clock::rfc3339(until)
        ))
        .outcome(Outcome::Success)
        .overridden()
        .actor(&Actor::Person { terminal: true });
    journal::append(env, workspace, entry)?;
    out::line(format!(
        "Relaxed until {}. Take it back: holdpoint session strict",
        clock::rfc3339(until)
    ));
    Ok(ExitStatus::Passed)
}

fn instruct(env: &Env, workspace: &Workspace, paths: &[String], time: &str) -> Result<ExitStatus> {
    let given = Instruction {
        paths: paths.to_vec(),
        until: until(time)?,
    };
    let wanted = Session {
        instructions: vec![given.clone()],
        ..Session::default()
    };
    wanted.instructed()?;
    let what = format!(
        "{} may change until {} though the Contract leaves it out",
        paths.join(", "),
        clock::rfc3339(given.until)
    );
    let terminal = holds::person(env, workspace, "override the Contract", None)?;
    let question =
        format!("{what}. Everything else that is Level 3 is asked about all the same. Agree?");
    if !holds::agrees(&terminal, Level::MustAsk, &question)? {
        return Err(Error::new(ErrorKind::Cancelled, "nothing is changed"));
    }
    session::change(env, workspace, |session| session.instructions.push(given))?;
    let entry = LogEntry::new("session_instruct")
        .level(Level::MustAsk)
        .reason("explicit_instruction")
        .reasoning(format!("a person's explicit instruction: {what}"))
        .context("paths", paths)
        .outcome(Outcome::Success)
        .overridden()
        .actor(&Actor::Person { terminal: true });
    journal::append(env, workspace, entry)?;
    out::line(format!(
        "Noted: {what}. Take it back: holdpoint session strict"
    ));
    Ok(ExitStatus::Passed)
}

fn strict(env: &Env, workspace: &Workspace) -> Result<ExitStatus> {
    session::change(env, workspace, |session| {
        *session = Session::default();
    })?;
    let entry = LogEntry::new("session_strict")
        .reason("ask_again")
        .reasoning("what was relaxed for this session is taken back")
        .outcome(Outcome::Success)
        .actor(&crate::sys::actor::detect(env));
    journal::append(env, workspace, entry)?;
    out::line("Nothing is relaxed any more.");
    Ok(ExitStatus::Passed)
}

fn show(env: &Env, workspace: &Workspace, as_json: bool) -> Result<ExitStatus> {
    let session = session::read(env, workspace)?;
    if as_json {
        out::line(json(&session)?);
        return Ok(ExitStatus::Passed);
    }
    match session.relaxed_until.filter(|_| session.is_relaxed()) {
        Some(until) => out::line(format!("Relaxed until {}.", clock::rfc3339(until))),
        None => out::line("Not relaxed."),
    }
    let now = clock::now();
    for grant in session.grants.iter().filter(|grant| grant.until > now) {
        out::line(format!(
            "{} passes until {} (hold {}).",
            grant.rule,
            clock::rfc3339(grant.until),
            grant.hold
        ));
    }
    for given in session
        .instructions
        .iter()
        .filter(|given| given.until > now)
    {
        out::line(format!(
            "{} may change until {} though the Contract leaves it out.",
            given.paths.join(", "),
            clock::rfc3339(given.until)
        ));
    }
    Ok(ExitStatus::Passed)
}

/// The moment that lies a length of time from now.
fn until(time: &str) -> Result<Timestamp> {
    clock::now()
        .checked_add(duration(time)?)
        .map_err(|error| Error::new(ErrorKind::Usage, "that is too long").because(error))
}

/// Reads `90s`, `30m`, `1h`, `1h30m`.
fn duration(text: &str) -> Result<SignedDuration> {
    let parsed = text.parse::<SignedDuration>().map_err(|error| {
        Error::new(ErrorKind::Usage, format!("`{text}` is no length of time"))
            .because(error)
            .hint("accepted: 30m, 1h, 1h30m, at most 12h")
    })?;
    if parsed <= SignedDuration::ZERO || parsed > LONGEST {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("a session cannot be relaxed for {text}"),
        )
        .hint("accepted: 30m, 1h, 1h30m, at most 12h"));
    }
    Ok(parsed)
}
