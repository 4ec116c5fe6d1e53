//! `holdpoint status`: shows Contract, last safety point, pending holds and hooks on one screen.

use super::wire::Wiring;
use crate::agents::Agent;
use crate::contract::{Contract, PLACES};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::holds::{self, State};
use crate::prefs;
use crate::repo::Workspace;
use crate::repo::hooks::{Mode, Receipt, install, place, transaction};
use crate::runs::open;
use crate::sys::env::Env;
use crate::sys::{files, out};
use crate::vault;
use bstr::ByteSlice as _;
use serde::Serialize;

/// Arguments of `holdpoint status`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// The whole screen.
#[derive(Debug, Serialize)]
struct Status {
    workspace: String,
    branch: Option<String>,
    mode: &'static str,
    contract: ContractStatus,
    safety_point: Option<PointStatus>,
    safety_points: usize,
    holds: Vec<HoldStatus>,
    git_hooks: HookStatus,
    tripwire: bool,
    agents: Vec<&'static str>,
    /// Wrapped runs that are not over.
    runs: Vec<RunStatus>,
}

#[derive(Debug, Serialize)]
struct ContractStatus {
    file: Option<&'static str>,
    in_scope: usize,
    out_of_scope: usize,
    frozen: usize,
    forbidden: usize,
    expired: bool,
    /// The worktree's version is not the one that a person confirmed.
    unconfirmed: bool,
}

#[derive(Debug, Serialize)]
struct PointStatus {
    id: String,
    created: String,
    reason: String,
}

#[derive(Debug, Serialize)]
struct HoldStatus {
    id: String,
    level: u8,
    summary: String,
}

#[derive(Debug, Serialize)]
struct RunStatus {
    id: String,
    agent: String,
    /// What is to be done about it, where something is.
    warning: Option<String>,
}

#[derive(Debug, Serialize)]
struct HookStatus {
    /// `files`, `config`, `machine`, or `none`.
    installed: &'static str,
    place: String,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::here(env)?;
    let status = read(env, &workspace)?;
    if args.json {
        out::line(serde_json::json!(status).to_string());
    } else {
        show(&status);
    }
    Ok(ExitStatus::Passed)
}

fn read(env: &Env, workspace: &Workspace) -> Result<Status> {
    let policy = prefs::policy(env, workspace)?;
    let points = vault::points(env, workspace)?;
    let pending = holds::list(env, workspace)?
        .into_iter()
        .filter(|hold| hold.state_now() == State::Pending)
        .map(|hold| HoldStatus {
            id: hold.id,
            level: hold.level.number(),
            summary: hold.summary,
        })
        .collect();
    let branch = match workspace.git_dir {
        Some(_) => transaction::branch(workspace)?,
        None => None,
    };
    let mut receipt = Receipt::read(&install::note(workspace))?;
    if receipt.is_none() && workspace.git_dir.is_some() {
        receipt = install::unnoted(env, workspace)?;
    }
    Ok(Status {
        workspace: workspace.root.display().to_string(),
        branch: branch.map(|name| {
            let name = name.to_str_lossy();
            name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned()
        }),
        mode: if policy.observe { "observe" } else { "enforce" },
        contract: contract(workspace, policy.contract.as_ref()),
        safety_points: points.len(),
        safety_point: points
            .into_iter()
            .max_by(|a, b| a.id.cmp(&b.id))
            .map(|point| PointStatus {
                id: point.id,
                created: point.created,
                reason: point.message.unwrap_or(point.reason),
            }),
        holds: pending,
        tripwire: receipt.as_ref().is_some_and(|receipt| {
            receipt
                .configs
                .iter()
                .any(|config| config.added.contains("tripwire"))
        }),
        git_hooks: hooks(workspace, receipt.as_ref())?,
        agents: wired(env, workspace),
        runs: open::runs(workspace)?
            .into_iter()
            .map(|(run, standing)| RunStatus {
                warning: open::warning(&run, standing, &workspace.root),
                id: run.id,
                agent: run.options.agent,
            })
            .collect(),
    })
}

fn contract(workspace: &Workspace, contract: Option<&Contract>) -> ContractStatus {
    let count = |of: fn(&Contract) -> usize| contract.map_or(0, of);
    ContractStatus {
        file: PLACES
            .iter()
            .find(|place| workspace.main_root().join(place).exists())
            .copied(),
        in_scope: count(|contract| contract.in_scope.len()),
        out_of_scope: count(|contract| contract.out_of_scope.len()),
        frozen: count(|contract| contract.frozen.len()),
        forbidden: count(|contract| contract.forbidden.len()),
        expired: contract.is_some_and(|contract| contract.expired),
        unconfirmed: contract.is_some_and(|contract| contract.beside.is_some()),
    }
}

fn hooks(workspace: &Workspace, receipt: Option<&Receipt>) -> Result<HookStatus> {
    if workspace.git_dir.is_none() {
        return Ok(HookStatus {
            installed: "none",
            place: String::new(),
        });
    }
    let effective = place::effective(workspace)?;
    let machine = install::is_machine_wide(&effective);
    let installed = match receipt {
        Some(receipt) if receipt.mode == Mode::Config => "config",
        Some(receipt) if !receipt.hooks.is_empty() => "files",
        _ if machine => "machine",
        _ => "none",
    };
    let place = match installed {
        "config" => place::common_dir(workspace)?.join("config"),
        _ => effective.path,
    };
    Ok(HookStatus {
        installed,
        place: place.display().to_string(),
    })
}

fn wired(env: &Env, workspace: &Workspace) -> Vec<&'static str> {
    let mut wirings = vec![Wiring::repository(&workspace.root, &workspace.state)];
    wirings.extend(Wiring::user(env));
    Agent::ALL
        .into_iter()
        .filter(|agent| {
            wirings.iter().any(|wiring| {
                files::read_if_there(&wiring.path(env, *agent))
                    .ok()
                    .flatten()
                    .is_some_and(|bytes| bytes.contains_str("holdpoint-hook"))
            })
        })
        .map(Agent::name)
        .collect()
}

fn show(status: &Status) {
    let branch = status
        .branch
        .as_ref()
        .map_or_else(|| "no branch".to_owned(), |name| format!("on {name}"));
    out::line(format!("{} ({branch})", status.workspace));
    if status.mode == "observe" {
        out::line("mode          observe: judged and recorded, never refused");
    }
    out::line(format!("contract      {}", contract_line(&status.contract)));
    out::line(match &status.safety_point {
        Some(point) => format!(
            "safety point  {} {} ({}), {} kept",
            point.id, point.created, point.reason, status.safety_points
        ),
        None => "safety point  none yet: holdpoint save".to_owned(),
    });
    if status.holds.is_empty() {
        out::line("holds         none pending");
    } else {
        out::line(format!("holds         {} pending", status.holds.len()));
        for hold in &status.holds {
            out::line(format!(
                "  {}  Level {}  {}",
                hold.id, hold.level, hold.summary
            ));
        }
        out::line("  look: holdpoint holds show ID    agree: holdpoint confirm ID");
    }
    for run in &status.runs {
        out::line(format!(
            "run           {}",
            run.warning
                .clone()
                .unwrap_or_else(|| format!("{} ({}) is going on", run.id, run.agent))
        ));
    }
    out::line(match status.git_hooks.installed {
        "none" => "git hooks     none: holdpoint init".to_owned(),
        how => format!("git hooks     {how} ({})", status.git_hooks.place),
    });
    out::line(format!(
        "tripwire      {}",
        if status.tripwire {
            "set"
        } else {
            "not set: holdpoint init --tripwire"
        }
    ));
    out::line(if status.agents.is_empty() {
        "agents        none wired: holdpoint init --agent claude".to_owned()
    } else {
        format!("agents        {}", status.agents.join(", "))
    });
}

fn contract_line(contract: &ContractStatus) -> String {
    let Some(file) = contract.file else {
        return "none: nothing is out of scope (holdpoint contract init)".to_owned();
    };
    let mut line = format!(
        "{file}: {} in scope, {} out of scope, {} frozen, {} forbidden patterns",
        contract.in_scope, contract.out_of_scope, contract.frozen, contract.forbidden
    );
    if contract.expired {
        line.push_str("; expired");
    }
    if contract.unconfirmed {
        line.push_str("; the worktree's version is not confirmed yet (holdpoint contract diff)");
    }
    line
}
