//! What submodules' worktrees hold alone, when they are checked out again or removed.

use super::way::listed;
use super::{Evidence, Finding};
use crate::assess::around::Around;
use crate::assess::made::is_made_again;
use crate::judge::{GitClass, Losses};
use crate::repo::{Others, Workspace};
use crate::shell::Arg;
use crate::shell::programs::git::{Act, GitDeed, Submodules};
use bstr::BString;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

impl Evidence<'_, '_> {
    pub(super) fn submodules(&self, paths: &[Arg], how: Submodules) -> Vec<Finding> {
        let Some(tracked) = self.around.tracked() else {
            return vec![Finding::lossy(
                GitClass::Discard,
                "which submodules there are cannot be told",
            )];
        };
        let meant: Vec<(BString, String)> = tracked
            .submodules()
            .into_iter()
            .filter(|(path, _)| self.is_meant(path, paths))
            .collect();
        if meant.is_empty() && matches!(how, Submodules::Removed | Submodules::Forced) {
            return vec![Finding::lossy(
                GitClass::Discard,
                "no such submodule is here now; judged as if one were",
            )];
        }
        let mut findings = Vec::new();
        for (path, commit) in &meant {
            findings.extend(self.submodule(path, commit, how));
        }
        if findings.is_empty() {
            let (class, why) = match how {
                Submodules::Updated | Submodules::Along => {
                    (GitClass::Read, "submodules are checked out")
                }
                _ => (
                    GitClass::Discard,
                    "the submodules have nothing of their own",
                ),
            };
            findings.push(Finding::harmless(class, why));
        }
        findings
    }

    fn is_meant(&self, submodule: &BString, paths: &[Arg]) -> bool {
        paths.is_empty()
            || paths.iter().any(|path| {
                path.has_unknown()
                    || path.glob
                    || self
                        .locate(path)
                        .and_then(|located| located.relative)
                        .is_some_and(|relative| {
                            let name = relative.as_os_str().as_bytes();
                            submodule == name || submodule.starts_with(name)
                        })
            })
    }

    fn submodule(&self, path: &BString, commit: &str, how: Submodules) -> Vec<Finding> {
        let root = self.around.workspace().root.join(OsStr::from_bytes(path));
        if !root.join(".git").exists() {
            return Vec::new();
        }
        let Ok(workspace) = Workspace::find(self.around.env(), &root) else {
            return vec![Finding::lossy(
                GitClass::Discard,
                format!("what {path} holds cannot be told"),
            )];
        };
        let there = Around::new(self.around.env(), &workspace, &root);
        let act = GitDeed {
            repo: self.git.repo.clone(),
            act: Act::Read,
            made: false,
        };
        let inner = Evidence {
            around: &there,
            git: &act,
        };
        let mut findings: Vec<Finding> = inner.submodules_below(how);
        match inner.alone(how) {
            Some(losses) if losses.is_empty() => {}
            Some(losses) => {
                let why = format!("{path} has files that are in no commit");
                findings.push(Finding::lossy(GitClass::Discard, why).losing(losses));
            }
            None => findings.push(Finding::lossy(
                GitClass::Discard,
                format!("what has changed in {path} cannot be told"),
            )),
        }
        if matches!(
            how,
            Submodules::Forced | Submodules::Along | Submodules::Updated
        ) {
            findings.extend(inner.left_behind(Some(commit)));
        }
        for finding in &mut findings {
            for file in &mut finding.losses.files {
                let below = std::mem::take(file);
                file.extend_from_slice(path);
                file.push(b'/');
                file.extend_from_slice(&below);
            }
        }
        findings
    }

    fn submodules_below(&self, how: Submodules) -> Vec<Finding> {
        let none = self
            .around
            .tracked()
            .is_none_or(|tracked| tracked.submodules().is_empty());
        if none {
            return Vec::new();
        }
        let mut findings = self.submodules(&[], how);
        findings.retain(|finding| finding.lossy);
        findings
    }

    /// The files that nothing else holds and that go; `None` where that cannot be told.
    fn alone(&self, how: Submodules) -> Option<Losses> {
        let others = |which| -> Option<Losses> {
            let found = crate::repo::others(self.around.workspace(), which, &[]).ok()?;
            let files = found
                .into_iter()
                .filter(|path| !is_made_again(path))
                .collect();
            Some(listed(files))
        };
        match how {
            Submodules::Removed => {
                let mut losses = self.unsaved()?;
                losses.merge(&others(Others::All)?);
                Some(losses)
            }
            Submodules::RemovedIfClean => others(Others::Ignored),
            Submodules::Forced | Submodules::Along => self.unsaved(),
            Submodules::Updated => Some(Losses::default()),
        }
    }

    /// What a hard reset does to submodules where the configuration takes them along.
    pub(super) fn submodules_along(&self) -> Vec<Finding> {
        let along = self
            .around
            .graph()
            .setting("submodule.recurse")
            .is_some_and(|value| {
                !matches!(
                    value.to_ascii_lowercase().as_slice(),
                    b"false" | b"no" | b"off" | b"0"
                )
            });
        if along {
            self.submodules_below(Submodules::Along)
        } else {
            Vec::new()
        }
    }
}
