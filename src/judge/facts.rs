//! What an action would touch, lose and leave, as plain data.
//!
//! `assess` and `repo` fill these from the workspace; `judge` only reads them.

use super::actor::Actor;
use super::level::Level;
use bstr::BString;
use serde::{Deserialize, Serialize};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// A git hook.
    GitHook,
    /// An agent's tool-call hook.
    AgentHook,
    /// The end of a wrapped run.
    Run,
    /// The `core.fsmonitor` tripwire.
    Tripwire,
    /// `holdpoint check`, which never acts.
    Check,
    /// A person's own command (`rollback`, `contract`, …).
    Command,
}

/// Everything that a verdict rests on, apart from the policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Who asks.
    pub surface: Surface,
    /// Who acts.
    pub actor: Actor,
    /// What the action would do, one entry an effect.
    pub effects: Vec<Effect>,
    /// Whether a safety point holds what could be lost.
    pub coverage: Coverage,
}

/// One thing that an action would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// What is done.
    pub kind: EffectKind,
    /// To what: a path relative to the worktree where it is inside, a ref, a package, a host.
    pub subject: BString,
    /// The evidence in one short clause a person understands; empty where the kind says all.
    pub evidence: String,
    /// What would be gone that exists nowhere else.
    pub loses: Losses,
}

impl Effect {
    /// Makes an effect that loses nothing.
    pub fn new(kind: EffectKind, subject: impl Into<BString>) -> Self {
        Self {
            kind,
            subject: subject.into(),
            evidence: String::new(),
            loses: Losses::default(),
        }
    }

    /// Adds the evidence.
    #[must_use]
    pub fn because(mut self, evidence: impl Into<String>) -> Self {
        self.evidence = evidence.into();
        self
    }

    /// Adds what would be lost.
    #[must_use]
    pub fn losing(mut self, loses: Losses) -> Self {
        self.loses = loses;
        self
    }
}

/// What would be gone that exists nowhere else: not in git, not on a remote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Files whose bytes would be gone.
    pub files: Vec<BString>,
    /// Commits that no ref would reach any more: abbreviated id and subject.
    pub commits: Vec<String>,
    /// Refs that would be gone or moved away.
    pub refs: Vec<BString>,
    /// True when the lists were cut short; the evidence gives the full counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

impl Losses {
    /// Returns true when nothing would be lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.commits.is_empty() && self.refs.is_empty() && !self.more
    }

    /// The losses with paths and names as text, for logs and people.
    #[must_use]
    pub fn shown(&self) -> serde_json::Value {
        let texts =
            |items: &[BString]| -> Vec<String> { items.iter().map(ToString::to_string).collect() };
        serde_json::json!({
            "files": texts(&self.files),
            "commits": self.commits,
            "refs": texts(&self.refs),
            "more": self.more,
        })
    }

    /// Adds another effect's losses.
    pub fn merge(&mut self, other: &Self) {
        for file in &other.files {
            if !self.files.contains(file) {
                self.files.push(file.clone());
            }
        }
        for commit in &other.commits {
            if !self.commits.contains(commit) {
                self.commits.push(commit.clone());
            }
        }
        for name in &other.refs {
            if !self.refs.contains(name) {
                self.refs.push(name.clone());
            }
        }
        self.more |= other.more;
    }
}

/// The kinds of effect that rules know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectKind {
    /// Nothing is written.
    Read,
    /// A path of the file system changes.
    File {
        /// How.
        op: FileOp,
        /// Where it lies.
        place: Place,
        /// What sort of file it is.
        nature: Nature,
        /// What git and the workspace know of its present bytes.
        state: FileState,
    },
    /// An added line, to be held against the Contract's forbidden patterns.
    AddedLine {
        /// Line number in the new file, from 1.
        number: u64,
        /// The line.
        text: BString,
    },
    /// Something done to git's own state.
    Git {
        /// Which family of git rule.
        class: GitClass,
        /// False where evidence shows that nothing is lost (a clean reset, a merged branch).
        lossy: bool,
    },
    /// A package installed, raised, lowered or removed.
    Package {
        /// Against what the manifest lists.
        class: PackageClass,
    },
    /// Something done to the machine or to a service.
    System {
        /// Which family of system rule.
        class: SystemClass,
    },
    /// An attempt to weaken or avoid the guard.
    Guard,
    /// What would happen cannot be told; judged at the worst that it could plausibly be.
    Opaque {
        /// The worst plausible level.
        worst: Level,
    },
    /// The Contract itself changes.
    Contract {
        /// How.
        class: ContractClass,
    },
    /// A finding that a state machine (retry, fix, degrade, time, stuck, intent) has already classed.
    Ruled {
        /// The rule's id.
        rule: super::rule::RuleId,
    },
    /// A level set by the user's own command table (`.ccg/commands.json`).
    Declared {
        /// The level it sets.
        level: Level,
    },
}

/// How a path changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum FileOp {
    /// A new path.
    Create,
    /// Other bytes; the old ones are replaced in part (an edit) or by a known new content.
    Modify,
    /// Emptied or replaced whole by something that does not derive from it.
    Overwrite,
    /// Gone.
    Delete,
    /// Elsewhere.
    Rename {
        /// The path before.
        from: BString,
    },
    /// Other permissions or another owner.
    Permissions,
}

/// Where a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the workspace.
    Workspace,
    /// In the workspace's git directory.
    GitDir,
    /// Holdpoint's own hooks, log, holds, preferences, policy or vault.
    Guard,
    /// In a temporary directory.
    Temporary,
    /// Elsewhere on the machine.
    Outside,
    /// Not known (an unknown variable, a path made at run time).
    Unknown,
}

/// What sort of file a path is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// Source, text, anything else.
    Ordinary,
    /// Build, CI, lint, container, environment, editor or agent settings.
    Config,
    /// Authentication or permission configuration.
    Auth,
    /// A database or data file.
    Data,
    /// The Contract.
    Contract,
    /// Another Contract-like policy file: the preferences, the command table.
    Policy,
}

/// What is known of a path's present bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// Nothing is there.
    Absent,
    /// Tracked, and the same bytes are in git.
    Clean,
    /// Tracked, with bytes that are nowhere else.
    Modified,
    /// Not tracked and not ignored.
    Untracked,
    /// Ignored by git.
    Ignored,
    /// Made by this agent in this run or session.
    Own,
    /// Not in a repository, or not known.
    Unknown,
}

/// Families of git effects (SPEC §2, rules `git.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitClass {
    /// status, diff, log, show, …
    Read,
    /// A safety point.
    SafetyPoint,
    /// add.
    Stage,
    /// commit.
    Commit,
    /// push.
    Push,
    /// Moves refs or drops commits.
    History,
    /// Drops working-tree, index or stash content.
    Discard,
    /// Skips or disarms hooks.
    Bypass,
}

/// What a package change is, against the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackageClass {
    /// The manifest lists it.
    Listed,
    /// A common tool of the ecosystem.
    Common,
    /// Nothing lists it.
    New,
    /// Another version.
    Upgrade,
}

/// Families of system effects (SPEC §2, rules `system.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemClass {
    /// Configuration, services, users, permissions, devices.
    Config,
    /// Destroys data outside the workspace for good.
    Irreversible,
    /// Runs what it downloads.
    RemoteCode,
}

/// What a change of the Contract is (SPEC §2, rules `contract.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractClass {
    /// There was none.
    Create,
    /// Prose or detail, scope unchanged or narrower.
    Detail,
    /// A contradiction between its parts is resolved.
    FixConflict,
    /// Scope widened or moved.
    Scope,
    /// A freeze, forbidden pattern or constraint removed or weakened.
    Relax,
}

/// Whether a safety point holds what the action could destroy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "coverage", rename_all = "snake_case")]
pub enum Coverage {
    /// No point was taken (yet).
    #[default]
    NotTaken,
    /// Everything is held.
    Held {
        /// The point's id.
        point: String,
    },
    /// A point was taken, and these paths are not in it.
    Partial {
        /// The point's id.
        point: String,
        /// Paths that are not held.
        missing: Vec<BString>,
    },
    /// A point was needed and could not be taken.
    Failed {
        /// Why, in one clause.
        why: String,
    },
}
