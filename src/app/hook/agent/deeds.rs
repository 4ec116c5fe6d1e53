//! Notes when a tool call that may write begins and ends, and what it writes.
//!
//! A rollback later tells a person's edits from the agent's by it. A note that
//! cannot be made is told and decides nothing.

use crate::agents::{Agent, Call, Intent, Step};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{out, paths};
use crate::vault::handled::{self, Edge, Written};
use bstr::BString;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A larger file is not hashed.
const LARGEST: u64 = 16 << 20;

/// Notes one end of a call.
pub(super) fn note(env: &Env, agent: Agent, call: &Call, edge: Edge) {
    let cwd = call.cwd.as_ref().map_or_else(
        || env.cwd().to_path_buf(),
        |cwd| env.cwd().join(OsStr::from_bytes(cwd)),
    );
    let Ok(workspace) = Workspace::find(env, &cwd) else {
        return;
    };
    let session = format!(
        "{}:{}",
        agent.name(),
        call.session.as_deref().unwrap_or_default()
    );
    let files = files(call, &workspace, &cwd, edge);
    if let Err(error) = handled::note(&workspace, &session, edge, files) {
        out::note(format!("holdpoint: {error}"));
    }
}

/// The files of the worktree that a call writes; `None` where it may write any.
fn files(call: &Call, workspace: &Workspace, cwd: &Path, edge: Edge) -> Option<Vec<Written>> {
    let Intent::Steps(steps) = &call.intent else {
        return None;
    };
    let mut files = Vec::new();
    for step in steps {
        let (path, content) = match step {
            Step::Run { .. }
            | Step::InteractiveShell { .. }
            | Step::Patch { moved: Some(_), .. }
            | Step::Move { .. } => return None,
            Step::Write { path, content } => (path, content.as_ref()),
            Step::Edit { path, .. } | Step::Patch { path, .. } | Step::Delete { path } => {
                (path, None)
            }
        };
        let place = paths::past_links(&paths::plain(&cwd.join(OsStr::from_bytes(path))));
        let Some(inner) = workspace.relative(&place) else {
            continue;
        };
        let inner = BString::from(inner);
        files.push(match (edge, content) {
            (Edge::Begin, content) => Written::new(inner, content.map(|bytes| bytes.as_slice())),
            (Edge::End, _) => Written::new(inner, read(&place).as_deref()),
        });
    }
    Some(files)
}

fn read(place: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(place).ok()?;
    (meta.is_file() && meta.len() <= LARGEST)
        .then(|| std::fs::read(place).ok())
        .flatten()
}
