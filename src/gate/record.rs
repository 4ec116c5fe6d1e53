//! Writes a decision to the log, and drafts the hold.

use crate::error::{Error, Result};
use crate::holds::{Draft, Hold};
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{Action, Facts, Level, RuleId, Verdict};
use crate::repo::Workspace;
use crate::sys::env::Env;

/// Paths named in a log entry; the count says how many there were.
const NAMED: usize = 20;

/// Everything around a verdict that the log wants to know.
pub(super) struct Scene<'a> {
    pub(super) env: &'a Env,
    pub(super) workspace: &'a Workspace,
    pub(super) action: &'a Action,
    pub(super) facts: &'a Facts,
    pub(super) session: Option<&'a str>,
    pub(super) run: Option<&'a str>,
    pub(super) point: Option<&'a str>,
}

impl Scene<'_> {
    /// Drafts the hold of a verdict that needs a person.
    pub(super) fn draft(&self, verdict: &Verdict, payload: serde_json::Value) -> Draft {
        let mut draft = Draft::new(
            verdict.clone(),
            self.action.clone(),
            self.facts.actor.clone(),
            self.facts.surface,
        );
        draft.safety_point = self.point.map(str::to_owned);
        draft.session = self.session.map(str::to_owned);
        draft.run = self.run.map(str::to_owned);
        draft.payload = payload;
        draft
    }

    fn entry(&self, decision: &str, verdict: &Verdict) -> LogEntry {
        let mut entry = LogEntry::new(decision)
            .verdict(verdict)
            .action(self.action.summary())
            .actor(&self.facts.actor)
            .session(self.session)
            .run(self.run)
            .safety_point(self.point)
            .context("surface", self.facts.surface)
            .context("repo", self.workspace.root.to_string_lossy());
        match self.action {
            Action::Command { text, cwd } => {
                entry = entry
                    .context("command", text.to_string())
                    .context("cwd", cwd.to_string_lossy());
            }
            Action::StagedChange { changes } | Action::WorkspaceDelta { changes, .. } => {
                let paths: Vec<String> = changes
                    .iter()
                    .take(NAMED)
                    .map(|change| change.path.to_string())
                    .collect();
                entry = entry
                    .context("paths", paths)
                    .context("files", changes.len());
            }
            Action::Write { path, .. } => {
                entry = entry.context("paths", [path.to_string()]);
            }
            Action::RefUpdates { updates } => {
                entry = entry
                    .context(
                        "refs",
                        updates
                            .iter()
                            .take(NAMED)
                            .map(|update| format!("{} {} {}", update.name, update.old, update.new))
                            .collect::<Vec<_>>(),
                    )
                    .context("ref_count", updates.len());
            }
            Action::Decision { .. } | Action::Outcome { .. } => {}
        }
        entry
    }
}

/// Records what passes. Reading alone is no decision and is not recorded.
pub(super) fn passed(
    scene: &Scene<'_>,
    verdict: &Verdict,
    observed: bool,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let only_reads = verdict
        .rules()
        .iter()
        .all(|rule| matches!(rule, RuleId::ReadOnly | RuleId::GitRead));
    if only_reads && verdict.level == Level::Autonomous {
        return Ok(());
    }
    let mut entry = scene
        .entry(verdict.decision.word(), verdict)
        .outcome(Outcome::Success);
    if observed {
        entry = entry.context("observe", true);
    }
    match journal::append(scene.env, scene.workspace, entry) {
        Ok(_) => Ok(()),
        // What needs nobody's confirmation goes on without its entry, loudly.
        Err(error) if observed || verdict.level < Level::Confirm => {
            warnings.push(unrecorded(&error));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Records that a person's confirmation let the action pass.
pub(super) fn confirmed(scene: &Scene<'_>, verdict: &Verdict, hold: Option<&str>) -> Result<()> {
    let entry = scene
        .entry("allow", verdict)
        .outcome(Outcome::Success)
        .overridden()
        .hold(hold);
    journal::append(scene.env, scene.workspace, entry).map(|_| ())
}

/// Records that the action waits.
pub(super) fn held(scene: &Scene<'_>, verdict: &Verdict, hold: &Hold) -> Result<()> {
    let entry = scene
        .entry(verdict.decision.word(), verdict)
        .outcome(Outcome::Pending)
        .hold(Some(&hold.id));
    journal::append(scene.env, scene.workspace, entry).map(|_| ())
}

fn unrecorded(error: &Error) -> String {
    format!("this decision could not be written to the log: {error}")
}
