//! What a leash costs: `cargo bench --bench wrapped_runs`.
//!
//! The start of a command that does nothing, against the bare command and
//! against a safety point alone; and a gigabyte of output through a pipe,
//! against `cat` on its own.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::{Contender, measure, print, run};

const RUN: &str = env!("CARGO_BIN_EXE_holdpoint-run");
const HOLDPOINT: &str = env!("CARGO_BIN_EXE_holdpoint");

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let work = dir.path().join("work");
    fs::create_dir(&work).expect("a directory");
    for number in 0..200 {
        fs::write(work.join(format!("f{number}")), "text\n").expect("a file");
    }
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["commit", "-qm", "first"],
    ] {
        run(command("git", &work, dir.path()).args(args));
    }
    start(&work, dir.path());
    stream(&work, dir.path());
}

fn command(program: &str, work: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(work)
        .env("HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@example.org")
        .env("GIT_COMMITTER_NAME", "Ada")
        .env("GIT_COMMITTER_EMAIL", "ada@example.org")
        .stderr(std::process::Stdio::null());
    command
}

fn start(work: &Path, home: &Path) {
    let contender = |name, program: &'static str, args: &'static [&'static str]| Contender {
        name,
        before: Box::new(|| {}),
        command: Box::new(move || {
            let mut command = command(program, work, home);
            command.args(args);
            command
        }),
    };
    let figures = measure(
        &mut [
            contender("bare", "true", &[]),
            contender("a safety point alone", HOLDPOINT, &["save"]),
            contender("wrapped", RUN, &["-q", "--", "true"]),
        ],
        31,
    );
    print("The start of a command that does nothing", &figures, "bare");
}

fn stream(work: &Path, home: &Path) {
    let big = home.join("big");
    let file = fs::File::create(&big).expect("a file");
    file.set_len(1 << 30).expect("a gigabyte");
    let contender = |name, script: String| Contender {
        name,
        before: Box::new(|| {}),
        command: Box::new(move || {
            let mut command = command("sh", work, home);
            command.args(["-c", &script]);
            command
        }),
    };
    let big = big.display();
    let figures = measure(
        &mut [
            contender("cat | cat", format!("cat {big} | cat")),
            contender("wrapped cat | cat", format!("{RUN} -q -- cat {big} | cat")),
        ],
        7,
    );
    print("A gigabyte of output", &figures, "cat | cat");
}
