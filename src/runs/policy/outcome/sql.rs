//! What databases answer: SQLSTATE classes, and the sentences that all of them use.

use super::{Basis, Kind, Outcome};
use regex::Regex;
use std::sync::LazyLock;

/// Where an SQLSTATE stands: `ERROR 1146 (42S02):`, `SQLSTATE[HY000]`, `ERROR:  42P01:`, `SQL state: 23505`.
const STATE: &str =
    r"(?:ERROR \d+ \((\w{5})\)|SQLSTATE[\[=: ]+(\w{5})|ERROR:\s+(\d\w{4}):|SQL state: (\w{5}))";

/// Sentences, each with what it means.
const SENTENCES: &[(Kind, &str)] = &[
    (
        Kind::Logic,
        r"(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY|PRIMARY KEY) constraint failed",
    ),
    (
        Kind::Logic,
        r"violates (?:unique|not-null|check|foreign key|exclusion) constraint",
    ),
    (
        Kind::Logic,
        r"(?i)\bduplicate (?:key value|entry '.*' for key)",
    ),
    (Kind::Name, r"(?i)\bno such (?:table|column|function)\b"),
    (
        Kind::Name,
        r#"(?:relation|column|function|type|schema) [\w."(), ]+ does not exist"#,
    ),
    (Kind::Name, r"(?i)\b(?:unknown column|unknown database) '"),
    (Kind::Name, r"(?i)\btable '[^']+' doesn't exist"),
    (
        Kind::Busy,
        r"(?i)\bdeadlock (?:detected|found)|lock wait timeout exceeded|database (?:table )?is locked|too many (?:clients|connections)\b",
    ),
];

static STATES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(STATE).ok());

static REGEXES: LazyLock<Vec<(Kind, Regex)>> = LazyLock::new(|| {
    SENTENCES
        .iter()
        .filter_map(|(kind, sentence)| Some((*kind, Regex::new(sentence).ok()?)))
        .collect()
});

/// Returns what a database's answer in a text means.
pub(super) fn read(text: &str) -> Option<Outcome> {
    by_state(text).or_else(|| {
        REGEXES.iter().find_map(|(kind, regex)| {
            let found = regex.find(text)?;
            Some(Outcome::new(*kind, Basis::Code, found.as_str()))
        })
    })
}

fn by_state(text: &str) -> Option<Outcome> {
    let found = STATES.as_ref()?.captures_iter(text).last()?;
    let state = found.iter().skip(1).flatten().next()?.as_str();
    let kind = match (state.get(..2)?, state) {
        ("08" | "HY", _) => return None,
        (_, "42601" | "42000") => Kind::Syntax,
        (_, "42501") => Kind::Permission,
        (_, "42804" | "42846" | "42883") => Kind::Type,
        (_, "57014") => Kind::Cancelled,
        (_, "57P03") => Kind::Unavailable,
        ("22" | "23" | "25", _) => Kind::Logic,
        ("28", _) => Kind::Authentication,
        ("40" | "53" | "55", _) => Kind::Busy,
        ("42" | "3D" | "3F", _) => Kind::Name,
        _ => return None,
    };
    Some(Outcome::new(kind, Basis::Code, format!("SQLSTATE {state}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_databases_are_understood() {
        for (text, expected) in [
            ("ERROR 1146 (42S02): Table 'x.y' doesn't exist", Kind::Name),
            (
                "SQLSTATE[23000]: Integrity constraint violation",
                Kind::Logic,
            ),
            ("ERROR:  relation \"users\" does not exist", Kind::Name),
            ("sqlite3.OperationalError: no such column: a", Kind::Name),
            ("ERROR:  deadlock detected", Kind::Busy),
        ] {
            assert_eq!(read(text).map(|o| o.kind), Some(expected), "{text}");
        }
    }

    #[test]
    fn every_sentence_is_a_pattern() {
        assert!(STATES.is_some());
        assert_eq!(REGEXES.len(), SENTENCES.len());
    }
}
