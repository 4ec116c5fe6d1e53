//! What git ignores: nested `.gitignore` files, `info/exclude`, `core.excludesFile`.
//!
//! Patterns are only read where the answer matters: at directories that the
//! cache does not know, and at large files.

use super::excludes::Rules;
use super::tracked::Tracked;
use crate::sys::files;
use bstr::{BStr, BString, ByteSlice as _};
use gix_glob::pattern::{Case, Mode};
use gix_glob::{Pattern, wildmatch};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What an ignored path falls under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    /// Git does not ignore it.
    No,
    /// In an ignored directory that also has tracked files.
    Mixed,
    /// In an ignored directory that was found small enough to be held.
    Small,
}

/// The rules of one repository; a nested repository has its own.
#[derive(Debug)]
pub(super) struct Repo {
    /// The repository's top, relative to the workspace.
    top: BString,
    git_dir: Option<PathBuf>,
    rules: Rules,
    tracked: Mutex<Option<Arc<Tracked>>>,
    excludes: OnceLock<[Vec<Pattern>; 2]>,
}

impl Repo {
    /// Names a repository; nothing is read yet.
    pub(super) fn new(top: BString, git_dir: Option<PathBuf>, rules: Rules) -> Self {
        Self {
            top,
            git_dir,
            rules,
            tracked: Mutex::default(),
            excludes: OnceLock::new(),
        }
    }

    /// What holds for all repositories of the person.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The git directory, where there is one.
    pub(super) fn git_dir(&self) -> Option<&PathBuf> {
        self.git_dir.as_ref()
    }

    fn inner<'a>(&self, path: &'a [u8]) -> &'a [u8] {
        below(path, &self.top)
    }

    /// What the repository tracks.
    pub(super) fn tracks(&self, path: &[u8]) -> bool {
        self.tracked().contains(self.inner(path))
    }

    /// Returns true when the repository tracks something below the directory.
    pub(super) fn tracks_under(&self, dir: &[u8]) -> bool {
        self.tracked().any_under(self.inner(dir))
    }

    fn tracked(&self) -> Arc<Tracked> {
        let read = || {
            Arc::new(
                self.git_dir
                    .as_deref()
                    .map(Tracked::read)
                    .unwrap_or_default(),
            )
        };
        Arc::clone(self.list().get_or_insert_with(read))
    }

    fn list(&self) -> MutexGuard<'_, Option<Arc<Tracked>>> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what the repository tracks: the walk is over, and the list may be long.
    pub(super) fn forget(&self) {
        *self.list() = None;
    }

    /// `info/exclude`, then `core.excludesFile`.
    fn excludes(&self) -> &[Vec<Pattern>; 2] {
        self.excludes.get_or_init(|| {
            let common = self.git_dir.as_deref().map(|dir| {
                files::read(dir.join("commondir")).map_or_else(
                    |_| dir.to_path_buf(),
                    |bytes| dir.join(bytes.trim().to_path_lossy()),
                )
            });
            let read = |path: Option<PathBuf>| {
                path.and_then(|path| files::read(path).ok())
                    .map(|bytes| patterns(&bytes))
                    .unwrap_or_default()
            };
            [
                read(common.map(|dir| dir.join("info/exclude"))),
                read(self.rules.excludes.clone()),
            ]
        })
    }
}

/// A directory with a `.gitignore`, and all those above it up to its repository's top.
#[derive(Debug)]
pub(super) struct Scope {
    /// The repository.
    pub(super) repo: Arc<Repo>,
    above: Option<Arc<Scope>>,
    dir: BString,
    file: Option<PathBuf>,
    patterns: OnceLock<Vec<Pattern>>,
}

impl Scope {
    /// The scope of a repository's top.
    pub(super) fn top(repo: Repo) -> Self {
        Self {
            dir: repo.top.clone(),
            repo: Arc::new(repo),
            above: None,
            file: None,
            patterns: OnceLock::new(),
        }
    }

    /// The scope of a directory that has a `.gitignore` of its own at `file`.
    pub(super) fn nested(above: &Arc<Self>, dir: BString, file: PathBuf) -> Self {
        Self {
            repo: Arc::clone(&above.repo),
            above: Some(Arc::clone(above)),
            dir,
            file: Some(file),
            patterns: OnceLock::new(),
        }
    }

    fn patterns(&self) -> &[Pattern] {
        self.patterns.get_or_init(|| {
            // git itself does not follow a `.gitignore` that is a link (since 2.32).
            self.file
                .as_deref()
                .filter(|file| {
                    fs::symlink_metadata(file).is_ok_and(|meta| meta.file_type().is_file())
                })
                .and_then(|file| files::read(file).ok())
                .map(|bytes| patterns(&bytes))
                .unwrap_or_default()
        })
    }

    /// Returns true when a pattern ignores the path; its directories are known not to be ignored.
    pub(super) fn ignores(&self, path: &[u8], is_dir: bool) -> bool {
        let case = self.repo.rules.case;
        let mut scope = Some(self);
        while let Some(here) = scope {
            let inner = below(path, &here.dir);
            if let Some(answer) = last_match(here.patterns(), inner, is_dir, case) {
                return answer;
            }
            scope = here.above.as_deref();
        }
        let inner = self.repo.inner(path);
        self.repo
            .excludes()
            .iter()
            .find_map(|patterns| last_match(patterns, inner, is_dir, case))
            .unwrap_or(false)
    }
}

/// The part of `path` below `dir`.
fn below<'a>(path: &'a [u8], dir: &[u8]) -> &'a [u8] {
    if dir.is_empty() {
        return path;
    }
    path.strip_prefix(dir)
        .and_then(|rest| rest.strip_prefix(b"/"))
        .unwrap_or(path)
}

/// The last pattern decides; a negated one says no.
fn last_match(patterns: &[Pattern], path: &[u8], is_dir: bool, case: Case) -> Option<bool> {
    patterns
        .iter()
        .rev()
        .find(|pattern| matches(pattern, path, is_dir, case))
        .map(|pattern| !pattern.is_negative())
}

/// Matches one gitignore pattern against a path relative to the pattern's own directory.
pub(super) fn matches(pattern: &Pattern, path: &[u8], is_dir: bool, case: Case) -> bool {
    let path: &BStr = path.as_bstr();
    pattern.matches_repo_relative_path(
        path,
        path.rfind_byte(b'/').map(|at| at + 1),
        Some(is_dir),
        case,
        wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
    )
}

/// Reads the patterns of an ignore file (gitignore(5)).
pub(super) fn patterns(bytes: &[u8]) -> Vec<Pattern> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // git ends the last line where the file does not; a carriage return before that goes too.
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    bytes
        .lines()
        .filter(|line| !line.starts_with(b"#"))
        .filter_map(|line| {
            let mut pattern = gix_glob::parse(without_trailing_spaces(line))?;
            // A pattern with a slash in the middle is tied to its directory as
            // one with a slash in front is.
            if !pattern.mode.contains(Mode::NO_SUB_DIR) {
                pattern.mode |= Mode::ABSOLUTE;
            }
            Some(pattern)
        })
        .collect()
}

/// Drops trailing spaces that no backslash protects.
fn without_trailing_spaces(line: &[u8]) -> &[u8] {
    let mut end = line.len();
    while end > 0 && line.get(end - 1) == Some(&b' ') {
        let slashes = line
            .get(..end - 1)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if slashes % 2 == 1 {
            break;
        }
        end -= 1;
    }
    line.get(..end).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(rules: &str, path: &str, is_dir: bool) -> bool {
        let patterns = patterns(rules.as_bytes());
        last_match(&patterns, path.as_bytes(), is_dir, Case::Sensitive).unwrap_or(false)
    }

    #[test]
    fn patterns_mean_what_gitignore_says() {
        for (rules, path, is_dir, expected) in [
            ("target/\n", "target", true, true),
            ("target/\n", "target", false, false),
            ("target/\n", "a/b/target", true, true),
            ("/target\n", "a/target", true, false),
            ("a/b\n", "a/b", true, true),
            ("a/b\n", "x/a/b", true, false),
            ("**/b\n", "x/a/b", true, true),
            ("a/**/b\n", "a/x/y/b", false, true),
            ("*.log\n!keep.log\n", "keep.log", false, false),
            ("*.log\n!keep.log\n", "x/y.log", false, true),
            ("# c\n\\#c\n", "#c", false, true),
            ("a\\ \n", "a ", false, true),
            ("a  \n", "a", false, true),
            ("\\!x\n", "!x", false, true),
            ("a\r\nb\r", "b", false, true),
            ("*\n!*/\n", "d", true, false),
            ("foo?[ab]\n", "fooxa", false, true),
        ] {
            assert_eq!(ignored(rules, path, is_dir), expected, "{rules:?} {path}");
        }
    }
}
