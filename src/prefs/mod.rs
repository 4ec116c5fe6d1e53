//! Finds, reads, merges and validates preferences; the confirmed policy (SPEC §13, §3).
//!
//! Layers, the later over the earlier: built-in defaults, the person's own
//! file under `$XDG_CONFIG_HOME`, the repository's file *as a person last
//! confirmed it*. What the worktree's file says beyond that counts only where
//! it is stricter. The Contract and the command table obey the same rule; see
//! [`confirmed`].

pub mod confirmed;
mod document;
mod keys;
mod layers;
mod policy;
mod schema;
pub mod session;
mod set;
mod typed;

pub use document::{Document, Warning};
pub use keys::{KEYS, Key, Kind, Order, aliases, key};
pub use layers::{Layers, Origin, Setting};
pub use policy::{baseline, broken as contract_fault, policy};
pub use schema::schema;
pub use set::{Target, check, set};
pub use typed::{
    Confirm, Degradation, Deps, Gate, Guardrails, Logging, Mode, Preferences, Retries, Safety,
    Signing, TestFix, Timeouts,
};

use crate::error::Result;
use crate::repo::Workspace;
use crate::sys::env::Env;
use std::path::PathBuf;

/// Where the repository's preferences lie, relative to the top of the main worktree.
pub const FILE: &str = ".ccg/user_preferences.json";

/// Where the user's own command table lies.
pub const COMMANDS: &str = ".ccg/commands.json";

/// The person's own file.
///
/// # Errors
/// When neither `XDG_CONFIG_HOME` nor `HOME` is set.
pub fn user_file(env: &Env) -> Result<PathBuf> {
    Ok(env.config_home()?.join("preferences.json"))
}

/// The preferences that count here, typed.
///
/// # Errors
/// When a file cannot be read or holds a bad value.
pub fn load(env: &Env, workspace: &Workspace) -> Result<Preferences> {
    Layers::read(env, workspace)?.preferences()
}
