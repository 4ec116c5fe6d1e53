//! How far the two agents are, as a person sees it: live lines, or a line now and then.

use super::leg::Leg;
use super::snapshot::{Snapshot, Status};
use crate::sys::env::Env;
use crate::sys::out;
use std::time::Duration;

/// How often progress is told.
const TELL: Duration = Duration::from_secs(30);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Two live lines.
    Live,
    /// A line every 30 seconds.
    Lines,
}

/// How often progress is told; a debug build's tests cannot wait for half a minute.
pub(super) fn tell_every(env: &Env) -> Duration {
    if cfg!(debug_assertions)
        && let Some(ms) = env
            .text("HOLDPOINT_TEST_TELL_MS")
            .and_then(|ms| ms.parse().ok())
    {
        return Duration::from_millis(ms);
    }
    TELL
}

/// How far the agents are, in one line.
pub(super) fn line(snapshot: &Snapshot, legs: &[Leg]) -> String {
    let parts: Vec<String> = legs
        .iter()
        .map(|leg| {
            let part = snapshot.part(leg.backend);
            if part.status == Status::Running {
                format!(
                    "{} running {:.0} s of {:.0} s{}",
                    leg.backend.word(),
                    leg.elapsed().as_secs_f64(),
                    leg.limit().as_secs_f64(),
                    if part.starts > 1 { ", second try" } else { "" }
                )
            } else {
                format!("{} {}", leg.backend.word(), part.status.word())
            }
        })
        .collect();
    parts.join(" · ")
}

/// Two live lines on a terminal; nothing elsewhere.
pub(super) struct View {
    lines: Vec<indicatif::ProgressBar>,
    all: Option<indicatif::MultiProgress>,
}

impl View {
    pub(super) fn new(progress: Progress, count: usize) -> Self {
        if progress == Progress::Lines {
            return Self {
                lines: Vec::new(),
                all: None,
            };
        }
        let all = indicatif::MultiProgress::new();
        let lines = (0..count)
            .map(|_| all.add(indicatif::ProgressBar::new_spinner()))
            .collect();
        Self {
            lines,
            all: Some(all),
        }
    }

    pub(super) fn show(&self, snapshot: &Snapshot, legs: &[Leg]) {
        for (bar, leg) in self.lines.iter().zip(legs) {
            bar.set_message(line(snapshot, std::slice::from_ref(leg)));
            bar.tick();
        }
    }

    /// Prints notes above the live lines.
    pub(super) fn tell(&self, notes: Vec<String>) {
        for note in notes {
            let print = || out::note(format!("holdpoint: {note}"));
            match &self.all {
                Some(all) => all.suspend(print),
                None => print(),
            }
        }
    }

    pub(super) fn end(&mut self) {
        for bar in self.lines.drain(..) {
            bar.finish_and_clear();
        }
    }
}
