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
    if is_terminal(holder) || above.iter().any(is_terminal) || reaches_root(env, holder, &above) {
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
    if from_outside || with_init || above.iter().any(is_terminal) || reaches_root(env, own, &above)
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
