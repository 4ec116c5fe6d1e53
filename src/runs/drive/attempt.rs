//! One attempt: started once, waited for whoever started it, never run twice.

use super::{Scene, gate, guard, razed};
use crate::error::{Error, ErrorKind, Result};
use crate::runs::leashed::{self, Company, Found, Leashed, Voice};
use crate::runs::policy::limits::Limits;
use crate::runs::policy::session;
use crate::runs::policy::task::Event;
use crate::runs::record::{self, Attempt, Cause, End, Purpose, Run, Spec, VERSION};
use crate::runs::{sandbox, signals, terminal};
use crate::sys::{clock, out};
use bstr::BString;
use rustix::process::Signal;
use std::path::{Path, PathBuf};

/// Makes the next attempt of the wrapped command, or waits for the one that is open.
pub(super) fn make(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    if run.open_attempt(Purpose::Work).is_none() {
        let number = next_number(run);
        let ready = gate(scene, run, work_number(run))?;
        let (agent, _) = run.command(scene)?;
        let point = if run.attempts.is_empty() {
            run.point.clone()
        } else {
            guard::point(scene, run, "before another attempt")?
        };
        run.attempts.push(Attempt {
            number,
            purpose: Purpose::Work,
            agent,
            point,
            limits: limits_of_next(scene, run),
            started: clock::rfc3339(clock::now()),
            end: None,
            outcome: None,
        });
        let spec = spec(scene, run, ready.argv, ready.program, number)?;
        start_and_wait(scene, run, Some(spec))?;
    } else {
        start_and_wait(scene, run, None)?;
    }
    razed::rebuild(scene, run)?;
    note_session(scene, run);
    let end = run
        .last()
        .and_then(|attempt| attempt.end.clone())
        .ok_or_else(|| Error::new(ErrorKind::Internal, "an attempt ended without an end"))?;
    let failed = guard::outcome(scene, run)?;
    if failed.is_none() && end.cause == Cause::Left {
        run.step(Event::Succeed, "")
    } else {
        run.step(Event::Fail, guard::why(&end))
    }
}

/// Runs a shell command of the person's (tests, acceptance, review) as an attempt of its own.
pub(super) fn check(scene: &Scene<'_>, run: &mut Run, purpose: Purpose, text: &str) -> Result<End> {
    let spec = if run.open_attempt(purpose).is_none() {
        let number = next_number(run);
        let limits = run.limits(scene);
        run.attempts.push(Attempt {
            number,
            purpose,
            agent: "tools".to_owned(),
            point: None,
            limits,
            started: clock::rfc3339(clock::now()),
            end: None,
            outcome: None,
        });
        let argv = ["/bin/sh", "-c", text].map(BString::from).to_vec();
        Some(spec(scene, run, argv, PathBuf::from("/bin/sh"), number)?)
    } else {
        None
    };
    start_and_wait(scene, run, spec)?;
    razed::rebuild(scene, run)?;
    run.last()
        .and_then(|attempt| attempt.end.clone())
        .ok_or_else(|| Error::new(ErrorKind::Internal, "a check ended without an end"))
}

/// The directory number of the next attempt.
fn next_number(run: &Run) -> u32 {
    run.attempts.last().map_or(1, |attempt| attempt.number + 1)
}

/// The number of the next attempt as the command sees it.
fn work_number(run: &Run) -> u32 {
    let made = run
        .attempts
        .iter()
        .filter(|attempt| attempt.purpose == Purpose::Work)
        .count();
    u32::try_from(made).unwrap_or(u32::MAX).saturating_add(1)
}

/// An attempt after one that ran out of time gets half as long again.
fn limits_of_next(scene: &Scene<'_>, run: &Run) -> Limits {
    let limits = run.limits(scene);
    let timed_out = run
        .last_work()
        .and_then(|attempt| attempt.end.as_ref())
        .is_some_and(|end| end.cause == Cause::TimeLimit);
    if timed_out {
        limits.scaled(crate::runs::policy::retry::LONGER)
    } else {
        limits
    }
}

fn spec(
    scene: &Scene<'_>,
    run: &Run,
    argv: Vec<BString>,
    program: PathBuf,
    number: u32,
) -> Result<Spec> {
    let attempt = run
        .last()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "no attempt to start"))?;
    let is_terminal = terminal::stdin_is_terminal();
    let work = attempt.purpose == Purpose::Work;
    let pty = work && is_terminal && !run.options.no_pty && terminal::in_foreground();
    let dir = scene.dir.attempt(number);
    let confinement = if run.options.sandbox && work {
        let mut plan = sandbox::plan(
            scene.env,
            scene.workspace,
            sandbox::Wishes {
                writable: &run.options.sandbox_write,
                ports: run.options.sandbox_ports.as_deref(),
            },
        );
        plan.files
            .extend([dir.join("out.pipe"), dir.join("err.pipe")]);
        Some(plan)
    } else {
        None
    };
    let title = if work {
        run.title()
    } else {
        let words: Vec<String> = argv.iter().skip(2).map(ToString::to_string).collect();
        format!("the check `{}`", words.join(" "))
    };
    Ok(Spec {
        version: VERSION,
        run: run.id.clone(),
        number,
        token: clock::id(),
        mark: clock::id(),
        argv,
        program,
        cwd: run.cwd.clone(),
        agent: run.options.agent.clone(),
        vars: Vec::new(),
        title: title.chars().take(60).collect(),
        limits: attempt.limits,
        pty,
        no_input: !work || (is_terminal && !pty),
        sandbox: confinement,
        quiet: run.options.quiet,
        no_progress: scene.settings.no_progress,
    })
}

/// Starts the attempt that was just pushed, or takes over the open one, and waits for its end.
fn start_and_wait(scene: &Scene<'_>, run: &mut Run, fresh: Option<Spec>) -> Result<()> {
    let number = run.last().map_or(0, |attempt| attempt.number);
    let dir = scene.dir.attempt(number);
    crate::sys::files::make_private_dir(&dir)?;
    if let Some(spec) = &fresh {
        record::write(&dir.join("spec.json"), spec)?;
        scene.dir.save(run)?;
    }
    let settings = terminal::in_foreground().then(terminal::Settings::note);
    let end = match fresh {
        Some(spec) => {
            let leashed = leashed::start(&dir, &spec, Voice::PassedOn, Company::Alone)?;
            wait(scene, leashed)?
        }
        None => take_over(scene, run, &dir)?,
    };
    drop(settings);
    if let Some(attempt) = run.attempts.last_mut() {
        attempt.end = Some(end);
    }
    Ok(())
}

/// Takes over an attempt that another drive started.
fn take_over(scene: &Scene<'_>, run: &Run, dir: &Path) -> Result<End> {
    out::note(format!(
        "holdpoint: run {} was interrupted; looking for what it left",
        run.id
    ));
    match leashed::find(dir, Voice::PassedOn, Company::Alone)? {
        Found::Ended(end) => Ok(end),
        Found::Alive(leashed) => {
            out::note("holdpoint: it is still running; waiting for it");
            wait(scene, leashed)
        }
        Found::NeverStarted => {
            let mut spec: Spec = record::read(&dir.join("spec.json"))?.ok_or_else(|| {
                Error::new(
                    ErrorKind::Damaged,
                    format!("{} has no spec.json", dir.display()),
                )
            })?;
            spec.token = clock::id();
            spec.pty = spec.pty && terminal::in_foreground();
            let leashed = leashed::start(dir, &spec, Voice::PassedOn, Company::Alone)?;
            wait(scene, leashed)
        }
    }
}

/// Waits for the end, passing on what a person's signals ask for.
fn wait(scene: &Scene<'_>, mut leashed: Leashed) -> Result<End> {
    loop {
        if let Some(end) = leashed.look(scene.env)? {
            return Ok(end);
        }
        match scene.signals.recv_timeout(leashed.pace()) {
            Ok(signals::SIGINT) => leashed.signal(Signal::INT),
            Ok(signals::SIGTERM | signals::SIGHUP) => leashed.signal(Signal::TERM),
            Ok(signals::SIGWINCH) => leashed.signal(Signal::WINCH),
            _ => {}
        }
    }
}

/// Keeps the session id that the attempt printed, for its own agent only.
fn note_session(scene: &Scene<'_>, run: &mut Run) {
    let Some(attempt) = run.last() else { return };
    let dir = scene.dir.attempt(attempt.number);
    let agent = session::canonical(&attempt.agent).to_owned();
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap_or_default();
    let found = session::extract(&agent, &read("head"), &read("out"))
        .or_else(|| session::extract(&agent, &read("head-err"), &read("err")));
    if let Some(id) = found {
        run.sessions.insert(agent, id);
        run.fresh_session = false;
    }
}
