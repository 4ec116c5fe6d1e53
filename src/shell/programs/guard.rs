//! Attempts to weaken or avoid the guard itself, whatever program makes them.

use super::git::{Act, GitDeed, Place};
use crate::judge::{GitClass, Level};
use crate::shell::arg::Arg;
use crate::shell::deed::DeedKind;
use crate::shell::scope::Dir;
use crate::shell::walk::{Call, Walk};
use bstr::{BString, ByteSlice as _};

/// Variables whose value other programs run as a command.
const RUN_BY_OTHERS: &[&str] = &[
    "BROWSER",
    "EDITOR",
    "FCEDIT",
    "GIT_SSH",
    "GH_BROWSER",
    "GH_EDITOR",
    "GH_PAGER",
    "HGEDITOR",
    "KUBE_EDITOR",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "RSYNC_RSH",
    "SUDO_EDITOR",
    "SVN_EDITOR",
    "SVN_SSH",
    "SYSTEMD_PAGER",
    "VISUAL",
];

/// Looks at one command for tampering.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    let why = match call.name {
        "holdpoint" | "holdpoint-hook" | "holdpoint-run" if asks(call) => None,
        "holdpoint" | "holdpoint-hook" | "holdpoint-run" => {
            points(walk, call);
            own_verbs(call)
        }
        "pkill" | "killall" | "skill" | "taskkill" => call
            .args
            .iter()
            .any(|arg| arg.text.contains_str("holdpoint"))
            .then(|| "the guard's process is killed".to_owned()),
        _ => hunted(walk, call),
    };
    if let Some(why) = why {
        walk.note(DeedKind::Guard { why });
    }
    unchecked_agent(walk, call);
    for (name, value) in walk.env.clone() {
        variable(walk, &name, &value);
    }
}

/// Agents, and their options that switch off what asks a person.
const UNCHECKED: &[(&str, &[&str])] = &[
    (
        "claude",
        &[
            "--dangerously-skip-permissions",
            "--allow-dangerously-skip-permissions",
            "--setting-sources",
            "bypassPermissions",
            "--permission-mode=bypassPermissions",
        ],
    ),
    (
        "codex",
        &[
            "--yolo",
            "--dangerously-bypass-approvals-and-sandbox",
            "danger-full-access",
            "--sandbox=danger-full-access",
        ],
    ),
    ("gemini", &["--yolo", "-y", "yolo", "--approval-mode=yolo"]),
    ("qwen", &["--yolo", "-y", "yolo", "--approval-mode=yolo"]),
    ("copilot", &["--allow-all-tools", "--allow-all", "--yolo"]),
    ("cursor-agent", &["--force", "-f", "--yolo"]),
    ("agent", &["--force", "--yolo"]),
    ("crush", &["--yolo", "-y"]),
    ("amp", &["--dangerously-allow-all"]),
    ("aider", &["--yes-always", "--no-git"]),
    ("opencode", &["--dangerously-skip-permissions"]),
    ("goose", &["--approve"]),
];

/// Another agent that is started so that nobody is asked.
fn unchecked_agent(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words: Vec<&str> = call.args.iter().map(Arg::word).collect();
    if let ["config", "set" | "add" | "remove" | "rm", key, ..] = words.as_slice()
        && UNCHECKED.iter().any(|(name, _)| *name == call.name)
        && [
            "hook",
            "permission",
            "allowed",
            "approval",
            "sandbox",
            "trust",
        ]
        .iter()
        .any(|part| key.to_ascii_lowercase().contains(part))
    {
        walk.note(DeedKind::Guard {
            why: format!("{}'s setting {key} decides what is asked", call.name),
        });
    }
    let Some((name, options)) = UNCHECKED.iter().find(|(name, _)| *name == call.name) else {
        return;
    };
    if call.args.iter().any(|arg| options.contains(&arg.word())) {
        walk.mark(
            Level::Confirm,
            format!("{name} is started so that it asks nobody"),
        );
    }
}

/// Judges a variable of the environment.
pub(super) fn variable(walk: &mut Walk<'_>, name: &BString, value: &Arg) {
    let name_text = name.to_str_lossy();
    let own = name_text.starts_with("HOLDPOINT_");
    let skips = match name_text.as_ref() {
        // pre-commit, husky, lefthook, overcommit
        "SKIP" | "OVERCOMMIT_DISABLE" | "PRE_COMMIT_ALLOW_NO_CONFIG" => true,
        "HUSKY" | "LEFTHOOK" => matches!(value.text.as_slice(), b"0" | b"false"),
        "HUSKY_SKIP_HOOKS" | "GITHOOKS_DISABLE" => true,
        // git gives these to a merge's own hooks, which read in them what is being merged.
        name => name.starts_with("GITHEAD_"),
    };
    if RUN_BY_OTHERS.contains(&name_text.as_ref()) && !value.has_unknown() {
        let text: BString = value.text.trim_start_with(|c| c == '|' || c == '-').into();
        let _ = walk.run_child(text.as_bstr(), &crate::shell::walk::Stream::Unknown);
    }
    let takes_over = name_text
        .strip_prefix("BASH_FUNC_")
        .is_some_and(|rest| stands_for(rest.split(['%', '(']).next().unwrap_or(rest)));
    if takes_over {
        shadowed(walk, &name_text);
    }
    if name_text == "PATH" {
        path(walk, value);
    }
    let loads = matches!(
        name_text.as_ref(),
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" | "BASH_ENV" | "PROMPT_COMMAND"
    );
    if own {
        walk.note(DeedKind::Guard {
            why: format!("{name_text} changes what the guard does"),
        });
    } else if skips {
        walk.note(DeedKind::Bypass {
            why: format!("{name_text} switches hooks off or misleads them"),
        });
    } else if loads && !value.text.is_empty() {
        if name_text == "PROMPT_COMMAND" {
            let text = value.text.clone();
            let _ = walk.run_child(text.as_bstr(), &crate::shell::walk::Stream::Unknown);
        } else {
            walk.mark(
                Level::Confirm,
                format!("{name_text} loads code into every program"),
            );
        }
    }
}

/// Returns true for a name by which the guard, or git with its hooks, is called.
pub(super) fn stands_for(name: &str) -> bool {
    is_own(name) || name == "git"
}

/// Returns true for the guard's own programs.
pub(super) fn is_own(name: &str) -> bool {
    matches!(name, "holdpoint" | "holdpoint-hook" | "holdpoint-run")
}

/// Notes that another program stands in for the guard's or for git.
pub(super) fn shadowed(walk: &mut Walk<'_>, name: &str) {
    walk.note(DeedKind::Guard {
        why: format!("{name} puts something else in the place of the guard's or git's program"),
    });
}

/// Judges where programs are looked for: a stand-in for the guard or git, in a place that anyone writes.
fn path(walk: &mut Walk<'_>, value: &Arg) {
    for dir in value.text.split_str(":") {
        // The machine's own directories hold the real ones.
        let own = ["/usr/", "/bin", "/sbin", "/opt/", "/nix/", "/snap/"]
            .iter()
            .any(|place| dir.starts_with(place.as_bytes()))
            || walk
                .scope
                .home
                .as_ref()
                .is_some_and(|home| dir.starts_with(home));
        if own || dir.contains(&crate::shell::arg::UNKNOWN) || dir.is_empty() {
            continue;
        }
        for name in ["git", "holdpoint", "holdpoint-hook", "holdpoint-run"] {
            let mut text = BString::from(dir);
            text.push(b'/');
            text.extend_from_slice(name.as_bytes());
            let program = Arg::known(text);
            let there = match walk.scope.dir.join(&program) {
                Dir::Known(full) => walk.lookup.exists(&full) == Some(true),
                Dir::Unknown | Dir::Elsewhere => false,
            };
            if there || walk.comes_later(&program) {
                shadowed(walk, &program.shown());
            }
        }
    }
}

/// Remembers a search for the guard's processes, and judges what is then killed without a name.
fn hunted(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<String> {
    let looks = matches!(
        call.name,
        "pgrep" | "pidof" | "grep" | "egrep" | "fgrep" | "rg" | "awk" | "gawk" | "ps"
    );
    if looks
        && call
            .args
            .iter()
            .any(|arg| arg.text.contains_str("holdpoint"))
    {
        walk.seeks_guard = true;
    }
    let unnamed = call.name == "kill" && call.args.iter().any(Arg::has_unknown);
    (unnamed && walk.seeks_guard).then(|| "the guard's process is killed".to_owned())
}

/// Returns true for a command that only tells about itself.
fn asks(call: &Call<'_>) -> bool {
    call.args
        .iter()
        .any(|arg| matches!(arg.word(), "--help" | "-h" | "--version" | "-V"))
}

/// Notes what a command of Holdpoint's does to the workspace: a point is taken, or one is put back.
fn points(walk: &mut Walk<'_>, call: &Call<'_>) {
    let said = |option: &str| call.args.iter().any(|arg| arg.word() == option);
    let (class, why) = match call.args.iter().find(|arg| !arg.is_option()).map(Arg::word) {
        Some("save") => (GitClass::SafetyPoint, "a safety point is taken"),
        // Its own point holds what it replaces; moved branches are told as history.
        Some("rollback") if said("--refs") => (
            GitClass::History,
            "branches go back to a safety point; one is taken before, so that --undo leads back",
        ),
        Some("rollback") if !said("--dry-run") => (
            GitClass::Discard,
            "files go back to a safety point; one is taken before, so that --undo leads back",
        ),
        _ => return,
    };
    let act = Act::Tells {
        class,
        why: why.to_owned(),
    };
    let repo = Place {
        dir: walk.scope.dir.clone(),
        git_dir: None,
        work_tree: None,
    };
    walk.note(DeedKind::Git(Box::new(GitDeed {
        repo,
        act,
        made: false,
    })));
}

/// Holdpoint's own verbs that only a person may use.
fn own_verbs(call: &Call<'_>) -> Option<String> {
    let words: Vec<&str> = call
        .args
        .iter()
        .filter(|arg| !arg.is_option())
        .map(Arg::word)
        .collect();
    let acts = match words.as_slice() {
        ["confirm" | "deny" | "uninstall", ..] => true,
        ["prefs" | "contract", "confirm", ..] | ["prefs", "set", ..] => true,
        ["session", verb, ..] => *verb != "show",
        ["points", "drop" | "prune", ..] => true,
        ["log", ..] => call.args.iter().any(|arg| arg.text == "--repair"),
        ["contract", "init", ..] => call.args.iter().any(|arg| arg.text == "--force"),
        ["stop" | "extend", ..] => true,
        ["rollback", ..] => false,
        _ => false,
    };
    let accepts = call.args.iter().any(|arg| arg.text == "--accept");
    (acts || accepts).then(|| {
        format!(
            "holdpoint {} is for a person",
            words.first().copied().unwrap_or("run --accept")
        )
    })
}
