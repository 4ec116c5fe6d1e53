//! From an action to facts: what it would touch, and what would be lost that exists nowhere else.
//!
//! [`command`] reads shell text with [`crate::shell`] and asks the workspace
//! about each deed; [`write`] does the same for one file. Missing evidence
//! never lowers a level: what cannot be told counts as lost.

mod archive;
mod around;
pub mod delta;
mod files;
mod git;
mod laid;
mod made;
mod nature;
mod packages;
mod place;
pub mod policy;
pub mod refs;
pub mod staged;
mod state;

pub use around::Around;
pub use nature::nature;

use crate::error::Result;
use crate::judge::{
    Actor, After, Coverage, Effect, EffectKind, Facts, FileState, Level, Place, Surface,
    SystemClass,
};
use crate::repo::Workspace;
use crate::shell::{self, Deed, DeedKind, Script};
use crate::sys::env::Env;
use bstr::{BStr, ByteSlice as _};
use std::path::Path;

/// Judges nothing, but says what a shell command run in `cwd` would do.
///
/// The surface of the facts is [`Surface::Check`]; a caller that acts sets its own.
///
/// # Errors
/// When the workspace's own description cannot be read. Evidence that cannot
/// be had is no error: it counts as lost.
pub fn command(
    env: &Env,
    workspace: &Workspace,
    text: &BStr,
    cwd: &Path,
    actor: &Actor,
) -> Result<Facts> {
    let around = Around::new(env, workspace, cwd);
    let (facts, _) = read(&around, text, actor);
    Ok(facts)
}

/// The same, with what the reader understood, for a caller that judges several actions in one place.
#[must_use]
pub fn read(around: &Around<'_>, text: &BStr, actor: &Actor) -> (Facts, Script) {
    let script = shell::read(text, &around.scope(), around);
    around.start();
    let mut effects = Vec::new();
    for deed in &script.deeds {
        judge_deed(around, deed, &mut effects);
    }
    if effects.is_empty() {
        effects.push(Effect::new(EffectKind::Read, "command"));
    }
    (facts(actor, effects), script)
}

/// Says what writing, deleting or moving one file would do.
///
/// # Errors
/// As [`command`].
pub fn write(
    env: &Env,
    workspace: &Workspace,
    path: &BStr,
    after: &After,
    actor: &Actor,
) -> Result<Facts> {
    let around = Around::new(env, workspace, env.cwd());
    Ok(write_in(&around, path, after, actor))
}

/// The same, in surroundings that are known already.
#[must_use]
pub fn write_in(around: &Around<'_>, path: &BStr, after: &After, actor: &Actor) -> Facts {
    let mut effects = Vec::new();
    files::written(around, path, after, &mut effects);
    if effects.is_empty() {
        effects.push(Effect::new(EffectKind::Read, path));
    }
    facts(actor, effects)
}

/// Says where a path lies; a relative one is taken from the working directory.
#[must_use]
pub fn place(env: &Env, workspace: &Workspace, path: &Path) -> Place {
    Around::new(env, workspace, env.cwd())
        .place(&env.cwd().join(path))
        .place
}

/// Says what git and the workspace know of a path's present bytes.
#[must_use]
pub fn state(env: &Env, workspace: &Workspace, path: &Path) -> FileState {
    Around::new(env, workspace, env.cwd()).state(&env.cwd().join(path))
}

fn facts(actor: &Actor, effects: Vec<Effect>) -> Facts {
    Facts {
        surface: Surface::Check,
        actor: actor.clone(),
        effects,
        coverage: Coverage::NotTaken,
    }
}

fn judge_deed(around: &Around<'_>, deed: &Deed, effects: &mut Vec<Effect>) {
    let subject = deed.command.as_str();
    match &deed.kind {
        DeedKind::File { op, path } => files::effects(around, deed, op, path, effects),
        DeedKind::Git(git) => git::effects(around, deed, git, effects),
        DeedKind::Package {
            class,
            manager,
            names,
            machine,
        } => {
            if !*machine && packages::elsewhere(around, &deed.dir) {
                effects.push(
                    Effect::new(
                        EffectKind::Declared {
                            level: Level::Transparent,
                        },
                        subject,
                    )
                    .because("packages change in a temporary directory"),
                );
            } else {
                packages::effects(around, *class, manager, names, *machine, effects);
            }
        }
        DeedKind::System { class, why } => {
            effects.push(
                Effect::new(EffectKind::System { class: *class }, subject).because(why.clone()),
            );
        }
        DeedKind::Marked { level, why } => {
            effects.push(
                Effect::new(EffectKind::Declared { level: *level }, subject).because(why.clone()),
            );
        }
        DeedKind::Opaque { worst, why } => {
            effects.push(
                Effect::new(EffectKind::Opaque { worst: *worst }, subject).because(why.clone()),
            );
        }
        DeedKind::Guard { why } => {
            effects.push(Effect::new(EffectKind::Guard, subject).because(why.clone()));
        }
        DeedKind::Bypass { why } => {
            effects.push(
                Effect::new(
                    EffectKind::Git {
                        class: crate::judge::GitClass::Bypass,
                        lossy: true,
                    },
                    subject,
                )
                .because(why.clone()),
            );
        }
    }
}

/// An effect on the machine itself.
fn system(subject: impl Into<bstr::BString>, class: SystemClass, why: &str) -> Effect {
    Effect::new(EffectKind::System { class }, subject).because(why)
}

/// A path as bytes.
fn bytes(path: &Path) -> &BStr {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).as_bstr()
}
