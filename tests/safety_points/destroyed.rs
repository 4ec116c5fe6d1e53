//! Workspaces that were destroyed, and came back.

use super::picture::{Picture, mtimes};
use super::{comes_back, comes_back_with, save};
use crate::support::Sandbox;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

/// A repository with three versions of a file, an untracked one, ignored ones, a stash and an empty directory.
fn busy() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        (".gitignore", "target/\nnode_modules/\n.env*\n.secrets/\n"),
        ("a.txt", "head\n"),
        ("src/b.txt", "b\n"),
        ("src/deep/c.txt", "c\n"),
        ("gone.txt", "to be deleted\n"),
    ]);
    sandbox.write("src/b.txt", "stashed\n");
    sandbox.git(["stash", "push", "-q", "-m", "kept aside"]);
    sandbox.write("a.txt", "index\n");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(["add", "a.txt", "staged.txt"]);
    sandbox.write("a.txt", "worktree\n");
    sandbox.write("later.txt", "intent to add\n");
    sandbox.git(["add", "-N", "later.txt"]);
    fs::remove_file(sandbox.work().join("gone.txt")).unwrap();
    sandbox.write("untracked.txt", "untracked\n");
    sandbox.write(".env", "SECRET=1\n");
    sandbox.write(".secrets/key", "key\n");
    sandbox.write("target/out.bin", "built\n");
    fs::create_dir(sandbox.work().join("empty")).unwrap();
    symlink("a.txt", sandbox.work().join("link")).unwrap();
    sandbox
}

fn shell(sandbox: &Sandbox, text: &str) {
    let output = sandbox.command("sh").args(["-ec", text]).output().unwrap();
    assert!(
        output.status.success(),
        "{text}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What is held of a workspace whose bulky output was cleaned away too.
fn without_output(sandbox: &Sandbox) {
    fs::remove_dir_all(sandbox.work().join("target")).unwrap();
}

#[test]
fn reset_hard_and_clean_lose_nothing() {
    let sandbox = busy();
    without_output(&sandbox);
    comes_back(&sandbox, |sandbox| {
        sandbox.git(["reset", "-q", "--hard"]);
        sandbox.git(["clean", "-qffdx"]);
    });
}

#[test]
fn a_deleted_git_directory_comes_back_whole() {
    let sandbox = busy();
    let refs = sandbox.git(["for-each-ref"]);
    let log = sandbox.git(["reflog"]);
    let config = fs::read(sandbox.work().join(".git/config")).unwrap();
    comes_back(&sandbox, |sandbox| {
        fs::remove_dir_all(sandbox.work().join(".git")).unwrap();
        fs::remove_file(sandbox.work().join("a.txt")).unwrap();
    });
    assert_eq!(sandbox.git(["for-each-ref"]), refs);
    assert_eq!(sandbox.git(["reflog"]), log);
    assert_eq!(
        fs::read(sandbox.work().join(".git/config")).unwrap(),
        config
    );
    sandbox.git(["fsck", "--strict"]);
}

#[test]
fn a_deleted_workspace_comes_back_whole() {
    let sandbox = busy();
    without_output(&sandbox);
    comes_back(&sandbox, |sandbox| shell(sandbox, "rm -rf .[!.]* *"));
    sandbox.git(["fsck", "--strict"]);
    assert!(sandbox.git(["stash", "list"]).contains("kept aside"));
}

#[test]
fn deleted_objects_come_back() {
    let sandbox = busy();
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf .git/objects/?? .git/objects/pack/*");
    });
    sandbox.git(["fsck", "--strict"]);
}

#[test]
fn objects_that_were_packed_and_deleted_come_back() {
    let sandbox = busy();
    sandbox.git(["gc", "-q"]);
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm -rf .git/objects/pack/*")
    });
    sandbox.git(["fsck", "--strict"]);
}

#[test]
fn refs_stash_and_reflog_survive_a_prune() {
    let sandbox = busy();
    sandbox.git(["branch", "side"]);
    sandbox.git(["tag", "-am", "t", "v1"]);
    let refs = sandbox.git(["for-each-ref"]);
    let log = sandbox.git(["reflog"]);
    comes_back_with(&sandbox, &["--refs"], |sandbox| {
        shell(
            sandbox,
            "git stash clear; git tag -d v1; git branch -D side
             git update-ref -d refs/heads/main
             git reflog expire --expire=now --all; rm -rf .git/logs
             rm -f .git/index; git gc -q --prune=now",
        );
    });
    assert_eq!(sandbox.git(["for-each-ref"]), refs);
    assert_eq!(sandbox.git(["reflog"]), log);
    sandbox.git(["fsck", "--strict"]);
}

#[test]
fn moved_branches_come_back_only_when_asked() {
    let sandbox = busy();
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.git(["commit", "-qam", "second"]);
    let second = sandbox.git(["rev-parse", "HEAD"]);
    let ran = sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert!(ran.err.contains("--refs"), "{}", ran.err);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), second);
    sandbox
        .holdpoint(["rollback", &id, "--refs", "--yes"])
        .exits(0);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
}

#[test]
fn a_packed_stash_comes_back() {
    let sandbox = busy();
    sandbox.git(["pack-refs", "--all"]);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let list = sandbox.git(["stash", "list"]);
    sandbox.git(["stash", "drop", "-q"]);
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    assert_eq!(sandbox.git(["stash", "list"]), list);
}

#[test]
fn head_comes_back_to_its_branch_and_to_none() {
    let sandbox = busy();
    sandbox.git(["branch", "side"]);
    comes_back(&sandbox, |sandbox| {
        sandbox.git(["checkout", "-q", "--detach"]);
    });
    sandbox.git(["checkout", "-q", "--detach"]);
    comes_back(&sandbox, |sandbox| {
        sandbox.git(["checkout", "-q", "side"]);
    });
}

#[test]
fn an_unborn_branch_stays_unborn() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "a\n");
    sandbox.git(["add", "a.txt"]);
    comes_back_with(&sandbox, &["--refs"], |sandbox| {
        sandbox.git(["commit", "-qm", "first"]);
        sandbox.git(["checkout", "-qb", "other"]);
        fs::remove_file(sandbox.work().join("a.txt")).unwrap();
    });
    assert!(sandbox.git(["for-each-ref"]).is_empty());
}

#[test]
fn bulky_output_is_named_and_never_touched() {
    let sandbox = busy();
    fs::create_dir_all(sandbox.work().join("node_modules/x")).unwrap();
    let saved = save(&sandbox);
    let gaps: Vec<&str> = saved["not_held"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gap| gap["path"].as_str().unwrap())
        .collect();
    assert_eq!(gaps, ["node_modules", "target"]);
    sandbox.write("target/newer.bin", "newer\n");
    sandbox.write("a.txt", "other\n");
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    assert_eq!(sandbox.read("target/newer.bin"), "newer\n");
    assert_eq!(sandbox.read("target/out.bin"), "built\n");
    assert_eq!(sandbox.read("a.txt"), "worktree\n");
}

#[test]
fn tracked_files_below_ignored_output_are_held() {
    let sandbox = busy();
    sandbox.write("target/kept.txt", "tracked\n");
    sandbox.git(["add", "-f", "target/kept.txt"]);
    save(&sandbox);
    fs::remove_file(sandbox.work().join("target/kept.txt")).unwrap();
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    assert_eq!(sandbox.read("target/kept.txt"), "tracked\n");
}

#[test]
fn unchanged_files_keep_their_times() {
    let sandbox = busy();
    let before = mtimes(&sandbox.work());
    save(&sandbox);
    sandbox.write("a.txt", "other\n");
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    let mut after = mtimes(&sandbox.work());
    let touched = sandbox.work().join("a.txt");
    let key = touched.as_os_str().as_bytes().to_vec();
    let mut before = before;
    before.remove(&key);
    after.remove(&key);
    assert_eq!(before, after);
}

#[test]
fn edits_of_one_size_in_one_tick_are_noticed() {
    let sandbox = Sandbox::with_files(&[("a.txt", "0000\n")]);
    for round in 0..20 {
        let text = format!("{round:04}\n");
        sandbox.write("a.txt", &text);
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        sandbox.write("a.txt", "xxxx\n");
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        assert_eq!(sandbox.read("a.txt"), text);
    }
}

#[test]
fn an_edit_with_its_time_put_back_is_noticed() {
    let sandbox = Sandbox::with_files(&[("a.txt", "one\n")]);
    shell(&sandbox, "touch -d '2001-02-03' a.txt");
    save(&sandbox);
    comes_back(&sandbox, |sandbox| {
        shell(
            sandbox,
            "printf 'two\\n' > a.txt; touch -d '2001-02-03' a.txt",
        );
    });
}

#[test]
fn a_racy_entry_of_the_index_stays_racy() {
    // The index is written in the same tick as an edit of the same size: only
    // the index's own time tells git that the entry cannot be trusted.
    let sandbox = Sandbox::with_files(&[("a.txt", "one\n")]);
    shell(
        &sandbox,
        "printf 'two\\n' > a.txt; git add a.txt; printf 'six\\n' > a.txt
         touch -d '2020-01-01' a.txt .git/index",
    );
    let status = sandbox.git(["--no-optional-locks", "status", "--porcelain"]);
    comes_back(&sandbox, |sandbox| {
        sandbox.git(["rm", "-q", "--cached", "-f", "a.txt"]);
    });
    assert_eq!(
        sandbox.git(["--no-optional-locks", "status", "--porcelain"]),
        status
    );
}

#[test]
fn types_are_swapped_back() {
    let sandbox = busy();
    fs::write(sandbox.path("outside"), "outside\n").unwrap();
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    fs::write(sandbox.path("elsewhere/deep"), "mine\n").unwrap();
    comes_back(&sandbox, |sandbox| {
        shell(
            sandbox,
            "rm -rf src; ln -s ../elsewhere src
             rm a.txt; mkdir a.txt; echo x > a.txt/y
             rm link; echo file > link
             rm -r empty; ln -s ../outside empty
             rm untracked.txt; ln -s ../outside untracked.txt",
        );
    });
    assert_eq!(fs::read(sandbox.path("outside")).unwrap(), b"outside\n");
    assert_eq!(fs::read(sandbox.path("elsewhere/deep")).unwrap(), b"mine\n");
    assert!(!sandbox.path("elsewhere/b.txt").exists());
}

#[test]
fn links_out_of_the_workspace_are_held_as_links() {
    let sandbox = busy();
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    fs::write(sandbox.path("elsewhere/f"), "f\n").unwrap();
    symlink("../elsewhere", sandbox.work().join("out")).unwrap();
    symlink("/nowhere/at all", sandbox.work().join("dangling")).unwrap();
    symlink("loop", sandbox.work().join("loop")).unwrap();
    comes_back(&sandbox, |sandbox| {
        shell(sandbox, "rm out dangling loop; mkdir out; echo x > out/f");
    });
    assert_eq!(fs::read(sandbox.path("elsewhere/f")).unwrap(), b"f\n");
}

#[test]
fn odd_names_come_back() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(255);
    let names: Vec<Vec<u8>> = vec![
        b"new\nline".to_vec(),
        b"not utf8 \xff\xfe".to_vec(),
        b"-rf".to_vec(),
        b"--".to_vec(),
        b":(top)magic".to_vec(),
        b"*".to_vec(),
        b" leading and trailing ".to_vec(),
        b"quote\"'\\".to_vec(),
        long.into_bytes(),
        "umla\u{308}ut".as_bytes().to_vec(),
    ];
    for name in &names {
        let path = sandbox.work().join(OsStr::from_bytes(name));
        fs::write(path, name).unwrap();
    }
    sandbox.git(["add", "-A"]);
    comes_back(&sandbox, |sandbox| {
        for entry in fs::read_dir(sandbox.work()).unwrap().flatten() {
            if entry.path().is_file() {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    });
}

#[test]
fn a_path_longer_than_the_kernel_takes_comes_back() {
    let sandbox = Sandbox::new();
    let name = "d".repeat(200);
    let mut script = String::new();
    for _ in 0..25 {
        script.push_str(&format!(
            "mkdir {name}; cd -P {name} 2>/dev/null || exit 1\n"
        ));
    }
    script.push_str("echo deep > file");
    let output = sandbox
        .command("bash")
        .args(["-c", &script])
        .output()
        .unwrap();
    if !output.status.success() {
        return;
    }
    save(&sandbox);
    shell(&sandbox, &format!("rm -rf {name}"));
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    let found = sandbox
        .command("find")
        .args([".", "-name", "file", "-path", "*ddd*", "-printf", "%s"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "5");
}

#[test]
fn permission_bits_come_back() {
    let sandbox = busy();
    let chmod = |path: &str, mode: u32| {
        fs::set_permissions(sandbox.work().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    sandbox.write("private", "p\n");
    chmod("private", 0o600);
    sandbox.write("tool", "t\n");
    chmod("tool", 0o755);
    sandbox.write("locked/file", "read only\n");
    chmod("locked/file", 0o444);
    chmod("locked", 0o555);
    chmod("src", 0o700);
    comes_back(&sandbox, |sandbox| {
        shell(
            sandbox,
            "chmod 755 src locked; rm -rf locked private; chmod 644 tool; echo x > private",
        );
    });
    chmod("locked", 0o755);
}

#[test]
fn pipes_are_recorded_and_not_opened() {
    let sandbox = busy();
    shell(&sandbox, "mkfifo pipe; chmod 640 pipe");
    let _socket = std::os::unix::net::UnixListener::bind(sandbox.work().join("socket")).unwrap();
    comes_back(&sandbox, |sandbox| shell(sandbox, "rm pipe; echo x > pipe"));
}

#[test]
fn hard_links_come_back_with_their_bytes() {
    let sandbox = busy();
    fs::hard_link(sandbox.work().join("a.txt"), sandbox.work().join("twin")).unwrap();
    comes_back(&sandbox, |sandbox| shell(sandbox, "echo changed > a.txt"));
}

#[test]
fn a_sparse_and_a_large_file_come_back() {
    let sandbox = busy();
    let noise: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    sandbox.write("large.bin", &noise);
    shell(
        &sandbox,
        "truncate -s 5M holes.bin; printf end >> holes.bin",
    );
    comes_back(&sandbox, |sandbox| {
        let mut edited = noise.clone();
        edited[1_500_000] ^= 1;
        sandbox.write("large.bin", &edited);
        fs::remove_file(sandbox.work().join("holes.bin")).unwrap();
    });
}

#[test]
fn only_the_named_paths_are_put_back() {
    let sandbox = busy();
    save(&sandbox);
    sandbox.write("a.txt", "1\n");
    sandbox.write("src/b.txt", "2\n");
    sandbox.write("src/new.txt", "3\n");
    sandbox
        .holdpoint(["rollback", "--yes", "--", "src"])
        .exits(0);
    assert_eq!(sandbox.read("a.txt"), "1\n");
    assert_eq!(sandbox.read("src/b.txt"), "b\n");
    assert!(!sandbox.work().join("src/new.txt").exists());
}

#[test]
fn files_only_leaves_the_index() {
    let sandbox = busy();
    save(&sandbox);
    sandbox.git(["add", "-A"]);
    let index = fs::read(sandbox.work().join(".git/index")).unwrap();
    sandbox.write("a.txt", "1\n");
    sandbox
        .holdpoint(["rollback", "--yes", "--file-only"])
        .exits(0);
    assert_eq!(sandbox.read("a.txt"), "worktree\n");
    assert_eq!(fs::read(sandbox.work().join(".git/index")).unwrap(), index);
}

#[test]
fn a_dry_run_changes_nothing() {
    let sandbox = busy();
    save(&sandbox);
    sandbox.write("a.txt", "1\n");
    let before = Picture::of(&sandbox);
    let ran = sandbox.holdpoint(["rollback", "--dry-run"]).exits(0);
    assert!(
        ran.out.contains("a.txt") && ran.out.contains("+worktree"),
        "{}",
        ran.out
    );
    before.assert_same(&Picture::of(&sandbox));
    let points: serde_json::Value =
        serde_json::from_str(&sandbox.holdpoint(["points", "--json"]).exits(0).out).unwrap();
    assert_eq!(points.as_array().unwrap().len(), 1);
}

#[test]
fn undo_and_redo_go_on_without_end() {
    let sandbox = busy();
    let first = Picture::of(&sandbox);
    save(&sandbox);
    sandbox.write("a.txt", "1\n");
    shell(&sandbox, "rm -rf src");
    let second = Picture::of(&sandbox);
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    for _ in 0..5 {
        first.assert_same(&Picture::of(&sandbox));
        sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
        second.assert_same(&Picture::of(&sandbox));
        sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(0);
    }
    sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(2);
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(2);
}

#[test]
fn from_a_subdirectory_the_whole_workspace_is_meant() {
    let sandbox = busy();
    without_output(&sandbox);
    let before = Picture::of(&sandbox);
    let holdpoint = |args: &[&str]| {
        let status = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(args)
            .current_dir(sandbox.work().join("src"))
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
    };
    holdpoint(&["save"]);
    shell(&sandbox, "git reset -q --hard; rm -f untracked.txt .env");
    holdpoint(&["rollback", "--yes"]);
    before.assert_same(&Picture::of(&sandbox));
}

#[test]
fn variables_that_point_elsewhere_do_not_matter() {
    let sandbox = busy();
    without_output(&sandbox);
    let other = sandbox.path("other");
    fs::create_dir(&other).unwrap();
    let git = |args: &[&str]| {
        Command::new("git")
            .args(args)
            .current_dir(&other)
            .output()
            .unwrap()
    };
    git(&["init", "-q"]);
    let before = Picture::of(&sandbox);
    let holdpoint = |args: &[&str]| {
        let output = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args(args)
            .env("GIT_DIR", other.join(".git"))
            .env("GIT_INDEX_FILE", other.join(".git/other-index"))
            .env("GIT_OBJECT_DIRECTORY", other.join(".git/objects"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    holdpoint(&["save"]);
    shell(&sandbox, "git reset -q --hard; git clean -qffdx");
    holdpoint(&["rollback", "--yes"]);
    before.assert_same(&Picture::of(&sandbox));
}
