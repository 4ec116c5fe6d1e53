//! Tells an agent from a person: by marks in the environment and by the parents.
//!
//! [`detect`] answers for every action and errs towards a person, who is asked
//! less. [`person`] answers for confirmations and errs the other way.

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

mod holder {
    //! Who is at the other end of the terminal: whoever holds the master writes our input.

    use super::{agent, ancestry};
    use crate::sys::ancestry::Process;
    use crate::sys::env::Env;
    use bstr::ByteSlice as _;
    use std::fs;

    /// Programs that only ever type for somebody else.
    const TYPISTS: &[&str] = &[
        "script",
        "scriptreplay",
        "expect",
        "autoexpect",
        "unbuffer",
        "socat",
        "empty",
        "faketty",
        "ptyget",
        "reptyr",
        "dtach-send",
    ];

    /// Programs behind which a person sits. `systemd` is none: it adopts what
    /// others left behind.
    const TERMINALS: &[&str] = &[
        "tmux",
        "screen",
        "SCREEN",
        "zellij",
        "abduco",
        "dtach",
        "sshd",
        "sshd-session",
        "dropbear",
        "mosh-server",
        "tailscaled",
        "login",
        "agetty",
        "getty",
        "gnome-terminal",
        "konsole",
        "xterm",
        "urxvt",
        "rxvt",
        "alacritty",
        "kitty",
        "wezterm",
        "wezterm-gui",
        "foot",
        "ghostty",
        "st",
        "terminator",
        "tilix",
        "xfce4-terminal",
        "mate-terminal",
        "lxterminal",
        "qterminal",
        "guake",
        "yakuake",
        "ptyxis",
        "ptyxis-agent",
        "kgx",
        "cool-retro-term",
        "terminology",
        "sakura",
        "termite",
        "rio",
        "warp",
        "tabby",
        "hyper",
        "contour",
        "deepin-terminal",
        "code",
        "codium",
        "code-server",
        "cursor",
        "zed",
        "zed-editor",
        "emacs",
        "java",
        "idea",
        "ttyd",
        "gotty",
        "wetty",
        "containerd-shim",
        "conmon",
        "init",
        "Relay",
        "init-systemd",
        "io.elementary.terminal",
        "cosmic-term",
        "blackbox",
        "waveterm",
    ];

    /// Servers that start a session for somebody on another machine.
    const SSH_SERVERS: &[&str] = &["sshd", "sshd-session", "dropbear"];

    /// Parts of the command line of editors whose terminals are written in JavaScript.
    const EDITORS: &[&str] = &[
        ".vscode-server",
        ".vscode-remote",
        ".cursor-server",
        "code-server",
        "ptyHost",
        "openvscode-server",
    ];

    /// The first and last device major number of pseudo-terminals (Linux `devices.txt`).
    const PTY_MAJORS: std::ops::RangeInclusive<u32> = 136..=143;

    /// Refuses a terminal whose input an agent or a program could be writing.
    pub(super) fn check(env: &Env, own: &Process) -> Result<(), String> {
        let Some(index) = pty_index(own.terminal) else {
            // A console: its keyboard writes the input.
            return Ok(());
        };
        let everybody = ancestry::all();
        let mut seen = false;
        for holder in everybody.iter().filter(|process| holds(process, index)) {
            seen = true;
            one(env, &everybody, holder)?;
            if is(holder, &["tmux", "screen", "SCREEN"]) {
                nobody_types(env, &everybody, holder)?;
            }
        }
        if !seen {
            hidden(env, own)?;
        }
        if loops_back(env, own)
            && everybody
                .iter()
                .filter(|p| is_ours(p))
                .any(|p| agent(p).is_some())
        {
            return Err(
                "this session came from this machine itself by ssh while an agent is running"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn one(env: &Env, everybody: &[Process], holder: &Process) -> Result<(), String> {
        if Some(holder.pid) == ancestry::root(env) {
            return Ok(());
        }
        let who = format!("{} (process {})", holder.name, holder.pid);
        if is(holder, TYPISTS) {
            return Err(format!("the terminal's input is written by {who}"));
        }
        if let Some(mark) = agent(holder) {
            return Err(format!("the terminal belongs to an agent: {}", mark.by));
        }
        let above = ancestry::above(env, holder);
        if let Some(mark) = above.iter().find_map(agent) {
            return Err(format!(
                "the terminal belongs to {who}, which an agent started: {}",
                mark.by
            ));
        }
        if let Some(typist) = above.iter().find(|process| is(process, TYPISTS)) {
            return Err(format!(
                "the terminal belongs to {who}, which {} started",
                typist.name
            ));
        }
        if is_terminal(holder) || above.iter().any(is_terminal) || reaches_root(env, holder, &above)
        {
            return Ok(());
        }
        // A terminal program that is not on the list is trusted as long as no
        // agent could be behind it: none runs, and nobody left it to init, as a
        // program does that hides who started it.
        let orphaned = holder.parent == 1;
        let agent_runs = everybody
            .iter()
            .filter(|process| is_ours(process))
            .any(|process| agent(process).is_some());
        if !orphaned && !agent_runs {
            return Ok(());
        }
        Err(format!(
            "the terminal belongs to {who}, which is no terminal program known here, {}",
            if orphaned {
                "and nobody is left who started it"
            } else {
                "while an agent is running"
            }
        ))
    }

    /// Judges by our own parents where the holder is not to be seen: another
    /// user's (`sshd`), or outside this container.
    fn hidden(env: &Env, own: &Process) -> Result<(), String> {
        let above = ancestry::above(env, own);
        let from_outside = above.last().map_or(own.parent, |top| top.parent) == 0;
        let with_init = Process::read(1).is_some_and(|init| init.terminal == own.terminal);
        if from_outside
            || with_init
            || above.iter().any(is_terminal)
            || reaches_root(env, own, &above)
        {
            return Ok(());
        }
        Err("who holds the other end of the terminal cannot be seen, and no terminal program is among the parents".to_owned())
    }

    fn is_terminal(process: &Process) -> bool {
        is(process, TERMINALS)
            || process
                .arguments()
                .iter()
                .any(|argument| EDITORS.iter().any(|part| argument.contains_str(part)))
    }

    /// Returns true where the parents end at the process that counts as init in tests.
    fn reaches_root(env: &Env, process: &Process, above: &[Process]) -> bool {
        ancestry::root(env)
            .is_some_and(|root| above.last().map_or(process.parent, |top| top.parent) == root)
    }

    /// A server of panes that shows them to nobody: only a program can be typing.
    fn nobody_types(env: &Env, everybody: &[Process], server: &Process) -> Result<(), String> {
        if server
            .open_files()
            .iter()
            .filter_map(|file| fs::read_link(file).ok())
            .filter_map(|target| target.to_str().map(str::to_owned))
            .any(|terminal| is_watched(env, everybody, &terminal))
        {
            return Ok(());
        }
        match everybody.iter().filter(|p| is_ours(p)).find_map(agent) {
            Some(mark) => Err(format!(
                "no client is attached to {}, and an agent could be typing: {}",
                server
                    .name
                    .split_str(":")
                    .next()
                    .unwrap_or_default()
                    .as_bstr(),
                mark.by
            )),
            None => Ok(()),
        }
    }

    /// Returns true for the terminal of an attached client behind which a person can sit.
    fn is_watched(env: &Env, everybody: &[Process], terminal: &str) -> bool {
        if let Some(number) = terminal.strip_prefix("/dev/tty") {
            return number.chars().all(|c| c.is_ascii_digit()) && !number.is_empty();
        }
        let Some(index) = terminal
            .strip_prefix("/dev/pts/")
            .and_then(|number| number.parse().ok())
        else {
            return false;
        };
        let mut holders = everybody
            .iter()
            .filter(|process| holds(process, index))
            .peekable();
        if holders.peek().is_some() {
            return holders.all(|holder| one(env, everybody, holder).is_ok());
        }
        everybody
            .iter()
            .filter(|process| pty_index(process.terminal) == Some(index))
            .any(|client| hidden(env, client).is_ok())
    }

    fn is_ours(process: &Process) -> bool {
        process.user() == Some(rustix::process::getuid().as_raw())
    }

    /// Compares the kernel's name, which is cut at 15 bytes and may say more (`tmux: server`).
    fn is(process: &Process, names: &[&str]) -> bool {
        let name = process.name.as_bstr();
        let end = name.find_byteset(b":(").unwrap_or(name.len());
        let first = name[..end].as_bytes();
        // Fifteen bytes may be the beginning of more.
        let cut = first.len() == 15;
        names.iter().any(|known| {
            let known = known.as_bytes();
            first == known
                || (cut && known.starts_with(first))
                || (cut && known.len() >= 8 && first.starts_with(known))
        })
    }

    /// The number of a pseudo-terminal, from its device number as `/proc/PID/stat` gives it.
    fn pty_index(device: i32) -> Option<u32> {
        let device = u32::from_ne_bytes(device.to_ne_bytes());
        let major = (device >> 8) & 0xfff;
        let minor = (device & 0xff) | ((device >> 12) & 0xf_ff00);
        PTY_MAJORS
            .contains(&major)
            .then(|| (major - PTY_MAJORS.start()) * 256 + minor)
    }

    /// Returns true for a process that has the master of pseudo-terminal `index` open.
    fn holds(process: &Process, index: u32) -> bool {
        let wanted = format!("tty-index:\t{index}");
        process.open_files().iter().any(|file| {
            fs::read_link(file).is_ok_and(|target| {
                target.as_os_str() == "/dev/ptmx" || target.as_os_str() == "/dev/pts/ptmx"
            }) && file
                .file_name()
                .and_then(|fd| {
                    fs::read_to_string(format!(
                        "/proc/{}/fdinfo/{}",
                        process.pid,
                        fd.to_string_lossy()
                    ))
                    .ok()
                })
                .is_some_and(|info| info.lines().any(|line| line == wanted))
        })
    }

    /// Returns true for an ssh session whose client is this machine, or is kept secret.
    fn loops_back(env: &Env, own: &Process) -> bool {
        let above = ancestry::above(env, own);
        let inherited = || {
            above.iter().find_map(|process| {
                let variables = process.environment()?;
                let (_, value) = variables
                    .iter()
                    .find(|(name, _)| name == "SSH_CONNECTION")?;
                value.to_str().ok().map(str::to_owned)
            })
        };
        match env
            .text("SSH_CONNECTION")
            .map(str::to_owned)
            .or_else(inherited)
        {
            Some(connection) => is_own_address(&connection),
            // The server always says where a session comes from; somebody took it away.
            None => above.iter().any(|process| is(process, SSH_SERVERS)),
        }
    }

    /// Reads `CLIENT PORT SERVER PORT`: true where both ends are this machine.
    fn is_own_address(connection: &str) -> bool {
        let mut parts = connection.split_whitespace();
        let (client, server) = (parts.next(), parts.nth(1));
        client.is_some_and(|client| {
            client.starts_with("127.") || client == "::1" || Some(client) == server
        })
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn a_connection_from_the_machine_to_itself_is_known() {
            for (connection, own) in [
                ("127.0.0.1 51000 127.0.0.1 22", true),
                ("127.0.1.1 51000 10.0.0.5 22", true),
                ("::1 51000 ::1 22", true),
                ("10.0.0.5 51000 10.0.0.5 22", true),
                ("10.0.0.9 51000 10.0.0.5 22", false),
                ("", false),
            ] {
                assert_eq!(super::is_own_address(connection), own, "{connection}");
            }
        }
    }
}

/// Names an agent for messages: what `detect` would call it.
#[must_use]
pub fn agent_names() -> Vec<BString> {
    PROGRAMS
        .iter()
        .map(|(program, _)| (*program).into())
        .collect()
}
