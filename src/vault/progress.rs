//! How far a walk or a restore is, for whoever shows it.

use std::sync::atomic::{AtomicUsize, Ordering};

static STEPS: AtomicUsize = AtomicUsize::new(0);

/// Counts names that were looked at or written.
pub(super) fn add(count: usize) {
    STEPS.fetch_add(count, Ordering::Relaxed);
}

/// How many names this process has looked at or written.
#[must_use]
pub fn steps() -> usize {
    STEPS.load(Ordering::Relaxed)
}
