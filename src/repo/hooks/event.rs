//! The hook events that Holdpoint answers, and what each has the power to do.

use std::fmt;

/// A git hook that Holdpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Before a commit is made; sees the index; refuses; skipped by `--no-verify`.
    PreCommit,
    /// The same for the commit of a merge.
    PreMergeCommit,
    /// Before the message is edited; refuses; runs under `--no-verify` too, and for picks and reverts.
    PrepareCommitMsg,
    /// Before anything is sent; refuses; skipped by `--no-verify`.
    PrePush,
    /// Before a rebase moves anything, autostash included; refuses; skipped by `--no-verify`.
    PreRebase,
    /// Before an automatic `gc`; refuses.
    PreAutoGc,
    /// Before refs move; refuses the whole transaction. Working-tree bytes may already be gone.
    ReferenceTransaction,
}

impl Event {
    /// Every event that `init` installs.
    pub const ALL: [Self; 7] = [
        Self::PreCommit,
        Self::PreMergeCommit,
        Self::PrepareCommitMsg,
        Self::PrePush,
        Self::PreRebase,
        Self::PreAutoGc,
        Self::ReferenceTransaction,
    ];

    /// Git's own name of the event.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PreCommit => "pre-commit",
            Self::PreMergeCommit => "pre-merge-commit",
            Self::PrepareCommitMsg => "prepare-commit-msg",
            Self::PrePush => "pre-push",
            Self::PreRebase => "pre-rebase",
            Self::PreAutoGc => "pre-auto-gc",
            Self::ReferenceTransaction => "reference-transaction",
        }
    }

    /// The event with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Returns true where git writes to the hook's standard input.
    #[must_use]
    pub fn reads_stdin(self) -> bool {
        matches!(self, Self::PrePush | Self::ReferenceTransaction)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every hook file that git may look for, which a machine-wide hooks directory has to pass on.
///
/// Where `push-to-checkout` or `proc-receive` is there at all, git does something
/// else; [`super::deploy`] does git's part where the repository has none.
pub const KNOWN: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

#[cfg(test)]
mod tests {
    use super::{Event, KNOWN};

    #[test]
    fn every_event_is_found_by_its_name_and_passed_on_machine_wide() {
        for event in Event::ALL {
            assert_eq!(Event::parse(event.name()), Some(event));
            assert!(KNOWN.contains(&event.name()), "{event}");
        }
    }
}
