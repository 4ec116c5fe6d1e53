//! A rollback whose picture is taken and whose plan is made; nothing is touched yet.

use super::apply::{self, Restore};
use super::journal::{self, History, Journal, Past, PathText};
use super::plan::{Left, Pick, Plan};
use super::staging::Staging;
use super::{Aim, Done, Present, Preview, git, make_plan, unbar};
use crate::error::{Error, ErrorKind, Result};
use crate::sys::beside::beside;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::vault::handled::{self, Edge};
use crate::vault::layout::Vault;
use crate::vault::look::{Keep, Now, look};
use crate::vault::point::{About, SafetyPoint};
use crate::vault::stamp::file_clock;
use crate::vault::take::settle;
use crate::vault::walk::Trust;
use bstr::BString;

/// A rollback under way, up to its first step.
pub(super) struct Begun<'a> {
    vault: &'a Vault,
    _contents: Lock,
    now: Now,
    /// The point before it, where the plan could not be made without.
    before: Option<SafetyPoint>,
    /// What will be done.
    pub(super) plan: Plan,
    /// What is left as it is.
    pub(super) left: Vec<Left>,
    seen_at: (i64, u32),
}

impl<'a> Begun<'a> {
    /// Looks at the workspace and makes the plan.
    pub(super) fn new(
        env: &Env,
        vault: &'a Vault,
        about: &About<'_>,
        preview: &Preview,
    ) -> Result<Self> {
        let workspace = about.workspace;
        let seen_at = file_clock();
        let contents = vault.use_contents()?;
        unbar::tops(workspace, &preview.target)?;
        let mut now = look(vault, env, workspace, Keep::Contents, Trust::Nothing)?;
        let paths = preview.scope.bytes();
        if unbar::below(vault, workspace, &preview.target, &paths, &now)? {
            if let Some(pack) = now.pack.take() {
                pack.abandon();
            }
            now = look(vault, env, workspace, Keep::Contents, Trust::Nothing)?;
        }
        let before = if now.holds_its_trees() {
            None
        } else {
            Some(settle(vault, about, &mut now)?.0)
        };
        let present = Present::seen(&now);
        let plan = make_plan(vault, workspace, &preview.target, &preview.scope, &present)?;
        Ok(Self {
            vault,
            _contents: contents,
            now,
            before,
            plan,
            left: Vec::new(),
            seen_at,
        })
    }

    /// Gives up before anything was written.
    pub(super) fn abandon(self) {
        if let Some(pack) = self.now.pack {
            pack.abandon();
        }
    }

    /// Takes the point before it, writes the journal, and does all steps.
    pub(super) fn finish(mut self, about: &About<'_>, preview: &Preview) -> Result<Done> {
        let (vault, workspace) = (self.vault, about.workspace);
        let plan = std::mem::take(&mut self.plan);
        let dead_lock = git::check_free(workspace, &plan)?;
        let mut staging = Staging::new(vault, workspace)?;
        let filling = staging.filling(vault, &plan);
        // The point waits for the disk meanwhile.
        let (begun, staged) = std::thread::scope(|scope| {
            let staged = beside(scope, || filling.work());
            let begun = self.begin(about, preview);
            let mine = if begun.is_ok() {
                filling.work()
            } else {
                Ok(())
            };
            let staged = staged.join().unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::Internal,
                    "a thread that staged a rollback panicked",
                ))
            });
            (begun, mine.and(staged))
        });
        let (before, journal) = begun?;
        staged?;
        staging.take(filling)?;
        if let Some(lock) = &dead_lock {
            git::remove_lock(lock)?;
        }
        let restore = Restore {
            vault,
            workspace,
            git_dir: git::dir(workspace, &preview.target),
            target: &preview.target,
            id: before.id.clone(),
            seen_at: self.seen_at,
            index_mtime: preview.target.index_mtime,
        };
        handled::note_own(workspace, Edge::Begin)?;
        let mut left = self.left;
        left.extend(apply::apply(&restore, &plan, &mut staging)?);
        handled::note_own(workspace, Edge::End)?;
        drop(staging);
        journal::keep(&vault.rollback(workspace, ".history"), &journal.history)?;
        journal::close(&vault.rollback(workspace, ".journal"))?;
        left.extend(plan.left);
        Ok(Done {
            before,
            changed: plan.steps.len().saturating_sub(left.len()),
            left,
            refs_left: plan.refs_left,
            dead_lock,
        })
    }

    /// Makes the point and the journal last; from then on the rollback is finished whatever happens.
    fn begin(&mut self, about: &About<'_>, preview: &Preview) -> Result<(SafetyPoint, Journal)> {
        let before = match self.before.take() {
            Some(before) => before,
            None => settle(self.vault, about, &mut self.now)?.0,
        };
        let mut history = preview.history.clone();
        note(&mut history, &before, preview);
        let mut journal = Journal::new(
            preview.target.id.clone(),
            before.id.clone(),
            preview.scope.clone(),
            history,
        );
        journal.kept = self
            .left
            .iter()
            .map(|left: &Left| left.path.clone())
            .chain(picked(preview))
            .map(PathText)
            .collect();
        let path = self.vault.rollback(about.workspace, ".journal");
        journal::write(&path, &journal)?;
        Ok((before, journal))
    }
}

/// Writes a rollback, an undo or a redo into the history.
fn note(history: &mut History, before: &SafetyPoint, preview: &Preview) {
    let at = match preview.aim {
        Aim::Point(_) => {
            history.push(Past {
                before: before.id.clone(),
                after: preview.target.id.clone(),
                scope: preview.scope.clone(),
            });
            return;
        }
        // Redoing an undo brings back what was there when it was undone, and the
        // other way round, so that neither ever loses what came between.
        Aim::Undo => history.done,
        Aim::Redo => history.done.saturating_sub(1),
    };
    if let Some(past) = history.past.get_mut(at) {
        let id = before.id.clone();
        match preview.aim {
            Aim::Undo => past.after = id,
            Aim::Point(_) | Aim::Redo => past.before = id,
        }
    }
}

/// Paths of which not all is wanted: whoever finishes the rollback later leaves them.
fn picked(preview: &Preview) -> impl Iterator<Item = BString> {
    preview
        .picks
        .iter()
        .filter(|(_, pick)| **pick != Pick::Whole)
        .map(|(path, _)| path.clone())
}
