//! After a failed attempt: what was it, and does it go on by waiting, fixing, another agent, or a person?

use super::{Scene, guard, verify};
use crate::error::Result;
use crate::judge::RuleId;
use crate::runs::gate;
use crate::runs::policy::confidence::{self, Advice, ErrorNow, Passing, Progress};
use crate::runs::policy::degrade::{self, Degradation};
use crate::runs::policy::limits;
use crate::runs::policy::outcome::{Exit, Family, Kind, Outcome};
use crate::runs::policy::retry::{self, Next, Session, Told};
use crate::runs::policy::task::Event;
use crate::runs::record::{Cause, Purpose, Run};
use crate::runs::signals;
use crate::sys::{clock, out};
use bstr::ByteSlice as _;
use std::time::Duration;

/// Finds out what went wrong.
pub(super) fn classify(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    let outcome = guard::outcome(scene, run)?;
    let note = outcome
        .as_ref()
        .map(|outcome| format!("{}: {}", outcome.kind, outcome.evidence))
        .unwrap_or_default();
    if let Some(attempt) = run.attempts.last_mut() {
        attempt.outcome = outcome;
    }
    run.step(Event::Classify, note)
}

/// Takes the branch of the error tree.
pub(super) fn branch(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    let kind = kind(run);
    match kind.family() {
        Family::Transient => run.step(Event::Transient, ""),
        // A program that crashed says nothing of the code that it works on.
        Family::Code
            if crashed(run) && !run.fallbacks(scene).is_empty() && degrade(scene, run)? =>
        {
            run.step(Event::Transient, "a fallback takes over")
        }
        Family::Code => run.step(Event::CodeError, ""),
        // Only a missing dependency is something that a second try may cure.
        Family::Environment if kind == Kind::Dependency => run.step(Event::EnvironmentError, ""),
        Family::Environment => {
            run.step(Event::EnvironmentError, "")?;
            give_up(scene, run, Event::Doubtful)
        }
        Family::Unrecoverable => {
            if degrade_to_next(scene, run)? {
                // Another service takes over: that is how a transient error is gone about.
                run.step(Event::Transient, "a fallback takes over")
            } else {
                log_stop(scene, run, kind.rule().unwrap_or(RuleId::DegradeNone))?;
                run.step(Event::Unrecoverable, "")
            }
        }
    }
}

fn kind(run: &Run) -> Kind {
    run.last_outcome()
        .map_or(Kind::Unknown, |outcome| outcome.kind)
}

fn evidence(run: &Run) -> String {
    run.last_outcome()
        .map(|outcome| outcome.evidence.clone())
        .unwrap_or_default()
}

/// Waits and tries again, or hands on to a fallback, or gives up.
pub(super) fn retry(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    // A fallback was chosen in the branch before: nothing to wait for.
    if run
        .steps
        .last()
        .is_some_and(|step| step.note == "a fallback takes over")
    {
        return start_over(scene, run, Session::Kept, Event::AttemptsLeft);
    }
    let kind = kind(run);
    let timed_out = run
        .last()
        .and_then(|attempt| attempt.end.as_ref())
        .is_some_and(|end| end.cause == Cause::TimeLimit);
    let made = run.retried.get(kind.word()).copied().unwrap_or_default();
    let mut allowance = run.allowance(scene, kind);
    if timed_out {
        // A run that was killed for its time gets one more, not three.
        allowance.agent = allowance.agent.min(1);
    }
    match retry::next(kind, made, allowance) {
        Next::Again {
            retry,
            most,
            session,
            rule,
        } => {
            let wait = if timed_out {
                retry::COOLING
            } else {
                retry::backoff(retry, scene.settings.waits, &mut run.jitter())
            };
            let tell = retry::row(kind).told != Told::FirstFailure || retry == 1;
            if tell {
                out::note(format!(
                    "holdpoint: {kind} ({}): trying again in {} ({retry} of {most})",
                    evidence(run),
                    limits::say(wait)
                ));
            }
            guard::log(
                scene,
                run,
                guard::Note::new("auto_retry", rule, kind.word())
                    .saying(format!(
                        "{rule}: {}; retry {retry} of {most} after {}",
                        evidence(run),
                        limits::say(wait)
                    ))
                    .with("attempt", retry)
                    .with("max", most)
                    .with(
                        "wait_ms",
                        u64::try_from(wait.as_millis()).unwrap_or_default(),
                    ),
            )?;
            if !pause(scene, wait) {
                return cancel(run);
            }
            *run.retried.entry(kind.word().to_owned()).or_default() += 1;
            start_over(scene, run, session, Event::AttemptsLeft)
        }
        Next::Ask { .. } | Next::Stop { .. } => {
            if degrade_to_next(scene, run)? {
                return start_over(scene, run, Session::Kept, Event::AttemptsLeft);
            }
            give_up(scene, run, Event::AttemptsSpent)
        }
    }
}

/// Tries a fix, where it is likely to work or a person agrees.
pub(super) fn fix(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    let kind = kind(run);
    let made = run.retried.get(kind.word()).copied().unwrap_or_default();
    let next = retry::next(kind, made, run.allowance(scene, kind));
    let (retry_number, most, session, rule) = match next {
        Next::Again {
            retry,
            most,
            session,
            rule,
        }
        | Next::Ask {
            retry,
            most,
            session,
            rule,
        } => (retry, most, session, rule),
        Next::Stop { .. } => return give_up(scene, run, Event::Doubtful),
    };
    let agreed = if kind == Kind::TestFailure {
        confident(scene, run, made)?
    } else {
        suggest(kind, run);
        let rule = run.last_outcome().and_then(Outcome::rule).unwrap_or(rule);
        guard::log(
            scene,
            run,
            guard::Note::new("ask", rule, kind.word())
                .saying(format!(
                    "{rule}: {}; fix {retry_number} of {most}",
                    evidence(run)
                ))
                .with("attempt", retry_number)
                .with("max", most),
        )?;
        guard::agrees(&format!(
            "Let the agent try once more ({}, {retry_number} of {most})?",
            evidence(run)
        ))
    };
    if !agreed {
        return give_up(scene, run, Event::Doubtful);
    }
    *run.retried.entry(kind.word().to_owned()).or_default() += 1;
    // A fix builds on what the attempt before it wrote.
    if session == Session::New {
        run.fresh_session = true;
    }
    run.step(Event::Confident, "")
}

/// Works out the confidence of a test fix and what follows from it.
fn confident(scene: &Scene<'_>, run: &mut Run, made: u32) -> Result<bool> {
    let said = verify::output(scene, run);
    let mut failure = confidence::read(&said);
    failure.failed_before = made > 0;
    let counts = confidence::counts(&said);
    let before = confidence::before(&failure);
    let (sum, new_failures) = match (&run.confidence, made) {
        (Some(last), 1..) => {
            let was = run.counts.unwrap_or_default();
            let now = counts.unwrap_or_default();
            let worse = now.failed > was.failed || now.passed < was.passed;
            let same = run
                .attempts
                .iter()
                .rev()
                .skip(1)
                .find(|attempt| attempt.purpose == Purpose::Test)
                .is_some_and(|attempt| {
                    let earlier = std::fs::read(scene.dir.attempt(attempt.number).join("both"))
                        .unwrap_or_default();
                    confidence::read(&String::from_utf8_lossy(&earlier)).cause == failure.cause
                });
            let progress = Progress {
                passing: if worse {
                    Passing::Worse
                } else if now.passed > was.passed {
                    Passing::More
                } else {
                    Passing::Same
                },
                none_new: now.failed <= was.failed,
                error: if same {
                    ErrorNow::Same
                } else {
                    ErrorNow::Other
                },
                tried: made,
            };
            (confidence::after(last, &progress), worse)
        }
        _ => (before, false),
    };
    let (rule, mut advice) = confidence::rule(&sum, made, new_failures, scene.settings.test_fix);
    if made > 0 {
        advice = confidence::advice(&sum, made).max_strict(advice);
    }
    out::note(format!(
        "holdpoint: a test failed; confidence in a fix: {}",
        sum.arithmetic()
    ));
    guard::log(
        scene,
        run,
        guard::Note::new(
            match advice {
                Advice::GoOn => "auto_fix",
                Advice::Ask => "ask",
                Advice::Stop => "block",
            },
            rule,
            "test_failure",
        )
        .saying(format!("{rule}: {}", sum.arithmetic()))
        .with("confidence", sum.value())
        .with("arithmetic", sum.arithmetic())
        .with("attempt", made + 1),
    )?;
    let question = format!("Let the agent try to fix it (confidence {})?", sum.value());
    run.confidence = Some(sum);
    run.counts = counts;
    Ok(match advice {
        Advice::GoOn => true,
        Advice::Ask => guard::agrees(&question),
        Advice::Stop => false,
    })
}

impl Advice {
    /// The stricter of two.
    fn max_strict(self, other: Self) -> Self {
        match (self, other) {
            (Self::Stop, _) | (_, Self::Stop) => Self::Stop,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::GoOn, Self::GoOn) => Self::GoOn,
        }
    }
}

/// Says what would cure a kind of error.
fn suggest(kind: Kind, run: &Run) {
    let hint = match kind {
        Kind::Syntax => "the code does not parse: fix the syntax where the message points",
        Kind::Type | Kind::Name => {
            "the code does not type-check: look at the names and types it points to"
        }
        Kind::Import => "an import does not resolve: check the module's path and its exports",
        Kind::Dependency => "something is not installed: install it, then run again",
        Kind::Logic => "the program itself went wrong: look at the trace",
        _ => "look at the output above",
    };
    out::note(format!("holdpoint: {} ({hint})", evidence(run)));
}

/// Goes back to the safety point, unless partial work is kept, and starts again.
fn start_over(scene: &Scene<'_>, run: &mut Run, session: Session, event: Event) -> Result<()> {
    if !run.options.keep_partial {
        guard::back_to_point(scene, run)?;
    }
    if session == Session::New {
        run.fresh_session = true;
    }
    run.step(event, "")
}

/// Lets the next fallback take over, if there is one.
fn degrade_to_next(scene: &Scene<'_>, run: &mut Run) -> Result<bool> {
    if degrade::helps(kind(run)) {
        degrade(scene, run)
    } else {
        Ok(false)
    }
}

/// Whether the wrapped command itself was ended by a fault of its own.
fn crashed(run: &Run) -> bool {
    run.last().is_some_and(|attempt| {
        attempt.purpose == Purpose::Work
            && attempt.end.as_ref().is_some_and(|end| {
                matches!(
                    end.exit,
                    Exit::Signal(4 | 6 | 7 | 8 | 11) | Exit::Code(132 | 134 | 135 | 136 | 139)
                )
            })
    })
}

/// The same, whatever the error is.
fn degrade(scene: &Scene<'_>, run: &mut Run) -> Result<bool> {
    let kind = kind(run);
    let fallbacks = run.fallbacks(scene);
    let configured = u32::try_from(fallbacks.len()).unwrap_or(u32::MAX);
    let front_end = degrade::is_front_end(run.options.task.as_deref().unwrap_or_default());
    let agent = run.options.agent.clone();
    let degradation = degrade::next(
        &agent,
        front_end,
        run.fallen_back,
        configured,
        scene.settings.max_degradation_level,
    );
    let rule = degradation.rule();
    match &degradation {
        Degradation::Planned { level } => {
            let index = usize::try_from(*level - 1).unwrap_or(usize::MAX);
            let words = fallbacks.get(index).cloned().unwrap_or_default();
            let to = super::agent_of(&words);
            let program = words.first().cloned().unwrap_or_default();
            if let Err(error) = gate::find(scene.env, program.as_bstr(), &run.cwd) {
                out::note(format!("holdpoint: {to} cannot take over: {error}"));
                run.fallen_back = *level;
                return degrade(scene, run);
            }
            let impact = degrade::chain(&agent, front_end)
                .into_iter()
                .nth(index)
                .map_or_else(
                    || format!("{to} does the work of {agent}"),
                    |step| step.impact,
                );
            out::note(format!(
                "holdpoint: {agent} cannot do it ({kind}: {}); {to} takes over: {impact}",
                evidence(run)
            ));
            guard::degraded(scene, run, rule, kind, &to, &impact)?;
            run.fallen_back = *level;
            run.retried.clear();
            Ok(true)
        }
        Degradation::Unplanned { step } => {
            out::note(format!(
                "holdpoint: {agent} cannot do it ({kind}), and no fallback is configured; {} could: {}\n  hint: give one with --fallback, or in preferences under degradation",
                step.to.join(" and "),
                step.impact
            ));
            guard::degraded(scene, run, rule, kind, &step.to.join("+"), &step.impact)?;
            Ok(false)
        }
        Degradation::None => {
            guard::degraded(scene, run, rule, kind, "none", "the task is not done")?;
            Ok(false)
        }
    }
}

fn log_stop(scene: &Scene<'_>, run: &Run, rule: RuleId) -> Result<()> {
    let kind = kind(run);
    guard::log(
        scene,
        run,
        guard::Note::new("block", rule, kind.word())
            .saying(format!("{rule}: {}; a person has to look", evidence(run))),
    )
}

fn give_up(scene: &Scene<'_>, run: &mut Run, event: Event) -> Result<()> {
    let kind = kind(run);
    let rule = match retry::row(kind).retried {
        retry::Retried::No => kind.rule().unwrap_or(RuleId::RetryExhausted),
        retry::Retried::Yes | retry::Retried::Conditional => RuleId::RetryExhausted,
    };
    log_stop(scene, run, rule)?;
    run.step(event, format!("{kind}: {}", evidence(run)))
}

/// Waits, unless the person cancels.
fn pause(scene: &Scene<'_>, wait: Duration) -> bool {
    let until = clock::monotonic() + guard::shortened(scene.env, wait);
    loop {
        let left = until.saturating_sub(clock::monotonic());
        if left.is_zero() {
            return true;
        }
        if let Ok(signals::SIGINT | signals::SIGTERM | signals::SIGHUP) =
            scene.signals.recv_timeout(left)
        {
            return false;
        }
    }
}

/// The person pressed Ctrl-C between two attempts.
fn cancel(run: &mut Run) -> Result<()> {
    if let Some(attempt) = run.attempts.last_mut() {
        if let Some(end) = &mut attempt.end {
            end.cause = Cause::Cancelled;
        }
        attempt.outcome = Some(Outcome {
            kind: Kind::Cancelled,
            basis: crate::runs::policy::outcome::Basis::Exit,
            evidence: "cancelled while waiting (E007)".to_owned(),
        });
    }
    run.step(Event::AttemptsSpent, "E007: cancelled")
}
