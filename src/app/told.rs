//! Writes down what a person's own command did.

use crate::journal::{self, LogEntry, Outcome};
use crate::judge::Actor;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{actor, out};

/// Appends the entry of a command that has been carried out.
///
/// The work is done by then, so a log that cannot be written is told and fails nothing.
pub(super) fn written_down(env: &Env, workspace: &Workspace, entry: LogEntry) {
    written_down_of(env, workspace, &actor::detect(env), entry);
}

/// The same where it is known already who acts.
pub(super) fn written_down_of(env: &Env, workspace: &Workspace, actor: &Actor, entry: LogEntry) {
    written_down_as(env, workspace, actor, entry.outcome(Outcome::Success));
}

/// The same for what says itself what came of it.
pub(super) fn written_down_as(env: &Env, workspace: &Workspace, actor: &Actor, entry: LogEntry) {
    let entry = entry
        .actor(actor)
        .session(actor::session(env))
        .run(env.text("HOLDPOINT_RUN"));
    if let Err(error) = journal::append(env, workspace, entry) {
        out::note(format!(
            "holdpoint: this was done but could not be written to the log: {error}"
        ));
    }
}
