//! Random workspaces, random destruction: a rollback restores the picture.
//!
//! A case is one workspace that lives through several rounds of destruction and
//! goes back to any of its points after each. A handful of cases as a rule; for a
//! long run `PROPTEST_CASES=2000`, quickest with `TMPDIR` on a memory file system.

use super::picture::{Picture, git_of, refs_of};
use super::save;
use crate::support::Sandbox;
use bstr::ByteSlice as _;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Names that get in each other's way: files where directories were, and the other way round.
const PATHS: &[&[u8]] = &[
    b"a",
    b"a/b",
    b"a/b/c",
    b"d",
    b"d/e",
    b"f.txt",
    b"g/h/i/j",
    b"g/h",
    b".env",
    b"out.log",
    b"x y",
    b"-n",
    b"k/.gitignore",
    b"k/secret.log",
    "é".as_bytes(),
    b"l",
    b"l/m",
    b"vendor/n",
    b"\xff\xfe",
    b"n\nl/\x80",
    b"*?[a]",
    b":(glob)x",
    b"HEAD",
    b"objects/ab/x",
    b"index.lock",
    b"A",
    b".gitattributes",
    b"emb/e",
];

/// What people and agents do.
const TAME: &[&str] = &[
    "git add -A",
    "git commit -qam more",
    "git commit -q --allow-empty -m empty",
    "git stash -q",
    "git stash push -qu",
    "git stash push -q --keep-index",
    "git stash drop -q",
    "git stash pop -q",
    "git reset -q --hard",
    "git reset -q --hard HEAD~1",
    "git reset -q",
    "git clean -qffdx",
    "git checkout -q -f --detach",
    "git checkout -qfB side",
    "git checkout -qf main",
    "git checkout -qf --orphan lone",
    "git rm -rq --cached .",
    "git add -N .",
    "git merge -q side",
    "git merge -q --no-commit --no-ff side",
    "git merge --abort",
    "git rebase -q side",
    "git rebase --abort",
    "git cherry-pick side",
    "git revert --no-edit HEAD",
    "git bisect start",
    "git gc -q --prune=now",
    "git pack-refs --all",
    "git repack -qad",
    "git update-index --split-index",
    "git update-index --no-split-index",
    "git update-index --index-version 4",
    "git update-index --untracked-cache",
    "git update-index --assume-unchanged f.txt",
    "git update-index --skip-worktree d/e",
    "git update-index --chmod=+x f.txt",
    "git update-index --force-remove f.txt",
    "git update-index -q --refresh",
    "git sparse-checkout set d",
    "git sparse-checkout disable",
    "git tag -f t",
    "git branch -D side",
    "git notes add -fm note",
    "git read-tree --empty",
    "git init -q emb",
    "git -C emb commit -q --allow-empty -m inner",
    "git worktree add -q -f --detach wt",
];

/// What nobody should do.
const WILD: &[&str] = &[
    "rm -rf .git",
    "rm -rf .git && git init -q && git add -A",
    "find .git/objects -type f -delete",
    "find .git/objects -type f -exec truncate -s 0 {} +",
    "rm -rf .git/refs .git/packed-refs",
    "rm -rf .git/refs; touch .git/refs",
    "rm -f .git/index",
    "rm -f .git/index && mkdir .git/index",
    "truncate -s 40 .git/index",
    "echo garbage > .git/HEAD",
    "rm -f .git/HEAD",
    "rm -rf .git/logs; git reflog expire --expire=now --all; git gc -q --prune=now",
    "git stash clear; git gc -q --prune=now",
    "git for-each-ref --format='delete %(refname)' | git update-ref --stdin",
    "git filter-branch -f --tree-filter 'rm -f f.txt' -- --all",
    "rm -rf .git/rebase-* .git/MERGE_* .git/sequencer .git/BISECT_*",
    "find . -path ./.git -prune -o -type f -exec truncate -s 0 {} +",
    "find . -path ./.git -prune -o -type f -exec sed -i s/a/b/ {} +",
    "find . -path ./.git -prune -o -type d -exec chmod 0500 {} +",
    "find . -mindepth 1 -path ./.git -prune -o -delete",
    "find . -mindepth 1 -delete",
    "git config core.bare true",
    "git config core.worktree /nowhere",
    "rm -f .git/config",
    "mv .git .gitx",
    "mv .git ../away",
    "rm -rf ../g && mv .git ../g && ln -s ../g .git",
    "rm -rf ../g && mv .git ../g && echo gitdir: ../g > .git",
    "rm -rf .git && git init -q && git add -A && git commit -qm anew && git branch anew",
    "rm -rf .git && git init -q --object-format=sha256 && git add -A && git commit -qm anew",
    "rm -rf .git && mkdir .git && echo x > .git/x",
    "rm -rf .git && mkfifo .git",
    "rm -f .git/HEAD && mkdir .git/HEAD && echo x > .git/HEAD/x",
    "rm -rf .git/objects && ln -s objects .git/objects",
    "rm -rf .git/logs && echo x > .git/logs",
    "rm -rf ../r && mv .git/refs ../r && ln -s ../../r .git/refs",
    "rm -f .git/config && ln -s config .git/config",
];

#[derive(Clone, Debug)]
enum Op {
    Write(usize, u8, usize),
    /// Another byte, with the size and the time as before.
    Sly(usize),
    Delete(usize),
    Dir(usize),
    Link(usize, usize),
    HardLink(usize, usize),
    Pipe(usize),
    Mode(usize, u32),
    Move(usize, usize),
    Tame(usize),
    Wild(usize),
}

/// One round: what is done, whether a point is taken then, and what a rollback goes back to.
#[derive(Clone, Debug)]
struct Round {
    ops: Vec<Op>,
    saves: bool,
    to: prop::sample::Index,
    refs: bool,
    undo: bool,
}

/// git itself waits for ever at a pipe that it takes for its own file.
fn is_read_by_git(at: usize) -> bool {
    PATHS[at].contains_str(".git") || PATHS[at] == b"HEAD"
}

fn op(wild: bool) -> impl Strategy<Value = Op> {
    let path = 0..PATHS.len();
    let mode = prop::sample::select(vec![
        0o600, 0o755, 0o444, 0o555, 0o700, 0o4755, 0o2755, 0o1777, 0,
    ]);
    prop_oneof![
        12 => (path.clone(), any::<u8>(), prop_oneof![8 => 0_usize..40, 1 => 300_000_usize..600_000])
            .prop_map(|(path, byte, len)| Op::Write(path, byte, len)),
        4 => path.clone().prop_map(Op::Sly),
        5 => path.clone().prop_map(Op::Delete),
        2 => path.clone().prop_map(Op::Dir),
        3 => (path.clone(), path.clone()).prop_map(|(path, to)| Op::Link(path, to)),
        1 => (path.clone(), path.clone()).prop_map(|(path, to)| Op::HardLink(path, to)),
        1 => path.clone().prop_filter("no file of git's", |at| !is_read_by_git(*at))
            .prop_map(Op::Pipe),
        4 => (path.clone(), mode).prop_map(|(path, mode)| Op::Mode(path, mode)),
        2 => (path.clone(), path).prop_map(|(from, to)| Op::Move(from, to)),
        8 => (0..TAME.len()).prop_map(Op::Tame),
        3 => (0..WILD.len()).prop_map(move |at| if wild { Op::Wild(at) } else { Op::Tame(at) }),
    ]
}

fn round() -> impl Strategy<Value = Round> {
    let ops = prop::collection::vec(op(true), 1..8);
    (
        ops,
        prop::bool::weighted(0.4),
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.3),
    )
        .prop_map(|(ops, saves, to, refs, undo)| Round {
            ops,
            saves,
            to,
            refs,
            undo,
        })
}

/// A small repository with history, made once.
static SEED: LazyLock<Sandbox> = LazyLock::new(|| {
    let sandbox = Sandbox::with_files(&[
        ("f.txt", "start\n"),
        ("d/e", "e\n"),
        (".gitignore", "*.log\n.env\nvendor/\n"),
    ]);
    sandbox.write("d/e", "other\n");
    sandbox.git(["checkout", "-qb", "side"]);
    sandbox.git(["commit", "-qam", "side"]);
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write("d/e", "ours\n");
    sandbox.git(["commit", "-qam", "ours"]);
    let _ = fs::remove_dir_all(sandbox.work().join(".git/hooks"));
    sandbox
});

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn place(sandbox: &Sandbox, at: usize) -> PathBuf {
    sandbox.work().join(OsStr::from_bytes(PATHS[at]))
}

fn clear(path: &Path) {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        let _ = fs::remove_dir_all(path);
    } else {
        let _ = fs::remove_file(path);
    }
}

/// Makes room for a path: directories above it, nothing at it.
fn room(sandbox: &Sandbox, at: usize) -> PathBuf {
    let path = place(sandbox, at);
    let mut here: PathBuf = sandbox.work();
    for part in path.strip_prefix(sandbox.work()).unwrap().parent().unwrap() {
        here.push(part);
        if !here.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            clear(&here);
            let _ = fs::create_dir(&here);
        }
    }
    path
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

fn sly(path: &Path) -> std::io::Result<()> {
    if !is_file(path) {
        return Ok(());
    }
    let time = fs::metadata(path)?.modified()?;
    let mut bytes = fs::read(path)?;
    if let Some(byte) = bytes.first_mut() {
        *byte = byte.wrapping_add(1);
    }
    fs::write(path, bytes)?;
    File::options().write(true).open(path)?.set_modified(time)
}

fn shell(sandbox: &Sandbox, text: &str) {
    // Not every command makes sense everywhere; then it says so.
    let _ = sandbox
        .command("sh")
        .env("FILTER_BRANCH_SQUELCH_WARNING", "1")
        .args(["-c", text])
        .output()
        .unwrap();
}

/// Does one thing, as far as it can be done.
fn act(sandbox: &Sandbox, op: &Op) {
    match op {
        Op::Write(at, byte, len) => {
            let path = room(sandbox, *at);
            if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
                clear(&path);
            }
            let seed = [*byte; 32];
            let mut bytes = vec![0; *len];
            blake3::Hasher::new_keyed(&seed)
                .finalize_xof()
                .fill(&mut bytes);
            let _ = fs::write(path, bytes);
        }
        Op::Sly(at) => {
            let _ = sly(&place(sandbox, *at));
        }
        Op::Delete(at) => clear(&place(sandbox, *at)),
        Op::Dir(at) => {
            let path = room(sandbox, *at);
            clear(&path);
            let _ = fs::create_dir(path);
        }
        Op::Link(at, to) => {
            let path = room(sandbox, *at);
            clear(&path);
            let _ = symlink(OsStr::from_bytes(PATHS[*to]), path);
        }
        Op::HardLink(at, to) => {
            let from = place(sandbox, *to);
            let path = room(sandbox, *at);
            if is_file(&from) && from != path {
                clear(&path);
                let _ = fs::hard_link(from, path);
            }
        }
        Op::Pipe(at) => {
            let path = room(sandbox, *at);
            clear(&path);
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            let _ = rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0);
        }
        Op::Mode(at, mode) => {
            let path = place(sandbox, *at);
            if let Ok(meta) = path.symlink_metadata()
                && !meta.is_symlink()
            {
                // What its owner cannot read or enter cannot be held, as `kinds` shows.
                let least = if meta.is_dir() { 0o500 } else { 0o400 };
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode | least));
            }
        }
        Op::Move(from, to) => {
            let (from, to) = (place(sandbox, *from), (place(sandbox, *to), *to));
            let is_pipe = from
                .symlink_metadata()
                .is_ok_and(|meta| meta.file_type().is_fifo());
            if !(is_pipe && is_read_by_git(to.1))
                && from.symlink_metadata().is_ok()
                && !to.0.starts_with(&from)
                && !from.starts_with(&to.0)
            {
                let to = room(sandbox, to.1);
                clear(&to);
                let _ = fs::rename(from, to);
            }
        }
        Op::Tame(at) => shell(sandbox, TAME[*at]),
        Op::Wild(at) => shell(sandbox, WILD[*at]),
    }
}

/// Gives directories back to their owner, so that the next round can do anything.
fn unlock(sandbox: &Sandbox) {
    shell(
        sandbox,
        "find . -type d ! -perm -0700 -exec chmod u+rwx {} +",
    );
}

/// What a point must bring back.
struct Kept {
    id: String,
    picture: Picture,
    /// None where they lie behind a link, out of the git directory: no point holds those.
    refs: Option<BTreeMap<String, String>>,
    faults: BTreeSet<String>,
}

/// What git finds amiss; some of what is done here makes it complain of a sound repository.
///
/// Its complaints of what a sound object says ("error in tree …") do not count: newer
/// objects stay, and a later commit may have such a tree.
fn faults(sandbox: &Sandbox) -> BTreeSet<String> {
    let args = ["fsck", "--no-dangling", "--no-progress"];
    let output = sandbox.command("git").args(args).output().unwrap();
    [output.stdout, output.stderr]
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| {
            !line.starts_with_str("error in ")
                && ["missing", "error", "corrupt"]
                    .iter()
                    .any(|word| line.contains_str(word))
        })
        .map(|line| line.to_str_lossy().into_owned())
        .collect()
}

fn keep(sandbox: &Sandbox) -> Kept {
    let picture = Picture::of(sandbox);
    Kept {
        refs: (!sandbox.path("work/.git/refs").is_symlink()).then(|| refs_of(&sandbox.work())),
        faults: faults(sandbox),
        id: save(sandbox)["id"].as_str().unwrap().to_owned(),
        picture,
    }
}

/// Goes back to a point and holds what is there against what was there.
fn go_back(sandbox: &Sandbox, kept: &Kept, round: &Round) {
    let mut args = vec!["rollback", &kept.id, "--yes"];
    if round.refs {
        args.push("--refs");
    }
    sandbox.holdpoint(&args).exits(0);
    let found = Picture::of(sandbox);
    if round.refs {
        kept.picture.assert_same(&found);
        if let Some(refs) = &kept.refs {
            assert_eq!(&refs_of(&sandbox.work()), refs);
        }
        let now = faults(sandbox);
        assert!(now.is_subset(&kept.faults), "{now:?}");
        return;
    }
    let share = |picture: &Picture| Picture {
        files: picture.files.clone(),
        git: git_of(picture, &["HEAD", "index", "sharedindex"]),
    };
    share(&kept.picture).assert_same(&share(&found));
}

fn live_through(first: &[Op], rounds: &[Round]) {
    let sandbox = Sandbox::plain();
    copy_tree(&SEED.work(), &sandbox.work());
    for op in first {
        act(&sandbox, op);
    }
    let mut points = vec![keep(&sandbox)];
    for round in rounds {
        for op in &round.ops {
            act(&sandbox, op);
        }
        let sound = sandbox.command("git").arg("status").output().unwrap();
        if round.saves && sound.status.success() {
            points.push(keep(&sandbox));
            continue;
        }
        let destroyed = Picture::of(&sandbox);
        let kept = round.to.get(&points);
        go_back(&sandbox, kept, round);
        if round.undo && destroyed.files != kept.picture.files {
            sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
            let files = |picture: &Picture| Picture {
                files: picture.files.clone(),
                git: BTreeMap::new(),
            };
            files(&destroyed).assert_same(&files(&Picture::of(&sandbox)));
            sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(0);
            files(&kept.picture).assert_same(&files(&Picture::of(&sandbox)));
        }
        unlock(&sandbox);
    }
    let last = Round {
        ops: Vec::new(),
        saves: false,
        to: rounds[0].to,
        refs: true,
        undo: false,
    };
    go_back(&sandbox, last.to.get(&points), &last);
    sandbox.holdpoint(["points", "verify"]).exits(0);
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
        first in prop::collection::vec(op(false), 3..14),
        rounds in prop::collection::vec(round(), 2..5),
    ) {
        live_through(&first, &rounds);
    }
}
