//! Paths whose content is made, changed, replaced or emptied.

use super::delete::{MOST_LISTED, lost};
use super::target::Named;
use super::{plain, subject};
use crate::assess::around::Around;
use crate::assess::made::is_made_again;
use crate::assess::nature::nature;
use crate::assess::place::Located;
use crate::assess::{bytes, system};
use crate::judge::{
    Effect, EffectKind, FileOp, FileState, Level, Losses, Nature, Place, SystemClass,
};
use crate::shell::PathOp;
use bstr::{BString, ByteSlice as _};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

pub(in crate::assess) fn unpack(located: &Located, effects: &mut Vec<Effect>) {
    match located.place {
        Place::Temporary => {}
        Place::Workspace => effects.push(
            Effect::new(
                EffectKind::Declared {
                    level: Level::Transparent,
                },
                subject(located),
            )
            .because("files with names that are not known here may be replaced"),
        ),
        _ => effects.push(plain(located, FileOp::Overwrite, FileState::Unknown)),
    }
}

/// A file lands on a path, and replaces what is there.
pub(in crate::assess) fn replaced(around: &Around<'_>, path: &Path, effects: &mut Vec<Effect>) {
    let located = around.place(path);
    content(around, &located, &PathOp::Replace, Named::Exactly, effects);
}

/// Made, changed, replaced or emptied.
pub(super) fn content(
    around: &Around<'_>,
    located: &Located,
    op: &PathOp,
    named: Named,
    effects: &mut Vec<Effect>,
) {
    if located.place == Place::Temporary {
        return;
    }
    if named == Named::ByPattern && !matches!(op, PathOp::Make | PathOp::Touch) {
        content_by_pattern(around, located, op, effects);
        return;
    }
    let state = around.state(&located.path);
    let there = !matches!(state, FileState::Absent);
    around.makes(&located.path);
    if located.place == Place::Outside && located.system {
        effects.push(system(
            bytes(&located.path),
            SystemClass::Config,
            "a file of the system changes",
        ));
        return;
    }
    let name = subject(located);
    let nature = nature(name.as_bstr());
    if *op == PathOp::Touch && !there && located.place == Place::Outside {
        let level = Level::Transparent;
        effects.push(
            Effect::new(EffectKind::Declared { level }, name)
                .because("an empty file or directory is made outside of the workspace"),
        );
        return;
    }
    let op = match op {
        PathOp::Make | PathOp::Touch if there => {
            if matches!(located.place, Place::Guard | Place::GitDir) {
                effects.push(plain(located, FileOp::Modify, state));
            }
            return;
        }
        PathOp::Change if there => FileOp::Modify,
        PathOp::Replace if there => FileOp::Overwrite,
        PathOp::Make | PathOp::Touch | PathOp::Change | PathOp::Replace => FileOp::Create,
        _ => {
            // Emptying something means that it is there, now or by then.
            let by_then = state == FileState::Absent
                && (nature == Nature::Data || !around.has_repository())
                && !is_made_again(&name);
            let state = match state {
                FileState::Absent if by_then => FileState::Unknown,
                state => state,
            };
            let losses = lost_file(around, located, state);
            effects.push(plain(located, FileOp::Overwrite, state).losing(losses));
            return;
        }
    };
    let losses = if op == FileOp::Overwrite {
        lost_file(around, located, state)
    } else {
        Losses::default()
    };
    // A link, a directory, or build output that is written anew.
    let state = if op == FileOp::Overwrite && state == FileState::Unknown && is_made_again(&name) {
        FileState::Ignored
    } else {
        state
    };
    effects.push(plain(located, op, state).losing(losses));
}

/// A pattern's matches are changed, replaced or emptied: each tracked one is looked at.
fn content_by_pattern(
    around: &Around<'_>,
    located: &Located,
    op: &PathOp,
    effects: &mut Vec<Effect>,
) {
    let relative = located.relative.clone().unwrap_or_default();
    let pattern: BString = bytes(&relative).replace("**/", "*").into();
    let hits = around
        .tracked()
        .map(|tracked| tracked.matching(&pattern, MOST_LISTED))
        .unwrap_or_default();
    for hit in &hits {
        let path = around
            .workspace()
            .root
            .join(OsStr::from_bytes(hit.as_slice()));
        content(around, &around.place(&path), op, Named::Exactly, effects);
    }
    let again = is_made_again(&pattern) || is_made_again(bytes(&relative));
    if *op == PathOp::Empty && !again {
        effects.push(
            plain(located, FileOp::Overwrite, FileState::Unknown)
                .because("whatever the pattern matches is emptied"),
        );
    } else if hits.is_empty() && !again {
        let level = Level::Transparent;
        effects.push(
            Effect::new(EffectKind::Declared { level }, subject(located))
                .because("whatever the pattern matches changes"),
        );
    }
}

fn lost_file(around: &Around<'_>, located: &Located, state: FileState) -> Losses {
    let relative = located.relative.clone().unwrap_or_default();
    if state == FileState::Clean {
        return Losses::default();
    }
    lost(around, &located.path, &relative, state)
}
