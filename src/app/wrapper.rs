//! `holdpoint-run`: starts a command on a leash.

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::judge::{Priority, Risk, TaskContext};
use crate::prefs;
use crate::repo::Workspace;
use crate::runs::drive::{self, Finished, Scene, Settings};
use crate::runs::policy::confidence::Thresholds;
use crate::runs::policy::context::priority_of;
use crate::runs::policy::limits::{self, AgentKind, Limits};
use crate::runs::policy::outcome::Kind;
use crate::runs::policy::retry::Waits;
use crate::runs::record::{self, Dir, Held, Options, Run};
use crate::runs::{leash, leashed, open, report, sandbox, stage};
use crate::sys::env::Env;
use crate::sys::{actor, files, out};
use bstr::BString;
use clap::Parser;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

/// Runs a command on a leash: a safety point before it, a time limit over it, a judgement after it.
#[derive(Debug, Parser)]
#[command(name = "holdpoint-run", version)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
struct Cli {
    /// The agent's name (claude, codex, gemini, …); without it, the program's name.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The task; fills {task} in the command.
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Time after which a warning is given: seconds, or 90s, 20m, 1h.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Time after which the run is ended.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    max: Option<Duration>,
    /// Priority: P0 (emergency) to P3 (exploration); without it, by the Contract or the task's words.
    #[arg(long, value_name = "P0..P3", value_parser = priority)]
    priority: Option<Priority>,
    /// Risk of the task: low, medium or high.
    #[arg(long, value_name = "RISK", value_parser = risk)]
    risk: Option<Risk>,
    /// How often a failed attempt is tried again.
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// A command that takes over when the agent cannot be used; may be given several times.
    #[arg(long, value_name = "CMD")]
    fallback: Vec<String>,
    /// The agent's session to go on with; fills {session} in the command.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Confines the process tree by the kernel: only the workspace and temporary directories are writable.
    #[arg(long)]
    sandbox: bool,
    /// A further directory that --sandbox leaves writable (an agent's own settings and sessions, a cache).
    #[arg(long, value_name = "DIR", requires = "sandbox")]
    sandbox_write: Vec<PathBuf>,
    /// The only TCP ports to which --sandbox lets it connect (443,53), or `none`.
    #[arg(long, value_name = "PORTS", value_parser = ports, requires = "sandbox")]
    sandbox_ports: Option<Ports>,
    /// A shell command that runs the tests after each attempt.
    #[arg(long, value_name = "CMD")]
    test_cmd: Option<String>,
    /// A shell command that accepts the result.
    #[arg(long, value_name = "CMD")]
    accept_cmd: Option<String>,
    /// A shell command that reviews the result.
    #[arg(long, value_name = "CMD")]
    review_cmd: Option<String>,
    /// A retry goes on from what the attempt before it left, not from the safety point.
    #[arg(long)]
    keep_partial: bool,
    /// Keeps changes that would be held. For scripts that a person starts.
    #[arg(long, conflicts_with = "reject")]
    accept: bool,
    /// Drops changes that would be held. For scripts that a person starts.
    #[arg(long)]
    reject: bool,
    /// Leaves with the wrapped command's own status.
    #[arg(long)]
    pass_status: bool,
    /// Makes no terminal for the command, even where standard input is one.
    #[arg(long)]
    no_pty: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Prints the report as one line of JSON at the end of standard output.
    #[arg(long)]
    json: bool,
    /// Goes on with a run that was interrupted.
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// The inner process of an attempt.
    #[arg(long, hide = true, value_name = "DIR")]
    leash: Option<PathBuf>,
    /// The inner process of an attempt whose first one was killed.
    #[arg(long, hide = true, value_name = "DIR")]
    adopt: Option<PathBuf>,
    /// The start that an inner process belongs to.
    #[arg(long, hide = true, value_name = "TOKEN", default_value = "")]
    token: String,
    /// The last step before the command.
    #[arg(long, hide = true, value_name = "FILE")]
    stage: Option<PathBuf>,
    /// The command and its arguments.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

fn duration(text: &str) -> Result<Duration, String> {
    limits::read(text)
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("`{text}` is no time; type seconds, or 90s, 20m, 1h, 1h30m"))
}

/// Ports of the command line.
#[derive(Clone, Debug)]
struct Ports(Vec<u16>);

fn ports(text: &str) -> Result<Ports, String> {
    if text == "none" {
        return Ok(Ports(Vec::new()));
    }
    text.split(',')
        .map(|port| port.trim().parse())
        .collect::<Result<_, _>>()
        .map(Ports)
        .map_err(|_| format!("`{text}` are no ports; type them as 443,53, or none"))
}

fn priority(text: &str) -> Result<Priority, String> {
    match text.to_ascii_uppercase().as_str() {
        "P0" => Ok(Priority::P0),
        "P1" => Ok(Priority::P1),
        "P2" => Ok(Priority::P2),
        "P3" => Ok(Priority::P3),
        _ => Err("type P0, P1, P2 or P3".to_owned()),
    }
}

fn risk(text: &str) -> Result<Risk, String> {
    match text {
        "low" => Ok(Risk::Low),
        "medium" => Ok(Risk::Medium),
        "high" => Ok(Risk::High),
        _ => Err("type low, medium or high".to_owned()),
    }
}

/// Runs the wrapper.
pub(super) fn main(env: &Env) -> Result<ExitStatus> {
    let cli = Cli::parse();
    if let Some(spec) = &cli.stage {
        return stage::main(spec);
    }
    if let Some(dir) = &cli.leash {
        return leash::main(env, dir, &cli.token);
    }
    if let Some(dir) = &cli.adopt {
        return leash::adopt(env, dir, &cli.token);
    }
    let workspace = Workspace::find(env, env.cwd())?;
    workspace.make_state()?;
    let policy = prefs::policy(env, &workspace)?;
    let settings = settings(&prefs::load(env, &workspace)?, &cli);
    let signals = drive::listen()?;
    leashed::adopt_orphans()?;
    let (mut run, dir) = match &cli.resume {
        Some(wanted) => {
            let run = record::find(&workspace, Some(wanted))?;
            let dir = Dir::of(&workspace, &run.id);
            (run, dir)
        }
        None => fresh(env, &workspace, &cli, policy.context)?,
    };
    // Who has the lead may be finishing this very run: its end is worth waiting for.
    let _lead = dir.wait_for_lead()?;
    let scene = Scene {
        env,
        workspace: &workspace,
        policy: &policy,
        settings,
        dir,
        signals,
    };
    if cli.resume.is_some() {
        run = scene.dir.load()?;
        if let Some(status) = run.status {
            for id in drive::renew(&scene, &mut run)? {
                scene.dir.save(&run)?;
                out::note(format!(
                    "holdpoint: what it left waits again: holdpoint holds show {id}"
                ));
            }
            out::note(format!(
                "holdpoint: run {} is over ({}, status {status})",
                run.id, run.state
            ));
            return Ok(ExitStatus::Guarded(status));
        }
    }
    let finished = match drive::lead(&scene, &mut run) {
        Ok(finished) => finished,
        Err(error) => {
            // What never started is over; what broke off later can be resumed.
            if run.attempts.is_empty() {
                run.status = Some(ExitStatus::from(error.kind()).code());
                scene.dir.save(&run)?;
                return Err(error);
            }
            return Err(error.hint(format!("go on with it: holdpoint run --resume {}", run.id)));
        }
    };
    tell(&scene, &run, &finished, cli.json);
    Ok(finished.status)
}

/// Makes the run that the command line asks for.
fn fresh(env: &Env, workspace: &Workspace, cli: &Cli, agreed: TaskContext) -> Result<(Run, Dir)> {
    if cli.command.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "there is no command to run")
            .hint("holdpoint-run [OPTIONS] -- COMMAND…"));
    }
    let held = match (cli.accept, cli.reject) {
        (true, _) => Held::Accept,
        (_, true) => Held::Reject,
        _ => Held::Ask,
    };
    if held != Held::Ask {
        let actor = actor::detect(env);
        if actor.is_agent() {
            return Err(Error::new(
                ErrorKind::Refused,
                format!(
                    "only a person may say beforehand what becomes of held changes; this is {}",
                    actor.word()
                ),
            )
            .hint("run without --accept and --reject"));
        }
    }
    let writable: Vec<PathBuf> = cli
        .sandbox_write
        .iter()
        .map(|dir| env.cwd().join(dir))
        .collect();
    let ports = cli.sandbox_ports.as_ref().map(|ports| ports.0.clone());
    let wishes = sandbox::Wishes {
        writable: &writable,
        ports: ports.as_deref(),
    };
    if cli.sandbox
        && let Some(shortfall) = sandbox::means().shortfall(wishes)?
    {
        out::note(format!("holdpoint: {shortfall}"));
    }
    let command: Vec<BString> = cli
        .command
        .iter()
        .map(|word| BString::from(word.clone().into_vec()))
        .collect();
    let fallbacks = cli
        .fallback
        .iter()
        .map(|text| drive::split_command(text))
        .collect::<Result<Vec<_>>>()?;
    let options = Options {
        agent: cli
            .agent
            .clone()
            .unwrap_or_else(|| drive::agent_of(&command)),
        task: cli.task.clone(),
        command,
        fallbacks,
        session: cli.session.clone(),
        retries: cli.retries,
        test: cli.test_cmd.clone(),
        accept: cli.accept_cmd.clone(),
        review: cli.review_cmd.clone(),
        keep_partial: cli.keep_partial,
        sandbox: cli.sandbox,
        sandbox_write: writable,
        sandbox_ports: ports,
        pass_status: cli.pass_status,
        held,
        no_pty: cli.no_pty,
        quiet: cli.quiet,
    };
    let context = TaskContext {
        priority: cli
            .priority
            .or_else(|| {
                (agreed.priority == Priority::default())
                    .then(|| cli.task.as_deref().and_then(priority_of))
                    .flatten()
            })
            .unwrap_or(agreed.priority),
        risk: cli.risk.unwrap_or(agreed.risk),
    };
    let run = drive::new_run(options, env.cwd().to_path_buf(), context);
    for (other, standing) in open::runs(workspace)? {
        if let Some(warning) = open::warning(&other, standing, &workspace.root) {
            out::note(format!("holdpoint: {warning}"));
        }
    }
    let dir = Dir::of(workspace, &run.id);
    files::make_private_dir(dir.path())?;
    Ok((run, dir))
}

/// What preferences and command line say of runs.
fn settings(preferences: &prefs::Preferences, cli: &Cli) -> Settings {
    let timeouts = &preferences.timeouts;
    let limits = |default: u64, max: u64| Limits {
        default: Duration::from_secs(default),
        max: Duration::from_secs(max),
    };
    let retries = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    Settings {
        limits: [
            (AgentKind::Coder, timeouts.coder_default, timeouts.coder_max),
            (AgentKind::Codex, timeouts.codex_default, timeouts.codex_max),
            (
                AgentKind::Gemini,
                timeouts.gemini_default,
                timeouts.gemini_max,
            ),
            (
                AgentKind::Tools,
                timeouts.claude_tools_default,
                timeouts.claude_tools_max,
            ),
        ]
        .into_iter()
        .map(|(kind, default, max)| (kind.word().to_owned(), limits(default, max)))
        .collect(),
        retries: [
            (AgentKind::Coder, preferences.retry_strategy.coder),
            (AgentKind::Codex, preferences.retry_strategy.codex),
            (AgentKind::Gemini, preferences.retry_strategy.gemini),
        ]
        .into_iter()
        .map(|(kind, count)| (kind.word().to_owned(), retries(count)))
        .collect(),
        most: [
            (
                Kind::NetworkTimeout,
                preferences.retry_strategy.network_timeout,
            ),
            (
                Kind::ConnectionReset,
                preferences.retry_strategy.network_timeout,
            ),
            (Kind::RateLimit, preferences.retry_strategy.rate_limit),
            (Kind::Quota, preferences.retry_strategy.rate_limit),
            (
                Kind::Unavailable,
                preferences.retry_strategy.service_unavailable,
            ),
            (Kind::Busy, preferences.retry_strategy.service_unavailable),
            (Kind::Syntax, preferences.retry_strategy.syntax_error),
            (Kind::Type, preferences.retry_strategy.type_error),
            (Kind::TestFailure, preferences.retry_strategy.test_failure),
            (
                Kind::Dependency,
                preferences.retry_strategy.dependency_missing,
            ),
        ]
        .into_iter()
        .map(|(kind, count)| (kind, retries(count)))
        .collect(),
        waits: Waits {
            base: Duration::from_secs(preferences.retry_strategy.base_delay),
            longest: Duration::from_secs(preferences.retry_strategy.max_delay),
        },
        test_fix: Thresholds {
            high: tenths(preferences.test_fix.high_confidence),
            medium: tenths(preferences.test_fix.medium_confidence),
            most: retries(preferences.test_fix.max_attempts),
        },
        fallbacks: chains(preferences),
        no_progress: Duration::from_secs(preferences.guardrails.no_progress_timeout),
        max_degradation_level: if preferences.degradation.enabled {
            retries(preferences.degradation.max_degradation_level)
        } else {
            0
        },
        asked_default: cli.timeout,
        asked_max: cli.max,
    }
}

/// A confidence from 0 to 1 in tenths, as the arithmetic counts it.
fn tenths(confidence: f64) -> i32 {
    (0..=10)
        .find(|tenths| f64::from(*tenths) >= (confidence * 10.0).round())
        .unwrap_or(10)
}

/// The commands that take over for an agent: those of its chain whose command preferences give.
fn chains(preferences: &prefs::Preferences) -> BTreeMap<String, Vec<Vec<BString>>> {
    let command = |name: &String| {
        let words = match name.as_str() {
            "codex" => preferences.collab.codex.as_ref(),
            "gemini" => preferences.collab.gemini.as_ref(),
            _ => None,
        }?;
        Some(
            words
                .iter()
                .map(|word| BString::from(word.as_str()))
                .collect(),
        )
    };
    let chain = |names: &[String]| names.iter().filter_map(command).collect();
    let chains = &preferences.degradation;
    [
        ("codex", &chains.codex),
        ("gemini", &chains.gemini),
        ("coder", &chains.coder),
    ]
    .into_iter()
    .map(|(agent, names)| (agent.to_owned(), chain(names)))
    .collect()
}

/// Reports how it went.
fn tell(scene: &Scene<'_>, run: &Run, finished: &Finished, json: bool) {
    out::note(format!(
        "holdpoint: {}",
        report::words(run, finished, &scene.dir)
    ));
    if json {
        let bytes = run
            .last()
            .map(|attempt| scene.dir.attempt(attempt.number).join("out"))
            .and_then(|path| files::read_if_there(&path).ok().flatten())
            .unwrap_or_default();
        // The report is a line of its own, whatever the command printed last.
        if bytes.last().is_some_and(|last| *last != b'\n') {
            out::raw(b"\n");
        }
        out::line(report::json(run, finished).to_string());
    }
}
