//! How big a task is, and what that suggests for its time.
//!
//! Source: the timeout guardrails' complexity table; SPEC §2 modifier 3 and §8.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How big a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// At most 2 files and fewer than 200 lines, no change of architecture.
    Simple,
    /// At most 5 files and 1000 lines.
    Medium,
    /// More, or a change of architecture.
    Complex,
}

/// What is known of a task's size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Files it touches.
    pub files: usize,
    /// Lines it touches.
    pub lines: usize,
    /// It changes the architecture.
    pub architecture: bool,
}

impl Complexity {
    /// The complexity of a size.
    #[must_use]
    pub fn of(size: Size) -> Self {
        if size.architecture || size.files > 5 || size.lines > 1000 {
            Self::Complex
        } else if size.files > 2 || size.lines >= 200 {
            Self::Medium
        } else {
            Self::Simple
        }
    }

    /// The time suggested for it; `None` where it should be split instead.
    #[must_use]
    pub fn suggested(self) -> Option<Duration> {
        match self {
            Self::Simple => Some(Duration::from_mins(2)),
            Self::Medium => Some(Duration::from_mins(5)),
            Self::Complex => None,
        }
    }

    /// The word used in logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Medium => "medium",
            Self::Complex => "complex",
        }
    }
}

/// Words of a task that point to a change of architecture.
const ARCHITECTURE: &[&str] = &[
    "architecture",
    "architectural",
    "rewrite",
    "redesign",
    "migrate",
    "migration",
    "restructure",
    "重构",
    "架构",
    "迁移",
    "重写",
];

/// What a task's text says of its size before it starts: the files it names, and whether it sounds like architecture.
#[must_use]
pub fn estimate(task: &str) -> Size {
    let lower = task.to_lowercase();
    let mut files: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '`' | '"' | '\''))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| names_a_file(word))
        .collect();
    files.sort_unstable();
    files.dedup();
    Size {
        files: files.len(),
        lines: 0,
        architecture: ARCHITECTURE.iter().any(|word| lower.contains(word)),
    }
}

fn names_a_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    !stem.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.chars().any(|c| c.is_ascii_alphabetic())
        && !word.contains("://")
        && !matches!(word, "e.g" | "i.e")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_the_seeds() {
        for (files, lines, architecture, expected) in [
            (0, 0, false, Complexity::Simple),
            (2, 199, false, Complexity::Simple),
            (2, 200, false, Complexity::Medium),
            (3, 10, false, Complexity::Medium),
            (5, 1000, false, Complexity::Medium),
            (6, 10, false, Complexity::Complex),
            (1, 1001, false, Complexity::Complex),
            (1, 1, true, Complexity::Complex),
        ] {
            let size = Size {
                files,
                lines,
                architecture,
            };
            assert_eq!(Complexity::of(size), expected, "{size:?}");
        }
    }

    #[test]
    fn a_task_is_sized_by_its_words() {
        for (task, files, architecture) in [
            ("fix the typo in README.md", 1, false),
            ("change src/a.rs, src/b.rs and `src/c.rs`.", 3, false),
            ("see src/a.rs and src/a.rs", 1, false),
            ("redesign the storage layer", 0, true),
            ("迁移到新架构", 0, true),
            ("bump to 1.2.3, e.g. now", 0, false),
            ("see https://example.org/x.html", 0, false),
        ] {
            let size = estimate(task);
            assert_eq!(
                (size.files, size.architecture),
                (files, architecture),
                "{task}"
            );
        }
    }

    #[test]
    fn complex_tasks_are_split_not_stretched() {
        assert_eq!(Complexity::Complex.suggested(), None);
        assert!(Complexity::Medium.suggested() > Complexity::Simple.suggested());
    }
}
