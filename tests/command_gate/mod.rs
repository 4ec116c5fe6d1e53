//! `holdpoint check`: what a command would lose, judged through the real program.

mod corpus;
mod declared;
mod evidence;
mod formats;
mod landing;
mod project;
mod surface;
mod tasks;
mod wrapped;

use crate::support::Sandbox;

/// A command's level and whole verdict, as a person's.
fn level(sandbox: &Sandbox, command: &str) -> (u64, serde_json::Value) {
    let ran = sandbox.holdpoint([
        "check", "command", "--json", "--actor", "person", "--", command,
    ]);
    let verdict: serde_json::Value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|error| panic!("{command}: {error}: {}{}", ran.out, ran.err));
    (verdict["level"].as_u64().unwrap(), verdict)
}
