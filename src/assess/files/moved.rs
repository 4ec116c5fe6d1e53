//! Paths that are moved, and permissions that change.

use super::delete::delete;
use super::target::{Named, Target, target};
use super::{file, plain, subject};
use crate::assess::around::Around;
use crate::assess::made::is_made_again;
use crate::assess::nature::nature;
use crate::assess::place::Located;
use crate::assess::{bytes, system};
use crate::judge::{Effect, EffectKind, FileOp, FileState, Level, Nature, Place, SystemClass};
use crate::shell::{Arg, Deed};
use bstr::ByteSlice as _;

pub(super) fn moved(
    around: &Around<'_>,
    deed: &Deed,
    located: &Located,
    to: &Arg,
    effects: &mut Vec<Effect>,
) {
    if located.place == Place::Temporary || around.made(&located.path) {
        return;
    }
    if located.above || located.system && located.place == Place::Outside {
        effects.push(system(
            bytes(&located.path),
            SystemClass::Config,
            "a directory of the system, or one that holds the workspace, is moved",
        ));
        return;
    }
    if located.place != Place::Workspace {
        effects.push(plain(located, FileOp::Delete, FileState::Unknown).because("moved away"));
        return;
    }
    if to.text == "/dev/null" {
        delete(around, located, true, Named::Exactly, effects);
        return;
    }
    let from = subject(located);
    let mut leaves = false;
    let new = match target(&deed.dir, to) {
        Target::Path(path) => {
            let inside = path.is_dir();
            let path = if inside {
                path.join(located.path.file_name().unwrap_or_default())
            } else {
                path
            };
            let new = around.place(&path);
            leaves = new.place != Place::Workspace;
            subject(&new)
        }
        _ => to.shown().into(),
    };
    let state = around.state(&located.path);
    if is_made_again(&from) && state != FileState::Clean {
        return;
    }
    // Out of the workspace, what the project is made of is as good as deleted.
    let of_the_project = matches!(state, FileState::Clean | FileState::Modified)
        || state == FileState::Untracked && located.path.is_dir();
    if leaves && of_the_project {
        effects.push(plain(located, FileOp::Delete, state).because("moved out of the workspace"));
        return;
    }
    let nature = match nature(from.as_bstr()) {
        Nature::Contract | Nature::Policy => Nature::Auth,
        other => other,
    };
    effects.push(Effect::new(
        file(FileOp::Rename { from }, Place::Workspace, nature, state),
        new,
    ));
}

pub(super) fn permissions(
    around: &Around<'_>,
    located: &Located,
    recursive: bool,
    locks: bool,
    effects: &mut Vec<Effect>,
) {
    let name = bytes(&located.path);
    if located.place == Place::Temporary {
        return;
    }
    if matches!(located.place, Place::Guard | Place::GitDir) {
        effects.push(plain(located, FileOp::Permissions, FileState::Unknown));
        return;
    }
    let home = around.places().home() == Some(located.path.as_path());
    let broad = located.system || home || (located.above && located.relative.is_none());
    if broad && (recursive || locks || !home) {
        effects.push(system(
            name,
            SystemClass::Config,
            "permissions or owners of the system change",
        ));
        return;
    }
    let subject = subject(located);
    let level = match (located.place, recursive, locks) {
        (Place::Workspace, false, false) => {
            effects.push(plain(located, FileOp::Permissions, FileState::Unknown));
            if matches!(nature(subject.as_bstr()), Nature::Auth) {
                effects.pop();
                effects.push(
                    Effect::new(
                        EffectKind::Declared {
                            level: Level::Transparent,
                        },
                        subject,
                    )
                    .because("permissions of a file with secrets change"),
                );
            }
            return;
        }
        (Place::Workspace, true, false) | (_, false, false) => Level::Transparent,
        (Place::Workspace, false, true) => Level::Confirm,
        _ => Level::MustAsk,
    };
    effects.push(
        Effect::new(EffectKind::Declared { level }, subject)
            .because("permissions or owners change"),
    );
}
