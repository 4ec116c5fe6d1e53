//! `pre-rebase`: the one moment at which refusing a rebase costs nothing.
//!
//! Later refusals leave it half-way, and the changes only in the autostash.

use super::scene::Scene;
use crate::assess::refs::{self, Moved};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::judge::{RefChange, RefUpdate, Surface};
use crate::repo::Git;
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::fate::{self, Fate};
use crate::repo::hooks::transaction;
use bstr::{BString, ByteSlice as _};
use std::ffi::{OsStr, OsString};

/// The lasting note that the rebase of a branch from this commit was judged.
pub(super) fn judged(old: &str) -> String {
    format!("rebase-{old}")
}

/// Judges a rebase by the commits that it replaces.
///
/// # Errors
/// When it cannot be judged; git then does not rebase.
pub(super) fn judge(args: &[OsString], caller: Option<Caller>) -> Result<ExitStatus> {
    let scene = Scene::look(caller)?;
    if scene.would_show() {
        return Ok(ExitStatus::Passed);
    }
    let workspace = &scene.workspace;
    let resolve = |name: &OsStr| -> Result<Option<String>> {
        let answer = Git::at(workspace)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(name)
            .output()?;
        let oid = answer.stdout.trim();
        Ok((answer.status == Some(0) && !oid.is_empty())
            .then(|| String::from_utf8_lossy(oid).into_owned()))
    };
    let upstream = match args.first() {
        Some(name) => resolve(name)?,
        None => None,
    };
    let named = args.get(1);
    let old = match named {
        Some(branch) => resolve(branch)?,
        None => transaction::current(workspace, "HEAD".into())?,
    };
    let Some(old) = old else {
        return Ok(ExitStatus::Passed);
    };
    let branch = match named {
        Some(branch) => Some(BString::from(format!(
            "refs/heads/{}",
            branch.to_string_lossy()
        ))),
        None => transaction::branch(workspace)?,
    };
    let moving: Vec<BString> = branch.iter().cloned().chain(["HEAD".into()]).collect();
    let stays = !rewrites_in_place(scene.caller.as_ref())
        && match &upstream {
            Some(upstream) => fate::is_ancestor(workspace, upstream, &old)?,
            None => false,
        };
    let (lost, more) = if stays {
        (Vec::new(), false)
    } else {
        fate::unreached(workspace, &old, upstream.as_deref(), &moving)?
    };
    if lost.is_empty() {
        scene.marks.set_lasting(&judged(&old))?;
        return Ok(ExitStatus::Passed);
    }
    let moves = [Moved {
        update: RefUpdate {
            name: branch.unwrap_or_else(|| "HEAD".into()),
            change: RefChange::Rewrite,
            old: old.clone(),
            new: format!("rebased on {}", upstream.unwrap_or_default()),
        },
        fate: Fate {
            change: RefChange::Rewrite,
            lost,
            more,
            tag_lost: false,
        },
    }];
    let facts = refs::facts(&moves, Surface::GitHook, scene.actor.clone());
    let status = scene.decide(&refs::action(&moves), facts)?;
    if status == ExitStatus::Passed {
        scene.marks.set_lasting(&judged(&old))?;
    }
    Ok(status)
}

/// Returns true where commits are replaced though they already lie on their base.
fn rewrites_in_place(caller: Option<&Caller>) -> bool {
    caller.is_none_or(|caller| {
        caller.has(Some('i'), "interactive")
            || caller.has(None, "onto")
            || caller.has(None, "root")
            || caller.has(Some('f'), "force-rebase")
            || caller.has(None, "no-ff")
            || caller.has(Some('x'), "exec")
            || caller.has(Some('r'), "rebase-merges")
            || caller.has(Some('S'), "gpg-sign")
            || caller.has(None, "autosquash")
            || caller.has(None, "signoff")
            || caller.has(None, "reset-author-date")
            || caller.has(None, "ignore-date")
            || caller.has(None, "committer-date-is-author-date")
    })
}
