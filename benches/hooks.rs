//! What being called costs, side by side with an empty static program: `cargo bench --bench hooks`,
//! or a part of it: `cargo bench --bench hooks -- agent`, `status`, `commit`, `fetch`, `push`.
//!
//! `git commit` with all our hooks against the same set of empty ones; a fetch
//! and a push of 5,000 refs with our `reference-transaction` in the receiving
//! repository; `git status` with the tripwire; a harmless call of an agent's hook.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

mod support;

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::{Contender, empty_program, measure, print, run};

const HOOK: &str = env!("CARGO_BIN_EXE_holdpoint-hook");
const EVENTS: &[&str] = &[
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "pre-push",
    "pre-rebase",
    "pre-auto-gc",
    "reference-transaction",
];

/// One part: where to work, and the empty program.
type Part = fn(&Path, &Path);

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let empty = empty_program(dir.path());
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|word| word == part);
    let parts: [(&str, Part); 5] = [
        ("agent", agent),
        ("status", status),
        ("commit", commit),
        ("fetch", |dir, empty| many_refs(dir, empty, false)),
        ("push", |dir, empty| many_refs(dir, empty, true)),
    ];
    for (part, run) in parts {
        if wanted(part) {
            run(dir.path(), &empty);
        }
    }
}

fn command(program: impl AsRef<std::ffi::OsStr>, dir: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(dir)
        .env("HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ada");
        command.env(format!("GIT_{who}_EMAIL"), "ada@example.org");
    }
    for name in ["CLAUDECODE", "AI_AGENT", "HOLDPOINT_AGENT"] {
        command.env_remove(name);
    }
    command
}

fn repository(dir: &Path, name: &str, files: usize) -> PathBuf {
    let work = dir.join(name);
    for n in 0..files {
        let path = work.join(format!("src/d{:03}/f{n:05}.rs", n / 50));
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, format!("fn f{n}() {{}}\n")).expect("file");
    }
    fs::create_dir_all(&work).expect("directory");
    run(command("git", &work, dir).args(["init", "-q", "-b", "main"]));
    run(command("git", &work, dir).args(["add", "-A"]));
    run(command("git", &work, dir).args(["commit", "-qm", "start", "--allow-empty"]));
    work
}

fn init(work: &Path, home: &Path, args: &[&str]) {
    run(command(env!("CARGO_BIN_EXE_holdpoint"), work, home)
        .arg("init")
        .args(args)
        .stdout(Stdio::null()));
}

fn with_input(program: &Path, args: &[&str], input: &Path, dir: &Path) -> Command {
    // `measure` closes standard input; the shell opens the payload for both alike.
    let mut line = String::from("exec \"$0\" \"$@\" < ");
    line.push_str(&input.display().to_string());
    let mut command = command("sh", dir, dir);
    command.args(["-c", &line]).arg(program).args(args);
    command
}

fn agent(dir: &Path, empty: &Path) {
    let work = repository(dir, "agent", 500);
    init(&work, dir, &[]);
    for (title, text) in [
        ("a command that only reads", "git status && ls -la src"),
        ("a command that makes a file", "echo hi > ok.txt"),
    ] {
        let payload = dir.join("payload.json");
        let json = serde_json::json!({"session_id": "s", "cwd": work, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": text}});
        fs::write(&payload, json.to_string()).expect("payload");
        let mut contenders = [
            Contender {
                name: "empty static program",
                before: Box::new(|| {}),
                command: Box::new(|| with_input(empty, &[], &payload, &work)),
            },
            Contender {
                name: "holdpoint-hook agent claude",
                before: Box::new(|| {}),
                command: Box::new(|| {
                    with_input(Path::new(HOOK), &["agent", "claude"], &payload, &work)
                }),
            },
        ];
        let figures = measure(&mut contenders, 101);
        print(title, &figures, "empty static program");
    }
}

fn status(dir: &Path, empty: &Path) {
    let works: Vec<PathBuf> = ["plain", "floor", "ours"]
        .iter()
        .map(|name| repository(dir, &format!("status-{name}"), 10_000))
        .collect();
    let floor = dir.join("floor-fsmonitor");
    fs::copy(empty, &floor).expect("copy");
    run(command("git", &works[1], dir).args([
        "config",
        "core.fsmonitor",
        &floor.display().to_string(),
    ]));
    run(command("git", &works[1], dir).args(["config", "core.fsmonitorHookVersion", "2"]));
    init(&works[2], dir, &["--tripwire"]);
    let names = ["no monitor", "empty static monitor", "tripwire"];
    let mut contenders: Vec<Contender<'_>> = names
        .iter()
        .zip(&works)
        .map(|(name, work)| Contender {
            name,
            before: Box::new(|| {}),
            command: Box::new(move || {
                let mut command = command("git", work, dir);
                command.args(["status", "--porcelain"]);
                command
            }),
        })
        .collect();
    let figures = measure(&mut contenders, 41);
    print("git status, 10,000 files", &figures, "empty static monitor");
}

fn commit(dir: &Path, empty: &Path) {
    let works: Vec<PathBuf> = ["none", "floor", "ours"]
        .iter()
        .map(|name| repository(dir, &format!("commit-{name}"), 500))
        .collect();
    let hooks = works[1].join(".git/hooks");
    fs::create_dir_all(&hooks).expect("hooks");
    for event in EVENTS {
        fs::copy(empty, hooks.join(event)).expect("hook");
    }
    init(&works[2], dir, &[]);
    let serial = Cell::new(0);
    let serial = &serial;
    let names = ["no hooks", "empty static hooks", "holdpoint init"];
    let mut contenders: Vec<Contender<'_>> = names
        .iter()
        .zip(&works)
        .map(|(name, work)| Contender {
            name,
            before: Box::new(move || {
                serial.set(serial.get() + 1);
                fs::write(
                    work.join("src/d000/f00000.rs"),
                    format!("// {}\n", serial.get()),
                )
                .expect("edit");
                run(command("git", work, dir).args(["add", "src/d000/f00000.rs"]));
            }),
            command: Box::new(move || {
                let mut command = command("git", work, dir);
                command.args(["commit", "-qm", "edit"]);
                command
            }),
        })
        .collect();
    let figures = measure(&mut contenders, 41);
    print(
        "git commit of one staged file",
        &figures,
        "empty static hooks",
    );
    let none = figures[0].cpu.as_secs_f64();
    println!(
        "added processor time, ours / empty: {:.2}",
        (figures[2].cpu.as_secs_f64() - none) / (figures[1].cpu.as_secs_f64() - none)
    );
}

/// How often each is measured: one push of 5,000 refs starts 10,000 processes.
const TURNS: usize = 3;

fn many_refs(dir: &Path, empty: &Path, push: bool) {
    const REFS: usize = 5_000;
    let title = if push { "push" } else { "fetch" };
    let source = repository(dir, &format!("many-{title}"), 1);
    let input: Vec<String> = (0..REFS)
        .map(|n| format!("create refs/heads/topic/{n:05} HEAD\n"))
        .collect();
    let list = dir.join("refs.txt");
    fs::write(&list, input.concat()).expect("list");
    run(&mut with_input(
        Path::new("git"),
        &["update-ref", "--stdin"],
        &list,
        &source,
    ));
    run(command("git", &source, dir).args(["pack-refs", "--all"]));
    let source = &source;
    let names = ["empty static hook", "our hook alone", "holdpoint init"];
    let mut contenders: Vec<Contender<'_>> = names
        .iter()
        .map(|name| {
            let target = dir.join(format!("target-{push}-{}", name.len()));
            let again = target.clone();
            Contender {
                name,
                before: Box::new(move || receiving(&again, dir, name, empty)),
                command: Box::new(move || {
                    let refs = "refs/heads/topic/*:refs/heads/topic/*";
                    let (here, there) = if push {
                        (source, &target)
                    } else {
                        (&target, source)
                    };
                    let mut command = command("git", here, dir);
                    command.args([title, "-q"]).arg(there).arg(refs);
                    command
                }),
            }
        })
        .collect();
    let figures = measure(&mut contenders, TURNS);
    print(
        &format!("{title} of {REFS} refs"),
        &figures,
        "empty static hook",
    );
}

/// Makes the repository that gets the refs, with the hooks of a contender.
fn receiving(target: &Path, dir: &Path, name: &str, empty: &Path) {
    let _ = fs::remove_dir_all(target);
    fs::create_dir_all(target).expect("target");
    run(command("git", target, dir).args(["init", "-q", "--bare"]));
    for (key, value) in [("gc.auto", "0"), ("maintenance.auto", "false")] {
        run(command("git", target, dir).args(["config", key, value]));
    }
    let hooks = target.join("hooks");
    fs::create_dir_all(&hooks).expect("hooks");
    match name {
        "holdpoint init" => init(target, dir, &[]),
        "our hook alone" => symlink(HOOK, hooks.join("reference-transaction")).expect("hook"),
        _ => symlink(empty, hooks.join("reference-transaction")).expect("hook"),
    }
}
