//! What judging a command costs, side by side with an empty static program: `cargo bench --bench command_gate`.
//!
//! An agent's hook judges `ls -la`, `git reset --hard` with evidence in a
//! repository of 5,000 files (clean, and with a changed file), and a script of
//! twenty commands; `check batch` judges simple commands in one process.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{empty_program, run};

const HOOK: &str = env!("CARGO_BIN_EXE_holdpoint-hook");
const HOLDPOINT: &str = env!("CARGO_BIN_EXE_holdpoint");
const ROUNDS: usize = 41;
const SCRIPT: &str = "set -e\ncd src\nls -la\ngrep -rn main .\nhead -5 m1/f1.rs\nwc -l m2/f2.rs\ncd ..\n\
    cargo build 2>&1 | tail -5\ncargo test\ngit status --short\ngit log --oneline -5\ngit diff --stat\n\
    mkdir -p /tmp/x\necho hi > /tmp/x/a\ncat /tmp/x/a\nfor f in a b c; do echo $f; done\n\
    find . -name '*.rs' | wc -l\nsed -n 1,5p src/m1/f1.rs\njq . package.json\necho done";

fn main() {
    let dir = tempfile::tempdir_in(".").expect("a directory on a real disk");
    let built = Programs {
        hook: PathBuf::from(HOOK),
        empty: empty_program(dir.path()),
    };
    let installed = built.installed(dir.path());
    let clean = repository(dir.path(), "clean");
    let dirty = repository(dir.path(), "dirty");
    fs::write(dirty.join("src/m7/f7.rs"), "changed\n").expect("write");
    let (ls, reset) = ("ls -la", "git reset --hard");
    let stages = [
        (ls, &installed, &clean, ls, 2.0),
        ("ls -la, programs as built", &built, &clean, ls, 2.0),
        ("git reset --hard, clean", &installed, &clean, reset, 5.0),
        ("git reset --hard, a change", &installed, &dirty, reset, 5.0),
        ("a script of 20 commands", &installed, &clean, SCRIPT, 3.0),
    ];
    println!(
        "{:<30} {:>8} {:>8} {:>7} {:>5}",
        "", "ours ms", "empty ms", "ratio", "bar"
    );
    for (name, programs, work, command, bar) in stages {
        let (ours, floor) = pairs(dir.path(), programs, work, command);
        println!(
            "{name:<30} {:>8.2} {:>8.2} {:>7.2} {bar:>5.1}",
            ours.as_secs_f64() * 1e3,
            floor.as_secs_f64() * 1e3,
            ours.as_secs_f64() / floor.as_secs_f64(),
        );
    }
    let looked = lookup(&clean);
    println!(
        "lstat of the 5,000 files alone, in the directories, on two threads: {:.2} ms",
        looked.as_secs_f64() * 1e3
    );
    batch(dir.path(), &clean);
}

/// Ours and the one it is held against.
struct Programs {
    hook: PathBuf,
    empty: PathBuf,
}

impl Programs {
    /// Both as `holdpoint init` and `cargo install` leave a program: a copy.
    ///
    /// The kernel keeps what was written in one go in larger pieces than what a
    /// linker wrote here and there, and starts it the faster.
    fn installed(&self, dir: &Path) -> Self {
        let copied = |program: &Path, name: &str| {
            let copy = dir.join(name);
            fs::copy(program, &copy).expect("a copy");
            copy
        };
        Self {
            hook: copied(&self.hook, "holdpoint-hook"),
            empty: copied(&self.empty, "empty-copy"),
        }
    }
}

/// What the evidence of a reset cannot do without: a look at every file.
fn lookup(work: &Path) -> Duration {
    let half = |from: u32, to: u32| {
        for module in from..to {
            let dir = work.join(format!("src/m{module}"));
            let dir = rustix::fs::open(
                &dir,
                rustix::fs::OFlags::PATH | rustix::fs::OFlags::DIRECTORY,
                rustix::fs::Mode::empty(),
            )
            .expect("a directory");
            for at in (module..5000).step_by(50) {
                let name = format!("f{at}.rs");
                rustix::fs::statat(&dir, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
                    .expect("a file");
            }
        }
    };
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            std::thread::scope(|scope| {
                scope.spawn(|| half(0, 25));
                half(25, 50);
            });
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn repository(dir: &Path, name: &str) -> PathBuf {
    let work = dir.join(name);
    for at in 0..5000 {
        let parent = work.join(format!("src/m{}", at % 50));
        fs::create_dir_all(&parent).expect("a directory");
        fs::write(
            parent.join(format!("f{at}.rs")),
            format!("fn f{at}() {{}}\n"),
        )
        .expect("a file");
    }
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["commit", "-qm", "one"],
    ] {
        run(command("git", dir, &work).args(args));
    }
    // An index younger than its files proves nothing, and git says so by its content.
    let past = std::time::SystemTime::now() - Duration::from_mins(1);
    for at in 0..5000 {
        let path = work.join(format!("src/m{}/f{at}.rs", at % 50));
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(past).expect("a time");
    }
    run(command("git", dir, &work).args(["update-index", "-q", "--refresh"]));
    work
}

fn command(program: impl AsRef<std::ffi::OsStr>, dir: &Path, work: &Path) -> Command {
    let home = dir.join("home");
    fs::create_dir_all(&home).expect("a home");
    let mut command = Command::new(program);
    command
        .current_dir(work)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ada");
        command.env(format!("GIT_{who}_EMAIL"), "ada@example.org");
    }
    command
}

/// Medians of ours and of the empty program, run in turn with the same input.
fn pairs(dir: &Path, programs: &Programs, work: &Path, text: &str) -> (Duration, Duration) {
    let payload = serde_json::json!({
        "session_id": "bench",
        "hook_event_name": "PreToolUse",
        "cwd": work,
        "tool_name": "Bash",
        "tool_input": { "command": text },
    })
    .to_string();
    let mut ours = Vec::new();
    let mut floor = Vec::new();
    for round in 0..=ROUNDS {
        let first = once(
            command(&programs.hook, dir, work).args(["agent", "claude"]),
            &payload,
        );
        let second = once(&mut command(&programs.empty, dir, work), &payload);
        if round > 0 {
            ours.push(first);
            floor.push(second);
        }
    }
    ours.sort();
    floor.sort();
    (ours[ROUNDS / 2], floor[ROUNDS / 2])
}

fn once(command: &mut Command, input: &str) -> Duration {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    child
        .stdin
        .take()
        .expect("standard input")
        .write_all(input.as_bytes())
        .expect("write");
    child.wait().expect("wait");
    start.elapsed()
}

fn batch(dir: &Path, work: &Path) {
    const COUNT: u32 = 50_000;
    let simple = [
        "ls -la",
        "git status",
        "cargo test",
        "cat src/m1/f1.rs",
        "grep -rn main src",
        "npm run build",
    ];
    let mut input = String::new();
    for at in 0..COUNT as usize {
        let text = simple[at % simple.len()];
        writeln!(
            input,
            "{}",
            serde_json::json!({ "type": "command", "text": text })
        )
        .expect("text");
    }
    let path = dir.join("batch.jsonl");
    fs::write(&path, input).expect("write");
    let start = Instant::now();
    let before = support::children_cpu();
    let status = command(HOLDPOINT, dir, work)
        .args(["check", "batch"])
        .stdin(fs::File::open(&path).expect("input"))
        .stdout(Stdio::null())
        .status()
        .expect("start");
    let took = start.elapsed();
    let cpu = support::children_cpu().saturating_sub(before);
    assert!(status.code().is_some());
    println!(
        "check batch: {:.0} commands a second by the clock, {:.0} by processor time",
        f64::from(COUNT) / took.as_secs_f64(),
        f64::from(COUNT) / cpu.as_secs_f64()
    );
}
