//! Knows a workspace again that was renamed or moved.
//!
//! Holdpoint's state is found by the workspace's place, so that it is found when
//! `.git` is gone. A directory that was renamed is the same directory on the disk
//! still: what was kept for its old place is then taken over, once and loudly. A
//! copy is another directory, and so is whatever comes to the old place.

use super::hooks::receipt::path_text;
use super::note::{self, Identity, Note};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::files::{self, Durability};
use crate::sys::lock::Lock;
use crate::sys::seal::Seal;
use crate::sys::{clock, failpoint, out};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

/// What goes along: what is bound to the contents. Holds, sessions, runs and
/// installed hooks are bound to the place and stay.
const PARTS: &[&str] = &["vault", "log", "policy/confirmed.json"];

/// A workspace that was moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Where it was.
    #[serde(with = "path_text")]
    pub from: PathBuf,
    /// Where it is.
    #[serde(with = "path_text")]
    pub to: PathBuf,
    /// The name of the state directory that was its own.
    pub state: String,
    /// Shows that Holdpoint wrote this down.
    seal: String,
}

impl Move {
    fn new(seal: &Seal, from: &Path, to: &Path, state: &Path) -> Self {
        let mut moved = Self {
            from: from.to_path_buf(),
            to: to.to_path_buf(),
            state: name(state),
            seal: String::new(),
        };
        moved.seal = seal.of(PURPOSE, &moved.parts());
        moved
    }

    fn parts(&self) -> [&[u8]; 3] {
        [
            self.from.as_os_str().as_bytes(),
            self.to.as_os_str().as_bytes(),
            self.state.as_bytes(),
        ]
    }

    /// Returns true where Holdpoint wrote it.
    #[must_use]
    pub fn is_sealed(&self, seal: &Seal) -> bool {
        seal.fits(&self.seal, PURPOSE, &self.parts())
    }
}

const PURPOSE: &str = "moved";

/// The moves that a state directory has been through, oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Moves {
    version: u32,
    moves: Vec<Move>,
}

/// Reads the moves that a state directory has been through, oldest first.
///
/// # Errors
/// When the note cannot be read.
pub fn moves(state: &Path) -> Result<Vec<Move>> {
    let path = state.join("moves.json");
    let Some(bytes) = files::read_if_there(&path)? else {
        return Ok(Vec::new());
    };
    let doing = || format!("cannot understand {}", path.display());
    let moves: Moves = serde_json::from_slice(&bytes).doing(ErrorKind::Damaged, doing)?;
    if moves.version > VERSION {
        return Err(Error::new(ErrorKind::Damaged, doing())
            .because("it was written by a newer holdpoint")
            .hint("use that version"));
    }
    Ok(moves.moves)
}

fn note_moves(state: &Path, moves: Vec<Move>) -> Result<()> {
    let moves = Moves {
        version: VERSION,
        moves,
    };
    note::write_json(&state.join("moves.json"), &moves, Durability::Synced)
}

/// Makes sure that what was kept for the directory `root` under another name lies in `own`.
///
/// `home` is where Holdpoint's state is, with the key of its seals.
pub(super) fn settle(home: &Path, root: &Path, own: &Path) -> Result<()> {
    let Some((identity, _)) = stranger(root, own)? else {
        return Ok(());
    };
    let _alone = Lock::wait(&note::known_dir(own).join("lock"))?;
    let Some((_, old)) = stranger(root, own)? else {
        return Ok(());
    };
    let Some(before) = Note::read(&old)?.filter(|before| before.worktree.is_none()) else {
        return Ok(());
    };
    if Identity::of(&before.root) == Some(identity) {
        // The same directory under two names at once.
        return Ok(());
    }
    if before.identity != Some(identity) {
        out::note(format!(
            "holdpoint: this workspace was at {}, where another one is now and has its safety points; see them there: holdpoint points",
            before.root.display()
        ));
        return Note::of(root).write(own, Durability::Synced);
    }
    take_over(&Seal::in_home(home)?, &before, &old, root, own).map_err(|error| {
        error
            .hint(format!(
                "this workspace was at {}; its safety points are kept in {}",
                before.root.display(),
                old.display()
            ))
            .hint("move it back, or make that directory writable, and try again")
    })
}

/// The state directory other than `own` that is noted for the directory `root`.
fn stranger(root: &Path, own: &Path) -> Result<Option<(Identity, PathBuf)>> {
    let Some(identity) = Identity::of(root) else {
        return Ok(None);
    };
    let known = note::known(own, &identity)?.filter(|known| known != own);
    Ok(known.map(|known| (identity, known)))
}

fn take_over(seal: &Seal, before: &Note, old: &Path, root: &Path, own: &Path) -> Result<()> {
    // Without a note, or with this directory's, it is this very work, interrupted.
    let aside = Note::read(own)?
        .is_some_and(|note| note.identity != before.identity)
        .then(|| own.with_file_name(format!("{}.{}", name(own), clock::id())));
    if let Some(aside) = &aside {
        rename(own, aside)?;
    }
    // Whoever finds this half done knows where to look.
    let mut heirs = before.heirs.clone();
    heirs.retain(|heir| *heir != name(own));
    let earlier: Vec<PathBuf> = heirs.iter().map(|heir| own.with_file_name(heir)).collect();
    heirs.push(name(own));
    let begun = Note {
        heirs,
        ..before.clone()
    };
    begun.write(old, Durability::Synced)?;
    let sources = || earlier.iter().rev().map(PathBuf::as_path).chain([old]);
    files::make_private_dir(&own.join("policy"))?;
    note_moves(own, all_moves(seal, before, old, root, own, sources())?)?;
    for part in PARTS {
        let to = own.join(part);
        let from = sources()
            .map(|dir| dir.join(part))
            .find(|from| from.exists());
        if let Some(from) = from.filter(|_| !to.exists()) {
            rename(&from, &to)?;
        }
    }
    for dir in &earlier {
        drop_moves(dir)?;
    }
    let gone = Note {
        identity: None,
        heirs: Vec::new(),
        moved_to: Some(root.to_path_buf()),
        ..before.clone()
    };
    Note::of(root).write(own, Durability::Synced)?;
    gone.write(old, Durability::Synced)?;
    out::note(format!(
        "holdpoint: this workspace was at {}; its safety points, log and confirmed policy are used from here on",
        before.root.display()
    ));
    if let Some(aside) = aside {
        out::note(format!(
            "holdpoint: what was kept for another workspace that was here lies in {}",
            aside.display()
        ));
    }
    Ok(())
}

/// The moves up to the one to `root`: those noted last, by `own` itself or by whoever began before it.
fn all_moves<'a>(
    seal: &Seal,
    before: &Note,
    old: &Path,
    root: &Path,
    own: &'a Path,
    sources: impl Iterator<Item = &'a Path>,
) -> Result<Vec<Move>> {
    let mut all = Vec::new();
    for dir in std::iter::once(own).chain(sources) {
        all = moves(dir)?;
        if !all.is_empty() {
            break;
        }
    }
    let known = all.iter().any(|moved| moved.from == before.root);
    let from = match all.last() {
        Some(last) if known => last.to.clone(),
        _ => before.root.clone(),
    };
    if from != root {
        all.push(Move::new(seal, &from, root, old));
    }
    Ok(all)
}

fn drop_moves(state: &Path) -> Result<()> {
    let path = state.join("moves.json");
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .doing(ErrorKind::Io, || {
                format!("cannot remove {}", path.display())
            }),
        _ => Ok(()),
    }
}

/// Notes a linked worktree, and that it was moved where it was; `state` is its repository's.
pub(super) fn settle_linked(home: &Path, linked: &Note, own: &Path, state: &Path) -> Result<()> {
    let root = linked.place();
    if stranger(root, own)?.is_none() {
        return Ok(());
    }
    let _alone = Lock::wait(&note::known_dir(own).join("lock"))?;
    let Some((identity, old)) = stranger(root, own)? else {
        return Ok(());
    };
    let before = Note::read(&old)?.filter(|before| before.git_dir == linked.git_dir);
    let Some(before) = before.filter(|before| before.identity == Some(identity)) else {
        return Ok(());
    };
    if Identity::of(before.place()) == Some(identity) {
        return Ok(());
    }
    let mut all = moves(state)?;
    let seal = Seal::in_home(home)?;
    all.push(Move::new(&seal, before.place(), root, state));
    note_moves(state, all)?;
    linked.write(own, Durability::Synced)?;
    out::note(format!(
        "holdpoint: this worktree was at {}; its safety points are used from here on",
        before.place().display()
    ));
    Ok(())
}

/// Where the repository of the state directory `state` is now, where it was moved.
pub(super) fn now_at(state: &Path) -> Result<Option<PathBuf>> {
    Ok(Note::read(state)?.and_then(|note| note.moved_to))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    failpoint::reach();
    fs::rename(from, to)
        .and_then(|()| files::sync_parent(to))
        .doing(ErrorKind::Io, || {
            format!("cannot move {} to {}", from.display(), to.display())
        })
}

fn name(state: &Path) -> String {
    state
        .file_name()
        .unwrap_or(OsStr::new(""))
        .to_string_lossy()
        .into_owned()
}
