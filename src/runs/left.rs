//! What a command left in the workspace: judged, kept, or held whole, whoever started the command.
//!
//! The steps are apart so that a caller can write down how far it came
//! between them: [`Left::changes`], [`Left::part`], [`Left::record`] for what
//! stays, and [`Left::keep`], [`Left::ask`], [`Left::put_back`] for the rest.

use super::beneath::{self, Content};
use super::delta::{self, Payload};
use super::forbidden::Forbidden;
use crate::assess;
use crate::contract::Contract;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::gate::{self, Answer, Asking};
use crate::judge::{
    self, Action, Actor, ChangeOp, Coverage, Facts, Finding, Level, PathChange, Policy, RuleId,
    Verdict,
};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::out;
use crate::vault::{self, SafetyPoint};
use bstr::{BStr, BString, ByteSlice as _};
use std::collections::BTreeSet;
use std::path::Path;

/// Lines of a file that is larger than this are not counted.
const COUNTED: u64 = 4 << 20;

/// A command that is over, with everything its traces are judged by.
#[derive(Debug)]
pub struct Left<'a> {
    /// The environment.
    pub env: &'a Env,
    /// The workspace.
    pub workspace: &'a Workspace,
    /// The policy that counts.
    pub policy: &'a Policy,
    /// The safety point from before it.
    pub point: &'a SafetyPoint,
    /// The commit that `HEAD` was on before it; `None` on an unborn branch.
    pub start: Option<&'a str>,
    /// Who acted.
    pub actor: Actor,
    /// The agent's session, where there is one.
    pub session: Option<&'a str>,
    /// The run or loop, for the log.
    pub run: &'a str,
}

/// The difference between a safety point and now.
#[derive(Debug, Default)]
pub struct Changes {
    /// Every changed path.
    pub paths: Vec<PathChange>,
    /// Lines that came, in all.
    pub lines: usize,
}

/// Changes that stay, and changes that a person has to agree to.
#[derive(Debug)]
pub struct Parted {
    /// The judgement of all of them.
    pub verdict: Verdict,
    /// These stay.
    pub kept: Vec<PathChange>,
    /// These need a person.
    pub held: Vec<PathChange>,
}

impl Left<'_> {
    /// Finds what changed since the point; `own` names paths that are the caller's own notes.
    ///
    /// # Errors
    /// When the workspace or the vault cannot be read.
    pub fn changes(&self, own: impl Fn(&BStr) -> bool) -> Result<Changes> {
        let mut changes = Changes {
            paths: vault::compare(self.env, self.workspace, self.point)?
                .into_iter()
                .filter(|change| {
                    let path = change.path.as_bstr();
                    !assess::delta::is_own_log(path) && !own(path)
                })
                .collect(),
            lines: 0,
        };
        let contract = self
            .policy
            .contract
            .as_ref()
            .filter(|contract| !contract.forbidden.is_empty());
        let forbids = contract.is_some();
        for change in &mut changes.paths {
            if change.op == ChangeOp::Delete || change.mode_after == "120000" {
                continue;
            }
            let path = self.workspace.root.join(change.path.to_path_lossy());
            let is_large = path
                .symlink_metadata()
                .is_ok_and(|meta| meta.len() > COUNTED);
            if is_large {
                if let Some(contract) = contract {
                    change.added = self.forbidden(change, contract)?;
                }
                continue;
            }
            let added = self.added(change)?;
            changes.lines += added.len();
            if forbids {
                change.added = added;
            }
        }
        Ok(changes)
    }

    fn added(&self, change: &PathChange) -> Result<Vec<judge::AddedLine>> {
        let before = if change.mode_before.is_empty() {
            Vec::new()
        } else {
            vault::content(
                self.env,
                self.workspace,
                self.point,
                old_path(change).as_bstr(),
            )?
            .unwrap_or_default()
        };
        let after = match beneath::read(&self.workspace.root, change.path.as_bstr())? {
            Content::File { bytes, .. } => bytes,
            Content::Absent | Content::Link { .. } | Content::Other => Vec::new(),
        };
        Ok(assess::delta::added_lines(&before, &after))
    }

    /// The lines of a large file that the Contract forbids and that were not in it before.
    fn forbidden(&self, change: &PathChange, contract: &Contract) -> Result<Vec<judge::AddedLine>> {
        let path = change.path.as_bstr();
        let mut after = Forbidden::by(contract);
        if let beneath::Open::File { mut file, .. } = beneath::open(&self.workspace.root, path)? {
            std::io::copy(&mut file, &mut after)
                .doing(ErrorKind::Io, || format!("cannot read {path}"))?;
        }
        let mut before = Forbidden::by(contract);
        if !change.mode_before.is_empty() {
            let old = old_path(change).as_bstr();
            vault::copy_content(self.env, self.workspace, self.point, old, &mut before)?;
        }
        let mut known = before.end();
        let mut new = after.end();
        new.retain(
            |line| match known.iter().position(|old| old.text == line.text) {
                Some(at) => {
                    known.swap_remove(at);
                    false
                }
                None => true,
            },
        );
        Ok(new)
    }

    fn facts(&self, changes: &[PathChange]) -> Result<Facts> {
        let paths: Vec<BString> = changes
            .iter()
            .filter(|change| change.op != ChangeOp::Create)
            .map(|change| old_path(change).clone())
            .collect();
        let coverage = if paths.is_empty() {
            Coverage::Held {
                point: self.point.id.clone(),
            }
        } else {
            vault::coverage(self.point, &paths)
        };
        assess::delta::facts(
            self.env,
            self.workspace,
            changes,
            self.start,
            coverage,
            self.actor.clone(),
        )
    }

    /// Judges changes, and parts those that a person has to agree to from those that stay.
    ///
    /// # Errors
    /// When the facts cannot be found out.
    pub fn part(&self, changes: Vec<PathChange>) -> Result<Parted> {
        let verdict = judge::judge(&self.facts(&changes)?, self.policy);
        let (kept, held) = split(changes, &verdict.findings);
        Ok(Parted {
            verdict,
            kept,
            held,
        })
    }

    /// Writes down that changes stay: a decision too, with its rules.
    ///
    /// # Errors
    /// When it cannot be logged, or the changes would be held after all.
    pub fn record(&self, kept: &[PathChange]) -> Result<()> {
        match self.pass(kept, serde_json::Value::Null)? {
            Answer::Passed(_) => Ok(()),
            Answer::Held(held) => Err(Error::new(
                ErrorKind::Internal,
                format!(
                    "what was to stay was held after all ({})",
                    held.verdict.reasoning
                ),
            )),
        }
    }

    /// Keeps both sides of changes in `dir`.
    ///
    /// # Errors
    /// When a side cannot be read or written: then nothing may be put back.
    pub fn keep(&self, held: &[PathChange], dir: &Path) -> Result<Payload> {
        delta::keep(self.env, self.workspace, self.point, held, dir)
    }

    /// Asks the gate whether changes whose bytes are kept may stay; if not, they are in its hold.
    ///
    /// # Errors
    /// When the decision cannot be recorded, or the hold cannot be made.
    pub fn ask(&self, held: &[PathChange], payload: &Payload) -> Result<Answer> {
        let json = serde_json::to_value(payload).doing(ErrorKind::Internal, || {
            "cannot word the held change".to_owned()
        })?;
        self.pass(held, json)
    }

    /// Puts held changes back, as often as it takes; returns the paths that changed again and were left.
    ///
    /// # Errors
    /// When a path cannot be written.
    pub fn put_back(&self, payload: &Payload) -> Result<Vec<BString>> {
        let left = payload.put_back(self.workspace)?;
        payload.remove_new_dirs(self.env, self.workspace, self.point)?;
        Ok(left)
    }

    /// The action that changes are to the gate.
    #[must_use]
    pub fn action(&self, changes: &[PathChange]) -> Action {
        Action::WorkspaceDelta {
            from: self.point.id.clone(),
            changes: changes.to_vec(),
        }
    }

    fn pass(&self, changes: &[PathChange], payload: serde_json::Value) -> Result<Answer> {
        let action = self.action(changes);
        let answer = gate::pass(
            self.env,
            self.workspace,
            gate::Request {
                action: &action,
                facts: self.facts(changes)?,
                policy: self.policy,
                session: self.session,
                run: Some(self.run),
                asking: Asking::Never,
                payload,
            },
        )?;
        let warnings = match &answer {
            Answer::Passed(passed) => &passed.warnings,
            Answer::Held(held) => &held.warnings,
        };
        for warning in warnings {
            out::note(format!("holdpoint: {warning}"));
        }
        Ok(answer)
    }
}

fn old_path(change: &PathChange) -> &BString {
    match &change.op {
        ChangeOp::Rename { from } => from,
        ChangeOp::Create | ChangeOp::Modify | ChangeOp::Delete => &change.path,
    }
}

/// Parts changes into those that stay and those that a person has to agree to.
fn split(changes: Vec<PathChange>, findings: &[Finding]) -> (Vec<PathChange>, Vec<PathChange>) {
    let known: BTreeSet<&BString> = changes.iter().map(|change| &change.path).collect();
    let serious = findings
        .iter()
        .filter(|finding| finding.level >= Level::Confirm);
    let mut held: BTreeSet<BString> = BTreeSet::new();
    let mut all = false;
    for finding in serious {
        // A finding about the change as a whole holds the whole change.
        all |= finding.rule == RuleId::FileBulk || !known.contains(&finding.subject);
        held.insert(finding.subject.clone());
    }
    if all {
        return (Vec::new(), changes);
    }
    held.retain(|path| known.contains(path));
    // What stands where a held path was has to make room for it.
    loop {
        let places: BTreeSet<BString> = changes
            .iter()
            .filter(|change| held.contains(&change.path))
            .flat_map(|change| [&change.path, old_path(change)])
            .flat_map(above)
            .map(BString::from)
            .collect();
        let more: Vec<BString> = changes
            .iter()
            .filter(|change| !held.contains(&change.path))
            .filter(|change| {
                places.contains(&change.path)
                    || above(&change.path).any(|dir| held.contains(dir.as_bstr()))
            })
            .map(|change| change.path.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        held.extend(more);
    }
    changes
        .into_iter()
        .partition(|change| !held.contains(&change.path))
}

/// The directories that a path lies in.
fn above(path: &BString) -> impl Iterator<Item = &[u8]> {
    path.find_iter(b"/")
        .map(|at| path.get(..at).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, op: ChangeOp) -> PathChange {
        PathChange {
            path: path.into(),
            op,
            before: String::new(),
            after: String::new(),
            mode_before: String::new(),
            mode_after: String::new(),
            added: Vec::new(),
        }
    }

    fn held(changes: Vec<PathChange>, subjects: &[(RuleId, Level, &str)]) -> Vec<String> {
        let findings: Vec<Finding> = subjects
            .iter()
            .map(|(rule, level, subject)| Finding {
                rule: *rule,
                level: *level,
                reason: String::new(),
                subject: BString::from(*subject),
                harm: String::new(),
                hint: String::new(),
            })
            .collect();
        split(changes, &findings)
            .1
            .iter()
            .map(|change| change.path.to_string())
            .collect()
    }

    #[test]
    fn only_what_a_finding_names_is_held() {
        let changes = || {
            vec![
                change("a", ChangeOp::Modify),
                change("d", ChangeOp::Create),
                change("d/x/y", ChangeOp::Delete),
                change("z", ChangeOp::Rename { from: "q/r".into() }),
                change("q", ChangeOp::Create),
            ]
        };
        let rule = RuleId::FileDelete;
        for (subjects, expected) in [
            (&[][..], &[][..]),
            (&[(rule, Level::Transparent, "a")], &[]),
            (&[(rule, Level::MustAsk, "a")], &["a"]),
            (&[(rule, Level::MustAsk, "d/x/y")], &["d", "d/x/y"]),
            (&[(rule, Level::Confirm, "z")], &["z", "q"]),
            // A file that became a directory: what is in it has to make room.
            (&[(rule, Level::Confirm, "d")], &["d", "d/x/y"]),
            (
                &[(rule, Level::Confirm, "elsewhere")],
                &["a", "d", "d/x/y", "z", "q"],
            ),
            (
                &[(RuleId::FileBulk, Level::Confirm, "a")],
                &["a", "d", "d/x/y", "z", "q"],
            ),
        ] {
            assert_eq!(held(changes(), subjects), expected, "{subjects:?}");
        }
    }
}
