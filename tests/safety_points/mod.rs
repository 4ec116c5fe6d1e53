//! Feature: safety points.

#![allow(
    clippy::cast_possible_truncation,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::format_push_string,
    clippy::nonminimal_bool,
    clippy::print_stdout,
    clippy::semicolon_if_nothing_returned,
    clippy::unnecessary_debug_formatting,
    reason = "a test is read once, when it fails"
)]

mod asked;
mod combined;
mod damage;
mod destroyed;
mod displaced;
mod ignored;
mod killed;
mod kinds;
mod moved;
mod operations;
mod persons;
mod picture;
mod random;
mod save;
mod torture;
mod wrecks;

use crate::support::{Ran, Sandbox};
use picture::Picture;
use serde_json::Value;
use std::path::Path;

/// Takes a point and returns what `save --json` says.
pub fn save(sandbox: &Sandbox) -> Value {
    let ran = sandbox.holdpoint(["save", "--json"]).exits(0);
    serde_json::from_str(&ran.out).unwrap()
}

/// Runs a program in a directory beside the workspace.
pub fn in_dir(sandbox: &Sandbox, dir: &Path, program: &str, args: &[&str]) -> Ran {
    let mut command = sandbox.command(program);
    Ran::from(command.args(args).current_dir(dir).output().unwrap())
}

/// Runs `holdpoint` there, which must pass, and returns what it says.
#[track_caller]
pub fn holdpoint_at(sandbox: &Sandbox, dir: &Path, args: &[&str]) -> String {
    let ran = in_dir(sandbox, dir, env!("CARGO_BIN_EXE_holdpoint"), args);
    ran.exits(0).out.trim().to_owned()
}

/// Destroys a worktree of a directory beside the workspace, and fails the test where it does not come back.
#[track_caller]
pub fn comes_back_at(sandbox: &Sandbox, dir: &Path, more: &[&str], destroy: impl FnOnce()) {
    let status = [
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "--branch",
    ];
    let says = || in_dir(sandbox, dir, "git", &status).exits(0).out;
    let (before, said) = (Picture::at(dir), says());
    let id = holdpoint_at(sandbox, dir, &["save"]);
    destroy();
    holdpoint_at(sandbox, dir, &[&["rollback", &id, "--yes"], more].concat());
    before.assert_same(&Picture::at(dir));
    assert_eq!(says(), said);
}

/// Takes a point, destroys, rolls back, and fails the test where anything is not as it was.
#[track_caller]
pub fn comes_back(sandbox: &Sandbox, destroy: impl FnOnce(&Sandbox)) {
    comes_back_with(sandbox, &[], destroy);
}

/// The same with more arguments for the rollback.
#[track_caller]
pub fn comes_back_with(sandbox: &Sandbox, more: &[&str], destroy: impl FnOnce(&Sandbox)) {
    let before = Picture::of(sandbox);
    let id = save(sandbox)["id"].as_str().unwrap().to_owned();
    before.assert_same(&Picture::of(sandbox));
    destroy(sandbox);
    let destroyed = Picture::of(sandbox);
    let mut args = vec!["rollback", &id, "--yes"];
    args.extend(more);
    sandbox.holdpoint(&args).exits(0);
    before.assert_same(&Picture::of(sandbox));
    // And back again, and forward again.
    if destroyed != before {
        sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
        if sandbox.work().join(".git").exists() == !destroyed.git.is_empty() {
            destroyed.assert_same(&Picture::of(sandbox));
        }
        sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(0);
        before.assert_same(&Picture::of(sandbox));
    }
    sandbox.holdpoint(["points", "verify"]).exits(0);
}
