//! Judgements that need no evidence, or have none.

use super::{Finding, looks_like_file};
use crate::judge::GitClass;
use crate::shell::programs::git::{Act, Submodules};

/// The judgement where no repository can be asked: the worst it could plausibly be.
pub(super) fn without(act: &Act) -> Finding {
    let why = "what would be lost cannot be told";
    match act {
        Act::Read => Finding::harmless(GitClass::Read, ""),
        Act::Does { class, why } => Finding::lossy(*class, why.clone()),
        Act::Tells { class, why } => told(*class, why.clone()),
        Act::ResetTree {
            careful: true,
            target,
            ..
        } => {
            if target.is_some() {
                Finding::lossy(GitClass::History, why)
            } else {
                Finding::harmless(GitClass::Discard, "local changes are kept")
            }
        }
        Act::ResetTree { moves_branch, .. } => Finding::lossy(
            if *moves_branch {
                GitClass::History
            } else {
                GitClass::Discard
            },
            format!("local changes are dropped; {why}"),
        ),
        Act::MoveHead { .. } => Finding::harmless(
            GitClass::History,
            "the branch moves, files keep their content",
        ),
        Act::Switch { .. }
        | Act::Visit { .. }
        | Act::LeaveBisect { .. }
        | Act::Bring { .. }
        | Act::Pull { .. }
        | Act::Unstage { .. }
        | Act::Sparse { .. }
        | Act::PruneWorktrees
        | Act::Submodules {
            how: Submodules::Updated | Submodules::Along,
            ..
        } => Finding::harmless(GitClass::Read, "local changes are kept"),
        Act::Submodules {
            how: Submodules::RemovedIfClean,
            ..
        } => Finding::harmless(GitClass::Discard, "git refuses if they have changes"),
        Act::Submodules { .. } => Finding::lossy(GitClass::Discard, why),
        Act::MakeRef { checked_out, .. } => made(*checked_out),
        Act::Checkout { word } => {
            if looks_like_file(word) {
                Finding::lossy(GitClass::Discard, why)
            } else {
                Finding::harmless(GitClass::Read, "local changes are kept")
            }
        }
        Act::Abandon { what } => {
            Finding::harmless(GitClass::Discard, format!("no {what} is seen in progress"))
        }
        Act::Restore { .. } | Act::Clean { .. } | Act::DropStash { .. } | Act::ClearStash => {
            Finding::lossy(GitClass::Discard, why)
        }
        Act::DropBranches {
            force: false,
            remote: false,
            ..
        } => Finding::harmless(
            GitClass::History,
            "git refuses unless the branches are merged",
        ),
        Act::DropBranches { .. }
        | Act::MoveRef { .. }
        | Act::DropRefs { .. }
        | Act::Rewrite { .. } => Finding::lossy(GitClass::History, why),
        Act::RemoveWorktree { force, .. } => {
            if *force {
                Finding::lossy(GitClass::History, why)
            } else {
                Finding::harmless(GitClass::History, "git refuses if it has changes")
            }
        }
    }
}

/// The judgement for a repository that the script itself makes: it holds nothing that was there before.
pub(super) fn fresh(act: &Act) -> Finding {
    match act {
        Act::Does {
            class: GitClass::Push | GitClass::Bypass,
            ..
        } => without(act),
        _ => Finding::harmless(GitClass::Read, "the repository is made by this very script"),
    }
}

/// An effect that a person should only know of.
pub(super) fn told(class: GitClass, why: String) -> Finding {
    match class {
        GitClass::History | GitClass::Discard | GitClass::Read | GitClass::SafetyPoint => {
            Finding::harmless(class, why)
        }
        // Classes that stand for an authority of their own count as reads here.
        _ => Finding::harmless(GitClass::Read, why),
    }
}

/// A ref that is made loses nothing.
pub(super) fn made(checked_out: bool) -> Finding {
    let why = if checked_out {
        "a branch is made and switched to"
    } else {
        "a branch or tag is made"
    };
    told(GitClass::Read, why.to_owned())
}
