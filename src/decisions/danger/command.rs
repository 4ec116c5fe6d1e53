//! What a shell command in a payload would do.

use super::path::{self, Guarded};
use super::{Danger, env};
use crate::decisions::json::quoted;
use crate::decisions::known::Known;
use crate::decisions::report::Code;

/// Programs that destroy, change the machine or open it, whatever their arguments.
const REFUSED: &[&str] = &[
    "rm",
    "rmdir",
    "shred",
    "dd",
    "mkfs",
    "wipefs",
    "fdisk",
    "parted",
    "sudo",
    "su",
    "doas",
    "chmod",
    "chown",
    "chgrp",
    "kill",
    "killall",
    "pkill",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "systemctl",
    "service",
    "mount",
    "umount",
    "iptables",
    "nft",
    "useradd",
    "userdel",
    "usermod",
    "passwd",
    "visudo",
    "crontab",
    "eval",
    "exec",
    "source",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ssh",
    "scp",
    "dropdb",
    "truncate",
    "insmod",
    "modprobe",
];

/// Interpreters: what they are given is code.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "lua",
    "osascript",
    "pwsh",
    "powershell",
    "xargs",
];

/// Finds what a command would do that it may not.
pub(super) fn dangers(text: &str, known: &Known) -> Vec<Danger> {
    let mut dangers = Vec::new();
    for command in text.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}']) {
        let mut words = command
            .split_ascii_whitespace()
            .map(|word| word.trim_matches(['"', '\'', '\\']))
            .skip_while(|word| {
                word.contains('=')
                    || matches!(
                        *word,
                        "$" | "!"
                            | "then"
                            | "do"
                            | "else"
                            | "env"
                            | "nohup"
                            | "time"
                            | "timeout"
                            | "nice"
                    )
            })
            .peekable();
        let Some(program) = words.next() else {
            continue;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        if REFUSED.contains(&name) || name.starts_with("mkfs") {
            dangers.push(Danger::new(
                Code::DangerCommand,
                format!("`{name}` destroys or changes what the workflow does not own"),
            ));
        } else if INTERPRETERS.contains(&name) && !known.sandbox {
            dangers.push(Danger::new(
                Code::DangerCommand,
                format!("`{name}` runs code outside a sandbox"),
            ));
        }
    }
    for word in text.split([' ', '\t', '\n', '"', '\'', '=', '>', '<', ';', '|', '&']) {
        if path::guarded(word) == Some(Guarded::Secret) {
            dangers.push(Danger::new(
                Code::DangerFile,
                format!("{} is a system file or holds secrets", quoted(word)),
            ));
        }
        if let Some(name) = word.strip_prefix('$')
            && !name.starts_with(['{', '('])
        {
            dangers.extend(env::reading(name, &known.env));
        }
    }
    dangers
}
