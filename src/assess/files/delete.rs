//! Paths that are deleted, and which bytes go with them.

use super::target::Named;
use super::{file, plain, subject};
use crate::assess::around::Around;
use crate::assess::made::{is_made_again, is_resolved_again};
use crate::assess::place::Located;
use crate::assess::{bytes, system};
use crate::judge::{
    Effect, EffectKind, FileOp, FileState, Level, Losses, Nature, Place, SystemClass,
};
use bstr::{BString, ByteSlice as _};
use std::path::Path;

/// Most names that are listed as lost.
pub(super) const MOST_LISTED: usize = 20;

pub(super) fn delete(
    around: &Around<'_>,
    located: &Located,
    recursive: bool,
    named: Named,
    effects: &mut Vec<Effect>,
) {
    if located.above {
        let why = if located.relative.is_some() {
            "the whole workspace"
        } else {
            "a directory that holds the workspace"
        };
        let class = SystemClass::Irreversible;
        effects.push(system(bytes(&located.path), class, why));
        return;
    }
    if located.place == Place::Outside
        && (located.system || Some(located.path.as_path()) == around.places().home())
    {
        effects.push(system(
            bytes(&located.path),
            SystemClass::Irreversible,
            "files of the system or the whole home directory would be deleted",
        ));
        return;
    }
    let cached = around.places().home().is_some_and(|home| {
        [
            ".cache",
            "Library/Caches",
            ".npm/_cacache",
            ".cargo/registry/cache",
            ".gradle/caches",
        ]
        .iter()
        .any(|dir| located.path.starts_with(home.join(dir)))
    });
    if cached && located.place == Place::Outside {
        effects.push(
            Effect::new(
                EffectKind::Declared {
                    level: Level::Transparent,
                },
                subject(located),
            )
            .because("a cache of the home directory, which is made again"),
        );
        return;
    }
    if located.place != Place::Workspace {
        effects.push(plain(located, FileOp::Delete, FileState::Unknown));
        return;
    }
    let relative = located.relative.clone().unwrap_or_default();
    if named == Named::ByPattern {
        by_pattern(around, located, &relative, effects);
        return;
    }
    let state = around.state(&located.path);
    let (state, evidence) = match state {
        FileState::Absent | FileState::Clean if is_resolved_again(bytes(&relative)) => (
            FileState::Ignored,
            "versions that git holds, or that the next install settles".to_owned(),
        ),
        // It may be made by the time the command runs: judged by what its name says.
        FileState::Absent => {
            if is_made_again(bytes(&relative)) {
                (FileState::Ignored, "a name for build output".to_owned())
            } else {
                (
                    FileState::Unknown,
                    "not there now, judged as if it were".to_owned(),
                )
            }
        }
        state => (state, String::new()),
    };
    let losses = lost(around, &located.path, &relative, state);
    let evidence = if evidence.is_empty() {
        told(around, &relative, state, &losses)
    } else {
        evidence
    };
    let guarded = recursive && state != FileState::Own && holds_guard(&located.path);
    let mut effect = plain(located, FileOp::Delete, state)
        .because(evidence)
        .losing(losses);
    if guarded {
        effect.kind = file(FileOp::Delete, Place::Guard, Nature::Policy, state);
    }
    effects.push(effect);
}

/// Whether a directory holds what the guard rests on.
fn holds_guard(path: &Path) -> bool {
    path.join(".git").exists() || path.join(".ccg").exists()
}

/// A pattern that matches nothing now, or reaches below directories.
fn by_pattern(around: &Around<'_>, located: &Located, relative: &Path, effects: &mut Vec<Effect>) {
    let pattern = bytes(relative);
    let last = pattern.rsplit_str("/").next().unwrap_or_default();
    let deep: BString = pattern.replace("/**/", "/*").replace("**/", "*").into();
    let hit = around
        .tracked()
        .map(|tracked| tracked.matching(&deep, MOST_LISTED))
        .unwrap_or_default();
    let again = is_made_again(last) || is_made_again(pattern);
    if again && hit.is_empty() {
        effects.push(
            plain(located, FileOp::Delete, FileState::Ignored).because("names for build output"),
        );
        return;
    }
    let losses = Losses {
        files: hit,
        ..Losses::default()
    };
    effects.push(
        plain(located, FileOp::Delete, FileState::Unknown)
            .because("whatever the pattern matches")
            .losing(losses),
    );
}

/// The files below a path whose bytes are nowhere else.
pub(super) fn lost(around: &Around<'_>, path: &Path, relative: &Path, state: FileState) -> Losses {
    let mut losses = Losses::default();
    let name = bytes(relative);
    match state {
        FileState::Modified | FileState::Clean => {
            if let Some(tracked) = around.tracked() {
                if tracked.holds(name) {
                    if state == FileState::Modified {
                        losses.files.push(name.into());
                    }
                } else {
                    losses.files = tracked.modified_below(name, MOST_LISTED + 1);
                }
            }
            if path.is_dir()
                && let Ok(others) = crate::repo::others(
                    around.workspace(),
                    crate::repo::Others::Untracked,
                    &[name.into()],
                )
            {
                losses.files.extend(others.into_iter().take(MOST_LISTED));
            }
        }
        FileState::Untracked | FileState::Unknown => losses.files.push(name.into()),
        FileState::Absent | FileState::Ignored | FileState::Own => {}
    }
    if losses.files.len() > MOST_LISTED {
        losses.files.truncate(MOST_LISTED);
        losses.more = true;
    }
    losses
}

fn told(around: &Around<'_>, relative: &Path, state: FileState, losses: &Losses) -> String {
    let count = around
        .tracked()
        .map_or(0, |tracked| tracked.count_below(bytes(relative)));
    let tracked = match count {
        0 => String::new(),
        1 => "1 tracked file".to_owned(),
        n => format!("{n} tracked files"),
    };
    let more = if losses.more { " or more" } else { "" };
    let unsaved = losses.files.len();
    match state {
        FileState::Modified => format!(
            "{}{}{unsaved}{more} with changes that are nowhere else",
            tracked,
            if tracked.is_empty() { "" } else { ", " }
        ),
        FileState::Clean if unsaved > 0 => {
            format!("{tracked}, {unsaved}{more} that git does not hold")
        }
        FileState::Clean if tracked.is_empty() => "tracked, its bytes are in git".to_owned(),
        FileState::Clean => format!("{tracked}, all in git"),
        FileState::Untracked => "untracked, its bytes are nowhere else".to_owned(),
        FileState::Ignored => "ignored by git or build output".to_owned(),
        FileState::Own => "made by this very command".to_owned(),
        FileState::Unknown | FileState::Absent => {
            "nothing says that it is kept elsewhere".to_owned()
        }
    }
}

pub(super) fn mirror(around: &Around<'_>, located: &Located, effects: &mut Vec<Effect>) {
    if !located.above && located.place == Place::Workspace {
        let state = around.state(&located.path);
        if state == FileState::Absent && around.has_repository() || state == FileState::Own {
            effects.push(plain(located, FileOp::Create, FileState::Absent));
            return;
        }
    }
    delete(around, located, true, Named::Exactly, effects);
}
