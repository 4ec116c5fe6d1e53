//! Writes lines: under the lock, chained, to the mirror first, synced when the lock is gone.

use super::{heal, synced};
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::files::Durability;
use crate::sys::lock::Lock;
use crate::sys::{clock, files};
use bstr::ByteSlice as _;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Most bytes of one line, its newline included (SPEC §6).
pub(super) const LINE: usize = 64 * 1024;

/// The three logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Log {
    /// `decision_log.jsonl`.
    Decisions,
    /// `timeout_log.jsonl`.
    Timeouts,
    /// `degradation_log.jsonl`.
    Degradations,
}

impl Log {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Decisions, Self::Timeouts, Self::Degradations];

    /// The file's name.
    #[must_use]
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Decisions => "decision_log.jsonl",
            Self::Timeouts => "timeout_log.jsonl",
            Self::Degradations => "degradation_log.jsonl",
        }
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The entry's id.
    pub id: String,
    /// What a person should hear about the log itself: it was altered, restored, could not be copied.
    pub notes: Vec<String>,
}

/// Where people read a log: `.ccg/` where that exists in the main worktree, else the mirror.
#[must_use]
pub fn lines_path(workspace: &Workspace, log: Log) -> PathBuf {
    copy_path(workspace, log).unwrap_or_else(|| mirror_path(workspace, log))
}

/// Where the mirror of a log lies, outside the workspace.
#[must_use]
pub fn mirror_path(workspace: &Workspace, log: Log) -> PathBuf {
    workspace.state.join("log").join(log.file_name())
}

/// The copy in `.ccg/`, where that is a directory (and not a link to one).
pub(super) fn copy_path(workspace: &Workspace, log: Log) -> Option<PathBuf> {
    let dir = workspace.main_root().join(".ccg");
    fs::symlink_metadata(&dir)
        .is_ok_and(|meta| meta.is_dir())
        .then(|| dir.join(log.file_name()))
}

/// Takes the lock that every writer of this repository's logs holds.
pub(super) fn lock(workspace: &Workspace) -> Result<Lock> {
    workspace.make_state()?;
    let dir = workspace.state.join("log");
    let path = dir.join("lock");
    if let Ok(lock) = Lock::wait(&path) {
        return Ok(lock);
    }
    files::make_private_dir(&dir)?;
    Lock::wait(&path)
}

/// Appends one line and returns when it is as durable as asked for.
pub(super) fn append(
    workspace: &Workspace,
    log: Log,
    body: Map<String, Value>,
    durability: Durability,
) -> Result<Written> {
    let lock = lock(workspace)?;
    let mirror_path = mirror_path(workspace, log);
    let mirror = open(&mirror_path, 0o600)?;
    let mut notes = Vec::new();
    let copy = match copy_path(workspace, log) {
        Some(path) => match heal::copy(workspace, &mirror, &path, heal::Care::Tail, &mut notes) {
            Ok(file) => Some((path, file)),
            Err(error) => {
                notes.push(error.to_string());
                None
            }
        },
        None => None,
    };
    let mut last = last_line(&mirror)?;
    if last.is_none() {
        heal::torn(&mirror, &mirror_path)?;
        last = last_line(&mirror)?;
    }
    let doing = || format!("cannot write {}", mirror_path.display());
    let mut text = Vec::new();
    let mut prev = last.map_or_else(String::new, |line| hex(&line));
    for note in &notes {
        let alarm = Map::from_iter([
            ("decision".to_owned(), "log_altered".into()),
            ("reason".to_owned(), "log_altered".into()),
            ("reasoning".to_owned(), note.as_str().into()),
        ]);
        let (_, line) = chained(alarm, &prev);
        prev = hex(line.trim_end_with(|c| c == '\n'));
        text.extend(line);
    }
    let (id, line) = chained(body, &prev);
    text.extend(line);
    (&mirror).write_all(&text).doing(ErrorKind::Io, doing)?;
    if let Some((path, mut file)) = copy
        && let Err(error) = file.write_all(&text)
    {
        notes.push(format!("cannot write {}: {error}", path.display()));
    }
    drop(lock);
    if durability != Durability::Lazy {
        synced::wait(&mirror, &mirror_path).doing(ErrorKind::Io, doing)?;
    }
    Ok(Written { id, notes })
}

/// Makes a line: head, chain, body; returns the entry's id with it.
fn chained(mut body: Map<String, Value>, prev: &str) -> (String, Vec<u8>) {
    let id = clock::id();
    let at = clock::rfc3339(clock::now());
    let head = format!(r#"{{"timestamp":"{at}","id":"{id}","prev":"{prev}""#);
    // `,"hash":"…"` and the newline come on top.
    let room = LINE - head.len() - 76;
    let mut rest = serde_json::to_vec(&body).unwrap_or_default();
    let mut keep = 64;
    while rest.len() > room {
        shorten(&mut body, keep);
        rest = serde_json::to_vec(&body).unwrap_or_default();
        if keep == 0 {
            break;
        }
        keep /= 2;
    }
    let mut bare = head.clone().into_bytes();
    match rest.strip_prefix(b"{") {
        Some(members) if members != b"}" => {
            bare.push(b',');
            bare.extend_from_slice(members);
        }
        _ => bare.push(b'}'),
    }
    let hash = hex(&bare);
    let mut line = Vec::with_capacity(bare.len() + 76);
    line.extend_from_slice(head.as_bytes());
    line.extend_from_slice(format!(r#","hash":"{hash}""#).as_bytes());
    line.extend_from_slice(&bare[head.len()..]);
    line.push(b'\n');
    (id, line)
}

/// Cuts lists to `keep` items with a count of the rest, and texts to 64 × `keep` bytes.
fn shorten(body: &mut Map<String, Value>, keep: usize) {
    for (_, value) in body.iter_mut() {
        shorten_value(value, keep);
    }
}

fn shorten_value(value: &mut Value, keep: usize) {
    match value {
        Value::String(text) if text.len() > 64 * keep + 64 => {
            let end = text.floor_char_boundary(64 * keep);
            let cut = text.len() - end;
            text.truncate(end);
            let _ = write!(text, "… ({cut} bytes more)");
        }
        Value::Array(items) => {
            let more = items.len().saturating_sub(keep.max(1));
            items.truncate(keep.max(1));
            for item in items.iter_mut() {
                shorten_value(item, keep);
            }
            if more > 0 {
                items.push(format!("… {more} more").into());
            }
        }
        Value::Object(members) => {
            let more = members.len().saturating_sub(keep.max(8));
            if more > 0 {
                let kept = std::mem::take(members).into_iter().take(keep.max(8));
                members.extend(kept);
                members.insert("…".to_owned(), format!("{more} more").into());
            }
            shorten(members, keep);
        }
        _ => {}
    }
}

/// The last whole line without its newline; `None` for an empty file.
fn last_line(file: &File) -> Result<Option<Vec<u8>>> {
    let doing = || "cannot read the log's last line".to_owned();
    let end = file.metadata().doing(ErrorKind::Io, doing)?.len();
    let mut size = 4096;
    loop {
        let start = end.saturating_sub(size);
        let tail = read_range(file, start, end).doing(ErrorKind::Io, doing)?;
        let Some(body) = tail.strip_suffix(b"\n") else {
            return Ok(None);
        };
        match body.rfind_byte(b'\n') {
            Some(newline) => return Ok(Some(body[newline + 1..].to_vec())),
            None if start == 0 => return Ok(Some(body.to_vec())),
            None => size *= 4,
        }
    }
}

pub(super) fn read_range(file: &File, start: u64, end: u64) -> std::io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(start)).map_err(std::io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

pub(super) fn open(path: &Path, mode: u32) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(mode)
        // Whoever swaps the log for a link does not make us write elsewhere.
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
        .open(path)
        .doing(ErrorKind::Io, || format!("cannot open {}", path.display()))
}

/// Lower-case hex SHA-256.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
