//! What the person sees while an agent works: a bar at a terminal, a line now and then elsewhere.

use crate::runs::policy::limits::{Limits, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Characters of the agent's last line that are shown.
const LAST: usize = 60;

/// The bar on the person's terminal.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Draws it on standard error.
    pub(super) fn draw(limits: Limits) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(limits.max.as_secs().max(1)),
            ProgressDrawTarget::stderr(),
        );
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:20}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }

    /// Whether nothing of it can be seen.
    pub(super) fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Runs `work` with the bar out of the way.
    pub(super) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }

    /// Shows how far it is.
    pub(super) fn set(&self, elapsed: Duration, limits: Limits, state: &str, last: &str) {
        self.bar.set_length(limits.max.as_secs().max(1));
        self.bar.set_position(elapsed.as_secs());
        self.bar.set_message(words(elapsed, limits, state, last));
        self.bar.tick();
    }

    /// Takes it away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// The state of an attempt in one line.
#[must_use]
pub(super) fn words(elapsed: Duration, limits: Limits, state: &str, last: &str) -> String {
    let last: String = last.chars().take(LAST).collect();
    let mut line = format!(
        "{} of {} (at most {}), {state}",
        say(Duration::from_secs(elapsed.as_secs())),
        say(limits.default),
        say(limits.max)
    );
    if !last.is_empty() {
        line.push_str(": ");
        line.push_str(&last);
    }
    line
}
