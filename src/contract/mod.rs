//! The Contract: what a task may touch, what it must not, what it must not add (SPEC §3).
//!
//! A Markdown file, read by [`Contract::parse`] and asked by [`Contract::place`]
//! and [`Contract::forbids`]. [`classify`] says what a change of the Contract
//! itself amounts to. Pure: where the file lies, and which version of it
//! counts, is settled in `prefs`.

mod advice;
mod bullet;
mod classify;
mod forbidden;
mod parse;
mod pattern;
mod template;

pub use advice::{Advice, Remedy, advise};
pub use classify::{Change, classify};
pub use forbidden::Forbidden;
pub use parse::Fault;
pub use pattern::PathPattern;
pub use template::TEMPLATE;

use crate::judge::{Priority, Risk};
use bstr::{BStr, ByteSlice as _};

/// Where a Contract is looked for, relative to the top of the worktree, first found first.
pub const PLACES: &[&str] = &[".ccg/contract.md", "ai/contracts/current.md"];

/// A parsed Contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// What may change; empty means everything.
    pub in_scope: Vec<PathPattern>,
    /// What may not change though it is in scope.
    pub out_of_scope: Vec<PathPattern>,
    /// What is frozen.
    pub frozen: Vec<PathPattern>,
    /// What no added line may match.
    pub forbidden: Vec<Forbidden>,
    /// Text for people; nothing enforces it.
    pub notes: Vec<Note>,
    /// Priority of the task.
    pub priority: Option<Priority>,
    /// Risk of the task.
    pub risk: Option<Risk>,
    /// The moment from which the agreement no longer holds.
    pub expires: Option<jiff::Timestamp>,
    /// Set by whoever knows the time: nothing is agreed any more.
    pub expired: bool,
    /// A stricter version that counts beside this one (one not confirmed yet).
    pub beside: Option<Box<Contract>>,
}

/// Returns true where the last of the patterns that matches the path, or a directory above it, lists it.
#[must_use]
pub fn lists(patterns: &[PathPattern], path: &BStr) -> bool {
    pattern::decides(patterns, path).is_some()
}

/// A bullet that is for people only.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// Line in the file, from 1.
    pub line: usize,
    /// The section it stands in.
    pub section: Section,
    /// Its words.
    pub text: String,
}

/// The sections that a Contract may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// `## Scope`, `### In Scope`.
    InScope,
    /// `### Out of Scope`.
    OutOfScope,
    /// `## Must-Not-Change`.
    MustNotChange,
    /// `## Constraints`.
    Constraints,
    /// `## Forbidden Patterns`.
    ForbiddenPatterns,
    /// `## Acceptance`.
    Acceptance,
}

impl Section {
    /// The heading as the template writes it.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::InScope => "In Scope",
            Self::OutOfScope => "Out of Scope",
            Self::MustNotChange => "Must-Not-Change",
            Self::Constraints => "Constraints",
            Self::ForbiddenPatterns => "Forbidden Patterns",
            Self::Acceptance => "Acceptance",
        }
    }
}

/// Where a path stands towards the Contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// May change.
    InScope,
    /// May not change.
    OutOfScope {
        /// Which part says so.
        why: String,
    },
    /// Frozen.
    Frozen {
        /// By which line.
        by: String,
    },
}

impl Contract {
    /// Says where a path relative to the worktree's top stands.
    ///
    /// A trailing `/` marks a directory: it stands where the strictest of what
    /// may lie below it stands. In a list of patterns the last that matches
    /// the path or a directory above it decides, so that `!src/generated/`
    /// takes a part out of `src/`.
    #[must_use]
    pub fn place(&self, path: &BStr) -> Placement {
        let own = self.place_alone(path);
        let Some(beside) = &self.beside else {
            return own;
        };
        match (own, beside.place(path)) {
            (Placement::InScope, other) => other,
            // What the worktree's version would let pass is not agreed to yet.
            (Placement::OutOfScope { why }, Placement::InScope) => Placement::OutOfScope {
                why: format!("{why}, as a person last confirmed it (holdpoint contract diff)"),
            },
            (Placement::Frozen { by }, Placement::InScope) => Placement::Frozen {
                by: format!("{by}, as a person last confirmed it (holdpoint contract diff)"),
            },
            (own, _) => own,
        }
    }

    fn place_alone(&self, path: &BStr) -> Placement {
        if let Some(by) = pattern::decides_below(&self.frozen, path) {
            return Placement::Frozen {
                by: format!("{} (line {})", by.text, by.line),
            };
        }
        if self.expired {
            return Placement::OutOfScope {
                why: "the Contract has expired".to_owned(),
            };
        }
        if let Some(by) = pattern::decides_below(&self.out_of_scope, path) {
            return Placement::OutOfScope {
                why: format!("Out of Scope lists {} (line {})", by.text, by.line),
            };
        }
        if self.in_scope.is_empty() || pattern::decides(&self.in_scope, path).is_some() {
            return Placement::InScope;
        }
        Placement::OutOfScope {
            why: format!("In Scope is {}", pattern::list(&self.in_scope)),
        }
    }

    /// Returns the forbidden pattern that an added line matches.
    ///
    /// A pattern whose expression does not compile forbids every line: a gate
    /// that cannot decide blocks. [`Contract::verify`] finds it beforehand.
    #[must_use]
    pub fn forbids(&self, line: &BStr) -> Option<&str> {
        self.forbidden
            .iter()
            .find(|forbidden| forbidden.matches(line.as_bytes()))
            .map(|forbidden| forbidden.text.as_str())
            .or_else(|| self.beside.as_ref()?.forbids(line))
    }

    /// Compiles every forbidden pattern.
    ///
    /// # Errors
    /// With the line of the first that is no regular expression.
    pub fn verify(&self) -> Result<(), Fault> {
        self.forbidden.iter().try_for_each(Forbidden::verify)
    }

    /// Counts another version beside this one: a path passes only where both let it pass.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.beside = Some(Box::new(match self.beside.take() {
            Some(beside) => beside.and(other),
            None => other,
        }));
        self
    }

    /// Returns true where added lines have to be looked at.
    #[must_use]
    pub fn has_forbidden(&self) -> bool {
        !self.forbidden.is_empty()
            || self
                .beside
                .as_ref()
                .is_some_and(|beside| beside.has_forbidden())
    }

    /// Returns true when nothing in it is enforced.
    #[must_use]
    pub fn enforces_nothing(&self) -> bool {
        self.in_scope.is_empty()
            && self.out_of_scope.is_empty()
            && self.frozen.is_empty()
            && self.forbidden.is_empty()
    }
}

#[cfg(test)]
mod tests;
