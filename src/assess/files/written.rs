//! What an agent's own tool writes, deletes or moves.

use super::target::Named;
use super::{one, subject};
use crate::assess::around::Around;
use crate::assess::bytes;
use crate::assess::nature::nature;
use crate::assess::place::Located;
use crate::judge::{After, ContractClass, Effect, EffectKind, Nature, Place};
use crate::shell::{Arg, Deed, Dir, PathOp};
use bstr::{BStr, ByteSlice as _};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

/// An agent's own tool writes, deletes or moves a file.
pub(in crate::assess) fn written(
    around: &Around<'_>,
    path: &BStr,
    after: &After,
    effects: &mut Vec<Effect>,
) {
    let full = around.cwd().join(OsStr::from_bytes(path));
    let arg = Arg::known(bytes(&full));
    let deed = Deed {
        kind: crate::shell::DeedKind::File {
            op: PathOp::Change,
            path: arg.clone(),
        },
        dir: Dir::Known(bytes(around.cwd()).into()),
        command: path.to_str_lossy().into_owned(),
    };
    let located = around.place(&full);
    if matches!(after, After::Content { .. } | After::Unknown | After::Gone)
        && located.place == Place::Workspace
        && nature(subject(&located).as_bstr()) == Nature::Contract
    {
        effects.extend(contract_written(around, &located, after));
        return;
    }
    match after {
        After::Gone => one(
            around,
            &deed,
            &PathOp::Delete { recursive: true },
            &full,
            Named::Exactly,
            effects,
        ),
        After::MovedTo { path } => {
            let to = Arg::known(path.clone());
            one(
                around,
                &deed,
                &PathOp::Move { to: to.clone() },
                &full,
                Named::Exactly,
                effects,
            );
            let target = around.cwd().join(OsStr::from_bytes(path));
            if !target.is_dir() {
                one(
                    around,
                    &deed,
                    &PathOp::Replace,
                    &target,
                    Named::Exactly,
                    effects,
                );
            }
        }
        After::Content { bytes: new } => {
            let old = fs::read(&full).ok();
            let op = match &old {
                None => PathOp::Make,
                Some(_) if new.is_empty() => PathOp::Empty,
                Some(old) if discards(&located, old, new) => PathOp::Replace,
                Some(_) => PathOp::Change,
            };
            if old.as_deref() == Some(new.as_slice()) {
                return;
            }
            one(around, &deed, &op, &full, Named::Exactly, effects);
            added_lines(around, &located, old.as_deref(), new, effects);
        }
        After::Unknown => one(
            around,
            &deed,
            &PathOp::Change,
            &full,
            Named::Exactly,
            effects,
        ),
    }
}

/// Whether a write drops what a database or other binary file held.
///
/// A text is rewritten as a matter of course; data is not written again from its source.
fn discards(located: &Located, old: &[u8], new: &[u8]) -> bool {
    let binary = old.iter().take(8000).any(|byte| *byte == 0);
    let data = nature(subject(located).as_bstr()) == Nature::Data;
    (binary || data) && !old.is_empty() && !new.contains_str(old)
}

/// What writing or deleting the Contract would do to what a person last confirmed.
fn contract_written(around: &Around<'_>, located: &Located, after: &After) -> Vec<Effect> {
    let subject = subject(located);
    let effect = |class, why: &str| {
        vec![Effect::new(EffectKind::Contract { class }, subject.clone()).because(why)]
    };
    let after = match after {
        After::Content { bytes } => Some(bytes.as_slice()),
        After::Gone | After::MovedTo { .. } => None,
        After::Unknown => {
            return effect(
                ContractClass::Relax,
                "how the Contract changes is not known",
            );
        }
    };
    let now = fs::read(&located.path).ok();
    let (env, workspace) = (around.env(), around.workspace());
    match crate::assess::policy::contract(env, workspace, &subject, now.as_deref(), after) {
        Ok(effects) if effects.is_empty() => {
            effect(ContractClass::Detail, "the Contract becomes as confirmed")
        }
        Ok(effects) => effects,
        Err(error) => effect(ContractClass::Relax, &error.to_string()),
    }
}

/// The lines that a write adds, for the Contract's forbidden patterns.
fn added_lines(
    around: &Around<'_>,
    located: &Located,
    old: Option<&[u8]>,
    new: &[u8],
    effects: &mut Vec<Effect>,
) {
    if located.place != Place::Workspace
        || !around.workspace().main_root().join(".ccg").exists()
            && !around.workspace().main_root().join("ai/contracts").exists()
    {
        return;
    }
    let held: std::collections::HashSet<&[u8]> = old.unwrap_or_default().lines().collect();
    let subject = subject(located);
    for (number, line) in (1..).zip(new.lines()) {
        if !held.contains(line) {
            effects.push(Effect::new(
                EffectKind::AddedLine {
                    number,
                    text: line.into(),
                },
                subject.clone(),
            ));
        }
    }
}
