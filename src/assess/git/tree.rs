//! Files whose bytes git would drop or overwrite: resets, restores, checkouts, cleans.

use super::way::listed;
use super::{Evidence, Finding, MOST, commits, counted, is_below, looks_like_file};
use crate::assess::around::Around;
use crate::assess::bytes;
use crate::assess::place::Located;
use crate::judge::{GitClass, Losses};
use crate::repo::{GiveWay, Others};
use crate::shell::Arg;
use crate::shell::programs::git::Ignored;
use bstr::{BString, ByteSlice as _};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

impl Evidence<'_, '_> {
    /// Files whose bytes a hard reset drops: changed on disk, and staged.
    ///
    /// `None` where that cannot be told.
    pub(super) fn unsaved(&self) -> Option<Losses> {
        let tracked = self.around.tracked()?;
        let mut losses = Losses {
            files: tracked.modified_below("".into(), MOST + 1),
            ..Losses::default()
        };
        if losses.files.len() <= MOST {
            for change in self.around.staged()? {
                let deleted = matches!(change.op, crate::judge::ChangeOp::Delete);
                if !deleted && !losses.files.contains(&change.path) {
                    losses.files.push(change.path.clone());
                }
            }
        }
        if losses.files.len() > MOST {
            losses.files.truncate(MOST);
            losses.more = true;
        }
        Some(losses)
    }

    /// Whether a file was taken out of the index and left on disk, where `HEAD` has one of its name.
    pub(super) fn has_unheld(&self) -> bool {
        if self.around.workspace().git_dir.is_none() {
            return false;
        }
        self.around.staged().is_none_or(|changes| {
            changes.iter().any(|change| {
                matches!(change.op, crate::judge::ChangeOp::Delete) && self.on_disk(&change.path)
            })
        })
    }

    /// Staged bytes that are neither on disk nor in a commit, when the index lets them go.
    pub(super) fn unstage(&self, paths: &[Arg]) -> Finding {
        let kept = "changes are taken out of the index, files keep them";
        let all = [Arg::known(":/")];
        let paths = match paths {
            [] => all.as_slice(),
            [only] if self.commit(Some(only)).is_some() => all.as_slice(),
            paths => paths,
        };
        let (Some(tracked), Some(mut staged)) = (self.around.tracked(), self.staged_under(paths))
        else {
            return Finding::lossy(GitClass::Discard, "what is staged cannot be told");
        };
        staged
            .files
            .retain(|file| !self.on_disk(file) || tracked.is_modified(file.as_ref()));
        if staged.files.is_empty() {
            return Finding::harmless(GitClass::Read, kept);
        }
        let why = "what is staged is neither in the files nor in a commit";
        Finding::lossy(GitClass::Discard, why).losing(listed(staged.files))
    }

    pub(super) fn reset_tree(
        &self,
        target: Option<&Arg>,
        moves_branch: bool,
        careful: bool,
    ) -> Vec<Finding> {
        let class = if moves_branch {
            GitClass::History
        } else {
            GitClass::Discard
        };
        let mut findings = Vec::new();
        let unborn = self.around.graph().is_unborn().unwrap_or(false);
        let files = if careful {
            Some(Losses::default())
        } else {
            self.unsaved()
        };
        match files {
            _ if unborn => findings.push(Finding::lossy(class, "there is no commit to go back to")),
            None => findings.push(Finding::lossy(class, "what has changed cannot be told")),
            Some(losses) if losses.is_empty() => {
                findings.push(Finding::harmless(class, "no file has unsaved changes"));
            }
            Some(losses) => {
                let why = format!(
                    "{}{} with changes that are in no commit",
                    losses.files.len(),
                    if losses.more {
                        " files or more"
                    } else if losses.files.len() == 1 {
                        " file"
                    } else {
                        " files"
                    }
                );
                findings.push(Finding::lossy(class, why).losing(losses));
            }
        }
        let reaches = !careful && !unborn && (target.is_some() || self.has_unheld());
        if let Some(losses) = reaches
            .then(|| self.in_the_way(target, GiveWay::All))
            .flatten()
        {
            let why = "files that git does not track would be overwritten by files of that commit";
            findings.push(Finding::lossy(GitClass::Discard, why).losing(losses));
        }
        if !careful {
            findings.extend(self.submodules_along());
        }
        if !moves_branch && target.is_some() {
            let to = target.and_then(|target| self.reached(target));
            findings.extend(self.left_behind(to.as_deref()));
        }
        if moves_branch && target.is_some() {
            let moved = self.leaves(target);
            match moved {
                Some(dropped) if dropped.commits.is_empty() => {}
                Some(dropped) => findings.push(
                    Finding::lossy(GitClass::History, counted(&dropped)).losing(commits(dropped)),
                ),
                None => findings.push(Finding::lossy(
                    GitClass::History,
                    "where the branch would go cannot be told",
                )),
            }
        }
        findings
    }

    pub(super) fn restore(
        &self,
        paths: &[Arg],
        source: Option<&Arg>,
        index: bool,
        worktree: bool,
    ) -> Finding {
        let class = GitClass::Discard;
        let from_commit = source.is_some();
        // A commit's files also go over those that git does not hold.
        let coming = source
            .filter(|_| worktree)
            .and_then(|source| self.in_the_way(Some(source), GiveWay::All))
            .unwrap_or_default();
        let Some(tracked) = self.around.tracked() else {
            return Finding::lossy(class, "what has changed cannot be told");
        };
        let mut losses = Losses::default();
        let mut matched = false;
        for path in paths {
            let magic = path.text.starts_with(b":(")
                || path.text.starts_with(b":!")
                || path.text.starts_with(b":^");
            if path.has_unknown() || magic {
                return Finding::lossy(class, "which files are meant is not known");
            }
            let Some(located) = self.locate(path) else {
                return Finding::lossy(class, "which files are meant is not known");
            };
            let Some(relative) = located.relative else {
                return Finding::lossy(class, "a path outside the worktree");
            };
            let name = bytes(&relative);
            if path.glob || path.text.iter().any(|byte| b"*?[".contains(byte)) {
                let hits = tracked.matching(name, 2000);
                matched |= !hits.is_empty();
                losses.files.extend(
                    hits.into_iter()
                        .filter(|hit| tracked.is_modified(hit.as_ref()) && self.on_disk(hit)),
                );
            } else if tracked.holds(name) {
                matched = true;
                if tracked.is_modified(name) && self.on_disk(&name.to_owned()) {
                    losses.files.push(name.into());
                }
            } else {
                matched |= tracked.holds_below(name);
                losses.files.extend(tracked.modified_below(name, MOST + 1));
                losses.files.extend(
                    coming
                        .files
                        .iter()
                        .filter(|file| is_below(file, name))
                        .cloned(),
                );
                matched |= from_commit && located.path.is_file();
            }
        }
        if !matched {
            return Finding::lossy(
                class,
                "no tracked file has this name now; judged as if one had",
            );
        }
        if from_commit || index {
            if let Some(unsaved) = self.staged_under(paths) {
                losses.merge(&unsaved);
            } else {
                return Finding::lossy(class, "what is staged cannot be told");
            }
        }
        if losses.files.is_empty() {
            return Finding::harmless(class, "these files have no unsaved changes");
        }
        let more = losses.files.len() > MOST;
        losses.files.truncate(MOST);
        losses.more = more;
        let count = losses.files.len();
        Finding::lossy(
            class,
            format!(
                "{count}{} {} with changes that are in no commit",
                if more { " or more" } else { "" },
                if count == 1 { "file" } else { "files" }
            ),
        )
        .losing(losses)
    }

    pub(super) fn on_disk(&self, name: &BString) -> bool {
        std::fs::symlink_metadata(self.around.workspace().root.join(OsStr::from_bytes(name)))
            .is_ok()
    }

    /// Staged changes below paths, when the index is replaced too.
    pub(super) fn staged_under(&self, paths: &[Arg]) -> Option<Losses> {
        let mut losses = Losses::default();
        for change in self.around.staged()? {
            let hit = paths.iter().any(|path| {
                self.locate(path)
                    .and_then(|located| located.relative)
                    .is_some_and(|relative| {
                        let name = bytes(&relative);
                        name.is_empty()
                            || change.path.starts_with(name)
                            || crate::shell::matches(name, &change.path)
                    })
            });
            if hit && !matches!(change.op, crate::judge::ChangeOp::Delete) {
                losses.files.push(change.path.clone());
            }
        }
        Some(losses)
    }

    pub(super) fn checkout(&self, word: &Arg) -> Vec<Finding> {
        let Some(text) = word.literal() else {
            return vec![Finding::harmless(GitClass::Read, "local changes are kept")];
        };
        let is_ref = text == "-"
            || self
                .around
                .graph()
                .commit(&text.to_str_lossy())
                .is_ok_and(|commit| commit.is_some());
        if is_ref {
            return self.visit(word);
        }
        let is_file = self
            .locate(word)
            .and_then(|located| located.relative)
            .is_some_and(|relative| {
                let name = bytes(&relative);
                self.around
                    .tracked()
                    .is_some_and(|tracked| tracked.holds(name) || tracked.holds_below(name))
            });
        if is_file || looks_like_file(word) {
            return vec![self.restore(std::slice::from_ref(word), None, false, true)];
        }
        // Neither yet: a branch of a remote, or one that the script makes.
        self.visit(word)
    }

    pub(super) fn clean(&self, directories: bool, ignored: Ignored, paths: &[Arg]) -> Finding {
        let class = GitClass::Discard;
        let workspace = self.around.workspace();
        if paths.iter().any(|path| !path.is_known()) {
            return Finding::lossy(class, "which files are meant is not known");
        }
        let mut under: Vec<BString> = Vec::new();
        let mut top = false;
        for path in paths {
            match self.locate(path).and_then(|located| located.relative) {
                Some(relative) if !relative.as_os_str().is_empty() => {
                    under.push(bytes(&relative).into());
                }
                Some(_) => top = true,
                None => return Finding::lossy(class, "a path outside the worktree"),
            }
        }
        if top {
            under.clear();
        }
        if paths.is_empty()
            && let Some(relative) = Around::dir(&self.git.repo.dir)
                .and_then(|dir| self.around.place(&dir).relative)
                .filter(|relative| !relative.as_os_str().is_empty())
        {
            under.push(bytes(&relative).into());
        }
        let which = match ignored {
            Ignored::Kept => Others::Untracked,
            Ignored::Too => Others::All,
            Ignored::Only => Others::Ignored,
        };
        let unborn = self.around.graph().is_unborn().unwrap_or(false);
        let Ok(found) = crate::repo::others(workspace, which, &under) else {
            return Finding::lossy(class, "what is untracked cannot be told");
        };
        let mut files: Vec<BString> = found
            .into_iter()
            .filter(|path| directories || !path.ends_with(b"/"))
            .filter(|path| !crate::assess::made::is_made_again(path))
            .collect();
        if files.is_empty() && unborn {
            return Finding::lossy(
                class,
                "a repository without a commit says nothing of what matters",
            );
        }
        if files.is_empty() {
            return Finding::harmless(class, "there is nothing untracked but build output");
        }
        let more = files.len() > MOST;
        files.truncate(MOST);
        let count = files.len();
        Finding::lossy(
            class,
            format!(
                "{count}{} untracked that nothing else holds",
                if more { " or more" } else { "" }
            ),
        )
        .losing(Losses {
            files,
            more,
            ..Losses::default()
        })
    }

    /// A path given to git, as a path and as one relative to the top.
    pub(super) fn locate(&self, path: &Arg) -> Option<Located> {
        let text = path.text.as_slice();
        let dir = Around::dir(&self.git.repo.dir)?;
        let full: PathBuf = match text {
            b":/" | b":(top)" | b":" => self.around.workspace().root.clone(),
            text => match text
                .strip_prefix(b":/")
                .or_else(|| text.strip_prefix(b":(top)"))
            {
                Some(rest) => self.around.workspace().root.join(OsStr::from_bytes(rest)),
                None => dir.join(OsStr::from_bytes(text)),
            },
        };
        Some(self.around.place(&full))
    }
}
