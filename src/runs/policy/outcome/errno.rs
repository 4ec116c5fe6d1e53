//! What the C library says when a system call fails, by its own words and names.

use super::{Basis, Kind, Outcome};

/// Names and messages of errors (glibc's `strerror`), and what each means for a run.
const ERRORS: &[(&str, &str, Kind)] = &[
    ("EPERM", "operation not permitted", Kind::Permission),
    ("EACCES", "permission denied", Kind::Permission),
    ("EROFS", "read-only file system", Kind::Permission),
    ("ENOSPC", "no space left on device", Kind::Config),
    ("EDQUOT", "disk quota exceeded", Kind::Config),
    ("EFBIG", "file too large", Kind::Config),
    ("EIO", "input/output error", Kind::Unknown),
    ("ENOMEM", "cannot allocate memory", Kind::Unknown),
    ("ENFILE", "too many open files in system", Kind::Busy),
    ("EMFILE", "too many open files", Kind::Busy),
    ("EAGAIN", "resource temporarily unavailable", Kind::Busy),
    ("EBUSY", "device or resource busy", Kind::Busy),
    ("ETXTBSY", "text file busy", Kind::Busy),
    ("EDEADLK", "resource deadlock avoided", Kind::Busy),
    ("EADDRINUSE", "address already in use", Kind::Busy),
    ("ENOLCK", "no locks available", Kind::Busy),
    ("ECONNREFUSED", "connection refused", Kind::Unavailable),
    ("EHOSTUNREACH", "no route to host", Kind::Unavailable),
    ("EHOSTDOWN", "host is down", Kind::Unavailable),
    ("ENETUNREACH", "network is unreachable", Kind::Unavailable),
    ("ENETDOWN", "network is down", Kind::Unavailable),
    (
        "EADDRNOTAVAIL",
        "cannot assign requested address",
        Kind::Unavailable,
    ),
    ("ETIMEDOUT", "connection timed out", Kind::NetworkTimeout),
    ("ETIME", "timer expired", Kind::NetworkTimeout),
    (
        "ECONNRESET",
        "connection reset by peer",
        Kind::ConnectionReset,
    ),
    (
        "ECONNABORTED",
        "software caused connection abort",
        Kind::ConnectionReset,
    ),
    ("EPIPE", "broken pipe", Kind::ConnectionReset),
    (
        "ENOTCONN",
        "transport endpoint is not connected",
        Kind::ConnectionReset,
    ),
    (
        "ENETRESET",
        "network dropped connection on reset",
        Kind::ConnectionReset,
    ),
    ("EPROTO", "protocol error", Kind::ConnectionReset),
    ("ENOENT", "no such file or directory", Kind::Path),
    ("ENOTDIR", "not a directory", Kind::Path),
    ("EISDIR", "is a directory", Kind::Path),
    ("EEXIST", "file exists", Kind::Path),
    ("ENOTEMPTY", "directory not empty", Kind::Path),
    ("ENAMETOOLONG", "file name too long", Kind::Path),
    ("ELOOP", "too many levels of symbolic links", Kind::Path),
    ("EXDEV", "invalid cross-device link", Kind::Path),
    ("ESTALE", "stale file handle", Kind::Path),
    ("ENODEV", "no such device", Kind::Path),
    ("ENXIO", "no such device or address", Kind::Path),
    ("E2BIG", "argument list too long", Kind::InvalidRequest),
    ("ENOEXEC", "exec format error", Kind::Version),
    (
        "ELIBBAD",
        "accessing a corrupted shared library",
        Kind::Dependency,
    ),
    ("EINTR", "interrupted system call", Kind::Cancelled),
    ("ECANCELED", "operation canceled", Kind::Cancelled),
    ("EINVAL", "invalid argument", Kind::InvalidRequest),
    ("ENOSYS", "function not implemented", Kind::Version),
    ("EOPNOTSUPP", "operation not supported", Kind::Version),
];

/// Returns what the last line that ends in a system error says: `cp: x: File too large`, `(os error 28)`.
pub(super) fn read(text: &str) -> Option<Outcome> {
    let found: Vec<Outcome> = text.lines().rev().filter_map(of_line).collect();
    let program = found
        .iter()
        .find(|outcome| outcome.kind == Kind::Dependency);
    program.or_else(|| found.first()).cloned()
}

/// The same, by errors that mean one thing only: a file that is missing or in the way may be part of a longer story.
pub(super) fn read_certain(text: &str) -> Option<Outcome> {
    text.lines().rev().filter_map(of_line).find(|outcome| {
        !matches!(
            outcome.kind,
            Kind::Path | Kind::InvalidRequest | Kind::Unknown | Kind::Version
        )
    })
}

fn of_line(line: &str) -> Option<Outcome> {
    let lower = line.to_lowercase();
    let (name, message, kind) = ERRORS.iter().find(|(name, message, _)| {
        has_word(line, name)
            || lower.match_indices(message).any(|(at, _)| {
                let before = lower.get(..at).unwrap_or_default().trim_end();
                let after = lower.get(at + message.len()..).unwrap_or_default();
                // Prose has the words too; a system error stands after a colon or a bracket, and nothing but its object follows.
                (before.is_empty() || before.ends_with([':', ']', '(', '-']))
                    && (after.is_empty() || after.starts_with([':', '.', ',', ')', ' ', '"', '\'']))
            })
    })?;
    let missing_program = *name == "ENOENT" && is_about_a_program(&lower);
    let kind = if missing_program {
        Kind::Dependency
    } else {
        *kind
    };
    Some(Outcome::new(
        kind,
        Basis::Code,
        format!("{name}: {message}"),
    ))
}

/// Whether a name stands by itself in a line.
fn has_word(line: &str, name: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word == name)
}

/// Whether a missing file is a program or a library that is not installed.
fn is_about_a_program(line: &str) -> bool {
    [
        "cannot find -l",
        "cannot exec",
        "cannot run",
        "failed to execute",
        "failed to spawn",
        "could not execute",
        "exec: ",
        "execvp",
        "spawn ",
        "bad interpreter",
        "unable to execute",
    ]
    .iter()
    .any(|words| line.contains(words))
        || line.starts_with("env: ")
        || line.starts_with("/usr/bin/env: ")
        // make: the name of the program itself, without a path.
        || line
            .strip_prefix("make: ")
            .and_then(|rest| rest.split(':').next())
            .is_some_and(|name| !name.contains(' ') && !name.starts_with("***"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_are_told_from_prose() {
        for (line, expected) in [
            ("dd: error writing 'x': File too large", Some(Kind::Config)),
            (
                "OSError: [Errno 24] Too many open files: '/dev/null'",
                Some(Kind::Busy),
            ),
            (
                "Error: Os { message: No such file or directory (os error 2) }",
                Some(Kind::Path),
            ),
            (
                "make: nosuchcc: No such file or directory",
                Some(Kind::Dependency),
            ),
            (
                "env: 'node20': No such file or directory",
                Some(Kind::Dependency),
            ),
            ("the tests show what a broken pipe does", None),
        ] {
            assert_eq!(read(line).map(|outcome| outcome.kind), expected, "{line}");
        }
    }
}
