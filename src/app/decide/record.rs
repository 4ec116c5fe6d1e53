//! Writes what became of decisions to the decision log.

use super::{Judged, event};
use crate::decisions::{DecisionType, documents::Document};
use crate::error::Result;
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{Actor, Level};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{actor, out};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Decisions of one call that are logged one by one; of more, the accepted ones are summed up.
const SINGLY: usize = 100;

/// Faults of one decision that its entry names.
const FAULTS: usize = 50;

/// The outcomes of one call, on their way to the log.
pub(super) struct Log<'e> {
    env: &'e Env,
    workspace: Option<&'e Workspace>,
    actor: Actor,
    accepted: Vec<LogEntry>,
    rejected: Vec<LogEntry>,
    kinds: BTreeMap<&'static str, usize>,
    refused: usize,
}

impl<'e> Log<'e> {
    /// Begins; without a workspace nothing is logged, and that is said.
    pub(super) fn new(env: &'e Env, workspace: Option<&'e Workspace>) -> Self {
        if workspace.is_none() {
            out::note("holdpoint: not in a repository, so these decisions are not logged");
        }
        Self {
            env,
            workspace,
            actor: actor::detect(env),
            accepted: Vec::new(),
            rejected: Vec::new(),
            kinds: BTreeMap::new(),
            refused: 0,
        }
    }

    /// Takes note of one decision.
    pub(super) fn add(&mut self, document: &Document, bytes: &[u8], judged: &Judged) {
        if self.workspace.is_none() {
            return;
        }
        let list = if judged.report.is_valid() {
            let kind = judged.report.kind.map_or("unknown", DecisionType::word);
            *self.kinds.entry(kind).or_default() += 1;
            &mut self.accepted
        } else {
            self.refused += 1;
            &mut self.rejected
        };
        if list.len() < SINGLY {
            let text = bytes.get(document.span.clone()).unwrap_or_default();
            list.push(entry(document, text, judged).actor(&self.actor));
        }
    }

    /// Writes the entries.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub(super) fn end(self, input: &[u8]) -> Result<()> {
        let Some(workspace) = self.workspace else {
            return Ok(());
        };
        let accepted: usize = self.kinds.values().sum();
        let mut entries = self.rejected;
        if accepted + self.refused > SINGLY {
            entries.push(
                LogEntry::new("DecisionValidated")
                    .level(Level::Autonomous)
                    .reason("many")
                    .reasoning(format!(
                        "{accepted} decisions were accepted and {} rejected in one call",
                        self.refused
                    ))
                    .action("decide")
                    .outcome(if self.refused == 0 {
                        Outcome::Success
                    } else {
                        Outcome::Partial
                    })
                    .actor(&self.actor)
                    .context("surface", "decide")
                    .context("accepted", &self.kinds)
                    .context("rejected", self.refused)
                    .context("sha256", hex(input)),
            );
        } else {
            entries.extend(self.accepted);
        }
        for entry in entries {
            let written = journal::append(self.env, workspace, entry)?;
            for note in &written.notes {
                out::note(format!("holdpoint: {note}"));
            }
        }
        Ok(())
    }
}

/// The entry of one decision; its content is named by a digest only, as it may hold anything.
fn entry(document: &Document, text: &[u8], judged: &Judged) -> LogEntry {
    let report = &judged.report;
    let kind = report.kind.map_or("decision", DecisionType::word);
    let faults: Vec<Value> = report
        .faults
        .iter()
        .take(FAULTS)
        .map(|fault| json!({ "pointer": fault.pointer, "code": fault.code }))
        .collect();
    let mut entry = LogEntry::new(event(report))
        .action("decide")
        .context("surface", "decide")
        .context("action_type", kind)
        .context("line", document.line)
        .context("sha256", hex(text));
    if report.is_valid() {
        entry = entry
            .level(Level::Autonomous)
            .reason("valid")
            .reasoning(format!("{kind}: every rule holds"))
            .outcome(Outcome::Success);
        if let Some(rule) = report.asks {
            // The decision itself is sound; carrying it out means asking the person.
            entry = entry
                .level(rule.rule().level)
                .rule(rule)
                .outcome(Outcome::Pending);
        }
    } else {
        let first = report.faults.first();
        entry = entry
            .level(Level::Confirm)
            .reason(first.map_or("invalid", |fault| fault.code.word()))
            .reasoning(first.map_or_else(
                || format!("{kind}: rejected"),
                |fault| {
                    format!(
                        "{kind}: {} fault(s), the first at {:?}: {}",
                        report.faults.len() + report.more,
                        fault.pointer,
                        fault.message
                    )
                },
            ))
            .context("errors", faults)
            .outcome(Outcome::Failure);
    }
    if !judged.changes.is_empty() {
        let changed: Vec<&str> = judged
            .changes
            .iter()
            .take(FAULTS)
            .map(|change| change.pointer.as_str())
            .collect();
        entry = entry.context("corrected", changed);
    }
    entry
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
