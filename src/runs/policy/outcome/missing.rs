//! Sentences that say that something is not there: what it is decides what that means.
//!
//! A model, branch or session that a service does not know is not found; a
//! file is a path; a command is a dependency; a script is configuration.

use super::{Basis, Kind, Outcome};
use regex::Regex;
use std::sync::LazyLock;

/// What can be missing.
const NOUNS: &[(Kind, &str)] = &[
    (
        Kind::NotFound,
        "models?|deployment|engine|repository|repo|project|organi[sz]ation|team|user|account|session|conversation|thread|rollout|branch|ref|refspec|revision|remote|tag|commit|release|bucket|endpoint|resource|route|issue|pull request|image|manifest|container|pod|secret|target|agent|task|job|workspace",
    ),
    (
        Kind::Config,
        "config|configuration|configuration option|setting|environment variable|env var|profile|script|preset|plugin|tsconfig|provider|api version",
    ),
    (
        Kind::Dependency,
        "command|executable|program|binary|shared library|interpreter|compiler|linker|toolchain|runtime|sdk",
    ),
    (
        Kind::Path,
        "file|files|directory|folder|path|working tree|worktree",
    ),
];

static SENTENCES: LazyLock<Vec<(Kind, Regex)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for (kind, nouns) in NOUNS {
        let quoted = "[`'\"‘“]";
        // An unknown command is a word that a program does not know: no program is missing.
        let unknown = if *kind == Kind::Dependency {
            ""
        } else {
            "unknown|"
        };
        let sentences = [
            // The model `x` does not exist.
            format!(
                r"(?i)\b(?:{nouns})\b:? (?:{quoted}?[\w./:@-]+[`'\x22’”]? )?(?:you requested |you specified |named \S+ )?(?:does not exist|doesn't exist|do not exist|(?:was |is |were |could )?not (?:be )?found|no longer exists|(?:is )?not recogni[sz]ed|is not available|isn't available)"
            ),
            // No such branch; could not find the model.
            format!(
                r"(?i)(?:^|[:\s])(?:no such|{unknown}could not find|cannot find|can't find|couldn't find|unable to find|unable to locate|missing) (?:a |an |the |any |suitable |required )?(?:{nouns})\b"
            ),
            // codex: command not found.
            format!(r"(?im)\b(?:{nouns}) not found\b"),
        ];
        found.extend(
            sentences
                .iter()
                .filter_map(|sentence| Some((*kind, Regex::new(sentence).ok()?))),
        );
    }
    found
});

/// A package that a registry does not have.
static IN_REGISTRY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:not found|no versions?|isn't|not) in (?:the |this )?(?:[\w"]+ )?(?:package )?(?:registry|index)\b|on the "?\w+"? registry"#,
    )
    .ok()
});

/// Returns what a sentence about something missing means.
pub(super) fn read(text: &str) -> Option<Outcome> {
    let found = IN_REGISTRY.as_ref().and_then(|regex| regex.find(text));
    if let Some(found) = found {
        return Some(Outcome::new(Kind::NotFound, Basis::Words, found.as_str()));
    }
    SENTENCES.iter().find_map(|(kind, regex)| {
        let found = regex.find(text)?;
        Some(Outcome::new(*kind, Basis::Words, found.as_str().trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_decides() {
        for (text, expected) in [
            (
                "The model 'gpt-9' does not exist or you do not have access",
                Some(Kind::NotFound),
            ),
            ("no such branch: main", Some(Kind::NotFound)),
            ("error: unknown session 12", Some(Kind::NotFound)),
            (
                "because x was not found in the package registry",
                Some(Kind::NotFound),
            ),
            ("sh: 1: gcc: command not found", Some(Kind::Dependency)),
            ("missing environment variable API_URL", Some(Kind::Config)),
            ("The file 'a.rs' does not exist", Some(Kind::Path)),
            ("all is well with the model", None),
        ] {
            assert_eq!(read(text).map(|o| o.kind), expected, "{text}");
        }
    }

    #[test]
    fn every_sentence_is_a_pattern() {
        assert_eq!(SENTENCES.len(), NOUNS.len() * 3);
        assert!(IN_REGISTRY.is_some());
    }
}
