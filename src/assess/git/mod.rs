//! Deeds on a repository: commits, refs, stash entries and files that would be gone.

mod head;
mod leaving;
mod refs;
mod sparse;
mod submodules;
mod tree;
mod way;
mod whose;
mod without;

use whose::{Repository, repository};
use without::{fresh, made, without};

use super::around::Around;
use crate::judge::{Effect, EffectKind, GitClass, Level, Losses};
use crate::repo::Dropped;
use crate::shell::programs::git::{Act, GitDeed};
use crate::shell::{Arg, Deed};
use bstr::{BString, ByteSlice as _};

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
        Repository::Fresh => vec![fresh(&git.act)],
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
