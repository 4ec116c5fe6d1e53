//! What a rollback would do, from what is there now and what the point has. Pure.
//!
//! Nothing that no point holds is ever a step: ignored output stays, sockets and
//! devices stay, and where such a thing is in the way the path is left and named.

use crate::sys::out;
use crate::vault::ContentId;
use crate::vault::diff::Difference;
use crate::vault::tree::{Kind, Row, Why};
use crate::vault::walk::Side;
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeMap;
use std::fmt;

/// One thing to do to one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub(in crate::vault) side: Side,
    /// The path, relative to the worktree or, for git's files, to the git directory.
    pub path: BString,
    /// What is there now; `None` where nothing is.
    pub now: Option<Row>,
    /// What is done.
    pub action: Deed,
}

/// What is done to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The file, link or pipe goes; a point holds it.
    Remove,
    /// The directory goes, if it is empty by then.
    RemoveDir,
    /// A directory is made.
    MakeDir(u32),
    /// A file is written.
    File {
        /// Its bytes.
        id: ContentId,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link is made.
    Link(ContentId),
    /// A named pipe is made.
    Fifo(u32),
    /// Only the permission bits change.
    Mode(u32),
    /// One of git's immutable files is put back.
    Object(ContentId),
    /// A small file of git is written with known bytes.
    Bytes(Vec<u8>),
    /// A file is written with some of its hunks as the point has them.
    Merged {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its permission bits.
        mode: u32,
    },
    /// git itself is asked to set `HEAD`, because its refs are not files.
    GitHead(Vec<String>),
    /// git itself is asked to store the list of stashes anew, for the same reason.
    GitStash,
}

/// How much of a path's steps is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// All of them.
    Whole,
    /// None: it stays as it is.
    Leave,
    /// The file with these bytes.
    Bytes(Vec<u8>),
}

/// A path that is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The path.
    pub path: BString,
    /// Why.
    pub why: String,
    /// Whether that is as it should be.
    pub cause: Cause,
}

/// Whether what a rollback leaves was to be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It was not asked for, or somebody else wrote it since.
    Kept,
    /// It should have been put back, and could not be.
    Failed,
}

impl Left {
    /// A path that a rollback lets be.
    pub(in crate::vault) fn kept(path: impl Into<BString>, why: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            why: why.into(),
            cause: Cause::Kept,
        }
    }

    /// A path that could not be put back.
    pub(in crate::vault) fn failed(path: impl Into<BString>, why: impl Into<String>) -> Self {
        Self {
            cause: Cause::Failed,
            ..Self::kept(path, why)
        }
    }
}

/// What a rollback would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in the order in which they are done.
    pub steps: Vec<Step>,
    /// What is left as it is although it differs.
    pub left: Vec<Left>,
    /// Branches and tags that have moved and are not put back.
    pub refs_left: Vec<BString>,
    /// A directory that goes whole, with the repository in it.
    pub(in crate::vault) goes_whole: Option<(Side, BString)>,
    /// A directory that the point does not hold: what is in it now stays.
    pub(in crate::vault) hands_off: Option<(Side, BString)>,
}

/// Which differences of the worktree count.
pub(in crate::vault) fn in_paths(path: &[u8], paths: &[BString]) -> bool {
    paths.is_empty()
        || paths
            .iter()
            .any(|dir| crate::vault::query::inside(path.as_bstr(), dir.as_bstr()))
}

/// Returns true for a directory of the point above one of the paths, where now there is none.
///
/// What is in its place is in the way, and a directory that is made has the mode that it had.
pub(in crate::vault) fn leads_to(difference: &Difference, paths: &[BString]) -> bool {
    let is_dir = |row: &Option<Row>| row.as_ref().is_some_and(|row| row.kind == Kind::Dir);
    let dir = difference.path.as_bstr();
    is_dir(&difference.after)
        && !is_dir(&difference.before)
        && paths
            .iter()
            .any(|path| crate::vault::query::inside(path.as_bstr(), dir))
}

impl Plan {
    /// Adds what it takes to get from `difference.before` (now) to `difference.after` (the point).
    pub(in crate::vault) fn add(&mut self, side: Side, difference: Difference) {
        let Difference {
            path,
            before: now,
            after: then,
        } = difference;
        let below = |dir: &Option<(Side, BString)>| {
            dir.as_ref()
                .is_some_and(|(whose, dir)| *whose == side && path.starts_with(dir))
        };
        if below(&self.hands_off) {
            return;
        }
        let with_all = below(&self.goes_whole);
        let mut step = |action| {
            self.steps.push(Step {
                side,
                path: path.clone(),
                now: now.clone(),
                action,
            });
        };
        match (now.as_ref().map(|row| row.kind), then.as_ref()) {
            (Some(kind), None) if kind.is_object() && with_all => step(Deed::Remove),
            // git's objects are never in the way, and newer commits may need them.
            (Some(kind), None) if kind.is_object() => {}
            (None, None) => {}
            (Some(kind), None) => match kind {
                Kind::Dir => {
                    step(Deed::RemoveDir);
                    if !with_all && may_go_whole(side, &path) {
                        self.goes_whole = Some((side, inside_of(&path)));
                    }
                }
                Kind::File | Kind::Link | Kind::Fifo => step(Deed::Remove),
                Kind::NotHeld(Why::BulkyIgnored) | Kind::Object | Kind::SmallObject => {}
                Kind::NotHeld(_) | Kind::Socket | Kind::Device => {
                    let left = Left::kept(path, "it was made later, and no point holds it");
                    self.left.push(left);
                }
            },
            (now_kind, Some(then)) => {
                if let Some(kind @ (Kind::NotHeld(_) | Kind::Socket | Kind::Device)) = now_kind
                    && kind != then.kind
                    && !matches!(then.kind, Kind::NotHeld(_))
                {
                    let left = Left::failed(path, "what is there now is held by no point");
                    self.left.push(left);
                    return;
                }
                let replaced = now_kind.is_some_and(|kind| kind != then.kind);
                match then.kind {
                    Kind::NotHeld(_) | Kind::Socket | Kind::Device => {
                        if now_kind == Some(Kind::Dir) {
                            let mut dir = path;
                            dir.push(b'/');
                            self.hands_off = Some((side, dir));
                        } else if now_kind.is_none() {
                            self.left
                                .push(Left::kept(path, "the point does not hold it"));
                        }
                    }
                    Kind::Dir if now_kind == Some(Kind::Dir) => step(Deed::Mode(then.mode)),
                    Kind::Dir => {
                        if replaced {
                            step(Deed::Remove);
                        }
                        self.steps.push(Step {
                            side,
                            path,
                            now: None,
                            action: Deed::MakeDir(then.mode),
                        });
                    }
                    Kind::Object => step(Deed::Object(then.id)),
                    Kind::File | Kind::SmallObject | Kind::Link | Kind::Fifo => {
                        let same_bytes = now
                            .as_ref()
                            .is_some_and(|now| now.kind == then.kind && now.id == then.id);
                        if now_kind == Some(Kind::Dir) {
                            step(Deed::RemoveDir);
                            if !with_all && may_go_whole(side, &path) {
                                self.goes_whole = Some((side, inside_of(&path)));
                            }
                        }
                        let action = match then.kind {
                            _ if same_bytes => Deed::Mode(then.mode),
                            Kind::Link => Deed::Link(then.id),
                            Kind::Fifo => Deed::Fifo(then.mode),
                            _ => Deed::File {
                                id: then.id,
                                mode: then.mode,
                            },
                        };
                        self.steps.push(Step {
                            side,
                            path,
                            now: now.filter(|row| row.kind != Kind::Dir),
                            action,
                        });
                    }
                }
            }
        }
    }

    /// Takes out the steps of a path, or gives its file other bytes.
    pub(super) fn pick(&mut self, picks: &BTreeMap<BString, Pick>) {
        self.steps.retain_mut(|step| {
            let pick = picks.get(&step.path).filter(|_| step.side == Side::Work);
            match (pick, &step.action) {
                (Some(Pick::Leave), _) => return false,
                (Some(Pick::Bytes(bytes)), Deed::File { mode, .. }) => {
                    step.action = Deed::Merged {
                        bytes: bytes.clone(),
                        mode: *mode,
                    };
                }
                _ => {}
            }
            true
        });
    }

    /// Puts the steps into the order in which they can be done.
    ///
    /// Objects first, so that no ref ever names one that is missing; then what
    /// goes, from the deepest up; then what comes, from the top down; the index
    /// last of all, so that git sees the old state or the new one.
    pub(in crate::vault) fn order(&mut self) {
        let rank = |step: &Step| match (&step.action, step.side) {
            // What has taken the git directory's place goes before anything is put there.
            (Deed::Remove | Deed::RemoveDir, Side::Work) if is_dot_git(&step.path) => 0,
            // So does what has taken the place of a directory of objects.
            (Deed::Remove | Deed::RemoveDir, Side::Git) if is_of_objects(&step.path) => 0,
            (Deed::Object(_), _) => 1,
            (Deed::File { .. }, Side::Git) if step.is_object() => 1,
            (Deed::Remove | Deed::RemoveDir, Side::Work) => 2,
            (Deed::MakeDir(_), Side::Work) => 3,
            (Deed::Mode(_), Side::Work) => 5,
            (_, Side::Work) => 4,
            (Deed::Remove | Deed::RemoveDir, Side::Git) => 6,
            (Deed::MakeDir(_), Side::Git) => 7,
            (Deed::GitHead(_) | Deed::GitStash, Side::Git) => 9,
            (_, Side::Git) if is_index(&step.path) => 10,
            (Deed::Mode(_), Side::Git) if step.path == "." => 11,
            (_, Side::Git) => 8,
        };
        self.steps.sort_by(|a, b| {
            rank(a).cmp(&rank(b)).then_with(|| match a.action {
                Deed::Remove | Deed::RemoveDir => b.path.cmp(&a.path),
                _ => a.path.cmp(&b.path),
            })
        });
    }

    /// Returns true when there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// How all paths in a directory start.
fn inside_of(dir: &BString) -> BString {
    [dir.as_slice(), b"/"].concat().into()
}

/// Returns true for the worktree's own `.git` and what is in it.
fn is_dot_git(path: &[u8]) -> bool {
    path == b".git" || path.starts_with(b".git/")
}

/// Returns true for the object database of the git directory and what is in it.
fn is_of_objects(path: &[u8]) -> bool {
    path == b"objects" || path.starts_with(b"objects/")
}

/// Returns true for a directory that has no repository around it which might need objects in it.
fn may_go_whole(side: Side, path: &[u8]) -> bool {
    match side {
        Side::Work => !path.contains_str("/.git/") && !path.starts_with(b".git/"),
        Side::Git => path.starts_with(b"modules/") && !path.contains_str("/objects"),
    }
}

/// Returns true for an index file of a git directory.
pub(in crate::vault) fn is_index(path: &[u8]) -> bool {
    path == b"index" || path.ends_with(b"/index")
}

impl Step {
    /// The path as a person knows it, from the worktree's top.
    #[must_use]
    pub fn place(&self) -> BString {
        match self.side {
            Side::Work => self.path.clone(),
            Side::Git => [b".git/", self.path.as_slice()].concat().into(),
        }
    }

    /// Returns true for a file of git's object database.
    fn is_object(&self) -> bool {
        matches!(self.action, Deed::Object(_))
            || (self.side == Side::Git
                && self.path.starts_with(b"objects/")
                && self.action != Deed::Remove)
    }

    /// Returns true where a file takes the place of a file.
    #[must_use]
    pub fn replaces_file(&self) -> bool {
        matches!(self.action, Deed::File { .. })
            && self.now.as_ref().is_some_and(|row| row.kind == Kind::File)
    }

    /// Returns true for a step in the worktree.
    #[must_use]
    pub fn is_work(&self) -> bool {
        self.side == Side::Work
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = out::path(&self.place());
        match (&self.action, &self.now) {
            (Deed::Remove | Deed::RemoveDir, _) => write!(f, "remove    {path}"),
            (Deed::MakeDir(_), _) => write!(f, "make      {path}/"),
            (Deed::Mode(mode), _) => write!(f, "mode      {path} ({mode:04o})"),
            (Deed::Object(_), _) => write!(f, "object    {path}"),
            (Deed::GitStash, _) => write!(f, "git       stash list"),
            (Deed::GitHead(words), _) => write!(f, "git       {}", words.join(" ")),
            (_, None) => write!(f, "bring back {path}"),
            (_, Some(_)) => write!(f, "put back  {path}"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.steps.iter().filter(|step| step.is_object()).count();
        for step in &self.steps {
            if !step.is_object() {
                writeln!(f, "{step}")?;
            }
        }
        if objects > 0 {
            writeln!(f, "put back  {objects} files of git's object database")?;
        }
        for left in &self.left {
            writeln!(f, "leave     {} ({})", out::path(&left.path), left.why)?;
        }
        for name in &self.refs_left {
            writeln!(f, "leave     {name} (has moved; --refs puts it back)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
