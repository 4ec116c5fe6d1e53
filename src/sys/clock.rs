//! The wall clock.

use jiff::Timestamp;

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
