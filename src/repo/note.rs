//! The note in Holdpoint's directory for a repository: whose it is, and which directory on the disk that was.

use super::hooks::receipt::{optional_path_text, path_text};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::files::{self, Durability};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const VERSION: u32 = 1;

/// Which directory on the disk it is, whatever its name.
///
/// A rename within a file system keeps it, a copy is another one, and since the
/// moment of birth is part of it, so is whatever gets the same inode later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    system: u64,
    inode: u64,
    born: (u64, u32),
}

impl Identity {
    /// That of a directory; `None` where there is none or its file system notes no birth.
    pub(super) fn of(dir: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(dir).ok()?;
        let born = meta.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            system: rustix::fs::statvfs(dir).ok()?.f_fsid,
            inode: meta.ino(),
            born: (born.as_secs(), born.subsec_nanos()),
        })
    }

    /// A name for it, without what a restart may change.
    pub(super) fn name(&self) -> String {
        format!("{:x}-{:x}-{:x}", self.inode, self.born.0, self.born.1)
    }
}

/// Whose a directory of Holdpoint's state is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) version: u32,
    /// The top of the main worktree.
    #[serde(with = "path_text")]
    pub(super) root: PathBuf,
    /// Of a linked worktree: its own top.
    #[serde(
        default,
        with = "optional_path_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) worktree: Option<PathBuf>,
    /// Of a linked worktree: its own git directory.
    #[serde(
        default,
        with = "optional_path_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) git_dir: Option<PathBuf>,
    /// Which directory that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) identity: Option<Identity>,
    /// The state directories that began to take over what is here, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) heirs: Vec<String>,
    /// Where it went.
    #[serde(
        default,
        with = "optional_path_text",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) moved_to: Option<PathBuf>,
}

impl Note {
    fn blank() -> Self {
        Self {
            version: VERSION,
            root: PathBuf::new(),
            worktree: None,
            git_dir: None,
            identity: None,
            heirs: Vec::new(),
            moved_to: None,
        }
    }

    /// The note of a repository, or of a worktree that is a repository's own.
    pub(super) fn of(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            identity: Identity::of(root),
            ..Self::blank()
        }
    }

    /// The note of a linked worktree, so that it is known again without its `.git` file.
    pub(super) fn of_linked(root: &Path, worktree: &Path, git_dir: &Path) -> Self {
        Self {
            worktree: Some(worktree.to_path_buf()),
            git_dir: Some(git_dir.to_path_buf()),
            identity: Identity::of(worktree),
            ..Self::of(root)
        }
    }

    /// Returns true where it says the same.
    pub(super) fn says(&self, other: &Self) -> bool {
        self.root == other.root
            && self.worktree == other.worktree
            && self.git_dir == other.git_dir
            && self.identity == other.identity
            && self.moved_to == other.moved_to
    }

    /// The directory that it tells of.
    pub(super) fn place(&self) -> &Path {
        self.worktree.as_deref().unwrap_or(&self.root)
    }

    /// Reads the note of the state directory `state`; `None` where there is none.
    pub(super) fn read(state: &Path) -> Result<Option<Self>> {
        let path = path(state);
        let Some(bytes) = files::read_if_there(&path)? else {
            return Ok(None);
        };
        // A damaged note tells only that there is one; the next point writes it anew.
        let note = serde_json::from_slice(&bytes).unwrap_or_else(|_| Self::blank());
        if note.version > VERSION {
            let what = format!("cannot understand {}", path.display());
            return Err(Error::new(ErrorKind::Damaged, what)
                .because("it was written by a newer holdpoint")
                .hint("use that version"));
        }
        Ok(Some(note))
    }

    /// Writes it into the state directory `state`, which is made where it is missing.
    pub(super) fn write(&self, state: &Path, durability: Durability) -> Result<()> {
        if let Some(repos) = state.parent().filter(|_| !state.exists()) {
            files::make_private_dir(repos)?;
            files::scatter(repos);
        }
        files::make_private_dir(state)?;
        write_json(&path(state), self, durability)?;
        match &self.identity {
            Some(identity) => index(state, identity, durability),
            None => Ok(()),
        }
    }
}

/// Where the note lies.
pub(super) fn path(state: &Path) -> PathBuf {
    state.join("repo.json")
}

/// The state directory that was last noted for a directory on the disk; its name.
#[derive(Serialize, Deserialize)]
struct Known {
    version: u32,
    state: String,
}

/// Where it is noted which state belongs to a directory on the disk.
pub(super) fn known_dir(state: &Path) -> PathBuf {
    let home = state.parent().and_then(Path::parent).unwrap_or(state);
    home.join("known")
}

/// Reads which of the state directories beside `state` belongs to a directory on the disk.
pub(super) fn known(state: &Path, identity: &Identity) -> Result<Option<PathBuf>> {
    let path = known_dir(state).join(identity.name());
    let Some(bytes) = files::read_if_there(&path)? else {
        return Ok(None);
    };
    // A note that is damaged is written anew with the next state.
    let known = serde_json::from_slice::<Known>(&bytes).ok();
    let name = known.map(|known| known.state).filter(|name| {
        let plain = Path::new(name).file_name();
        plain.is_some_and(|plain| plain == name.as_str())
    });
    Ok(name.map(|name| state.with_file_name(name)))
}

fn index(state: &Path, identity: &Identity, durability: Durability) -> Result<()> {
    let Some(name) = state.file_name().and_then(|name| name.to_str()) else {
        return Ok(());
    };
    let dir = known_dir(state);
    files::make_private_dir(&dir)?;
    let known = Known {
        version: VERSION,
        state: name.to_owned(),
    };
    write_json(&dir.join(identity.name()), &known, durability)
}

/// Writes a value as a line of JSON.
pub(super) fn write_json(
    path: &Path,
    value: &impl Serialize,
    durability: Durability,
) -> Result<()> {
    let mut json = serde_json::to_vec(value).doing(ErrorKind::Internal, || {
        format!("cannot word {}", path.display())
    })?;
    json.push(b'\n');
    files::replace(path, &json, 0o600, durability)
}
