//! The exit statuses of all three programs (SPEC §14).

use crate::error::ErrorKind;
use std::process::ExitCode;

/// What a program tells its caller by its exit status.
///
/// An agent hook whose protocol has codes of its own translates in
/// `agents`, never here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: passed.
    Passed,
    /// 1: held or denied by the gate.
    Held,
    /// 2: usage or configuration error.
    Usage,
    /// 3: the guarded thing itself failed.
    GuardedFailed,
    /// 4: internal error or damaged state.
    Internal,
    /// 124: killed at the time limit.
    TimedOut,
    /// 130: cancelled by the person.
    Cancelled,
    /// Another's own status, passed on: a wrapped command's, a chained hook's, an agent protocol's.
    Guarded(u8),
}

impl ExitStatus {
    /// The number that the operating system sees.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Held => 1,
            Self::Usage => 2,
            Self::GuardedFailed => 3,
            Self::Internal => 4,
            Self::TimedOut => 124,
            Self::Cancelled => 130,
            Self::Guarded(code) => code,
        }
    }
}

impl ExitStatus {
    /// Passes on a command's status; one that no status can be is 1.
    #[must_use]
    pub fn of_command(status: i32) -> Self {
        Self::Guarded(u8::try_from(status).unwrap_or(1))
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

impl From<ErrorKind> for ExitStatus {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage | ErrorKind::Config | ErrorKind::Repository => Self::Usage,
            ErrorKind::Refused => Self::Held,
            ErrorKind::Guarded => Self::GuardedFailed,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::Cancelled => Self::Cancelled,
            ErrorKind::Io | ErrorKind::Damaged | ErrorKind::Busy | ErrorKind::Internal => {
                Self::Internal
            }
        }
    }
}
