//! Where it stands what decisions may name and do.

use super::Source;
use crate::decisions::{Known, json};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::prefs::{self, confirmed::Confirmed};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{files, out};
use std::path::Path;

/// What the caller knows: `--known`, else `.ccg/decisions.json` of the workspace, else nothing.
pub(super) fn known(env: &Env, workspace: Option<&Workspace>, source: &Source) -> Result<Known> {
    let known = match (&source.known, workspace) {
        (Some(path), _) => {
            let path = env.cwd().join(path);
            let bytes = files::read_if_there(&path)?.ok_or_else(|| {
                Error::new(
                    ErrorKind::Usage,
                    format!("cannot read {}: there is no such file", path.display()),
                )
            })?;
            read_known(&path, &bytes)?
        }
        (None, Some(workspace)) => settled(env, workspace)?,
        (None, None) => Known::default(),
    };
    Ok(with_sandbox(known, source))
}

/// What the workspace's own file says; what it allows counts as far as a person has confirmed it.
fn settled(env: &Env, workspace: &Workspace) -> Result<Known> {
    let path = workspace.main_root().join(prefs::DECISIONS);
    let present = match files::read_if_there(&path)? {
        Some(bytes) => read_known(&path, &bytes)?,
        None => Known::default(),
    };
    let Some(confirmed) = Confirmed::read(env, workspace)? else {
        return Ok(present);
    };
    let agreed = match confirmed.files.get(prefs::DECISIONS) {
        Some(text) => read_known(&path, text.as_bytes())?,
        None => Known::default(),
    };
    let counts = present.clone().under(agreed);
    if !counts.allows_like(&present) {
        out::note(format!(
            "holdpoint: {} allows what nobody has confirmed; that does not count until a person does: holdpoint prefs confirm",
            prefs::DECISIONS
        ));
    }
    Ok(counts)
}

fn read_known(path: &Path, bytes: &[u8]) -> Result<Known> {
    let read = json::read(bytes).map_err(|flaw| refused(path, &flaw))?;
    if let Some(flaw) = read.flaws.first() {
        return Err(refused(path, flaw));
    }
    serde_json::from_value(read.value.to_value()).doing(ErrorKind::Config, || {
        format!("cannot use {}", path.display())
    })
}

fn with_sandbox(mut known: Known, source: &Source) -> Known {
    known.sandbox |= source.sandboxed;
    known
}

fn refused(path: &Path, flaw: &json::Flaw) -> Error {
    Error::new(
        ErrorKind::Config,
        format!(
            "cannot use {}: {} (byte {}, at {:?})",
            path.display(),
            flaw.message,
            flaw.offset,
            flaw.pointer
        ),
    )
}
