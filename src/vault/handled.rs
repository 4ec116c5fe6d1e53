//! When agents' tool calls ran and what they wrote, so that a rollback knows a
//! person's edit from an agent's.
//!
//! An agent's hooks note when a call that may write begins and ends; so does a
//! wrapped run, and a rollback itself. A file whose inode changed at another
//! time was changed by somebody else. Where a call names its files, only those
//! are its own, and where their bytes are known they decide.
//!
//! One line a note, appended; a line that does not read is passed over, and a
//! long file loses its older half. Only ever a reason to ask, never to overwrite.

use super::id::ContentId;
use super::layout::Vault;
use super::point::text;
use super::stamp::{file_clock, fine_clock};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::files::{self, Durability};
use crate::sys::lock::Lock;
use bstr::{BStr, BString};
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

const VERSION: u32 = 1;

/// A longer file is cut.
const MOST: u64 = 512 << 10;

/// The session under which our own writing stands.
const OWN: &str = "holdpoint";

/// Seconds and nanoseconds, by the clock that stamps files.
type Time = (i64, u32);

/// Which end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// It is about to run.
    Begin,
    /// It has run.
    End,
}

/// A file that a call writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    #[serde(with = "text")]
    path: BString,
    /// Its bytes' hash, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

impl Written {
    /// Names a file of the worktree, and its bytes where they are known.
    #[must_use]
    pub fn new(path: BString, bytes: Option<&[u8]>) -> Self {
        Self {
            path,
            id: bytes.map(|bytes| ContentId::of(bytes).hex()),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    version: u32,
    /// By the coarse clock: no change after the note is stamped earlier.
    at: Time,
    /// By the fine clock: no change before the note is stamped later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fine: Option<Time>,
    session: String,
    edge: Edge,
    /// The files that it writes; `None` where it may write any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<Vec<Written>>,
}

/// Notes an end of a call; `files` is `None` where it may write any.
///
/// # Errors
/// When the note cannot be written.
pub fn note(
    workspace: &Workspace,
    session: &str,
    edge: Edge,
    files: Option<Vec<Written>>,
) -> Result<()> {
    let path = place(workspace);
    let doing = || format!("cannot write {}", path.display());
    let mut line = serde_json::to_vec(&Line {
        version: VERSION,
        at: file_clock(),
        fine: Some(fine_clock()),
        session: session.to_owned(),
        edge,
        files,
    })
    .doing(ErrorKind::Internal, doing)?;
    line.push(b'\n');
    let open = || {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)
    };
    let mut file = match open() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            workspace.make_state()?;
            if let Some(dir) = path.parent() {
                files::make_private_dir(dir)?;
            }
            open()
        }
        other => other,
    }
    .doing(ErrorKind::Io, doing)?;
    file.write_all(&line).doing(ErrorKind::Io, doing)?;
    if file.metadata().is_ok_and(|meta| meta.len() > MOST) {
        cut(&path)?;
    }
    Ok(())
}

/// Notes an end of our own writing, where agents have been seen here.
pub(super) fn note_own(workspace: &Workspace, edge: Edge) -> Result<()> {
    if place(workspace).exists() {
        note(workspace, OWN, edge, None)?;
    }
    Ok(())
}

fn place(workspace: &Workspace) -> PathBuf {
    let name = format!("handled-{}.jsonl", Vault::key(workspace));
    workspace.state.join("sessions").join(name)
}

fn cut(path: &std::path::Path) -> Result<()> {
    let _alone = Lock::wait(&path.with_extension("lock"))?;
    let bytes = files::read_if_there(path)?.unwrap_or_default();
    if (bytes.len() as u64) <= MOST {
        return Ok(());
    }
    let half = bytes.split_at(bytes.len() / 2).1;
    let kept = half
        .iter()
        .position(|byte| *byte == b'\n')
        .and_then(|at| half.get(at + 1..))
        .unwrap_or_default();
    files::replace(path, kept, 0o600, Durability::Lazy)
}

/// When a call was over, by both clocks.
///
/// A kernel stamps a file by its coarse clock or by its fine one, as it likes:
/// a change between the two may belong to the call or come after it.
#[derive(Clone, Copy, Debug)]
struct End {
    coarse: Time,
    fine: Time,
}

impl End {
    fn of(line: &Line) -> Self {
        Self {
            coarse: line.at,
            fine: line.fine.unwrap_or(line.at).max(line.at),
        }
    }
}

/// One call, as far as it was seen.
#[derive(Debug)]
struct Call {
    session: String,
    begin: Time,
    /// `None` while nothing says that it is over.
    end: Option<End>,
    files: Option<Vec<Written>>,
}

impl Call {
    /// Returns true when it may have changed `path` at that time.
    fn covers(&self, path: &BStr, at: Time) -> bool {
        if at < self.begin || self.end.is_some_and(|end| at > end.fine) {
            return false;
        }
        let Some(files) = &self.files else {
            return true;
        };
        // What it was to write is known: other bytes are its own only where
        // they surely came before its end, as a formatter's do.
        let surely_before = self.end.is_some_and(|end| at < end.coarse);
        files
            .iter()
            .any(|file| file.path == path && (surely_before || file.id.is_none()))
    }
}

/// What agents were seen to do since a moment.
#[derive(Debug, Default)]
pub(super) struct Handled {
    calls: Vec<Call>,
}

impl Handled {
    /// Reads the notes of what went on after `since` (RFC 3339).
    pub(super) fn since(workspace: &Workspace, since: &str) -> Result<Self> {
        let Some(bytes) = files::read_if_there(&place(workspace))? else {
            return Ok(Self::default());
        };
        let since: jiff::Timestamp = since.parse().map_err(|error| {
            Error::new(ErrorKind::Damaged, "a safety point has no time").because(error)
        })?;
        let since = (
            since.as_second(),
            u32::try_from(since.subsec_nanosecond()).unwrap_or(0),
        );
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .filter(|line| line.version == VERSION);
        let mut calls = calls(lines);
        calls.retain(|call| call.end.is_none_or(|end| end.fine >= since));
        Ok(Self { calls })
    }

    /// Returns true when somebody else than an agent changed a file after an agent had begun to work.
    ///
    /// `changed` is when its inode last changed, `id` what it holds now.
    pub(super) fn is_a_persons(&self, path: &BStr, changed: Time, id: &ContentId) -> bool {
        let agents = self.calls.iter().filter(|call| call.session != OWN);
        let Some(first) = agents.map(|call| call.begin).min() else {
            return false;
        };
        let last = self
            .calls
            .iter()
            .flat_map(|call| call.files.iter().flatten())
            .filter(|file| file.path == path)
            .filter_map(|file| file.id.as_deref())
            .next_back();
        changed >= first
            && last != Some(&*id.hex())
            && !self.calls.iter().any(|call| call.covers(path, changed))
    }
}

/// Pairs the notes. A call ends with its session's next note; calls side by side end with the last.
fn calls(lines: impl Iterator<Item = Line>) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for line in lines {
        let last = calls
            .iter_mut()
            .rev()
            .find(|call| call.session == line.session);
        match (line.edge, last) {
            (Edge::End, Some(call)) => {
                call.end = Some(End::of(&line));
                match (&mut call.files, line.files) {
                    (Some(files), Some(more)) => files.extend(more),
                    (files, _) => *files = None,
                }
            }
            (edge, last) => {
                if let Some(call) = last
                    && call.end.is_none()
                {
                    call.end = Some(End::of(&line));
                }
                let end = (edge == Edge::End).then(|| End::of(&line));
                calls.push(Call {
                    session: line.session,
                    begin: line.at,
                    end,
                    files: line.files,
                });
            }
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    type Files<'a> = &'a [(&'a str, &'a [u8])];

    fn line(at: i64, edge: Edge, files: Option<Files<'_>>) -> Line {
        Line {
            version: VERSION,
            at: (at, 0),
            fine: None,
            session: "s".to_owned(),
            edge,
            files: files.map(|files| {
                files
                    .iter()
                    .map(|(path, bytes)| Written::new((*path).into(), Some(bytes)))
                    .collect()
            }),
        }
    }

    fn is_a_persons(lines: Vec<Line>, at: i64, bytes: &[u8]) -> bool {
        let handled = Handled {
            calls: calls(lines.into_iter()),
        };
        handled.is_a_persons("f".into(), (at, 0), &ContentId::of(bytes))
    }

    #[test]
    fn a_change_outside_all_calls_is_a_persons() {
        let any = || vec![line(10, Edge::Begin, None), line(20, Edge::End, None)];
        for (at, expected) in [
            (5, false),
            (10, false),
            (15, false),
            (20, false),
            (21, true),
        ] {
            assert_eq!(is_a_persons(any(), at, b"x"), expected, "{at}");
        }
        assert!(!is_a_persons(vec![line(10, Edge::Begin, None)], 99, b"x"));
        assert!(!is_a_persons(Vec::new(), 99, b"x"));
    }

    #[test]
    fn a_stamp_between_the_clocks_belongs_to_the_call_unless_its_bytes_are_known() {
        let ended = |files: Option<Files<'_>>| {
            let mut end = line(20, Edge::End, files);
            end.fine = Some((20, 400));
            let handled = Handled {
                calls: calls([line(10, Edge::Begin, files), end].into_iter()),
            };
            [(19, 0), (20, 200), (20, 500)]
                .map(|at| handled.is_a_persons("f".into(), at, &ContentId::of(b"other")))
        };
        assert_eq!(ended(None), [false, false, true]);
        assert_eq!(ended(Some(&[("f", b"agent")])), [false, true, true]);
    }

    #[test]
    fn known_bytes_decide() {
        let write = |path| vec![line(10, Edge::Begin, Some(&[(path, b"agent")]))];
        assert!(!is_a_persons(write("f"), 11, b"agent"));
        assert!(is_a_persons(write("f"), 30, b"person"));
        assert!(is_a_persons(write("g"), 12, b"person"));
    }

    #[test]
    fn calls_side_by_side_end_with_the_last() {
        let both = vec![
            line(10, Edge::Begin, None),
            line(11, Edge::Begin, None),
            line(20, Edge::End, None),
            line(30, Edge::End, None),
        ];
        assert!(!is_a_persons(both, 25, b"x"));
    }
}
