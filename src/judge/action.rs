//! What is about to happen, as plain data.

use bstr::BString;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;

/// An action as a surface reports it, before anything is known of its effects (SPEC §1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    /// A shell command, from an agent's tool call or from `check command`.
    Command {
        /// The text as the shell would get it.
        text: BString,
        /// The directory in which it would run.
        cwd: PathBuf,
    },
    /// One file written, edited, deleted or moved by an agent's tool call.
    Write {
        /// The path, as given, resolved against the tool's directory.
        path: BString,
        /// What the path would hold afterwards.
        after: After,
    },
    /// The content of the index against `HEAD`, at a commit.
    StagedChange {
        /// One entry a path, sorted by path.
        changes: Vec<PathChange>,
    },
    /// Refs that move.
    RefUpdates {
        /// In the order git reported them.
        updates: Vec<RefUpdate>,
    },
    /// What a wrapped run left behind, against the safety point before it.
    WorkspaceDelta {
        /// The safety point's id.
        from: String,
        /// One entry a path, sorted by path.
        changes: Vec<PathChange>,
    },
    /// An agent's structured decision.
    Decision {
        /// The payload as it came.
        payload: serde_json::Value,
    },
    /// The end of an attempt.
    Outcome {
        /// Exit status; `None` when killed by a signal.
        exit: Option<i32>,
        /// The tail of what it printed.
        output: BString,
    },
}

/// What a written path holds afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum After {
    /// These bytes.
    Content {
        /// The whole new content.
        bytes: BString,
    },
    /// Something not known beforehand (an edit whose text did not apply, a tool's own output).
    Unknown,
    /// Nothing: the path is deleted.
    Gone,
    /// Nothing: the path is moved.
    MovedTo {
        /// The new path.
        path: BString,
    },
}

/// One path of a change, with the ids of its bytes on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathChange {
    /// Path relative to the top of the worktree, `/` between components.
    pub path: BString,
    /// How it changes.
    pub op: ChangeOp,
    /// Hex id of the bytes before, empty when there were none.
    pub before: String,
    /// Hex id of the bytes after, empty when there are none.
    pub after: String,
    /// Octal mode before (`100644`), empty when there was none.
    pub mode_before: String,
    /// Octal mode after.
    pub mode_after: String,
    /// Lines added, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<AddedLine>,
}

/// How a path changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum ChangeOp {
    /// A new path.
    Create,
    /// Other bytes or another mode.
    Modify,
    /// The path goes away.
    Delete,
    /// The path was another one before.
    Rename {
        /// The path before.
        from: BString,
    },
}

/// A line that a change adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedLine {
    /// Line number in the new file, from 1.
    pub number: u64,
    /// The line without its end.
    pub text: BString,
}

/// One ref that moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefUpdate {
    /// Full name, `refs/heads/main` or a pseudo-ref such as `HEAD`.
    pub name: BString,
    /// What kind of move it is.
    pub change: RefChange,
    /// Hex id before, empty when the ref did not exist.
    pub old: String,
    /// Hex id after, empty when the ref is deleted.
    pub new: String,
}

/// What a ref's move does to the commits behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefChange {
    /// The ref did not exist.
    Create,
    /// The new commit contains the old one.
    FastForward,
    /// The old commit is not part of the new one's history.
    Rewrite,
    /// The ref goes away.
    Delete,
    /// A symbolic ref points elsewhere.
    Symbolic,
}

impl Action {
    /// The hash to which a confirmation is bound: hex SHA-256 of the normalised action.
    ///
    /// Line numbers and the order in which a surface lists things are part of it;
    /// time, actor and surface are not, so that a retry of the same action has the same hash.
    #[must_use]
    pub fn digest(&self) -> String {
        let normal = match self {
            Self::Command { text, cwd } => Self::Command {
                text: BString::from(text.trim_ascii()),
                cwd: cwd.clone(),
            },
            other => other.clone(),
        };
        let bytes = serde_json::to_vec(&normal)
            .unwrap_or_else(|error| format!("unserialisable: {error}").into_bytes());
        let mut hex = String::with_capacity(64);
        for byte in Sha256::digest(&bytes) {
            use std::fmt::Write as _;
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}
