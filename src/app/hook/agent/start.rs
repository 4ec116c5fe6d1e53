//! At the start of a session: what is guarded, what was agreed, how to ask.

use crate::agents::{Agent, Answer, Call};
use crate::contract::Contract;
use crate::error::Result;
use crate::prefs;
use crate::repo::Workspace;
use crate::repo::hooks::heartbeat;
use crate::sys::env::Env;
use crate::sys::process;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Paths of the Contract that are named.
const NAMED: usize = 12;

/// Tells the agent in a few lines where it is, and takes a first safety point meanwhile.
///
/// # Errors
/// When the policy cannot be read.
pub(super) fn brief(env: &Env, agent: Agent, call: &Call) -> Result<Answer> {
    let cwd = call.cwd.as_ref().map_or_else(
        || env.cwd().to_path_buf(),
        |cwd| env.cwd().join(OsStr::from_bytes(cwd)),
    );
    let Ok(workspace) = Workspace::find(env, &cwd) else {
        return Ok(Answer::Tell(
            "Holdpoint: there is no git repository here, so nothing can be saved before you change it."
                .to_owned(),
        ));
    };
    let policy = prefs::policy(env, &workspace)?;
    if policy.observe {
        return Ok(Answer::Pass);
    }
    heartbeat::beat(&workspace, agent.name())?;
    // The first point of a large tree takes longer than a tool call may wait.
    process::start_alone(
        "holdpoint",
        &["save", "-m", "the agent's session starts"],
        &workspace.root,
    );
    let mut lines = vec![
        "Holdpoint guards this repository. Before anything that could lose work a safety point is taken; what cannot be undone, or leaves what was agreed, is held for a person."
            .to_owned(),
    ];
    if let Some(contract) = &policy.contract {
        lines.extend(agreed(contract));
    }
    lines.push(
        "When a call is held: do not work around it. Tell your person the hold's id; they run `holdpoint confirm ID` in their own terminal, and then the same call passes once."
            .to_owned(),
    );
    lines.push(
        "To know beforehand: `holdpoint check command -- 'COMMAND'` judges without doing anything; `holdpoint explain RULE` says why."
            .to_owned(),
    );
    Ok(Answer::Tell(lines.join("\n")))
}

fn agreed(contract: &Contract) -> Vec<String> {
    let paths = |patterns: &[crate::contract::PathPattern]| {
        let names: Vec<&str> = patterns
            .iter()
            .take(NAMED)
            .map(|pattern| pattern.text.as_str())
            .collect();
        let more = patterns.len().saturating_sub(NAMED);
        let tail = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!("{}{tail}", names.join(", "))
    };
    let mut lines = Vec::new();
    for (words, patterns) in [
        ("You may change only: ", &contract.in_scope),
        ("Out of scope: ", &contract.out_of_scope),
        ("Must not change: ", &contract.frozen),
    ] {
        if !patterns.is_empty() {
            lines.push(format!("{words}{}", paths(patterns)));
        }
    }
    if let Some(stricter) = &contract.beside {
        lines.extend(agreed(stricter));
    }
    if !contract.forbidden.is_empty() {
        lines.push(format!(
            "{} patterns must not be added: `holdpoint contract show`",
            contract.forbidden.len()
        ));
    }
    lines
}
