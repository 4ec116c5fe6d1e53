//! Path patterns with gitignore semantics.

use super::parse::Fault;
use bstr::{BStr, ByteSlice as _};
use gix_glob::pattern::Case;
use gix_glob::wildmatch;

/// One path or glob of a Contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    /// As written, without backticks.
    pub text: String,
    /// Line in the file, from 1.
    pub line: usize,
    glob: gix_glob::Pattern,
}

impl PathPattern {
    /// Reads a path or glob.
    ///
    /// # Errors
    /// When it leaves the workspace, or a bracket in it is not closed.
    pub fn parse(text: &str, line: usize) -> Result<Self, Fault> {
        let fault = |why: &str| {
            Fault::new(line, format!("`{text}` is no path pattern: {why}")).accepting(
                "paths and gitignore globs relative to the top of the worktree, such as `src/auth/`, `*.md`, `docs/**/*.txt`, `!src/auth/generated/`",
            )
        };
        let (negation, body) = match text.strip_prefix('!') {
            Some(body) => ("!", body),
            None => ("", text),
        };
        let body = body.strip_prefix("./").unwrap_or(body);
        if body.split('/').any(|part| part == "..") || body.starts_with("~/") {
            return Err(fault("it leads out of the workspace"));
        }
        if body.contains("//") {
            return Err(fault("it has an empty component"));
        }
        if let Some(why) = broken(body.as_bytes()) {
            return Err(fault(why));
        }
        // `.` and `/` name the whole worktree, for which a glob has `**`.
        let body = if matches!(body, "." | "/" | "./") {
            "**"
        } else {
            body
        };
        gix_glob::Pattern::from_bytes(format!("{negation}{body}").as_bytes())
            .map(|glob| Self {
                text: text.to_owned(),
                line,
                glob,
            })
            .ok_or_else(|| fault("it is empty"))
    }

    /// Returns true for a pattern that takes paths out again (`!…`).
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.glob.is_negative()
    }

    /// Returns true where the pattern matches the path or a directory above it.
    fn covers(&self, path: &BStr) -> bool {
        let (path, is_dir) = match path.strip_suffix(b"/") {
            Some(dir) => (dir.as_bstr(), true),
            None => (path, false),
        };
        if path.is_empty() || path.starts_with(b"/") {
            return false;
        }
        self.matches(path, is_dir)
            || path
                .find_iter(b"/")
                .any(|end| self.matches(path[..end].as_bstr(), true))
    }

    fn matches(&self, path: &BStr, is_dir: bool) -> bool {
        self.glob.matches_repo_relative_path(
            path,
            path.rfind_byte(b'/').map(|slash| slash + 1),
            Some(is_dir),
            Case::Sensitive,
            wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
        )
    }

    /// Returns true where something below the directory `dir` could match.
    fn reaches_into(&self, dir: &BStr) -> bool {
        if self.is_negative() {
            return false;
        }
        let mode = self.glob.mode;
        let floats = mode.contains(gix_glob::pattern::Mode::NO_SUB_DIR)
            && !mode.contains(gix_glob::pattern::Mode::ABSOLUTE);
        let literal =
            &self.glob.text[..self.glob.first_wildcard_pos.unwrap_or(self.glob.text.len())];
        floats
            || literal.starts_with(dir)
            || dir.starts_with(literal) && literal.len() < self.glob.text.len()
    }

    /// Returns true where everything `other` matches is matched by this one too.
    ///
    /// Errs towards false.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        if self.is_negative() || other.is_negative() {
            return false;
        }
        if self.glob.text == "**" || self.text == other.text {
            return true;
        }
        other.glob.first_wildcard_pos.is_none()
            && (other.glob.text.contains(&b'/')
                || other.glob.mode.contains(gix_glob::pattern::Mode::ABSOLUTE))
            && {
                let is_dir = other
                    .glob
                    .mode
                    .contains(gix_glob::pattern::Mode::MUST_BE_DIR);
                let mut path = other.glob.text.clone();
                if is_dir {
                    path.push(b'/');
                }
                self.covers(path.as_bstr())
            }
    }
}

/// Returns the pattern that lists `path`, if the last word on it is that it is listed.
pub(super) fn decides<'a>(patterns: &'a [PathPattern], path: &BStr) -> Option<&'a PathPattern> {
    patterns
        .iter()
        .rev()
        .find(|pattern| pattern.covers(path))
        .filter(|pattern| !pattern.is_negative())
}

/// As [`decides`]; a directory also counts where something below it may be listed.
pub(super) fn decides_below<'a>(
    patterns: &'a [PathPattern],
    path: &BStr,
) -> Option<&'a PathPattern> {
    decides(patterns, path).or_else(|| {
        path.ends_with(b"/")
            .then(|| patterns.iter().find(|pattern| pattern.reaches_into(path)))
            .flatten()
    })
}

/// Lists patterns for a message, at most five.
pub(super) fn list(patterns: &[PathPattern]) -> String {
    let mut text = patterns
        .iter()
        .take(5)
        .map(|pattern| pattern.text.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    if let Some(more) = patterns.len().checked_sub(5).filter(|more| *more > 0) {
        text = format!("{text} and {more} more");
    }
    text
}

/// Says what is wrong with a glob; git takes such a one to match nothing, silently.
fn broken(glob: &[u8]) -> Option<&'static str> {
    let mut bytes = glob.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if bytes.next().is_none() => return Some("it ends in a lone backslash"),
            b'[' => {
                // A `]` right after `[`, `[!` or `[^` stands for itself.
                let rest = &glob[at + 1..];
                let skip = usize::from(matches!(rest.first(), Some(b'!' | b'^')));
                let close = rest
                    .get(skip + 1..)
                    .and_then(|rest| rest.find_byte(b']'))
                    .map(|found| found + skip + 1);
                match close {
                    Some(close) => {
                        for _ in 0..=close {
                            bytes.next();
                        }
                    }
                    None => return Some("a `[` is not closed"),
                }
            }
            _ => {}
        }
    }
    None
}
