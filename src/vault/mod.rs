//! Safety points: capture, store, restore (SPEC §4).
//!
//! A point holds a workspace byte for byte: the worktree with its ignored small
//! files, and the git directory with its index, refs, reflogs and operations in
//! progress, all as raw bytes that we read ourselves. No git process runs for it
//! (except to name `HEAD` in a reftable repository), so filters, hooks, fsmonitor
//! and lazy fetches never do either, and repositories that git libraries misread
//! are held like any other.
//!
//! # Why a store of our own
//!
//! Raw bytes cannot be referred to by git's object ids (filters, line ends), and
//! a point must outlive `rm -rf .git` and `gc --prune=now`. So every content goes
//! raw into the vault's packs (`pack`): BLAKE3 names, zstd 1, one synced file a
//! point, large files cut by content (`chunk`). Directories form a Merkle tree
//! (`tree`), so a point after one edit adds one row block a level. Only large files
//! that git itself never changes (packs, commit graphs) are hard-linked instead
//! (`links`). The first point reads everything once; later ones trust
//! the stat cache (`cache`) row for row and read what differs.
//!
//! # Who does what
//!
//! `look` walks (`walk`) and makes trees (`assemble`), `take` publishes, `merge` tidies up; `diff`
//! and `query` answer; `rollback` plans and restores; `retain` forgets;
//! `verify` checks and `mend` sets damage aside. Locks: everyone who
//! uses contents shares `gc.lock`; whoever names a point holds `lock` for the
//! moment; a rollback has its worktree's `rollback/*.lock` alone.

mod assemble;
mod bytes;
mod cache;
mod capture;
mod chunk;
mod diff;
mod excludes;
mod gaps;
pub mod handled;
mod id;
mod ignore;
mod layout;
mod ledger;
mod links;
mod look;
mod mend;
mod merge;
mod moved;
mod pack;
mod places;
mod point;
pub mod progress;
mod query;
mod refs;
mod retain;
pub mod rollback;
mod settings;
mod stamp;
mod store;
mod take;
mod tracked;
mod tree;
mod verify;
mod walk;

pub use diff::Difference;
pub use id::ContentId;
pub use point::{NotHeld, SafetyPoint};
pub use query::{
    absent_in, compare, compare_points, content, copy_content, coverage, differences, find,
    last_wanted, points, size, unreadable,
};
pub use retain::{Pruned, drop_point, prune};
pub use settings::Settings;
pub use tree::{Kind, Row, Why};
pub use verify::{Fault, verify};

use crate::error::{ErrorKind, Result};
use crate::judge::Actor;
use crate::repo::Workspace;
use crate::sys::env::Env;
use layout::Vault;
use point::About;

/// The reason of a point taken when refs were about to move but files had been lost already.
///
/// It holds the refs as they were, and files as nobody wants them back.
pub const AFTER_LOSS: &str = "ref-moved";

/// Why and for whom a point is taken.
#[derive(Clone, Debug)]
pub struct Request {
    /// A short word: `manual`, `before-command`, `before-run`, `before-rollback`, …
    pub reason: String,
    /// What a person said about it, or the command that it guards.
    pub message: Option<String>,
    /// Who acts.
    pub actor: Actor,
    /// The session.
    pub session: Option<String>,
    /// The wrapped run.
    pub run: Option<String>,
}

impl Request {
    /// Asks for a point.
    pub fn new(reason: impl Into<String>, actor: Actor) -> Self {
        Self {
            reason: reason.into(),
            message: None,
            actor,
            session: None,
            run: None,
        }
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: Option<String>) -> Self {
        self.message = message;
        self
    }
}

/// A point that was asked for.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The point.
    pub point: SafetyPoint,
    /// False when the workspace is as the last point has it, and that is the point.
    pub new: bool,
    /// What the caller should tell the person: a finished rollback, a vault near its limit.
    pub notices: Vec<String>,
}

/// Takes a safety point, or finds that the last one still holds everything.
///
/// # Errors
/// When the workspace cannot be read or the vault cannot be written; earlier points are intact.
pub fn save(env: &Env, workspace: &Workspace, request: &Request) -> Result<Saved> {
    let workspace = &with_remains(workspace);
    let saved = || -> Result<Saved> {
        let mut notices: Vec<String> = rollback::recover(env, workspace)?.into_iter().collect();
        let vault = Vault::open(env, workspace)?;
        workspace.note_linked(env)?;
        let _calm = vault.no_rollback(workspace)?;
        let about = about(workspace, request);
        let (point, new) = take::take(&vault, env, &about, walk::Trust::Stamps)?;
        if new {
            notices.extend(worktree_elsewhere(workspace));
            notices.extend(size_notice(&vault)?);
            notices.extend(retain::prune_beside(env, workspace, &vault));
            // The point itself is safe already; a vault that cannot be tidied is told of.
            notices.extend(
                merge::merge(&vault)
                    .err()
                    .map(|error| format!("the vault's packs were not merged: {error}")),
            );
        }
        Ok(Saved {
            point,
            new,
            notices,
        })
    };
    saved().map_err(|error| {
        if error.kind() == ErrorKind::Io {
            error
                .hint("earlier points are intact: holdpoint points")
                .hint("another place for the vault: holdpoint prefs set safety.store DIR")
        } else {
            error
        }
    })
}

/// The workspace with what is left of its git directory, where `.git` is damaged too
/// badly to be one: its files then belong to git and not to the worktree.
fn with_remains(workspace: &Workspace) -> Workspace {
    let mut workspace = workspace.clone();
    let remains = workspace.root.join(".git");
    let is_dir = std::fs::symlink_metadata(&remains).is_ok_and(|meta| meta.is_dir());
    if workspace.common_dir.is_none() && is_dir {
        workspace.git_dir = Some(remains.clone());
        workspace.common_dir = Some(remains);
    }
    workspace
}

/// What to tell where git works in another directory than the one whose files are held.
fn worktree_elsewhere(workspace: &Workspace) -> Option<String> {
    let git_dir = workspace.common_dir.as_deref()?;
    if workspace.kind != crate::repo::Kind::Main {
        return None;
    }
    let config = crate::sys::files::read(git_dir.join("config")).ok()?;
    let named = rollback::config::entries(&config)?
        .into_iter()
        .rev()
        .find(|(section, key, _)| section == "core" && key == "worktree")
        .map(|(.., value)| git_dir.join(value))?;
    let is_here = std::fs::canonicalize(&named).is_ok_and(|named| named == workspace.root);
    (!is_here).then(|| {
        format!(
            "core.worktree names {}, whose files this point does not hold; to hold them, set GIT_DIR and GIT_WORK_TREE and save there",
            named.display()
        )
    })
}

fn about<'a>(workspace: &'a Workspace, request: &'a Request) -> About<'a> {
    About {
        workspace,
        reason: &request.reason,
        message: request.message.as_deref(),
        actor: &request.actor,
        session: request.session.as_deref(),
        run: request.run.as_deref(),
    }
}

fn size_notice(vault: &Vault) -> Result<Option<String>> {
    let (size, max) = (vault.size()?, vault.settings.max_size);
    // Told before the limit is reached, while there is still room to act.
    Ok((size > max / 10 * 9).then(|| {
        format!(
            "the vault has {} of {} MiB (safety.max_size); make room: holdpoint points prune",
            size >> 20,
            max >> 20
        )
    }))
}

/// The `safety.*` preferences that hold for a workspace.
fn settings(env: &Env, workspace: &Workspace) -> Result<Settings> {
    crate::prefs::safety(env, workspace).map(Settings::from)
}
