//! Before a tool runs: its steps as actions, before the gate, and the gate's answer in words.

use crate::agents::{self, Agent, Answer, Call, Edit, Intent, Step, gemini, patch};
use crate::app::hook::grants;
use crate::assess;
use crate::error::{ErrorKind, Result};
use crate::gate::{self, Asking};
use crate::judge::{
    self, Action, Actor, After, Coverage, Decision, Effect, EffectKind, Facts, Level, Surface,
    words,
};
use crate::prefs;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::files;
use bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Minutes for which an answer that the agent's own person gave lasts.
const ASKED: i64 = 10;

/// Minutes for which a confirmed call may run.
const CONFIRMED: i64 = 5;

/// Largest file, in bytes, whose content after an edit is worked out.
const MAX_EDITED: u64 = 16 << 20;

/// Judges a tool call.
///
/// # Errors
/// When it cannot be judged; the call is then refused.
pub(super) fn judge(env: &Env, agent: Agent, call: &Call) -> Result<Answer> {
    let Some(steps) = steps(call) else {
        return Ok(unknown(call));
    };
    if let Some(refusal) = interactive(&steps) {
        return Ok(Answer::Deny(refusal));
    }
    let env = &at_call(env, call);
    let actor = actor(agent, call);
    let workspace = match Workspace::find(env, env.cwd()) {
        Ok(workspace) => workspace,
        Err(error) if error.kind() == ErrorKind::Repository => {
            return nowhere(env, &steps, &actor);
        }
        Err(error) => return Err(error),
    };
    let facts = facts(env, &workspace, &steps, &actor)?;
    let action = action(env, call, &steps)?;
    let policy = prefs::policy(env, &workspace)?;
    let answer = gate::pass(
        env,
        &workspace,
        gate::Request {
            action: &action,
            facts,
            policy: &policy,
            session: call.session.as_deref(),
            run: env.text("HOLDPOINT_RUN"),
            asking: Asking::Never,
            payload: serde_json::Value::Null,
        },
    )?;
    let session = call.session.as_deref();
    match answer {
        gate::Answer::Passed(passed) => {
            if passed.confirmed.is_some() {
                grants::give(
                    &workspace,
                    agent.name(),
                    session,
                    &passed.verdict,
                    CONFIRMED,
                )?;
            }
            let mut tell = passed.warnings;
            if passed.confirmed.is_none() && !policy.observe {
                tell.extend(words::passed(&passed.verdict));
            }
            Ok(passing(agent, &steps, &tell))
        }
        gate::Answer::Held(held) => {
            let text = words::held_for_agent(&held.verdict, &held.hold.id);
            if held.verdict.decision == Decision::Ask && agent.can_ask(call) {
                grants::give(&workspace, agent.name(), session, &held.verdict, ASKED)?;
                return Ok(Answer::Ask(text));
            }
            Ok(Answer::Deny(text))
        }
    }
}

/// Judges a call that only asks whether the gate is alive: saves nothing, holds nothing, lets nothing pass.
///
/// # Errors
/// As [`judge`].
pub(super) fn canary(env: &Env, agent: Agent, call: &Call) -> Result<Answer> {
    let env = &at_call(env, call);
    let workspace = Workspace::find(env, env.cwd())?;
    let steps = steps(call).unwrap_or_default();
    let facts = facts(env, &workspace, &steps, &actor(agent, call))?;
    let verdict = judge::judge(&facts, &prefs::policy(env, &workspace)?);
    Ok(Answer::Deny(format!(
        "{}{}",
        agents::canary::words(verdict.level),
        verdict.reasoning
    )))
}

/// The environment in the directory that the tool starts in.
fn at_call(env: &Env, call: &Call) -> Env {
    let cwd = call.cwd.as_ref().map_or_else(
        || env.cwd().to_path_buf(),
        |cwd| env.cwd().join(OsStr::from_bytes(cwd)),
    );
    env.at(cwd)
}

fn actor(agent: Agent, call: &Call) -> Actor {
    Actor::Agent {
        name: agent.name().to_owned(),
        session: call.session.clone(),
    }
}

fn steps(call: &Call) -> Option<Vec<Step>> {
    match &call.intent {
        Intent::Steps(steps) => Some(steps.clone()),
        Intent::Read { .. } | Intent::Unknown { .. } => None,
    }
}

/// The answer to a tool of which nothing is known but its name.
fn unknown(call: &Call) -> Answer {
    match call.intent {
        Intent::Unknown { risky: true } => Answer::Deny(format!(
            "Holdpoint does not know what the tool '{}' would do: it names no command and no file. \
             Use a shell command or a file tool instead, or ask a person to do it",
            call.tool
        )),
        Intent::Unknown { risky: false } | Intent::Read { .. } | Intent::Steps(_) => Answer::Pass,
    }
}

fn interactive(steps: &[Step]) -> Option<String> {
    steps.iter().find_map(|step| match step {
        Step::InteractiveShell { command } => Some(format!(
            "Holdpoint refuses `{command}`: what is typed into an open shell passes no hook. \
             Run the command itself, one call each"
        )),
        _ => None,
    })
}

/// Goes on, with what the agent is told and, where git's hooks would be off, with them on.
fn passing(agent: Agent, steps: &[Step], tell: &[String]) -> Answer {
    let tell = (!tell.is_empty()).then(|| tell.join("\n"));
    if agent == Agent::Gemini
        && let [Step::Run { command, .. }] = steps
        && may_run_git(command)
    {
        return Answer::Rewrite {
            command: gemini::with_git_hooks(&command.to_string()),
            tell,
        };
    }
    tell.map_or(Answer::Pass, Answer::Tell)
}

/// Returns true for a command that names git, or a program that runs other programs.
fn may_run_git(command: &[u8]) -> bool {
    const RUNNERS: &[&[u8]] = &[
        b"git",
        b"make",
        b"just",
        b"npm",
        b"npx",
        b"pnpm",
        b"yarn",
        b"sh",
        b"bash",
        b"python",
        b"python3",
        b"node",
        b"cargo",
        b"gh",
        b"lefthook",
        b"pre-commit",
        b"prek",
    ];
    command
        .fields_with(|c| c.is_whitespace() || ";&|()`\"'$/".contains(c))
        .any(|word| RUNNERS.contains(&word))
        || command.contains_str("./")
}

/// Everything that the steps would do.
fn facts(env: &Env, workspace: &Workspace, steps: &[Step], actor: &Actor) -> Result<Facts> {
    let mut effects = Vec::new();
    for step in steps {
        let found = match step {
            Step::Run { command, dir } => {
                let dir = directory(env, dir.as_ref());
                assess::command(
                    &env.at(dir.clone()),
                    workspace,
                    command.as_bstr(),
                    &dir,
                    actor,
                )?
            }
            Step::InteractiveShell { .. } => continue,
            step => {
                let (path, after) = written(env, step)?;
                assess::write(env, workspace, path.as_ref(), &after, actor)?
            }
        };
        effects.extend(found.effects);
    }
    Ok(Facts {
        surface: Surface::AgentHook,
        actor: actor.clone(),
        effects,
        coverage: Coverage::NotTaken,
    })
}

/// The action to which a confirmation is bound: the step itself, or the whole of several.
fn action(env: &Env, call: &Call, steps: &[Step]) -> Result<Action> {
    if let Some(Step::Run { command, dir }) = steps.last() {
        return Ok(Action::Command {
            text: command.clone(),
            cwd: directory(env, dir.as_ref()),
        });
    }
    if let [only] = steps {
        let (path, after) = written(env, only)?;
        return Ok(Action::Write { path, after });
    }
    Ok(Action::Command {
        text: format!("{} {steps:?}", call.tool).into(),
        cwd: env.cwd().to_path_buf(),
    })
}

fn directory(env: &Env, dir: Option<&BString>) -> PathBuf {
    dir.map_or_else(
        || env.cwd().to_path_buf(),
        |dir| env.cwd().join(OsStr::from_bytes(dir)),
    )
}

/// The path that a step writes, absolute, and what it would hold.
fn written(env: &Env, step: &Step) -> Result<(BString, After)> {
    let at = |path: &BString| -> PathBuf { env.cwd().join(OsStr::from_bytes(path)) };
    let name = |path: &Path| BString::from(path.as_os_str().as_bytes());
    Ok(match step {
        Step::Write { path, content } => (
            name(&at(path)),
            content
                .as_ref()
                .map_or(After::Unknown, |content| After::Content {
                    bytes: content.clone(),
                }),
        ),
        Step::Edit { path, edits } => {
            let path = at(path);
            let after = changed(&path, |now| edited(now, edits))?;
            (name(&path), after)
        }
        Step::Patch { path, hunks, moved } => {
            let path = at(path);
            let after = match moved {
                Some(to) => After::MovedTo {
                    path: name(&at(to)),
                },
                None => changed(&path, |now| patch::apply(hunks, now))?,
            };
            (name(&path), after)
        }
        Step::Delete { path } => (name(&at(path)), After::Gone),
        Step::Move { from, to } => (
            name(&at(from)),
            After::MovedTo {
                path: name(&at(to)),
            },
        ),
        Step::Run { command, .. } | Step::InteractiveShell { command } => {
            (command.clone(), After::Unknown)
        }
    })
}

/// What a file would hold after a change of its present content.
fn changed(path: &Path, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Result<After> {
    let meta = std::fs::metadata(path);
    if meta.is_ok_and(|meta| !meta.is_file() || meta.len() > MAX_EDITED) {
        return Ok(After::Unknown);
    }
    let now = files::read_if_there(path)?.unwrap_or_default();
    Ok(change(&now).map_or(After::Unknown, |bytes| After::Content {
        bytes: bytes.into(),
    }))
}

fn edited(now: &[u8], edits: &[Edit]) -> Option<Vec<u8>> {
    edits
        .iter()
        .try_fold(now.to_vec(), |content, edit| edit.apply(&content))
}

/// Outside any repository nothing can be saved or held; only what must not happen is refused.
fn nowhere(env: &Env, steps: &[Step], actor: &Actor) -> Result<Answer> {
    let workspace = Workspace::plain(env, env.cwd())?;
    let mut facts = facts(env, &workspace, steps, actor)?;
    facts.effects.retain(|effect| !is_plain_file_work(effect));
    let verdict = judge::judge(&facts, &judge::Policy::default());
    if verdict.level < Level::MustAsk {
        return Ok(Answer::Pass);
    }
    Ok(Answer::Deny(format!(
        "Holdpoint refuses this: {}. There is no repository here, so nothing could be saved before it. \
         A person can run it in their own terminal",
        verdict.reasoning
    )))
}

/// Outside a repository, the directory's own files are nobody's agreed scope.
fn is_plain_file_work(effect: &Effect) -> bool {
    matches!(
        &effect.kind,
        EffectKind::File {
            place: judge::Place::Workspace | judge::Place::Temporary,
            ..
        }
    )
}

/// A path of a payload for people.
pub(super) fn shown(path: &BStr) -> String {
    path.to_str_lossy().into_owned()
}
