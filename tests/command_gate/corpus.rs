//! Every line of `fixtures/commands/` gets the level that stands before it.

use super::project::{with_local_work, with_remote};
use crate::support::Sandbox;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// One line of the corpus.
#[derive(Clone)]
pub struct Case {
    pub file: String,
    pub line: usize,
    pub setup: String,
    pub level: u64,
    pub command: String,
}

/// The whole corpus.
pub fn cases() -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/commands");
    let mut cases = Vec::new();
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    files.sort();
    for path in files {
        let mut setup = "none".to_owned();
        for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            if let Some(name) = line.strip_prefix("## ") {
                name.clone_into(&mut setup);
            } else if !line.is_empty() {
                let (level, command) = line.split_once(' ').unwrap();
                cases.push(Case {
                    file: path.file_name().unwrap().to_string_lossy().into_owned(),
                    line: number,
                    setup: setup.clone(),
                    level: level.parse().unwrap(),
                    command: command.replace("\\n", "\n").replace("\\t", "\t"),
                });
            }
        }
    }
    cases
}

/// The repository in which lines are judged.
pub fn repository(setup: &str) -> Sandbox {
    match setup {
        "none" => return Sandbox::plain(),
        "project" => return super::project::repository(),
        "desk" => return super::project::desk(),
        _ => {}
    }
    let sandbox = Sandbox::with_files(&[
        ("README.md", "read\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("changed.txt", "before\n"),
        ("staged.txt", "before\n"),
        (".gitignore", "/target/\n"),
    ]);
    sandbox.write("target/debug/app", "binary\n");
    sandbox.git(["branch", "merged"]);
    with_remote(&sandbox);
    if setup == "dirty" {
        with_local_work(&sandbox);
        sandbox.write("staged.txt", "after\n");
        sandbox.git(["add", "staged.txt"]);
        sandbox.write("changed.txt", "after\n");
        sandbox.write("untracked.txt", "untracked\n");
    }
    sandbox
}

/// The verdicts of commands, in order, from one process.
pub fn judge(sandbox: &Sandbox, cases: &[&Case]) -> Vec<serde_json::Value> {
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["check", "batch", "--actor", "person"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = String::new();
    for case in cases {
        let line = serde_json::json!({ "type": "command", "text": case.command });
        writeln!(input, "{line}").unwrap();
    }
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn every_command_of_the_corpus_gets_its_level() {
    let cases = cases();
    let mut wrong = String::new();
    let mut missed = 0;
    for setup in ["none", "clean", "dirty", "project", "desk"] {
        let sandbox = repository(setup);
        let these: Vec<&Case> = cases.iter().filter(|case| case.setup == setup).collect();
        let verdicts = judge(&sandbox, &these);
        assert_eq!(verdicts.len(), these.len());
        for (case, verdict) in these.iter().zip(&verdicts) {
            let found = verdict["level"].as_u64().unwrap_or(99);
            let right = match case.level {
                0 | 1 => found <= 1,
                2 => found == 2 || found == 3,
                _ => found == 3,
            };
            if !right {
                missed += 1;
                writeln!(
                    wrong,
                    "{}:{} [{setup}] wanted {} found {found}: {}\n    {}",
                    case.file,
                    case.line,
                    case.level,
                    case.command.replace('\n', "\\n"),
                    verdict["reasoning"].as_str().unwrap_or("")
                )
                .unwrap();
            }
        }
    }
    assert!(missed == 0, "{missed} of {}:\n{wrong}", cases.len());
}
