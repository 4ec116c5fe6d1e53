//! What a script would do, before the workspace is looked at.

use super::arg::Arg;
use super::programs::git::GitDeed;
use super::scope::Dir;
use crate::judge::{Level, PackageClass, SystemClass};
use bstr::BString;

/// One thing that a script would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Deed {
    /// What.
    pub kind: DeedKind,
    /// Where the shell would be.
    pub dir: Dir,
    /// The program and its arguments, cut short, for people.
    pub command: String,
}

/// The kinds of deed.
#[derive(Clone, Debug, PartialEq)]
pub enum DeedKind {
    /// Something happens to paths.
    File {
        /// What happens.
        op: PathOp,
        /// To what.
        path: Arg,
    },
    /// Something happens to a repository.
    Git(Box<GitDeed>),
    /// A package is installed, changed or removed.
    Package {
        /// Against the manifest; [`PackageClass::Listed`] where only the manifest is followed.
        class: PackageClass,
        /// The ecosystem's program.
        manager: String,
        /// The packages named.
        names: Vec<String>,
        /// Installed for the whole machine or the person, not for the project.
        machine: bool,
    },
    /// The machine or a service changes.
    System {
        /// Which family.
        class: SystemClass,
        /// Why, as a clause.
        why: String,
    },
    /// A finding at a level of its own, with the reason.
    Marked {
        /// The level.
        level: Level,
        /// Why, as a clause.
        why: String,
    },
    /// What happens cannot be told.
    Opaque {
        /// The worst it could plausibly be.
        worst: Level,
        /// Why, as a clause.
        why: String,
    },
    /// The guard is weakened or avoided.
    Guard {
        /// How, as a clause.
        why: String,
    },
    /// git's hooks are skipped or disarmed.
    Bypass {
        /// How, as a clause.
        why: String,
    },
}

/// What happens to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathOp {
    /// Made if it is not there; left alone if it is.
    Make,
    /// An empty file or directory is made if nothing is there.
    Touch,
    /// Emptied.
    Empty,
    /// Its content is replaced.
    Replace,
    /// Its content changes in part.
    Change,
    /// Something is put into it, if it is a directory, or replaces it, if it is a file.
    Into {
        /// The name that it gets there.
        name: BString,
        /// What is put there, where that is a path.
        from: Option<Arg>,
    },
    /// Every file below a directory lands at the same place below this one, replacing what is there.
    Lay {
        /// The directory whose files land here.
        from: Arg,
    },
    /// Archive members or other names not known land under it, replacing what is there.
    Unpack,
    /// The members of an archive that may be looked into land under it, replacing what is there.
    Extract(Box<Members>),
    /// Deleted.
    Delete {
        /// With all that is below.
        recursive: bool,
    },
    /// Everything under it that a place elsewhere lacks is deleted (`rsync --delete`).
    Mirror,
    /// Its content leaves for another machine.
    Send,
    /// Removed where it is an empty directory.
    RemoveEmpty,
    /// Moved to another place.
    Move {
        /// Where.
        to: Arg,
    },
    /// Permissions or owner change.
    Permissions {
        /// With all that is below.
        recursive: bool,
        /// Execution is taken away or access locked.
        locks: bool,
    },
}

/// Members of an archive, as a program is told to take them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// The archive's path.
    pub archive: Arg,
    /// Leading parts of a name that are taken away.
    pub strip: usize,
    /// Only the last part of a name is kept.
    pub flat: bool,
    /// Which members, as names or patterns; empty for all.
    pub only: Vec<Arg>,
}

/// Everything that a script would do.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// In the order it would happen; branches and loops count once.
    pub deeds: Vec<Deed>,
    /// Commands seen, for `--explain`.
    pub commands: Vec<String>,
}

impl Script {
    /// Takes back, from a deed on, what only the tables say of a service or a package.
    ///
    /// What happens to files and repositories is a matter of evidence, and what
    /// weakens the guard is no one's to lower.
    pub(crate) fn lower(&mut self, first: usize) {
        let mut at = 0;
        self.deeds.retain(|deed| {
            at += 1;
            let tables = match &deed.kind {
                DeedKind::System { class, .. } => *class != SystemClass::RemoteCode,
                DeedKind::Marked { .. } | DeedKind::Opaque { .. } | DeedKind::Package { .. } => {
                    true
                }
                DeedKind::File { .. }
                | DeedKind::Git(_)
                | DeedKind::Guard { .. }
                | DeedKind::Bypass { .. } => false,
            };
            at <= first || !tables
        });
    }
}

/// What the reader may ask of the files around a script.
pub trait Lookup {
    /// The content of a file that a command would run or follow, if it is there and not huge.
    fn file(&self, path: &[u8]) -> Option<Vec<u8>>;
    /// Whether a path is a directory; `None` where that cannot be told.
    fn is_dir(&self, path: &[u8]) -> Option<bool>;
    /// Whether anything is at a path; `None` where that cannot be told.
    fn exists(&self, path: &[u8]) -> Option<bool>;
    /// A git alias of the repository at `dir`.
    fn git_alias(&self, dir: &Dir, name: &[u8]) -> Option<BString>;
    /// A setting of the repository at `dir`; a lookup without a repository knows none.
    fn git_setting(&self, _dir: &Dir, _key: &str) -> Option<BString> {
        None
    }
    /// The top of the worktree that holds `dir`.
    fn toplevel(&self, dir: &Dir) -> Option<BString>;
    /// The user's own rules for a command: its level and why.
    fn declared(&self, program: &str, args: &[Arg]) -> Option<Declared>;
}

/// What the user's own rules say of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The level.
    pub level: Level,
    /// Why, as a clause.
    pub why: String,
    /// A person confirmed it: it counts instead of what the tables say, not only beside it.
    pub agreed: bool,
}

/// A lookup that knows of no file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Lookup for Nothing {
    fn file(&self, _path: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn is_dir(&self, _path: &[u8]) -> Option<bool> {
        None
    }

    fn exists(&self, _path: &[u8]) -> Option<bool> {
        None
    }

    fn git_alias(&self, _dir: &Dir, _name: &[u8]) -> Option<BString> {
        None
    }

    fn toplevel(&self, _dir: &Dir) -> Option<BString> {
        None
    }

    fn declared(&self, _program: &str, _args: &[Arg]) -> Option<Declared> {
        None
    }
}
