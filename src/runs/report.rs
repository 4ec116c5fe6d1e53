//! What the person reads when a run is over.

use super::drive::Finished;
use super::policy::limits::say;
use super::policy::outcome::Kind;
use super::policy::task::State;
use super::record::{Cause, Dir, Run};
use super::tail;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Words the report: several lines for people.
#[must_use]
pub fn words(run: &Run, finished: &Finished, dir: &Dir) -> String {
    let mut text = String::new();
    let attempt = run.last();
    let end = attempt.and_then(|attempt| attempt.end.as_ref());
    match (run.state, end) {
        (State::Done, _) => {
            let took = end.map_or(Duration::ZERO, |end| Duration::from_millis(end.elapsed_ms));
            let _ = writeln!(text, "run {} is done ({})", run.id, say(took));
        }
        (_, Some(end)) => {
            let _ = writeln!(
                text,
                "run {} {}",
                run.id,
                match &end.cause {
                    Cause::TimeLimit => format!(
                        "was ended at its time limit (E004): it took {}, the maximum is {}",
                        say(Duration::from_millis(end.elapsed_ms)),
                        attempt.map_or_else(String::new, |attempt| say(attempt.limits.max)),
                    ),
                    Cause::Cancelled => "was cancelled (E007)".to_owned(),
                    Cause::Stopped { by } => format!("was stopped by {by} (E007)"),
                    Cause::NotStarted { why } => format!("could not be started: {why}"),
                    Cause::Lost => "lost its watcher; how it ended is not known".to_owned(),
                    Cause::Left => "failed".to_owned(),
                }
            );
            tell_failure(&mut text, run, end, dir);
        }
        (_, None) => {
            let _ = writeln!(text, "run {} was not started", run.id);
        }
    }
    if let Some(end) = end {
        if !end.left_behind.is_empty() {
            let _ = writeln!(
                text,
                "  it left processes behind, which were ended: {}",
                end.left_behind.join(", ")
            );
        }
        if !end.not_ended.is_empty() {
            let _ = writeln!(
                text,
                "  these processes could not be ended: {}",
                end.not_ended.join(", ")
            );
        }
    }
    let settled = &finished.settled;
    if !settled.kept.is_empty() {
        let _ = match settled.kept.len() {
            1 => writeln!(text, "  1 changed file is kept"),
            many => writeln!(text, "  {many} changed files are kept"),
        };
    }
    for note in &settled.notes {
        let _ = writeln!(text, "  {note}");
    }
    text.trim_end().to_owned()
}

fn tell_failure(text: &mut String, run: &Run, end: &super::record::End, dir: &Dir) {
    if let Some(outcome) = run.last().and_then(|attempt| attempt.outcome.as_ref()) {
        let _ = writeln!(
            text,
            "  cause: {} ({}): {}",
            outcome.kind,
            outcome.kind.family().word(),
            outcome.evidence
        );
    }
    if end.cause == Cause::TimeLimit {
        let number = run.last().map_or(1, |attempt| attempt.number);
        let bytes = std::fs::read(dir.attempt(number).join("both")).unwrap_or_default();
        let lines = tail::last_lines(&bytes, tail::REPORTED);
        if lines.is_empty() {
            let _ = writeln!(text, "  it printed nothing");
        } else {
            let _ = writeln!(text, "  its last {} lines:", lines.len());
            for line in lines {
                let _ = writeln!(text, "  | {line}");
            }
        }
        text.push_str("  likely causes: a slow network, an overloaded service, too large a task, a stuck process\n");
    }
    for hint in suggestions(run, end) {
        let _ = writeln!(text, "  hint: {hint}");
    }
}

/// What a person can do about a failure.
fn suggestions(run: &Run, end: &super::record::End) -> Vec<String> {
    let kind = run
        .last()
        .and_then(|attempt| attempt.outcome.as_ref())
        .map_or(Kind::Unknown, |outcome| outcome.kind);
    let mut hints = Vec::new();
    if end.cause == Cause::TimeLimit {
        hints.push("check the network and the service's status page, then run it again".to_owned());
        hints.push("split the task into smaller ones".to_owned());
        hints.push(
            "give it more time: --max, or for good: holdpoint prefs set timeouts.coder_max 1200"
                .to_owned(),
        );
        if run.options.fallbacks.is_empty() {
            hints.push("name another agent to take over: --fallback 'CMD'".to_owned());
        }
        return hints;
    }
    let hint = match kind {
        Kind::Authentication => {
            "log in again with the agent's own login command, then run it again"
        }
        Kind::Permission => "see what was refused above; a person has to grant it",
        Kind::Quota => "wait until the quota is renewed, or name another agent: --fallback 'CMD'",
        Kind::RateLimit
        | Kind::NetworkTimeout
        | Kind::ConnectionReset
        | Kind::Unavailable
        | Kind::Busy => "try again later, or allow more tries: --retries 3",
        Kind::Dependency => "install what is missing, then run it again",
        Kind::Cancelled => "start it again when you like",
        Kind::Syntax | Kind::Type | Kind::Name | Kind::Import | Kind::Logic | Kind::TestFailure => {
            "look at the code it points to; --retries 1 lets the agent try a fix"
        }
        _ => "its output: holdpoint logs",
    };
    hints.push(hint.to_owned());
    hints
}

/// The report as JSON.
#[must_use]
pub fn json(run: &Run, finished: &Finished) -> Value {
    let paths = |paths: &[bstr::BString]| -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    };
    let attempts: Vec<Value> = run
        .attempts
        .iter()
        .map(|attempt| {
            json!({
                "number": attempt.number,
                "purpose": attempt.purpose,
                "agent": attempt.agent,
                "safety_point": attempt.point,
                "started": attempt.started,
                "end": attempt.end,
                "outcome": attempt.outcome,
            })
        })
        .collect();
    json!({
        "version": 1,
        "run": run.id,
        "state": run.state,
        "status": finished.status.code(),
        "agent": run.options.agent,
        "task": run.options.task,
        "attempts": attempts,
        "sessions": run.sessions,
        "safety_point": run.point,
        "kept": paths(&finished.settled.kept),
        "held": paths(&finished.settled.held),
        "holds": run.holds,
        "notes": finished.settled.notes,
        "complexity": finished.settled.complexity,
        "confidence": run.confidence.as_ref().map(super::policy::confidence::Confidence::arithmetic),
    })
}
