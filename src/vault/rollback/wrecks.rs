//! What nobody but a wrecker does to files of a git directory.
//!
//! git changes what is in its files, makes new ones and deletes them, and a rollback
//! leaves much of that alone. It never puts a link, a pipe or a directory where a
//! file was, nor takes away its own right to read and write. Such a path comes back
//! whatever it belongs to, with all that was below it, and what has come below it goes. Pure.

use crate::vault::diff::Difference;
use crate::vault::tree::{Kind, Row};
use bstr::BString;

/// The wrecked paths of one comparison, a directory before what is in it.
#[derive(Debug, Default)]
pub(super) struct Wrecks {
    /// What all paths below the last wrecked directory start with.
    below: Option<BString>,
}

impl Wrecks {
    /// Returns true for a difference that no work of git's explains.
    pub(super) fn count(&mut self, difference: &Difference) -> bool {
        let path = &difference.path;
        if self
            .below
            .as_ref()
            .is_some_and(|dir| path.starts_with(dir.as_slice()))
        {
            return true;
        }
        let (Some(now), Some(then)) = (&difference.before, &difference.after) else {
            return false;
        };
        if matches!(then.kind, Kind::NotHeld(_) | Kind::Socket | Kind::Device) {
            return false;
        }
        if sort(now.kind) == sort(then.kind) {
            return is_barred(now, then);
        }
        if is_branch(path) && is_plain(now.kind) && is_plain(then.kind) {
            // A branch `a` in the place of `a/b`, or the other way round.
            return false;
        }
        if now.kind == Kind::Dir || then.kind == Kind::Dir {
            self.below = Some([path.as_slice(), b"/"].concat().into());
        }
        true
    }
}

/// Returns true where a directory's bits differ, or where the owner may no longer read or write a file.
fn is_barred(now: &Row, then: &Row) -> bool {
    match then.kind {
        Kind::Dir => now.mode != then.mode,
        Kind::Link => false,
        _ => now.id == then.id && then.mode & !now.mode & 0o600 != 0,
    }
}

/// An object is a file, however the vault holds it.
fn sort(kind: Kind) -> Kind {
    if kind.is_object() { Kind::File } else { kind }
}

fn is_plain(kind: Kind) -> bool {
    matches!(kind, Kind::File | Kind::Dir)
}

/// Returns true below `refs/heads` and the like, and for their logs.
fn is_branch(path: &[u8]) -> bool {
    let refs = path.strip_prefix(b"logs/").unwrap_or(path);
    refs.strip_prefix(b"refs/")
        .is_some_and(|name| name.contains(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::ContentId;
    use crate::vault::tree::Why;

    fn row(kind: Kind, mode: u32) -> Row {
        Row {
            name: "x".into(),
            kind,
            mode,
            size: 1,
            id: ContentId([1; 32]),
        }
    }

    fn counts(path: &str, now: Option<Row>, then: Option<Row>) -> bool {
        Wrecks::default().count(&Difference {
            path: path.into(),
            before: now,
            after: then,
        })
    }

    #[test]
    fn another_kind_of_thing_is_a_wreck() {
        use Kind::{Dir, Fifo, File, Link, SmallObject};
        for (path, now, then, expected) in [
            ("HEAD", Dir, File, true),
            ("objects", Link, Dir, true),
            ("logs", File, Dir, true),
            ("refs/heads", File, Dir, true),
            ("refs/heads/a", Dir, File, false),
            ("logs/refs/heads/a", File, Dir, false),
            ("refs/heads/a", Link, File, true),
            ("refs/heads/a", Fifo, Dir, true),
            ("objects/pack/p.idx", File, SmallObject, false),
            ("config", File, File, false),
        ] {
            let found = counts(path, Some(row(now, 0o644)), Some(row(then, 0o644)));
            assert_eq!(found, expected, "{path} {now:?} {then:?}");
        }
    }

    #[test]
    fn bits_that_the_owner_lost_are_a_wreck() {
        for (kind, now, then, expected) in [
            (Kind::File, 0, 0o644, true),
            (Kind::File, 0o600, 0o644, false),
            (Kind::File, 0o644, 0o755, false),
            (Kind::File, 0o400, 0o644, true),
            (Kind::File, 0o755, 0o644, false),
            (Kind::Dir, 0o700, 0o755, true),
            (Kind::Dir, 0o755, 0o755, false),
        ] {
            let found = counts("x", Some(row(kind, now)), Some(row(kind, then)));
            assert_eq!(found, expected, "{kind:?} {now:o} {then:o}");
        }
    }

    #[test]
    fn what_git_makes_and_deletes_is_none() {
        assert!(!counts("x", None, Some(row(Kind::File, 0o644))));
        assert!(!counts("x", Some(row(Kind::File, 0o644)), None));
        let unheld = row(Kind::NotHeld(Why::Unreadable), 0);
        assert!(!counts("x", Some(row(Kind::Dir, 0o755)), Some(unheld)));
    }

    #[test]
    fn all_below_a_wrecked_directory_goes_with_it() {
        let mut wrecks = Wrecks::default();
        let mut count = |path: &str, now, then| {
            wrecks.count(&Difference {
                path: path.into(),
                before: now,
                after: then,
            })
        };
        let file = || Some(row(Kind::File, 0o644));
        assert!(count("logs", file(), Some(row(Kind::Dir, 0o755))));
        assert!(count("logs/HEAD", None, file()));
        assert!(count("logs/refs/heads/a", None, file()));
        assert!(!count("logs2", None, file()));
    }
}
