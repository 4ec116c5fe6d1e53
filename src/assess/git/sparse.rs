//! Ignored files in directories that leave the worktree: git removes the whole directory.

use super::way::listed;
use super::{Evidence, Finding};
use crate::assess::made::is_made_again;
use crate::judge::GitClass;
use crate::repo::{Others, Tracked};
use crate::shell::Arg;
use bstr::{BStr, BString, ByteSlice as _};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

impl Evidence<'_, '_> {
    pub(super) fn sparse(&self, dirs: Option<&[Arg]>, cone: Option<bool>) -> Finding {
        let harmless = Finding::harmless(
            GitClass::Read,
            "files outside the sparse definition leave the worktree, changed ones stay",
        );
        if !cone.unwrap_or_else(|| self.is_cone()) {
            return harmless;
        }
        let workspace = self.around.workspace();
        let ignored = crate::repo::others(workspace, Others::Ignored, &[]);
        let (Some(tracked), Ok(ignored)) = (self.around.tracked(), ignored) else {
            return Finding::lossy(GitClass::Discard, "what is ignored cannot be told");
        };
        let stay = match dirs {
            Some(dirs) => self.named(dirs),
            None => self.defined(),
        };
        let files: Vec<BString> = ignored
            .into_iter()
            .filter(|path| !is_made_again(path))
            .filter(|path| {
                dropped(path.as_bstr(), &stay, tracked).is_some_and(|dir| {
                    // Git leaves a directory that has untracked files.
                    !crate::repo::others(workspace, Others::Untracked, &[dir])
                        .is_ok_and(|found| !found.is_empty())
                })
            })
            .collect();
        if files.is_empty() {
            return harmless;
        }
        let why = "ignored files go with the directories that leave the worktree";
        Finding::lossy(GitClass::Discard, why).losing(listed(files))
    }

    fn is_cone(&self) -> bool {
        self.around
            .graph()
            .setting("core.sparsecheckoutcone")
            .is_none_or(|value| {
                !matches!(
                    value.to_ascii_lowercase().as_slice(),
                    b"false" | b"no" | b"off" | b"0"
                )
            })
    }

    /// The directories given on the command line; one that is not known keeps nothing.
    fn named(&self, dirs: &[Arg]) -> Vec<BString> {
        dirs.iter()
            .filter(|dir| dir.is_literal())
            .filter_map(|dir| self.locate(dir)?.relative)
            .map(|relative| BString::from(relative.as_os_str().as_bytes()))
            .collect()
    }

    /// The directories of the definition that is there.
    fn defined(&self) -> Vec<BString> {
        let text = self
            .around
            .workspace()
            .git_dir
            .as_ref()
            .and_then(|dir| fs::read(dir.join("info/sparse-checkout")).ok())
            .unwrap_or_default();
        let lines: Vec<&[u8]> = text.lines().collect();
        lines
            .iter()
            .filter_map(|line| line.strip_prefix(b"/")?.strip_suffix(b"/"))
            // A directory above one that stays is followed by the exclusion of what is below it.
            .filter(|dir| !lines.contains(&[b"!/", *dir, b"/*/"].concat().as_slice()))
            .map(BString::from)
            .collect()
    }
}

/// The directory that leaves with an ignored path in it; `None` where the path stays.
fn dropped(path: &BStr, stay: &[BString], tracked: &Tracked) -> Option<BString> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    for at in path.find_iter(b"/") {
        let dir = path.get(..at)?;
        let above = |inner: &[u8], outer: &[u8]| {
            inner == outer
                || inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.starts_with(b"/"))
        };
        if stay.iter().any(|stays| above(dir, stays)) {
            return None;
        }
        if !stay.iter().any(|stays| above(stays, dir)) {
            return tracked.holds_below(dir.as_bstr()).then(|| dir.into());
        }
    }
    None
}
