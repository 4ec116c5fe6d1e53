//! Which files have bytes that git does not hold: modified, staged, untracked, ignored.
//!
//! Tracked files are compared with the index by `lstat`, on several threads where
//! there are many, and by content only where the numbers differ. The index is
//! never written, not even refreshed. A file that a filter of git's would convert
//! may count as modified when its numbers changed: that errs on the careful side. What git ignores is asked of libgit2 for single paths, and of
//! git itself for lists.

use super::{Git, Kind, Workspace};
use crate::error::{Context as _, ErrorKind, Result};
use crate::judge::PathChange;
use crate::sys::beside::beside;
use crate::sys::files;
use bstr::{BStr, BString, ByteSlice as _};
use gix_index::entry::{Flags, Mode};
use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::Errno;
use sha1::{Digest as _, Sha1};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Entries from which a second thread pays.
const MANY: usize = 1500;

/// Threads beside the first, at most.
const MOST: usize = 3;

/// Entries that a thread takes at a time.
const PART: usize = 64;

/// Largest file, in bytes, whose content is compared; a larger one with other numbers counts as modified.
const LARGEST: u64 = 64 << 20;

/// The index of a worktree, read once.
pub struct Tracked {
    state: gix_index::State,
    root: PathBuf,
    written: (i64, i64),
    converts: bool,
}

impl Tracked {
    /// Reads the index; `None` where there is none or it cannot be read in this process.
    #[must_use]
    pub fn read(workspace: &Workspace) -> Option<Self> {
        if matches!(workspace.kind, Kind::Bare | Kind::Plain) {
            return None;
        }
        let path = workspace.git_dir.as_ref()?.join("index");
        let meta = fs::metadata(&path).ok()?;
        let hash = object_hash(workspace);
        let file = gix_index::File::at(
            &path,
            hash,
            true,
            gix_index::decode::Options {
                thread_limit: Some(1),
                ..Default::default()
            },
        )
        .ok()?;
        Some(Self {
            state: file.into(),
            root: workspace.root.clone(),
            written: (meta.mtime(), meta.mtime_nsec()),
            converts: converts(workspace),
        })
    }

    /// What the index changes against `HEAD`, sorted by path.
    ///
    /// # Errors
    /// When neither we nor git can tell.
    pub fn staged(&self, workspace: &Workspace) -> Result<Vec<PathChange>> {
        super::staged::staged_in(workspace, &self.state)
    }

    /// Returns true where nothing is tracked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.entries().is_empty()
    }

    /// Returns true for a tracked file.
    #[must_use]
    pub fn holds(&self, path: &BStr) -> bool {
        self.state.entry_by_path(path).is_some()
    }

    /// Returns true where something below a directory is tracked; the empty path is the top.
    #[must_use]
    pub fn holds_below(&self, dir: &BStr) -> bool {
        !self.below(dir).is_empty()
    }

    /// The submodules, with the commit of each that the index names, as hex.
    #[must_use]
    pub fn submodules(&self) -> Vec<(BString, String)> {
        self.state
            .entries()
            .iter()
            .filter(|entry| entry.mode == Mode::COMMIT)
            .map(|entry| (entry.path(&self.state).to_owned(), entry.id.to_string()))
            .collect()
    }

    /// How many files below a directory are tracked.
    #[must_use]
    pub fn count_below(&self, dir: &BStr) -> usize {
        self.below(dir).len()
    }

    fn below(&self, dir: &BStr) -> &[gix_index::Entry] {
        let entries = self.state.entries();
        if dir.is_empty() {
            return entries;
        }
        let mut prefix = BString::from(dir);
        if !prefix.ends_with(b"/") {
            prefix.push(b'/');
        }
        let start =
            entries.partition_point(|entry| entry.path(&self.state).as_bytes() < prefix.as_slice());
        let rest = entries.get(start..).unwrap_or_default();
        let count = rest.partition_point(|entry| entry.path(&self.state).starts_with(&prefix));
        rest.get(..count).unwrap_or_default()
    }

    /// The tracked paths that a shell-like pattern matches.
    #[must_use]
    pub fn matching(&self, pattern: &[u8], most: usize) -> Vec<BString> {
        self.state
            .entries()
            .iter()
            .map(|entry| entry.path(&self.state))
            .filter(|path| crate::shell::matches(pattern, path))
            .take(most)
            .map(BStr::to_owned)
            .collect()
    }

    /// Returns true where a tracked file's bytes on disk are not those of the index.
    #[must_use]
    pub fn is_modified(&self, path: &BStr) -> bool {
        self.state.entry_by_path(path).is_none_or(|entry| {
            self.differs(entry, &mut Eye::new(&self.root)) == Some(Difference::Other)
        })
    }

    /// The tracked files below `dir` whose bytes on disk are in no index, at most `most` of them.
    #[must_use]
    pub fn modified_below(&self, dir: &BStr, most: usize) -> Vec<BString> {
        let entries = self.below(dir);
        let next = AtomicUsize::new(0);
        let look = || self.modified_of(entries, &next, most);
        let others = match entries.len() {
            0..MANY => 0,
            _ => std::thread::available_parallelism().map_or(0, |all| (all.get() - 1).min(MOST)),
        };
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (0..others).map(|_| beside(scope, look)).collect();
            let mut found = look();
            for other in others {
                match other.join() {
                    Ok(other) => found.extend(other),
                    // What that thread had taken is looked at by nobody: it may all be changed.
                    Err(_) => found.extend(entries.first().map(|entry| self.name(entry))),
                }
            }
            found
        });
        found.sort();
        found.truncate(most);
        found
    }

    /// Looks at one part of the entries after the other until none is left, or enough is found.
    fn modified_of(
        &self,
        entries: &[gix_index::Entry],
        next: &AtomicUsize,
        most: usize,
    ) -> Vec<BString> {
        let mut eye = Eye::new(&self.root);
        let mut found = Vec::new();
        while found.len() < most {
            let at = next.fetch_add(PART, Ordering::Relaxed);
            let Some(rest) = entries.get(at..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let part = rest.get(..PART).unwrap_or(rest);
            found.extend(
                part.iter()
                    .filter(|entry| self.differs(entry, &mut eye) == Some(Difference::Other))
                    .map(|entry| self.name(entry)),
            );
        }
        found
    }

    fn name(&self, entry: &gix_index::Entry) -> BString {
        entry.path(&self.state).to_owned()
    }

    /// How the file on disk differs; `None` where it does not.
    fn differs(&self, entry: &gix_index::Entry, eye: &mut Eye<'_>) -> Option<Difference> {
        // A sparse directory has no files; a submodule's content is its own repository's.
        if entry.mode == Mode::DIR || entry.mode == Mode::COMMIT {
            return None;
        }
        let name = entry.path(&self.state);
        let found = match eye.stat(name) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR) => return Some(Difference::Gone),
            // What cannot be looked at may be anything.
            Err(_) => return Some(Difference::Other),
        };
        if entry.flags.contains(Flags::INTENT_TO_ADD) {
            return Some(Difference::Other);
        }
        let link = entry.mode == Mode::SYMLINK;
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Directory || (kind == FileType::Symlink) != link {
            return Some(Difference::Other);
        }
        if self.same_numbers(entry, &found) {
            return None;
        }
        if u64::try_from(found.st_size).unwrap_or(u64::MAX) > LARGEST {
            return Some(Difference::Other);
        }
        let path = self.root.join(std::ffi::OsStr::from_bytes(name));
        let bytes = if link {
            fs::read_link(&path).map(|target| target.as_os_str().as_bytes().to_vec())
        } else {
            files::read(&path)
        };
        let id = entry.id.as_slice();
        match bytes {
            Ok(bytes) if is_blob(&bytes, id) => None,
            Ok(bytes) if !link && self.converts && is_blob(&bytes.replace("\r\n", "\n"), id) => {
                None
            }
            _ => Some(Difference::Other),
        }
    }

    fn same_numbers(&self, entry: &gix_index::Entry, found: &Stat) -> bool {
        let stat = &entry.stat;
        let time = (i64::from(stat.mtime.secs), i64::from(stat.mtime.nsecs));
        let now = (
            found.st_mtime,
            i64::try_from(found.st_mtime_nsec).unwrap_or(i64::MAX),
        );
        // git's racy rule: an entry as young as the index proves nothing.
        let racy = time >= self.written;
        !racy
            && u64::try_from(found.st_size)
                .is_ok_and(|size| size & 0xffff_ffff == u64::from(stat.size))
            && now == time
            && found.st_ino & 0xffff_ffff == u64::from(stat.ino)
    }
}

/// Looks at many files of one tree, one directory after the other.
///
/// A name below an open directory is found in two thirds of the time that the
/// whole path takes, and a hard reset of a large tree is a question of thousands.
struct Eye<'r> {
    root: &'r Path,
    dir: Option<(BString, rustix::fd::OwnedFd)>,
}

impl<'r> Eye<'r> {
    fn new(root: &'r Path) -> Self {
        Self { root, dir: None }
    }

    /// What `lstat` says of a path relative to the top.
    fn stat(&mut self, path: &BStr) -> rustix::io::Result<Stat> {
        let (dir, name) = match path.rsplit_once_str("/") {
            Some((dir, name)) => (dir, name),
            None => (&b""[..], path.as_bytes()),
        };
        let held = match self.dir.take() {
            Some((held, opened)) if held == dir => (held, opened),
            _ => {
                let full = self.root.join(std::ffi::OsStr::from_bytes(dir));
                let opened = rustix::fs::open(
                    &full,
                    OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                    rustix::fs::Mode::empty(),
                )?;
                (dir.into(), opened)
            }
        };
        let found = rustix::fs::statat(&held.1, name, AtFlags::SYMLINK_NOFOLLOW);
        self.dir = Some(held);
        found
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// The file is not there: nothing on disk to lose.
    Gone,
    /// Other bytes, another type.
    Other,
}

/// Whether git may convert line ends here: then they are no change of their own.
fn converts(workspace: &Workspace) -> bool {
    let common = workspace.common_dir.as_deref();
    workspace.root.join(".gitattributes").exists()
        || common.is_some_and(|dir| dir.join("info/attributes").exists())
        || common
            .and_then(|dir| files::read(dir.join("config")).ok())
            .is_some_and(|text| text.to_ascii_lowercase().contains_str("autocrlf"))
}

/// Returns true where a file's bytes are those of a blob.
pub(super) fn is_blob(bytes: &[u8], id: &[u8]) -> bool {
    let header = format!("blob {}\0", bytes.len());
    if id.len() == 20 {
        let mut hash = Sha1::new();
        hash.update(header.as_bytes());
        hash.update(bytes);
        hash.finalize().as_slice() == id
    } else {
        let mut hash = sha2::Sha256::new();
        hash.update(header.as_bytes());
        hash.update(bytes);
        hash.finalize().as_slice() == id
    }
}

fn object_hash(workspace: &Workspace) -> gix_hash::Kind {
    let config = workspace
        .common_dir
        .as_deref()
        .and_then(|dir| files::read(dir.join("config")).ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let sha256 = config
        .lines()
        .any(|line| line.contains_str("objectformat") && line.contains_str("sha256"));
    if sha256 {
        gix_hash::Kind::Sha256
    } else {
        gix_hash::Kind::Sha1
    }
}

/// Which untracked files to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Those that are not ignored.
    Untracked,
    /// Ignored ones only.
    Ignored,
    /// Both.
    All,
}

/// Lists untracked files as git sees them, whole directories as one entry with a slash.
///
/// # Errors
/// When git cannot tell.
pub fn others(workspace: &Workspace, which: Others, paths: &[BString]) -> Result<Vec<BString>> {
    let mut git = Git::at(workspace).args(["ls-files", "-z", "--others", "--directory"]);
    git = match which {
        Others::Untracked => git.args(["--exclude-standard", "--no-empty-directory"]),
        Others::Ignored => git.args(["--exclude-standard", "--ignored"]),
        Others::All => git,
    };
    git = git.arg("--");
    for path in paths {
        git = git.arg(std::ffi::OsStr::from_bytes(path));
    }
    Ok(git
        .read()?
        .split_str("\0")
        .filter(|path| !path.is_empty())
        .map(BString::from)
        .collect())
}

/// Returns true where git ignores a path relative to the top of the worktree.
///
/// # Errors
/// When neither libgit2 nor git can tell.
pub fn is_ignored(workspace: &Workspace, path: &BStr, directory: bool) -> Result<bool> {
    let mut asked = path.to_owned();
    if directory && !asked.ends_with(b"/") {
        asked.push(b'/');
    }
    let plain = workspace
        .common_dir
        .as_deref()
        .is_some_and(super::staged::is_plain_format);
    if plain {
        let answer = git2::Repository::open(&workspace.root).and_then(|repository| {
            repository.is_path_ignored(Path::new(std::ffi::OsStr::from_bytes(&asked)))
        });
        if let Ok(answer) = answer {
            return Ok(answer);
        }
    }
    let output = Git::at(workspace)
        .args(["check-ignore", "-q", "--no-index", "--"])
        .arg(std::ffi::OsStr::from_bytes(&asked))
        .output()?;
    match output.status {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(std::io::Error::other(
            output.stderr.to_str_lossy().trim().to_owned(),
        ))
        .doing(ErrorKind::Repository, || {
            format!("cannot tell whether git ignores {path}")
        }),
    }
}
