//! Knows a workspace again whose `.git` is gone, damaged, or another repository's.
//!
//! What Holdpoint noted of its place tells whose it was: a repository of its own,
//! or a linked worktree of another.

use super::moved;
use super::note::Note;
use super::workspace::{
    Kind, Workspace, canonical, is_git_dir, key_of, linked_root, settled, state_dir,
};
use crate::error::Result;
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

impl Workspace {
    /// Finds a repository whose `.git` was deleted: it is still known by its place.
    pub(super) fn known(env: &Env, start: &Path) -> Result<Option<Self>> {
        for dir in canonical(start)?.ancestors() {
            let state = settled(env, dir)?;
            if let Some(note) = Note::read(&state)?.filter(|note| note.moved_to.is_none()) {
                if let Some(git_dir) = &note.git_dir {
                    return Self::linked(env, dir, git_dir);
                }
                return Ok(Some(Self {
                    root: dir.to_path_buf(),
                    kind: Kind::Plain,
                    git_dir: None,
                    common_dir: None,
                    state,
                }));
            }
        }
        Ok(None)
    }

    /// A workspace whose `.git` file names a git directory that is gone, where Holdpoint knows it.
    pub(super) fn without_git_dir(env: &Env, dir: &Path, dot_git: &Path) -> Result<Option<Self>> {
        let named = files::read(dot_git).ok().and_then(|bytes| {
            let target = bytes.strip_prefix(b"gitdir:")?;
            Some(dir.join(OsStr::from_bytes(target.trim_ascii())))
        });
        if let Some(git_dir) = named
            && let Some(linked) = Self::linked(env, dir, &git_dir)?
        {
            return Ok(Some(linked));
        }
        let state = settled(env, dir)?;
        let note = Note::read(&state)?;
        if let Some(git_dir) = note.as_ref().and_then(|note| note.git_dir.as_deref())
            && let Some(linked) = Self::linked(env, dir, git_dir)?
        {
            return Ok(Some(linked));
        }
        Ok(note.map(|_| Self {
            root: dir.to_path_buf(),
            kind: Kind::Plain,
            git_dir: None,
            common_dir: None,
            state,
        }))
    }

    /// A linked worktree with another repository at its `.git`: while its own one has it
    /// registered here, it is still that worktree, and its points are those that count.
    pub(super) fn displaced(env: &Env, dir: &Path, found: &Path) -> Result<Option<Self>> {
        let note = Note::read(&state_dir(env, dir)?)?;
        let Some(git_dir) = note.and_then(|note| note.git_dir) else {
            return Ok(None);
        };
        let is_same = fs::canonicalize(found).ok() == fs::canonicalize(&git_dir).ok();
        let is_here = linked_root(&git_dir).as_deref() == Some(dir);
        if is_same || !is_here {
            return Ok(None);
        }
        Self::linked(env, dir, &git_dir)
    }

    /// A linked worktree by its place and its own git directory, which may be gone.
    fn linked(env: &Env, root: &Path, git_dir: &Path) -> Result<Option<Self>> {
        let common = git_dir
            .parent()
            .filter(|dir| dir.file_name() == Some(OsStr::new("worktrees")))
            .and_then(Path::parent);
        let Some(mut common) = common.map(Path::to_path_buf) else {
            return Ok(None);
        };
        if !is_git_dir(&common) {
            // The main worktree may have been moved with it.
            let Some(now) = moved::now_at(&state_dir(env, key_of(&common))?)? else {
                return Self::bereft(env, root, git_dir, &common);
            };
            common = if common.ends_with(".git") {
                now.join(".git")
            } else {
                now
            };
        }
        if !is_git_dir(&common) {
            return Self::bereft(env, root, git_dir, &common);
        }
        let common = canonical(&common)?;
        let state = settled(env, key_of(&common))?;
        let name = git_dir.file_name().unwrap_or_default();
        Ok(Note::read(&state)?.map(|_| Self {
            root: root.to_path_buf(),
            kind: Kind::Linked,
            git_dir: Some(common.join("worktrees").join(name)),
            common_dir: Some(common),
            state,
        }))
    }

    /// A linked worktree whose repository was taken out of the directory where it was.
    ///
    /// Where that directory is gone too it may have been moved, and nobody knows where to.
    fn bereft(env: &Env, root: &Path, git_dir: &Path, common: &Path) -> Result<Option<Self>> {
        let key = key_of(common);
        if key == common || !key.is_dir() {
            return Ok(None);
        }
        let state = settled(env, key)?;
        let remains = common.is_dir();
        Ok(Note::read(&state)?.map(|_| Self {
            root: root.to_path_buf(),
            kind: Kind::Linked,
            git_dir: remains.then(|| git_dir.to_path_buf()),
            common_dir: remains.then(|| common.to_path_buf()),
            state,
        }))
    }

    /// Notes whose linked worktree this is, so that it is known again without its `.git` file.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn note_linked(&self, env: &Env) -> Result<()> {
        let (Kind::Linked, Some(git_dir)) = (self.kind, self.git_dir.as_deref()) else {
            return Ok(());
        };
        let note = Note::of_linked(self.main_root(), &self.root, git_dir);
        let state = state_dir(env, &self.root)?;
        if Note::read(&state)?.is_some_and(|known| known.says(&note)) {
            return Ok(());
        }
        note.write(&state, Durability::Lazy)
    }
}
