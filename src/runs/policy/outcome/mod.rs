//! What went wrong in an attempt, from its exit status and the end of its output.
//!
//! Source: SPEC §8 "outcome classes"; the decision framework's error tree.
//! Fields that programs meant for machines are read first ([`structured`],
//! then error codes in [`codes`]), words only after them ([`words`], most
//! specific first), and the exit status alone last.

mod codes;
mod diagnostics;
mod errno;
mod exceptions;
mod identifiers;
mod missing;
mod runners;
mod sentences;
mod sql;
mod structured;
mod words;

use crate::judge::RuleId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The branch of the error tree that a kind belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Goes away by itself: wait and try again.
    Transient,
    /// The code has to change.
    Code,
    /// The machine or its configuration has to change.
    Environment,
    /// Nothing that is tried again would change it.
    Unrecoverable,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The network or a service took too long.
    NetworkTimeout,
    /// The connection broke off.
    ConnectionReset,
    /// Too many requests for now.
    RateLimit,
    /// An allowance or balance is used up; transient because a fallback may have its own.
    Quota,
    /// The service, a lock or a device is in use.
    Busy,
    /// The service cannot be reached or is down.
    Unavailable,
    /// The code does not parse.
    Syntax,
    /// The code does not type-check.
    Type,
    /// A name, method or attribute does not exist.
    Name,
    /// An import inside the code does not resolve.
    Import,
    /// The program ran and went wrong.
    Logic,
    /// Tests ran and failed.
    TestFailure,
    /// A package or program is not installed.
    Dependency,
    /// A configuration file or setting is wrong or missing.
    Config,
    /// The system refused access.
    Permission,
    /// A file or directory is not there or not what it should be.
    Path,
    /// A version does not fit.
    Version,
    /// Who asks could not be established.
    Authentication,
    /// What was asked for does not exist.
    NotFound,
    /// The request itself is wrong.
    InvalidRequest,
    /// The service failed inside.
    Upstream,
    /// Somebody stopped it.
    Cancelled,
    /// Nothing in the output says.
    Unknown,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 23] = [
        Self::NetworkTimeout,
        Self::ConnectionReset,
        Self::RateLimit,
        Self::Quota,
        Self::Busy,
        Self::Unavailable,
        Self::Syntax,
        Self::Type,
        Self::Name,
        Self::Import,
        Self::Logic,
        Self::TestFailure,
        Self::Dependency,
        Self::Config,
        Self::Permission,
        Self::Path,
        Self::Version,
        Self::Authentication,
        Self::NotFound,
        Self::InvalidRequest,
        Self::Upstream,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// The branch of the error tree.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::NetworkTimeout
            | Self::ConnectionReset
            | Self::RateLimit
            | Self::Quota
            | Self::Busy
            | Self::Unavailable => Family::Transient,
            Self::Syntax
            | Self::Type
            | Self::Name
            | Self::Import
            | Self::Logic
            | Self::TestFailure => Family::Code,
            Self::Dependency | Self::Config | Self::Permission | Self::Path | Self::Version => {
                Family::Environment
            }
            Self::Authentication
            | Self::NotFound
            | Self::InvalidRequest
            | Self::Upstream
            | Self::Cancelled
            | Self::Unknown => Family::Unrecoverable,
        }
    }

    /// The word used in logs, snapshots and the corpus.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NetworkTimeout => "network_timeout",
            Self::ConnectionReset => "connection_reset",
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Syntax => "syntax",
            Self::Type => "type",
            Self::Name => "name",
            Self::Import => "import",
            Self::Logic => "logic",
            Self::TestFailure => "test_failure",
            Self::Dependency => "dependency",
            Self::Config => "config",
            Self::Permission => "permission",
            Self::Path => "path",
            Self::Version => "version",
            Self::Authentication => "authentication",
            Self::NotFound => "not_found",
            Self::InvalidRequest => "invalid_request",
            Self::Upstream => "upstream",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }

    /// The rule that speaks when this kind is met again or for the first time, where the matrix has one.
    #[must_use]
    pub fn rule(self) -> Option<RuleId> {
        match self {
            Self::NetworkTimeout | Self::ConnectionReset => Some(RuleId::RetryTransient),
            Self::RateLimit | Self::Quota => Some(RuleId::RetryRateLimit),
            Self::Busy | Self::Unavailable => Some(RuleId::RetryUnavailable),
            Self::Syntax => Some(RuleId::FixSyntax),
            Self::Type | Self::Name => Some(RuleId::FixType),
            Self::Import => Some(RuleId::FixImport),
            Self::Logic => Some(RuleId::FixLogic),
            Self::Permission => Some(RuleId::FailPermission),
            Self::Authentication => Some(RuleId::FailAuth),
            Self::TestFailure
            | Self::Dependency
            | Self::Config
            | Self::Path
            | Self::Version
            | Self::NotFound
            | Self::InvalidRequest
            | Self::Upstream
            | Self::Cancelled
            | Self::Unknown => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Family {
    /// The word used in logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Code => "code",
            Self::Environment => "environment",
            Self::Unrecoverable => "unrecoverable",
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It left with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Whoever would know was killed first.
    Lost,
}

impl Exit {
    /// The status as a shell would give it; `None` when it is lost.
    #[must_use]
    pub fn shell_code(self) -> Option<u8> {
        match self {
            Self::Code(code) => u8::try_from(code & 0xff).ok(),
            Self::Signal(signal) => u8::try_from(128 + signal).ok(),
            Self::Lost => None,
        }
    }
}

/// The end of an attempt as it was seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// How the process ended.
    pub exit: Exit,
    /// The end of its standard output (of both, where a terminal joined them).
    pub stdout: &'a [u8],
    /// The end of its standard error.
    pub stderr: &'a [u8],
}

/// By what a kind was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A field of a JSON object.
    Structured,
    /// An error code in the text (`E0308`, `TS2322`, `curl: (28)`, HTTP 429).
    Code,
    /// Words.
    Words,
    /// The exit status alone.
    Exit,
}

/// What went wrong, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What went wrong.
    pub kind: Kind,
    /// By what it was recognised.
    pub basis: Basis,
    /// The field, code or words that said so.
    pub evidence: String,
}

impl Outcome {
    fn new(kind: Kind, basis: Basis, evidence: impl Into<String>) -> Self {
        Self {
            kind,
            basis,
            evidence: evidence.into(),
        }
    }

    /// The rule that speaks of mending it, where the matrix has one: code whose
    /// parts depend on each other in a circle is not mended by changing a line.
    #[must_use]
    pub fn rule(&self) -> Option<RuleId> {
        let evidence = self.evidence.to_lowercase();
        let in_a_circle = self.kind.family() == Family::Code
            && STRUCTURAL.iter().any(|words| evidence.contains(words));
        if in_a_circle {
            Some(RuleId::FixRefactor)
        } else {
            self.kind.rule()
        }
    }
}

/// Words and codes of errors in how the parts of a program hang together.
const STRUCTURAL: &[&str] = &[
    "circular",
    "cyclic",
    "import cycle",
    "partially initialized module",
    "cycle detected",
    // rustc: a cycle among items, a type that contains itself.
    "e0391",
    "e0072",
    // tsc: a base, type or annotation that refers to itself.
    "ts2310",
    "ts2456",
    "ts2502",
];

/// How much of the end of each stream is read.
pub const READ: usize = 32 * 1024;

/// Lines at the end that are believed before the lines above them.
const LAST_LINES: usize = 25;

/// Says how an attempt ended: `None` for success.
///
/// Status 0 is success, unless the last thing an agent's own event stream says
/// is that the run failed: some agents report a failed turn and leave with 0.
#[must_use]
pub fn classify(ending: &Ending<'_>) -> Option<Outcome> {
    let stdout = text(ending.stdout);
    let stderr = text(ending.stderr);
    if ending.exit == Exit::Code(0) {
        return structured::failed_turn(&stdout);
    }
    let said = structured::read(&stdout)
        .or_else(|| structured::read(&stderr))
        .or_else(|| by_text(&stderr, &stdout));
    // git leaves with 128 or 129 when it refuses: nothing is gained by asking again.
    let refusal = || {
        let line = stderr.lines().find(|line| line.starts_with("fatal: "))?;
        matches!(ending.exit, Exit::Code(128 | 129))
            .then(|| Outcome::new(Kind::InvalidRequest, Basis::Words, line))
    };
    Some(
        said.or_else(refusal)
            .unwrap_or_else(|| by_exit(ending.exit)),
    )
}

/// Reads the end of both streams as text: the last lines of either first, then all of either.
///
/// What has a grammar is read before mere words: compilers' codes, runners'
/// summaries, exceptions nobody caught, names of errors, places in files.
fn by_text(stderr: &str, stdout: &str) -> Option<Outcome> {
    let tail = |text: &str| -> String {
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    };
    let near = format!("{}\n{}", tail(stdout), tail(stderr));
    let all = format!("{stdout}\n{stderr}");
    if words::is_broken(&all) {
        return codes::compiler_or_transfer(&all)
            .or_else(|| words::read_broken(&near))
            .or_else(|| words::read_broken(&all))
            .or_else(|| codes::read(&all))
            .or_else(|| words::read(&all));
    }
    codes::compiler_or_transfer(&all)
        .or_else(|| runners::read(&all))
        .or_else(|| sql::read(&all))
        .or_else(|| exceptions::read(&all))
        .or_else(|| {
            [near.as_str(), all.as_str()].iter().find_map(|text| {
                codes::read(text)
                    .or_else(|| identifiers::read(text))
                    .or_else(|| diagnostics::read(text))
                    .or_else(|| errno::read_certain(text))
                    .or_else(|| words::read(text))
                    .or_else(|| errno::read(text))
                    .or_else(|| sentences::read_vague(text))
            })
        })
}

/// What a status alone says, by the shell's and the C library's conventions.
fn by_exit(exit: Exit) -> Outcome {
    let (kind, evidence) = match exit {
        Exit::Code(126) => (Kind::Permission, "status 126: not executable".to_owned()),
        Exit::Code(127) => (Kind::Dependency, "status 127: command not found".to_owned()),
        Exit::Code(124) => (Kind::NetworkTimeout, "status 124: timed out".to_owned()),
        Exit::Code(130) | Exit::Signal(2) => (Kind::Cancelled, "interrupted".to_owned()),
        Exit::Code(143) | Exit::Signal(1 | 15) => (Kind::Cancelled, "terminated".to_owned()),
        // A limit on the size of files, or of processor time.
        Exit::Code(152 | 153) | Exit::Signal(24 | 25) => {
            (Kind::Config, "a limit of the system was reached".to_owned())
        }
        Exit::Code(137) | Exit::Signal(9) => (
            Kind::Unknown,
            "killed, perhaps for want of memory".to_owned(),
        ),
        Exit::Code(132 | 134 | 135 | 136 | 139) | Exit::Signal(11 | 6 | 8 | 4 | 7) => {
            (Kind::Logic, "the program crashed".to_owned())
        }
        Exit::Code(code) => by_sysexits(code),
        Exit::Signal(signal) => (Kind::Unknown, format!("signal {signal}")),
        Exit::Lost => (Kind::Unknown, "the status is lost".to_owned()),
    };
    Outcome::new(kind, Basis::Exit, evidence)
}

/// What a status means where a program keeps to `sysexits.h`.
fn by_sysexits(code: i32) -> (Kind, String) {
    let (kind, name) = match code {
        64 => (Kind::InvalidRequest, " (EX_USAGE)"),
        65 => (Kind::InvalidRequest, " (EX_DATAERR)"),
        66 => (Kind::Path, " (EX_NOINPUT)"),
        68 => (Kind::Unavailable, " (EX_NOHOST)"),
        69 => (Kind::Unavailable, " (EX_UNAVAILABLE)"),
        73 => (Kind::Path, " (EX_CANTCREAT)"),
        75 => (Kind::Busy, " (EX_TEMPFAIL)"),
        77 => (Kind::Permission, " (EX_NOPERM)"),
        78 => (Kind::Config, " (EX_CONFIG)"),
        _ => (Kind::Unknown, ""),
    };
    (kind, format!("status {code}{name}"))
}

/// The end of a stream as text, without terminal control sequences.
fn text(bytes: &[u8]) -> String {
    let start = bytes.len().saturating_sub(READ);
    let text = String::from_utf8_lossy(bytes.get(start..).unwrap_or_default());
    without_controls(&text)
}

/// Removes escape sequences and carriage returns, so that coloured output reads like plain output.
#[must_use]
pub fn without_controls(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // CSI: parameters up to a final byte.
                Some('[') => {
                    for c in chars.by_ref() {
                        if ('\u{40}'..='\u{7e}').contains(&c) {
                            break;
                        }
                    }
                }
                // OSC: up to BEL or ST.
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    plain.push('\n');
                }
            }
            '\u{8}' => {}
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
