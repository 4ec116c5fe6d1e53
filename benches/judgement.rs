//! What judging and logging cost, side by side: `cargo bench --bench judgement`.
//!
//! Judging 10,000 prepared facts; `holdpoint log --stats` over a million
//! entries against a bare serde_json scan of the same bytes; durable appends by
//! eight processes against the same appends with the lock kept until the disk
//! has them, and against as many bare lines written and synced under a lock.

#![allow(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

use holdpoint::contract::Contract;
use holdpoint::journal::{self, Filter, Log, LogEntry};
use holdpoint::judge::{
    self, Actor, Coverage, Effect, EffectKind, Facts, FileOp, FileState, Nature, Place, Policy,
    RuleId, Surface,
};
use holdpoint::repo::Workspace;
use holdpoint::sys::env::Env;
use holdpoint::sys::lock::Lock;
use serde::de::IgnoredAny;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const WRITERS: usize = 8;
const APPENDS: usize = 1000;

fn main() {
    if let Ok(kind) = std::env::var("BENCH_WRITER") {
        writer(&kind);
        return;
    }
    let dir = tempfile::tempdir_in(".").expect("a directory on a real disk");
    judging();
    stats(dir.path());
    appends(dir.path());
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn judging() {
    let facts: Vec<Facts> = (0..10_000)
        .map(|index| Facts {
            surface: Surface::AgentHook,
            actor: Actor::Agent {
                name: "claude".to_owned(),
                session: None,
            },
            effects: vec![Effect::new(
                EffectKind::File {
                    op: if index % 7 == 0 {
                        FileOp::Delete
                    } else {
                        FileOp::Modify
                    },
                    place: Place::Workspace,
                    nature: if index % 5 == 0 {
                        Nature::Config
                    } else {
                        Nature::Ordinary
                    },
                    state: FileState::Clean,
                },
                format!("src/module{}/file{index}.rs", index % 40),
            )],
            coverage: Coverage::NotTaken,
        })
        .collect();
    let policy = Policy {
        contract: Some(
            Contract::parse(b"### In Scope\n- src/\n### Out of Scope\n- src/module7/\n## Must-Not-Change\n- src/module9/api.rs\n- `*.lock`\n")
                .expect("a Contract"),
        ),
        ..Policy::default()
    };
    let time = best(20, || {
        for facts in &facts {
            std::hint::black_box(judge::judge(facts, &policy));
        }
    });
    println!(
        "judge: {:.0} ns a fact (10,000 facts in {time:?})",
        time.as_secs_f64() * 1e9 / 10_000.0
    );
    let one = Facts {
        effects: facts
            .iter()
            .flat_map(|facts| facts.effects.clone())
            .collect(),
        ..facts[0].clone()
    };
    let time = best(20, || {
        std::hint::black_box(judge::judge(&one, &policy));
    });
    println!(
        "judge: {:.0} ns a fact (10,000 effects of one action in {time:?})",
        time.as_secs_f64() * 1e9 / 10_000.0
    );
}

fn workspace(dir: &Path, name: &str) -> (Env, Workspace) {
    let work = dir.join(name);
    fs::create_dir_all(work.join(".git/objects")).expect("git");
    fs::create_dir_all(work.join(".git/refs")).expect("git");
    fs::create_dir_all(work.join(".ccg")).expect("ccg");
    fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").expect("HEAD");
    let home = fs::canonicalize(dir).expect("home");
    let env = Env::from_parts(
        [("HOME".into(), home.into_os_string())],
        fs::canonicalize(&work).expect("work"),
    );
    let workspace = Workspace::discover(&env).expect("workspace");
    (env, workspace)
}

fn entry(index: usize) -> LogEntry {
    LogEntry::new(if index.is_multiple_of(9) {
        "hold"
    } else {
        "allow"
    })
    .level(judge::Level::Transparent)
    .reason("file_modified")
    .reasoning("file.modify: src/module/file.rs changes; Level 0 needs nobody")
    .rule(if index.is_multiple_of(9) {
        RuleId::FileDelete
    } else {
        RuleId::FileModify
    })
    .context("surface", "agent_hook")
    .context("command", format!("cargo test --lib module::{index}"))
    .context("paths", ["src/module/file.rs", "src/module/other.rs"])
    .outcome(journal::Outcome::Success)
}

fn stats(dir: &Path) {
    let (env, workspace) = workspace(dir, "stats");
    for index in 0..1000 {
        journal::append(&env, &workspace, entry(index)).expect("append");
    }
    let path = journal::lines_path(&workspace, Log::Decisions);
    let thousand = fs::read(&path).expect("log");
    let mut file = fs::File::create(&path).expect("log");
    for _ in 0..1000 {
        file.write_all(&thousand).expect("log");
    }
    drop(file);
    let bare = best(3, || {
        let bytes = fs::read(&path).expect("log");
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .filter(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok())
            .count();
        assert_eq!(lines, 1_000_000);
    });
    let ours = best(3, || {
        let stats = journal::stats(&workspace, Log::Decisions, &Filter::default()).expect("stats");
        assert_eq!(stats.entries, 1_000_000);
    });
    println!(
        "log --stats over 1,000,000 entries ({} MiB): {ours:?}; bare serde_json scan {bare:?}; {:.2} times",
        thousand.len() * 1000 / 1_048_576,
        ours.as_secs_f64() / bare.as_secs_f64()
    );
}

fn appends(dir: &Path) {
    let mut rates = Vec::new();
    for (kind, what) in [
        ("bare", "bare lines, synced under the lock"),
        ("under", "entries, synced under the lock"),
        ("after", "entries, synced after the lock"),
    ] {
        let (env, _) = workspace(dir, kind);
        let start = Instant::now();
        let children: Vec<_> = (0..WRITERS)
            .map(|_| {
                Command::new(std::env::current_exe().expect("self"))
                    .env("BENCH_WRITER", kind)
                    .env("HOME", env.home().expect("home"))
                    .env_remove("XDG_STATE_HOME")
                    .current_dir(env.cwd())
                    .spawn()
                    .expect("a writer")
            })
            .collect();
        for mut child in children {
            assert!(child.wait().expect("a writer").success());
        }
        let rate = (WRITERS * APPENDS) as f64 / start.elapsed().as_secs_f64();
        println!("appends by {WRITERS} processes, {what}: {rate:.0} a second");
        rates.push(rate);
    }
    println!(
        "{:.1} times the same under the lock, {:.1} times bare lines under the lock",
        rates[2] / rates[1],
        rates[2] / rates[0]
    );
}

/// One of several writers: ours, ours with another lock around it, or a line of the same length.
fn writer(kind: &str) {
    let env = Env::read().expect("environment");
    let workspace = Workspace::discover(&env).expect("workspace");
    let outer = env.cwd().join("lock");
    for index in 0..APPENDS {
        // A line that is waited for; what only passed is not.
        let line = entry(index).level(judge::Level::Confirm);
        let _lock = (kind != "after").then(|| Lock::wait(&outer).expect("lock"));
        if kind != "bare" {
            journal::append(&env, &workspace, line).expect("append");
            continue;
        }
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(env.cwd().join("log"))
            .expect("log");
        file.write_all(&[b'x'; 500]).expect("write");
        file.sync_data().expect("sync");
    }
}
