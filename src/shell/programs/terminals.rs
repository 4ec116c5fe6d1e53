//! tmux, screen, zellij: commands typed into or started in another terminal.

use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::ByteSlice as _;

/// Keys that tmux knows by name.
const KEYS: &[&str] = &[
    "Enter", "C-m", "C-c", "C-u", "C-l", "KPEnter", "Escape", "Space", "Tab",
];

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "tmux" => {
            // `tmux new -d \; send-keys …`: a list of commands.
            for words in call.args.split(|arg| matches!(arg.word(), ";" | "\\;")) {
                tmux(walk, words);
            }
        }
        "screen" => screen(walk, call.args),
        "zellij" => zellij(walk, call.args),
        _ => return None,
    }
    Some(Stream::Unknown)
}

fn tmux(walk: &mut Walk<'_>, args: &[Arg]) {
    let Some(at) = args.iter().position(|arg| is_verb(arg.word())) else {
        return;
    };
    let verb = args.get(at).map(Arg::word).unwrap_or_default();
    let rest = args.get(at + 1..).unwrap_or_default();
    match verb {
        "kill-server" | "kill-session" => ends(walk),
        "send-keys" | "send" => {
            let typed: Vec<Arg> = operands(rest, "tN")
                .into_iter()
                .filter(|arg| !KEYS.contains(&arg.word()))
                .collect();
            type_in(walk, &typed);
        }
        "display-popup" | "popup" => run_words(walk, &operands(rest, "bcdehsStTwxy")),
        "if-shell" | "if" => {
            for text in operands(rest, "t") {
                type_in(walk, &[text]);
            }
        }
        _ => run_words(walk, &operands(rest, "tcnsxyeFlp")),
    }
}

fn is_verb(word: &str) -> bool {
    matches!(
        word,
        "kill-server"
            | "kill-session"
            | "send-keys"
            | "send"
            | "new-session"
            | "new"
            | "new-window"
            | "neww"
            | "split-window"
            | "splitw"
            | "run-shell"
            | "run"
            | "respawn-pane"
            | "respawnp"
            | "respawn-window"
            | "respawnw"
            | "if-shell"
            | "if"
            | "popup"
            | "display-popup"
            | "pipe-pane"
            | "pipep"
    )
}

fn screen(walk: &mut Walk<'_>, args: &[Arg]) {
    let words: Vec<&str> = args.iter().map(Arg::word).collect();
    if words.contains(&"quit") || words.contains(&"kill") {
        ends(walk);
    }
    if let Some(at) = words.iter().position(|word| *word == "stuff") {
        type_in(walk, args.get(at + 1..).unwrap_or_default());
        return;
    }
    run_words(walk, &operands(args, "cehpsStTX"));
}

fn zellij(walk: &mut Walk<'_>, args: &[Arg]) {
    let words: Vec<&str> = args.iter().map(Arg::word).collect();
    if words.iter().any(|word| {
        matches!(
            *word,
            "kill-all-sessions" | "kill-session" | "delete-all-sessions"
        )
    }) {
        ends(walk);
    }
    if let Some(at) = words.iter().position(|word| *word == "write-chars") {
        type_in(walk, args.get(at + 1..).unwrap_or_default());
    } else if let Some(at) = words.iter().position(|word| matches!(*word, "run" | "--")) {
        run_words(
            walk,
            &operands(args.get(at + 1..).unwrap_or_default(), "dnwxy"),
        );
    }
}

fn ends(walk: &mut Walk<'_>) {
    walk.mark(
        Level::Confirm,
        "terminal sessions and what runs in them are ended",
    );
}

/// The words after the options of a terminal's own; what follows belongs to the command.
fn operands(args: &[Arg], short: &'static str) -> Vec<Arg> {
    Options::read(
        args,
        &Spec {
            short,
            stops: true,
            ..Spec::default()
        },
    )
    .operands
}

/// A command that is started: one word is the shell's, several are a program and its arguments.
fn run_words(walk: &mut Walk<'_>, words: &[Arg]) {
    if words.len() > 1 {
        let _ = walk.run_args(words, &Stream::Unknown);
    } else {
        type_in(walk, words);
    }
}

/// Words that a shell reads as one line.
fn type_in(walk: &mut Walk<'_>, words: &[Arg]) {
    if !words.is_empty() {
        let text = super::carriers::join(words);
        let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
    }
}
