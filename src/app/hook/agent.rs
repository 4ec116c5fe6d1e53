//! `holdpoint-hook agent NAME [EVENT]`: one call of an agent's hook, from its payload to its reply.
//!
//! The host goes on when its hook is silent, slow or broken, so every way out of
//! here is a worded answer: a fault of ours, a panic or the deadline refuses what
//! could write something, and lets what only reads go on.

mod after;
mod before;
mod deeds;
mod start;

use crate::agents::wiring::Whose;
use crate::agents::{Agent, Answer, Call, Intent, Moment, Reply, Step};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::repo::hooks::inspect;
use crate::sys::env::Env;
use crate::sys::{out, process};
use crate::vault::handled::Edge;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a call may take; every host waits longer.
const DEADLINE: Duration = Duration::from_secs(2);

/// Longest command that is told to only read by its words.
const PLAIN: usize = 4 << 10;

/// Size from which a payload is not even understood without the deadline running.
const LARGE: usize = 1 << 20;

/// What is known of the call so far, for whoever has to answer when judging did not end.
#[derive(Clone, Debug, Default)]
struct Known {
    call: Option<Call>,
    answered: bool,
}

/// Answers one call.
pub(super) fn run(agent: Agent, event: Option<&str>) -> ExitStatus {
    let known = Arc::new(Mutex::new(Known::default()));
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let payload = process::read_stdin_within(DEADLINE)?;
        answer(agent, event, &payload, &known)
    }));
    let reply = match answered {
        Ok(Ok(reply)) => reply,
        Ok(Err(error)) => instead(agent, event, &known, &error.to_string()),
        Err(_) => instead(agent, event, &known, "a fault of Holdpoint's own"),
    };
    if !claim(&known) {
        // The deadline has answered, and is ending this process.
        std::thread::sleep(DEADLINE);
    }
    send(&reply)
}

/// The agent and event on the command line.
///
/// # Errors
/// With what is wrong with them.
pub(super) fn named(words: &[OsString]) -> std::result::Result<(Agent, Option<String>), String> {
    let name = words
        .first()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.name()).collect();
    let agent = Agent::parse(name)
        .ok_or_else(|| format!("no agent '{name}' is known, only {}", known.join(", ")))?;
    let event = words
        .get(1)
        .and_then(|event| event.to_str())
        .map(str::to_owned);
    Ok((agent, event))
}

fn answer(
    agent: Agent,
    event: Option<&str>,
    payload: &[u8],
    known: &Arc<Mutex<Known>>,
) -> Result<Reply> {
    let large = payload.len() > LARGE;
    if large {
        watch(agent, event.map(str::to_owned), Arc::clone(known));
    }
    let call = agent.read(payload, event)?;
    lock(known).call = Some(call.clone());
    if !large && !plainly_reads(&call) {
        watch(agent, event.map(str::to_owned), Arc::clone(known));
    }
    if agent == Agent::Claude && call.borrowed && copilot_asks_itself(&call) {
        // Judged twice, a confirmed call would be held by the second time.
        return Ok(agent.reply(&call, &Answer::Pass));
    }
    let writes = call.may_write() && !plainly_reads(&call);
    if writes && call.moment == Moment::AfterTool {
        deeds::note(&Env::read()?, agent, &call, Edge::End);
    }
    let answer = match call.moment {
        Moment::BeforeTool if !call.may_write() => Answer::Pass,
        Moment::BeforeTool if process::variable(inspect::CANARY).is_some() => {
            before::canary(&Env::read()?, agent, &call)?
        }
        Moment::BeforeTool => before::judge(&Env::read()?, agent, &call)?,
        Moment::AfterTool => after::record(&Env::read()?, agent, &call)?,
        Moment::SessionStart => start::brief(&Env::read()?, agent, &call)?,
        Moment::Prompt | Moment::Other => Answer::Pass,
    };
    if writes
        && call.moment == Moment::BeforeTool
        && !matches!(answer, Answer::Deny(_) | Answer::Stop(_))
    {
        deeds::note(&Env::read()?, agent, &call, Edge::Begin);
    }
    Ok(agent.reply(&call, &answer))
}

/// Returns true where Copilot, which sent this through Claude's settings, has a hook of ours of its own.
fn copilot_asks_itself(call: &Call) -> bool {
    let place = Agent::Copilot.place(Whose::Repository).path;
    process::variable("COPILOT_CLI").is_some()
        && call.cwd.as_ref().is_some_and(|cwd| {
            Path::new(OsStr::from_bytes(cwd))
                .ancestors()
                .any(|dir| dir.join(place).is_file())
        })
}

/// Returns true for a call by which nothing can be lost, even if it is never answered.
///
/// It needs no watch, whose start costs as much as judging it.
fn plainly_reads(call: &Call) -> bool {
    match &call.intent {
        Intent::Read { .. } => call.moment == Moment::BeforeTool,
        Intent::Unknown { .. } => false,
        Intent::Steps(steps) => steps.iter().all(|step| match step {
            Step::Run { command, .. } => reads(command),
            _ => false,
        }),
    }
}

/// Returns true for a list of commands that are known to read, in plain words.
fn reads(command: &[u8]) -> bool {
    const READERS: &[&str] = &[
        "cat", "cd", "echo", "file", "grep", "head", "ls", "pwd", "rg", "stat", "tail", "true",
        "wc", "which",
    ];
    const GIT: &[&str] = &[
        "blame",
        "diff",
        "log",
        "ls-files",
        "rev-parse",
        "show",
        "status",
    ];
    let Some(text) = std::str::from_utf8(command)
        .ok()
        .filter(|text| text.len() <= PLAIN)
    else {
        return false;
    };
    let plain = !text.contains(['>', '<', '`', '$', '(', '{', '\\', '=']);
    plain
        && text.split(['|', ';', '&', '\n']).all(|part| {
            let mut words = part.split_whitespace();
            match (words.next(), words.next()) {
                (None, _) => true,
                (Some("git"), Some(word)) => GIT.contains(&word),
                (Some(word), _) => READERS.contains(&word),
            }
        })
}

/// The reply when no judgement was reached.
fn instead(agent: Agent, event: Option<&str>, known: &Mutex<Known>, why: &str) -> Reply {
    let words = format!(
        "Holdpoint could not judge this call ({why}). It is refused, because it might write something. \
         Nothing was done. Tell a person: holdpoint doctor says what is wrong; then repeat the same call"
    );
    match lock(known).call.clone() {
        None => agent.refuse(event, &words),
        Some(call)
            if call.moment == Moment::BeforeTool && plainly_reads(&call) && call.may_write() =>
        {
            let words = format!(
                "Holdpoint could not judge this call ({why}); it goes on because it only reads. Tell a person: holdpoint doctor says what is wrong"
            );
            agent.reply(&call, &Answer::Tell(words))
        }
        Some(call) if call.moment == Moment::BeforeTool && call.may_write() => {
            agent.reply(&call, &Answer::Deny(words))
        }
        Some(call) => {
            out::note(format!("holdpoint: {why}"));
            agent.reply(&call, &Answer::Pass)
        }
    }
}

/// Ends the process with a refusal when the deadline passes first.
fn watch(agent: Agent, event: Option<String>, known: Arc<Mutex<Known>>) {
    std::thread::spawn(move || {
        std::thread::sleep(DEADLINE);
        if claim(&known) {
            let why = format!("it took longer than {} s", DEADLINE.as_secs());
            let reply = instead(agent, event.as_deref(), &known, &why);
            write(&reply);
            process::exit_now(reply.exit);
        }
    });
}

/// Takes the right to answer; only the first gets it.
fn claim(known: &Mutex<Known>) -> bool {
    !std::mem::replace(&mut lock(known).answered, true)
}

fn lock(known: &Mutex<Known>) -> std::sync::MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(reply: &Reply) -> ExitStatus {
    write(reply);
    ExitStatus::Guarded(reply.exit)
}

fn write(reply: &Reply) {
    if !reply.stderr.is_empty() {
        out::note(reply.stderr.trim_end());
    }
    if !reply.stdout.is_empty() {
        out::raw(reply.stdout.as_bytes());
    }
}
