//! What a person agreed to for a while: `session relax`, and `confirm --for-session`.
//!
//! A session is this repository until the time a person gave; the record is
//! sealed, so that nobody but a confirmed person prolongs it.

use crate::contract::PathPattern;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::judge::RuleId;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::sys::seal::Seal;
use crate::sys::{clock, files};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

const VERSION: u32 = 1;
const PURPOSE: &str = "session";

/// What is agreed for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Level 2 and 1 are lowered until then.
    pub relaxed_until: Option<Timestamp>,
    /// Rules that need no confirmation until then.
    pub grants: Vec<Grant>,
    /// Paths that a person asked to be changed though the Contract leaves them out.
    #[serde(default)]
    pub instructions: Vec<Instruction>,
}

/// One rule that needs no confirmation for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Which rule.
    pub rule: RuleId,
    /// Until when.
    pub until: Timestamp,
    /// The hold by which it was given.
    pub hold: String,
}

/// Paths that may change for a while though the Contract leaves them out: a person asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Paths and globs with gitignore semantics, relative to the top of the worktree.
    pub paths: Vec<String>,
    /// Until when.
    pub until: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    session: Session,
    seal: String,
}

impl Session {
    /// Returns true while a person's "no need to ask" holds.
    #[must_use]
    pub fn is_relaxed(&self) -> bool {
        self.relaxed_until.is_some_and(|until| until > clock::now())
    }

    /// The rules that need no confirmation now.
    #[must_use]
    pub fn granted(&self) -> Vec<RuleId> {
        let now = clock::now();
        self.grants
            .iter()
            .filter(|grant| grant.until > now)
            .map(|grant| grant.rule)
            .collect()
    }

    /// The paths that a person asked to be changed, now.
    ///
    /// # Errors
    /// When one of them is no path pattern.
    pub fn instructed(&self) -> Result<Vec<PathPattern>> {
        let now = clock::now();
        self.instructions
            .iter()
            .filter(|instruction| instruction.until > now)
            .flat_map(|instruction| &instruction.paths)
            .map(|path| {
                PathPattern::parse(path, 0)
                    .map_err(|fault| Error::new(ErrorKind::Usage, fault.what).hint(fault.accepted))
            })
            .collect()
    }
}

/// Reads what is agreed; nothing where nobody agreed to anything.
///
/// # Errors
/// When the record is damaged or was not written by Holdpoint here.
pub fn read(env: &Env, workspace: &Workspace) -> Result<Session> {
    let path = path(workspace);
    let Some(bytes) = files::read_if_there(&path)? else {
        return Ok(Session::default());
    };
    let damaged = || {
        Error::new(
            ErrorKind::Damaged,
            format!(
                "{} is damaged, or was changed by something else than Holdpoint",
                path.display()
            ),
        )
        .hint("go back to the strict session: holdpoint session strict")
    };
    let record: Record = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    let body = serde_json::to_vec(&record.session).map_err(|_| damaged())?;
    let root = workspace.main_root().as_os_str().as_bytes();
    if record.version != VERSION || !Seal::open(env)?.fits(&record.seal, PURPOSE, &[root, &body]) {
        return Err(damaged());
    }
    Ok(record.session)
}

/// Changes what is agreed. The caller has seen to it that a person agrees.
///
/// # Errors
/// When it cannot be written.
pub fn change(
    env: &Env,
    workspace: &Workspace,
    edit: impl FnOnce(&mut Session),
) -> Result<Session> {
    workspace.make_state()?;
    let path = path(workspace);
    if let Some(dir) = path.parent() {
        files::make_private_dir(dir)?;
    }
    let _lock = Lock::wait(&path.with_extension("lock"))?;
    let mut session = read(env, workspace).unwrap_or_default();
    let now = clock::now();
    session.grants.retain(|grant| grant.until > now);
    session.instructions.retain(|given| given.until > now);
    edit(&mut session);
    let doing = || "cannot write the session".to_owned();
    let body = serde_json::to_vec(&session).doing(ErrorKind::Internal, doing)?;
    let root = workspace.main_root().as_os_str().as_bytes();
    let record = Record {
        version: VERSION,
        seal: Seal::open(env)?.of(PURPOSE, &[root, &body]),
        session: session.clone(),
    };
    let json = serde_json::to_vec(&record).doing(ErrorKind::Internal, doing)?;
    files::replace(&path, &json, 0o600, files::Durability::Synced)?;
    Ok(session)
}

fn path(workspace: &Workspace) -> PathBuf {
    workspace.state.join("policy").join("session.json")
}
