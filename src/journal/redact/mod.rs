//! Takes secrets out of text before it is written anywhere.
//!
//! A scanner by hand, so that no expression is compiled on the way of a hook.
//! It looks for what is a secret by its own form (tokens with known prefixes,
//! private keys, JSON web tokens), by its place (passwords in URLs,
//! authorisation headers, values of secret-like names), and, next to a
//! secret-like word, for long mixed strings.

mod addresses;
mod commands;

use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// Prefixes of tokens, and the least number of token characters behind them.
const PREFIXES: &[(&str, usize)] = &[
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("gldt-", 12),
    ("glrt-", 12),
    ("glcbt-", 12),
    ("sk-ant-", 12),
    ("sk-proj-", 12),
    ("sk-or-", 12),
    ("sk-", 20),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("whsec_", 16),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xoxa-", 8),
    ("xoxe-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 16),
    ("npm_", 30),
    ("pypi-", 32),
    ("dop_v1_", 32),
    ("hf_", 24),
    ("SG.", 24),
    ("shpat_", 24),
    ("shpss_", 24),
    ("glsa_", 24),
    ("hvs.", 20),
    ("hvb.", 20),
    ("dckr_pat_", 16),
    ("lin_api_", 24),
    ("ATATT", 24),
    ("ATCTT", 24),
    ("AGE-SECRET-KEY-1", 30),
    ("gsk_", 24),
    ("xai-", 24),
    ("pplx-", 24),
    ("tfp_", 24),
    ("figd_", 20),
    ("PMAK-", 20),
    ("r8_", 24),
    ("nvapi-", 20),
];

/// Words that make a name secret-like when they are one of its parts.
const PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
    "credential",
    "credentials",
    "bearer",
    "authtoken",
    "accesstoken",
    "secretkey",
    "privatekey",
    "accesskey",
    "pass",
    "pgpassword",
    "jwt",
    "pat",
    "密码",
    "口令",
];

/// Words that make a name secret-like in front of `key`.
const KEYS: &[&str] = &[
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "auth",
    "account",
    "storage",
    "master",
    "service",
    "deploy",
    "ssh",
    "license",
];

/// Returns the text without secrets; borrowed where there was none.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut found = Vec::new();
    private_keys(text, &mut found);
    prefixed(text, &mut found);
    web_tokens(text, &mut found);
    urls(text, &mut found);
    headers(text, &mut found);
    named(text, &mut found);
    addresses::find(text, &mut found);
    addresses::parts(text, &mut found);
    commands::find(text, &mut found);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|range| (range.start, range.end));
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for range in found {
        if range.end <= at {
            continue;
        }
        if range.start >= at {
            clean.push_str(&text[at..range.start]);
            clean.push_str(REDACTED);
        }
        at = range.end;
    }
    clean.push_str(&text[at..]);
    Cow::Owned(clean)
}

/// Redacts every text in a JSON value; what a secret-like name holds goes whole.
pub(super) fn redact_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redact(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_value),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member {
                    Value::String(text) if is_secret_name(name) && !is_reference(text) => {
                        REDACTED.clone_into(text);
                    }
                    _ => redact_value(member),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    for (start, _) in text.match_indices("-----BEGIN ") {
        let label = &text[start + 11..];
        let Some(end) = label.find("-----") else {
            continue;
        };
        if !label[..end].contains("PRIVATE KEY") && !label[..end].contains("SECRET") {
            continue;
        }
        // A key that is cut off is a secret to its end.
        let body = start + 11 + end + 5;
        let end = text[body..]
            .find("-----END ")
            .map_or(text.len(), |at| body + at);
        found.push(body..end);
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The end of the run of token characters from `start`, without a closing full stop.
fn token_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while bytes.get(end).is_some_and(|byte| is_token(*byte)) {
        end += 1;
    }
    while end > start && bytes[end - 1] == b'.' {
        end -= 1;
    }
    end
}

fn starts_word(bytes: &[u8], at: usize) -> bool {
    at == 0 || !bytes[at - 1].is_ascii_alphanumeric()
}

fn prefixed(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (start, first) in bytes.iter().enumerate() {
        if !first.is_ascii_alphabetic() || !starts_word(bytes, start) {
            continue;
        }
        let rest = &bytes[start..];
        for (prefix, least) in PREFIXES {
            if !rest.starts_with(prefix.as_bytes()) {
                continue;
            }
            let body = start + prefix.len();
            let end = token_end(bytes, body);
            let word = &bytes[body..end];
            let mixed = *least < 20
                || prefix.len() >= 8
                || word.iter().any(u8::is_ascii_digit)
                || word.iter().any(u8::is_ascii_uppercase)
                    && word.iter().any(u8::is_ascii_lowercase);
            if end - body >= *least && mixed {
                found.push(start..end);
            }
        }
    }
}

/// JSON web tokens: three base64url parts, the first of which begins `eyJ`.
fn web_tokens(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (start, _) in text.match_indices("eyJ") {
        let end = token_end(bytes, start);
        if starts_word(bytes, start)
            && end - start >= 24
            && text[start..end].matches('.').count() >= 1
        {
            found.push(start..end);
        }
    }
}

/// `scheme://user:password@host` loses the password, `scheme://token@host` a long token.
fn urls(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let end = text[start..]
            .find(|c: char| {
                c.is_whitespace()
                    || matches!(c, '/' | '"' | '\'' | '?' | '#' | '`' | '<' | '>' | '|')
            })
            .map_or(text.len(), |length| start + length);
        // A password may hold an `@` itself: the last one ends it.
        let Some(sign) = text[start..end].rfind('@').map(|sign| start + sign) else {
            continue;
        };
        match text[start..sign].find(':') {
            Some(colon) if start + colon + 1 < sign => found.push(start + colon + 1..sign),
            None if sign - start >= 20 => found.push(start..sign),
            _ => {}
        }
    }
}

/// `Authorization: …`, `Cookie: …`, and a bare `Bearer …`.
fn headers(text: &str, found: &mut Vec<Range<usize>>) {
    // What is looked for is followed by one of these.
    if !text.bytes().any(|byte| matches!(byte, b':' | b'=' | b' ')) {
        return;
    }
    let lower = text.to_ascii_lowercase();
    for name in [
        "authorization:",
        "authorization=",
        "cookie:",
        "x-api-key:",
        "private-token:",
        "x-auth-token:",
    ] {
        for (at, _) in lower.match_indices(name) {
            let start = skip_spaces(text, at + name.len());
            let end = text[start..]
                .find(['\n', '\r', '"', '\''])
                .map_or(text.len(), |length| start + length);
            if end > start && !is_reference(&text[start..end]) {
                found.push(start..end);
            }
        }
    }
    for (at, word) in lower.match_indices("bearer ") {
        let start = skip_spaces(text, at + word.len());
        let end = value_end(text, start);
        if starts_word(text.as_bytes(), at) && end - start >= 12 && !is_reference(&text[start..end])
        {
            found.push(start..end);
        }
    }
}

fn skip_spaces(text: &str, at: usize) -> usize {
    text[at..]
        .find(|c: char| c != ' ' && c != '\t')
        .map_or(text.len(), |length| at + length)
}

/// The end of an unquoted value.
fn value_end(text: &str, start: usize) -> usize {
    text[start..]
        .find(|c: char| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '&' | '|' | ')' | '}' | ',')
        })
        .map_or(text.len(), |length| start + length)
}

/// Values of secret-like names: `NAME=value`, `name: value`, `"name": "value"`, `--name value`.
fn named(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let is_name = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80
    };
    let mut at = 0;
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && is_name(bytes[at]) {
            at += 1;
        }
        let name = &text[start..at];
        if !is_secret_name(name) {
            continue;
        }
        if let Some(value) = value_of(text, name, at)
            && !is_reference(&text[value.clone()])
        {
            at = at.max(value.end);
            found.push(value);
        }
    }
}

/// The value that a name at `end` gets, if it gets one.
fn value_of(text: &str, name: &str, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // The name's own closing quote: `"password": …`.
    let mut at = end;
    if matches!(bytes.get(at), Some(b'"' | b'\'')) {
        at += 1;
    }
    let sign = skip_spaces(text, at);
    let start = match bytes.get(sign) {
        Some(b'=' | b':') => {
            // `:=`, `==` and `=>` assign or compare as well.
            let mut after = sign + 1;
            while matches!(bytes.get(after), Some(b'=' | b'>' | b':')) {
                after += 1;
            }
            skip_spaces(text, after)
        }
        _ if name.starts_with('-') && sign > at => sign,
        _ => return entropic(text, at),
    };
    match bytes.get(start) {
        Some(quote @ (b'"' | b'\'' | b'`')) => {
            let body = start + 1;
            let length = text[body..]
                .find(char::from(*quote))
                .unwrap_or(text.len() - body);
            Some(body..body + length)
        }
        Some(_) => Some(start..value_end(text, start)),
        None => None,
    }
    .filter(|value| !value.is_empty())
}

/// A long mixed string within the next few words.
fn entropic(text: &str, from: usize) -> Option<Range<usize>> {
    let near = text[from..]
        .char_indices()
        .nth(60)
        .map_or(text.len(), |(length, _)| from + length);
    let mut start = from;
    while start < near {
        let end = text[start..]
            .find(|c: char| !(c.is_ascii_alphanumeric() || "+/=_-".contains(c)))
            .map_or(text.len(), |length| start + length);
        let word = &text.as_bytes()[start..end];
        let has = |test: fn(&u8) -> bool| word.iter().any(test);
        if word.len() >= 20
            && has(u8::is_ascii_digit)
            && (has(u8::is_ascii_uppercase) || word.iter().all(u8::is_ascii_hexdigit))
            && has(u8::is_ascii_alphabetic)
            && !word.contains(&b'/')
        {
            return Some(start..end);
        }
        start = end + text[end..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// Returns true for `DB_PASSWORD`, `apiKey`, `--token`, `client-secret`, not for `tokenizer` or `max_tokens`.
fn is_secret_name(name: &str) -> bool {
    let mut parts: Vec<String> = Vec::new();
    let mut lower_before = false;
    for c in name.chars() {
        if matches!(c, '_' | '-' | '.') {
            parts.push(String::new());
            lower_before = false;
            continue;
        }
        if c.is_uppercase() && lower_before {
            parts.push(String::new());
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
        match parts.last_mut() {
            Some(part) => part.extend(c.to_lowercase()),
            None => parts.push(c.to_lowercase().collect()),
        }
    }
    parts.retain(|part| !part.is_empty());
    // What describes a secret is none: `token_count`, `password_file`, `secret-name`.
    let describes = parts.len() > 1
        && parts.last().is_some_and(|last| {
            matches!(
                last.as_str(),
                "count"
                    | "file"
                    | "path"
                    | "name"
                    | "length"
                    | "len"
                    | "type"
                    | "limit"
                    | "url"
                    | "policy"
                    | "id"
                    | "rs"
                    | "py"
                    | "js"
                    | "ts"
                    | "go"
                    | "md"
                    | "java"
                    | "html"
                    | "env"
                    | "field"
                    | "reset"
                    | "hint"
                    | "expiry"
                    | "ttl"
                    | "usage"
            )
        });
    if describes {
        return false;
    }
    // A key itself, as `kubeconfig` holds one.
    if parts.len() > 1 && parts.ends_with(&["key".to_owned(), "data".to_owned()]) {
        return true;
    }
    parts.iter().any(|part| PARTS.contains(&part.as_str()))
        || parts
            .windows(2)
            .any(|pair| pair[1] == "key" && KEYS.contains(&pair[0].as_str()))
}

/// Returns true for what only points to a secret, or is none: `$TOKEN`, `${{ secrets.X }}`, `<token>`, `***`, `true`.
fn is_reference(value: &str) -> bool {
    let value = value.trim_start_matches(['"', '\'']);
    let value = ["Bearer ", "bearer ", "Basic ", "token "]
        .iter()
        .find_map(|scheme| value.strip_prefix(scheme))
        .unwrap_or(value)
        .trim_start_matches(['"', '\'']);
    value.is_empty()
        || value.starts_with(REDACTED)
        || (value.starts_with('$')
            && value[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "_{(".contains(c)))
        || (value.starts_with('<') && value.ends_with('>'))
        || value.chars().all(|c| c == '*')
        || matches!(value, "true" | "false" | "null" | "None" | "none" | "nil")
}

#[cfg(test)]
mod tests;
