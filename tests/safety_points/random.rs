//! Random workspaces, random destruction: a rollback restores the picture.
//!
//! A handful of cases as a rule; `PROPTEST_CASES=2000` for a long run.

use super::picture::Picture;
use super::save;
use crate::support::Sandbox;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Names that get in each other's way: files where directories were, and the other way round.
const PATHS: &[&str] = &[
    "a",
    "a/b",
    "a/b/c",
    "d",
    "d/e",
    "f.txt",
    "g/h/i/j",
    "g/h",
    ".env",
    "out.log",
    "x y",
    "-n",
    "k/.gitignore",
    "k/secret.log",
    "é",
    "l",
    "l/m",
    "vendor/n",
];

const GIT: &[&[&str]] = &[
    &["add", "-A"],
    &["commit", "-qam", "more"],
    &["commit", "-q", "--allow-empty", "-m", "empty"],
    &["stash", "-q"],
    &["stash", "push", "-qu"],
    &["stash", "drop", "-q"],
    &["reset", "-q", "--hard"],
    &["reset", "-q", "--hard", "HEAD~1"],
    &["clean", "-qffdx"],
    &["checkout", "-q", "-f", "--detach"],
    &["checkout", "-qfB", "side"],
    &["checkout", "-qf", "main"],
    &["rm", "-rq", "--cached", "."],
    &["add", "-N", "."],
    &["merge", "-q", "side"],
    &["gc", "-q", "--prune=now"],
    &["pack-refs", "--all"],
    &["update-index", "--split-index"],
    &["update-index", "--index-version", "4"],
    &["read-tree", "--empty"],
];

#[derive(Clone, Debug)]
enum Op {
    Write(usize, u8, usize),
    Delete(usize),
    Dir(usize),
    Link(usize, usize),
    Mode(usize, u32),
    Move(usize, usize),
    Git(usize),
    DropGit,
}

fn ops(count: std::ops::Range<usize>, wild: bool) -> impl Strategy<Value = Vec<Op>> {
    let path = 0..PATHS.len();
    let op = prop_oneof![
        6 => (path.clone(), any::<u8>(), prop_oneof![0_usize..40, 300_000_usize..600_000])
            .prop_map(|(path, byte, len)| Op::Write(path, byte, len)),
        3 => path.clone().prop_map(Op::Delete),
        1 => path.clone().prop_map(Op::Dir),
        2 => (path.clone(), path.clone()).prop_map(|(path, to)| Op::Link(path, to)),
        2 => (path.clone(), prop_oneof![Just(0o600), Just(0o755), Just(0o444), Just(0o555), Just(0o700)])
            .prop_map(|(path, mode)| Op::Mode(path, mode)),
        1 => (path.clone(), path).prop_map(|(from, to)| Op::Move(from, to)),
        4 => (0..GIT.len()).prop_map(Op::Git),
        u32::from(wild) => Just(Op::DropGit),
    ];
    prop::collection::vec(op, count)
}

/// What git says of the repository; some of the things that are done to it make it complain.
fn fsck(sandbox: &Sandbox) -> String {
    let args = ["fsck", "--strict", "--no-dangling"];
    let output = sandbox.command("git").args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Does one thing, as far as it can be done.
fn act(sandbox: &Sandbox, op: &Op) {
    let place = |at: usize| sandbox.work().join(PATHS[at]);
    let clear = |path: &Path| {
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            let _ = fs::remove_dir_all(path);
        } else {
            let _ = fs::remove_file(path);
        }
    };
    let parents = |path: &Path| {
        let mut here: PathBuf = sandbox.work();
        for part in path.strip_prefix(sandbox.work()).unwrap().parent().unwrap() {
            here.push(part);
            if !here.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                clear(&here);
                let _ = fs::create_dir(&here);
            }
        }
    };
    match op {
        Op::Write(at, byte, len) => {
            let path = place(*at);
            parents(&path);
            if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
                clear(&path);
            }
            let mut state = u32::from(*byte) + 1;
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .take(*len)
            .collect();
            let _ = fs::write(path, bytes);
        }
        Op::Delete(at) => clear(&place(*at)),
        Op::Dir(at) => {
            let path = place(*at);
            parents(&path);
            clear(&path);
            let _ = fs::create_dir(path);
        }
        Op::Link(at, to) => {
            let path = place(*at);
            parents(&path);
            clear(&path);
            let _ = symlink(PATHS[*to], path);
        }
        Op::Mode(at, mode) => {
            let path = place(*at);
            if path.symlink_metadata().is_ok_and(|meta| !meta.is_symlink()) {
                let mode = if path.is_dir() { mode | 0o500 } else { *mode };
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
            }
        }
        Op::Move(from, to) => {
            let (from, to) = (place(*from), place(*to));
            if from.symlink_metadata().is_ok() && !to.starts_with(&from) && !from.starts_with(&to) {
                parents(&to);
                clear(&to);
                let _ = fs::rename(from, to);
            }
        }
        Op::Git(at) => {
            // Not every command makes sense everywhere; then git says so.
            let _ = sandbox.command("git").args(GIT[*at]).output().unwrap();
        }
        Op::DropGit => {
            let _ = fs::remove_dir_all(sandbox.work().join(".git"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(8),
        failure_persistence: None,
        max_shrink_iters: 60,
        .. ProptestConfig::default()
    })]

    #[test]
    fn any_workspace_comes_back(
        made in ops(3..14, false),
        broken in ops(1..10, true),
        again in ops(1..6, false),
    ) {
        let sandbox = Sandbox::with_files(&[
            ("f.txt", "start\n"),
            ("d/e", "e\n"),
            (".gitignore", "*.log\n.env\nvendor/\n"),
        ]);
        for op in &made {
            act(&sandbox, op);
        }
        let before = Picture::of(&sandbox);
        let refs = sandbox.git(["for-each-ref"]);
        let sound = fsck(&sandbox);
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        for op in &broken {
            act(&sandbox, op);
        }
        let destroyed = Picture::of(&sandbox);
        sandbox.holdpoint(["rollback", &id, "--refs", "--yes"]).exits(0);
        before.assert_same(&Picture::of(&sandbox));
        prop_assert_eq!(&sandbox.git(["for-each-ref"]), &refs);
        prop_assert_eq!(fsck(&sandbox), sound);
        if !destroyed.git.is_empty() && destroyed != before {
            sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
            destroyed.assert_same(&Picture::of(&sandbox));
        }
        for op in &again {
            act(&sandbox, op);
        }
        sandbox.holdpoint(["rollback", &id, "--refs", "--yes"]).exits(0);
        before.assert_same(&Picture::of(&sandbox));
        sandbox.holdpoint(["points", "verify"]).exits(0);
    }
}
