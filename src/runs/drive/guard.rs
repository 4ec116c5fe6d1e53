//! Where a run meets the rest of the guard: safety points, the log, a person at the terminal.

use super::{Scene, Settled};
use crate::error::Result;
use crate::journal::{self, LogEntry};
use crate::judge::RuleId;
use crate::runs::policy::limits::say;
use crate::runs::policy::outcome::{self, Basis, Ending, Exit, Kind, Outcome};
use crate::runs::record::{Cause, End, Purpose, Run};
use crate::sys::env::Env;
use crate::sys::out;
use crate::vault::{self, handled};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Takes a safety point and returns its id.
pub(super) fn point(scene: &Scene<'_>, run: &Run, reason: &str) -> Result<Option<String>> {
    let saved = vault::save(
        scene.env,
        scene.workspace,
        &vault::Request {
            message: Some(run.title().chars().take(120).collect()),
            session: None,
            run: Some(run.id.clone()),
            ..vault::Request::new(reason, run.actor())
        },
    )?;
    for notice in &saved.notices {
        out::note(format!("holdpoint: {notice}"));
    }
    wrote(scene, run, handled::Edge::Begin)?;
    Ok(Some(saved.point.id))
}

/// Notes when the run's command may write, so that a rollback tells its writes from a person's.
pub(super) fn wrote(scene: &Scene<'_>, run: &Run, edge: handled::Edge) -> Result<()> {
    handled::note(scene.workspace, &format!("run:{}", run.id), edge, None)
}

/// All refs and what they point to.
pub(super) fn refs(scene: &Scene<'_>) -> Result<BTreeMap<String, String>> {
    crate::runs::delta::refs(scene.workspace)
}

/// Puts the workspace back to the last attempt's safety point, if the attempt wrote anything.
pub(super) fn back_to_point(scene: &Scene<'_>, run: &Run) -> Result<()> {
    let Some(id) = run
        .attempts
        .iter()
        .rev()
        .find(|attempt| attempt.purpose == Purpose::Work)
        .and_then(|attempt| attempt.point.as_deref())
    else {
        return Ok(());
    };
    let count = crate::runs::delta::back_to(scene.env, scene.workspace, id)?;
    if count > 0 {
        out::note(format!(
            "holdpoint: {count} files are back as they were before the attempt (--keep-partial keeps them)"
        ));
    }
    Ok(())
}

/// Classes the end of the last attempt; `None` when it ended well.
pub(super) fn outcome(scene: &Scene<'_>, run: &Run) -> Result<Option<Outcome>> {
    let Some(attempt) = run.last() else {
        return Ok(None);
    };
    let Some(end) = &attempt.end else {
        return Ok(None);
    };
    let dir = scene.dir.attempt(attempt.number);
    let read = |name: &str| -> Result<Vec<u8>> {
        Ok(crate::sys::files::read_if_there(&dir.join(name))?.unwrap_or_default())
    };
    let (stdout, stderr) = (read("out")?, read("err")?);
    let said = outcome::classify(&Ending {
        exit: if end.cause == Cause::Left {
            end.exit
        } else {
            Exit::Lost
        },
        stdout: &stdout,
        stderr: &stderr,
    });
    let fixed = |kind, evidence: String| {
        Some(Outcome {
            kind,
            basis: Basis::Exit,
            evidence,
        })
    };
    Ok(match &end.cause {
        Cause::Left => said,
        Cause::NotStarted { why } => fixed(Kind::Dependency, why.clone()),
        Cause::TimeLimit => Some(timed_out(end, attempt.limits.max, said)),
        Cause::Stopped { by } => fixed(Kind::Cancelled, format!("stopped by {by}")),
        Cause::Cancelled => fixed(Kind::Cancelled, "E007: cancelled by the person".to_owned()),
        Cause::Lost => fixed(
            Kind::Unknown,
            "the process that watched it was killed; how it ended is not known".to_owned(),
        ),
    })
}

/// Silence of this share of the time limit means that the process is stuck.
const STUCK: u64 = 2;

/// Why an attempt ran out of time: the timeout guardrails' table of causes.
fn timed_out(end: &End, max: Duration, said: Option<Outcome>) -> Outcome {
    let after = say(Duration::from_millis(end.elapsed_ms));
    let (kind, evidence) = match said {
        Some(said) if said.kind.family() == outcome::Family::Transient => (
            said.kind,
            format!("killed after {after}; its output says: {}", said.evidence),
        ),
        _ if end.printed == 0 || end.silent_ms.saturating_mul(STUCK) > millis(max) => (
            Kind::Unknown,
            format!(
                "killed after {after}, silent for {}: it looks stuck; start it again",
                say(Duration::from_millis(end.silent_ms))
            ),
        ),
        _ => (
            Kind::Unknown,
            format!(
                "killed after {after} while still working: split the task, or give it more time with --max"
            ),
        ),
    };
    Outcome {
        kind,
        basis: Basis::Words,
        evidence,
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Why an attempt failed, in a few words for the snapshot.
pub(super) fn why(end: &End) -> String {
    match (&end.cause, end.exit) {
        (Cause::Left, Exit::Code(code)) => format!("status {code}"),
        (Cause::Left, Exit::Signal(signal)) => format!("signal {signal}"),
        (Cause::Left, Exit::Lost) | (Cause::Lost, _) => "its end was not seen".to_owned(),
        (Cause::NotStarted { why }, _) => why.clone(),
        (Cause::TimeLimit, _) => "E004: the maximum time was over".to_owned(),
        (Cause::Stopped { by }, _) => format!("stopped by {by}"),
        (Cause::Cancelled, _) => "E007: cancelled".to_owned(),
    }
}

/// A decision of the run's, for the log.
pub(super) struct Note {
    entry: LogEntry,
}

impl Note {
    pub(super) fn new(decision: &str, rule: RuleId, reason: &str) -> Self {
        Self {
            entry: LogEntry::new(decision)
                .level(rule.rule().level)
                .rule(rule)
                .reason(reason),
        }
    }

    /// Adds the sentence a person understands.
    pub(super) fn saying(mut self, reasoning: String) -> Self {
        self.entry = self.entry.reasoning(reasoning);
        self
    }

    /// Adds to the context.
    pub(super) fn with(mut self, key: &str, value: impl Serialize) -> Self {
        self.entry = self.entry.context(key, value);
        self
    }
}

/// Writes a decision to the log.
pub(super) fn log(scene: &Scene<'_>, run: &Run, note: Note) -> Result<()> {
    let entry = note
        .entry
        .context("surface", "run")
        .action(run.title())
        .actor(&run.actor())
        .run(Some(&run.id))
        .safety_point(run.point.as_ref());
    journal::append(scene.env, scene.workspace, entry).map(|_| ())
}

/// Writes a degradation to both logs.
pub(super) fn degraded(
    scene: &Scene<'_>,
    run: &Run,
    rule: RuleId,
    kind: Kind,
    to: &str,
    impact: &str,
) -> Result<()> {
    journal::append_degradation(
        scene.env,
        scene.workspace,
        journal::Degradation {
            service: run.options.agent.clone(),
            reason: kind.word().to_owned(),
            fallback: to.to_owned(),
            task: run.title(),
            impact: impact.to_owned(),
            success: rule == RuleId::DegradePlanned,
        },
    )?;
    log(
        scene,
        run,
        Note::new("degrade", rule, kind.word())
            .saying(format!("{rule}: {} -> {to}: {impact}", run.options.agent))
            .with("fallback", to)
            .with("impact", impact),
    )
}

/// Writes the end of the run to the log.
pub(super) fn finished(scene: &Scene<'_>, run: &Run, settled: &Settled) -> Result<()> {
    let mut entry = LogEntry::new("run")
        .reason(run.state.word())
        .reasoning(format!(
            "the run ended as {} after {} attempts; {} files kept, {} held",
            run.state,
            run.attempts.len(),
            settled.kept.len(),
            settled.held.len()
        ))
        .outcome(match run.status {
            Some(0) => journal::Outcome::Success,
            Some(1) => journal::Outcome::Pending,
            Some(124 | 130) => journal::Outcome::Stopped,
            _ => journal::Outcome::Failure,
        })
        .context("attempts", run.attempts.len())
        .context("status", run.status)
        .context("complexity", settled.complexity.word())
        .context("priority", run.priority)
        .context("risk", run.risk)
        .action(run.title())
        .actor(&run.actor())
        .run(Some(&run.id))
        .safety_point(run.point.as_ref())
        .hold(run.holds.first());
    if let Some(confidence) = &run.confidence {
        entry = entry.context("confidence", confidence.arithmetic());
    }
    journal::append(scene.env, scene.workspace, entry).map(|_| ())
}

/// Asks the person at the terminal; where there is none, nobody agrees.
pub(super) fn agrees(question: &str) -> bool {
    let Some(terminal) = crate::sys::terminal::Terminal::open() else {
        return false;
    };
    terminal.is_in_front() && terminal.agrees(question).unwrap_or(false)
}

/// A wait, which a debug build's door shortens for tests.
pub(super) fn shortened(env: &Env, wait: Duration) -> Duration {
    if cfg!(debug_assertions) && env.var("HOLDPOINT_TEST_NO_WAIT").is_some() {
        Duration::ZERO
    } else {
        wait
    }
}
