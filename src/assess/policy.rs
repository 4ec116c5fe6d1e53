//! A change of the policy files themselves: what it would loosen, against what a person last confirmed.

use crate::contract::{self, Contract, PLACES};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::{ChangeOp, ContractClass, Effect, EffectKind, PathChange};
use crate::prefs::confirmed::{self, Confirmed, Texts};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;

/// Assesses what a commit would do to the Contract; empty where it leaves it as confirmed.
///
/// # Errors
/// When the confirmed policy or the staged text cannot be read.
pub fn effects(env: &Env, workspace: &Workspace, changes: &[PathChange]) -> Result<Vec<Effect>> {
    let mut effects = Vec::new();
    for change in changes.iter().filter(|change| is_contract(change)) {
        let agreed = Confirmed::read(env, workspace)?.and_then(|confirmed| {
            PLACES
                .iter()
                .find_map(|place| confirmed.files.get(*place).cloned())
        });
        let staged = staged_text(workspace, change)?;
        if agreed == staged {
            continue;
        }
        let before = agreed.as_deref().map(parsed).transpose();
        let after = staged.as_deref().map(parsed).transpose();
        let (Ok(before), Ok(after)) = (before, after) else {
            effects.push(changed(
                change,
                ContractClass::Relax,
                "the Contract cannot be read",
            ));
            continue;
        };
        for found in contract::classify(before.as_ref(), after.as_ref()) {
            effects.push(changed(change, found.class, &found.what));
        }
    }
    Ok(effects)
}

/// Makes the staged policy files the ones that count; a person has just agreed to the commit.
///
/// # Errors
/// When they cannot be read or written.
pub fn adopt(env: &Env, workspace: &Workspace, changes: &[PathChange], hold: &str) -> Result<()> {
    let names = confirmed::policy_files();
    let mut texts = Confirmed::read(env, workspace)?.map_or_else(Texts::new, |agreed| agreed.files);
    let mut moved = false;
    for change in changes {
        let Some(name) = names.iter().find(|name| change.path == **name) else {
            continue;
        };
        match staged_text(workspace, change)? {
            Some(text) => texts.insert((*name).to_owned(), text),
            None => texts.remove(*name),
        };
        moved = true;
    }
    if moved {
        confirmed::adopt(env, workspace, texts, &format!("hold {hold}"))?;
    }
    Ok(())
}

fn is_contract(change: &PathChange) -> bool {
    PLACES.iter().any(|place| {
        change.path == *place || matches!(&change.op, ChangeOp::Rename { from } if from == place)
    })
}

fn changed(change: &PathChange, class: ContractClass, what: &str) -> Effect {
    Effect::new(EffectKind::Contract { class }, change.path.clone()).because(what)
}

fn parsed(text: &str) -> Result<Contract, contract::Fault> {
    Contract::parse(text.as_bytes())
}

/// The text that a commit would give a path; `None` when it deletes it.
fn staged_text(workspace: &Workspace, change: &PathChange) -> Result<Option<String>> {
    if change.after.is_empty()
        || !confirmed::policy_files()
            .iter()
            .any(|name| change.path == *name)
    {
        return Ok(None);
    }
    let bytes = Git::at(workspace)
        .args(["cat-file", "blob", &change.after])
        .read()?;
    String::from_utf8(bytes)
        .map(Some)
        .doing(ErrorKind::Config, || {
            format!("cannot read {}: it is not UTF-8 text", change.path)
        })
}
