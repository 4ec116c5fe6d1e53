//! Leads a run from state to state, and writes the snapshot after every step.
//!
//! Each turn of [`lead`] looks only at the snapshot, so that a resumed run
//! goes on exactly where the killed one stood.

mod attempt;
mod choose;
mod guard;
mod razed;
mod renew;
mod settle;
mod settle_git;
mod verify;

use super::policy::confidence::Thresholds;
use super::policy::limits::{self, AgentKind, Limits};
use super::policy::outcome::Kind;
use super::policy::retry::{Allowance, Jitter, Waits};
use super::policy::task::{Event, State};
use super::policy::{context, template};
use super::record::{Cause, Dir, Options, Purpose, Run, VERSION};
use super::signals;
use super::tree::Identity;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::judge::{Actor, Policy, TaskContext};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{clock, out};
use bstr::BString;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub use renew::renew;
pub use settle::Settled;

/// What stays the same over a run.
pub struct Scene<'a> {
    /// The environment.
    pub env: &'a Env,
    /// The workspace that is guarded.
    pub workspace: &'a Workspace,
    /// The policy that counts.
    pub policy: &'a Policy,
    /// What preferences say of runs.
    pub settings: Settings,
    /// The run's directory.
    pub dir: Dir,
    /// Signals to this process.
    pub signals: Receiver<i32>,
}

/// What preferences say of runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Limits by kind of agent, where preferences set them.
    pub limits: BTreeMap<String, Limits>,
    /// Retries by kind of agent, where preferences set them.
    pub retries: BTreeMap<String, u32>,
    /// Most retries by kind of error, where preferences set them.
    pub most: BTreeMap<Kind, u32>,
    /// How the waits between tries grow.
    pub waits: Waits,
    /// From which confidence a test's fix is tried.
    pub test_fix: Thresholds,
    /// Silence after which progress is checked.
    pub no_progress: Duration,
    /// Commands that take over, by agent.
    pub fallbacks: BTreeMap<String, Vec<Vec<BString>>>,
    /// How many fallbacks may be used.
    pub max_degradation_level: u32,
    /// Limits asked for on the command line.
    pub asked_default: Option<Duration>,
    /// Limits asked for on the command line.
    pub asked_max: Option<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: BTreeMap::new(),
            retries: BTreeMap::new(),
            most: BTreeMap::new(),
            waits: Waits::default(),
            test_fix: Thresholds::default(),
            no_progress: Duration::from_mins(10),
            fallbacks: BTreeMap::new(),
            max_degradation_level: 2,
            asked_default: None,
            asked_max: None,
        }
    }
}

/// How a run came out.
#[derive(Debug)]
pub struct Finished {
    /// The exit status.
    pub status: ExitStatus,
    /// What became of the workspace.
    pub settled: Settled,
}

/// The signals that reach the drive.
///
/// # Errors
/// When no handler can be set.
pub fn listen() -> Result<Receiver<i32>> {
    let (sender, receiver) = channel();
    signals::send(
        &[
            signals::SIGINT,
            signals::SIGTERM,
            signals::SIGHUP,
            signals::SIGCHLD,
            signals::SIGWINCH,
        ],
        sender,
        |signal| signal,
    )?;
    Ok(receiver)
}

/// Makes a run; nothing is started yet.
#[must_use]
pub fn new_run(options: Options, cwd: PathBuf, context: TaskContext) -> Run {
    let mut sessions = BTreeMap::new();
    if let Some(session) = &options.session {
        sessions.insert(
            super::policy::session::canonical(&options.agent).to_owned(),
            session.clone(),
        );
    }
    Run {
        version: VERSION,
        id: ulid::Ulid::generate().to_string(),
        created: clock::rfc3339(clock::now()),
        cwd,
        options,
        priority: context.priority,
        risk: context.risk,
        state: State::Pending,
        attempts: Vec::new(),
        steps: Vec::new(),
        sessions,
        fresh_session: false,
        fallen_back: 0,
        retried: BTreeMap::new(),
        confidence: None,
        counts: None,
        point: None,
        refs: BTreeMap::new(),
        holds: Vec::new(),
        rebuilt: Vec::new(),
        judged: false,
        lead: Identity::own(),
        status: None,
        ended: None,
    }
}

/// Leads a run to its end.
///
/// # Errors
/// When the start gate is shut, a safety point cannot be taken, or the snapshot cannot be written.
pub fn lead(scene: &Scene<'_>, run: &mut Run) -> Result<Finished> {
    run.lead = Identity::own();
    scene.dir.note(run)?;
    while !run.state.is_final() && !run.was_stopped() {
        match run.state {
            State::Pending => begin(scene, run)?,
            State::Running => attempt::make(scene, run)?,
            State::Succeeded => run.step(Event::Accept, "")?,
            State::Accepting => verify::acceptance(scene, run)?,
            State::Reviewing => verify::review(scene, run)?,
            State::Failed => choose::classify(scene, run)?,
            State::Classified => choose::branch(scene, run)?,
            State::Retrying => choose::retry(scene, run)?,
            State::Fixing => choose::fix(scene, run)?,
            State::Done | State::NeedsPerson => {}
        }
        scene.dir.note(run)?;
    }
    let settled = settle::settle(scene, run)?;
    let status = status(run, &settled);
    run.status = Some(status.code());
    run.ended = Some(clock::rfc3339(clock::now()));
    scene.dir.save(run)?;
    guard::finished(scene, run, &settled)?;
    Ok(Finished { status, settled })
}

/// Takes the safety point that the whole run is measured by.
fn begin(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    // A shut gate is to be told before anything is saved or written.
    gate(scene, run, 1)?;
    for words in &run.options.fallbacks {
        let name = words.first().cloned().unwrap_or_default();
        super::gate::find(scene.env, name.as_ref(), &run.cwd)
            .map_err(|error| error.hint("it is named by --fallback, and could not take over"))?;
    }
    super::gitside::note(scene.workspace, &noted(scene))?;
    run.point = guard::point(scene, run, "before a wrapped run")?;
    run.refs = guard::refs(scene)?;
    suggest(run, scene);
    run.step(Event::Start, "")
}

/// Where the git side from before the run is kept.
pub(super) fn noted(scene: &Scene<'_>) -> PathBuf {
    scene.dir.path().join("before")
}

/// Renders and finds the command of the next attempt.
fn gate(scene: &Scene<'_>, run: &Run, number: u32) -> Result<super::gate::Ready> {
    let (agent, words) = run.command(scene)?;
    let session = if run.fresh_session {
        None
    } else {
        run.sessions
            .get(super::policy::session::canonical(&agent))
            .map(String::as_str)
    };
    super::gate::check(
        scene.env,
        &words,
        &template::Values {
            session,
            task: run.options.task.as_deref(),
            attempt: number,
        },
        &run.cwd,
    )
}

/// Says beforehand what the task's size asks for.
fn suggest(run: &Run, scene: &Scene<'_>) {
    use super::policy::complexity::{Complexity, estimate};
    let Some(task) = &run.options.task else {
        return;
    };
    let complexity = Complexity::of(estimate(task));
    let limits = run.limits(scene);
    match complexity.suggested() {
        None => out::note(format!(
            "holdpoint: this task looks complex ({}): split it into smaller ones, or give it time with --timeout and --max",
            complexity.word()
        )),
        Some(time) if time > limits.default => out::note(format!(
            "holdpoint: this task looks {}: {} would fit it better than {} (--timeout {})",
            complexity.word(),
            limits::say(time),
            limits::say(limits.default),
            time.as_secs()
        )),
        Some(_) => {}
    }
}

/// The exit status that tells how the run came out (SPEC §14).
fn status(run: &Run, settled: &Settled) -> ExitStatus {
    let end = run.last().and_then(|attempt| attempt.end.as_ref());
    match end.map(|end| &end.cause) {
        Some(Cause::TimeLimit) => return ExitStatus::TimedOut,
        Some(Cause::Cancelled | Cause::Stopped { .. }) => return ExitStatus::Cancelled,
        _ => {}
    }
    if run.options.pass_status
        && let Some(code) = run
            .last_work()
            .and_then(|attempt| attempt.end.as_ref())
            .and_then(|end| end.exit.shell_code())
        && (code != 0 || settled.held.is_empty())
    {
        return ExitStatus::Guarded(code);
    }
    match (run.state, settled.held.is_empty()) {
        (State::Done, true) => ExitStatus::Passed,
        (State::Done, false) => ExitStatus::Held,
        _ => ExitStatus::GuardedFailed,
    }
}

impl Run {
    /// Whether a person or a limit ended it for good, whatever the state says.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.last()
            .and_then(|attempt| attempt.end.as_ref())
            .is_some_and(|end| matches!(end.cause, Cause::Cancelled | Cause::Stopped { .. }))
    }

    /// The agent and command whose turn it is: the wrapped one, or a fallback.
    pub(super) fn command(&self, scene: &Scene<'_>) -> Result<(String, Vec<BString>)> {
        if self.fallen_back == 0 {
            return Ok((self.options.agent.clone(), self.options.command.clone()));
        }
        let index = usize::try_from(self.fallen_back - 1).unwrap_or(usize::MAX);
        let words = self.fallbacks(scene).get(index).cloned().ok_or_else(|| {
            Error::new(
                ErrorKind::Damaged,
                format!("the snapshot counts {} fallbacks", self.fallen_back),
            )
        })?;
        Ok((agent_of(&words), words))
    }

    /// The commands that may take over.
    pub(super) fn fallbacks(&self, scene: &Scene<'_>) -> Vec<Vec<BString>> {
        if self.options.fallbacks.is_empty() {
            scene
                .settings
                .fallbacks
                .get(&self.options.agent)
                .cloned()
                .unwrap_or_default()
        } else {
            self.options.fallbacks.clone()
        }
    }

    /// The context's factors.
    pub(super) fn factors(&self) -> context::Factors {
        context::factors(TaskContext {
            priority: self.priority,
            risk: self.risk,
        })
    }

    /// The time limits of an attempt.
    pub(super) fn limits(&self, scene: &Scene<'_>) -> Limits {
        let kind = AgentKind::of(&self.options.agent);
        scene
            .settings
            .limits
            .get(kind.word())
            .copied()
            .unwrap_or_else(|| kind.limits())
            .with(scene.settings.asked_default, scene.settings.asked_max)
            .scaled(self.factors().time)
    }

    /// How many retries it may make.
    pub(super) fn allowance(&self, scene: &Scene<'_>, error: Kind) -> Allowance {
        let kind = AgentKind::of(&self.options.agent);
        let factors = self.factors();
        let asked = self
            .options
            .retries
            .or_else(|| scene.settings.retries.get(kind.word()).copied());
        Allowance {
            agent: factors.retries(asked.unwrap_or_else(|| kind.retries())),
            asked: asked.is_some(),
            factor: factors.retries,
            most: scene.settings.most.get(&error).copied(),
        }
    }

    /// The jitter of its waits: its own id is the seed, so that a resumed run waits as the first would have.
    pub(super) fn jitter(&self) -> Jitter {
        let seed = self.id.bytes().fold(0_u64, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        Jitter::new(seed.wrapping_add(self.attempts.len() as u64))
    }

    /// How an agent is named to the judge.
    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor::Agent {
            name: self.options.agent.clone(),
            session: self
                .sessions
                .get(super::policy::session::canonical(&self.options.agent))
                .cloned(),
        }
    }

    /// The last attempt of a purpose, open or not.
    pub(super) fn open_attempt(&self, purpose: Purpose) -> Option<usize> {
        self.attempts.len().checked_sub(1).filter(|last| {
            self.attempts
                .get(*last)
                .is_some_and(|attempt| attempt.purpose == purpose && attempt.end.is_none())
        })
    }
}

/// The agent that a command starts, by its program's name.
#[must_use]
pub fn agent_of(command: &[BString]) -> String {
    let program = command.first().map(ToString::to_string).unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    match name {
        "claude" | "claude-code" => "claude",
        "gemini" | "gemini-cli" => "gemini",
        "" => "tools",
        other => other,
    }
    .to_owned()
}

/// Reads a command that was given as one word, with quotes as a shell reads them.
///
/// # Errors
/// When a quote is not closed.
pub fn split_command(text: &str) -> Result<Vec<BString>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = chars.next().unwrap_or('\\');
                word.get_or_insert_default().push(next);
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take().map(BString::from)),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("a quote is not closed in: {text}"),
        ));
    }
    words.extend(word.map(BString::from));
    Ok(words)
}
