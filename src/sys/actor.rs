//! Tells an agent from a person: by marks in the environment and by the parents.
//!
//! [`detect`] answers for every action and errs towards a person, who is asked
//! less. [`person`] answers for confirmations and errs the other way.

mod holder;

use super::ancestry::{self, Process};
use super::env::Env;
use super::terminal::Terminal;
use crate::judge::Actor;
use bstr::{BStr, BString, ByteSlice as _};

/// Variables that only an agent's tools see, with the agent's name; an empty
/// name means that the value is the name.
const MARKS: &[(&str, &str)] = &[
    ("HOLDPOINT_RUN", "agent"),
    ("HOLDPOINT_AGENT", ""),
    ("CLAUDECODE", "claude"),
    ("CLAUDE_CODE_SESSION_ID", "claude"),
    ("CLAUDE_CODE_ENTRYPOINT", "claude"),
    ("CODEX_SESSION_ID", "codex"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_TOOL_CALL_ID", "codex"),
    ("CODEX_CI", "codex"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("COPILOT_CLI", "copilot"),
    ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ("COPILOT_HOOK_DIR", "copilot"),
    ("OPENCODE", "opencode"),
    ("OPENCODE_PID", "opencode"),
    ("CURSOR_AGENT", "cursor"),
    ("CLINE_ACTIVE", "cline"),
    ("GOOSE_TERMINAL", "goose"),
    ("AUGMENT_AGENT", "augment"),
    ("ANTIGRAVITY_AGENT", "antigravity"),
    // Claude Code's own, which Gemini and Copilot set for their hooks too.
    ("CLAUDE_PROJECT_DIR", "agent"),
    ("AI_AGENT", ""),
];

/// Variables that hold an agent's session id.
const SESSIONS: &[&str] = &[
    "HOLDPOINT_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "GEMINI_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
];

/// Agents by the name of their program, with the name we give them.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "claude"),
    ("claude-code", "claude"),
    ("codex", "codex"),
    ("codex-cli", "codex"),
    ("gemini", "gemini"),
    ("gemini-cli", "gemini"),
    ("copilot", "copilot"),
    ("copilot-cli", "copilot"),
    ("opencode", "opencode"),
    ("opencode-ai", "opencode"),
    ("cursor-agent", "cursor"),
    ("aider", "aider"),
    ("goose", "goose"),
    ("amp", "amp"),
    ("cline", "cline"),
    ("crush", "crush"),
    ("qwen", "qwen"),
    ("droid", "droid"),
    ("auggie", "augment"),
    ("kiro-cli", "kiro"),
    ("openhands", "openhands"),
    ("holdpoint-run", "agent"),
];

/// Programs that run another program's text: what they run is what counts.
const INTERPRETERS: &[&str] = &[
    "node",
    "nodejs",
    "bun",
    "deno",
    "python",
    "python3",
    "ruby",
    "tsx",
    "npx",
    "npm",
    "pnpm",
    "yarn",
    "uv",
    "uvx",
    "pipx",
    "MainThread",
];

/// Says who acts.
#[must_use]
pub fn detect(env: &Env) -> Actor {
    if let Some(mark) = mark_in(env) {
        return Actor::Agent {
            name: mark.agent,
            session: session(env),
        };
    }
    let above = ancestry::this().map_or_else(Vec::new, |own| ancestry::above(env, &own));
    for process in &above {
        if let Some(found) = agent(process) {
            return Actor::Agent {
                name: found.agent,
                session: session(env),
            };
        }
    }
    Actor::Person {
        terminal: Terminal::open().is_some(),
    }
}

/// The agent's session id, where its environment names it.
#[must_use]
pub fn session(env: &Env) -> Option<String> {
    SESSIONS
        .iter()
        .find_map(|name| env.text(name))
        .map(str::to_owned)
}

/// Something by which an agent is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The agent's name.
    pub agent: String,
    /// What shows it, in one clause.
    pub by: String,
}

/// The agent's mark in an environment.
fn mark_in(env: &Env) -> Option<Mark> {
    let name = MARKS.iter().find_map(|(name, agent)| {
        let value = env.text(name).filter(|value| is_set(value))?;
        Some((*name, known(agent, value)))
    });
    let generic = || {
        env.text("AGENT")
            .and_then(generic_agent)
            .map(|agent| ("AGENT", agent))
    };
    let (by, mut agent) = name.or_else(generic)?;
    // A wrapped run knows its agent's name better than the mark of the run.
    if let Some(own) = env.text("HOLDPOINT_AGENT") {
        own.clone_into(&mut agent);
    }
    Some(Mark {
        agent,
        by: format!("{by} is set in the environment"),
    })
}

fn is_set(value: &str) -> bool {
    !matches!(value, "" | "0" | "false")
}

/// The agent's name: the table's, or what the value says.
fn known(agent: &str, value: &str) -> String {
    if !agent.is_empty() {
        return agent.to_owned();
    }
    let value = value
        .trim_end_matches("_agent")
        .trim_end_matches("_harness");
    let name: String = value
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
        .take(40)
        .collect();
    PROGRAMS
        .iter()
        .find(|(program, _)| *program == name || name.starts_with(&format!("{program}-")))
        .map_or_else(
            || {
                if name.is_empty() {
                    "agent".to_owned()
                } else {
                    name.clone()
                }
            },
            |(_, agent)| (*agent).to_owned(),
        )
}

/// `AGENT` is a common name; it counts only as a flag or with an agent's name.
fn generic_agent(value: &str) -> Option<String> {
    if matches!(value, "1" | "true") {
        return Some("agent".to_owned());
    }
    PROGRAMS
        .iter()
        .find(|(program, _)| *program == value)
        .map(|(_, agent)| (*agent).to_owned())
}

/// Says by what a process is known as an agent's: its program, or its environment.
#[must_use]
pub fn agent(process: &Process) -> Option<Mark> {
    if let Some(agent) = program(process) {
        return Some(Mark {
            agent: agent.to_owned(),
            by: format!("process {} is {agent}", process.pid),
        });
    }
    let environment = process.environment()?;
    let value = |wanted: &str| {
        environment
            .iter()
            .find(|(name, _)| name == wanted)
            .and_then(|(_, value)| value.to_str().ok())
    };
    let (name, agent) = MARKS
        .iter()
        .find_map(|(name, agent)| {
            let value = value(name).filter(|value| is_set(value))?;
            Some((*name, known(agent, value)))
        })
        .or_else(|| Some(("AGENT", generic_agent(value("AGENT")?)?)))?;
    Some(Mark {
        agent,
        by: format!("process {} was started with {name}", process.pid),
    })
}

/// The agent that a process's program is.
fn program(process: &Process) -> Option<&'static str> {
    if let Some(agent) = by_name(process.name.as_bstr()) {
        return Some(agent);
    }
    let arguments = process.arguments();
    let called = arguments.first()?;
    let first = base(called.as_bstr());
    if let Some(agent) = by_name(first) {
        return Some(agent);
    }
    // `~/.local/share/claude/versions/2.1.197`
    let parts: Vec<&[u8]> = called.split_str("/").collect();
    if let Some(agent) = parts
        .windows(2)
        .find(|pair| pair[1] == b"versions")
        .and_then(|pair| by_name(pair[0].as_bstr()))
    {
        return Some(agent);
    }
    let is_interpreter = INTERPRETERS.iter().any(|name| {
        first == *name
            || process.name == *name
            || first
                .strip_prefix(name.as_bytes())
                .is_some_and(|rest| rest.iter().all(|b| b.is_ascii_digit() || *b == b'.'))
    });
    if !is_interpreter {
        return None;
    }
    // The script is the first argument that is no option; `-m NAME` names a module.
    let script = arguments.iter().skip(1).find(|argument| {
        !argument.starts_with(b"-")
            && !matches!(
                argument.as_slice(),
                b"exec" | b"run" | b"x" | b"dlx" | b"tool"
            )
    })?;
    by_name(base(script.as_bstr())).or_else(|| {
        script
            .split_str("/")
            .find_map(|part| by_name(part.as_bstr()))
            .filter(|_| {
                script.contains_str("node_modules")
                    || script.contains_str("site-packages")
                    || script.starts_with(b"@")
            })
    })
}

fn base(path: &BStr) -> &BStr {
    path.rsplit_str("/").next().unwrap_or_default().as_bstr()
}

fn by_name(name: &BStr) -> Option<&'static str> {
    let name = [".js", ".mjs", ".cjs", ".py", ".exe"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending.as_bytes()))
        .unwrap_or(name);
    PROGRAMS.iter().find_map(|(program, agent)| {
        let rest = name.strip_prefix(program.as_bytes())?;
        // `codex-x86_64-unknown-linux-musl`, `opencode-linux-x64`, `codex@0.1`
        let built = ["-x86_64", "-aarch64", "-arm64", "-linux", "-darwin", "@"]
            .iter()
            .any(|ending| rest.starts_with(ending.as_bytes()));
        (rest.is_empty() || built).then_some(*agent)
    })
}

/// Proves that a person sits at the controlling terminal.
///
/// # Errors
/// With what speaks against it, in one clause.
pub fn person(env: &Env) -> Result<Terminal, String> {
    let terminal =
        Terminal::open().ok_or("there is no controlling terminal (/dev/tty) to ask on")?;
    if let Some(mark) = mark_in(env) {
        return Err(mark.by);
    }
    let own = ancestry::this().ok_or("/proc cannot be read")?;
    let above = ancestry::above(env, &own);
    if let Some(mark) = above.iter().find_map(agent) {
        return Err(format!("an agent is among the parents: {}", mark.by));
    }
    if let Some(timer) = above.iter().find(|process| is_timer(process)) {
        return Err(format!(
            "this was started by {} (process {})",
            timer.name, timer.pid
        ));
    }
    if !terminal.is_in_front() {
        return Err("this process is not in the foreground of the terminal".to_owned());
    }
    holder::check(env, &own)?;
    Ok(terminal)
}

/// Programs that start others when nobody is there.
fn is_timer(process: &Process) -> bool {
    matches!(
        process.name.as_slice(),
        b"cron" | b"crond" | b"atd" | b"anacron" | b"fcron" | b"systemd-run"
    )
}

/// Names an agent for messages: what `detect` would call it.
#[must_use]
pub fn agent_names() -> Vec<BString> {
    PROGRAMS
        .iter()
        .map(|(program, _)| (*program).into())
        .collect()
}
