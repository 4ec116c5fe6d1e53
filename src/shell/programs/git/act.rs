//! What a git command does, before the repository is looked at.

use crate::judge::GitClass;
use crate::shell::arg::Arg;
use crate::shell::scope::Dir;

/// Something done to a repository, before its state is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct GitDeed {
    /// Which repository.
    pub repo: Place,
    /// What is done.
    pub act: Act,
    /// This very script made the repository, where nothing was before.
    pub made: bool,
}

/// Which repository a command works on.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The directory after `-C`.
    pub dir: Dir,
    /// `--git-dir` or `GIT_DIR`.
    pub git_dir: Option<Arg>,
    /// `--work-tree` or `GIT_WORK_TREE`.
    pub work_tree: Option<Arg>,
}

/// What is done to a repository, as far as the words tell.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Nothing is written.
    Read,
    /// A class of effect that no evidence makes harmless.
    Does {
        /// The class.
        class: GitClass,
        /// What and why, as a clause.
        why: String,
    },
    /// A reversible effect that a person should know of.
    Tells {
        /// The class.
        class: GitClass,
        /// What and why, as a clause.
        why: String,
    },
    /// `reset --hard`, `checkout -f`, `switch --discard-changes`: worktree and index become a commit's.
    ResetTree {
        /// The commit; `None` for `HEAD`.
        target: Option<Arg>,
        /// The current branch moves there too.
        moves_branch: bool,
        /// Local changes are kept or the command refuses (`--keep`, `--merge`).
        careful: bool,
    },
    /// The current branch moves; worktree and index keep their content.
    MoveHead {
        /// The commit; `None` for `HEAD`.
        target: Option<Arg>,
    },
    /// Files of the worktree, the index or both become those of a source.
    Restore {
        /// Which files.
        paths: Vec<Arg>,
        /// From where; `None` for the index (or `HEAD` where only the index changes).
        source: Option<Arg>,
        /// The index changes.
        index: bool,
        /// The worktree changes.
        worktree: bool,
    },
    /// `switch BRANCH`: another branch is checked out, local changes are kept.
    Switch {
        /// The branch or commit.
        target: Arg,
    },
    /// Another commit's files are checked out under a branch that is new, or none.
    Visit {
        /// The commit; `None` for the present one.
        target: Option<Arg>,
    },
    /// `bisect reset`: what was checked out before the search is checked out again.
    LeaveBisect {
        /// The commit; `None` for the one where the search began.
        target: Option<Arg>,
    },
    /// Files of other commits come into the worktree; local changes are kept, ignored files are not.
    Bring {
        /// How.
        how: Bring,
        /// The commits.
        commits: Vec<Arg>,
    },
    /// `pull`: what a remote has comes into the worktree.
    Pull {
        /// The remote and branch that are named.
        from: Vec<Arg>,
    },
    /// The index becomes the commit's again; worktree files keep their content.
    Unstage {
        /// Which files; empty, or one word that names a commit, for all.
        paths: Vec<Arg>,
    },
    /// Directories leave the worktree, with what is ignored in them.
    Sparse {
        /// The directories that stay; `None` for those that are named already.
        dirs: Option<Vec<Arg>>,
        /// Whether the form by directories is asked for.
        cone: Option<bool>,
    },
    /// Submodules' worktrees change or go.
    Submodules {
        /// Which; empty for all.
        paths: Vec<Arg>,
        /// How.
        how: Submodules,
    },
    /// Records of worktrees whose directory is gone are removed.
    PruneWorktrees,
    /// `checkout WORD`: a branch to switch to, or a file to restore.
    Checkout {
        /// The word.
        word: Arg,
    },
    /// `clean`.
    Clean {
        /// Untracked directories too.
        directories: bool,
        /// What of the ignored files.
        ignored: Ignored,
        /// Where; empty for everywhere.
        paths: Vec<Arg>,
    },
    /// Branches are deleted.
    DropBranches {
        /// Which.
        names: Vec<Arg>,
        /// Merged or not.
        force: bool,
        /// Remote-tracking ones.
        remote: bool,
    },
    /// A ref is set to another commit, whatever it held.
    MoveRef {
        /// The ref: a full name, or a branch's.
        name: Arg,
        /// To what; `None` for `HEAD`, or where it is not said.
        target: Option<Arg>,
    },
    /// A ref is made where there is none of its name.
    MakeRef {
        /// The ref's full name.
        name: Arg,
        /// Where it begins; `None` for `HEAD`.
        target: Option<Arg>,
        /// It is a branch, and checked out at once.
        checked_out: bool,
    },
    /// Refs are deleted.
    DropRefs {
        /// Full names, or tags' under `refs/tags/`.
        names: Vec<Arg>,
        /// What they are, for people.
        kind: &'static str,
    },
    /// One stash entry is dropped.
    DropStash {
        /// Which; `None` for the newest.
        which: Option<Arg>,
    },
    /// All stash entries are dropped.
    ClearStash,
    /// Commits are replaced by others.
    Rewrite {
        /// The commits after this one, where it is known.
        since: Option<Arg>,
        /// How, as a clause.
        why: String,
    },
    /// An operation in progress is given up, with the worktree put back.
    Abandon {
        /// Which.
        what: &'static str,
    },
    /// A linked worktree is removed.
    RemoveWorktree {
        /// Which.
        path: Arg,
        /// With changes or locked.
        force: bool,
    },
}

/// How files of other commits come into the worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bring {
    /// `merge`: all that the commit has.
    Merge,
    /// `cherry-pick`: what the commit changed.
    Pick,
    /// `revert`: what the commit undid.
    Revert,
    /// `stash pop`, `apply`, `branch`: what was stashed.
    Stash,
}

/// What happens to submodules' worktrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submodules {
    /// Removed with all that is in them.
    Removed,
    /// Removed unless git finds changes, which it does not seek among ignored files.
    RemovedIfClean,
    /// Checked out over local changes.
    Forced,
    /// Taken along by a forced checkout of the whole, where there are any.
    Along,
    /// Checked out with local changes kept.
    Updated,
}

/// What `clean` does about ignored files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// Leaves them.
    Kept,
    /// Removes them too (`-x`).
    Too,
    /// Removes only them (`-X`).
    Only,
}
