//! The command line explains itself.

use crate::support::Sandbox;
use clap::Command;

fn walk(command: &Command, path: &str, faults: &mut Vec<String>) {
    for arg in command.get_arguments() {
        if arg.get_help().is_none() && arg.get_long_help().is_none() {
            faults.push(format!("{path}: {} has no help", arg.get_id()));
        }
    }
    for sub in command.get_subcommands() {
        let path = format!("{path} {}", sub.get_name());
        if sub.get_about().is_none() {
            faults.push(format!("{path} does not say what it does"));
        }
        walk(sub, &path, faults);
    }
}

#[test]
fn every_command_and_option_has_help() {
    let mut faults = Vec::new();
    walk(&holdpoint::app::command(), "holdpoint", &mut faults);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_wrong_word_is_a_usage_error() {
    let sandbox = Sandbox::new();
    for words in [
        &["frobnicate"][..],
        &["save", "--no-such-option"],
        &["rollback", "--undo", "--redo"],
    ] {
        let ran = sandbox.holdpoint(words).exits(2);
        assert!(!ran.err.is_empty());
    }
}

#[test]
fn completions_are_printed_for_every_shell() {
    let sandbox = Sandbox::plain();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = sandbox.holdpoint(["completions", shell]).exits(0);
        assert!(ran.out.contains("rollback"), "{shell}");
    }
}
