//! What went wrong, while doing what, and what to do next.

use std::fmt;

/// A result whose error says what was being done and how to go on.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The class of an error; it decides the exit status, not the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The command line was wrong.
    Usage,
    /// A preference, Contract or configuration file is wrong.
    Config,
    /// The directory is not what the command needs (no repository, bare, …).
    Repository,
    /// A file or another resource could not be read or written.
    Io,
    /// Holdpoint's own state is damaged.
    Damaged,
    /// Somebody else holds a lock for longer than we wait.
    Busy,
    /// The caller may not do this (an agent that confirms, no terminal, …).
    Refused,
    /// The guarded command itself failed.
    Guarded,
    /// A time limit was reached.
    TimedOut,
    /// The person cancelled.
    Cancelled,
    /// A fault of ours.
    Internal,
}

/// An error with what was being done and hints on how to go on.
///
/// Rendered over several lines: what failed, why, then one `hint:` line each.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    doing: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    hints: Vec<String>,
}

impl Error {
    /// Makes an error; `doing` reads as "cannot …" or names the fault in one line.
    pub fn new(kind: ErrorKind, doing: impl Into<String>) -> Self {
        Self {
            kind,
            doing: doing.into(),
            source: None,
            hints: Vec::new(),
        }
    }

    /// Adds the underlying error.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds a way out, worded as something to type or to check.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The class of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What was being done.
    #[must_use]
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// The ways out, in the order they were added.
    #[must_use]
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.doing)?;
        let mut next = self
            .source
            .as_deref()
            .map(|source| source as &dyn std::error::Error);
        while let Some(source) = next {
            write!(f, ": {source}")?;
            next = source.source();
        }
        for hint in &self.hints {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Turns a foreign error into ours at the place that knows what was being done.
pub trait Context<T> {
    /// Says what was being done when the error came up.
    fn doing(self, kind: ErrorKind, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E> Context<T> for Result<T, E>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn doing(self, kind: ErrorKind, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::new(kind, doing()).because(source))
    }
}
