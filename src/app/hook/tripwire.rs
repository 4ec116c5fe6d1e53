//! The tripwire: git asks its file-system monitor what changed before it changes files itself.
//!
//! Git ignores the monitor's exit status, so the only way to refuse is to end
//! the command (SIGTERM), at which git takes its locks away. The answer is
//! always "everything may have changed", which keeps git's own results right.

use super::grants;
use crate::assess;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::gate::{self, Answer, Asking};
use crate::judge::{self, Action, Actor, Facts, Level, Surface, words};
use crate::prefs;
use crate::repo::Workspace;
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::{heartbeat, inspect};
use crate::sys::env::Env;
use crate::sys::{actor, out, process};
use crate::vault;
use bstr::ByteSlice as _;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

/// Commands that take nothing out of the worktree.
const HARMLESS: &[&str] = &[
    "add",
    "annotate",
    "archive",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "commit",
    "commit-tree",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fetch",
    "for-each-ref",
    "fsmonitor--daemon",
    "fsck",
    "gc",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-tree",
    "maintenance",
    "merge-base",
    "merge-tree",
    "name-rev",
    "notes",
    "push",
    "reflog",
    "remote",
    "repack",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "stage",
    "status",
    "tag",
    "update-index",
    "var",
    "version",
    "whatchanged",
    "write-tree",
];

/// Answers one call: `args` are git's protocol version and its last token.
pub(super) fn run(args: &[OsString]) -> ExitStatus {
    let caller = Caller::of_hook();
    let harmless = caller.as_ref().is_some_and(|caller| caller.is(HARMLESS));
    if caller.is_none() && process::variable(inspect::CANARY).is_some() {
        could_judge();
    } else if !harmless {
        look_closer(caller);
    }
    let token = args
        .get(1)
        .map_or(&b"holdpoint"[..], |token| token.as_bytes());
    out::raw(&[token, b"\0/\0"].concat());
    ExitStatus::Passed
}

/// Says what would keep the tripwire from judging; called by no git, there is nothing to save.
fn could_judge() {
    let judge = || -> Result<()> {
        let env = Env::read()?;
        let workspace = Workspace::discover(&env)?;
        prefs::policy(&env, &workspace).map(drop)
    };
    if let Err(error) = judge() {
        out::note(format!("holdpoint: the tripwire cannot judge: {error}"));
    }
}

fn look_closer(caller: Option<Caller>) {
    let Ok(env) = Env::read() else {
        return;
    };
    let pid = caller.as_ref().map(|caller| caller.pid);
    let actor = actor::detect(&env);
    let is_agent = actor.is_agent();
    let stop = match judge(&env, actor, caller) {
        Ok(refused) => refused,
        Err(error) => {
            out::note(format!(
                "holdpoint: the tripwire cannot judge this: {error}"
            ));
            is_agent
        }
    };
    if stop
        && let Some(pid) = pid
        && let Err(error) = process::terminate(pid)
    {
        out::note(format!(
            "holdpoint: cannot stop git (process {pid}): {error}"
        ));
    }
}

/// Saves the workspace, and says whether the command has to stop.
fn judge(env: &Env, actor: Actor, caller: Option<Caller>) -> Result<bool> {
    let workspace = Workspace::discover(env)?;
    let policy = prefs::policy(env, &workspace)?;
    heartbeat::beat(&workspace, "tripwire")?;
    let Some(caller) = caller else {
        save(env, &workspace, actor, None)?;
        return Ok(false);
    };
    let cwd = process::cwd(caller.pid).unwrap_or_else(|| env.cwd().to_path_buf());
    let facts = Facts {
        surface: Surface::Tripwire,
        ..assess::command(
            &env.at(cwd.clone()),
            &workspace,
            caller.text.as_bstr(),
            &cwd,
            &actor,
        )?
    };
    let facts = grants::without_granted(env, &workspace, facts);
    let verdict = judge::judge(&facts, &policy);
    if !actor.is_agent() || policy.observe || verdict.level < Level::MustAsk {
        save(env, &workspace, actor, Some(caller.text.to_string()))?;
        return Ok(false);
    }
    let action = Action::Command {
        text: caller.text.clone(),
        cwd,
    };
    let session = actor::session(env);
    let answer = gate::pass(
        env,
        &workspace,
        gate::Request {
            action: &action,
            facts,
            policy: &policy,
            session: session.as_deref(),
            run: env.text("HOLDPOINT_RUN"),
            asking: Asking::Never,
            payload: serde_json::Value::Null,
        },
    )?;
    Ok(match answer {
        Answer::Passed(_) => false,
        Answer::Held(held) => {
            out::note(words::held_for_agent(&held.verdict, &held.hold.id));
            true
        }
    })
}

fn save(env: &Env, workspace: &Workspace, actor: Actor, command: Option<String>) -> Result<()> {
    let request = vault::Request::new("tripwire", actor).message(command);
    vault::save(env, workspace, &request).map(drop)
}
