//! Our own reading of a commit's change against git's.

use super::*;
use crate::sys::env::Env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

#[test]
fn a_moved_line_is_not_an_added_one() {
    let added = added_lines(b"a\nb\nc\n", b"c\na\nb\nd\nb\n");
    let texts: Vec<(u64, &[u8])> = added
        .iter()
        .map(|line| (line.number, line.text.as_slice()))
        .collect();
    assert_eq!(texts, [(4, &b"d"[..]), (5, &b"b"[..])]);
}

#[test]
fn raw_output_with_a_rename_is_read() {
    let raw = b":100644 100644 aa bb M\0a b\0:100644 100644 cc cc R100\0old\nname\0new\0:000000 100644 00 dd A\0x\0";
    let changes = parse_raw(raw).unwrap_or_default();
    assert_eq!(changes.len(), 3);
    assert_eq!(
        changes[1].op,
        ChangeOp::Rename {
            from: "old\nname".into()
        }
    );
    assert_eq!(changes[1].path, "new");
    assert_eq!(
        (changes[2].before.as_str(), changes[2].mode_before.as_str()),
        ("", "")
    );
}

#[test]
fn garbage_from_git_is_an_error() {
    assert!(parse_raw(b":100644 nonsense\0p\0").is_err());
    assert!(parse_raw(b":100644 100644 aa bb R100\0only-one\0").is_err());
}

struct Repo {
    dir: tempfile::TempDir,
}

impl Repo {
    fn new() -> Self {
        let repo = Self {
            dir: tempfile::tempdir().unwrap_or_else(|error| panic!("{error}")),
        };
        repo.git(&["init", "-q", "-b", "main"]);
        for (path, text) in [
            ("a", "1\n"),
            ("d/b", "2\n"),
            ("d/e/c", "3\n"),
            ("f/g", "4\n"),
        ] {
            repo.write(path, text);
        }
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-qm", "first"]);
        repo
    }

    fn git(&self, args: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(args)
            .current_dir(self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.dir.path())
            .output();
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        let parent = path.parent().map(Path::to_path_buf).unwrap_or_default();
        assert!(fs::create_dir_all(parent).is_ok());
        assert!(fs::write(path, text).is_ok());
    }

    /// Returns what both readings say; ours is `None` where it leaves it to git.
    fn both(&self) -> (Option<Vec<PathChange>>, Vec<PathChange>) {
        let env = Env::from_parts(
            [(
                OsString::from("HOME"),
                self.dir.path().as_os_str().to_owned(),
            )],
            self.dir.path().to_path_buf(),
        );
        let workspace = Workspace::discover(&env).unwrap_or_else(|error| panic!("{error}"));
        let index = index_path(&env, &workspace).unwrap_or_else(|error| panic!("{error}"));
        let theirs = against(&workspace, &index, None).unwrap_or_else(|error| panic!("{error}"));
        (
            read(&index).and_then(|state| in_process(&workspace, &state)),
            theirs,
        )
    }

    #[track_caller]
    fn agree(&self) -> Vec<PathChange> {
        let (ours, theirs) = self.both();
        assert_eq!(ours.as_ref(), Some(&theirs));
        theirs
    }
}

#[test]
fn an_unchanged_index_changes_nothing() {
    assert!(Repo::new().agree().is_empty());
}

#[test]
fn edits_additions_modes_and_links_are_read_as_git_reads_them() {
    let repo = Repo::new();
    repo.write("d/e/c", "33\n");
    repo.write("d/e/new", "n\n");
    repo.write("z/y/x", "x\n");
    repo.git(&["add", "-A"]);
    assert_eq!(repo.agree().len(), 3);
    let file = repo.dir.path().join("a");
    assert!(fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).is_ok());
    assert!(symlink("a", repo.dir.path().join("link")).is_ok());
    repo.git(&["add", "-A"]);
    assert_eq!(repo.agree().len(), 5);
}

#[test]
fn a_deleted_directory_is_its_files() {
    let repo = Repo::new();
    repo.git(&["rm", "-rq", "d"]);
    let changes = repo.agree();
    assert_eq!(changes.len(), 2);
    assert!(changes.iter().all(|change| change.op == ChangeOp::Delete));
}

#[test]
fn renames_are_left_to_git() {
    let repo = Repo::new();
    repo.git(&["mv", "a", "moved"]);
    let (ours, theirs) = repo.both();
    assert_eq!(ours, None);
    assert_eq!(theirs[0].op, ChangeOp::Rename { from: "a".into() });
}

#[test]
fn a_file_in_place_of_a_directory_is_never_misread() {
    let repo = Repo::new();
    repo.git(&["rm", "-rq", "f"]);
    repo.write("f", "now a file\n");
    repo.git(&["add", "f"]);
    let (ours, theirs) = repo.both();
    assert!(ours.is_none() || ours.as_ref() == Some(&theirs));
    assert!(!theirs.is_empty());
}

#[test]
fn packed_refs_packed_objects_and_a_detached_head_are_read() {
    let repo = Repo::new();
    repo.git(&["gc", "-q"]);
    repo.write("a", "2\n");
    repo.git(&["add", "a"]);
    assert_eq!(repo.agree().len(), 1);
    repo.git(&["checkout", "-q", "--detach"]);
    assert_eq!(repo.agree().len(), 1);
}

#[test]
fn an_unborn_branch_adds_everything() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    assert_eq!(repo.agree().len(), 4);
}

#[test]
fn intent_to_add_is_no_part_of_the_commit() {
    let repo = Repo::new();
    repo.write("later", "x\n");
    repo.git(&["add", "-N", "later"]);
    assert!(repo.agree().is_empty());
}

#[test]
fn odd_indexes_are_read_rightly_or_left_to_git() {
    for settings in [
        &["update-index", "--index-version", "4"][..],
        &["update-index", "--split-index"][..],
        &["update-index", "--skip-worktree", "d/b"][..],
        &["sparse-checkout", "set", "--cone", "--sparse-index", "f"][..],
    ] {
        let repo = Repo::new();
        repo.git(settings);
        repo.write("a", "changed\n");
        repo.git(&["add", "a"]);
        let (ours, theirs) = repo.both();
        assert_eq!(theirs.len(), 1, "{settings:?}");
        assert!(ours.is_none() || ours == Some(theirs), "{settings:?}");
    }
}
