//! What the main job costs, side by side: `cargo bench --bench main_job`.
//!
//! `git commit` of one staged file with our pre-commit hook against an empty
//! static program as that hook, and `holdpoint save` of an unchanged tree
//! against `git status --porcelain -uall`.

#![allow(
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

mod support;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Contender, empty_program, measure, print, run};

const ROUNDS: usize = 41;

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let empty = empty_program(dir.path());
    commit(dir.path(), &empty);
    save(dir.path());
}

struct Stage {
    work: PathBuf,
    home: PathBuf,
}

impl Stage {
    fn new(dir: &Path, name: &str, files: usize) -> Self {
        let stage = Self {
            work: dir.join(name),
            home: dir.join(format!("{name}-home")),
        };
        fs::create_dir_all(&stage.home).expect("home");
        for n in 0..files {
            let path = stage.work.join(format!("src/d{:03}/f{n:05}.rs", n / 20));
            fs::create_dir_all(path.parent().expect("parent")).expect("directory");
            fs::write(path, format!("fn f{n}() {{}}\n").repeat(20)).expect("file");
        }
        run(stage.git().args(["init", "-q", "-b", "main"]));
        run(stage.git().args(["add", "-A"]));
        run(stage.git().args(["commit", "-qm", "start"]));
        stage
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.work)
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args::<[&str; 0], &str>([]);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Ada");
            command.env(format!("GIT_{who}_EMAIL"), "ada@example.org");
        }
        command
    }

    fn git(&self) -> Command {
        self.command("git")
    }

    fn holdpoint(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_holdpoint"))
    }
}

fn commit(dir: &Path, empty: &Path) {
    for files in [100, 5_000] {
        let bare = Stage::new(dir, &format!("bare{files}"), files);
        let floor = Stage::new(dir, &format!("floor{files}"), files);
        let hooks = floor.work.join(".git/hooks");
        fs::create_dir_all(&hooks).expect("hooks");
        fs::copy(empty, hooks.join("pre-commit")).expect("hook");
        let ours = Stage::new(dir, &format!("ours{files}"), files);
        fs::create_dir_all(ours.work.join(".git/hooks")).expect("hooks");
        std::os::unix::fs::symlink(
            env!("CARGO_BIN_EXE_holdpoint-hook"),
            ours.work.join(".git/hooks/pre-commit"),
        )
        .expect("hook");
        let installed = Stage::new(dir, &format!("installed{files}"), files);
        fs::create_dir_all(installed.work.join(".ccg")).expect("directory");
        fs::write(
            installed.work.join(".ccg/contract.md"),
            "## In Scope\n- src/\n",
        )
        .expect("contract");
        run(installed.holdpoint().arg("init"));
        let serial = Cell::new(0);
        let contender = |name: &'static str, stage: &'static Stage| Contender {
            name,
            before: Box::new(|| {
                serial.set(serial.get() + 1);
                fs::write(
                    stage.work.join("src/d000/f00000.rs"),
                    format!("// {}\n", serial.get()),
                )
                .expect("edit");
                run(stage.git().args(["add", "src/d000/f00000.rs"]));
            }),
            command: Box::new(|| {
                let mut command = stage.git();
                command.args(["commit", "-qm", "edit"]);
                command
            }),
        };
        // The stages live as long as the program.
        let [bare, floor, ours, installed] =
            [bare, floor, ours, installed].map(|stage| &*Box::leak(Box::new(stage)));
        let mut contenders = [
            contender("no hook", bare),
            contender("empty static hook", floor),
            contender("holdpoint-hook as pre-commit", ours),
            contender("holdpoint init (all hooks)", installed),
        ];
        let figures = measure(&mut contenders, ROUNDS);
        print(
            &format!("git commit of one staged file, {files} files"),
            &figures,
            "no hook",
        );
        let cpu = |at: usize| figures[at].cpu.as_secs_f64() - figures[0].cpu.as_secs_f64();
        println!(
            "added processor time, holdpoint-hook / empty hook: {:.2}",
            cpu(2) / cpu(1)
        );
        println!(
            "added processor time, all our hooks / empty hook:  {:.2}",
            cpu(3) / cpu(1)
        );
    }
}

fn save(dir: &Path) {
    let stage = Stage::new(dir, "save", 5_000);
    run(stage.holdpoint().arg("save"));
    let mut contenders = [
        Contender {
            name: "git status --porcelain -uall",
            before: Box::new(|| {}),
            command: Box::new(|| {
                let mut command = stage.git();
                command.args(["status", "--porcelain", "-uall"]);
                command
            }),
        },
        Contender {
            name: "holdpoint save, unchanged",
            before: Box::new(|| {}),
            command: Box::new(|| {
                let mut command = stage.holdpoint();
                command.arg("save");
                command
            }),
        },
    ];
    let figures = measure(&mut contenders, ROUNDS);
    print(
        "a safety point of an unchanged tree, 5,000 files",
        &figures,
        "git status --porcelain -uall",
    );
}
