//! One of the two agents: gated, started, looked at, tried once more, ended.

use super::machine::{Backend, Code, Ended};
use super::snapshot::{Dir, Plan, Snapshot, Status};
use crate::error::{Context as _, ErrorKind, Result};
use crate::runs::leashed::{self, Company, Found, Leashed, Start, Voice};
use crate::runs::policy::limits::Limits;
use crate::runs::policy::outcome::{self, Ending, Exit, Family};
use crate::runs::policy::{session, template};
use crate::runs::record::{Cause, End};
use crate::sys::clock;
use crate::sys::env::Env;
use bstr::{BString, ByteSlice as _};
use std::path::PathBuf;
use std::time::Duration;

/// How much longer than its limit an agent may run when nobody but its leash watches it.
const SLACK: Duration = Duration::from_secs(10);

/// What keeps an agent from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) reason: String,
}

/// One agent of a run.
#[derive(Debug)]
pub(super) struct Leg {
    pub(super) backend: Backend,
    pub(super) running: Option<Leashed>,
    begun: Duration,
    /// How long this start had run when this process found it.
    before: Duration,
    /// How long this start may take.
    limit: Duration,
    /// What a person should know, until it is told.
    notes: Vec<String>,
}

/// What a look at an agent showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing new.
    Same,
    /// It ended, or was started anew; the snapshot has it.
    Changed,
}

/// The command of an agent, rendered, or why it cannot be started.
pub(super) fn gate(env: &Env, plan: &Plan, backend: Backend, attempt: u32) -> GateResult {
    let refused = |code, reason: String| Err(Refusal { code, reason });
    let words = plan
        .commands
        .iter()
        .find(|(of, _)| *of == backend)
        .map(|(_, words)| words.as_slice())
        .unwrap_or_default();
    let session = plan
        .sessions
        .iter()
        .find(|(of, _)| *of == backend)
        .map(|(_, session)| session.as_str());
    let words: Vec<BString> = words
        .iter()
        .map(|word| BString::from(word.replace("{role}", plan.role.word())))
        .collect();
    let values = template::Values {
        session,
        task: Some(&plan.task),
        attempt,
    };
    let argv = match template::render(&words, &values) {
        Ok(argv) => argv,
        Err(error) => return refused(Code::E002, error.to_string()),
    };
    if !plan.cwd.is_dir() {
        return refused(
            Code::E003,
            format!("the directory {} cannot be entered", plan.cwd.display()),
        );
    }
    let name = argv.first().cloned().unwrap_or_default();
    match crate::runs::gate::find(env, name.as_bstr(), &plan.cwd) {
        Ok(_) => Ok(argv),
        Err(error) => refused(Code::E001, error.doing().to_owned()),
    }
}

/// A rendered command, or a refusal.
pub(super) type GateResult = std::result::Result<Vec<BString>, Refusal>;

impl Leg {
    /// Starts an agent, or finds what an earlier drive started.
    pub(super) fn open(
        env: &Env,
        dir: &Dir,
        snapshot: &mut Snapshot,
        backend: Backend,
    ) -> Result<Self> {
        let mut leg = Self {
            backend,
            running: None,
            begun: clock::monotonic(),
            before: Duration::ZERO,
            limit: Duration::from_millis(snapshot.plan.timeout_ms / 2),
            notes: Vec::new(),
        };
        match snapshot.part(backend).status {
            Status::Pending => leg.start(env, dir, snapshot)?,
            Status::Running => leg.find(env, dir, snapshot)?,
            Status::Success | Status::Failed | Status::Timeout | Status::Skipped => {}
        }
        Ok(leg)
    }

    fn find(&mut self, env: &Env, dir: &Dir, snapshot: &mut Snapshot) -> Result<()> {
        let start = snapshot.part(self.backend).starts;
        match leashed::find(
            &dir.start(self.backend, start),
            Voice::Written,
            Company::Others,
        )? {
            Found::NeverStarted => self.start(env, dir, snapshot),
            Found::Alive(running) => {
                self.running = Some(running);
                self.before = since(snapshot.part(self.backend).begun_at.as_deref());
                Ok(())
            }
            Found::Ended(end) => self.ended(env, dir, snapshot, &end),
        }
    }

    fn start(&mut self, env: &Env, dir: &Dir, snapshot: &mut Snapshot) -> Result<()> {
        let attempt = snapshot.part(self.backend).starts + 1;
        let argv = match gate(env, &snapshot.plan, self.backend, attempt) {
            Ok(argv) => argv,
            Err(refusal) => {
                let part = snapshot.part_mut(self.backend);
                part.status = Status::Failed;
                part.error_code = Some(refusal.code);
                part.reason = Some(refusal.reason);
                return dir.save(snapshot);
            }
        };
        let part = snapshot.part_mut(self.backend);
        part.starts = attempt;
        part.status = Status::Running;
        part.task_id = Some(format!("{}.{attempt}", self.backend.word()));
        part.begun_at = Some(clock::rfc3339(clock::now()));
        dir.save(snapshot)?;
        self.begun = clock::monotonic();
        self.before = Duration::ZERO;
        // The leash's own limit is for the time when nobody else watches.
        let limit = self.limit + SLACK;
        let start = Start {
            argv: &argv,
            cwd: &snapshot.plan.cwd,
            run: &snapshot.id,
            agent: self.backend.word(),
            title: self.backend.word(),
            vars: vec![(
                "HOLDPOINT_COLLAB_ROLE".into(),
                snapshot.plan.role.word().into(),
            )],
            limits: Limits {
                default: limit,
                max: limit,
            },
        };
        let place = dir.start(self.backend, attempt);
        let started = start
            .spec(env)
            .and_then(|spec| leashed::start(&place, &spec, Voice::Written, Company::Others));
        match started {
            Ok(running) => {
                self.running = Some(running);
                Ok(())
            }
            Err(error) => {
                let part = snapshot.part_mut(self.backend);
                part.status = Status::Failed;
                part.error_code = Some(Code::E003);
                part.reason = Some(error.to_string());
                dir.save(snapshot)
            }
        }
    }

    /// Looks at the agent: ended, out of time, or neither.
    pub(super) fn look(
        &mut self,
        env: &Env,
        dir: &Dir,
        snapshot: &mut Snapshot,
        left: Duration,
    ) -> Result<Look> {
        let elapsed = self.elapsed();
        let Some(running) = &mut self.running else {
            return Ok(Look::Same);
        };
        if let Some(end) = running.look(env)? {
            self.running = None;
            self.ended(env, dir, snapshot, &end)?;
            return Ok(Look::Changed);
        }
        if elapsed < self.limit && !left.is_zero() {
            return Ok(Look::Same);
        }
        running.end(env)?;
        self.running = None;
        let why = format!("timed out after {:.1} s", elapsed.as_secs_f64());
        self.failed(
            env,
            dir,
            snapshot,
            Failure {
                status: Status::Timeout,
                code: Some(Code::E004),
                reason: why,
                again: !left.is_zero(),
            },
        )?;
        Ok(Look::Changed)
    }

    /// Ends the agent without another try.
    pub(super) fn cancel(&mut self, env: &Env, dir: &Dir, snapshot: &mut Snapshot) -> Result<()> {
        if let Some(mut running) = self.running.take() {
            running.end(env)?;
            let part = snapshot.part_mut(self.backend);
            part.status = Status::Failed;
            part.error_code = Some(Code::E007);
            part.reason = Some("cancelled by the person".to_owned());
            dir.save(snapshot)?;
        }
        Ok(())
    }

    fn ended(&mut self, env: &Env, dir: &Dir, snapshot: &mut Snapshot, end: &End) -> Result<()> {
        let place = dir.start(self.backend, snapshot.part(self.backend).starts);
        let text = leashed::said(&place)?;
        let word = self.backend.word();
        let found = session::extract(word, &text.head, &text.out)
            .or_else(|| session::extract(word, &text.head_err, &text.err));
        if let Some(failure) = unusual(end) {
            return self.failed(env, dir, snapshot, failure);
        }
        let outcome = outcome::classify(&Ending {
            exit: end.exit,
            stdout: &text.out,
            stderr: &text.err,
        });
        let said = !text.out.trim_ascii().is_empty();
        if outcome.is_none() && said {
            let part = snapshot.part_mut(self.backend);
            part.session_id = found;
            part.status = Status::Success;
            part.error_code = None;
            part.reason = None;
            return dir.save(snapshot);
        }
        snapshot.part_mut(self.backend).session_id = found;
        let failure = match outcome {
            None => Failure {
                status: Status::Failed,
                code: None,
                reason: "it ended well and said nothing".to_owned(),
                again: false,
            },
            Some(outcome) => Failure {
                status: Status::Failed,
                // What the shell says of a program that is there and does not become a process.
                code: (matches!(end.exit, Exit::Code(126 | 127)) && !said).then_some(Code::E003),
                reason: format!("{:?}: {}", outcome.kind, outcome.evidence),
                again: outcome.kind.family() == Family::Transient || end.exit == Exit::Lost,
            },
        };
        self.failed(env, dir, snapshot, failure)
    }

    /// Tries once more where that can help; else the agent has failed.
    fn failed(
        &mut self,
        env: &Env,
        dir: &Dir,
        snapshot: &mut Snapshot,
        failure: Failure,
    ) -> Result<()> {
        let part = snapshot.part_mut(self.backend);
        part.status = failure.status;
        part.error_code = failure.code;
        part.reason = Some(failure.reason);
        let word = self.backend.word();
        let reason = snapshot
            .part(self.backend)
            .reason
            .clone()
            .unwrap_or_default();
        let retries = snapshot.retries_mut(self.backend);
        if failure.again && *retries == 0 {
            *retries += 1;
            self.notes
                .push(format!("{word}: {reason}; tried once more"));
            return self.start(env, dir, snapshot);
        }
        self.notes.push(format!("{word}: {reason}"));
        dir.save(snapshot)
    }

    /// Takes what a person should know.
    pub(super) fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// How long this start has taken.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + clock::monotonic().saturating_sub(self.begun)
    }

    /// How long it may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }
}

/// The time since a moment that an earlier process wrote down; none where the clock was set back.
pub(super) fn since(at: Option<&str>) -> Duration {
    at.and_then(|at| at.parse::<jiff::Timestamp>().ok())
        .map(|at| clock::now().duration_since(at))
        .and_then(|elapsed| Duration::try_from(elapsed).ok())
        .unwrap_or_default()
}

struct Failure {
    status: Status,
    code: Option<Code>,
    reason: String,
    again: bool,
}

/// What went wrong where a command was not left to end by itself.
fn unusual(end: &End) -> Option<Failure> {
    match &end.cause {
        Cause::NotStarted { why } => Some(Failure {
            status: Status::Failed,
            code: Some(Code::E003),
            reason: why.clone(),
            again: false,
        }),
        Cause::TimeLimit => Some(Failure {
            status: Status::Timeout,
            code: Some(Code::E004),
            reason: format!(
                "timed out after {:.1} s",
                Duration::from_millis(end.elapsed_ms).as_secs_f64()
            ),
            again: true,
        }),
        Cause::Left | Cause::Stopped { .. } | Cause::Cancelled | Cause::Lost => None,
    }
}

/// How an agent ended, by the snapshot.
pub(super) fn result(snapshot: &Snapshot, backend: Backend) -> Ended {
    let part = snapshot.part(backend);
    Ended {
        backend,
        succeeded: part.status == Status::Success,
        session: part.session_id.clone(),
        code: part.error_code,
        reason: part.reason.clone().unwrap_or_default(),
    }
}

/// Everything that an agent's last start printed on standard output.
pub(super) fn output(dir: &Dir, snapshot: &Snapshot, backend: Backend) -> Result<String> {
    let part = snapshot.part(backend);
    if part.starts == 0 {
        return Ok(String::new());
    }
    let path: PathBuf = dir.start(backend, part.starts).join("whole");
    let bytes = std::fs::read(&path)
        .or_else(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                Ok(Vec::new())
            } else {
                Err(error)
            }
        })
        .doing(ErrorKind::Io, || format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
