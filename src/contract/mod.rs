//! The Contract: what a task may touch, what it must not, what it must not add (SPEC §3).

use bstr::{BStr, BString};

/// A parsed Contract.
#[derive(Clone, Debug, Default)]
pub struct Contract {
    /// Globs of what may change, gitignore syntax; empty means everything.
    pub in_scope: Vec<BString>,
    /// Globs of what may not change though it is in scope.
    pub out_of_scope: Vec<BString>,
    /// Globs of what is frozen.
    pub frozen: Vec<BString>,
    /// Regular expressions that no added line may match.
    pub forbidden: Vec<String>,
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
    #[must_use]
    pub fn place(&self, _path: &BStr) -> Placement {
        todo!("B: contract matching")
    }

    /// Returns the forbidden pattern that an added line matches.
    #[must_use]
    pub fn forbids(&self, _line: &BStr) -> Option<&str> {
        todo!("B: contract matching")
    }
}
