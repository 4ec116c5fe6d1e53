//! Error codes inside text: HTTP status, rustc, TypeScript, curl, npm, errno and API error names.

use super::{Basis, Kind, Outcome};

/// Returns what the most telling code in a text means.
pub(super) fn read(text: &str) -> Option<Outcome> {
    let lower = text.to_ascii_lowercase();
    named(text).or_else(|| status_line(&lower))
}

/// Returns what a compiler's code or a transfer's exit code in a text means.
pub(super) fn compiler_or_transfer(text: &str) -> Option<Outcome> {
    let lower = text.to_ascii_lowercase();
    compiler(&lower).or_else(|| curl(&lower))
}

/// What an HTTP status says.
pub(super) fn http(status: u16) -> Option<Kind> {
    match status {
        401 | 407 => Some(Kind::Authentication),
        402 => Some(Kind::Quota),
        403 => Some(Kind::Permission),
        404 | 410 => Some(Kind::NotFound),
        408 | 504 | 522 | 524 => Some(Kind::NetworkTimeout),
        429 => Some(Kind::RateLimit),
        400 | 405 | 406 | 409 | 411 | 412 | 413 | 414 | 415 | 422 | 431 => {
            Some(Kind::InvalidRequest)
        }
        502 | 503 | 520 | 521 | 523 => Some(Kind::Unavailable),
        423 | 529 => Some(Kind::Busy),
        500 | 501 | 505 => Some(Kind::Upstream),
        _ => None,
    }
}

/// Names of errors as programs write them into fields and into text, most telling first.
const TOKENS: &[(Kind, &[&str])] = &[
    (
        Kind::Quota,
        &[
            "insufficient_quota",
            "quota_exceeded",
            "usage_limit_reached",
            "usage_limit_exceeded",
            "UsageLimitExceeded",
            "usage_not_included",
            "billing_error",
            "TerminalQuotaError",
            "QuotaExceeded",
            "billing_hard_limit_reached",
            "quota_exhausted",
            "QUOTA_EXHAUSTED",
            "FreeUsageLimitError",
            "CreditsError",
            "MonthlyLimitError",
            "UserLimitError",
            "error_max_budget_usd",
            "usageLimitExceeded",
            "api_quota_exceeded",
            "QuotaExceededError",
        ],
    ),
    (
        Kind::RateLimit,
        &[
            "rate_limit_error",
            "rate_limit_exceeded",
            "rate_limit",
            "rate_limited",
            "RESOURCE_EXHAUSTED",
            "RATE_LIMIT_EXCEEDED",
            "RateLimitError",
            "RetryableQuotaError",
            "too_many_requests",
            "E429",
            "user_global_rate_limited",
            "RateLimitExceeded",
            "ThrottlingException",
        ],
    ),
    (
        Kind::Authentication,
        &[
            "authentication_error",
            "invalid_api_key",
            "API_KEY_INVALID",
            "UNAUTHENTICATED",
            "token_expired",
            "ProviderAuthError",
            "FatalAuthenticationError",
            "UnauthorizedError",
            "authentication_failed",
            "authentication",
            "auth_failure",
            "E401",
            "ENEEDAUTH",
            "EOTP",
            "invalid_grant",
            "token_invalidated",
            "AuthError",
            "oauth_org_not_allowed",
            "unauthorized",
            "missing_api_key",
            "LoadAPIKeyError",
            "AI_LoadAPIKeyError",
            "TokenRefreshError",
            "refresh_token_expired",
            "refresh_token_reused",
            "refresh_token_invalidated",
        ],
    ),
    (
        Kind::Busy,
        &[
            "overloaded_error",
            "server_is_overloaded",
            "server_overloaded",
            "serverOverloaded",
            "slow_down",
            "EBUSY",
            "ETXTBSY",
            "EADDRINUSE",
            "ELOCKED",
            "overloaded",
            "ServerOverloaded",
            "OverloadedError",
            "MODEL_CAPACITY_EXHAUSTED",
        ],
    ),
    (
        Kind::NetworkTimeout,
        &[
            "ETIMEDOUT",
            "ESOCKETTIMEDOUT",
            "ERR_SOCKET_TIMEOUT",
            "DEADLINE_EXCEEDED",
            "timeout_error",
            "UND_ERR_CONNECT_TIMEOUT",
            "UND_ERR_HEADERS_TIMEOUT",
            "UND_ERR_BODY_TIMEOUT",
            "ERR_TLS_HANDSHAKE_TIMEOUT",
            "APIConnectionTimeoutError",
            "request_timeout",
            "TimeoutError",
        ],
    ),
    (
        Kind::ConnectionReset,
        &[
            "ECONNRESET",
            "EPIPE",
            "ECONNABORTED",
            "ERR_STREAM_PREMATURE_CLOSE",
            "UND_ERR_SOCKET",
            "response_stream_disconnected",
            "responseStreamDisconnected",
            "ERR_HTTP2_STREAM_ERROR",
            "EPROTO",
            "HPE_INVALID_CONSTANT",
        ],
    ),
    (
        Kind::Unavailable,
        &[
            "UNAVAILABLE",
            "ECONNREFUSED",
            "ENOTFOUND",
            "EAI_AGAIN",
            "EHOSTUNREACH",
            "ENETUNREACH",
            "ENETDOWN",
            "service_unavailable",
            "APIConnectionError",
            "http_connection_failed",
            "httpConnectionFailed",
            "ServiceUnavailableError",
            "response_stream_connection_failed",
            "responseStreamConnectionFailed",
            "E503",
            "E502",
            "ConnectionRefused",
            "FailedToOpenSocket",
        ],
    ),
    (
        Kind::Version,
        &[
            "ETARGET",
            "ERESOLVE",
            "EBADENGINE",
            "EBADPLATFORM",
            "ENOTSUP",
            "ERR_PNPM_NO_MATCHING_VERSION",
            "EBADDEVENGINES",
            "ERR_PNPM_UNSUPPORTED_ENGINE",
        ],
    ),
    (
        Kind::Permission,
        &[
            "permission_error",
            "PERMISSION_DENIED",
            "EACCES",
            "EPERM",
            "EROFS",
            "E403",
            "permission_denied",
            "SandboxError",
            "sandbox_error",
            "sandboxError",
            "insufficient_permissions",
            "forbidden",
        ],
    ),
    (
        Kind::Dependency,
        &[
            "ERR_MODULE_NOT_FOUND_BARE",
            "EINTEGRITY",
            "ENOGIT",
            "BunInstallFailedError",
            "failed-wheel-build",
            "PluginInstallError",
        ],
    ),
    (
        Kind::NotFound,
        &[
            "not_found_error",
            "model_not_found",
            "NOT_FOUND",
            "ProviderModelNotFoundError",
            "ModelNotFoundError",
            "E404",
            "ENOVERSIONS",
            "NotFoundError",
            "SessionNotFoundError",
            "session_not_found",
            "model_not_supported",
            "model_not_available",
            "AI_NoSuchModelError",
            "not_found",
        ],
    ),
    (
        Kind::Config,
        &[
            "FatalConfigError",
            "ConfigInvalidError",
            "ConfigJsonError",
            "ConfigDirectoryTypoError",
            "ConfigFrontmatterError",
            "EJSONPARSE",
            "EOVERRIDE",
            "ENOLOCK",
            "ELOCKVERIFY",
            "CERT_HAS_EXPIRED",
            "SELF_SIGNED_CERT_IN_CHAIN",
            "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
            "DEPTH_ZERO_SELF_SIGNED_CERT",
            "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
            "FatalSandboxError",
            "ProviderInitError",
            "externally-managed-environment",
            "FatalUntrustedWorkspaceError",
            "ERR_TLS_CERT_ALTNAME_INVALID",
            "FAILED_PRECONDITION",
            "missing-pyproject-build-system-requires",
            "ENOWORKSPACES",
            "EUNSUPPORTEDPROTOCOL",
            "ERR_PNPM_OUTDATED_LOCKFILE",
            "ENOTCACHED",
            "ENOSPC",
            "EDQUOT",
        ],
    ),
    (
        Kind::Cancelled,
        &[
            "MessageAbortedError",
            "FatalCancellationError",
            "AbortError",
            "ABORT_ERR",
            "CANCELLED",
            "cancelled",
            "canceled",
            "turn_aborted",
            "aborted_streaming",
            "aborted_tools",
            "aborted",
        ],
    ),
    (
        Kind::InvalidRequest,
        &[
            "invalid_request_error",
            "INVALID_ARGUMENT",
            "FatalInputError",
            "context_length_exceeded",
            "contextWindowExceeded",
            "context_window_exceeded",
            "ContextOverflowError",
            "MessageOutputLengthError",
            "request_too_large",
            "bad_request",
            "badRequest",
            "EUSAGE",
            "EINVALIDTAGNAME",
            "EINVALIDPACKAGENAME",
            "EINVALIDTAG",
            "BadRequestError",
            "invalid_request",
            "string_above_max_length",
            "invalid_prompt",
            "unsupported_parameter",
            "unsupported_value",
            "error_max_turns",
            "FatalTurnLimitedError",
            "OUT_OF_RANGE",
            "ERR_INVALID_ARG_TYPE",
            "ERR_INVALID_URL",
            "ERR_PARSE_ARGS_UNKNOWN_OPTION",
            "EMISSINGARG",
            "max_output_tokens",
            "cyber_policy",
            "ContentFilterError",
            "content_filter",
            "StructuredOutputError",
            "context_limit",
        ],
    ),
    (
        Kind::Upstream,
        &[
            "api_error",
            "server_error",
            "INTERNAL",
            "internal_server_error",
            "internalServerError",
            "InternalServerError",
            "E500",
            "DATA_LOSS",
            "upstream_error",
            "internal_error",
        ],
    ),
    (
        Kind::Path,
        &[
            "ENOENT",
            "ENOTDIR",
            "EISDIR",
            "EEXIST",
            "ENOTEMPTY",
            "ENAMETOOLONG",
            "ELOOP",
            "EXDEV",
        ],
    ),
    (
        Kind::Name,
        &[
            "AttributeError",
            "NameError",
            "UnboundLocalError",
            "ReferenceError",
        ],
    ),
    (
        Kind::Syntax,
        &["SyntaxError", "IndentationError", "TabError"],
    ),
    (Kind::Type, &["TypeError"]),
];

/// What a single token means; the whole token has to match.
pub(super) fn token(value: &str) -> Option<Kind> {
    if let Some(digits) = value.strip_prefix(['E', 'e'])
        && digits.len() == 4
        && let Ok(number) = digits.parse::<u16>()
    {
        return Some(rustc(number));
    }
    TOKENS
        .iter()
        .find(|(_, names)| names.contains(&value))
        .map(|(kind, _)| *kind)
}

/// Names that also are plain words or common in correct programs' text, and so are only read in fields.
fn only_in_fields(name: &str) -> bool {
    !name.contains('_') && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        || matches!(
            name,
            "INTERNAL"
                | "CANCELLED"
                | "UNAVAILABLE"
                | "NOT_FOUND"
                | "TypeError"
                | "AttributeError"
                | "NameError"
                | "UnboundLocalError"
                | "ReferenceError"
                | "SyntaxError"
                | "IndentationError"
                | "TabError"
                | "TimeoutError"
                | "ENOENT"
                | "not_found"
                | "api_error"
        )
}

/// Finds the most telling error name in a text.
fn named(text: &str) -> Option<Outcome> {
    let tokens: Vec<&str> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
        .filter(|token| (4..40).contains(&token.len()))
        .collect();
    for (kind, names) in TOKENS {
        for name in *names {
            if !only_in_fields(name) && tokens.contains(name) {
                return Some(Outcome::new(*kind, Basis::Code, *name));
            }
        }
    }
    None
}

/// rustc's and TypeScript's error codes; the last one that is there.
fn compiler(lower: &str) -> Option<Outcome> {
    // The second form is a compiler message in JSON that was cut at its start.
    if let Some((code, _)) = ["error[e", "rustc --explain e", "\"code\":\"e"]
        .iter()
        .find_map(|before| last_number(lower, before))
    {
        return Some(Outcome::new(
            rustc(code),
            Basis::Code,
            format!("E{code:04}"),
        ));
    }
    let (code, rest) = last_number(lower, "error ts")?;
    Some(Outcome::new(
        typescript(code, rest),
        Basis::Code,
        format!("TS{code}"),
    ))
}

/// The number right after the first occurrence of `before`, and what follows it.
fn last_number<'a>(text: &'a str, before: &str) -> Option<(u16, &'a str)> {
    text.match_indices(before).find_map(|(at, _)| {
        let rest = text.get(at + before.len()..)?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let number = rest.get(..end)?.parse().ok()?;
        Some((number, rest.get(end..).unwrap_or_default()))
    })
}

/// rustc's error index.
fn rustc(code: u16) -> Kind {
    match code {
        432 | 433 | 364 | 365 | 603 | 252 | 254 | 255 | 260 => Kind::Import,
        463 | 460 | 461 | 462 | 786 => Kind::Dependency,
        514 | 658 | 554 => Kind::Version,
        405 | 407 | 408 | 411 | 412 | 416 | 422 | 423 | 424 | 425 | 426 | 531 | 532 | 559 | 560
        | 573 | 574 | 576 | 599 | 601 | 609 | 610 | 26 | 27 => Kind::Name,
        583 | 584 => Kind::Path,
        178 | 585 | 586 | 703 | 753 | 758 | 762 | 763 | 765 | 766 | 768 => Kind::Syntax,
        _ => Kind::Type,
    }
}

/// TypeScript's diagnostic messages: the thousands tell the phase.
fn typescript(code: u16, rest: &str) -> Kind {
    let line = rest.lines().next().unwrap_or_default();
    match code {
        2307 | 2792 | 7016 | 2732 => {
            if quoted_relative(line) {
                Kind::Import
            } else {
                Kind::Dependency
            }
        }
        2305 | 2306 | 2613 | 2614 | 2724 | 1192 | 1259 => Kind::Import,
        2688 | 2580 | 2581 | 2582 | 2583 | 2584 | 2591 | 2592 | 2593 => Kind::Dependency,
        2304 | 2503 | 2552 | 2339 | 2551 | 2662 | 2663 | 18004 | 2694 | 2749 | 2693 => Kind::Name,
        6053 | 5058 | 5083 => Kind::Path,
        1000..=1999 | 8000..=8999 | 17000..=17003 | 17005..=17018 => Kind::Syntax,
        // Unused names, unreachable code: the sixes are mostly messages.
        6133 | 6138 | 6192 | 6196 | 6198 | 6199 | 6205 => Kind::Type,
        17004 | 6142 | 5000..=6999 | 18000..=18003 => Kind::Config,
        _ => Kind::Type,
    }
}

/// Whether the first quoted name of a line is a path inside the project.
pub(super) fn quoted_relative(line: &str) -> bool {
    let Some(start) = line.find(['\'', '"', '`']) else {
        return false;
    };
    let name = line.get(start + 1..).unwrap_or_default();
    name.starts_with('.')
        || name.starts_with('/')
        || name.starts_with("@/")
        || name.starts_with('~')
}

/// curl's exit code as it prints it: `curl: (28) …`.
fn curl(lower: &str) -> Option<Outcome> {
    let (code, rest) = last_number(lower, "curl: (")?;
    let kind = match code {
        1 | 2 | 3 | 4 | 43 | 48 | 53 => Kind::InvalidRequest,
        5..=7 => Kind::Unavailable,
        8 | 47 | 61 => Kind::Upstream,
        9 | 30 => Kind::Permission,
        16 | 18 | 35 | 52 | 55 | 56 | 92 | 95 => Kind::ConnectionReset,
        22 => last_number(rest, "returned error: ").and_then(|(status, _)| http(status))?,
        23 | 26 | 37 => Kind::Path,
        28 => Kind::NetworkTimeout,
        51 | 58 | 59 | 60 | 66 | 77 | 82 | 83 | 90 | 91 => Kind::Config,
        67 | 94 => Kind::Authentication,
        78 => Kind::NotFound,
        42 => Kind::Cancelled,
        _ => return None,
    };
    Some(Outcome::new(kind, Basis::Code, format!("curl ({code})")))
}

/// Words before a number that make it an HTTP status.
const BEFORE: &[&str] = &[
    "status",
    "http",
    "https",
    "error",
    "code",
    "http/1.1",
    "http/2",
    "http/1.0",
    "statuscode",
    "response",
    "got",
];

/// Finds an HTTP status that text calls one: `status 429`, `HTTP 503`, `error: 401`, `API Error: 529 {…}`.
fn status_line(lower: &str) -> Option<Outcome> {
    let mut best: Option<(u16, Kind)> = None;
    for line in lower.lines() {
        let words: Vec<&str> = line
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '/' || c == '.'))
            .filter(|word| !word.is_empty())
            .collect();
        for (index, word) in words.iter().enumerate() {
            let word = word.trim_end_matches('.');
            if word.len() != 3 {
                continue;
            }
            let Some(kind) = word.parse().ok().and_then(http) else {
                continue;
            };
            let led = words[..index]
                .iter()
                .rev()
                .take(2)
                .any(|before| BEFORE.contains(before));
            let phrased = words.get(index + 1).is_some_and(|after| {
                matches!(
                    *after,
                    "unauthorized"
                        | "forbidden"
                        | "too"
                        | "bad"
                        | "service"
                        | "internal"
                        | "gateway"
                        | "payment"
                        | "request"
                        | "overloaded"
                        | "error"
                        | "client"
                        | "server"
                ) || (word == "404" && *after == "not")
            });
            if (led || phrased)
                && let Ok(number) = word.parse()
            {
                best = Some((number, kind));
            }
        }
    }
    best.map(|(status, kind)| Outcome::new(kind, Basis::Code, format!("HTTP {status}")))
}
