//! Refs and stash entries that are made, moved, rewritten or deleted.

use super::{Evidence, Finding, MOST, commits, counted};
use crate::judge::{GitClass, Losses};
use crate::repo::Head;
use crate::shell::Arg;
use bstr::{BStr, BString, ByteSlice as _};

impl Evidence<'_, '_> {
    pub(super) fn full(name: &Arg, prefix: &str) -> Option<BString> {
        let text = name.literal()?;
        if text.starts_with(b"refs/") || text == "HEAD" {
            return Some(text.into());
        }
        let mut full = BString::from(prefix);
        full.extend_from_slice(text);
        Some(full)
    }

    pub(super) fn drop_branches(&self, names: &[Arg], force: bool, remote: bool) -> Finding {
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
    pub(super) fn make_ref(&self, name: &Arg, target: Option<&Arg>, checked_out: bool) {
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
    pub(super) fn without_refs(&self, names: &[BString], class: GitClass, kind: &str) -> Finding {
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

    pub(super) fn move_ref(&self, name: &Arg, target: Option<&Arg>) -> Finding {
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

    pub(super) fn drop_refs(&self, names: &[Arg], kind: &str) -> Finding {
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

    pub(super) fn rewrite(&self, since: Option<&Arg>, why: &str) -> Finding {
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

    pub(super) fn drop_stash(&self, which: Option<&Arg>) -> Finding {
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

    pub(super) fn clear_stash(&self) -> Finding {
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
