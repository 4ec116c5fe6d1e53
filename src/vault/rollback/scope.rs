//! Which files of the git directory a rollback puts back.
//!
//! By default: the index and what belongs to it, `HEAD`, the stash list, the
//! files of an operation in progress (where `HEAD` is the commit it was started
//! on), missing objects, submodules' git directories. With `--refs` also all
//! branches, tags and reflogs, grafts and the shallow boundary. Configuration where
//! git reads the repository otherwise by it than it did (`config`), hooks and
//! `info/` and what git-lfs and the like keep where they are missing; all of it where the whole git directory is gone.

/// What a file of the git directory belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The index, shared indexes, the sparse-checkout definition, and whose worktree it is.
    Index,
    /// `HEAD` of this worktree.
    Head,
    /// A merge, rebase, cherry-pick, revert, bisect or am in progress.
    Operation,
    /// The stash and its list.
    Stash,
    /// Branches, tags, remote-tracking branches.
    Refs,
    /// Reflogs, other than the stash list.
    Logs,
    /// Files beside the objects that never change.
    Objects,
    /// A submodule's git directory.
    Module,
    /// What cuts or bends history, and what was fetched last.
    History,
    /// The configuration.
    Config,
    /// What comes back only where it is missing: hooks, `info/`, what ties a linked worktree to its repository.
    Missing,
    /// What programs beside git keep here and nowhere else, and git's own memory of conflicts.
    Kept,
    /// Other worktrees' private files and the rest.
    Other,
}

/// Tells what a file belongs to; `private` is this worktree's own part of the git directory.
pub(super) fn part(path: &[u8], private: &[u8]) -> Part {
    if private.is_empty() {
        return own(path).or_else(|| shared(path)).unwrap_or(Part::Other);
    }
    if path == private {
        return Part::Missing;
    }
    match path
        .strip_prefix(private)
        .and_then(|rest| rest.strip_prefix(b"/"))
    {
        Some(path) => own(path).unwrap_or(Part::Other),
        None => shared(path).unwrap_or(Part::Other),
    }
}

/// Files that each worktree has for itself.
fn own(path: &[u8]) -> Option<Part> {
    const OPERATION: &[&[u8]] = &[
        b"AUTO_MERGE",
        b"CHERRY_PICK_HEAD",
        b"MERGE_AUTOSTASH",
        b"MERGE_HEAD",
        b"MERGE_MODE",
        b"MERGE_MSG",
        b"MERGE_RR",
        b"NOTES_MERGE_PARTIAL",
        b"NOTES_MERGE_REF",
        b"ORIG_HEAD",
        b"REBASE_HEAD",
        b"REVERT_HEAD",
        b"SQUASH_MSG",
    ];
    const TREES: &[&[u8]] = &[
        b"NOTES_MERGE_WORKTREE",
        b"rebase-apply",
        b"rebase-merge",
        b"refs/bisect",
        b"refs/rewritten",
        b"refs/worktree",
        b"sequencer",
    ];
    Some(match path {
        b"HEAD" => Part::Head,
        // `commondir` says where refs and objects are; nothing but git writes it, and always the same.
        b"index" | b"info/sparse-checkout" | b"config.worktree" | b"commondir" => Part::Index,
        b"logs/HEAD" => Part::Logs,
        b"FETCH_HEAD" => Part::History,
        b"gitdir" => Part::Missing,
        _ if path.starts_with(b"sharedindex.") => Part::Index,
        _ if path.starts_with(b"BISECT_") || OPERATION.contains(&path) => Part::Operation,
        _ if TREES.iter().any(|dir| is_in(path, dir)) => Part::Operation,
        _ => return None,
    })
}

/// Directories of contents that may be nowhere else: what git-lfs, git-annex, git-svn, Jujutsu
/// and StGit store, and how conflicts were resolved.
const KEPT: &[&[u8]] = &[b"annex", b"jj", b"lfs", b"rr-cache", b"stgit", b"svn"];

fn is_in(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Files that all worktrees share.
fn shared(path: &[u8]) -> Option<Part> {
    Some(match path {
        b"refs/stash" | b"logs/refs/stash" => Part::Stash,
        b"packed-refs" | b"refs" | b"reftable" => Part::Refs,
        _ if path.starts_with(b"refs/") || path.starts_with(b"reftable/") => Part::Refs,
        _ if path.starts_with(b"logs/") => Part::Logs,
        _ if path.starts_with(b"objects/") => Part::Objects,
        _ if path.starts_with(b"modules/") => Part::Module,
        b"config" => Part::Config,
        b"shallow" | b"info/grafts" => Part::History,
        _ if KEPT.iter().any(|dir| is_in(path, dir)) => Part::Kept,
        _ if path.starts_with(b"worktrees/") => Part::History,
        b"description" | b"hooks" | b"info" => Part::Missing,
        _ if path.starts_with(b"hooks/") || path.starts_with(b"info/") => Part::Missing,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_git_directory_are_told_apart() {
        for (path, private, expected) in [
            ("index", "", Part::Index),
            ("commondir", "", Part::Index),
            ("worktrees/w/commondir", "worktrees/w", Part::Index),
            ("HEAD", "", Part::Head),
            ("rebase-merge/git-rebase-todo", "", Part::Operation),
            ("refs/bisect/bad", "", Part::Operation),
            ("refs/heads/main", "", Part::Refs),
            ("refs/stash", "", Part::Stash),
            ("logs/refs/stash", "", Part::Stash),
            ("logs/refs/heads/main", "", Part::Logs),
            ("config", "", Part::Config),
            ("hooks/pre-push", "", Part::Missing),
            ("shallow", "", Part::History),
            ("worktrees/w/index", "", Part::History),
            ("worktrees/w", "worktrees/w", Part::Missing),
            ("worktrees/w/gitdir", "worktrees/w", Part::Missing),
            ("worktrees/w/index", "worktrees/w", Part::Index),
            ("index", "worktrees/w", Part::Other),
            ("worktrees/v/index", "worktrees/w", Part::History),
            ("refs/stash", "worktrees/w", Part::Stash),
            ("modules/sub/index", "", Part::Module),
            ("lfs", "", Part::Kept),
            ("lfs/objects/ab/cd/abcd", "worktrees/w", Part::Kept),
            ("lfsx", "", Part::Other),
            ("COMMIT_EDITMSG", "", Part::Other),
        ] {
            assert_eq!(
                part(path.as_bytes(), private.as_bytes()),
                expected,
                "{path}"
            );
        }
    }
}
