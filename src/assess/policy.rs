//! A change of the policy files themselves: what it would loosen, against what a person last confirmed.

use crate::contract::{self, Contract, PLACES};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::{ChangeOp, ContractClass, Effect, EffectKind, PathChange};
use crate::prefs::confirmed::{self, Confirmed, Texts};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;
use bstr::BString;

/// Assesses what a commit would do to the Contract; empty where it leaves it as confirmed.
///
/// # Errors
/// When the confirmed policy or the staged text cannot be read.
pub fn effects(env: &Env, workspace: &Workspace, changes: &[PathChange]) -> Result<Vec<Effect>> {
    let mut effects = Vec::new();
    for change in changes.iter().filter(|change| is_contract(change)) {
        let staged = staged_text(workspace, change)?;
        let after = staged.as_deref().map(str::as_bytes);
        effects.extend(contract(env, workspace, &change.path, None, after)?);
    }
    Ok(effects)
}

/// Compares what the Contract would be with the confirmed one; empty where they are the same.
///
/// `before` is what counts where nothing was ever confirmed; `after` is `None`
/// where the Contract goes away.
///
/// # Errors
/// When the confirmed policy cannot be read.
pub(super) fn contract(
    env: &Env,
    workspace: &Workspace,
    subject: &BString,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<Vec<Effect>> {
    let confirmed = Confirmed::read(env, workspace)?;
    let before = match &confirmed {
        Some(confirmed) => PLACES
            .iter()
            .find_map(|place| confirmed.files.get(*place))
            .map(String::as_bytes),
        None => before,
    };
    if before == after {
        return Ok(Vec::new());
    }
    let effect = |class, what: &str| {
        Effect::new(EffectKind::Contract { class }, subject.clone()).because(what)
    };
    let before = before.map(Contract::parse).transpose();
    let after = after.map(Contract::parse).transpose();
    let (Ok(before), Ok(after)) = (before, after) else {
        return Ok(vec![effect(
            ContractClass::Relax,
            "the Contract cannot be read",
        )]);
    };
    Ok(contract::classify(before.as_ref(), after.as_ref())
        .iter()
        .map(|found| effect(found.class, &found.what))
        .collect())
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

/// Returns true for a change of the Contract, under its old name or its new one.
pub(super) fn is_contract(change: &PathChange) -> bool {
    PLACES.iter().any(|place| {
        change.path == *place || matches!(&change.op, ChangeOp::Rename { from } if from == place)
    })
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
