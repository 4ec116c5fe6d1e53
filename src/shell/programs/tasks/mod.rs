//! Task runners whose files are read: task, tox, composer, deno, mise, poe, pdm, hatch, nox, invoke, rake, foreman.
//!
//! What a task's own file says it runs is judged as if it stood in the
//! command. A file that is not there, or a task that it does not name, says
//! nothing.

mod compose;
mod formats;

use self::formats::{body, commands_of, ini, json, literals, toml};
use super::code::{self, Language};
use super::scripts::{package_script, project_file};
use crate::shell::arg::{Arg, UNKNOWN};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// How deep tasks are followed that tasks name.
const DEPTH: u8 = 6;

/// Most commands of one task.
const MOST: usize = 64;

/// Sections of `pyproject.toml` that name tasks, by runner.
const SECTIONS: &[(&str, &[&str])] = &[
    ("poe", &["tool.poe.tasks"]),
    ("pdm", &["tool.pdm.scripts"]),
    ("rye", &["tool.rye.scripts"]),
    ("hatch", &["tool.hatch.envs.*.scripts", "envs.*.scripts"]),
    ("pixi", &["tasks", "tool.pixi.tasks", "feature.*.tasks"]),
    ("taskipy", &["tool.taskipy.tasks"]),
];

/// The programs whose files are read here.
const RUNNERS: &[&str] = &[
    "task", "go-task", "tox", "composer", "deno", "node", "turbo", "lerna", "mise", "rtx", "pixi",
    "hatch", "pdm", "rye", "poe", "nox", "invoke", "inv", "fab", "rake", "gulp", "foreman",
    "honcho", "overmind", "hivemind",
];

/// Notes what the task that a command names would run.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    if matches!(
        call.name,
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose"
    ) {
        return compose::look(walk, call);
    }
    if !RUNNERS.contains(&call.name) {
        return;
    }
    let options = Options::read(
        call.args,
        &Spec {
            short: "tdefscCE",
            long: &[
                "taskfile",
                "dir",
                "procfile",
                "session",
                "sessions",
                "collection",
                "config",
                "env",
            ],
            ..Spec::default()
        },
    );
    let shows = options.surely(&[
        "list",
        "list-all",
        "listenvs",
        "summary",
        "dry",
        "dry-run",
        "list-sessions",
    ]) || options.has(&["l", "n"]) && !matches!(call.name, "foreman" | "honcho");
    if shows {
        return;
    }
    let words: Vec<String> = options
        .operands
        .iter()
        .map(|arg| arg.word().to_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match (call.name, words.as_slice()) {
        ("task" | "go-task", names) => {
            let file = options.value(&["t", "taskfile"]).cloned();
            let dir = options.value(&["d", "dir"]).cloned();
            taskfile(walk, file.as_ref(), dir.as_ref(), names);
        }
        ("tox", _) => {
            let named = options.value(&["e"]).map(|arg| arg.word().to_owned());
            tox(walk, named.as_deref());
        }
        ("composer", ["run" | "run-script" | "exec", name, ..] | [name, ..]) => {
            from_json(walk, &["composer.json"], "/scripts", name, 0);
        }
        ("deno", ["task", name, ..]) => {
            from_json(
                walk,
                &["deno.json", "deno.jsonc", "package.json"],
                "/tasks",
                name,
                0,
            );
        }
        ("node", _) => {
            let named = call
                .args
                .iter()
                .enumerate()
                .find_map(|(at, arg)| match arg.word() {
                    "--run" => call.args.get(at + 1).map(|name| name.word().to_owned()),
                    word => word.strip_prefix("--run=").map(str::to_owned),
                });
            if let Some(name) = named {
                package_script(walk, &name, &[]);
            }
        }
        ("turbo" | "lerna", ["run" | "exec", names @ ..]) => {
            for name in names.iter().take(8) {
                package_script(walk, name, &[]);
            }
        }
        ("mise" | "rtx", ["run" | "r", name, ..]) => {
            from_toml(walk, &["mise.toml", ".mise.toml"], &["tasks"], name);
        }
        ("pixi", ["run", name, ..]) => {
            from_toml(
                walk,
                &["pixi.toml", "pyproject.toml"],
                sections("pixi"),
                name,
            );
        }
        ("hatch", ["run", name, ..]) => {
            let name = name.rsplit(':').next().unwrap_or(name);
            from_toml(
                walk,
                &["pyproject.toml", "hatch.toml"],
                sections("hatch"),
                name,
            );
        }
        ("pdm" | "rye", ["run", name, ..]) => {
            from_toml(walk, &["pyproject.toml"], sections(call.name), name);
        }
        ("poe", [name, ..]) => from_toml(walk, &["pyproject.toml"], sections("poe"), name),
        ("nox", _) => {
            for name in options.values(&["s", "session", "sessions", "e"]) {
                function(walk, &["noxfile.py"], name.word());
            }
        }
        ("invoke" | "inv" | "fab", names) => {
            for name in names.iter().take(8) {
                function(walk, &["tasks.py", "fabfile.py"], &name.replace('-', "_"));
            }
        }
        ("rake", names) => rake(walk, names),
        ("gulp", names) => gulp(walk, names),
        ("foreman" | "honcho" | "overmind" | "hivemind", ["start" | "s", names @ ..]) => {
            let file = options.value(&["f", "procfile"]).cloned();
            procfile(walk, file.as_ref(), names);
        }
        ("hivemind", names) => procfile(walk, None, names),
        _ => {}
    }
}

fn sections(runner: &str) -> &'static [&'static str] {
    SECTIONS
        .iter()
        .find(|(name, _)| *name == runner)
        .map_or(&[], |(_, sections)| *sections)
}

/// Runs the lines of a task; what its file fills in is not known.
fn run_all(walk: &mut Walk<'_>, commands: &[String]) {
    for command in commands.iter().take(MOST) {
        let text = filled(command);
        let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
    }
}

/// A command with `{{…}}` unknown.
fn filled(command: &str) -> BString {
    let mut text = BString::default();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once("{{") {
        text.extend_from_slice(before.as_bytes());
        text.push(UNKNOWN);
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    text.extend_from_slice(rest.as_bytes());
    text
}

fn taskfile(walk: &mut Walk<'_>, file: Option<&Arg>, dir: Option<&Arg>, names: &[&str]) {
    let text = match file {
        Some(path) => match walk.read_path(path) {
            Stream::Text(text) => Some(text),
            _ => None,
        },
        None => project_file(
            walk,
            dir,
            &[
                "Taskfile.yml",
                "taskfile.yml",
                "Taskfile.yaml",
                "taskfile.yaml",
                "Taskfile.dist.yml",
            ],
        ),
    };
    let Some(text) = text else { return };
    let text = text.to_str_lossy().into_owned();
    let mut wanted: Vec<String> = names
        .iter()
        .filter(|name| !name.contains('='))
        .map(|name| (*name).to_owned())
        .collect();
    if wanted.is_empty() {
        wanted.push("default".to_owned());
    }
    let scope = walk.scope.clone();
    if let Some(dir) = dir {
        walk.scope.dir = walk.scope.dir.join(dir);
    }
    let mut done: Vec<String> = Vec::new();
    while let Some(name) = wanted.pop() {
        if done.contains(&name) || done.len() >= MOST {
            continue;
        }
        let (commands, more) = commands_of(&text, &name);
        run_all(walk, &commands);
        wanted.extend(more);
        done.push(name);
    }
    walk.scope = scope;
}

fn tox(walk: &mut Walk<'_>, named: Option<&str>) {
    let Some(text) = project_file(walk, None, &["tox.ini", "setup.cfg"]) else {
        return;
    };
    let text = text.to_str_lossy().into_owned();
    for name in named.unwrap_or("").split(',') {
        let own = ini(&text, &format!("testenv:{name}"), "commands");
        let commands = if own.is_empty() {
            ini(&text, "testenv", "commands")
        } else {
            own
        };
        run_all(walk, &commands);
    }
}

/// A script of a JSON file: a line, several, or references to others.
fn from_json(walk: &mut Walk<'_>, files: &[&str], under: &str, name: &str, depth: u8) {
    let Some(text) = project_file(walk, None, files).filter(|_| depth < DEPTH) else {
        return;
    };
    for command in json(&text, under, name) {
        if let Some(other) = command.strip_prefix('@') {
            let (first, rest) = other.split_once(' ').unwrap_or((other, ""));
            if matches!(first, "php" | "putenv" | "composer") {
                run_all(walk, &[format!("{first} {rest}")]);
            } else {
                from_json(walk, files, under, first, depth + 1);
            }
        } else {
            run_all(walk, &[command]);
        }
    }
}

fn from_toml(walk: &mut Walk<'_>, files: &[&str], sections: &[&str], name: &str) {
    for file in files {
        if let Some(text) = project_file(walk, None, &[file]) {
            let commands = toml(&text.to_str_lossy(), sections, name);
            run_all(walk, &commands);
        }
    }
}

/// A task that is a function of a Python file.
fn function(walk: &mut Walk<'_>, files: &[&str], name: &str) {
    let Some(text) = project_file(walk, None, files) else {
        return;
    };
    let text = text.to_str_lossy();
    let body = body(&text, |line| {
        line.strip_prefix("def ")
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.trim_start().starts_with('('))
    });
    if !body.is_empty() {
        code::read_file(walk, Language::Python, body.as_bytes());
    }
}

/// The tasks that are run where none is named.
fn or_default<'n>(names: &'n [&'n str]) -> &'n [&'n str] {
    if names.is_empty() {
        &["default"]
    } else {
        names
    }
}

fn rake(walk: &mut Walk<'_>, names: &[&str]) {
    let Some(text) = project_file(walk, None, &["Rakefile", "rakefile", "Rakefile.rb"]) else {
        return;
    };
    let text = text.to_str_lossy();
    for name in or_default(names).iter().take(8) {
        let last = name.rsplit(':').next().unwrap_or(name);
        let last = last.split('[').next().unwrap_or(last);
        let body = body(&text, |line| {
            line.trim_start().strip_prefix("task").is_some_and(|rest| {
                let rest = rest.trim_start_matches([' ', '(', ':', '\'', '"']);
                rest.strip_prefix(last).is_some_and(|rest| {
                    !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
                })
            })
        });
        if !body.is_empty() {
            // rake's own `sh`.
            let body = body.replace(" sh ", " system ").replace(" sh(", " system(");
            code::read_file(walk, Language::Ruby, body.as_bytes());
        }
    }
}

fn gulp(walk: &mut Walk<'_>, names: &[&str]) {
    let files = ["gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "Gulpfile.js"];
    let Some(text) = project_file(walk, None, &files) else {
        return;
    };
    let text = text.to_str_lossy();
    for name in or_default(names).iter().take(8) {
        let starts = text.lines().position(|line| {
            line.contains(&format!("exports.{name}"))
                || line.contains(&format!("function {name}("))
                || line.contains(&format!("const {name} ="))
                || line.contains("task(") && literals(line).iter().any(|found| found == name)
        });
        let Some(at) = starts else { continue };
        let mut body = String::new();
        for (index, line) in text.lines().skip(at).take(200).enumerate() {
            body.push_str(line);
            body.push('\n');
            if index > 0 && line.starts_with('}') {
                break;
            }
        }
        code::read_file(walk, Language::Script, body.as_bytes());
    }
}

fn procfile(walk: &mut Walk<'_>, file: Option<&Arg>, names: &[&str]) {
    let text = match file {
        Some(path) => match walk.read_path(path) {
            Stream::Text(text) => Some(text),
            _ => None,
        },
        None => project_file(walk, None, &["Procfile", "Procfile.dev"]),
    };
    let Some(text) = text else { return };
    let text = text.to_str_lossy();
    let commands: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| names.is_empty() || names.contains(&name.trim()))
        .map(|(_, command)| command.trim().to_owned())
        .collect();
    run_all(walk, &commands);
}
