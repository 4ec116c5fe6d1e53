//! What is checked out, and the commits that a branch leaves.

use super::{Evidence, Finding, counted};
use crate::error::Result;
use crate::judge::GitClass;
use crate::repo::{Dropped, Head};
use crate::shell::Arg;
use crate::shell::programs::git::Act;
use bstr::{BString, ByteSlice as _};

impl Evidence<'_, '_> {
    /// The commits that the present branch leaves when it moves; `None` where that cannot be told.
    pub(super) fn leaves(&self, target: Option<&Arg>) -> Option<Dropped> {
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
    pub(super) fn dropped(
        &self,
        tips: &[String],
        moves: &[(BString, Option<String>)],
    ) -> Result<Dropped> {
        for (name, to) in moves {
            self.around.moves(name, to.clone());
        }
        let now = self.around.moved();
        let gone: Vec<BString> = now.keys().cloned().collect();
        let kept: Vec<String> = now.into_values().flatten().collect();
        self.around.graph().dropped(tips, &gone, &kept)
    }

    pub(super) fn commit(&self, target: Option<&Arg>) -> Option<String> {
        let word = match target {
            None => "HEAD".to_owned(),
            Some(arg) => arg.literal()?.to_str().ok()?.to_owned(),
        };
        let word = self.anchored(word)?;
        self.around.graph().commit(&word).ok().flatten()
    }

    /// A revision with what is checked out by now in the place of `HEAD`.
    pub(super) fn anchored(&self, word: String) -> Option<String> {
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
    pub(super) fn switch(&self) {
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

    pub(super) fn move_head(&self, target: Option<&Arg>) -> Finding {
        match self.leaves(target) {
            Some(dropped) if !dropped.commits.is_empty() => Finding::harmless(
                GitClass::History,
                format!("{}; their content stays in the files", counted(&dropped)),
            ),
            _ => Finding::harmless(GitClass::Read, "files keep their content"),
        }
    }
}
