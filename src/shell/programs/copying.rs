//! Programs that put content somewhere: mv, cp, install, dd, rsync, scp, ….

use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

const COPY: Spec = Spec {
    short: "tSgmo",
    long: &[
        "target-directory",
        "suffix",
        "context",
        "group",
        "mode",
        "owner",
        "reflink",
        "sparse",
    ],
    stuck: "",
    stops: false,
    single_dash: false,
};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "mv" | "gmv" | "move" | "move-item" | "ren" => mv(walk, call.args),
        "cp" | "gcp" | "copy" | "copy-item" | "xcopy" => cp(walk, call.args),
        "install" | "ginstall" => install(walk, call.args),
        "dd" | "gdd" | "dcfldd" | "dc3dd" => dd(walk, call.args),
        "rsync" => rsync(walk, call.args),
        "scp" | "sftp" => scp(walk, call),
        "rclone" => return None,
        "robocopy" => {
            if call.args.iter().any(|arg| {
                arg.text.eq_ignore_ascii_case(b"/mir") || arg.text.eq_ignore_ascii_case(b"/purge")
            }) && let Some(to) = call.args.get(1)
            {
                walk.file(PathOp::Mirror, to);
            }
        }
        _ => return None,
    }
    Some(Stream::Nothing)
}

/// Notes that something lands at `to`: in it if it is a directory, over it if it is a file.
pub(super) fn into(walk: &mut Walk<'_>, from: &Arg, to: &Arg, never_inside: bool) {
    if never_inside {
        walk.file(PathOp::Replace, to);
        return;
    }
    let text = from.text.trim_end_with(|c| c == '/');
    let name: BString = text.rsplit_str("/").next().unwrap_or_default().into();
    let from = Some(from.clone());
    walk.file(PathOp::Into { name, from }, to);
}

/// Sources and target of a copying command.
fn ends(options: &Options) -> Option<(Vec<Arg>, Arg)> {
    if let Some(to) = options.value(&["t", "target-directory"]) {
        return Some((options.operands.clone(), to.clone()));
    }
    let (to, from) = options.operands.split_last()?;
    (!from.is_empty()).then(|| (from.to_vec(), to.clone()))
}

/// Returns true where the program leaves what is there.
fn spares(options: &Options) -> bool {
    let update = options
        .given
        .iter()
        .rev()
        .find(|given| given.long && given.name == "update")
        .and_then(|given| given.value.as_ref())
        .is_some_and(|value| value.text.starts_with(b"none"));
    options.surely(&["n", "no-clobber", "b", "backup"]) || update
}

fn mv(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(args, &COPY);
    let Some((from, to)) = ends(&options) else {
        return;
    };
    let spares = spares(&options);
    let exact = options.has(&["T", "no-target-directory"]);
    for path in &from {
        if to.text == "/dev/null" {
            walk.file(PathOp::Delete { recursive: true }, path);
            continue;
        }
        walk.file(PathOp::Move { to: to.clone() }, path);
        if !spares {
            into(walk, path, &to, exact);
        }
    }
}

fn cp(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(args, &COPY);
    let Some((from, to)) = ends(&options) else {
        return;
    };
    if spares(&options) {
        walk.file(PathOp::Make, &to);
        return;
    }
    let exact = options.has(&["T", "no-target-directory"]);
    let recursive = options.has(&["r", "R", "a", "recursive", "archive"]);
    for path in &from {
        if path.text == "/dev/null" {
            walk.file(PathOp::Empty, &to);
        } else if path.text.ends_with(b"/.") || exact && recursive {
            walk.file(PathOp::Lay { from: path.clone() }, &to);
        } else {
            into(walk, path, &to, exact);
        }
    }
}

fn install(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(args, &COPY);
    if options.has(&["d", "directory"]) {
        for path in &options.operands {
            walk.file(PathOp::Touch, path);
        }
        return;
    }
    let Some((from, to)) = ends(&options) else {
        return;
    };
    if spares(&options) {
        return;
    }
    for path in &from {
        if path.text == "/dev/null" {
            walk.file(PathOp::Empty, &to);
            continue;
        }
        into(walk, path, &to, options.has(&["T", "no-target-directory"]));
    }
}

fn dd(walk: &mut Walk<'_>, args: &[Arg]) {
    let kept = args
        .iter()
        .any(|arg| arg.text.starts_with(b"conv=") && arg.text.contains_str("notrunc"));
    let fresh = args
        .iter()
        .any(|arg| arg.text.starts_with(b"conv=") && arg.text.contains_str("excl"));
    let empties = args.iter().any(|arg| arg.text == "if=/dev/null") && !kept;
    for arg in args {
        if arg.text.starts_with(b"of=") {
            let path = arg.from(3);
            walk.file(
                if fresh {
                    PathOp::Make
                } else if empties {
                    PathOp::Empty
                } else if kept && !path.text.starts_with(b"/dev/") {
                    PathOp::Replace
                } else {
                    PathOp::Replace
                },
                &path,
            );
        }
    }
}

fn rsync(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "efTBM",
            long: &[
                "rsh",
                "filter",
                "exclude",
                "include",
                "exclude-from",
                "include-from",
                "files-from",
                "temp-dir",
                "compare-dest",
                "copy-dest",
                "link-dest",
                "backup-dir",
                "suffix",
                "chmod",
                "chown",
                "timeout",
                "port",
                "bwlimit",
                "log-file",
                "max-delete",
                "max-size",
                "min-size",
                "partial-dir",
                "password-file",
                "rsync-path",
                "info",
                "debug",
                "out-format",
                "block-size",
                "compress-level",
                "skip-compress",
                "iconv",
                "usermap",
                "groupmap",
                "sockopts",
                "address",
                "modify-window",
                "remote-option",
            ],
            ..Spec::default()
        },
    );
    if options.surely(&["n", "dry-run", "list-only"]) {
        return;
    }
    for command in options.values(&["e", "rsh", "rsync-path"]) {
        let text = command.text.clone();
        let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
    }
    let Some((to, from)) = options.operands.split_last() else {
        return;
    };
    let deletes = options.given.iter().any(|given| {
        given.long
            && (given.name == "del" || given.name.starts_with("delete"))
            && given.name != "delete-missing-args-not"
    });
    if options.has(&["remove-source-files", "remove-sent-files"]) {
        for path in from {
            if remote(path) {
                walk.note(DeedKind::System {
                    class: SystemClass::Irreversible,
                    why: "files on another machine are deleted once copied".to_owned(),
                });
            } else if remote(to) {
                walk.mark(Level::Transparent, "files move to another machine");
            } else {
                walk.file(PathOp::Move { to: to.clone() }, path);
            }
        }
    }
    if from.is_empty() {
        return;
    }
    if remote(to) {
        if deletes {
            walk.note(DeedKind::System {
                class: SystemClass::Irreversible,
                why: "files on another machine that are not here are deleted".to_owned(),
            });
        } else {
            walk.mark(Level::Transparent, "files are copied to another machine");
            for path in from {
                walk.file(PathOp::Send, path);
            }
        }
        return;
    }
    if deletes {
        walk.file(PathOp::Mirror, to);
    } else if options.surely(&["ignore-existing", "existing", "b", "backup"]) {
        walk.file(PathOp::Make, to);
    } else {
        for path in from {
            if path.text.ends_with(b"/") && !remote(path) {
                walk.file(PathOp::Lay { from: path.clone() }, to);
            } else if remote(path) && (path.text.ends_with(b"/") || path.glob) {
                walk.file(PathOp::Unpack, to);
            } else {
                into(walk, path, to, false);
            }
        }
    }
}

/// Returns true for `host:path` and `rsync://…`.
pub(super) fn remote(path: &Arg) -> bool {
    if path.text.contains_str("://") {
        return true;
    }
    match path.text.find_byte(b':') {
        Some(at) => !path
            .text
            .get(..at)
            .is_some_and(|host| host.contains(&b'/') || host.is_empty()),
        None => false,
    }
}

fn scp(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "cDFiJloPSXbB",
            ..Spec::default()
        },
    );
    if call.name == "sftp" {
        if let Stream::Text(text) = call.input
            && text
                .lines()
                .any(|line| line.trim_ascii_start().starts_with(b"rm"))
        {
            walk.note(DeedKind::System {
                class: SystemClass::Irreversible,
                why: "files on another machine are deleted".to_owned(),
            });
        }
        return;
    }
    let Some((to, from)) = options.operands.split_last() else {
        return;
    };
    if remote(to) {
        walk.mark(Level::Transparent, "files are copied to another machine");
        for path in from {
            walk.file(PathOp::Send, path);
        }
    } else {
        for path in from {
            let text = path.text.rsplit_str(":").next().unwrap_or_default();
            let path = Arg {
                text: text.into(),
                ..path.clone()
            };
            into(walk, &path, to, false);
        }
    }
}
