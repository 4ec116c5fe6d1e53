//! Commits that no ref holds and that are left: detached heads, searches, rebases, worktrees.

use super::way::listed;
use super::without::without;
use super::{Evidence, Finding, commits, counted};
use crate::assess::around::Around;
use crate::judge::{GitClass, Losses};
use crate::repo::{Dropped, Git, Others, Workspace};
use crate::shell::Arg;
use crate::shell::programs::git::{Act, GitDeed};
use bstr::ByteSlice as _;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

impl Evidence<'_, '_> {
    /// Commits of a detached head that nothing else holds, when it goes to another commit.
    pub(super) fn left_behind(&self, to: Option<&str>) -> Option<Finding> {
        let head = self.around.head()?;
        let (None, Some(old)) = (&head.branch, head.commit) else {
            return None;
        };
        let moves = [("HEAD".into(), to.map(str::to_owned))];
        left(self.dropped(&[old], &moves).ok()?)
    }

    /// A search ends: its marks go, and what was checked out before comes back.
    pub(super) fn leave_bisect(&self, target: Option<&Arg>) -> Vec<Finding> {
        let begun = self
            .around
            .workspace()
            .git_dir
            .as_ref()
            .and_then(|dir| fs::read(dir.join("BISECT_START")).ok());
        let target = match (target, begun) {
            (Some(target), _) => target.clone(),
            (None, Some(begun)) => Arg::known(begun.trim()),
            (None, None) => return vec![Finding::harmless(GitClass::Read, "no search is on")],
        };
        let mut findings = self.visit(&target);
        // What only the search's own marks hold goes with them.
        if let Some(finding) = self.held_by_marks(self.reached(&target)) {
            findings.retain(|finding| finding.losses.commits.is_empty());
            findings.push(finding);
        }
        findings
    }

    fn held_by_marks(&self, to: Option<String>) -> Option<Finding> {
        let marks = self.around.graph().refs().ok()?;
        let (mut moves, mut tips) = (Vec::new(), Vec::new());
        for (name, commit) in marks {
            if name.starts_with(b"refs/bisect/") {
                moves.push((name, None));
                tips.push(commit);
            }
        }
        let head = self.around.head()?;
        if head.branch.is_none() {
            moves.push(("HEAD".into(), to));
            tips.extend(head.commit);
        }
        left(self.dropped(&tips, &moves).ok()?)
    }

    /// Commits of a rebase in progress that are no copies of those it began with.
    pub(super) fn rebased(&self) -> Option<Losses> {
        let workspace = self.around.workspace();
        let dir = workspace.git_dir.as_ref()?.join("rebase-merge");
        let read = |name: &str| -> Option<String> {
            let text = fs::read_to_string(dir.join(name)).ok()?;
            Some(text.trim().to_owned())
        };
        let (before, onto) = (read("orig-head")?, read("onto")?);
        let listed = Git::at(workspace)
            .args(["log", "--no-show-signature", "--format=%h %s"])
            .args(["--cherry-pick", "--right-only", "--max-count=20"])
            .arg(format!("{before}...HEAD"))
            .arg(format!("^{onto}"))
            .arg("--")
            .read()
            .ok()?;
        let commits: Vec<String> = listed
            .lines()
            .map(|line| line.to_str_lossy().into_owned())
            .collect();
        Some(Losses {
            commits,
            ..Losses::default()
        })
    }

    pub(super) fn abandon(&self, what: &str) -> Vec<Finding> {
        let class = GitClass::Discard;
        let Some(dir) = &self.around.workspace().git_dir else {
            return vec![without(&self.git.act)];
        };
        let marks: &[&str] = match what {
            "merge" => &["MERGE_HEAD"],
            "cherry-pick" => &["CHERRY_PICK_HEAD", "sequencer"],
            "revert" => &["REVERT_HEAD", "sequencer"],
            _ => &["rebase-merge", "rebase-apply"],
        };
        if !marks.iter().any(|mark| dir.join(mark).exists()) {
            return vec![Finding::harmless(
                class,
                format!("no {what} is in progress"),
            )];
        }
        let mut findings = Vec::new();
        match self.unsaved() {
            Some(losses) if losses.is_empty() => {}
            Some(losses) => findings
                .push(Finding::lossy(class, "what has been resolved is dropped").losing(losses)),
            None => findings.push(Finding::lossy(
                class,
                "what has been resolved cannot be told",
            )),
        }
        if what == "rebase"
            && let Some(losses) = self.rebased().filter(|losses| !losses.is_empty())
        {
            let why = "commits that were made during the rebase are dropped";
            findings.push(Finding::lossy(GitClass::History, why).losing(losses));
        }
        if findings.is_empty() {
            findings.push(Finding::harmless(class, "nothing has been resolved yet"));
        }
        findings
    }

    pub(super) fn remove_worktree(&self, path: &Arg, force: bool) -> Vec<Finding> {
        let class = GitClass::History;
        let full = path
            .literal()
            .and_then(|text| Some(Around::dir(&self.git.repo.dir)?.join(OsStr::from_bytes(text))));
        let Some(found) = full.as_deref().and_then(|full| self.held_by(full, force)) else {
            return vec![if force {
                Finding::lossy(class, "what the worktree holds cannot be told")
            } else {
                Finding::harmless(class, "git refuses if it has changes")
            }];
        };
        let mut findings = Vec::new();
        if !found.files.is_empty() {
            let why = "the worktree has files that are in no commit";
            findings.push(Finding::lossy(GitClass::Discard, why).losing(found.files));
        }
        findings.extend(found.commits);
        if findings.is_empty() {
            findings.push(Finding::harmless(
                class,
                "the worktree holds nothing of its own",
            ));
        }
        findings
    }

    /// What a linked worktree holds alone; git itself looks for changes unless it is forced.
    fn held_by(&self, path: &Path, force: bool) -> Option<Held> {
        let workspace = Workspace::find(self.around.env(), path).ok()?;
        if workspace.root != fs::canonicalize(path).ok()? {
            return None;
        }
        let there = Around::new(self.around.env(), &workspace, path);
        let act = GitDeed {
            repo: self.git.repo.clone(),
            act: Act::Read,
            made: false,
        };
        let evidence = Evidence {
            around: &there,
            git: &act,
        };
        let which = if force { Others::All } else { Others::Ignored };
        let others = crate::repo::others(&workspace, which, &[]).ok()?;
        let mut files = listed(
            others
                .into_iter()
                .filter(|path| !crate::assess::made::is_made_again(path))
                .collect(),
        );
        if force {
            files.merge(&evidence.unsaved()?);
        }
        Some(Held {
            files,
            commits: evidence.left_behind(None),
        })
    }

    /// Worktrees whose directory is gone, with commits that only their heads hold.
    pub(super) fn prune_worktrees(&self) -> Vec<Finding> {
        let harmless = "records of worktrees whose directory is gone are removed";
        let Some(common) = &self.around.workspace().common_dir else {
            return vec![without(&self.git.act)];
        };
        let Ok(records) = fs::read_dir(common.join("worktrees")) else {
            return vec![Finding::harmless(GitClass::Read, harmless)];
        };
        let heads: Vec<String> = records
            .flatten()
            .filter_map(|record| abandoned_head(&record.path()))
            .collect();
        let dropped = self.around.graph().dropped(&heads, &[], &[]);
        match dropped.map(left) {
            Ok(Some(finding)) => vec![finding],
            Ok(None) => vec![Finding::harmless(GitClass::Read, harmless)],
            Err(_) => vec![Finding::lossy(
                GitClass::History,
                "the history cannot be walked",
            )],
        }
    }
}

/// What a worktree holds alone.
struct Held {
    files: Losses,
    commits: Option<Finding>,
}

fn left(dropped: Dropped) -> Option<Finding> {
    (!dropped.commits.is_empty()).then(|| {
        let why = format!("{}, and no branch is on them", counted(&dropped));
        Finding::lossy(GitClass::History, why).losing(commits(dropped))
    })
}

/// The detached head of a worktree whose directory is gone and that nobody locked.
fn abandoned_head(record: &Path) -> Option<String> {
    let link = fs::read(record.join("gitdir")).ok()?;
    let place = PathBuf::from(OsStr::from_bytes(link.trim()));
    let full = record.join(place);
    if full.exists() || record.join("locked").exists() {
        return None;
    }
    let head = fs::read_to_string(record.join("HEAD")).ok()?;
    let head = head.trim();
    head.bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| head.to_owned())
}
