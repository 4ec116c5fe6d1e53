//! `holdpoint collab`: runs two agents side by side.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::loops::collab::drive::{self, Consent, Done};
use crate::loops::collab::machine::{Backend, Code, Role, State};
use crate::loops::collab::snapshot::Plan;
use crate::loops::collab::view::Progress;
use crate::prefs;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{actor, out};
use bstr::BString;
use serde_json::{Map, Value};
use std::io::IsTerminal as _;

/// The whole time where nobody says otherwise, in milliseconds.
const TIMEOUT_MS: u64 = 600_000;

/// Arguments of `holdpoint collab`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the agents are asked to be.
    #[arg(long, value_enum, required_unless_present = "resume")]
    role: Option<Role>,
    /// The task.
    #[arg(long, required_unless_present = "resume")]
    task: Option<String>,
    /// Who is asked.
    #[arg(long, value_enum, default_value_t = Who::Both)]
    backend: Who,
    /// The whole time in milliseconds; each agent has half of it.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(2..))]
    timeout: Option<u64>,
    /// Takes up an interrupted run by its id, or goes on with an agent's session.
    #[arg(long, value_name = "SESSION")]
    resume: Option<String>,
    /// Does without session ids.
    #[arg(long)]
    lite: bool,
    /// Takes an acceptable degraded result without asking.
    #[arg(long)]
    accept_degraded: bool,
    /// The command that asks codex, as one shell-quoted line; {task}, {role} and {session} are filled in.
    #[arg(long, value_name = "COMMAND")]
    codex_command: Option<String>,
    /// The command that asks gemini.
    #[arg(long, value_name = "COMMAND")]
    gemini_command: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    /// Both agents.
    Both,
    /// Codex alone.
    Codex,
    /// Gemini alone.
    Gemini,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    if args.accept_degraded && actor::detect(env).is_agent() {
        return Err(Error::new(
            ErrorKind::Refused,
            "only a person takes a degraded result; an agent cannot say so beforehand",
        )
        .hint("leave --accept-degraded out; the result then waits for a person"));
    }
    let consent = if args.accept_degraded {
        Consent::Given
    } else {
        Consent::Ask
    };
    let progress = if std::io::stderr().is_terminal() && draws(env) && !args.json {
        Progress::Live
    } else {
        Progress::Lines
    };
    if let Some(id) = &args.resume
        && let Some(done) = drive::resume(env, &workspace, id, consent, progress)?
    {
        return tell(&done, args.json);
    }
    let plan = plan(env, &workspace, args)?;
    let done = drive::begin(env, &workspace, plan, consent, progress)?;
    tell(&done, args.json)
}

/// Returns true where the terminal says of itself that lines can be drawn over.
fn draws(env: &Env) -> bool {
    env.text("TERM")
        .is_some_and(|term| !term.is_empty() && term != "dumb")
}

fn plan(env: &Env, workspace: &Workspace, args: &Args) -> Result<Plan> {
    let (Some(role), Some(task)) = (args.role, &args.task) else {
        return Err(Error::new(
            ErrorKind::Usage,
            format!(
                "there is no run {} to take up",
                args.resume.as_deref().unwrap_or_default()
            ),
        )
        .hint("to go on with an agent's session, give --role and --task too"));
    };
    let backends = match args.backend {
        Who::Both => Backend::BOTH.to_vec(),
        Who::Codex => vec![Backend::Codex],
        Who::Gemini => vec![Backend::Gemini],
    };
    let sessions = match (&args.resume, backends.as_slice()) {
        (None, _) => Vec::new(),
        (Some(session), [one]) => vec![(*one, session.clone())],
        // An id belongs to one agent; which one only the caller knows.
        (Some(session), _) => return Err(drive::unknown_session(session)),
    };
    let preferences = prefs::load(env, workspace)?;
    let mut commands = Vec::new();
    for backend in &backends {
        let (flag, preferred) = match backend {
            Backend::Codex => (&args.codex_command, &preferences.collab.codex),
            Backend::Gemini => (&args.gemini_command, &preferences.collab.gemini),
        };
        let words = match (flag, preferred) {
            (Some(text), _) => split(text)?,
            (None, Some(words)) if !words.is_empty() => words
                .iter()
                .map(|word| BString::from(word.as_str()))
                .collect(),
            _ => usual(*backend, sessions.iter().any(|(of, _)| of == backend)),
        };
        commands.push((*backend, words));
    }
    Ok(Plan {
        role,
        task: task.clone(),
        backends,
        timeout_ms: args
            .timeout
            .or(preferences.collab.timeout)
            .unwrap_or(TIMEOUT_MS),
        lite: args.lite,
        sessions,
        commands,
        cwd: env.cwd().to_path_buf(),
    })
}

/// How each agent is asked where nobody says otherwise.
fn usual(backend: Backend, resumes: bool) -> Vec<BString> {
    let words: &[&str] = match (backend, resumes) {
        (Backend::Codex, false) => &["codex", "exec", "--json", "As {role}: {task}"],
        (Backend::Codex, true) => &[
            "codex",
            "exec",
            "resume",
            "{session}",
            "--json",
            "As {role}: {task}",
        ],
        (Backend::Gemini, _) => &[
            "gemini",
            "--output-format",
            "json",
            "--resume",
            "{session}",
            "-p",
            "As {role}: {task}",
        ],
    };
    words.iter().map(|word| BString::from(*word)).collect()
}

/// Splits a command line into words, as a shell does with quotes and backslashes and nothing else.
fn split(text: &str) -> Result<Vec<BString>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = chars.next().ok_or_else(|| unsplit(text))?;
                word.get_or_insert_default().push(next);
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => {
                words.extend(word.take().map(BString::from));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(unsplit(text));
    }
    words.extend(word.map(BString::from));
    Ok(words)
}

fn unsplit(text: &str) -> Error {
    Error::new(
        ErrorKind::Usage,
        format!("cannot split {text:?} into words: a quote is not closed"),
    )
}

fn tell(done: &Done, json: bool) -> Result<ExitStatus> {
    let snapshot = &done.snapshot;
    if json {
        let mut value = serde_json::to_value(snapshot)
            .doing(ErrorKind::Internal, || "cannot write the answer".to_owned())?;
        let outputs: Map<String, Value> = done
            .outputs
            .iter()
            .map(|(backend, output)| (backend.word().to_owned(), output.as_str().into()))
            .collect();
        if let Some(object) = value.as_object_mut() {
            object.insert("outputs".to_owned(), Value::Object(outputs));
        }
        out::line(format!("{value:#}"));
    } else {
        for (backend, output) in &done.outputs {
            out::line(format!(
                "## {} ({})\n\n{}\n",
                backend.word(),
                backend.dimension(),
                output.trim_end()
            ));
        }
    }
    note(done);
    Ok(match (snapshot.state, snapshot.error_code) {
        (State::Success, _) if snapshot.hold.is_none() => ExitStatus::Passed,
        (State::Failed, Some(Code::E001 | Code::E002)) => ExitStatus::Usage,
        (State::Failed, Some(Code::E004 | Code::E005)) => ExitStatus::TimedOut,
        (State::Failed, Some(Code::E007)) => ExitStatus::Cancelled,
        (State::Failed, _) => ExitStatus::GuardedFailed,
        (State::Success | State::Degraded | State::Init | State::Running, _) => ExitStatus::Held,
    })
}

/// Says how it ended, why, and what to type next.
fn note(done: &Done) {
    let snapshot = &done.snapshot;
    let mut text = format!("holdpoint: {}", snapshot.state);
    if snapshot.state == State::Degraded || snapshot.degraded_level.is_some() {
        text.push_str("; missing: ");
        text.push_str(&snapshot.missing_dimensions.join(", "));
        text.push_str("; ");
        text.push_str(snapshot.degraded_reason.as_deref().unwrap_or_default());
    }
    if let Some(reason) = snapshot
        .failure_reason
        .as_ref()
        .filter(|_| snapshot.degraded_level.is_none())
    {
        text.push_str("; ");
        text.push_str(reason);
    }
    out::note(text);
    if let Some(impact) = &snapshot.impact {
        out::note(format!("  impact: {impact}"));
    }
    if let Some(code) = snapshot.error_code {
        out::note(format!("  {code}: {}", code.advice()));
    }
    match snapshot.state {
        State::Degraded => out::note(format!(
            "  take it: holdpoint collab --resume {id} (a person, at a terminal)",
            id = snapshot.id
        )),
        State::Failed => out::note("  it is handed back: go on without it"),
        State::Success | State::Init | State::Running => {}
    }
    if let Some(hold) = &snapshot.hold {
        out::note(format!(
            "  a part of the changes waits for a person: holdpoint holds show {hold}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_would() {
        for (text, words) in [
            ("a b  c", vec!["a", "b", "c"]),
            (
                "sh -c 'a \"b\" c' \"x y\"",
                vec!["sh", "-c", "a \"b\" c", "x y"],
            ),
            ("a\\ b '' \"\\\"\"", vec!["a b", "", "\""]),
            ("", vec![]),
        ] {
            assert_eq!(split(text).expect("split"), words, "{text}");
        }
        assert!(split("a 'b").is_err());
        assert!(split("a \\").is_err());
    }
}
