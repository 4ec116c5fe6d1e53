//! `holdpoint init`: guards this repository: hooks, Contract template, `.ccg/`.

use super::wire::{Done, Wiring};
use crate::agents::Agent;
use crate::contract::{self, PLACES};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::prefs;
use crate::repo::hooks::machine::{self, Scope};
use crate::repo::hooks::{Event, install, program, version};
use crate::repo::{Kind, Workspace};
use crate::sys::env::Env;
use crate::sys::files::{self, Durability};
use crate::sys::out;
use std::fs;
use std::path::Path;

/// Arguments of `holdpoint init`.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one switch of the command line"
)]
pub(super) struct Args {
    /// Writes the hooks of this agent into its own settings: claude, codex, gemini, cursor, copilot, opencode
    #[arg(long, value_name = "NAME", value_parser = agent_named, conflicts_with_all = ["global", "system"])]
    agent: Vec<Agent>,
    /// Writes them into the user's settings, for every repository
    #[arg(long, requires = "agent")]
    user: bool,
    /// Also lets git call Holdpoint before it changes files (`core.fsmonitor`)
    #[arg(long, conflicts_with_all = ["global", "system"])]
    tripwire: bool,
    /// Guards every repository that this user works in
    #[arg(long, conflicts_with = "system")]
    global: bool,
    /// Guards every repository on the machine
    #[arg(long)]
    system: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    if args.global {
        return machine_wide(env, Scope::Global);
    }
    if args.system {
        return machine_wide(env, Scope::System);
    }
    if args.user {
        return user_agents(env, &args.agent);
    }
    repository(env, args)
}

/// Reads an agent's name on the command line.
pub(super) fn agent_named(name: &str) -> std::result::Result<Agent, String> {
    let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.name()).collect();
    Agent::parse(name).ok_or_else(|| format!("known are {}", known.join(", ")))
}

fn user_agents(env: &Env, agents: &[Agent]) -> Result<ExitStatus> {
    let wiring = Wiring::user(env)?;
    for agent in agents {
        wiring.check(env, *agent)?;
    }
    for agent in agents {
        tell_wired(*agent, &wiring.put(env, *agent)?);
    }
    Ok(ExitStatus::Passed)
}

fn tell_wired(agent: Agent, done: &Done) {
    out::line(if done.changed {
        format!("{agent} calls holdpoint-hook ({})", done.path.display())
    } else {
        format!(
            "{agent} calls holdpoint-hook already ({}); nothing to do",
            done.path.display()
        )
    });
    for todo in &done.todo {
        out::line(format!("  still to do: {todo}"));
    }
    if let Some(gate) = trust_gate(agent) {
        out::line(format!("  note: {gate}"));
    }
}

/// What an agent asks of its user before it runs a repository's hooks.
pub(super) fn trust_gate(agent: Agent) -> Option<&'static str> {
    match agent {
        Agent::Gemini => Some(
            "Gemini runs a repository's hooks only in a trusted folder; --skip-trust does not load them, GEMINI_CLI_TRUST_WORKSPACE=true does",
        ),
        Agent::Copilot => Some(
            "Copilot runs a repository's hooks only in a trusted folder: --trust-folder, or COPILOT_ALLOW_ALL=true",
        ),
        Agent::Codex => Some(
            "Codex skips hooks that it does not trust, silently; the trust is written into the user's config.toml, and `holdpoint doctor` checks it",
        ),
        Agent::Claude | Agent::Cursor | Agent::OpenCode => None,
    }
}

fn repository(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    if workspace.git_dir.is_none() {
        return Err(Error::new(
            ErrorKind::Repository,
            format!(
                "{} has no git repository any more",
                workspace.root.display()
            ),
        )
        .hint("put it back: holdpoint rollback --refs, or make one: git init"));
    }
    let program = program(env)?;
    let wiring = Wiring::repository(&workspace.root, &workspace.state);
    for agent in &args.agent {
        wiring.check(env, *agent)?;
    }
    workspace.make_state()?;
    let installed = install::install(env, &workspace, &program)?;
    let mut done = Vec::new();
    if installed.machine_wide {
        out::line(format!(
            "git hooks: an installation for the whole machine guards this repository already ({})",
            installed.place.display()
        ));
    }
    if !installed.added.is_empty() {
        done.push(format!("git hooks: {}", names(&installed.added)));
    }
    if !installed.chained.is_empty() {
        done.push(format!(
            "git hooks that were there run first, then ours: {}",
            names(&installed.chained)
        ));
    }
    if installed.renewed {
        done.push(format!(
            "git hooks renewed in {}",
            installed.place.display()
        ));
    }
    if args.tripwire && install::install_tripwire(env, &workspace, &program)? {
        done.push("tripwire: git calls Holdpoint before it changes files".to_owned());
    }
    if workspace.kind != Kind::Bare {
        done.extend(make_ccg(workspace.main_root())?);
    }
    prefs::baseline(env, &workspace)?;
    let wired = args
        .agent
        .iter()
        .map(|agent| Ok((*agent, wiring.put(env, *agent)?)))
        .collect::<Result<Vec<_>>>()?;
    if done.is_empty() {
        out::line(format!(
            "{} is guarded already; nothing to do",
            workspace.root.display()
        ));
        for (agent, done) in &wired {
            tell_wired(*agent, done);
        }
        return Ok(ExitStatus::Passed);
    }
    out::line(format!("{} is guarded", workspace.root.display()));
    for line in done {
        out::line(format!("  {line}"));
    }
    for (agent, done) in &wired {
        tell_wired(*agent, done);
    }
    for submodule in unguarded_submodules(&workspace) {
        out::line(format!(
            "  not guarded: the submodule {submodule} has hooks of its own: (cd {submodule} && holdpoint init)"
        ));
    }
    out::line(if wired.is_empty() {
        "next: say what may change in .ccg/contract.md, and wire your agent: holdpoint init --agent claude"
    } else {
        "next: say what may change in .ccg/contract.md; check that every gate is alive: holdpoint doctor"
    });
    Ok(ExitStatus::Passed)
}

/// Submodules of the worktree that are checked out; each has hooks of its own.
fn unguarded_submodules(workspace: &Workspace) -> Vec<String> {
    crate::repo::hooks::submodules(workspace)
        .into_iter()
        .filter(|path| !crate::repo::hooks::is_guarded(path))
        .map(|path| {
            path.strip_prefix(&workspace.root)
                .unwrap_or(&path)
                .display()
                .to_string()
        })
        .collect()
}

/// Makes `.ccg/` with what keeps its logs out of commits; returns what was made.
fn make_ccg(root: &Path) -> Result<Vec<String>> {
    let dir = root.join(".ccg");
    fs::create_dir_all(&dir).doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
    let mut made = Vec::new();
    let ignore = dir.join(".gitignore");
    if !ignore.exists() {
        files::replace(&ignore, b"*.jsonl\n", 0o644, Durability::Lazy)?;
        made.push("made .ccg/.gitignore (logs stay out of commits)".to_owned());
    }
    if !PLACES.iter().any(|place| root.join(place).exists()) {
        files::replace(
            &dir.join("contract.md"),
            contract::TEMPLATE.as_bytes(),
            0o644,
            Durability::Lazy,
        )?;
        made.push("made .ccg/contract.md (restricts nothing until you fill it in)".to_owned());
    }
    Ok(made)
}

fn machine_wide(env: &Env, scope: Scope) -> Result<ExitStatus> {
    let program = program(env)?;
    let git = version::oldest(env)?;
    let file = scope.config_file(env)?;
    if machine::install(env, scope, &program, git)? {
        out::line(format!(
            "every repository {} is guarded ({})",
            match scope {
                Scope::Global => "of this user",
                Scope::System => "on this machine",
            },
            file.display()
        ));
        out::line(format!(
            "to take it out: holdpoint uninstall --{}",
            scope.word()
        ));
    } else {
        out::line(format!(
            "already guarded through {}; nothing to do",
            file.display()
        ));
    }
    Ok(ExitStatus::Passed)
}

fn names(events: &[Event]) -> String {
    let names: Vec<&str> = events.iter().map(|event| event.name()).collect();
    names.join(", ")
}
