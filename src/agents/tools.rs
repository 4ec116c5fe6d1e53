//! What agents' tools do, by name and arguments.
//!
//! One table for all agents: they borrow each other's tool names, and MCP
//! servers borrow both. A tool that is not in the table is read by its
//! arguments: a command in it is judged as a command, a file that it names is
//! judged as a write unless the tool's own verb says that it only reads.

use super::call::{Edit, Intent, Step};
use super::patch::{self, FileChange};
use super::tool_names::{
    COMMAND_KEYS, CONTENT_KEYS, Class, DELETING, DIR_KEYS, FROM_KEYS, MOVING, NEW_KEYS, OLD_KEYS,
    PATH_KEYS, PATH_LISTS, READING, RUNNING, TO_KEYS, class_of,
};
use super::{Agent, gemini};
use bstr::BString;
use serde_json::Value;

/// What a tool call would do.
pub(super) fn intent(agent: Agent, tool: &str, input: &Value) -> Intent {
    let name = short_name(tool);
    let class = class_of(&name);
    let known = match class {
        Some(Class::Shell) => shell(agent, input),
        Some(Class::Patch) => patch_of(input),
        Some(Class::Write) => write(input),
        Some(Class::Edit) => edit(input),
        Some(Class::Editor) => editor(input),
        Some(Class::Delete) => each_path(input, |path| Step::Delete { path }),
        Some(Class::Move) => moved(input),
        Some(Class::Read) => Some(Intent::Read {
            path: path(input),
            search: false,
        }),
        Some(Class::Search) => Some(Intent::Read {
            path: None,
            search: true,
        }),
        Some(Class::Harmless) => Some(Intent::Read {
            path: None,
            search: false,
        }),
        None => None,
    };
    known.unwrap_or_else(|| match by_arguments(agent, tool, &name, input) {
        // An agent's own tool that writes is no less so for arguments that cannot be read.
        Intent::Unknown { .. } | Intent::Read { .. } if class.is_some() && !is_server_s(tool) => {
            Intent::Unknown { risky: true }
        }
        intent => intent,
    })
}

/// Returns true for a tool of an MCP server, which may mean anything by a borrowed name.
fn is_server_s(tool: &str) -> bool {
    tool.starts_with("mcp__") || tool.starts_with("MCP:")
}

/// The error that a tool's answer reports; `None` where it worked.
pub(super) fn failure(response: &Value) -> Option<String> {
    if let Some(text) = response.as_str() {
        return exit_status_in(text, "Exit code: ").then(|| text.to_owned());
    }
    let said = || {
        [
            "stderr",
            "message",
            "textResultForLlm",
            "text_result_for_llm",
            "llmContent",
            "output",
        ]
        .iter()
        .find_map(|key| super::text(response, key))
        .unwrap_or("the tool failed")
        .to_owned()
    };
    match response.get("error") {
        Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
        Some(error @ Value::Object(_)) => {
            return Some(
                super::text(error, "message")
                    .unwrap_or("the tool failed")
                    .to_owned(),
            );
        }
        _ => {}
    }
    let flagged = ["is_error", "isError"]
        .iter()
        .any(|key| response.get(key).and_then(Value::as_bool) == Some(true));
    let status = ["exit_code", "exitCode", "exit"]
        .iter()
        .find_map(|key| response.get(key).and_then(Value::as_i64));
    let kind = super::text(response, "resultType").or_else(|| super::text(response, "result_type"));
    let ended = super::text(response, "textResultForLlm")
        .or_else(|| super::text(response, "text_result_for_llm"))
        .is_some_and(|text| exit_status_in(text, "completed with exit code "))
        || super::text(response, "llmContent")
            .is_some_and(|text| exit_status_in(text, "\nExit Code: "));
    let failed = flagged
        || status.is_some_and(|status| status != 0)
        || kind.is_some_and(|kind| kind != "success")
        || ended;
    failed.then(said)
}

/// Returns true where the words are followed by a number other than 0.
fn exit_status_in(text: &str, words: &str) -> bool {
    text.split_once(words)
        .map(|(_, rest)| {
            rest.chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
        })
        .is_some_and(|digits| !digits.is_empty() && !digits.trim_start_matches('0').is_empty())
}

/// The tool's own name without its server's, in lower case.
fn short_name(tool: &str) -> String {
    let own = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.rsplit_once("__").map(|(_, own)| own))
        .or_else(|| tool.strip_prefix("MCP:"))
        .unwrap_or(tool);
    own.to_ascii_lowercase()
}

fn shell(agent: Agent, input: &Value) -> Option<Intent> {
    let command = command(input)?;
    let command = match agent {
        Agent::Gemini => BString::from(gemini::as_written(&command.to_string())),
        _ => command,
    };
    Some(Intent::Steps(run(agent, command, dir(input))))
}

/// A command, the files that a patch in it names, and the shell that it may leave open.
fn run(agent: Agent, command: BString, dir: Option<BString>) -> Vec<Step> {
    let mut steps = Vec::new();
    if agent == Agent::Codex && super::shells::is_interactive(&command) {
        steps.push(Step::InteractiveShell {
            command: command.clone(),
        });
    }
    steps.extend(patch_steps(&command));
    steps.push(Step::Run { command, dir });
    steps
}

fn patch_of(input: &Value) -> Option<Intent> {
    let text = input.as_str().or_else(|| {
        ["command", "patch", "input", "patchText", "patch_text"]
            .iter()
            .find_map(|key| super::text(input, key))
    })?;
    let steps = patch_steps(text.as_bytes());
    (!steps.is_empty()).then_some(Intent::Steps(steps))
}

fn patch_steps(text: &[u8]) -> Vec<Step> {
    patch::find(text)
        .into_iter()
        .map(|change| match change {
            FileChange::Add { path, content } => Step::Write {
                path,
                content: Some(content),
            },
            FileChange::Update { path, hunks, moved } => Step::Patch { path, hunks, moved },
            FileChange::Delete { path } => Step::Delete { path },
        })
        .collect()
}

fn write(input: &Value) -> Option<Intent> {
    let content = CONTENT_KEYS.iter().find_map(|key| raw(input, key));
    each_path(input, |path| Step::Write {
        path,
        content: content.clone(),
    })
}

fn edit(input: &Value) -> Option<Intent> {
    let path = path(input)?;
    let listed = input
        .get("edits")
        .or_else(|| input.get("replacements"))
        .and_then(Value::as_array);
    let edits: Option<Vec<Edit>> = match listed {
        Some(list) => list.iter().map(one_edit).collect(),
        None => one_edit(input).map(|edit| vec![edit]),
    };
    Some(Intent::Steps(vec![match edits {
        // A notebook's cell is not text of the file as it lies on disk.
        Some(edits) if input.get("notebook_path").is_none() => Step::Edit { path, edits },
        _ => Step::Write {
            path,
            content: None,
        },
    }]))
}

fn one_edit(input: &Value) -> Option<Edit> {
    let all = ["replace_all", "replaceAll", "allow_multiple"]
        .iter()
        .any(|key| input.get(key).and_then(Value::as_bool) == Some(true))
        || input
            .get("expected_replacements")
            .and_then(Value::as_i64)
            .is_some_and(|count| count > 1);
    Some(Edit {
        old: OLD_KEYS.iter().find_map(|key| raw(input, key))?,
        new: NEW_KEYS.iter().find_map(|key| raw(input, key))?,
        all,
    })
}

/// A text editor tool, whose `command` is a word of its own.
fn editor(input: &Value) -> Option<Intent> {
    match super::text(input, "command")? {
        "view" => Some(Intent::Read {
            path: path(input),
            search: false,
        }),
        "create" => write(input),
        "str_replace" => edit(input),
        _ => each_path(input, |path| Step::Write {
            path,
            content: None,
        }),
    }
}

fn moved(input: &Value) -> Option<Intent> {
    let from = FROM_KEYS
        .iter()
        .chain(PATH_KEYS)
        .find_map(|key| raw(input, key))?;
    let to = TO_KEYS.iter().find_map(|key| raw(input, key))?;
    Some(Intent::Steps(vec![Step::Move { from, to }]))
}

/// Reads a tool that is not in the table by what its arguments name.
fn by_arguments(agent: Agent, tool: &str, name: &str, input: &Value) -> Intent {
    let has = |verbs: &[&str]| {
        words(name)
            .iter()
            .any(|word| verbs.contains(&word.as_str()))
    };
    if let Some(git) = name.strip_prefix("git_") {
        return Intent::Steps(vec![git_step(git, input)]);
    }
    if let Some(command) = command(input) {
        return Intent::Steps(run(agent, command, dir(input)));
    }
    if let Some(step) = sql_step(tool, input) {
        return Intent::Steps(vec![step]);
    }
    if has(READING) && !has(DELETING) {
        return Intent::Read {
            path: path(input),
            search: has(&["search", "find", "query"]),
        };
    }
    let known = if has(MOVING) {
        moved(input)
    } else if has(DELETING) {
        each_path(input, |path| Step::Delete { path })
    } else if one_edit(input).is_some() || input.get("edits").is_some() {
        edit(input)
    } else {
        write(input)
    };
    known.unwrap_or_else(|| Intent::Unknown {
        risky: tool.is_empty() || has(DELETING) || has(RUNNING),
    })
}

/// A git server's tool (`git_commit`, `git_checkout`, …) as the command it stands for.
fn git_step(subcommand: &str, input: &Value) -> Step {
    let mut words = vec!["git".to_owned(), subcommand.replace('_', "-")];
    let mut dir = None;
    for (key, value) in input.as_object().into_iter().flatten() {
        if matches!(key.as_str(), "repo_path" | "repo" | "path" | "cwd") {
            dir = value.as_str().map(BString::from);
            continue;
        }
        if key == "message" {
            words.push("-m".to_owned());
        }
        let values: Vec<&Value> = match value {
            Value::Array(list) => list.iter().collect(),
            one => vec![one],
        };
        for value in values {
            match value {
                Value::String(word) => words.push(quoted(word)),
                Value::Bool(true) => words.push(format!("--{}", key.replace('_', "-"))),
                _ => {}
            }
        }
    }
    Step::Run {
        command: words.join(" ").into(),
        dir,
    }
}

/// A database tool's statement, as the command line of a database client that runs it.
fn sql_step(tool: &str, input: &Value) -> Option<Step> {
    let tool = tool.to_ascii_lowercase();
    let is_database = [
        "sql", "postgres", "mysql", "sqlite", "database", "mongo", "redis", "duckdb",
    ]
    .iter()
    .any(|word| tool.contains(word));
    let statement = ["sql", "statement"]
        .iter()
        .find_map(|key| super::text(input, key))
        .or_else(|| super::text(input, "query").filter(|_| is_database))?;
    Some(Step::Run {
        command: format!("psql -c {}", quoted(statement)).into(),
        dir: None,
    })
}

/// The command among the arguments, as the text of a shell.
fn command(input: &Value) -> Option<BString> {
    COMMAND_KEYS.iter().find_map(|key| match input.get(key)? {
        Value::String(text) if !text.trim().is_empty() => Some(BString::from(text.as_str())),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [] => None,
                [shell, flag, text] if is_shell(shell) && flag.ends_with('c') => {
                    Some(BString::from(*text))
                }
                words => {
                    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                    Some(words.join(" ").into())
                }
            }
        }
        _ => None,
    })
}

fn is_shell(word: &str) -> bool {
    matches!(
        word.rsplit('/').next(),
        Some("sh" | "bash" | "dash" | "zsh" | "ksh")
    )
}

fn dir(input: &Value) -> Option<BString> {
    DIR_KEYS
        .iter()
        .find_map(|key| super::text(input, key))
        .map(BString::from)
}

fn path(input: &Value) -> Option<BString> {
    PATH_KEYS
        .iter()
        .find_map(|key| super::text(input, key))
        .map(|path| BString::from(path.strip_prefix("file://").unwrap_or(path)))
}

fn each_path(input: &Value, step: impl Fn(BString) -> Step) -> Option<Intent> {
    let mut paths: Vec<BString> = path(input).into_iter().collect();
    for key in PATH_LISTS {
        for value in input
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let named = value.as_str().map(BString::from).or_else(|| path(value));
            paths.extend(named);
        }
    }
    (!paths.is_empty()).then(|| Intent::Steps(paths.into_iter().map(step).collect()))
}

/// A text argument, which may be empty.
fn raw(input: &Value, key: &str) -> Option<BString> {
    input.get(key).and_then(Value::as_str).map(BString::from)
}

/// The words of a name written in snake_case, kebab-case or camelCase (already in lower case there).
fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .map(str::to_owned)
        .collect()
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
