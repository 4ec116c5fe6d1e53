//! `pre-push`: what the remote would get, and what it would lose.
//!
//! Git does not say whether a push is forced, and the remote's old commits may
//! not be here at all.

use super::scene::Scene;
use crate::assess::refs::{self, Moved};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::judge::{
    Action, Coverage, Effect, EffectKind, Facts, GitClass, RefChange, RefUpdate, Surface,
};
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::fate::{self, Fate};
use bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

/// Judges a push.
///
/// # Errors
/// When it cannot be judged; git then does not push.
pub(super) fn judge(args: &[OsString], input: &[u8], caller: Option<Caller>) -> Result<ExitStatus> {
    let lines: Vec<Vec<&[u8]>> = input
        .lines()
        .map(|line| line.splitn_str(4, " ").collect())
        .filter(|words: &Vec<&[u8]>| words.len() == 4)
        .collect();
    if lines.is_empty() {
        return Ok(ExitStatus::Passed);
    }
    let scene = Scene::look(caller)?;
    if scene.would_show() {
        return Ok(ExitStatus::Passed);
    }
    let remote = args
        .first()
        .map(|name| name.as_bytes().as_bstr().to_owned())
        .unwrap_or_default();
    let mut moves = Vec::new();
    for words in &lines {
        let [_, local, name, theirs] = words.as_slice() else {
            continue;
        };
        moves.push(moved(&scene, &remote, local, name.as_bstr(), theirs)?);
    }
    let action = Action::RefUpdates {
        updates: moves.iter().map(|moved| moved.update.clone()).collect(),
    };
    let mut effects = vec![
        Effect::new(
            EffectKind::Git {
                class: GitClass::Push,
                lossy: false,
            },
            remote.clone(),
        )
        .because(format!("{} would be sent there", named(&moves))),
    ];
    effects.extend(
        moves
            .iter()
            .filter(|moved| matches!(moved.fate.change, RefChange::Rewrite | RefChange::Delete))
            .map(refs::effect),
    );
    scene.decide(
        &action,
        Facts {
            surface: Surface::GitHook,
            actor: scene.actor.clone(),
            effects,
            coverage: Coverage::NotTaken,
        },
    )
}

fn moved(
    scene: &Scene,
    remote: &BString,
    local: &[u8],
    name: &BStr,
    theirs: &[u8],
) -> Result<Moved> {
    let workspace = &scene.workspace;
    let is_zero = |oid: &[u8]| oid.iter().all(|byte| *byte == b'0');
    let text = |oid: &[u8]| String::from_utf8_lossy(oid).into_owned();
    let nothing = |change| Fate {
        change,
        lost: Vec::new(),
        more: false,
        tag_lost: false,
    };
    let fate = if is_zero(theirs) {
        nothing(RefChange::Create)
    } else {
        let old = text(theirs);
        let new = (!is_zero(local)).then(|| text(local));
        if fate::is_here(workspace, &old)? {
            fate::of(workspace, &old, new.as_deref(), &[tracking(remote, name)])?
        } else {
            let mut fate = nothing(if new.is_some() {
                RefChange::Rewrite
            } else {
                RefChange::Delete
            });
            let short = old.get(..10).unwrap_or(&old);
            fate.lost
                .push(format!("{short} (the remote's, not fetched here)"));
            fate.more = true;
            fate
        }
    };
    Ok(Moved {
        update: RefUpdate {
            name: bstr::concat([remote.as_slice(), b":", name]).into(),
            change: fate.change,
            old: text(theirs),
            new: text(local),
        },
        fate,
    })
}

/// The remote-tracking ref that follows a branch of the remote; the push moves it along.
fn tracking(remote: &BString, name: &BStr) -> BString {
    let branch = name.strip_prefix(b"refs/heads/").unwrap_or(name);
    bstr::concat([b"refs/remotes/", remote.as_slice(), b"/", branch]).into()
}

fn named(moves: &[Moved]) -> String {
    match moves {
        [only] => only.update.name.to_string(),
        moves => format!("{} refs", moves.len()),
    }
}
