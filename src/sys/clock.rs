//! The wall clock.

use jiff::Timestamp;
use std::time::Duration;

/// The time now.
#[must_use]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// A time as it is written to logs: RFC 3339, UTC, milliseconds.
#[must_use]
pub fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// A new ULID: sortable by the time it was made.
#[must_use]
pub fn id() -> String {
    ulid::Ulid::generate().to_string()
}

/// The time of a clock that is never set and stands still while the machine sleeps; only differences mean anything.
#[must_use]
pub fn monotonic() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::try_from(now).unwrap_or_default()
}
