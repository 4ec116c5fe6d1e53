//! Files that git does not hold and that give way to another commit's, without a word from git.

use super::{Evidence, Finding, MOST};
use crate::judge::{GitClass, Losses};
use crate::repo::{GiveWay, Incoming, Others};
use crate::shell::Arg;
use crate::shell::programs::git::Bring;
use bstr::{BString, ByteSlice as _};

impl Evidence<'_, '_> {
    /// Another commit is checked out: ignored files give way to its own, commits on no branch are left.
    pub(super) fn visit(&self, target: &Arg) -> Vec<Finding> {
        let to = self.reached(target);
        let mut findings = Vec::new();
        if let Some(losses) = to
            .as_deref()
            .and_then(|to| self.given_way(Incoming { from: None, to }, GiveWay::Ignored))
        {
            findings.push(overwrites(losses));
        }
        findings.extend(self.left_behind(to.as_deref()));
        if findings.is_empty() {
            findings.push(Finding::harmless(
                GitClass::Read,
                "another commit is checked out, local changes are kept",
            ));
        }
        findings
    }

    /// Files that git does not hold and that a commit's would take the place of.
    pub(super) fn in_the_way(&self, target: Option<&Arg>, which: GiveWay) -> Option<Losses> {
        let to = match target {
            Some(target) => self.reached(target)?,
            None => "HEAD".to_owned(),
        };
        self.given_way(
            Incoming {
                from: None,
                to: &to,
            },
            which,
        )
    }

    /// The commit that a word of checkout means; git makes a branch of a remote's only one of that name.
    pub(super) fn reached(&self, target: &Arg) -> Option<String> {
        let text = target.literal()?.to_str_lossy();
        let name = if text == "-" { "@{-1}" } else { &text };
        let graph = self.around.graph();
        if let Some(commit) = graph.commit(name).ok().flatten() {
            return Some(commit);
        }
        let mut end = BString::from("/");
        end.extend_from_slice(text.as_bytes());
        let refs = graph.refs().ok()?;
        refs.into_iter()
            .find(|(name, _)| name.starts_with(b"refs/remotes/") && name.ends_with(&end))
            .map(|(_, commit)| commit)
    }

    fn given_way(&self, incoming: Incoming<'_>, which: GiveWay) -> Option<Losses> {
        let tracked = self.around.tracked()?;
        let files =
            crate::repo::overwritten(self.around.workspace(), tracked, incoming, which).ok()?;
        (!files.is_empty()).then(|| listed(files))
    }

    /// Files that come with other commits, over ignored ones.
    pub(super) fn bring(&self, how: Bring, commits: &[Arg]) -> Vec<Finding> {
        let mut found = Losses::default();
        for commit in commits {
            // What names no commit is refused by git.
            for (from, to) in self.brought(how, commit).unwrap_or_default() {
                let incoming = Incoming {
                    from: Some(&from),
                    to: &to,
                };
                if let Some(losses) = self.given_way(incoming, GiveWay::Ignored) {
                    found.merge(&losses);
                }
            }
        }
        if found.files.is_empty() {
            vec![Finding::harmless(GitClass::Read, "local changes are kept")]
        } else {
            vec![overwrites(found)]
        }
    }

    /// The steps, from one tree to another, that bringing a commit makes.
    fn brought(&self, how: Bring, commit: &Arg) -> Option<Vec<(String, String)>> {
        let graph = self.around.graph();
        let text = commit.literal()?.to_str_lossy();
        let name = if how == Bring::Stash && text.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("stash@{{{text}}}")
        } else {
            text.into_owned()
        };
        if let Some((from, to)) = name.split_once("..") {
            let of = |name: &str| {
                graph
                    .commit(if name.is_empty() { "HEAD" } else { name })
                    .ok()
            };
            return Some(vec![(of(from)??, of(to.trim_start_matches('.'))??)]);
        }
        let to = graph.commit(&name).ok().flatten()?;
        let parent = || graph.commit(&format!("{to}^")).ok().flatten();
        Some(match how {
            Bring::Merge => vec![(graph.commit("HEAD").ok().flatten()?, to)],
            Bring::Pick | Bring::Stash => vec![(parent()?, to)],
            Bring::Revert => vec![(to.clone(), parent()?)],
        })
    }

    /// What a remote has comes into the worktree: what is known of it, or that it is not known.
    pub(super) fn pull(&self, from: &[Arg]) -> Vec<Finding> {
        let known = match from {
            [] => self.around.graph().commit("@{upstream}").ok().flatten(),
            [_] => None,
            [remote, branch, ..] => remote.literal().zip(branch.literal()).and_then(|(r, b)| {
                let name = format!("refs/remotes/{}/{}", r.to_str_lossy(), b.to_str_lossy());
                self.around.graph().commit(&name).ok().flatten()
            }),
        };
        if let Some(losses) = known
            .as_deref()
            .and_then(|to| self.given_way(Incoming { from: None, to }, GiveWay::Ignored))
        {
            return vec![overwrites(losses)];
        }
        let workspace = self.around.workspace();
        let ignored = crate::repo::others(workspace, Others::Ignored, &[]).unwrap_or_default();
        if ignored
            .iter()
            .all(|path| super::super::made::is_made_again(path))
        {
            return vec![Finding::harmless(GitClass::Read, "local changes are kept")];
        }
        vec![Finding::unknown(
            "what the remote has by now is not known; a file of its own would overwrite an ignored one of that name",
        )]
    }
}

fn overwrites(losses: Losses) -> Finding {
    let why = "ignored files would be overwritten by files of that commit";
    Finding::lossy(GitClass::Discard, why).losing(losses)
}

/// Files as losses, not more than are listed.
pub(super) fn listed(mut files: Vec<BString>) -> Losses {
    let more = files.len() > MOST;
    files.truncate(MOST);
    Losses {
        files,
        more,
        ..Losses::default()
    }
}
