//! Agents' hooks: wired as we would wire them, able to run, and let through by each agent's own trust gate.

use super::{Finding, State, ago, failed};
use crate::agents::{Agent, canary, wiring};
use crate::app::wire::{self, Wiring};
use crate::error::Result;
use crate::judge::Level;
use crate::repo::Workspace;
use crate::repo::hooks::{PROGRAM, heartbeat, inspect, is_executable};
use crate::sys::env::Env;
use crate::sys::files;
use bstr::ByteSlice as _;
use serde_json::Value;
use std::path::Path;

/// Checks every agent that is wired, in the repository or in the user's settings.
pub(super) fn check(env: &Env, workspace: &Workspace, findings: &mut Vec<Finding>) {
    let mut wirings = vec![(
        "this repository",
        Wiring::repository(&workspace.root, &workspace.state),
    )];
    if let Ok(user) = Wiring::user(env) {
        wirings.push(("the user", user));
    }
    let mut any = false;
    for (whose, wiring) in &wirings {
        for agent in Agent::ALL {
            let path = wiring.path(env, agent);
            match of_agent(env, workspace, agent, &path) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    any = true;
                    let subject = format!("{agent}, settings of {whose}");
                    findings.extend(found.into_iter().map(|mut finding| {
                        finding.subject.clone_from(&subject);
                        finding
                    }));
                }
                Err(error) => findings.push(failed(agent.name(), &error)),
            }
        }
    }
    if any && !on_path(env) {
        findings.push(
            Finding::new(
                State::Fail,
                "agents",
                format!("{PROGRAM} is not on PATH, by which agents' settings find it"),
            )
            .hint("put its directory on the PATH that agents are started with"),
        );
    }
}

fn on_path(env: &Env) -> bool {
    env.var("PATH").is_some_and(|path| {
        std::env::split_paths(path).any(|dir| is_executable(&dir.join(PROGRAM)))
    })
}

/// What is to be said of one agent's settings file; `None` where it has no hooks of ours.
fn of_agent(
    env: &Env,
    workspace: &Workspace,
    agent: Agent,
    path: &Path,
) -> Result<Option<Vec<Finding>>> {
    let Some(bytes) = files::read_if_there(path)? else {
        return Ok(None);
    };
    if let Some(plugin) = agent.plugin() {
        let current = bytes == plugin.as_bytes();
        let command = format!("{PROGRAM} agent {agent} tool.execute.before");
        return Ok(Some(vec![
            if current {
                wired(workspace, agent, path)
            } else {
                outdated(agent, path)
            },
            fire(env, workspace, agent, &command),
        ]));
    }
    let Ok(document) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(None);
    };
    let ours = document
        .get("hooks")
        .and_then(Value::as_object)
        .is_some_and(|hooks| {
            hooks
                .values()
                .filter_map(Value::as_array)
                .flatten()
                .any(wiring::is_ours)
        });
    if !ours {
        return Ok(None);
    }
    let mut findings = Vec::new();
    let mut again = document.clone();
    findings.push(if agent.wire(&mut again) == Ok(false) {
        wired(workspace, agent, path)
    } else {
        outdated(agent, path)
    });
    if let Some(command) = wiring::command_before_tool(agent, &document) {
        findings.push(fire(env, workspace, agent, &command));
    }
    if document.get("disableAllHooks").and_then(Value::as_bool) == Some(true) {
        findings.push(
            Finding::new(State::Fail, "", "disableAllHooks switches every hook off")
                .hint(format!("take it out of {}", path.display())),
        );
    }
    findings.extend(trust(env, workspace, agent, path, &document)?);
    Ok(Some(findings))
}

/// Runs the hook's own command line with a call that must not pass, as the agent would.
fn fire(env: &Env, workspace: &Workspace, agent: Agent, command: &str) -> Finding {
    let payload = canary::payload(agent, &workspace.root.to_string_lossy());
    let output =
        match inspect::call_as_agent(env, workspace, command, payload.to_string().as_bytes()) {
            Ok(output) => output,
            Err(error) => return failed("", &error),
        };
    let heard = canary::refusal(
        agent,
        output.status.code(),
        &String::from_utf8_lossy(&output.stdout),
        &String::from_utf8_lossy(&output.stderr),
    );
    match heard {
        Some(reason) if reason.starts_with(&canary::words(Level::MustAsk)) => {
            Finding::new(State::Ok, "", "its command line refused a canary")
        }
        Some(reason) => Finding::new(
            State::Fail,
            "",
            format!("it refuses everything, because it cannot judge: {reason}"),
        ),
        None => Finding::new(
            State::Fail,
            "",
            format!(
                "its command line let a canary pass ({}): {command}",
                output.status
            ),
        )
        .hint(format!("holdpoint init --agent {agent}")),
    }
}

fn wired(workspace: &Workspace, agent: Agent, path: &Path) -> Finding {
    Finding::new(
        State::Ok,
        "",
        match heartbeat::last(workspace, agent.name()) {
            Some(seen) => format!(
                "wired ({}); a session last started {} ago",
                path.display(),
                ago(seen)
            ),
            None => format!("wired ({}); no session has called yet", path.display()),
        },
    )
}

fn outdated(agent: Agent, path: &Path) -> Finding {
    Finding::new(
        State::Fail,
        "",
        format!(
            "{} has other hooks than this version writes",
            path.display()
        ),
    )
    .hint(format!("holdpoint init --agent {agent}"))
}

/// What the agent's own trust gate would do with the hooks.
fn trust(
    env: &Env,
    workspace: &Workspace,
    agent: Agent,
    path: &Path,
    document: &Value,
) -> Result<Vec<Finding>> {
    let in_repository = path.starts_with(&workspace.root);
    let mut findings = Vec::new();
    match agent {
        Agent::Codex => {
            let file = wire::codex_home(env)?.join("config.toml");
            let config = files::read_if_there(&file)?.unwrap_or_default();
            for (key, hash) in wire::trusted_hashes(path, document) {
                let block = format!(
                    "[hooks.state.{}]\ntrusted_hash = \"{hash}\"",
                    Value::from(key.as_str())
                );
                if !config.contains_str(&block) {
                    findings.push(
                        Finding::new(
                            State::Fail,
                            "",
                            format!("Codex does not trust the hook {key}, and skips it silently"),
                        )
                        .hint("holdpoint init --agent codex, or trust it with /hooks in Codex"),
                    );
                }
            }
            if in_repository && !wire::trusts_project(&config, &workspace.root) {
                findings.push(
                    Finding::new(State::Fail, "", "Codex does not trust this repository, and loads no hooks of it")
                        .hint(format!(
                            "start codex here once and agree, or add [projects.{}] trust_level = \"trusted\" to {}",
                            Value::from(workspace.root.to_string_lossy()),
                            file.display()
                        )),
                );
            }
        }
        Agent::Gemini | Agent::Copilot if in_repository => {
            let Some(home) = env.home() else {
                return Ok(findings);
            };
            let file = home.join(if agent == Agent::Gemini {
                ".gemini/trustedFolders.json"
            } else {
                ".copilot/config.json"
            });
            let known = files::read_if_there(&file)?.unwrap_or_default();
            let folder = workspace.root.to_string_lossy();
            if !known.contains_str(folder.as_bytes()) {
                findings.push(
                    Finding::new(
                        State::Warn,
                        "",
                        format!("{} does not list this folder as trusted; {agent} may not load its hooks", file.display()),
                    )
                    .hint(if agent == Agent::Gemini {
                        "trust the folder in gemini, or start it with GEMINI_CLI_TRUST_WORKSPACE=true (not --skip-trust)"
                    } else {
                        "start copilot with --trust-folder, or with COPILOT_ALLOW_ALL=true"
                    }),
                );
            }
        }
        Agent::Claude | Agent::Cursor | Agent::OpenCode | Agent::Gemini | Agent::Copilot => {}
    }
    Ok(findings)
}
