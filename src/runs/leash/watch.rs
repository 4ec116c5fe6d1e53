//! The watch on a running attempt: its time, its silence, and what a person asks for.

use super::pump::Shared;
use super::show::{Bar, words};
use crate::error::Result;
use crate::repo::Workspace;
use crate::runs::policy::limits::{Limits, Stage, say};
use crate::runs::record::{Dir, Spec};
use crate::runs::{notes, tail, terminal};
use crate::sys::env::Env;
use crate::sys::{clock, out};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often a person without a terminal hears of a run.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// How often the time and a person's wishes are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What the leash has to heed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heed {
    /// Nothing.
    GoOn,
    /// The maximum is over.
    TimeLimit,
    /// A person asked to stop.
    Stop,
}

/// The watch.
pub(super) struct Watch<'a> {
    env: &'a Env,
    spec: &'a Spec,
    /// No interactive agent draws on the person's screen.
    free: bool,
    run: Dir,
    begun: Duration,
    limits: Limits,
    stage: Stage,
    looked: Option<Duration>,
    beat: Duration,
    quiet_told: Option<Duration>,
    bar: Option<Bar>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(env: &'a Env, spec: &'a Spec, run: Dir, begun: Duration) -> Self {
        // The screen is the agent's where its terminal is passed on to one.
        let free = !spec.pty || !terminal::stdout_is_terminal();
        let bar = (!spec.quiet && free && terminal::stderr_is_terminal())
            .then(|| Bar::draw(spec.limits))
            // A terminal that cannot draw gets lines.
            .filter(|bar| !bar.is_hidden());
        Self {
            env,
            spec,
            free,
            run,
            begun,
            limits: spec.limits,
            stage: Stage::Within,
            looked: None,
            beat: begun,
            quiet_told: None,
            bar,
        }
    }

    /// Looks at the clock and at what a person asked for; at most once a second.
    pub(super) fn look(&mut self, shared: &Mutex<Shared>) -> Result<Heed> {
        let now = clock::monotonic();
        if self
            .looked
            .is_some_and(|looked| now.saturating_sub(looked) < LOOK.min(self.limits.max / 4))
        {
            return Ok(Heed::GoOn);
        }
        self.looked = Some(now);
        let control = self.run.control()?;
        if control.stop {
            return Ok(Heed::Stop);
        }
        if let Some(seconds) = control.max_seconds
            && Duration::from_secs(seconds) != self.limits.max
        {
            self.limits.max = Duration::from_secs(seconds);
            self.tell(&format!("the maximum is now {}", say(self.limits.max)));
        }
        let elapsed = now.saturating_sub(self.begun);
        let (last, silent) = {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if shared.screen.is_none() {
                shared.screen.clone_from(&self.bar);
            }
            let last = if self.bar.is_some() || self.beats(now) {
                shared.catch_up();
                tail::last_line(&shared.both.tail(), 80)
            } else {
                String::new()
            };
            (
                last,
                now.saturating_sub(shared.last_output.unwrap_or(self.begun)),
            )
        };
        self.tell_stage(elapsed);
        self.check_progress(now, silent);
        self.show(now, elapsed, &last);
        Ok(if self.stage == Stage::Over {
            Heed::TimeLimit
        } else {
            Heed::GoOn
        })
    }

    fn tell_stage(&mut self, elapsed: Duration) {
        let stage = self.limits.stage(elapsed);
        if stage == self.stage {
            return;
        }
        let longer = stage > self.stage;
        self.stage = stage;
        if !longer {
            return;
        }
        let left = self.limits.max.saturating_sub(elapsed);
        let seconds = Duration::from_secs(elapsed.as_secs());
        let text = match stage {
            Stage::Within => return,
            Stage::Warning | Stage::OverExpected => format!(
                "{}{} has taken {}; the default is {}, the maximum {}, {} are left\n  wait, look at its output: holdpoint logs {run}, give it more time: holdpoint extend {run} 20m, or end it: holdpoint stop {run}",
                if stage == Stage::OverExpected {
                    "half as long again as expected: "
                } else {
                    ""
                },
                self.spec.title,
                say(seconds),
                say(self.limits.default),
                say(self.limits.max),
                say(Duration::from_secs(left.as_secs())),
                run = self.spec.run,
            ),
            Stage::Over => format!(
                "{} has taken {}, the maximum is {}: ending it",
                self.spec.title,
                say(seconds),
                say(self.limits.max)
            ),
        };
        self.tell(&text);
        let over = stage == Stage::Over;
        notes::task_timeout(
            self.env,
            self.workspace().as_ref(),
            &notes::TaskTimeout {
                run: &self.spec.run,
                agent: &self.spec.agent,
                task: &self.spec.title,
                elapsed,
                threshold: if over {
                    self.limits.max
                } else {
                    self.limits.default
                },
                action: if over { "terminated" } else { "warning" },
                rule: stage.rule(),
            },
        );
    }

    /// After a long silence without a file written, asks whether anything still moves.
    fn check_progress(&mut self, now: Duration, silent: Duration) {
        let patience = self.spec.no_progress;
        let told = self.quiet_told.unwrap_or_default();
        if silent < patience || now.saturating_sub(told) < patience && self.quiet_told.is_some() {
            return;
        }
        self.quiet_told = Some(now);
        let since = clock::now() - jiff::SignedDuration::try_from(silent).unwrap_or_default();
        if notes::written_since(&self.spec.cwd, since) {
            return;
        }
        self.tell(&format!(
            "no output and no file written for {}: is it stuck? look: holdpoint logs {run}; end it: holdpoint stop {run}",
            say(Duration::from_secs(silent.as_secs())),
            run = self.spec.run
        ));
        notes::no_progress(
            self.env,
            self.workspace().as_ref(),
            &self.spec.run,
            &self.spec.agent,
            silent,
        );
    }

    fn workspace(&self) -> Option<Workspace> {
        Workspace::find(self.env, &self.spec.cwd).ok()
    }

    /// Whether it is time for the line that a person without a terminal hears.
    fn beats(&self, now: Duration) -> bool {
        !self.spec.quiet && self.free && now.saturating_sub(self.beat) >= HEARTBEAT
    }

    fn show(&mut self, now: Duration, elapsed: Duration, last: &str) {
        let state = match self.stage {
            Stage::Within => "running",
            Stage::Warning => "past its default time",
            Stage::OverExpected => "half as long again as expected",
            Stage::Over => "over its maximum",
        };
        if let Some(bar) = &self.bar {
            bar.set(elapsed, self.limits, state, last);
        } else if self.beats(now) {
            self.beat = now;
            out::note(format!(
                "holdpoint: run {}: {}",
                self.spec.run,
                words(elapsed, self.limits, state, last)
            ));
        }
    }

    /// Says that Ctrl-C reached the agent.
    pub(super) fn tell_interrupted(&self) {
        self.tell("asked the agent to stop; press Ctrl-C again to kill it");
    }

    fn tell(&self, text: &str) {
        let say = || {
            if self.spec.pty {
                // The terminal is raw: a newline alone does not return the carriage.
                out::note(format!("\r\nholdpoint: {}\r", text.replace('\n', "\r\n")));
            } else {
                out::note(format!("holdpoint: {text}"));
            }
        };
        match &self.bar {
            Some(bar) => bar.aside(say),
            None => say(),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.clear();
        }
    }
}
