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

use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use confirmed::Confirmed;
use std::path::PathBuf;

/// Where the repository's preferences lie, relative to the top of the main worktree.
pub const FILE: &str = ".ccg/user_preferences.json";

/// Where the user's own command table lies.
pub const COMMANDS: &str = ".ccg/commands.json";

/// Where it is written what agents' decisions may name and do.
pub const DECISIONS: &str = ".ccg/decisions.json";

/// The person's own file.
///
/// # Errors
/// When neither `XDG_CONFIG_HOME` nor `HOME` is set.
pub fn user_file(env: &Env) -> Result<PathBuf> {
    Ok(env.config_home()?.join("preferences.json"))
}

/// The `safety.*` preferences as settled, whatever the worktree's file says now:
/// an agent that breaks that file must not stop a rollback.
///
/// # Errors
/// When a settled file cannot be read.
pub fn safety(env: &Env, workspace: &Workspace) -> Result<Safety> {
    let settled = match Confirmed::read(env, workspace)? {
        Some(confirmed) => confirmed.files,
        None => confirmed::Texts::new(),
    };
    let safety = Layers::of(env, &settled, &settled)?.preferences()?.safety;
    match &safety.store {
        Some(store) if !store.is_absolute() => Err(Error::new(
            ErrorKind::Config,
            format!(
                "safety.store must be an absolute path, not {}",
                store.display()
            ),
        )),
        _ => Ok(safety),
    }
}

/// A policy file as a person last confirmed it, and as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// As confirmed.
    pub agreed: Option<String>,
    /// As it is in the main worktree.
    pub present: Option<String>,
}

/// Reads both sides of one policy file.
///
/// # Errors
/// When one cannot be read.
pub fn sides(env: &Env, workspace: &Workspace, name: &str) -> Result<Sides> {
    let present = confirmed::text_in(workspace.main_root(), name)?;
    // Most have no such file: then nothing has to be proved of the whole policy here.
    let agreed = if confirmed::may_hold(workspace, name)? {
        Confirmed::read(env, workspace)?.and_then(|mut confirmed| confirmed.files.remove(name))
    } else {
        None
    };
    Ok(Sides { agreed, present })
}

/// The preferences that count here, typed.
///
/// # Errors
/// When a file cannot be read or holds a bad value.
pub fn load(env: &Env, workspace: &Workspace) -> Result<Preferences> {
    Layers::read(env, workspace)?.preferences()
}
