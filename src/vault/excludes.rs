//! Where a person's ignore rules lie: `core.excludesFile` and `core.ignoreCase`,
//! with includes followed as git-config(1) says.

use super::rollback::config::entries;
use crate::sys::files;
use bstr::ByteSlice as _;
use gix_glob::pattern::Case;
use gix_glob::wildmatch;
use std::path::{Path, PathBuf};

/// How deep includes may nest, as in git.
const DEPTH: usize = 10;

/// What holds for every repository of the workspace.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// The excludes file of the person.
    pub(super) excludes: Option<PathBuf>,
    /// Whether patterns care about upper and lower case.
    pub(super) case: Case,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            excludes: None,
            case: Case::Sensitive,
        }
    }
}

/// Where the configuration is read, and what its conditions are about.
pub(super) struct Place<'a> {
    /// The files, the strongest last.
    pub(super) configs: &'a [PathBuf],
    /// The person's directory, for `~/`.
    pub(super) home: Option<&'a Path>,
    /// The git directory.
    pub(super) git_dir: Option<&'a Path>,
    /// git's own place for the excludes file.
    pub(super) default: Option<PathBuf>,
}

/// Reads the configuration; a file that is not there or does not parse says nothing.
pub(super) fn read(place: &Place<'_>) -> Rules {
    let mut rules = Rules {
        excludes: place.default.clone(),
        ..Rules::default()
    };
    for config in place.configs {
        read_file(place, config, 0, &mut rules);
    }
    rules
}

fn read_file(place: &Place<'_>, file: &Path, depth: usize, rules: &mut Rules) {
    let Some(entries) = files::read(file).ok().and_then(|bytes| entries(&bytes)) else {
        return;
    };
    for (section, key, value) in entries {
        match (section.as_str(), key.as_str()) {
            ("core", "excludesfile") => rules.excludes = Some(expand(place, file, &value)),
            ("core", "ignorecase") => {
                rules.case = if is_true(&value) {
                    Case::Fold
                } else {
                    Case::Sensitive
                };
            }
            (section, "path") if depth < DEPTH => {
                let holds = section == "include"
                    || section
                        .strip_prefix("includeif.")
                        .is_some_and(|condition| holds(place, file, condition));
                if holds {
                    read_file(place, &expand(place, file, &value), depth + 1, rules);
                }
            }
            _ => {}
        }
    }
}

fn is_true(value: &str) -> bool {
    matches!(
        value.to_ascii_lowercase().as_str(),
        "true" | "yes" | "on" | "1"
    )
}

/// A path of the configuration: below the home directory, or beside the file that names it.
fn expand(place: &Place<'_>, file: &Path, value: &str) -> PathBuf {
    match (value.strip_prefix("~/"), place.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => file.parent().unwrap_or(Path::new("/")).join(value),
    }
}

/// Returns true where an `includeIf` condition holds; one that git does not know does not.
fn holds(place: &Place<'_>, file: &Path, condition: &str) -> bool {
    let Some(git_dir) = place.git_dir else {
        return false;
    };
    let Some((kind, pattern)) = condition.split_once(':') else {
        return false;
    };
    match kind {
        "gitdir" => matches_dir(place, file, pattern, git_dir, wildmatch::Mode::empty()),
        "gitdir/i" => matches_dir(place, file, pattern, git_dir, wildmatch::Mode::IGNORE_CASE),
        "onbranch" => {
            let head = files::read(git_dir.join("HEAD")).unwrap_or_default();
            let branch = head.trim_ascii().strip_prefix(b"ref: refs/heads/");
            branch
                .is_some_and(|branch| matches(&open_end(pattern), branch, wildmatch::Mode::empty()))
        }
        _ => false,
    }
}

fn matches_dir(
    place: &Place<'_>,
    file: &Path,
    pattern: &str,
    git_dir: &Path,
    mode: wildmatch::Mode,
) -> bool {
    let pattern = match (pattern.strip_prefix("~/"), pattern.strip_prefix("./")) {
        (Some(_), _) | (_, Some(_)) => {
            let whole = expand(place, file, pattern.trim_start_matches("./"));
            // A joined path loses the slash that stands for everything below.
            let slash = if pattern.ends_with('/') { "/" } else { "" };
            format!(
                "{}{slash}",
                whole.display().to_string().trim_end_matches('/')
            )
        }
        _ if pattern.starts_with('/') => pattern.to_owned(),
        _ => format!("**/{pattern}"),
    };
    let path = git_dir.as_os_str().as_encoded_bytes();
    matches(&open_end(&pattern), path, mode)
}

/// A pattern that ends with a slash means everything below.
fn open_end(pattern: &str) -> String {
    if pattern.ends_with('/') {
        format!("{pattern}**")
    } else {
        pattern.to_owned()
    }
}

fn matches(pattern: &str, value: &[u8], mode: wildmatch::Mode) -> bool {
    gix_glob::wildmatch(
        pattern.into(),
        value.as_bstr(),
        mode | wildmatch::Mode::NO_MATCH_SLASH_LITERAL,
    )
}
