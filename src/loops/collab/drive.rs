//! Leads a side-by-side run from state to state.

use super::leg::{self, Leg, Look};
use super::machine::{Backend, Code, DegradedLevel, Event, State, decide};
use super::snapshot::{Dir, Plan, Snapshot, Status};
use super::view::{self, Progress, View};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::journal::{self, Degradation, LogEntry, Outcome as LogOutcome, Timeout};
use crate::judge::{Actor, Level, RuleId};
use crate::loops::settle::{self, Scene};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{actor, clock, out};
use crate::vault;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the agents are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Whether a person takes a degraded result without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// A person is asked on the terminal; without one it stays open.
    Ask,
    /// A person said beforehand that an acceptable one is taken.
    Given,
}

/// A side-by-side run, led by this process.
pub struct Drive<'a> {
    env: &'a Env,
    workspace: &'a Workspace,
    dir: Dir,
    consent: Consent,
    progress: Progress,
    cancelled: Arc<AtomicBool>,
    snapshot: Snapshot,
    /// When this process took the run up, and how long it had taken by then.
    taken_up: (Duration, Duration),
}

/// The end of a run.
#[derive(Debug)]
pub struct Done {
    /// The last snapshot.
    pub snapshot: Snapshot,
    /// What each agent printed.
    pub outputs: Vec<(Backend, String)>,
}

/// Makes a run and leads it to its end.
///
/// # Errors
/// When no safety point can be taken, or its files cannot be written.
pub fn begin(
    env: &Env,
    workspace: &Workspace,
    plan: Plan,
    consent: Consent,
    progress: Progress,
) -> Result<Done> {
    let id = clock::id();
    let dir = Dir::of(workspace, &id);
    dir.make()?;
    let snapshot = Snapshot::new(id, clock::rfc3339(clock::now()), plan);
    dir.save(&snapshot)?;
    lead(env, workspace, dir, snapshot, (consent, progress))
}

/// Takes up a run that was interrupted, or whose degraded result is still open.
///
/// # Errors
/// As [`begin`]; `Ok(None)` when there is no such run.
pub fn resume(
    env: &Env,
    workspace: &Workspace,
    id: &str,
    consent: Consent,
    progress: Progress,
) -> Result<Option<Done>> {
    let dir = Dir::of(workspace, id);
    let Some(snapshot) = dir.load()? else {
        return Ok(None);
    };
    out::note(format!(
        "holdpoint: taking up the run {id} ({})",
        snapshot.state
    ));
    lead(env, workspace, dir, snapshot, (consent, progress)).map(Some)
}

fn lead(
    env: &Env,
    workspace: &Workspace,
    dir: Dir,
    snapshot: Snapshot,
    (consent, progress): (Consent, Progress),
) -> Result<Done> {
    let _lock = dir.lead()?;
    let cancelled = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&cancelled))
            .doing(ErrorKind::Internal, || "cannot watch for Ctrl-C".to_owned())?;
    }
    Drive {
        env,
        workspace,
        dir,
        consent,
        progress,
        cancelled,
        taken_up: (clock::monotonic(), leg::since(Some(&snapshot.started_at))),
        snapshot,
    }
    .run()
}

impl Drive<'_> {
    fn run(mut self) -> Result<Done> {
        if self.snapshot.state == State::Init {
            self.gate()?;
        }
        if self.snapshot.state == State::Running {
            self.watch()?;
        }
        if self.snapshot.state != State::Init && !self.snapshot.settled {
            self.settle()?;
        }
        if self.snapshot.state == State::Degraded {
            self.ask()?;
        }
        let mut outputs = Vec::new();
        for backend in self.snapshot.plan.backends.clone() {
            outputs.push((backend, leg::output(&self.dir, &self.snapshot, backend)?));
        }
        Ok(Done {
            snapshot: self.snapshot,
            outputs,
        })
    }

    /// The start gate: somebody has to be able to start.
    fn gate(&mut self) -> Result<()> {
        let plan = self.snapshot.plan.clone();
        let refusals: Vec<(Backend, leg::Refusal)> = plan
            .backends
            .iter()
            .filter_map(|backend| {
                leg::gate(self.env, &plan, *backend, 1)
                    .err()
                    .map(|refusal| (*backend, refusal))
            })
            .collect();
        if refusals.len() == plan.backends.len() {
            let why: Vec<String> = refusals
                .iter()
                .map(|(backend, refusal)| {
                    format!("{}: {} ({})", backend.word(), refusal.reason, refusal.code)
                })
                .collect();
            for (backend, refusal) in &refusals {
                let part = self.snapshot.part_mut(*backend);
                part.status = Status::Failed;
                part.error_code = Some(refusal.code);
                part.reason = Some(refusal.reason.clone());
            }
            let code = refusals.first().map(|(_, refusal)| refusal.code);
            return self.fail(Event::GateFailed, &why.join("; "), code);
        }
        let mut request = vault::Request::new("before-collab", self.actor());
        request.run = Some(self.snapshot.id.clone());
        let request = request.message(Some(plan.task.chars().take(200).collect()));
        let saved = vault::save(self.env, self.workspace, &request)?;
        for notice in &saved.notices {
            out::note(format!("holdpoint: {notice}"));
        }
        self.snapshot.safety_point = Some(saved.point.id);
        settle::note(self.workspace, self.dir.path())?;
        self.snapshot.turn(Event::Started)?;
        self.dir.save(&self.snapshot)
    }

    /// What is left of the whole time; a resumed run's clock goes on.
    fn left(&self) -> Duration {
        let whole = Duration::from_millis(self.snapshot.plan.timeout_ms);
        // The clock of the wall may be set while the agents work.
        let (at, before) = self.taken_up;
        whole.saturating_sub(before + clock::monotonic().saturating_sub(at))
    }

    /// Watches the agents until each has ended, then weighs the results.
    fn watch(&mut self) -> Result<()> {
        let mut legs = Vec::new();
        for backend in self.snapshot.plan.backends.clone() {
            legs.push(Leg::open(self.env, &self.dir, &mut self.snapshot, backend)?);
        }
        let begun = clock::monotonic();
        let mut told = begun;
        let every = view::tell_every(self.env);
        let mut view = View::new(self.progress, legs.len());
        for leg in &mut legs {
            view.tell(leg.notes());
        }
        while legs.iter().any(|leg| leg.running.is_some()) {
            let left = self.left();
            for leg in &mut legs {
                let before = self.snapshot.part(leg.backend).clone();
                let look = leg.look(self.env, &self.dir, &mut self.snapshot, left)?;
                view.tell(leg.notes());
                if look == Look::Changed {
                    self.log_timeout(leg.backend, before.starts)?;
                }
            }
            if self.cancelled.load(Ordering::Relaxed) {
                for leg in &mut legs {
                    leg.cancel(self.env, &self.dir, &mut self.snapshot)?;
                }
                view.end();
                return self.fail(
                    Event::Cancelled,
                    "cancelled by the person",
                    Some(Code::E007),
                );
            }
            let now = clock::monotonic();
            view.show(&self.snapshot, &legs);
            if self.progress == Progress::Lines && now.saturating_sub(told) >= every {
                told = now;
                out::note(format!("holdpoint: {}", view::line(&self.snapshot, &legs)));
            }
            std::thread::sleep(LOOK);
        }
        view.end();
        self.weigh()
    }

    /// Logs that an agent timed out.
    fn log_timeout(&self, backend: Backend, before: u32) -> Result<()> {
        let part = self.snapshot.part(backend);
        if part.error_code == Some(Code::E004) {
            let single = Duration::from_millis(self.snapshot.plan.timeout_ms / 2).as_secs_f64();
            journal::append_timeout(
                self.env,
                self.workspace,
                Timeout::TaskTimeout {
                    agent: backend.word().to_owned(),
                    task: self.snapshot.plan.task.clone(),
                    duration: single,
                    threshold: single,
                    action: if part.starts > before {
                        "retried".to_owned()
                    } else {
                        "terminated".to_owned()
                    },
                },
            )?;
        }
        Ok(())
    }

    /// The result gate.
    fn weigh(&mut self) -> Result<()> {
        let plan = &self.snapshot.plan;
        let results: Vec<_> = plan
            .backends
            .iter()
            .map(|backend| leg::result(&self.snapshot, *backend))
            .collect();
        let outcome = decide(&results, plan.role, plan.lite);
        let reason = outcome.reason.clone().unwrap_or_default();
        self.snapshot.error_code = outcome.code;
        self.snapshot.missing_dimensions = outcome
            .missing
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        if outcome.event == Event::NoneSucceeded {
            return self.fail(outcome.event, &reason, outcome.code);
        }
        self.snapshot.turn(outcome.event)?;
        self.snapshot.degraded_level = outcome.level;
        self.snapshot.degraded_reason = outcome.reason;
        self.snapshot.impact = outcome.impact;
        if self.snapshot.state == State::Success {
            self.snapshot.ended_at = Some(clock::rfc3339(clock::now()));
            self.dir.save(&self.snapshot)?;
            return self.log("collab", LogOutcome::Success, "both agents gave a result");
        }
        self.dir.save(&self.snapshot)?;
        self.degraded(&reason)?;
        if self.snapshot.degraded_level == Some(DegradedLevel::Unacceptable) {
            return self.fail(
                Event::Rejected,
                &format!("a core dimension is missing: {reason}"),
                self.snapshot.error_code,
            );
        }
        Ok(())
    }

    fn degraded(&self, reason: &str) -> Result<()> {
        let missing = &self.snapshot.missing_dimensions;
        let service: Vec<&str> = Backend::BOTH
            .iter()
            .filter(|backend| missing.iter().any(|name| name == backend.dimension()))
            .map(|backend| backend.word())
            .collect();
        let acceptable = self.snapshot.degraded_level == Some(DegradedLevel::Acceptable);
        journal::append_degradation(
            self.env,
            self.workspace,
            Degradation {
                service: service.join(", "),
                reason: reason.to_owned(),
                fallback: if acceptable {
                    "the other agent's result".to_owned()
                } else {
                    "main agent".to_owned()
                },
                task: self.snapshot.plan.task.clone(),
                impact: self.snapshot.impact.clone().unwrap_or_default(),
                success: acceptable,
            },
        )?;
        self.log(
            "degrade",
            LogOutcome::Partial,
            &format!("{} is missing: {reason}", missing.join(", ")),
        )
    }

    /// Asks a person whether an acceptable degraded result is taken.
    fn ask(&mut self) -> Result<()> {
        let agreed = match self.consent {
            Consent::Given => Some(true),
            Consent::Ask => match actor::person(self.env) {
                Ok(terminal) => Some(terminal.agrees(&format!(
                    "The {} dimension is missing ({}). Take the other agent's result?",
                    self.snapshot.missing_dimensions.join(", "),
                    self.snapshot.degraded_reason.clone().unwrap_or_default()
                ))?),
                Err(_) => None,
            },
        };
        match agreed {
            None => Ok(()),
            Some(true) => {
                self.snapshot.turn(Event::Accepted)?;
                self.snapshot.ended_at = Some(clock::rfc3339(clock::now()));
                self.dir.save(&self.snapshot)?;
                self.log(
                    "collab",
                    LogOutcome::Success,
                    "a person took the degraded result",
                )
            }
            Some(false) => self.fail(
                Event::Rejected,
                "a person did not take the degraded result",
                self.snapshot.error_code,
            ),
        }
    }

    /// Ends the run without a result: the caller goes on by itself.
    fn fail(&mut self, event: Event, reason: &str, code: Option<Code>) -> Result<()> {
        self.snapshot.turn(event)?;
        self.snapshot.failure_reason = Some(reason.to_owned());
        self.snapshot.error_code = code;
        self.snapshot.ended_at = Some(clock::rfc3339(clock::now()));
        self.dir.save(&self.snapshot)?;
        if event == Event::NoneSucceeded {
            journal::append_degradation(
                self.env,
                self.workspace,
                Degradation {
                    service: "codex, gemini".to_owned(),
                    reason: reason.to_owned(),
                    fallback: "main agent".to_owned(),
                    task: self.snapshot.plan.task.clone(),
                    impact: "the caller does the task by itself".to_owned(),
                    success: false,
                },
            )?;
        }
        self.log("collab", LogOutcome::Failure, reason)
    }

    /// Judges what the agents changed; notes the hold before anything is put back.
    fn settle(&mut self) -> Result<()> {
        let Some(point) = self.snapshot.safety_point.clone() else {
            return Ok(());
        };
        let actor = self.actor();
        let scene = Scene {
            run: &self.snapshot.id,
            point: &point,
            actor: &actor,
            dir: self.dir.path(),
        };
        let mut kept = 0;
        let mut hold = self.snapshot.hold.clone();
        if hold.is_none() {
            let settled = settle::settle(self.env, self.workspace, &scene)?;
            kept = settled.kept.len();
            hold = settled.hold;
        }
        if let Some(hold) = &hold {
            let mut noted = self.snapshot.clone();
            noted.hold = Some(hold.clone());
            self.dir.save(&noted)?;
            settle::put_back(self.env, self.workspace, &scene, hold)?;
        }
        if kept > 0 {
            out::note(format!(
                "holdpoint: {kept} file(s) changed; put back: holdpoint rollback {point}"
            ));
        }
        self.snapshot.settled = true;
        self.snapshot.hold = hold;
        self.dir.save(&self.snapshot)
    }

    fn actor(&self) -> Actor {
        let name: Vec<&str> = self
            .snapshot
            .plan
            .backends
            .iter()
            .map(|backend| backend.word())
            .collect();
        Actor::Agent {
            name: name.join("+"),
            session: None,
        }
    }

    fn log(&self, decision: &str, outcome: LogOutcome, what: &str) -> Result<()> {
        let snapshot = &self.snapshot;
        let rule = match (snapshot.state, snapshot.degraded_level) {
            (State::Degraded, Some(DegradedLevel::Acceptable)) => Some(RuleId::DegradePlanned),
            (State::Degraded, _) => Some(RuleId::DegradeUnplanned),
            (State::Failed, _) => Some(RuleId::DegradeNone),
            _ => None,
        };
        let mut entry = LogEntry::new(decision)
            .level(if rule.is_some() {
                Level::Confirm
            } else {
                Level::Transparent
            })
            .reason(
                snapshot
                    .error_code
                    .map_or_else(|| "collab".to_owned(), |code| code.to_string()),
            )
            .reasoning(what)
            .action(format!("collab {}", snapshot.plan.role.word()))
            .outcome(outcome)
            .actor(&self.actor())
            .run(Some(snapshot.id.clone()))
            .safety_point(snapshot.safety_point.clone())
            .context("state", snapshot.state)
            .context("degraded_level", snapshot.degraded_level)
            .context("missing_dimensions", &snapshot.missing_dimensions)
            .context("codex", &snapshot.codex)
            .context("gemini", &snapshot.gemini)
            .context("retries", snapshot.retries);
        if let Some(rule) = rule {
            entry = entry.rule(rule);
        }
        let written = journal::append(self.env, self.workspace, entry)?;
        for note in &written.notes {
            out::note(format!("holdpoint: {note}"));
        }
        Ok(())
    }
}

/// Says that a session belongs to nobody that was asked.
#[must_use]
pub fn unknown_session(session: &str) -> Error {
    Error::new(
        ErrorKind::Usage,
        format!("{session} is no run of `collab`, and which agent's session it is cannot be told"),
    )
    .hint("say whose it is: --backend codex or --backend gemini")
}
