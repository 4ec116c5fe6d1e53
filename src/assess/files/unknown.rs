//! Paths that are not known, or only the directory that holds them.

use super::{file, file_op};
use crate::assess::around::Around;
use crate::assess::made::is_made_again;
use crate::assess::{bytes, system};
use crate::judge::{Effect, EffectKind, FileState, Level, Nature, Place, SystemClass};
use crate::shell::{Arg, PathOp};
use std::path::Path;

/// A path that is not known, or only the directory that holds it.
pub(super) fn unknown(
    around: &Around<'_>,
    op: &PathOp,
    path: &Arg,
    under: Option<&Path>,
    effects: &mut Vec<Effect>,
) {
    let shown = path.shown();
    let made_again = |shown: String, why: &str| {
        let kind = file(
            file_op(op),
            Place::Workspace,
            Nature::Ordinary,
            FileState::Ignored,
        );
        Effect::new(kind, shown).because(why)
    };
    if under.is_none() && path.is_known() && is_made_again(&path.text) {
        effects.push(made_again(shown, "a name for build output"));
        return;
    }
    if let Some(under) = under {
        let located = around.place(under);
        let relative = located.relative.clone().unwrap_or_default();
        let temporary =
            located.place == Place::Temporary || around.places().is_temporary_dir(under);
        if temporary || located.place == Place::Guard || located.place == Place::GitDir {
            let place = if temporary {
                Place::Temporary
            } else {
                located.place
            };
            effects.push(Effect::new(
                file(file_op(op), place, Nature::Ordinary, FileState::Unknown),
                shown,
            ));
            return;
        }
        if is_made_again(bytes(&relative)) && located.place == Place::Workspace {
            effects.push(made_again(shown, "below a directory of build output"));
            return;
        }
        if located.system && !matches!(op, PathOp::Make | PathOp::Touch) {
            effects.push(system(
                shown,
                SystemClass::Config,
                "a path of the system that is not known in full",
            ));
            return;
        }
    }
    let level = match op {
        PathOp::Delete { .. } | PathOp::Mirror | PathOp::Empty => Level::MustAsk,
        PathOp::Move { .. }
        | PathOp::Replace
        | PathOp::Permissions {
            recursive: true, ..
        } => Level::Confirm,
        PathOp::Into { .. }
        | PathOp::Change
        | PathOp::Unpack
        | PathOp::Extract(_)
        | PathOp::Lay { .. } => Level::Transparent,
        PathOp::Make
        | PathOp::Touch
        | PathOp::Send
        | PathOp::RemoveEmpty
        | PathOp::Permissions { .. } => Level::Autonomous,
    };
    // A file with a made-up name in a known directory of the workspace.
    let inside = under.is_some_and(|under| around.place(under).place == Place::Workspace);
    let level = if inside && level == Level::Confirm {
        Level::Transparent
    } else {
        level
    };
    if level == Level::MustAsk {
        effects.push(
            Effect::new(
                file(
                    file_op(op),
                    Place::Unknown,
                    Nature::Ordinary,
                    FileState::Unknown,
                ),
                shown,
            )
            .because("what it names is not known"),
        );
    } else {
        effects.push(
            Effect::new(EffectKind::Opaque { worst: level }, shown)
                .because("which path is written is not known"),
        );
    }
}
