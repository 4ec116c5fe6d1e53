//! What a safety point and a rollback cost: `cargo bench --bench safety_points -- S M L`.
//!
//! `--only unchanged,one-edit,many,first,rollback` measures some of it, `--rounds N` more
//! or fewer times; a row of L by itself takes minutes.
//!
//! Trees S (5,000 files), M (50,000 and 20,000 ignored ones) and L (200,000),
//! made here, warm. The floor is a process that does what nobody can do without:
//! two threads that stat every known path and list every directory. Every row of
//! one table is measured in turn in one run; ratios are the figures to keep.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

mod support;

use rustix::fs::{AtFlags, Mode, OFlags, RawDir};
use std::cell::Cell;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use support::{Contender, measure, print, run};

/// Measures one row of the table for a tree of a size.
type Row = fn(&Stage, &str);

/// What is measured, and how often.
struct Choice {
    only: Vec<String>,
    rounds: usize,
}

impl Choice {
    /// Takes the choice out of the arguments and leaves the sizes.
    fn from(args: &mut Vec<String>) -> Self {
        let mut value = |name: &str| {
            let at = args.iter().position(|arg| arg == name)?;
            let value = args.get(at + 1).cloned();
            args.drain(at..(at + 2).min(args.len()));
            value
        };
        let only = value("--only").unwrap_or_default();
        Self {
            rounds: value("--rounds").map_or(9, |n| n.parse().expect("a number")),
            only: only
                .split(',')
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }

    fn has(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

fn main() {
    let mut args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    if args.first().is_some_and(|arg| arg == "floor") {
        return floor(Path::new(&args[1]));
    }
    let choice = Choice::from(&mut args);
    if args.is_empty() {
        args.push("S".to_owned());
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    for size in &args {
        let (files, ignored) = match size.as_str() {
            "S" => (5_000, 0),
            "M" => (50_000, 20_000),
            _ => (200_000, 0),
        };
        let stage = Stage::new(dir.path(), size, files, ignored, choice.rounds);
        run(&mut stage.holdpoint(&["save"]));
        run(&mut stage.holdpoint(&["save"]));
        let rows: [(&str, Row); 5] = [
            ("unchanged", Stage::unchanged),
            ("one-edit", Stage::one_edit),
            ("many", Stage::many),
            ("first", Stage::first),
            ("rollback", Stage::rollback),
        ];
        for (part, measure) in rows {
            if choice.has(part) {
                measure(&stage, size);
            }
        }
        let _ = fs::remove_dir_all(&stage.work);
    }
}

/// A generator of numbers that gives the same ones on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("fits")
    }

    /// A size between 200 bytes and 30 KiB: many small ones, few large ones.
    fn size(&mut self) -> usize {
        let exponent = self.below(1000);
        let mut size = 200.0_f64;
        for _ in 0..exponent {
            size *= 1.005_05;
        }
        format!("{size:.0}").parse().expect("a number")
    }
}

fn text(dice: &mut Dice, size: usize) -> Vec<u8> {
    const WORDS: &[&str] = &[
        "alpha", "beta", "index", "tree", "commit", "branch", "reset", "guard", "let", "match",
        "return", "struct", "point", "cache", "inode", "entry",
    ];
    let mut out = Vec::with_capacity(size + 16);
    while out.len() < size {
        out.extend_from_slice(WORDS[dice.below(WORDS.len())].as_bytes());
        out.push(if dice.below(8) == 0 { b'\n' } else { b' ' });
        if dice.below(12) == 0 {
            out.extend_from_slice(dice.below(100_000).to_string().as_bytes());
        }
    }
    out.truncate(size);
    out
}

fn noise(dice: &mut Dice, size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(size + 8);
    while out.len() < size {
        out.extend_from_slice(&dice.next().to_le_bytes());
    }
    out.truncate(size);
    out
}

struct Stage {
    work: PathBuf,
    home: PathBuf,
    files: Vec<PathBuf>,
    rounds: usize,
    round: Cell<u64>,
}

impl Stage {
    fn new(dir: &Path, name: &str, files: usize, ignored: usize, rounds: usize) -> Self {
        let work = dir.join(name);
        let home = dir.join(format!("{name}-home"));
        fs::create_dir_all(&home).expect("home");
        let mut dice = Dice(7);
        let mut paths = Vec::new();
        for n in 0..files {
            let group = n / 20;
            let path = work.join(format!(
                "pkg{:02}/part{:03}/unit{group:05}/file_{n:06}.rs",
                group % 40,
                group / 40
            ));
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            let size = dice.size();
            fs::write(&path, text(&mut dice, size)).expect("file");
            paths.push(path);
        }
        fs::write(work.join(".gitignore"), "node_modules/\ntarget/\n*.log\n").expect("file");
        let stage = Self {
            work,
            home,
            files: paths,
            rounds,
            round: Cell::new(0),
        };
        run(stage.git().args(["init", "-q", "-b", "main"]));
        run(stage.git().args(["add", "-A"]));
        run(stage
            .git()
            .args(["-c", "gc.auto=0", "commit", "-qm", "start"]));
        run(stage.git().args(["gc", "-q"]));
        for n in 0..ignored {
            let path = stage.work.join(format!(
                "node_modules/p{:03}/lib{}/m{n}.js",
                n / 100,
                n / 10 % 10
            ));
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            fs::write(path, format!("module.exports = {n};\n")).expect("file");
        }
        for n in 0..8 {
            fs::write(&stage.files[n * 97 + 5], format!("staged {n}\n")).expect("file");
        }
        run(stage.git().args(["add", "-u"]));
        std::thread::sleep(std::time::Duration::from_millis(1200));
        let _ = stage
            .git()
            .args(["update-index", "-q", "--really-refresh"])
            .output();
        stage.rewrite(0);
        for n in 0..5 {
            fs::remove_file(&stage.files[n * 89 + 3]).expect("delete");
        }
        stage
    }

    /// Rewrites the 58 files that differ from git: 28 tracked ones and 30 untracked ones.
    fn rewrite(&self, round: u64) {
        let mut dice = Dice(1000 + round);
        for n in 0..28 {
            let size = dice.size();
            fs::write(&self.files[n * 97 + 5], text(&mut dice, size)).expect("file");
        }
        fs::create_dir_all(self.work.join("scratch")).expect("directory");
        for n in 0..30 {
            let path = self.work.join(format!("scratch/new_{n:02}.txt"));
            let bytes = match n {
                0 | 1 => noise(&mut dice, 1 << 20),
                2 | 3 => text(&mut dice, 1 << 20),
                _ => {
                    let size = dice.size();
                    text(&mut dice, size)
                }
            };
            fs::write(path, bytes).expect("file");
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.work)
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "bench")
            .env("GIT_AUTHOR_EMAIL", "bench@example.org")
            .env("GIT_COMMITTER_NAME", "bench")
            .env("GIT_COMMITTER_EMAIL", "bench@example.org");
        command
    }

    fn git(&self) -> Command {
        self.command("git")
    }

    fn holdpoint(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_holdpoint"));
        command.args(args);
        command
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = self.command("sh");
        command.args(["-ec", script]);
        command
    }

    fn floor(&self) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("own program"));
        command.arg("floor").arg(&self.work);
        command
    }

    fn status(&self) -> Command {
        let mut command = self.git();
        command.args(["--no-optional-locks", "status", "--porcelain", "-uall"]);
        command
    }

    /// git plumbing on a temporary index, as a script would take a point.
    fn plumbing(&self) -> Command {
        self.shell(
            "cp -p .git/index ../private-index; git write-tree >/dev/null
             export GIT_INDEX_FILE=$PWD/../private-index; git add -A; tree=$(git write-tree)
             commit=$(git commit-tree -p HEAD -m point $tree); git update-ref refs/points/last $commit",
        )
    }

    fn save(&self) -> Box<dyn FnMut() -> Command + '_> {
        Box::new(|| self.holdpoint(&["save"]))
    }

    fn next_round(&self) -> u64 {
        self.round.set(self.round.get() + 1);
        self.round.get()
    }

    fn unchanged(&self, size: &str) {
        let nothing = || -> Box<dyn FnMut()> { Box::new(|| {}) };
        let figures = measure(
            &mut [
                Contender {
                    name: "floor",
                    before: nothing(),
                    command: Box::new(|| self.floor()),
                },
                Contender {
                    name: "save, nothing changed",
                    before: nothing(),
                    command: self.save(),
                },
                Contender {
                    name: "git status -uall",
                    before: nothing(),
                    command: Box::new(|| self.status()),
                },
            ],
            self.rounds,
        );
        print(&format!("{size}: nothing changed"), &figures, "floor");
        println!(
            "peak memory of save: {} KiB",
            peak(self.holdpoint(&["save"]))
        );
    }

    fn one_edit(&self, size: &str) {
        let nothing = || -> Box<dyn FnMut()> { Box::new(|| {}) };
        let one = || -> Box<dyn FnMut() + '_> {
            Box::new(|| {
                let bytes = text(&mut Dice(self.next_round()), 3000);
                fs::write(&self.files[1234], bytes).expect("edit");
            })
        };
        let figures = measure(
            &mut [
                Contender {
                    name: "floor",
                    before: nothing(),
                    command: Box::new(|| self.floor()),
                },
                Contender {
                    name: "save, one edit",
                    before: one(),
                    command: self.save(),
                },
                Contender {
                    name: "git status -uall",
                    before: nothing(),
                    command: Box::new(|| self.status()),
                },
            ],
            self.rounds,
        );
        print(&format!("{size}: one edit"), &figures, "floor");
        self.added();
    }

    fn many(&self, size: &str) {
        let many = || -> Box<dyn FnMut() + '_> { Box::new(|| self.rewrite(self.next_round())) };
        let figures = measure(
            &mut [
                Contender {
                    name: "git plumbing",
                    before: many(),
                    command: Box::new(|| self.plumbing()),
                },
                Contender {
                    name: "save, 58 files",
                    before: many(),
                    command: self.save(),
                },
            ],
            self.rounds,
        );
        print(
            &format!("{size}: 58 files, 4.4 MiB"),
            &figures,
            "git plumbing",
        );
        run(self.git().args(["update-ref", "-d", "refs/points/last"]));
    }

    /// How many bytes one edit adds.
    fn added(&self) {
        fs::write(&self.files[77], text(&mut Dice(5), 3000)).expect("edit");
        let output = self.holdpoint(&["save", "--json"]).output().expect("save");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        println!("bytes added by one edit of 3000 bytes: {}", json["bytes"]);
    }

    fn first(&self, size: &str) {
        let figures = measure(
            &mut [
                Contender {
                    name: "cold shadow git add -A",
                    before: Box::new(|| {
                        let _ = fs::remove_dir_all(self.home.join("shadow"));
                        run(Command::new("git")
                            .args(["init", "-q", "--bare"])
                            .arg(self.home.join("shadow")));
                    }),
                    command: Box::new(|| {
                        let mut command = self.git();
                        command
                            .arg("--git-dir")
                            .arg(self.home.join("shadow"))
                            .args(["--work-tree", ".", "add", "-A"]);
                        command
                    }),
                },
                Contender {
                    name: "first save ever",
                    before: Box::new(|| {
                        let _ = fs::remove_dir_all(self.home.join("state"));
                    }),
                    command: Box::new(|| self.holdpoint(&["save"])),
                },
            ],
            if size == "S" { 3 } else { 1 },
        );
        print(
            &format!("{size}: the first point"),
            &figures,
            "cold shadow git add -A",
        );
        let _ = fs::remove_dir_all(self.home.join("state"));
        let first = peak(self.holdpoint(&["save"]));
        println!("peak memory of the first save: {first} KiB");
        let du = |path: PathBuf| {
            let output = Command::new("du")
                .arg("-sk")
                .arg(path)
                .output()
                .expect("du");
            String::from_utf8_lossy(&output.stdout)
                .split_whitespace()
                .next()
                .map(str::to_owned)
        };
        println!(
            "KiB on disk: shadow {:?}, vault {:?}",
            du(self.home.join("shadow")),
            du(self.home.join("state"))
        );
        let _ = fs::remove_dir_all(self.home.join("shadow"));
    }

    fn rollback(&self, size: &str) {
        run(&mut self.holdpoint(&["save"]));
        let output = self.holdpoint(&["save"]).output().expect("save");
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let wreck = || -> Box<dyn FnMut() + '_> { Box::new(|| self.rewrite(self.next_round())) };
        let kept = self.home.join("kept");
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir(&kept).expect("kept");
        for (n, path) in self.changed().iter().enumerate() {
            fs::copy(path, kept.join(n.to_string())).expect("copy");
        }
        let figures = measure(
            &mut [
                Contender {
                    name: "git status and writing the bytes",
                    before: wreck(),
                    command: Box::new(|| {
                        self.shell(&format!(
                            "git --no-optional-locks status --porcelain -uall >/dev/null
                             cat {0}/* | dd of={0}/../sink bs=64k status=none",
                            kept.display()
                        ))
                    }),
                },
                Contender {
                    name: "rollback of 58 files",
                    before: wreck(),
                    command: Box::new(|| self.holdpoint(&["rollback", &id, "--yes", "--force"])),
                },
            ],
            self.rounds,
        );
        print(
            &format!("{size}: rollback"),
            &figures,
            "git status and writing the bytes",
        );
    }

    fn changed(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = (0..28).map(|n| self.files[n * 97 + 5].clone()).collect();
        paths.extend((0..30).map(|n| self.work.join(format!("scratch/new_{n:02}.txt"))));
        paths
    }
}

/// Runs a command and returns its largest resident size in KiB.
#[allow(
    unsafe_code,
    clippy::zombie_processes,
    reason = "wait4 alone tells it of one child, and waits for it"
)]
fn peak(mut command: Command) -> i64 {
    let child = command
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("started");
    let pid = libc::pid_t::try_from(child.id()).expect("fits");
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    // SAFETY: the child is ours and nobody else waits for it; wait4 fills what it is given.
    unsafe {
        libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr());
        usage.assume_init().ru_maxrss
    }
}

/// Stats every path of the index and lists every directory, with two threads.
fn floor(work: &Path) {
    let root = open(work);
    let index = fs::read(work.join(".git/index")).expect("index");
    let paths = index_paths(&index);
    let half = paths.len() / 2;
    let stat = |paths: &[&[u8]]| {
        for path in paths {
            let _ = rustix::fs::statat(&root, *path, AtFlags::SYMLINK_NOFOLLOW);
        }
    };
    let waiting = Mutex::new((vec![Vec::<u8>::new()], 0_usize));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            stat(&paths[half..]);
            list(&root, &waiting);
        });
        stat(&paths[..half]);
        list(&root, &waiting);
        other.join().expect("thread");
    });
}

fn open(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).expect("open")
}

fn list(root: &OwnedFd, waiting: &Mutex<(Vec<Vec<u8>>, usize)>) {
    let mut buffer = Vec::with_capacity(32 << 10);
    loop {
        let next = {
            let mut queue = waiting.lock().expect("lock");
            let next = queue.0.pop();
            if next.is_some() {
                queue.1 += 1;
            } else if queue.1 == 0 {
                return;
            }
            next
        };
        let Some(path) = next else {
            std::thread::yield_now();
            continue;
        };
        let name = if path.is_empty() {
            b"."
        } else {
            path.as_slice()
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let dir = rustix::fs::openat(root.as_fd(), name, flags, Mode::empty()).expect("open");
        let mut children = Vec::new();
        let mut entries = RawDir::new(&dir, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry.expect("entry");
            let name = entry.file_name().to_bytes();
            let skipped: [&[u8]; 4] = [b".", b"..", b".git", b"node_modules"];
            if entry.file_type() == rustix::fs::FileType::Directory && !skipped.contains(&name) {
                let mut child = path.clone();
                if !child.is_empty() {
                    child.push(b'/');
                }
                child.extend_from_slice(name);
                children.push(child);
            }
        }
        let mut queue = waiting.lock().expect("lock");
        queue.0.extend(children);
        queue.1 -= 1;
    }
}

/// The paths of an index of version 2.
fn index_paths(index: &[u8]) -> Vec<&[u8]> {
    let number = |at: usize| u32::from_be_bytes(index[at..at + 4].try_into().expect("4 bytes"));
    let mut paths = Vec::new();
    let mut at = 12;
    for _ in 0..number(8) {
        let start = at + 62;
        let len = index[start..]
            .iter()
            .position(|byte| *byte == 0)
            .expect("end");
        paths.push(&index[start..start + len]);
        at += (62 + len + 8) & !7;
    }
    paths
}
