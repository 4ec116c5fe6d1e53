//! Words that say what went wrong, most specific first.
//!
//! A needle is lower-case text; `|` at either end asks for a word boundary
//! there. The first needle in the table's order that occurs decides, wherever
//! it stands: the caller has already cut the text to its end.

mod certain;
mod hints;
mod likely;

use super::codes::quoted_relative;
use super::{Basis, Kind, Outcome, missing, sentences};
use certain::CERTAIN;
use hints::HINTS;
use likely::LIKELY;

/// A kind and the needles that mean it.
type Row = (Kind, &'static [&'static str]);

/// Returns what the most specific words in a text mean.
pub(super) fn read(text: &str) -> Option<Outcome> {
    among(&[CERTAIN], text, false)
        .or_else(|| sentences::read(text))
        .or_else(|| missing::read(text))
        .or_else(|| among(&[LIKELY, HINTS], text, false))
}

/// The same, where the tests were not even started: what kept them from it is what went wrong.
pub(super) fn read_broken(text: &str) -> Option<Outcome> {
    among(&[CERTAIN, LIKELY, HINTS], text, true)
}

/// Returns true where a test runner says that it could not build or load the tests.
pub(super) fn is_broken(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "[build failed]",
        "test suite failed to run",
        "error collecting",
        "during collection",
        "failed suites ",
    ]
    .iter()
    .any(|mark| lower.contains(mark))
}

fn among(tables: &[&[Row]], text: &str, broken: bool) -> Option<Outcome> {
    let lower = text.to_lowercase();
    for (kind, needles) in tables.iter().copied().flatten() {
        if broken && *kind == Kind::TestFailure {
            continue;
        }
        for needle in *needles {
            if let Some(at) = find(&lower, needle) {
                let said = needle.trim_matches('|');
                let kind = match kind {
                    Kind::Import | Kind::Dependency if ABOUT_MODULES.contains(&said) => {
                        module_kind(&lower, at)
                    }
                    kind => *kind,
                };
                return Some(Outcome::new(kind, Basis::Words, said));
            }
        }
    }
    None
}

/// Words that a module's name follows.
const ABOUT_MODULES: &[&str] = &[
    "cannot find module",
    "failed to load url",
    "failed to resolve import",
    "module not found: error: can't resolve '",
    "could not resolve import",
    "unable to resolve module",
];

/// A module named by a path belongs to the code; one named by a bare name has to be installed.
fn module_kind(lower: &str, at: usize) -> Kind {
    let line = lower
        .get(at..)
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default();
    let bare = ABOUT_MODULES
        .iter()
        .find_map(|words| line.strip_prefix(words))
        .is_some_and(|name| name.trim_start().starts_with(['.', '/']));
    if bare || quoted_relative(line) {
        Kind::Import
    } else {
        Kind::Dependency
    }
}

fn find(text: &str, needle: &str) -> Option<usize> {
    let bare = needle.trim_matches('|');
    let before = needle.starts_with('|');
    let after = needle.ends_with('|');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(bare).map(|(at, _)| at).find(|at| {
        let left = text.get(..*at).and_then(|left| left.chars().next_back());
        let right = text
            .get(at + bare.len()..)
            .and_then(|right| right.chars().next());
        !(before && left.is_some_and(is_word) || after && right.is_some_and(is_word))
    })
}
