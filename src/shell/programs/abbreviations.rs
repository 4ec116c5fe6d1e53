//! Programs whose manuals let a subcommand be cut short: `ip l d x`, `mysqladmin shut`, `tmux kill-ser`.
//!
//! Where several begin alike, the program takes the first of its own list; the
//! lists below stand in that order. A word of the list is never changed.

use crate::shell::arg::Arg;
use crate::shell::walk::Call;
use std::borrow::Cow;

/// A program with the words it knows at each place.
struct Abbreviates {
    /// Names, parted by `|`.
    names: &'static str,
    /// Options whose value is the next word.
    values: &'static str,
    /// The words known as the first, second, … operand; none for an operand of the person's own.
    places: &'static [&'static [&'static str]],
}

const PROGRAMS: &[Abbreviates] = &[
    Abbreviates {
        names: "ip",
        values: "-f -family -n -netns -b -batch -l -loops",
        places: &[
            &[
                "address",
                "addrlabel",
                "maddress",
                "route",
                "rule",
                "neighbor",
                "ntable",
                "link",
                "l2tp",
                "macsec",
                "tunnel",
                "tuntap",
                "token",
                "tcp_metrics",
                "monitor",
                "xfrm",
                "mroute",
                "netns",
                "netconf",
                "vrf",
                "nexthop",
                "mptcp",
                "stats",
                "help",
            ],
            &[
                "add", "show", "set", "list", "get", "change", "replace", "append", "prepend",
                "delete", "del", "flush", "save", "restore", "exec", "identify", "pids", "monitor",
                "help",
            ],
        ],
    },
    Abbreviates {
        names: "tc|bridge",
        values: "-n -netns -b -batch",
        places: &[
            &[
                "qdisc", "class", "filter", "actions", "monitor", "exec", "link", "fdb", "mdb",
                "vlan", "vni",
            ],
            &[
                "add", "show", "list", "change", "replace", "delete", "del", "set", "flush",
            ],
        ],
    },
    Abbreviates {
        names: "nmcli",
        values: "-f --fields -g --get-values -m --mode -c --colors -w --wait",
        places: &[
            &[
                "general",
                "networking",
                "radio",
                "connection",
                "device",
                "agent",
                "monitor",
                "help",
            ],
            &[
                "show",
                "up",
                "down",
                "modify",
                "add",
                "edit",
                "clone",
                "delete",
                "monitor",
                "reload",
                "load",
                "import",
                "export",
                "status",
                "connect",
                "reapply",
                "disconnect",
                "wifi",
                "on",
                "off",
                "connectivity",
                "hostname",
                "permissions",
                "logging",
            ],
        ],
    },
    Abbreviates {
        names: "btrfs",
        values: "",
        places: &[
            &[
                "balance",
                "check",
                "device",
                "filesystem",
                "inspect-internal",
                "property",
                "qgroup",
                "quota",
                "receive",
                "rescue",
                "replace",
                "restore",
                "scrub",
                "send",
                "subvolume",
            ],
            &[
                "create",
                "delete",
                "list",
                "snapshot",
                "find-new",
                "get-default",
                "set-default",
                "show",
                "sync",
                "add",
                "remove",
                "scan",
                "ready",
                "stats",
                "usage",
                "df",
                "du",
                "defragment",
                "resize",
                "label",
            ],
        ],
    },
    Abbreviates {
        names: "hg|chg",
        values: "-R --repository --cwd --config",
        places: &[&[
            "add",
            "addremove",
            "annotate",
            "archive",
            "backout",
            "bisect",
            "blame",
            "bookmarks",
            "branch",
            "branches",
            "bundle",
            "cat",
            "checkout",
            "ci",
            "clone",
            "co",
            "commit",
            "config",
            "copy",
            "cp",
            "diff",
            "di",
            "evolve",
            "export",
            "fold",
            "forget",
            "graft",
            "grep",
            "heads",
            "help",
            "histedit",
            "identify",
            "id",
            "import",
            "incoming",
            "in",
            "init",
            "log",
            "locate",
            "manifest",
            "merge",
            "mv",
            "outgoing",
            "out",
            "parents",
            "paths",
            "phase",
            "pull",
            "purge",
            "push",
            "rebase",
            "recover",
            "remove",
            "rename",
            "resolve",
            "revert",
            "rm",
            "rollback",
            "root",
            "serve",
            "shelve",
            "status",
            "st",
            "strip",
            "summary",
            "tags",
            "tag",
            "tip",
            "unbundle",
            "unshelve",
            "update",
            "up",
            "verify",
            "version",
        ]],
    },
    Abbreviates {
        names: "mysqladmin|mariadb-admin",
        values: "-u --user -h --host -P --port -S --socket -i --sleep -c --count",
        places: &[&[
            "create",
            "debug",
            "drop",
            "extended-status",
            "flush-hosts",
            "flush-logs",
            "flush-privileges",
            "flush-status",
            "flush-tables",
            "flush-threads",
            "kill",
            "password",
            "ping",
            "processlist",
            "reload",
            "refresh",
            "shutdown",
            "status",
            "start-replica",
            "stop-replica",
            "variables",
            "version",
        ]],
    },
    Abbreviates {
        names: "parted",
        values: "-a --align",
        places: &[
            &[],
            &[
                "align-check",
                "disk_set",
                "disk_toggle",
                "help",
                "mklabel",
                "mktable",
                "mkpart",
                "name",
                "print",
                "quit",
                "rescue",
                "resizepart",
                "rm",
                "select",
                "set",
                "toggle",
                "unit",
                "version",
            ],
        ],
    },
    Abbreviates {
        names: "tmux",
        values: "-L -S -f -c -T",
        places: &[&[
            "attach-session",
            "attach",
            "capture-pane",
            "detach-client",
            "display-message",
            "display-popup",
            "has-session",
            "has",
            "if-shell",
            "kill-pane",
            "kill-server",
            "kill-session",
            "kill-window",
            "list-sessions",
            "list-windows",
            "ls",
            "new-session",
            "new-window",
            "new",
            "neww",
            "pipe-pane",
            "pipep",
            "rename-session",
            "respawn-pane",
            "respawnp",
            "respawn-window",
            "respawnw",
            "run-shell",
            "run",
            "send-keys",
            "send",
            "set-option",
            "source-file",
            "split-window",
            "splitw",
            "switch-client",
        ]],
    },
];

/// SQLite's own commands, in the order in which its shell looks.
const DOTTED: &[&str] = &[
    "archive",
    "backup",
    "bail",
    "cd",
    "changes",
    "clone",
    "databases",
    "dbinfo",
    "dump",
    "echo",
    "excel",
    "exit",
    "headers",
    "help",
    "import",
    "indexes",
    "limit",
    "load",
    "log",
    "mode",
    "nullvalue",
    "open",
    "once",
    "output",
    "parameter",
    "print",
    "prompt",
    "quit",
    "read",
    "recover",
    "restore",
    "save",
    "schema",
    "separator",
    "session",
    "shell",
    "sha3sum",
    "show",
    "stats",
    "system",
    "tables",
    "timeout",
    "timer",
    "trace",
    "vfsinfo",
    "width",
];

/// The arguments with their subcommands in full; borrowed where nothing is cut short.
pub(super) fn in_full<'c>(call: &Call<'c>) -> Cow<'c, [Arg]> {
    let Some(program) = PROGRAMS
        .iter()
        .find(|program| program.names.split('|').any(|name| name == call.name))
    else {
        return Cow::Borrowed(call.args);
    };
    let mut args = Cow::Borrowed(call.args);
    let mut places = program.places.iter();
    let mut value = false;
    for (at, arg) in call.args.iter().enumerate() {
        if std::mem::take(&mut value) {
            continue;
        }
        if arg.is_option() {
            value = program
                .values
                .split(' ')
                .any(|option| !option.is_empty() && arg.text == option);
            continue;
        }
        let Some(known) = places.next() else { break };
        if let Some(whole) = whole(arg.word(), known)
            && let Some(word) = args.to_mut().get_mut(at)
        {
            *word = Arg::known(whole);
        }
    }
    args
}

/// SQLite's command in full, with its dot.
pub(super) fn dotted(word: &[u8]) -> Option<String> {
    let short = std::str::from_utf8(word.strip_prefix(b".")?).ok()?;
    whole(short, DOTTED).map(|whole| format!(".{whole}"))
}

/// The word of a list that a shorter one stands for.
fn whole(word: &str, known: &[&'static str]) -> Option<&'static str> {
    if word.is_empty() || known.contains(&word) {
        return None;
    }
    known.iter().find(|one| one.starts_with(word)).copied()
}

#[cfg(test)]
mod tests {
    use super::{Call, dotted, in_full};
    use crate::shell::arg::Arg;
    use crate::shell::walk::Stream;

    #[test]
    fn a_word_cut_short_stands_for_the_first_that_begins_so() {
        for (line, expected) in [
            ("ip l d br0", "ip link delete br0"),
            ("ip -4 r f all", "ip -4 route flush all"),
            ("ip -n a a s", "ip -n a address show"),
            ("ip addr", "ip address"),
            ("nmcli c d office", "nmcli connection down office"),
            ("nmcli con de office", "nmcli connection delete office"),
            ("hg st", "hg st"),
            ("hg stri 3", "hg strip 3"),
            ("mysqladmin -u dr sh", "mysqladmin -u dr shutdown"),
            ("parted /dev/sda p", "parted /dev/sda print"),
            ("tmux -L kill-s ls", "tmux -L kill-s ls"),
            ("tmux kill-ser", "tmux kill-server"),
            ("git st", "git st"),
        ] {
            let words: Vec<Arg> = line.split(' ').map(Arg::known).collect();
            let (name, args) = words.split_first().expect("a program");
            let call = Call {
                name: name.word(),
                args,
                input: &Stream::Nothing,
            };
            let found: Vec<String> = in_full(&call).iter().map(Arg::shown).collect();
            let found = format!("{} {}", call.name, found.join(" "));
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(dotted(b".rest"), Some(".restore".to_owned()));
        assert_eq!(dotted(b".tab"), Some(".tables".to_owned()));
        assert_eq!(dotted(b".dump"), None);
        assert_eq!(dotted(b"rest"), None);
    }
}
