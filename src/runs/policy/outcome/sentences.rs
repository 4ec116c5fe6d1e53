//! Sentences whose telling words stand apart: `credentials … have expired`, `hit your … limit`.

use super::{Basis, Kind, Outcome};
use regex::Regex;
use std::sync::LazyLock;

/// Sentences that say for certain what is wrong.
const CERTAIN: &[(Kind, &str)] = &[
    (
        Kind::Unavailable,
        r"(?i)\b(?:can't|cannot|could not|couldn't|unable to|failed to) (?:reach|contact) (?:the )?(?:\w+ ){0,3}(?:server|host|service|registry|daemon|database|broker|cluster|api)\b",
    ),
    (
        Kind::Quota,
        r"(?i)\b(?:hit|reached|exceeded) (?:your|the) (?:[\w-]+ ){0,3}limit\b",
    ),
    (
        Kind::Quota,
        r"(?i)\bout of credits?\b|\b(?:credits?|balance|allowance) (?:\w+ ){0,2}(?:exhausted|depleted|used up)\b",
    ),
    (
        Kind::Authentication,
        r"(?i)\b(?:log|sign)[ -]?(?:in|into)\b.{0,30}\b(?:required|needed|again|first|to continue)\b",
    ),
    (
        Kind::Authentication,
        r"(?i)\bplease (?:re-?)?(?:log|sign)[ -]?in\b|\bre-?authenticate\b",
    ),
    (
        Kind::Authentication,
        r#"(?i)\b(?:run|use|try) [`'"]?[\w./-]+ (?:auth )?login\b"#,
    ),
    (
        Kind::Authentication,
        r"(?i)\b(?:credentials?|access token|id token|api token|auth token|token|api key|authentication|authorization)\b(?:[^.\n]|\.\w){0,40}\b(?:(?:has |have |is |are )?(?:expired|missing|revoked|rejected|required)|failed|timed out|is invalid|are invalid|not received)\b",
    ),
    (
        Kind::Authentication,
        r"(?i)\b(?:could not|unable to|failed to|cannot|can't|couldn't) (?:load|find|get|read|refresh|obtain|retrieve|resolve)\b[^.\n]{0,30}\b(?:credentials?|tokens?|api keys?)\b",
    ),
    (
        Kind::Authentication,
        r"(?i)\b(?:configure|provide|set up)\b[^.\n]{0,20}\b(?:credentials|api key)\b",
    ),
    (
        Kind::Authentication,
        r"(?i)\bno authori[sz]ation (?:code|header|token)\b",
    ),
    (
        Kind::Busy,
        r"(?i)\b(?:high|heavy) (?:load|demand|traffic)\b",
    ),
    (
        Kind::Permission,
        r"(?i)\bread-?only (?:database|mode|transaction|connection|replica)\b",
    ),
    (
        Kind::Permission,
        r"(?i)\bpermissions? \d{3,4} for\b.{0,60}\bare too open\b",
    ),
    (
        Kind::Version,
        r"(?i)\bunsupported (?:\w+ ){0,3}version\b|\bversion (?:\w+ ){0,3}is (?:not supported|too old|too new|unsupported)\b",
    ),
    (
        Kind::Config,
        r"(?i)\bvalid values are\b|\binvalid (?:\w+ )?configuration\b",
    ),
    (
        Kind::Dependency,
        r"(?i)\bensure (?:that )?(?:it|\S+) is installed\b|\brequired file not found\b",
    ),
    (
        Kind::ConnectionReset,
        r"(?m)(?:https?://\S+|read tcp .*): (?:unexpected )?EOF$",
    ),
];

/// Sentences that are believed only where nothing else speaks.
const VAGUE: &[(Kind, &str)] = &[
    (
        Kind::Unavailable,
        r"(?i)\b(?:is|are|currently) (?:not available|unavailable)\b|\btry again (?:later|in a few)\b",
    ),
    (Kind::Logic, r"(?m)^@@ -\d+|^\d+(?:,\d+)?[acd]\d+(?:,\d+)?$"),
    (
        Kind::Upstream,
        r"(?i)\b(?:gateway|provider|backend|service|upstream) (?:\w+ )?error\b",
    ),
];

/// Limits that are none of an allowance.
const OTHER_LIMITS: &[&str] = &[
    "rate",
    "retry",
    "time",
    "turn",
    "size",
    "context",
    "token",
    "depth",
    "memory",
    "recursion",
];

type Table = LazyLock<Vec<(Kind, Regex)>>;

static CERTAINLY: Table = LazyLock::new(|| compiled(CERTAIN));
static VAGUELY: Table = LazyLock::new(|| compiled(VAGUE));

fn compiled(table: &[(Kind, &str)]) -> Vec<(Kind, Regex)> {
    table
        .iter()
        .filter_map(|(kind, sentence)| Some((*kind, Regex::new(sentence).ok()?)))
        .collect()
}

/// Returns what the first sentence of the table that is in a text means.
pub(super) fn read(text: &str) -> Option<Outcome> {
    among(&CERTAINLY, text)
}

/// The same, by sentences that say little.
pub(super) fn read_vague(text: &str) -> Option<Outcome> {
    among(&VAGUELY, text)
}

fn among(table: &[(Kind, Regex)], text: &str) -> Option<Outcome> {
    table.iter().find_map(|(kind, regex)| {
        let found = regex.find_iter(text).find(|found| {
            let lower = found.as_str().to_lowercase();
            *kind != Kind::Quota || !OTHER_LIMITS.iter().any(|other| lower.contains(other))
        })?;
        Some(Outcome::new(*kind, Basis::Words, found.as_str().trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_understood_with_words_between() {
        for (text, expected) in [
            ("You've hit your five-hour limit", Some(Kind::Quota)),
            ("exceeded the retry limit", None),
            (
                "Your credentials for example.org have expired.",
                Some(Kind::Authentication),
            ),
            (
                "Run `hub auth login` and try again",
                Some(Kind::Authentication),
            ),
            (
                "could not get an access token from the keyring",
                Some(Kind::Authentication),
            ),
            (
                "attempt to write a readonly database",
                Some(Kind::Permission),
            ),
            ("Unsupported widget core version", Some(Kind::Version)),
            (
                "Get \"https://example.org/x\": EOF",
                Some(Kind::ConnectionReset),
            ),
            ("the page of the login works", None),
        ] {
            assert_eq!(read(text).map(|o| o.kind), expected, "{text}");
        }
    }

    #[test]
    fn every_sentence_is_a_pattern() {
        assert_eq!(CERTAINLY.len(), CERTAIN.len());
        assert_eq!(VAGUELY.len(), VAGUE.len());
    }
}
