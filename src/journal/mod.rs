//! Append-only, hash-chained logs (SPEC §6): decisions, timeouts, degradations.
//!
//! The chain lives in the mirror under Holdpoint's own state, which no command
//! in the workspace reaches; `.ccg/` holds the same lines for people and their
//! tools where that directory exists. A line is written under the lock and
//! synced after the lock is gone, so that processes share the disk's waits.
//! That something of Level 0 or 1 passed, or that a point was taken, is handed to
//! the kernel and not waited for: it outlives any killed process, and the next line of weight takes it to
//! the disk.
//! Secrets are taken out before a line is made.

mod entry;
mod heal;
mod kinds;
mod query;
mod redact;
mod store;
mod synced;
mod verify;

pub use entry::{LogEntry, Outcome};
pub use kinds::{Behavior, Degradation, Timeout};
pub use query::{Filter, Query, Stats, stats};
pub use redact::redact;
pub use store::{Log, Written, lines_path, mirror_path};
pub use verify::{Break, Report, repair, verify};

use crate::error::Result;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files::Durability;

/// Appends one decision and returns when it is on the disk; what only tells, when the kernel has it.
///
/// # Errors
/// When the mirror cannot be written. A copy in `.ccg/` that cannot be
/// written is told in [`Written::notes`].
pub fn append(_env: &Env, workspace: &Workspace, entry: LogEntry) -> Result<Written> {
    let durability = if entry.only_tells() {
        Durability::Lazy
    } else {
        Durability::Synced
    };
    store::append(workspace, Log::Decisions, entry.into_body(), durability)
}

/// Appends one timeout, of a task or of a decision.
///
/// # Errors
/// As [`append`].
pub fn append_timeout(_env: &Env, workspace: &Workspace, timeout: Timeout) -> Result<Written> {
    store::append(
        workspace,
        Log::Timeouts,
        timeout.into_body(),
        Durability::Synced,
    )
}

/// Appends one degradation.
///
/// # Errors
/// As [`append`].
pub fn append_degradation(
    _env: &Env,
    workspace: &Workspace,
    degradation: Degradation,
) -> Result<Written> {
    store::append(
        workspace,
        Log::Degradations,
        degradation.into_body(),
        Durability::Synced,
    )
}
