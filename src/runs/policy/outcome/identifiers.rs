//! What the name of an error says: `ThrottlingException`, `CONNECTION_REFUSED`, `invalid-api-key`.
//!
//! Programs name their errors by the same few words, joined in different ways.
//! A name is taken apart into its words, so that one that was never seen
//! before is still understood. Only names in a place where an error's name
//! stands are asked about: a field, an exception's class, `code = …`.

use super::{Basis, Kind, Outcome};
use regex::Regex;
use std::sync::LazyLock;

/// Phrases of a name's words, most telling first; each matches at word boundaries, `*` continues a word.
const PHRASES: &[(Kind, &[&str])] = &[
    (Kind::Unknown, &["out of memory", "memory error", "oom"]),
    (
        Kind::Quota,
        &[
            "quota*",
            "usage limit",
            "credit*",
            "billing",
            "budget",
            "spend*",
            "payment required",
            "insufficient balance",
            "insufficient funds",
            "payment",
        ],
    ),
    (
        Kind::RateLimit,
        &[
            "rate limit*",
            "ratelimit*",
            "too many requests",
            "throttl*",
            "slow down",
            "resource exhausted",
            "rate exceeded",
            "throughput exceeded",
            "limit exceeded*",
        ],
    ),
    (
        Kind::Config,
        &[
            "certificate*",
            "cert",
            "config*",
            "setting*",
            "self signed*",
            "no space",
            "disk full",
            "storage full",
        ],
    ),
    (
        Kind::Authentication,
        &[
            "unauthorized",
            "unauthenticated",
            "unauthorised",
            "authentication*",
            "auth",
            "credential*",
            "expired token*",
            "token expired",
            "token invalid*",
            "invalid token*",
            "token revoked",
            "api key*",
            "apikey",
            "login*",
            "signature does not match",
            "invalid signature*",
            "invalid grant",
            "invalid client",
            "access key*",
            "security token*",
            "session expired",
            "not logged in",
            "oauth*",
            "unrecognized client",
        ],
    ),
    (
        Kind::Permission,
        &[
            "access denied",
            "permission*",
            "forbidden",
            "not permitted",
            "not authorized",
            "privilege*",
            "access not allowed",
            "not allowed",
            "access exception",
            "access control*",
            "service disabled",
            "unauthorized access",
            "read only*",
        ],
    ),
    (
        Kind::Dependency,
        &[
            "class not found",
            "module not found",
            "no class def found",
            "package not found",
            "command not found",
            "missing dependency",
            "dependency*",
            "executable not found",
            "unsatisfied link",
        ],
    ),
    (
        Kind::Path,
        &[
            "file not found",
            "no such file*",
            "not a directory",
            "is a directory",
            "directory not empty",
            "file exists",
            "path not found",
            "directory not found",
        ],
    ),
    (
        Kind::Busy,
        &[
            "overload*",
            "busy",
            "lock timeout",
            "lock wait timeout",
            "locked",
            "lock*",
            "deadlock*",
            "capacity",
            "in use",
            "already running",
            "too many connections",
            "too many open files",
            "serialization failure",
            "would block",
        ],
    ),
    (
        Kind::NetworkTimeout,
        &["timeout*", "timed out", "deadline*", "time out"],
    ),
    (
        Kind::ConnectionReset,
        &[
            "connection reset*",
            "connection abort*",
            "connection lost",
            "connection closed",
            "disconnect*",
            "broken pipe",
            "remote protocol*",
            "incomplete read",
            "premature*",
            "chunked encoding",
            "stream closed",
            "socket closed",
            "hang up",
            "reset by peer",
            "unexpected eof",
            "ssl error",
            "ssl*",
            "tls*",
            "handshake*",
            "client payload",
            "socket exception",
            "reset",
            "read error",
            "write error",
        ],
    ),
    (
        Kind::Unavailable,
        &[
            "unavailable",
            "refused",
            "unreachable",
            "connect*",
            "unknown host",
            "name resolution",
            "gaierror",
            "host not found",
            "dns*",
            "network*",
            "maintenance",
            "proxy*",
            "url error",
            "no route*",
            "offline",
            "service down",
            "bad gateway",
        ],
    ),
    (
        Kind::Name,
        &[
            "no such method",
            "no such field",
            "no method",
            "undefined*",
            "undeclared",
            "attribute error",
            "name error",
            "reference error",
            "unbound local*",
            "no such table",
            "no such column",
            "unknown column",
            "unknown function",
            "unknown table",
        ],
    ),
    (
        Kind::Type,
        &[
            "type error",
            "class cast",
            "type mismatch",
            "invalid cast",
            "zod error",
            "incompatible type*",
            "bad cast",
            "invalid type",
            "validation error",
        ],
    ),
    (
        Kind::Syntax,
        &[
            "syntax*",
            "parse error",
            "parser error",
            "parsing",
            "indentation*",
            "unexpected token",
        ],
    ),
    (
        Kind::Logic,
        &[
            "null pointer*",
            "null reference*",
            "index out*",
            "out of bounds",
            "index error",
            "illegal state",
            "illegal argument",
            "arithmetic*",
            "divide by zero",
            "zero division",
            "overflow*",
            "key error",
            "value error",
            "assertion*",
            "unsupported operation",
            "no such element",
            "concurrent modification",
            "integrity*",
            "not implemented",
            "runtime error",
            "number format*",
            "argument null",
            "argument exception",
            "constraint*",
            "invalid operation",
            "key not found",
            "state error",
            "stack overflow",
            "unique violation",
            "duplicate key",
        ],
    ),
    (
        Kind::Cancelled,
        &[
            "cancel*",
            "abort*",
            "interrupt*",
            "user stopped",
            "terminated",
        ],
    ),
    (
        Kind::Version,
        &[
            "unsupported class version",
            "version mismatch",
            "unsupported version",
            "unsupported engine",
            "peer dep*",
        ],
    ),
    (
        Kind::NotFound,
        &[
            "not found*",
            "no such*",
            "unknown model",
            "does not exist",
            "nonexistent",
            "no longer exists",
            "unknown*",
            "deleted",
            "gone",
        ],
    ),
    (
        Kind::InvalidRequest,
        &[
            "invalid*",
            "validation*",
            "bad request",
            "malformed*",
            "unsupported*",
            "missing*",
            "too large",
            "too long",
            "context length*",
            "context window*",
            "out of range",
            "content filter*",
            "bad argument*",
            "usage error",
            "already exists",
            "conflict",
            "precondition*",
            "unprocessable*",
        ],
    ),
    (
        Kind::Upstream,
        &[
            "internal*",
            "server error",
            "api error",
            "server fault",
            "too many redirects",
            "redirect*",
            "service error",
            "service exception",
            "service failure",
            "upstream*",
            "decode*",
            "bad response",
        ],
    ),
];

/// Returns what the words of a name say.
pub(super) fn kind(name: &str) -> Option<Kind> {
    let words = words(name);
    PHRASES
        .iter()
        .find(|(_, phrases)| phrases.iter().any(|phrase| says(&words, phrase)))
        .map(|(kind, _)| *kind)
}

fn says(words: &str, phrase: &str) -> bool {
    let bare = phrase.trim_end_matches('*');
    words.match_indices(bare).any(|(at, _)| {
        let before = words.get(..at).is_some_and(|left| left.ends_with(' '));
        let after = bare.len() < phrase.len()
            || words
                .get(at + bare.len()..)
                .is_some_and(|right| right.starts_with(' '));
        before && after
    })
}

/// The words of a name in lower case, with a space around each.
fn words(name: &str) -> String {
    let mut words = String::from(" ");
    let chars: Vec<char> = name.chars().collect();
    for (index, &c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| chars.get(at)).copied();
        let after = chars.get(index + 1).copied();
        let begins = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && after.is_some_and(char::is_lowercase)
            });
        if begins || !c.is_alphanumeric() {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
    }
    words.push(' ');
    words
        .split_whitespace()
        .fold(String::from(" "), |mut all, word| {
            all.push_str(word);
            all.push(' ');
            all
        })
}

/// Places in text where the name of an error stands.
const PLACES: &[&str] = &[
    // gRPC: `rpc error: code = Unavailable desc = …`.
    r"\bcode = ([A-Za-z]{4,40})",
    // AWS: `An error occurred (ThrottlingException) when calling …`; Kubernetes: `Error from server (Forbidden): …`.
    r"(?i)\berror\b[^(\n]{0,40}\(([A-Za-z]{6,50})\)",
    // `code: 'ECONNREFUSED'`, `error code: quota-exceeded`, `"code": "…"`, `reason=…`.
    r#"(?i:\b(?:error|code|error_?code|reason|status))["']?\s?[:=]\s?["'`]?([A-Za-z][A-Za-z]*(?:[_-][A-Za-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+)\b"#,
    // XML: `<Code>AccessDenied</Code>`.
    r"<[Cc]ode>([A-Za-z]{4,60})</",
];

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PLACES.iter().flat_map(|place| Regex::new(place)).collect());

/// Returns what the last error name in a text says.
pub(super) fn read(text: &str) -> Option<Outcome> {
    PATTERNS.iter().find_map(|regex| {
        regex
            .captures_iter(text)
            .filter_map(|found| {
                let name = found.get(1)?.as_str();
                Some(Outcome::new(kind(name)?, Basis::Code, name))
            })
            .last()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_seen_before_are_understood() {
        for (name, expected) in [
            ("ExpiredTokenException", Some(Kind::Authentication)),
            ("TooManyRequests", Some(Kind::RateLimit)),
            ("PROVISIONED_THROUGHPUT_THROTTLED", Some(Kind::RateLimit)),
            ("api-key-missing", Some(Kind::Authentication)),
            ("HTTPConnectTimeout", Some(Kind::NetworkTimeout)),
            ("ConnectionAbortedError", Some(Kind::ConnectionReset)),
            ("java.net.UnknownHostException", Some(Kind::Unavailable)),
            ("ArrayIndexOutOfBoundsException", Some(Kind::Logic)),
            ("NoClassDefFoundError", Some(Kind::Dependency)),
            ("ClientConnectorCertificateError", Some(Kind::Config)),
            ("SchemaSerialiser", None),
            ("completed", None),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
    }

    #[test]
    fn every_place_is_a_pattern() {
        assert_eq!(PATTERNS.len(), PLACES.len());
    }
}
