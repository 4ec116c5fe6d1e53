//! Commands that leave a shell open, whose input no hook sees.

/// Programs that read commands from their input.
const SHELLS: &[&str] = &[
    "bash",
    "sh",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "python",
    "python3",
    "node",
    "irb",
    "ipython",
    "psql",
    "mysql",
    "sqlite3",
    "redis-cli",
    "mongosh",
    "ssh",
    "tmux",
    "screen",
    "script",
    "nsenter",
];

/// Words before a program that leave it the same program.
const BEFORE: &[&str] = &[
    "exec", "command", "env", "sudo", "nohup", "nice", "time", "stdbuf", "unbuffer",
];

/// Returns true where a part of the command starts a shell with nothing to run in it.
pub(super) fn is_interactive(command: &[u8]) -> bool {
    let text = String::from_utf8_lossy(command);
    text.split(['\n', ';'])
        .flat_map(|part| part.split("&&"))
        .flat_map(|part| part.split("||"))
        .any(is_bare_shell)
}

fn is_bare_shell(part: &str) -> bool {
    // A pipe or a redirection gives the shell its input where the hook sees it.
    if part.contains(['|', '<', '\'', '"', '$', '`', '#']) {
        return false;
    }
    let mut words = part
        .split_whitespace()
        .skip_while(|word| BEFORE.contains(word) || word.contains('=') || word.starts_with('-'));
    let Some(program) = words.next().and_then(|word| word.rsplit('/').next()) else {
        return false;
    };
    let is_shell = SHELLS.contains(&program) || program.starts_with("python3.");
    let rest: Vec<&str> = words.take_while(|word| !word.starts_with('>')).collect();
    match program {
        _ if !is_shell => false,
        // Its arguments name a place, not a command, unless there are more.
        "ssh" => rest.iter().filter(|word| !word.starts_with('-')).count() < 2,
        "psql" | "mysql" | "sqlite3" | "redis-cli" | "mongosh" => {
            rest.iter().filter(|word| !word.starts_with('-')).count() < 2
                && !rest
                    .iter()
                    .any(|word| matches!(*word, "-c" | "-e" | "-f" | "--version" | "--help"))
        }
        "tmux" | "screen" | "script" | "nsenter" => true,
        _ => rest.iter().all(|word| leaves_it_open(word)),
    }
}

/// Returns true for an option that gives a shell nothing to run.
fn leaves_it_open(word: &str) -> bool {
    let gives = match word.strip_prefix("--") {
        Some(long) => matches!(long, "version" | "help" | "eval" | "print"),
        // `-c`, also at the end of a cluster (`-lc`), and the likes of python and node.
        None => word.ends_with('c') || matches!(word, "-e" | "-p" | "-m" | "-v" | "-V" | "-h"),
    };
    word.starts_with('-') && !gives
}

#[cfg(test)]
mod tests {
    use super::is_interactive;

    #[test]
    fn a_shell_with_nothing_to_run_is_interactive() {
        for command in [
            "bash",
            "bash -i",
            "/bin/sh",
            "exec zsh -l",
            "env FOO=1 bash",
            "sudo bash",
            "python3",
            "node",
            "cd x && bash",
            "ssh host",
            "python3.12 -i",
            "bash --norc",
        ] {
            assert!(is_interactive(command.as_bytes()), "{command}");
        }
        for command in [
            "bash build.sh",
            "bash -c 'ls'",
            "bash -lc ls",
            "echo hi | sh",
            "python3 x.py",
            "python3 -c 'print(1)'",
            "node --version",
            "ssh host ls",
            "ls",
            "sh < script",
            "",
            "echo bash",
            "bash --version",
            "python -m pytest",
        ] {
            assert!(!is_interactive(command.as_bytes()), "{command}");
        }
    }
}
