//! Programs that no row describes: a subcommand that says it destroys is believed.
//!
//! Command lines of services read `tool NOUN VERB NAME`. Nobody can list every
//! tool, but a bare `delete` where a subcommand stands means the same in all of
//! them. Programs whose operands are text of the person's own are left out.

use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::walk::{Call, Walk};

/// Words that destroy wherever a subcommand may stand.
const VERBS: &[&str] = &[
    "delete",
    "destroy",
    "purge",
    "terminate",
    "wipe",
    "nuke",
    "obliterate",
    "erase",
    "truncate",
    "drop",
    "deprovision",
    "decommission",
    "factory-reset",
    "flushall",
    "flushdb",
    "undeploy",
    "unpublish",
];

/// Words that destroy only after a noun: first in line they are often something else.
const AFTER_NOUN: &[&str] = &[
    "rm",
    "del",
    "rmr",
    "rmi",
    "reset",
    "flush",
    "empty",
    "remove",
    "uninstall",
    "revoke",
    "forget",
    "revert",
    "rollback",
    "prune",
    "shutdown",
];

/// Words that only look, and make of what follows a thing to look at.
const LOOKS: &[&str] = &[
    "search", "help", "inspect", "describe", "get", "list", "ls", "logs", "log", "show", "view",
    "find", "query", "explain", "man", "doc", "docs", "info", "status", "test", "lint", "generate",
    "new", "create", "add",
];

/// How many words may be subcommands.
const REACH: usize = 3;

/// Programs whose operands are patterns, names of tests or words to show.
const TAKES_TEXT: &[&str] = &[
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "karma",
    "cypress",
    "playwright",
    "pytest",
    "py.test",
    "nosetests",
    "nose2",
    "tox",
    "nox",
    "rspec",
    "phpunit",
    "pest",
    "behave",
    "cucumber",
    "ctest",
    "nextest",
    "ack",
    "ag",
    "pt",
    "rg",
    "ugrep",
    "sift",
    "ripgrep",
    "fzf",
    "sk",
    "peco",
    "cowsay",
    "figlet",
    "toilet",
    "lolcat",
    "say",
    "espeak",
    "notify-send",
    "logger",
    "wall",
    "tldr",
    "cheat",
    "info",
    "apropos",
    "whatis",
    "howdoi",
    "dict",
    "look",
    "wn",
    "aspell",
    "trans",
    "code",
    "subl",
    "bat",
    "less",
    "more",
    "claude",
    "codex",
    "gemini",
    "aider",
    "llm",
    "ollama",
    "hyperfine",
    "tsc",
    "eslint",
    "prettier",
    "task",
    "invoke",
    "inv",
    "mask",
    "earthly",
];

/// Judges a command that no row matched by the words that stand where subcommands do.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    if TAKES_TEXT.contains(&call.name) {
        return;
    }
    let words: Vec<&str> = call
        .args
        .iter()
        .take_while(|arg| arg.text != "--")
        .filter(|arg| !arg.is_option())
        .map(Arg::word)
        .take(REACH)
        .take_while(|word| is_subcommand(word))
        .collect();
    for (at, word) in words.iter().enumerate() {
        // What a cache holds is fetched again.
        let looks = LOOKS.contains(word)
            || ["get-", "list-", "describe-", "show-"]
                .iter()
                .any(|start| word.starts_with(start));
        if looks || word.contains("cache") {
            return;
        }
        if destroys(word) || at > 0 && AFTER_NOUN.contains(word) {
            walk.mark(
                Level::Confirm,
                format!(
                    "{} is told to {word}; what that loses cannot be told",
                    call.name
                ),
            );
            return;
        }
    }
}

/// `delete`, `delete-user`, `users:delete`.
fn destroys(word: &str) -> bool {
    let last = word.rsplit(':').next().unwrap_or(word);
    // `delete-user`, `bulk-delete`, `admin-delete-user`.
    last.split('-').any(|part| VERBS.contains(&part)) || VERBS.contains(&last)
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_lowercase())
        && word.chars().all(|letter| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_:".contains(letter)
        })
}
