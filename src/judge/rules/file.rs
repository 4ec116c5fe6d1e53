//! Rules `file.*` and `read.only`: what happens to paths, wherever they lie.

use super::found;
use crate::judge::facts::{Effect, EffectKind, Facts, FileOp, FileState, Nature, Place};
use crate::judge::level::Level;
use crate::judge::modifiers::{OUTSIDE_CREATED, OWN_FILE};
use crate::judge::rule::RuleId;
use crate::judge::verdict::Finding;

/// Returns true for a new file that no program reads at its start: no dot in the way.
fn is_new_and_plain(
    op: &FileOp,
    nature: Nature,
    state: FileState,
    subject: &bstr::BString,
) -> bool {
    use bstr::ByteSlice as _;
    matches!(op, FileOp::Create)
        && nature == Nature::Ordinary
        && state == FileState::Absent
        && !subject.contains_str("/.")
}

/// Returns the finding of one effect on a path.
pub(super) fn check(effect: &Effect) -> Option<Finding> {
    let (op, place, nature, state) = match &effect.kind {
        EffectKind::Read => {
            return Some(found(
                RuleId::ReadOnly,
                "read_only",
                effect,
                "nothing is written",
            ));
        }
        EffectKind::File {
            op,
            place,
            nature,
            state,
        } => (op, *place, *nature, *state),
        _ => return None,
    };
    let subject = &effect.subject;
    let harm = |what: &str| {
        if effect.evidence.is_empty() {
            format!("{subject} {what}")
        } else {
            format!("{subject} {what} ({})", effect.evidence)
        }
    };
    match place {
        Place::Guard | Place::GitDir => {
            return Some(
                found(
                    RuleId::FileGuard,
                    "guard_file",
                    effect,
                    harm("belongs to the guard or to git itself"),
                )
                .with_hint("leave it alone; a person changes it with holdpoint or git"),
            );
        }
        Place::Outside | Place::Unknown => {
            return Some(
                found(
                    RuleId::FileOutside,
                    if is_new_and_plain(op, nature, state, subject) {
                        OUTSIDE_CREATED
                    } else {
                        "outside_workspace"
                    },
                    effect,
                    harm("lies outside the workspace"),
                )
                .with_hint("write inside the workspace or a temporary directory"),
            );
        }
        Place::Temporary => {
            return Some(
                found(
                    RuleId::FileModify,
                    "temporary_file",
                    effect,
                    harm("is temporary"),
                )
                .at(Level::Autonomous),
            );
        }
        Place::Workspace => {}
    }
    match nature {
        // Judged by what changes in it, not as a file.
        Nature::Contract => return None,
        Nature::Policy => {
            return Some(
                found(
                    RuleId::FileGuard,
                    "policy_file",
                    effect,
                    harm("is part of the gate's policy"),
                )
                .with_hint("leave it alone; a person uses holdpoint prefs"),
            );
        }
        Nature::Ordinary | Nature::Config | Nature::Auth | Nature::Data => {}
    }
    let destroys = matches!(op, FileOp::Delete | FileOp::Overwrite);
    if destroys && state == FileState::Own {
        return Some(
            found(
                RuleId::FileDelete,
                OWN_FILE,
                effect,
                harm("was made by this agent itself"),
            )
            .at(Level::Transparent),
        );
    }
    let kept = matches!(state, FileState::Absent | FileState::Clean);
    if nature == Nature::Auth && matches!(op, FileOp::Overwrite) && !kept {
        return Some(
            found(
                RuleId::FileDelete,
                "secrets_overwritten",
                effect,
                harm("holds authentication or permissions, and its bytes are nowhere else"),
            )
            .with_hint("write to another name, or save first: holdpoint save"),
        );
    }
    if nature == Nature::Auth && !matches!(op, FileOp::Delete) {
        return Some(
            found(
                RuleId::FileAuth,
                "auth_file",
                effect,
                harm("holds authentication or permissions"),
            )
            .with_hint("ask a person to make this change"),
        );
    }
    match op {
        FileOp::Create => match nature {
            Nature::Config => Some(found(
                RuleId::FileConfig,
                "config_file",
                effect,
                harm("is configuration"),
            )),
            _ => Some(found(
                RuleId::FileCreate,
                "file_created",
                effect,
                harm("is new"),
            )),
        },
        FileOp::Modify | FileOp::Permissions => match nature {
            Nature::Config => Some(found(
                RuleId::FileConfig,
                "config_file",
                effect,
                harm("is configuration"),
            )),
            _ => Some(found(
                RuleId::FileModify,
                "file_modified",
                effect,
                harm("changes"),
            )),
        },
        FileOp::Rename { from } => Some(
            found(
                RuleId::FileRename,
                "file_renamed",
                effect,
                harm(&format!("was {from}")),
            )
            .with_hint("keep the name, or ask a person to confirm the move"),
        ),
        FileOp::Overwrite => match (nature, state) {
            (_, FileState::Absent) => Some(found(
                RuleId::FileCreate,
                "file_created",
                effect,
                harm("is new"),
            )),
            (Nature::Data, _) => Some(found(
                RuleId::FileDataDelete,
                "data_overwritten",
                effect,
                harm("is data and would be replaced"),
            )),
            (Nature::Config, FileState::Clean | FileState::Ignored) => Some(found(
                RuleId::FileConfig,
                "config_file",
                effect,
                harm("is configuration"),
            )),
            (_, FileState::Clean) => Some(found(
                RuleId::FileModify,
                "file_modified",
                effect,
                harm("changes; the old bytes are in git"),
            )),
            (_, FileState::Ignored) => Some(
                found(
                    RuleId::FileModify,
                    "ignored_overwritten",
                    effect,
                    harm("is ignored by git and would be replaced"),
                )
                .at(Level::Transparent),
            ),
            _ => Some(
                found(
                    RuleId::FileDelete,
                    "unsaved_overwritten",
                    effect,
                    harm("would be replaced, and its bytes are nowhere else"),
                )
                .with_hint("write to another name, or save first: holdpoint save"),
            ),
        },
        FileOp::Delete => match (nature, state) {
            (_, FileState::Absent) => Some(found(
                RuleId::ReadOnly,
                "nothing_there",
                effect,
                harm("is not there"),
            )),
            (Nature::Data, _) => Some(
                found(
                    RuleId::FileDataDelete,
                    "data_deleted",
                    effect,
                    harm("is data and would be deleted"),
                )
                .with_hint("move it aside instead"),
            ),
            (Nature::Ordinary | Nature::Config, FileState::Ignored) => Some(
                found(
                    RuleId::FileDelete,
                    "ignored_deleted",
                    effect,
                    harm("is ignored by git, such as build output"),
                )
                .at(Level::Transparent),
            ),
            _ => Some(
                found(
                    RuleId::FileDelete,
                    "file_deleted",
                    effect,
                    harm("would be deleted"),
                )
                .with_hint("keep the file, or ask a person to confirm the deletion"),
            ),
        },
    }
}

/// Returns a finding when one action touches more files than `limit`.
pub(super) fn bulk(facts: &Facts, limit: usize) -> Option<Finding> {
    let mut touched = facts.effects.iter().filter(|effect| {
        matches!(
            &effect.kind,
            EffectKind::File {
                place: Place::Workspace,
                ..
            }
        )
    });
    let first = touched.next()?;
    let count = 1 + touched.count();
    (count > limit).then(|| {
        let mut finding = found(
            RuleId::FileBulk,
            "bulk_change",
            first,
            format!("{count} files change in one action"),
        )
        .with_hint("split the change");
        finding.subject = format!("{count} files").into();
        finding
    })
}
