//! Which commits only one ref holds, and what names mean.
//!
//! libgit2 answers for repositories whose format it reads right; git's plumbing
//! answers for all others, and where libgit2 does not come back. What neither can
//! tell is an error, never "nothing".

use super::library::Library;
use super::{Git, Workspace};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::sys::files;
use bstr::{BStr, BString, ByteSlice as _};
use std::cell::OnceCell;
use std::os::unix::ffi::OsStrExt as _;

/// Most commits that one answer lists.
const MOST: usize = 20;

/// The commits and refs of a repository.
pub struct Graph<'w> {
    workspace: &'w Workspace,
    library: OnceCell<Option<Library>>,
}

/// Commits that would be out of reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Abbreviated id and subject, newest first.
    pub commits: Vec<String>,
    /// There are more.
    pub more: bool,
}

/// The present commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The branch's full name; `None` when detached.
    pub branch: Option<BString>,
    /// The commit; `None` on an unborn branch.
    pub commit: Option<String>,
}

impl<'w> Graph<'w> {
    /// Names a workspace's repository; it is opened at the first question.
    #[must_use]
    pub fn open(workspace: &'w Workspace) -> Self {
        Self {
            workspace,
            library: OnceCell::new(),
        }
    }

    fn library(&self) -> Option<&Library> {
        let open = || {
            let plain = self
                .workspace
                .common_dir
                .as_deref()
                .is_some_and(super::staged::is_plain_format);
            self.workspace
                .git_dir
                .as_deref()
                .filter(|_| plain)
                .and_then(Library::open)
        };
        self.library.get_or_init(open).as_ref()
    }

    /// What libgit2 answers; `None` where it is not to be asked, or does not come back.
    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&git2::Repository) -> std::result::Result<T, git2::Error> + Send + 'static,
    ) -> Option<std::result::Result<T, git2::Error>> {
        self.library()?.ask(question)
    }

    /// The commit that a word names; `None` where it names none.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn commit(&self, word: &str) -> Result<Option<String>> {
        if word.starts_with('-') {
            return Ok(None);
        }
        let asked = word.to_owned();
        let found = self.ask(move |library| {
            let object = library.revparse_single(&asked)?;
            Ok(object.peel_to_commit()?.id().to_string())
        });
        if let Some(Ok(commit)) = found {
            return Ok(Some(commit));
        }
        let output = Git::at(self.workspace)
            .args(["rev-parse", "-q", "--verify", "--end-of-options"])
            .arg(format!("{word}^{{commit}}"))
            .output()?;
        let text = output.stdout.to_str_lossy().trim().to_owned();
        Ok((output.status == Some(0) && !text.is_empty()).then_some(text))
    }

    /// Where `HEAD` is.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn head(&self) -> Result<Head> {
        let found = self.ask(|library| {
            let head = library.find_reference("HEAD")?;
            Ok(Head {
                branch: head.symbolic_target_bytes().map(BString::from),
                commit: head
                    .peel_to_commit()
                    .ok()
                    .map(|commit| commit.id().to_string()),
            })
        });
        if let Some(Ok(head)) = found {
            return Ok(head);
        }
        let output = Git::at(self.workspace)
            .args(["symbolic-ref", "-q", "HEAD"])
            .output()?;
        let branch = (output.status == Some(0)).then(|| BString::from(output.stdout.trim()));
        Ok(Head {
            branch,
            commit: self.commit("HEAD")?,
        })
    }

    /// Whether the branch has no commit yet.
    ///
    /// A branch whose file names an object is taken to have one; whether the object
    /// is whole is for whoever reads it.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn is_unborn(&self) -> Result<bool> {
        if self.names_an_object() {
            return Ok(false);
        }
        Ok(self.head()?.commit.is_none())
    }

    /// Whether `HEAD`, or the file of the branch that it names, holds an object's id.
    fn names_an_object(&self) -> bool {
        let (Some(own), Some(common)) = (&self.workspace.git_dir, &self.workspace.common_dir)
        else {
            return false;
        };
        let is_id = |text: &[u8]| {
            let text = text.trim_end();
            text.len() >= 40 && text.iter().all(u8::is_ascii_hexdigit)
        };
        let Ok(head) = files::read(own.join("HEAD")) else {
            return false;
        };
        match head.strip_prefix(b"ref: ") {
            None => is_id(&head),
            Some(name) => files::read(common.join(std::ffi::OsStr::from_bytes(name.trim_end())))
                .is_ok_and(|text| is_id(&text)),
        }
    }

    /// All refs with the commits that they name.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn refs(&self) -> Result<Vec<(BString, String)>> {
        let found = self.ask(|library| {
            let mut refs = Vec::new();
            for reference in library.references()?.flatten() {
                if let Ok(commit) = reference.peel_to_commit() {
                    refs.push((
                        BString::from(reference.name_bytes()),
                        commit.id().to_string(),
                    ));
                }
            }
            Ok(refs)
        });
        if let Some(refs) = found {
            return refs.doing(ErrorKind::Repository, || "cannot read the refs".to_owned());
        }
        let text = Git::at(self.workspace)
            .args(["for-each-ref", "--format=%(refname) %(objectname)"])
            .read()?;
        Ok(text
            .lines()
            .filter_map(|line| {
                let at = line.find_byte(b' ')?;
                Some((
                    BString::from(line.get(..at)?),
                    line.get(at + 1..)?.to_str_lossy().into_owned(),
                ))
            })
            .collect())
    }

    /// The full name of a branch, tag or ref given in short; `None` where there is none.
    ///
    /// # Errors
    /// When the refs cannot be read.
    pub fn full_name(&self, short: &BStr) -> Result<Option<BString>> {
        let refs = self.refs()?;
        for prefix in ["", "refs/", "refs/heads/", "refs/tags/", "refs/remotes/"] {
            let mut full = BString::from(prefix);
            full.extend_from_slice(short);
            if refs.iter().any(|(name, _)| *name == full) {
                return Ok(Some(full));
            }
        }
        Ok(None)
    }

    /// The commits that `tips` reach and that nothing else would, once `gone` are gone and `kept` are there.
    ///
    /// Stash entries do not count as holders: they are dropped as easily.
    ///
    /// # Errors
    /// When the history cannot be walked.
    pub fn dropped(&self, tips: &[String], gone: &[BString], kept: &[String]) -> Result<Dropped> {
        let head = self.head()?;
        let mut holders: Vec<String> = self
            .refs()?
            .into_iter()
            .filter(|(name, _)| {
                !gone.contains(name) && name != "refs/stash" && !name.starts_with(b"refs/original/")
            })
            .map(|(_, commit)| commit)
            .collect();
        holders.extend_from_slice(kept);
        if head.branch.is_none() && !gone.iter().any(|name| name == "HEAD") {
            holders.extend(head.commit);
        }
        let (asked, hidden) = (tips.to_vec(), holders.clone());
        match self.ask(move |library| walk(library, &asked, &hidden)) {
            Some(dropped) => dropped.doing(ErrorKind::Repository, || {
                "cannot walk the history".to_owned()
            }),
            None => self.rev_list(tips, &holders),
        }
    }

    fn rev_list(&self, tips: &[String], holders: &[String]) -> Result<Dropped> {
        let mut input = String::new();
        for tip in tips {
            input.push_str(tip);
            input.push('\n');
        }
        for holder in holders {
            input.push('^');
            input.push_str(holder);
            input.push('\n');
        }
        let text = Git::at(self.workspace)
            .args(["rev-list", "--no-commit-header", "--format=%h %s"])
            .arg(format!("--max-count={}", MOST + 1))
            .arg("--stdin")
            .input(input.into_bytes())
            .read()?;
        let mut commits: Vec<String> = text
            .lines()
            .map(|line| line.to_str_lossy().into_owned())
            .collect();
        let more = commits.len() > MOST;
        commits.truncate(MOST);
        Ok(Dropped { commits, more })
    }

    /// The stash entries: the reflog of `refs/stash`, newest first.
    ///
    /// # Errors
    /// When git cannot be asked.
    pub fn stash(&self) -> Result<Vec<String>> {
        let there = self.ask(|library| Ok(library.find_reference("refs/stash").is_ok()));
        if matches!(there, Some(Ok(false))) {
            return Ok(Vec::new());
        }
        let output = Git::at(self.workspace)
            .args(["stash", "list", "--format=%h %gs"])
            .output()?;
        if output.status != Some(0) {
            return Err(Error::new(
                ErrorKind::Repository,
                "cannot list the stash entries",
            ));
        }
        Ok(output
            .stdout
            .lines()
            .map(|line| line.to_str_lossy().into_owned())
            .collect())
    }

    /// The value of a setting, where there is one.
    #[must_use]
    pub fn setting(&self, key: &str) -> Option<BString> {
        let asked = key.to_owned();
        let found = self.ask(move |library| {
            let config = library.config()?.snapshot()?;
            Ok(config.get_bytes(&asked).ok().map(BString::from))
        });
        if let Some(found) = found {
            return found.ok().flatten();
        }
        let output = Git::at(self.workspace)
            .args(["config", "--get", key])
            .output()
            .ok()?;
        (output.status == Some(0)).then(|| BString::from(output.stdout.trim_end()))
    }
}

fn walk(
    library: &git2::Repository,
    tips: &[String],
    holders: &[String],
) -> std::result::Result<Dropped, git2::Error> {
    let mut walk = library.revwalk()?;
    walk.set_sorting(git2::Sort::TIME)?;
    for tip in tips {
        walk.push(git2::Oid::from_str(tip)?)?;
    }
    for holder in holders {
        walk.hide(git2::Oid::from_str(holder)?)?;
    }
    let mut dropped = Dropped::default();
    for id in walk {
        let id = id?;
        if dropped.commits.len() == MOST {
            dropped.more = true;
            break;
        }
        let commit = library.find_commit(id)?;
        let id = id.to_string();
        let subject = commit.summary_bytes().unwrap_or_default().to_str_lossy();
        dropped
            .commits
            .push(format!("{} {subject}", id.get(..7).unwrap_or(&id)));
    }
    Ok(dropped)
}
