//! What a wrapped run left behind, as facts: the workspace against the safety point before it.

use super::{nature, policy};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::{
    Actor, AddedLine, ChangeOp, Coverage, Effect, EffectKind, Facts, FileOp, FileState, GitClass,
    Losses, Nature, PathChange, Place, Surface,
};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

/// Lines of one file that are compared; a longer file counts as all new.
const LONGEST: usize = 200_000;

/// Assesses what changed since a point that holds everything that was there before.
///
/// `start` is the commit that `HEAD` was on then; `None` on an unborn branch.
///
/// # Errors
/// When the confirmed policy cannot be read.
pub fn facts(
    env: &Env,
    workspace: &Workspace,
    changes: &[PathChange],
    start: Option<&str>,
    coverage: Coverage,
    actor: Actor,
) -> Result<Facts> {
    let discarded = discarded(workspace, changes, start)?;
    let mut effects = Vec::new();
    for change in changes {
        effects.push(path_effect(change));
        if discarded.contains(&change.path) {
            effects.push(
                Effect::new(
                    EffectKind::Git {
                        class: GitClass::Discard,
                        lossy: true,
                    },
                    change.path.clone(),
                )
                .because("what was not committed in it before the run is gone")
                .losing(Losses {
                    files: vec![change.path.clone()],
                    ..Losses::default()
                }),
            );
        }
        effects.extend(change.added.iter().map(|line| {
            Effect::new(
                EffectKind::AddedLine {
                    number: line.number,
                    text: line.text.clone(),
                },
                change.path.clone(),
            )
        }));
        if policy::is_contract(change) {
            effects.extend(contract_effects(env, workspace, change)?);
        }
    }
    Ok(Facts {
        surface: Surface::Run,
        actor,
        effects,
        coverage,
    })
}

/// The changed files that are now as a commit from before the run has them: what they held on top of it is gone.
///
/// `start` is the commit on which the run began. Content that the run itself
/// committed is no discard, however clean the file is.
fn discarded(
    workspace: &Workspace,
    changes: &[PathChange],
    start: Option<&str>,
) -> Result<BTreeSet<BString>> {
    let modified: BTreeSet<BString> = changes
        .iter()
        .filter(|change| change.op == ChangeOp::Modify && change.before != change.after)
        .map(|change| change.path.clone())
        .collect();
    let Some(start) = start.filter(|_| !modified.is_empty()) else {
        return Ok(BTreeSet::new());
    };
    let mut found = same_as(workspace, start, &modified)?;
    let went_back = Git::at(workspace)
        .args(["merge-base", "--is-ancestor", "HEAD", start])
        .output()?;
    if went_back.status == Some(0) {
        found.extend(same_as(workspace, "HEAD", &modified)?);
    }
    Ok(found)
}

/// Those of `paths` that a commit has, with the same content as the worktree.
fn same_as(
    workspace: &Workspace,
    commit: &str,
    paths: &BTreeSet<BString>,
) -> Result<BTreeSet<BString>> {
    let list = |git: Git| -> Result<BTreeSet<BString>> {
        Ok(git
            .read()?
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(BString::from)
            .collect())
    };
    let has = list(Git::at(workspace).args(["ls-tree", "-r", "-z", "--name-only", commit]))?;
    let differs = list(Git::at(workspace).args([
        "diff",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--ignore-submodules",
        "-z",
        commit,
    ]))?;
    Ok(paths
        .iter()
        .filter(|path| has.contains(*path) && !differs.contains(*path))
        .cloned()
        .collect())
}

fn path_effect(change: &PathChange) -> Effect {
    let op = match &change.op {
        ChangeOp::Create => FileOp::Create,
        ChangeOp::Modify if change.before == change.after => FileOp::Permissions,
        ChangeOp::Modify => FileOp::Modify,
        ChangeOp::Delete => FileOp::Delete,
        ChangeOp::Rename { from } => FileOp::Rename { from: from.clone() },
    };
    let losing = match op {
        FileOp::Delete => vec![change.path.clone()],
        _ => Vec::new(),
    };
    let links = |mode: &str| mode == "120000";
    let evidence = match (&op, links(&change.mode_before), links(&change.mode_after)) {
        (FileOp::Modify, false, true) => "a file became a link",
        (FileOp::Modify, true, false) => "a link became a file",
        (FileOp::Permissions, ..) => "its permissions changed",
        (FileOp::Delete, ..) => "the safety point holds it",
        _ => "",
    };
    Effect::new(
        EffectKind::File {
            op,
            place: if is_own_log(change.path.as_bstr()) {
                Place::Guard
            } else {
                Place::Workspace
            },
            nature: match nature(change.path.as_bstr()) {
                // What counts is what a person last confirmed, whatever lies in the worktree.
                Nature::Policy => Nature::Config,
                nature => nature,
            },
            state: FileState::Modified,
        },
        change.path.clone(),
    )
    .because(evidence)
    .losing(Losses {
        files: losing,
        ..Losses::default()
    })
}

/// Holdpoint's own logs: they grow while a run goes on, and an edit is seen by their chain.
#[must_use]
pub fn is_own_log(path: &bstr::BStr) -> bool {
    path.starts_with(b".ccg/") && path.ends_with(b".jsonl")
}

/// What an edited Contract would loosen, against the confirmed one.
fn contract_effects(env: &Env, workspace: &Workspace, change: &PathChange) -> Result<Vec<Effect>> {
    let now = if change.op == ChangeOp::Delete {
        None
    } else {
        let path = workspace
            .root
            .join(OsStr::from_bytes(change.path.as_bytes()));
        Some(fs::read(&path).doing(ErrorKind::Io, || format!("cannot read {}", path.display()))?)
    };
    policy::contract(env, workspace, &change.path, None, now.as_deref())
}

/// The lines that a change adds, by comparing both contents; none for binary content.
#[must_use]
pub fn added_lines(before: &[u8], after: &[u8]) -> Vec<AddedLine> {
    let is_binary = |bytes: &[u8]| bytes.iter().take(8000).any(|byte| *byte == 0);
    if is_binary(after) {
        return Vec::new();
    }
    let new: Vec<&[u8]> = after.lines().collect();
    let number = |index: usize| u64::try_from(index + 1).unwrap_or(u64::MAX);
    let line = |index: usize, text: &[u8]| AddedLine {
        number: number(index),
        text: BString::from(text),
    };
    if before.is_empty() || is_binary(before) || new.len() > LONGEST {
        return new
            .iter()
            .enumerate()
            .map(|(index, text)| line(index, text))
            .collect();
    }
    let old: Vec<&[u8]> = before.lines().collect();
    similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new)
        .iter()
        .filter(|op| op.tag() != similar::DiffTag::Equal)
        .flat_map(similar::DiffOp::new_range)
        .filter_map(|index| new.get(index).map(|text| line(index, text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_lines_are_added() {
        let added = |before: &str, after: &str| -> Vec<(u64, String)> {
            added_lines(before.as_bytes(), after.as_bytes())
                .iter()
                .map(|line| (line.number, line.text.to_string()))
                .collect()
        };
        assert_eq!(added("a\nb\n", "a\nx\nb\n"), [(2, "x".to_owned())]);
        assert_eq!(added("a\nb\n", "b\n"), []);
        assert_eq!(
            added("", "a\nb"),
            [(1, "a".to_owned()), (2, "b".to_owned())]
        );
        assert_eq!(added("a\n", "a\r\n"), []);
        assert_eq!(added_lines(b"", b"\0a\nb"), []);
    }

    #[test]
    fn own_logs_are_known() {
        for (path, expected) in [
            (".ccg/decision_log.jsonl", true),
            (".ccg/contract.md", false),
            ("src/.ccg/x.jsonl", false),
        ] {
            assert_eq!(is_own_log(path.into()), expected, "{path}");
        }
    }
}
