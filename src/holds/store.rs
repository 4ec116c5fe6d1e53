//! The files of holds: made, listed, found, and used exactly once.

use super::hold::{Draft, Hold, State};
use super::sign;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::journal::{self, LogEntry};
use crate::judge::Level;
use crate::prefs;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::lock::Lock;
use crate::sys::seal::Seal;
use crate::sys::{clock, files};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Days for which a settled hold is kept for people to look at.
const KEPT_DAYS: i64 = 30;

pub(super) fn dir(workspace: &Workspace) -> PathBuf {
    workspace.state.join("holds")
}

pub(super) fn lock(workspace: &Workspace) -> Result<Lock> {
    workspace.make_state()?;
    let dir = dir(workspace);
    if !dir.is_dir() {
        files::make_private_dir(&dir)?;
    }
    Lock::wait(&dir.join("lock"))
}

/// A hold's file: its id, and the beginning of the digest by which it is looked for.
fn path(workspace: &Workspace, hold: &Hold) -> PathBuf {
    let digest = hold.action_hash.get(..16).unwrap_or_default();
    dir(workspace).join(format!("{}.{digest}.json", hold.id))
}

/// Makes a hold; the same action that waits already keeps its hold.
///
/// # Errors
/// When it cannot be written.
pub fn make(env: &Env, workspace: &Workspace, draft: &Draft) -> Result<Hold> {
    let seconds = seconds(env, workspace, draft.verdict.level);
    let _lock = lock(workspace)?;
    let digest = draft.action.digest();
    let waiting = read_all(env, workspace, Some(&digest))?
        .into_iter()
        .find(|hold| {
            hold.state_now() == State::Pending
                && hold.level == draft.verdict.level
                && hold.payload == draft.payload
                && hold.safety_point == draft.safety_point
        });
    if let Some(hold) = waiting {
        return Ok(hold);
    }
    let mut hold = draft.clone().hold(workspace, seconds);
    hold.seal = hold.seal_with(&Seal::open(env)?, workspace);
    write(workspace, &hold)?;
    forget_old(workspace)?;
    Ok(hold)
}

/// Seconds until a hold of a level expires. A hold is made even where the
/// preferences cannot be read, since a gate that cannot decide blocks.
pub(super) fn seconds(env: &Env, workspace: &Workspace, level: Level) -> u64 {
    let confirm = prefs::load(env, workspace).unwrap_or_default().confirm;
    if level == Level::MustAsk {
        confirm.expires_level_3
    } else {
        confirm.expires
    }
}

pub(super) fn write(workspace: &Workspace, hold: &Hold) -> Result<()> {
    let json = serde_json::to_vec_pretty(hold)
        .doing(ErrorKind::Internal, || "cannot write the hold".to_owned())?;
    files::replace(
        &path(workspace, hold),
        &json,
        0o600,
        files::Durability::Synced,
    )
}

/// Lists the holds of this repository, oldest first; what was forged or damaged is left out.
///
/// # Errors
/// When they cannot be read.
pub fn list(env: &Env, workspace: &Workspace) -> Result<Vec<Hold>> {
    read_all(env, workspace, None)
}

/// Finds a hold by its id or the end or beginning of it that no other has.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is none, or several.
pub fn find(env: &Env, workspace: &Workspace, id: &str) -> Result<Hold> {
    let wanted = id.to_ascii_uppercase();
    let holds = list(env, workspace)?;
    if let Some(exact) = holds.iter().find(|hold| hold.id == wanted) {
        return Ok(exact.clone());
    }
    let mut like = holds.into_iter().filter(|hold| {
        wanted.len() >= 4 && (hold.id.ends_with(&wanted) || hold.id.starts_with(&wanted))
    });
    match (like.next(), like.next()) {
        (Some(hold), None) => Ok(hold),
        (Some(_), Some(_)) => Err(Error::new(
            ErrorKind::Usage,
            format!("several holds begin or end with {id}"),
        )
        .hint("give the whole id: holdpoint holds")),
        (None, _) => Err(
            Error::new(ErrorKind::Usage, format!("there is no hold {id} here"))
                .hint("see what waits: holdpoint holds"),
        ),
    }
}

fn read_all(env: &Env, workspace: &Workspace, digest: Option<&str>) -> Result<Vec<Hold>> {
    let paths = paths(workspace, digest)?;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let seal = Seal::open(env)?;
    let mut holds = Vec::new();
    for path in paths {
        match read(&path)? {
            Some(hold) if hold.is_sealed(&seal, workspace) => holds.push(hold),
            Some(hold) => report(env, workspace, &hold.id, "forged_hold", &path)?,
            None => {}
        }
    }
    holds.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(holds)
}

fn paths(workspace: &Workspace, digest: Option<&str>) -> Result<Vec<PathBuf>> {
    let dir = dir(workspace);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).doing(ErrorKind::Io, || format!("cannot read {}", dir.display()));
        }
    };
    let ending = match digest {
        Some(digest) => format!(".{}.json", digest.get(..16).unwrap_or_default()),
        None => ".json".to_owned(),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.doing(ErrorKind::Io, || format!("cannot read {}", dir.display()))?;
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.ends_with(&ending))
        {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a hold's file; `None` when it is gone meanwhile, or is no hold.
fn read(path: &Path) -> Result<Option<Hold>> {
    Ok(files::read_if_there(path)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Logs a refusal that concerns a hold.
fn report(env: &Env, workspace: &Workspace, id: &str, reason: &str, path: &Path) -> Result<()> {
    let reasoning = match reason {
        "forged_hold" => {
            "the hold is not as Holdpoint wrote it, or was written for another repository"
        }
        "forged_confirmation" => {
            "the confirmation was not given by Holdpoint to this hold in this repository"
        }
        "replayed_confirmation" => "the confirmation has been used before",
        _ => "the confirmation's signature is not one that the policy allows",
    };
    let aside = path.with_extension("refused");
    fs::rename(path, &aside).doing(ErrorKind::Io, || {
        format!("cannot set {} aside", path.display())
    })?;
    let entry = LogEntry::new("refuse")
        .reason(reason)
        .reasoning(format!("{reasoning}; it is set aside"))
        .context("file", aside.display().to_string())
        .outcome(journal::Outcome::Stopped)
        .hold(Some(id));
    journal::append(env, workspace, entry).map(|_| ())
}

/// Takes the confirmed hold for an action, once: it is used from then on.
///
/// What was forged, copied from elsewhere or used before is refused, set aside
/// and logged.
///
/// # Errors
/// When the holds cannot be read, or the use cannot be written down.
pub fn take_confirmed(env: &Env, workspace: &Workspace, digest: &str) -> Result<Option<Hold>> {
    if paths(workspace, Some(digest))?.is_empty() {
        return Ok(None);
    }
    let _lock = lock(workspace)?;
    let seal = Seal::open(env)?;
    for path in paths(workspace, Some(digest))? {
        let Some(mut hold) = read(&path)? else {
            continue;
        };
        if hold.state != State::Confirmed || hold.action_hash != digest {
            continue;
        }
        if let Some(reason) = objection(env, workspace, &seal, &hold)? {
            report(env, workspace, &hold.id, reason, &path)?;
            continue;
        }
        if hold.state_now() != State::Confirmed {
            continue;
        }
        if !spend(workspace, &hold)? {
            report(env, workspace, &hold.id, "replayed_confirmation", &path)?;
            continue;
        }
        hold.state = State::Used;
        write(workspace, &hold)?;
        return Ok(Some(hold));
    }
    Ok(None)
}

/// Marks a confirmed hold as used whose use a killed call had begun, spent or not.
///
/// The caller knows that it was begun. False where it is not confirmed.
///
/// # Errors
/// When the hold cannot be read or written.
pub fn take_again(env: &Env, workspace: &Workspace, hold: &Hold) -> Result<bool> {
    let _lock = lock(workspace)?;
    let seal = Seal::open(env)?;
    for path in paths(workspace, Some(&hold.action_hash))? {
        let Some(mut found) = read(&path)?.filter(|found| found.id == hold.id) else {
            continue;
        };
        if found.state_now() == State::Confirmed
            && objection(env, workspace, &seal, &found)?.is_none()
        {
            spend(workspace, &found)?;
            found.state = State::Used;
            write(workspace, &found)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// What speaks against a hold that says it is confirmed.
fn objection(
    env: &Env,
    workspace: &Workspace,
    seal: &Seal,
    hold: &Hold,
) -> Result<Option<&'static str>> {
    if !hold.is_sealed(seal, workspace) {
        return Ok(Some("forged_hold"));
    }
    if !hold.is_confirmed(seal, workspace) {
        return Ok(Some("forged_confirmation"));
    }
    let confirm = prefs::load(env, workspace)?.confirm;
    Ok((!sign::is_good(&confirm, workspace, hold)?).then_some("bad_signature"))
}

/// Writes down that a confirmation is used; false when it was before.
fn spend(workspace: &Workspace, hold: &Hold) -> Result<bool> {
    let Some(confirmation) = &hold.confirmation else {
        return Ok(false);
    };
    let spent = dir(workspace).join("spent");
    files::make_private_dir(&spent)?;
    let path = spent.join(&confirmation.nonce);
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .and_then(|file| file.sync_all())
        .and_then(|()| files::sync_parent(&path));
    match made {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => {
            Err(error).doing(ErrorKind::Io, || format!("cannot write {}", path.display()))
        }
    }
}

/// Removes holds and used numbers whose confirmation has long expired.
fn forget_old(workspace: &Workspace) -> Result<()> {
    let limit = clock::now()
        .checked_sub(jiff::SignedDuration::from_hours(24 * KEPT_DAYS))
        .unwrap_or(jiff::Timestamp::MIN);
    let old = |path: &Path| {
        fs::metadata(path)
            .and_then(|meta| meta.modified())
            .ok()
            .and_then(|at| jiff::Timestamp::try_from(at).ok())
            .is_some_and(|at| at < limit)
    };
    for path in paths(workspace, None)? {
        if old(&path)
            && read(&path)?
                .is_none_or(|hold| !matches!(hold.state_now(), State::Pending | State::Confirmed))
        {
            fs::remove_file(&path).doing(ErrorKind::Io, || {
                format!("cannot remove {}", path.display())
            })?;
        }
    }
    Ok(())
}
