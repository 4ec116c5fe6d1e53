//! Deeds on a repository: commits, refs, stash entries and files that would be gone.

mod leaving;
mod sparse;
mod submodules;
mod way;

use super::around::Around;
use super::bytes;
use super::place::Located;
use crate::error::Result;
use crate::judge::{Effect, EffectKind, GitClass, Level, Losses};
use crate::repo::{Dropped, GiveWay, Head, Others, Workspace};
use crate::shell::programs::git::{Act, GitDeed, Ignored, Submodules};
use crate::shell::{Arg, Deed};
use bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Most names that are listed as lost.
const MOST: usize = 20;

/// What evidence says of a git deed.
struct Finding {
    class: GitClass,
    lossy: bool,
    why: String,
    losses: Losses,
    /// What would be lost depends on what nobody here knows.
    open: bool,
}

impl Finding {
    fn harmless(class: GitClass, why: impl Into<String>) -> Self {
        Self {
            class,
            lossy: false,
            why: why.into(),
            losses: Losses::default(),
            open: false,
        }
    }

    /// An effect that cannot be told and that a safety point answers for.
    fn unknown(why: impl Into<String>) -> Self {
        Self {
            open: true,
            ..Self::harmless(GitClass::Read, why)
        }
    }

    fn lossy(class: GitClass, why: impl Into<String>) -> Self {
        Self {
            class,
            lossy: true,
            why: why.into(),
            losses: Losses::default(),
            open: false,
        }
    }

    fn losing(mut self, losses: Losses) -> Self {
        self.losses = losses;
        self
    }
}

/// Adds the effects of a deed on a repository.
pub(super) fn effects(around: &Around<'_>, deed: &Deed, git: &GitDeed, effects: &mut Vec<Effect>) {
    let subject = if deed.command.is_empty() {
        "git".to_owned()
    } else {
        deed.command.clone()
    };
    let findings = match repository(around, git) {
        Repository::Here => {
            let evidence = Evidence { around, git };
            let findings = evidence.findings();
            evidence.switch();
            findings
        }
        Repository::There(workspace) => {
            let dir = Around::dir(&git.repo.dir).unwrap_or_else(|| workspace.root.clone());
            let there = Around::new(around.env(), &workspace, &dir);
            Evidence {
                around: &there,
                git,
            }
            .findings()
        }
        Repository::Unknown => vec![without(&git.act)],
    };
    for finding in findings {
        let kind = if finding.open {
            EffectKind::Opaque {
                worst: Level::Transparent,
            }
        } else {
            EffectKind::Git {
                class: finding.class,
                lossy: finding.lossy,
            }
        };
        effects.push(
            Effect::new(kind, subject.as_str())
                .because(finding.why)
                .losing(finding.losses),
        );
    }
}

enum Repository {
    Here,
    There(Workspace),
    Unknown,
}

fn repository(around: &Around<'_>, git: &GitDeed) -> Repository {
    let named = git.repo.git_dir.is_some() || git.repo.work_tree.is_some();
    let Some(dir) = Around::dir(&git.repo.dir) else {
        return Repository::Unknown;
    };
    if named {
        return by_name(around, git, &dir).map_or(Repository::Unknown, Repository::There);
    }
    if dir == around.cwd() {
        return if around.has_repository() {
            Repository::Here
        } else {
            Repository::Unknown
        };
    }
    match Workspace::find(around.env(), &dir) {
        Ok(workspace)
            if workspace.root == around.workspace().root
                && dir.starts_with(&workspace.root)
                && dir.starts_with(around.cwd()) =>
        {
            Repository::There(workspace)
        }
        Ok(workspace) if workspace.git_dir.is_some() => Repository::There(workspace),
        _ => Repository::Unknown,
    }
}

/// The repository that `--git-dir`, `--work-tree` or git's variables name.
fn by_name(around: &Around<'_>, git: &GitDeed, dir: &Path) -> Option<Workspace> {
    let path = |arg: &Arg| Some(dir.join(OsStr::from_bytes(arg.literal()?)));
    let work_tree = match &git.repo.work_tree {
        Some(tree) => path(tree)?,
        None => dir.to_path_buf(),
    };
    let git_dir = match &git.repo.git_dir {
        Some(git_dir) => path(git_dir)?,
        None => Workspace::find(around.env(), dir).ok()?.git_dir?,
    };
    // Any other directory would be filled with the repository's files.
    let own = Workspace::find(around.env(), &work_tree).ok()?;
    let named = Workspace::named(around.env(), &git_dir, &work_tree).ok()?;
    (own.root == named.root && own.git_dir == named.git_dir).then_some(named)
}

/// A ref that is made loses nothing.
fn made(checked_out: bool) -> Finding {
    let why = if checked_out {
        "a branch is made and switched to"
    } else {
        "a branch or tag is made"
    };
    told(GitClass::Read, why.to_owned())
}

/// Returns true where git would make a ref of this name: a valid one, and nothing is in its way.
fn is_free(refs: &[(BString, String)], name: &BString) -> bool {
    let valid = name
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(byte))
        && name.split_str("/").all(|part| {
            !part.is_empty()
                && !part.starts_with(b".")
                && !part.ends_with(b".")
                && !part.ends_with(b".lock")
        })
        && !name.contains_str("..")
        && !name.contains_str("/-");
    let below = |inner: &BString, outer: &BString| {
        inner
            .strip_prefix(outer.as_slice())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    valid
        && !refs
            .iter()
            .any(|(known, _)| below(known, name) || below(name, known))
}

/// The judgement where no repository can be asked: the worst it could plausibly be.
fn without(act: &Act) -> Finding {
    let why = "what would be lost cannot be told";
    match act {
        Act::Read => Finding::harmless(GitClass::Read, ""),
        Act::Does { class, why } => Finding::lossy(*class, why.clone()),
        Act::Tells { class, why } => told(*class, why.clone()),
        Act::ResetTree {
            careful: true,
            target,
            ..
        } => {
            if target.is_some() {
                Finding::lossy(GitClass::History, why)
            } else {
                Finding::harmless(GitClass::Discard, "local changes are kept")
            }
        }
        Act::ResetTree { moves_branch, .. } => Finding::lossy(
            if *moves_branch {
                GitClass::History
            } else {
                GitClass::Discard
            },
            format!("local changes are dropped; {why}"),
        ),
        Act::MoveHead { .. } => Finding::harmless(
            GitClass::History,
            "the branch moves, files keep their content",
        ),
        Act::Switch { .. }
        | Act::Visit { .. }
        | Act::LeaveBisect { .. }
        | Act::Bring { .. }
        | Act::Pull { .. }
        | Act::Unstage { .. }
        | Act::Sparse { .. }
        | Act::PruneWorktrees
        | Act::Submodules {
            how: Submodules::Updated | Submodules::Along,
            ..
        } => Finding::harmless(GitClass::Read, "local changes are kept"),
        Act::Submodules {
            how: Submodules::RemovedIfClean,
            ..
        } => Finding::harmless(GitClass::Discard, "git refuses if they have changes"),
        Act::Submodules { .. } => Finding::lossy(GitClass::Discard, why),
        Act::MakeRef { checked_out, .. } => made(*checked_out),
        Act::Checkout { word } => {
            if looks_like_file(word) {
                Finding::lossy(GitClass::Discard, why)
            } else {
                Finding::harmless(GitClass::Read, "local changes are kept")
            }
        }
        Act::Abandon { what } => {
            Finding::harmless(GitClass::Discard, format!("no {what} is seen in progress"))
        }
        Act::Restore { .. } | Act::Clean { .. } | Act::DropStash { .. } | Act::ClearStash => {
            Finding::lossy(GitClass::Discard, why)
        }
        Act::DropBranches {
            force: false,
            remote: false,
            ..
        } => Finding::harmless(
            GitClass::History,
            "git refuses unless the branches are merged",
        ),
        Act::DropBranches { .. }
        | Act::MoveRef { .. }
        | Act::DropRefs { .. }
        | Act::Rewrite { .. } => Finding::lossy(GitClass::History, why),
        Act::RemoveWorktree { force, .. } => {
            if *force {
                Finding::lossy(GitClass::History, why)
            } else {
                Finding::harmless(GitClass::History, "git refuses if it has changes")
            }
        }
    }
}

/// An effect that a person should only know of.
fn told(class: GitClass, why: String) -> Finding {
    match class {
        GitClass::History | GitClass::Discard | GitClass::Read | GitClass::SafetyPoint => {
            Finding::harmless(class, why)
        }
        // Classes that stand for an authority of their own count as reads here.
        _ => Finding::harmless(GitClass::Read, why),
    }
}

fn looks_like_file(word: &Arg) -> bool {
    let text = word.text.as_slice();
    if !word.is_known() {
        return false;
    }
    let name = text.rsplit_str("/").next().unwrap_or_default();
    let known = [
        "rs", "js", "ts", "tsx", "jsx", "py", "rb", "go", "c", "h", "cpp", "java", "md", "txt",
        "json", "toml", "yml", "yaml", "html", "css", "sh", "sql", "lock", "xml", "php", "swift",
        "kt", "cs", "vue", "svelte",
    ];
    name.rfind_byte(b'.').is_some_and(|at| {
        let end = name.get(at + 1..).unwrap_or_default();
        known.iter().any(|one| end == one.as_bytes())
    })
}

struct Evidence<'e, 'a> {
    around: &'e Around<'a>,
    git: &'e GitDeed,
}

impl Evidence<'_, '_> {
    fn findings(&self) -> Vec<Finding> {
        match &self.git.act {
            Act::ResetTree {
                target,
                moves_branch,
                careful,
            } => self.reset_tree(target.as_ref(), *moves_branch, *careful),
            Act::MoveHead { target } => vec![self.move_head(target.as_ref())],
            Act::Restore {
                paths,
                source,
                index,
                worktree,
            } => vec![self.restore(paths, source.as_ref(), *index, *worktree)],
            Act::Checkout { word } => self.checkout(word),
            Act::Switch { target }
            | Act::Visit {
                target: Some(target),
            } => self.visit(target),
            Act::Visit { target: None } => vec![Finding::harmless(
                GitClass::Read,
                "a branch is made and switched to",
            )],
            Act::LeaveBisect { target } => self.leave_bisect(target.as_ref()),
            Act::Bring { how, commits } => self.bring(*how, commits),
            Act::Pull { from } => self.pull(from),
            Act::Unstage { paths } => vec![self.unstage(paths)],
            Act::Sparse { dirs, cone } => vec![self.sparse(dirs.as_deref(), *cone)],
            Act::Submodules { paths, how } => self.submodules(paths, *how),
            Act::PruneWorktrees => self.prune_worktrees(),
            Act::Clean {
                directories,
                ignored,
                paths,
            } => vec![self.clean(*directories, *ignored, paths)],
            Act::DropBranches {
                names,
                force,
                remote,
            } => vec![self.drop_branches(names, *force, *remote)],
            Act::MoveRef { name, target } => vec![self.move_ref(name, target.as_ref())],
            Act::MakeRef {
                name,
                target,
                checked_out,
            } => {
                let mut findings = match target {
                    Some(target) if *checked_out => self.visit(target),
                    _ => Vec::new(),
                };
                findings.retain(|finding| finding.lossy);
                self.make_ref(name, target.as_ref(), *checked_out);
                if findings.is_empty() {
                    findings.push(made(*checked_out));
                }
                findings
            }
            Act::DropRefs { names, kind } => vec![self.drop_refs(names, kind)],
            Act::DropStash { which } => vec![self.drop_stash(which.as_ref())],
            Act::ClearStash => vec![self.clear_stash()],
            Act::Rewrite { since, why } => vec![self.rewrite(since.as_ref(), why)],
            Act::Abandon { what } => self.abandon(what),
            Act::RemoveWorktree { path, force } => self.remove_worktree(path, *force),
            act => vec![without(act)],
        }
    }

    /// Files whose bytes a hard reset drops: changed on disk, and staged.
    ///
    /// `None` where that cannot be told.
    fn unsaved(&self) -> Option<Losses> {
        let workspace = self.around.workspace();
        let tracked = self.around.tracked()?;
        let mut losses = Losses {
            files: tracked.modified_below("".into(), MOST + 1),
            ..Losses::default()
        };
        if losses.files.len() <= MOST {
            let index = workspace.git_dir.as_ref()?.join("index");
            let staged = crate::repo::staged(workspace, &index, &[]).ok()?;
            for change in staged {
                let deleted = matches!(change.op, crate::judge::ChangeOp::Delete);
                if !deleted && !losses.files.contains(&change.path) {
                    losses.files.push(change.path);
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
    fn has_unheld(&self) -> bool {
        let workspace = self.around.workspace();
        let Some(dir) = &workspace.git_dir else {
            return false;
        };
        crate::repo::staged(workspace, &dir.join("index"), &[]).map_or(true, |changes| {
            changes.iter().any(|change| {
                matches!(change.op, crate::judge::ChangeOp::Delete) && self.on_disk(&change.path)
            })
        })
    }

    /// Staged bytes that are neither on disk nor in a commit, when the index lets them go.
    fn unstage(&self, paths: &[Arg]) -> Finding {
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
        Finding::lossy(GitClass::Discard, why).losing(way::listed(staged.files))
    }

    fn reset_tree(&self, target: Option<&Arg>, moves_branch: bool, careful: bool) -> Vec<Finding> {
        let class = if moves_branch {
            GitClass::History
        } else {
            GitClass::Discard
        };
        let mut findings = Vec::new();
        let unborn = self
            .around
            .graph()
            .head()
            .is_ok_and(|head| head.commit.is_none());
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

    /// The commits that the present branch leaves when it moves; `None` where that cannot be told.
    fn leaves(&self, target: Option<&Arg>) -> Option<Dropped> {
        let head = self.around.head()?;
        let old = head.commit?;
        let new = self.commit(target)?;
        if old == new {
            return Some(Dropped::default());
        }
        let name = head.branch.unwrap_or_else(|| "HEAD".into());
        let dropped = self.dropped(&[old], &[(name, Some(new))]);
        dropped.ok()
    }

    /// The commits that `tips` reach and nothing else would, once these refs are where they go.
    ///
    /// What the same action moved or deleted before holds nothing of what it held.
    fn dropped(&self, tips: &[String], moves: &[(BString, Option<String>)]) -> Result<Dropped> {
        for (name, to) in moves {
            self.around.moves(name, to.clone());
        }
        let now = self.around.moved();
        let gone: Vec<BString> = now.keys().cloned().collect();
        let kept: Vec<String> = now.into_values().flatten().collect();
        self.around.graph().dropped(tips, &gone, &kept)
    }

    fn commit(&self, target: Option<&Arg>) -> Option<String> {
        let word = match target {
            None => "HEAD".to_owned(),
            Some(arg) => arg.literal()?.to_str().ok()?.to_owned(),
        };
        let word = self.anchored(word)?;
        self.around.graph().commit(&word).ok().flatten()
    }

    /// A revision with what is checked out by now in the place of `HEAD`.
    fn anchored(&self, word: String) -> Option<String> {
        if !self.around.has_switched() {
            return Some(word);
        }
        let rest = word
            .strip_prefix("HEAD")
            .or_else(|| word.strip_prefix('@'))
            .filter(|rest| rest.is_empty() || rest.starts_with(['~', '^', '@', '{']));
        match rest {
            None => Some(word),
            // The reflog of then is not the one of now.
            Some(rest) if rest.starts_with(['@', '{']) => None,
            Some(rest) => Some(format!("{}{rest}", self.around.head()?.commit?)),
        }
    }

    /// Remembers what this deed leaves checked out for those that follow.
    fn switch(&self) {
        let goes_on = match &self.git.act {
            Act::Does { class, .. } => !matches!(class, GitClass::Stage | GitClass::Push),
            Act::Rewrite { .. } | Act::MoveHead { .. } => true,
            _ => false,
        };
        if goes_on
            && let Some(branch) = self.around.head().and_then(|head| head.branch)
            && self.around.moved().contains_key(&branch)
        {
            // A branch that this very action made has commits of its own by now.
            self.around.moves(&branch, None);
        }
        if let Act::Visit { target } = &self.git.act {
            // The new branch holds what the commit does, and nothing leaves the old one.
            let commit = match target {
                Some(target) => self.reached(target),
                None => self.around.head().and_then(|head| head.commit),
            };
            let born = self.around.head().is_none_or(|head| head.commit.is_some());
            if target.is_some() || born {
                self.around.switch(commit.map(|commit| Head {
                    branch: None,
                    commit: Some(commit),
                }));
            }
            return;
        }
        let (Act::Checkout { word }
        | Act::Switch { target: word }
        | Act::ResetTree {
            target: Some(word),
            moves_branch: false,
            ..
        }) = &self.git.act
        else {
            return;
        };
        let Some(text) = word.literal().filter(|text| *text != "-") else {
            return self.around.switch(None);
        };
        let mut branch = BString::from("refs/heads/");
        branch.extend_from_slice(text);
        let refs = self.around.graph().refs().unwrap_or_default();
        let tip = refs.iter().find(|(name, _)| *name == branch).or_else(|| {
            // git makes a branch of a remote's only one of that name.
            let mut end = BString::from("/");
            end.extend_from_slice(text);
            refs.iter()
                .find(|(name, _)| name.starts_with(b"refs/remotes/") && name.ends_with(&end))
        });
        if let Some((_, commit)) = tip {
            self.around.switch(Some(Head {
                branch: Some(branch),
                commit: Some(commit.clone()),
            }));
        } else if let Some(commit) = self.commit(Some(word)) {
            self.around.switch(Some(Head {
                branch: None,
                commit: Some(commit),
            }));
        }
    }

    fn move_head(&self, target: Option<&Arg>) -> Finding {
        match self.leaves(target) {
            Some(dropped) if !dropped.commits.is_empty() => Finding::harmless(
                GitClass::History,
                format!("{}; their content stays in the files", counted(&dropped)),
            ),
            _ => Finding::harmless(GitClass::Read, "files keep their content"),
        }
    }

    /// A path given to git, as a path and as one relative to the top.
    fn locate(&self, path: &Arg) -> Option<Located> {
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

    fn restore(&self, paths: &[Arg], source: Option<&Arg>, index: bool, worktree: bool) -> Finding {
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

    fn on_disk(&self, name: &BString) -> bool {
        std::fs::symlink_metadata(self.around.workspace().root.join(OsStr::from_bytes(name)))
            .is_ok()
    }

    /// Staged changes below paths, when the index is replaced too.
    fn staged_under(&self, paths: &[Arg]) -> Option<Losses> {
        let workspace = self.around.workspace();
        let index = workspace.git_dir.as_ref()?.join("index");
        let staged = crate::repo::staged(workspace, &index, &[]).ok()?;
        let mut losses = Losses::default();
        for change in staged {
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
                losses.files.push(change.path);
            }
        }
        Some(losses)
    }

    fn checkout(&self, word: &Arg) -> Vec<Finding> {
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

    fn clean(&self, directories: bool, ignored: Ignored, paths: &[Arg]) -> Finding {
        let class = GitClass::Discard;
        let workspace = self.around.workspace();
        if paths.iter().any(|path| !path.is_known()) {
            return Finding::lossy(class, "which files are meant is not known");
        }
        let mut under: Vec<BString> = Vec::new();
        for path in paths {
            match self.locate(path).and_then(|located| located.relative) {
                Some(relative) if !relative.as_os_str().is_empty() => {
                    under.push(bytes(&relative).into());
                }
                Some(_) => {}
                None => return Finding::lossy(class, "a path outside the worktree"),
            }
        }
        if under.is_empty()
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
        let unborn = self
            .around
            .graph()
            .head()
            .is_ok_and(|head| head.commit.is_none());
        let Ok(found) = crate::repo::others(workspace, which, &under) else {
            return Finding::lossy(class, "what is untracked cannot be told");
        };
        let mut files: Vec<BString> = found
            .into_iter()
            .filter(|path| directories || !path.ends_with(b"/"))
            .filter(|path| !super::made::is_made_again(path))
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

    fn full(name: &Arg, prefix: &str) -> Option<BString> {
        let text = name.literal()?;
        if text.starts_with(b"refs/") || text == "HEAD" {
            return Some(text.into());
        }
        let mut full = BString::from(prefix);
        full.extend_from_slice(text);
        Some(full)
    }

    fn drop_branches(&self, names: &[Arg], force: bool, remote: bool) -> Finding {
        let class = GitClass::History;
        if remote {
            return Finding::harmless(class, "remote-tracking branches come back with a fetch");
        }
        if !force {
            return Finding::harmless(class, "git refuses unless the branches are merged");
        }
        let names: Option<Vec<BString>> = names
            .iter()
            .map(|name| Self::full(name, "refs/heads/"))
            .collect();
        match names {
            Some(names) => self.without_refs(&names, class, "branch"),
            None => Finding::lossy(class, "which branch is meant is not known"),
        }
    }

    /// Remembers a ref that this deed makes, where it surely does.
    fn make_ref(&self, name: &Arg, target: Option<&Arg>, checked_out: bool) {
        let Some(full) = name.literal().map(BStr::to_owned) else {
            return;
        };
        let refs = self.around.graph().refs().unwrap_or_default();
        let Some(commit) = self.commit(target).filter(|_| is_free(&refs, &full)) else {
            return;
        };
        self.around.moves(&full, Some(commit.clone()));
        if checked_out {
            self.around.switch(Some(Head {
                branch: Some(full),
                commit: Some(commit),
            }));
        }
    }

    /// What is out of reach once refs are gone.
    fn without_refs(&self, names: &[BString], class: GitClass, kind: &str) -> Finding {
        let graph = self.around.graph();
        let Ok(refs) = graph.refs() else {
            return Finding::lossy(class, "the refs cannot be read");
        };
        let moved = self.around.moved();
        let tips: Vec<String> = names
            .iter()
            .filter_map(|name| {
                let now = refs.iter().find(|(known, _)| known == name);
                now.map(|(_, commit)| commit.clone())
                    .or_else(|| moved.get(name).cloned().flatten())
            })
            .collect();
        if tips.len() < names.len() {
            return Finding::lossy(
                class,
                format!("no {kind} has this name now; judged as if one had"),
            );
        }
        let gone: Vec<_> = names.iter().map(|name| (name.clone(), None)).collect();
        match self.dropped(&tips, &gone) {
            Ok(dropped) if dropped.commits.is_empty() => Finding::harmless(
                class,
                format!("every commit of the {kind} is reachable elsewhere"),
            ),
            Ok(dropped) => {
                let mut losses = commits(dropped.clone());
                losses.refs = names.to_vec();
                Finding::lossy(class, counted(&dropped)).losing(losses)
            }
            Err(_) => Finding::lossy(class, "the history cannot be walked"),
        }
    }

    fn move_ref(&self, name: &Arg, target: Option<&Arg>) -> Finding {
        let class = GitClass::History;
        let Some(full) = Self::full(name, "refs/heads/") else {
            return Finding::lossy(class, "which ref is meant is not known");
        };
        let graph = self.around.graph();
        let Ok(refs) = graph.refs() else {
            return Finding::lossy(class, "the refs cannot be read");
        };
        let head = self.around.head();
        let is_head = full == "HEAD";
        let present = if is_head {
            head.and_then(|head| head.commit)
        } else {
            refs.iter()
                .find(|(ref_name, _)| *ref_name == full)
                .map(|(_, commit)| commit.clone())
        };
        let Some(old) = present else {
            let born = refs
                .iter()
                .any(|(name, _)| name.starts_with(b"refs/heads/"));
            return if born
                && name.is_literal()
                && !full.starts_with(b"refs/tags/")
                && self.commit(target).is_some()
            {
                Finding::harmless(class, "the ref is new")
            } else {
                Finding::lossy(class, "no ref has this name now; judged as if one had")
            };
        };
        let Some(new) = self.commit(target) else {
            return Finding::lossy(class, "where the ref would go cannot be told");
        };
        if old == new {
            return Finding::harmless(class, "the ref is there already");
        }
        let name = if is_head {
            let branch = self.around.head().and_then(|head| head.branch);
            branch.unwrap_or_else(|| "HEAD".into())
        } else {
            full.clone()
        };
        match self.dropped(&[old], &[(name, Some(new))]) {
            Ok(dropped) if dropped.commits.is_empty() && full.starts_with(b"refs/tags/") => {
                Finding::lossy(
                    class,
                    "a tag has no reflog, where it was is written nowhere else",
                )
                .losing(Losses {
                    refs: vec![full],
                    ..Losses::default()
                })
            }
            Ok(dropped) if dropped.commits.is_empty() => {
                Finding::harmless(class, "every commit stays reachable")
            }
            Ok(dropped) => {
                let mut losses = commits(dropped.clone());
                losses.refs = vec![full];
                Finding::lossy(class, counted(&dropped)).losing(losses)
            }
            Err(_) => Finding::lossy(class, "the history cannot be walked"),
        }
    }

    fn drop_refs(&self, names: &[Arg], kind: &str) -> Finding {
        let class = GitClass::History;
        let names: Option<Vec<BString>> = names.iter().map(|name| Self::full(name, "")).collect();
        let Some(names) = names else {
            return Finding::lossy(class, format!("which {kind} is meant is not known"));
        };
        let tags = names.iter().any(|name| name.starts_with(b"refs/tags/"));
        let mut finding = self.without_refs(&names, class, kind);
        if tags && !finding.lossy {
            // A tag has no reflog: its name is the only record of what was released.
            finding.lossy = true;
            "a tag has no reflog, its name is the only record".clone_into(&mut finding.why);
            finding.losses.refs = names;
        }
        finding
    }

    fn drop_stash(&self, which: Option<&Arg>) -> Finding {
        let class = GitClass::Discard;
        let Ok(entries) = self.around.graph().stash() else {
            return Finding::lossy(class, "the stash cannot be read");
        };
        let index = which.map_or(Some(0), |which| {
            let text = which.literal()?.to_str().ok()?;
            let digits = text
                .strip_prefix("stash@{")
                .and_then(|rest| rest.strip_suffix('}'))
                .unwrap_or(text);
            digits.parse::<usize>().ok()
        });
        match index.and_then(|index| entries.get(index)) {
            Some(entry) => {
                Finding::lossy(class, "a stash entry is held by nothing else").losing(Losses {
                    commits: vec![entry.clone()],
                    ..Losses::default()
                })
            }
            None => Finding::lossy(class, "which stash entry goes cannot be told"),
        }
    }

    fn clear_stash(&self) -> Finding {
        let class = GitClass::Discard;
        match self.around.graph().stash() {
            Ok(entries) => {
                let why = format!("{} stash entries are held by nothing else", entries.len());
                let more = entries.len() > MOST;
                Finding::lossy(class, why).losing(Losses {
                    commits: entries.into_iter().take(MOST).collect(),
                    more,
                    ..Losses::default()
                })
            }
            Err(_) => Finding::lossy(class, "the stash cannot be read"),
        }
    }

    fn rewrite(&self, since: Option<&Arg>, why: &str) -> Finding {
        let class = GitClass::History;
        let range = self.around.head().and_then(|head| {
            let old = head.commit?;
            let base = self.commit(Some(since?))?;
            let name = head.branch.unwrap_or_else(|| "HEAD".into());
            self.dropped(&[old], &[(name, Some(base))]).ok()
        });
        match range {
            // Replaced, but others still hold the old ones: then they are published.
            Some(dropped) if dropped.commits.is_empty() => {
                Finding::lossy(class, format!("{why}, though other refs hold them"))
            }
            Some(dropped) => {
                let counted = counted(&dropped);
                Finding::lossy(class, format!("{why}: {counted}")).losing(commits(dropped))
            }
            None => Finding::lossy(class, why.to_owned()),
        }
    }

    fn abandon(&self, what: &str) -> Vec<Finding> {
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
}

/// Returns true for a file that is a path or lies below it; the empty path is the top.
fn is_below(file: &BString, path: &bstr::BStr) -> bool {
    path.is_empty()
        || file
            .strip_prefix(path.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn counted(dropped: &Dropped) -> String {
    let count = dropped.commits.len();
    format!(
        "{count}{} {} no other ref holds",
        if dropped.more { " or more" } else { "" },
        if count == 1 {
            "commit that"
        } else {
            "commits that"
        }
    )
}

fn commits(dropped: Dropped) -> Losses {
    Losses {
        commits: dropped.commits,
        more: dropped.more,
        ..Losses::default()
    }
}
