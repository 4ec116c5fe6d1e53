//! A full picture of a workspace, to be held against itself.

use crate::support::Sandbox;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// Every path's type, permission bits, bytes and link target, and what git keeps for the workspace.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Picture {
    pub files: BTreeMap<Vec<u8>, String>,
    pub git: BTreeMap<String, String>,
}

impl Picture {
    /// Takes it of the sandbox's workspace.
    pub fn of(sandbox: &Sandbox) -> Self {
        Self::at(&sandbox.work())
    }

    /// Takes it of a directory.
    pub fn at(root: &Path) -> Self {
        let mut picture = Self {
            files: BTreeMap::new(),
            git: BTreeMap::new(),
        };
        picture.walk(root, b"");
        let dot_git = root.join(".git");
        if dot_git.is_dir() {
            picture.git_files(&dot_git, "");
        }
        picture
    }

    fn walk(&mut self, dir: &Path, prefix: &[u8]) {
        let Ok(entries) = fs::read_dir(dir) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if prefix.is_empty() && name == OsStr::new(".git") && entry.path().is_dir() {
                continue;
            }
            let mut path = prefix.to_vec();
            path.extend_from_slice(name.as_bytes());
            let meta = entry.path().symlink_metadata().unwrap();
            let kind = meta.file_type();
            let mode = meta.permissions().mode() & 0o7777;
            let text = if kind.is_symlink() {
                format!("link {:?}", fs::read_link(entry.path()).unwrap())
            } else if kind.is_dir() {
                format!("dir {mode:o}")
            } else if kind.is_fifo() {
                format!("fifo {mode:o}")
            } else if kind.is_socket() {
                "socket".to_owned()
            } else {
                let bytes = fs::read(entry.path()).unwrap_or_default();
                format!("file {mode:o} {} {}", bytes.len(), hash(&bytes))
            };
            let inner_git = path.windows(6).any(|part| part == b"/.git/");
            // Objects come back, but newer ones may be there too; git checks them.
            if !(inner_git && path.windows(9).any(|part| part == b"/objects/")) {
                self.files.insert(path.clone(), text);
            }
            if kind.is_dir() {
                path.push(b'/');
                self.walk(&entry.path(), &path);
            }
        }
    }

    /// `HEAD`, index, stash, reflog of the stash and the files of operations in progress.
    fn git_files(&mut self, dir: &Path, prefix: &str) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let wanted = [
                "HEAD",
                "index",
                "sharedindex",
                "MERGE_",
                "CHERRY_",
                "REVERT_",
                "REBASE_",
            ]
            .iter()
            .chain(&[
                "BISECT_",
                "rebase-",
                "sequencer",
                "SQUASH_",
                "AUTO_MERGE",
                "refs/stash",
            ])
            .chain(&[
                "logs/refs/stash",
                "refs/bisect",
                "modules",
                "info/sparse-checkout",
            ])
            .any(|start| name.starts_with(start));
            let leads = ["refs", "logs", "logs/refs", "info"].contains(&name.as_str());
            if entry.path().is_dir() {
                if (wanted || leads) && !name.ends_with("/objects") {
                    self.git_files(&entry.path(), &format!("{name}/"));
                }
            } else if wanted && !name.ends_with(".lock") {
                let bytes = fs::read(entry.path()).unwrap();
                self.git.insert(name, hash(&bytes));
            }
        }
    }

    /// Fails the test with what differs.
    #[track_caller]
    pub fn assert_same(&self, other: &Self) {
        let mut text = String::new();
        let mut compare = |name: String, a: Option<&String>, b: Option<&String>| {
            if a != b {
                text.push_str(&format!("{name}: {a:?} -> {b:?}\n"));
            }
        };
        let names: std::collections::BTreeSet<_> =
            self.files.keys().chain(other.files.keys()).collect();
        for name in names {
            compare(
                String::from_utf8_lossy(name).into_owned(),
                self.files.get(name),
                other.files.get(name),
            );
        }
        let names: std::collections::BTreeSet<_> =
            self.git.keys().chain(other.git.keys()).collect();
        for name in names {
            compare(
                format!(".git/{name}"),
                self.git.get(name),
                other.git.get(name),
            );
        }
        assert!(text.is_empty(), "{text}");
    }
}

fn hash(bytes: &[u8]) -> String {
    format!("{}:{}", bytes.len(), blake3::hash(bytes))
}

/// Those of git's files whose names start in one of the given ways.
pub fn git_of(picture: &Picture, starts: &[&str]) -> BTreeMap<String, String> {
    let wanted = |name: &String| starts.iter().any(|start| name.starts_with(start));
    let git = picture.git.iter().filter(|(name, _)| wanted(name));
    git.map(|(name, hash)| (name.clone(), hash.clone()))
        .collect()
}

/// Every ref with its value, loose or packed, read without git.
pub fn refs_of(root: &Path) -> BTreeMap<String, String> {
    let mut refs = BTreeMap::new();
    let packed = fs::read_to_string(root.join(".git/packed-refs")).unwrap_or_default();
    for line in packed.lines().filter(|line| !line.starts_with(['#', '^'])) {
        if let Some((value, name)) = line.split_once(' ') {
            refs.insert(name.to_owned(), value.to_owned());
        }
    }
    let mut waiting = vec![(root.join(".git/refs"), "refs".to_owned())];
    while let Some((dir, prefix)) = waiting.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                waiting.push((entry.path(), name));
            } else if let Ok(value) = fs::read_to_string(entry.path()) {
                refs.insert(name, value.trim().to_owned());
            }
        }
    }
    refs
}

/// The modification times of all files, by path.
pub fn mtimes(root: &Path) -> BTreeMap<Vec<u8>, (i64, i64)> {
    let mut times = BTreeMap::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let meta = entry.path().symlink_metadata().unwrap();
            if meta.is_dir() {
                if entry.file_name() != OsStr::new(".git") {
                    waiting.push(entry.path());
                }
            } else {
                times.insert(
                    entry.path().as_os_str().as_bytes().to_vec(),
                    (meta.mtime(), meta.mtime_nsec()),
                );
            }
        }
    }
    times
}
