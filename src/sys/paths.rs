//! Paths as they were typed, made comparable.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// An absolute path without `.` and `..`, by its text alone: no link is followed, nothing need be there.
#[must_use]
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// A path whose directory has no link in it; its last name may be one.
///
/// Where its directory is not there the path is returned as it is.
#[must_use]
pub fn past_links(path: &Path) -> PathBuf {
    let parent = path.parent().and_then(|dir| fs::canonicalize(dir).ok());
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_go_and_the_top_stays_the_top() {
        for (path, clean) in [
            ("/a/./b/../c", "/a/c"),
            ("/../..", "/"),
            ("/a//b/", "/a/b"),
            ("/a/...", "/a/..."),
        ] {
            assert_eq!(plain(Path::new(path)), Path::new(clean), "{path}");
        }
    }

    #[test]
    fn a_last_name_that_is_a_link_stays_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let top = fs::canonicalize(dir.path()).expect("a path");
        fs::create_dir(top.join("real")).expect("a directory");
        std::os::unix::fs::symlink("real", top.join("link")).expect("a link");
        assert_eq!(past_links(&top.join("link")), top.join("link"));
        assert_eq!(past_links(&top.join("link/x")), top.join("real/x"));
        assert_eq!(past_links(&top.join("gone/x")), top.join("gone/x"));
    }
}
