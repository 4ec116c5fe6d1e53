//! Programs that put content somewhere: mv, cp, install, dd, rsync, scp, tar, unzip, ….

use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, Members, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::programs::patches::{self, Reading};
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
        "tar" | "gtar" | "bsdtar" => return Some(tar(walk, call.args)),
        "unzip" => unzip(walk, call.args),
        "7z" | "7za" | "7zz" | "unrar" | "rar" => seven_zip(walk, call.args),
        "zip" => zip(walk, call.args),
        "cpio" | "pax" => cpio(walk, call.args),
        "ar" => {
            if call
                .args
                .first()
                .is_some_and(|arg| arg.text.contains(&b'd'))
                && let Some(path) = call.args.get(1)
            {
                walk.file(PathOp::Change, path);
            }
        }
        "patch" | "gpatch" => patch(walk, call),
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
            } else if remote(path) {
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

fn tar(walk: &mut Walk<'_>, args: &[Arg]) -> Stream {
    // The old style: the first word is a cluster without a dash.
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut()
        && first.is_literal()
        && !first.text.starts_with(b"-")
        && first
            .text
            .first()
            .is_some_and(|byte| b"ctxrudA".contains(byte))
        && first.text.iter().all(u8::is_ascii_alphabetic)
    {
        first.text.insert(0, b'-');
    }
    let options = Options::read(
        &args,
        &Spec {
            short: "fCTXbIHVgKNF",
            long: &[
                "file",
                "directory",
                "files-from",
                "exclude",
                "exclude-from",
                "use-compress-program",
                "to-command",
                "transform",
                "strip-components",
                "mode",
                "owner",
                "group",
                "format",
                "checkpoint-action",
                "checkpoint",
                "rsh-command",
                "listed-incremental",
                "one-top-level",
                "info-script",
                "new-volume-script",
                "sort",
                "mtime",
                "suffix",
            ],
            ..Spec::default()
        },
    );
    for command in options.values(&[
        "I",
        "use-compress-program",
        "to-command",
        "F",
        "info-script",
        "new-volume-script",
        "rsh-command",
    ]) {
        let text = command.text.clone();
        let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
    }
    for action in options.values(&["checkpoint-action"]) {
        if let Some(command) = action.text.strip_prefix(b"exec=") {
            let text: BString = command.into();
            let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
        }
    }
    let archive = options.value(&["f", "file"]).cloned();
    if options.has(&["x", "extract", "get"]) {
        if options.surely(&["O", "to-stdout"]) {
            return if matches!(
                archive.as_ref().map(|path| walk.read_path(path)),
                Some(Stream::Remote)
            ) {
                Stream::Remote
            } else {
                Stream::Unknown
            };
        }
        let place = options
            .value(&["C", "directory"])
            .cloned()
            .unwrap_or_else(|| Arg::known("."));
        let spares = options.surely(&[
            "k",
            "keep-old-files",
            "skip-old-files",
            "keep-newer-files",
            "one-top-level",
        ]);
        if !spares {
            let strip = options
                .value(&["strip-components"])
                .map_or(Ok(0), |value| value.word().parse());
            let renames = options.has(&["transform", "xform", "P", "absolute-names"]);
            let members = match (archive, strip) {
                (Some(archive), Ok(strip)) if !renames => Some(Members {
                    archive,
                    strip,
                    flat: false,
                    only: options.operands.clone(),
                }),
                _ => None,
            };
            extract(walk, members, &place);
        }
        if options.has(&["recursive-unlink", "unlink-first", "U"]) {
            walk.file(PathOp::Mirror, &place);
        }
    } else if options.has(&["c", "create"]) {
        if let Some(path) = archive.filter(|path| path.text != "-")
            && !remote(&path)
        {
            walk.file(PathOp::Replace, &path);
        }
        if options.has(&["remove-files"]) {
            for path in &options.operands {
                walk.file(PathOp::Delete { recursive: true }, path);
            }
        }
    } else if options.has(&["r", "u", "A", "append", "update", "delete", "catenate"])
        && let Some(path) = archive
    {
        let op = if options.has(&["delete"]) {
            PathOp::Replace
        } else {
            PathOp::Change
        };
        walk.file(op, &path);
    }
    Stream::Nothing
}

fn unzip(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "dxP",
            ..Spec::default()
        },
    );
    if options.surely(&["l", "t", "p", "v", "z", "Z", "c"]) {
        return;
    }
    let place = options
        .value(&["d"])
        .cloned()
        .unwrap_or_else(|| Arg::known("."));
    if !options.has(&["o"]) {
        walk.file(PathOp::Make, &place);
        return;
    }
    let members = options
        .operands
        .split_first()
        .map(|(archive, only)| Members {
            archive: archive.clone(),
            strip: 0,
            flat: options.has(&["j"]),
            only: only.to_vec(),
        });
    extract(walk, members, &place);
}

/// Notes that an archive's members land below a place.
fn extract(walk: &mut Walk<'_>, members: Option<Members>, place: &Arg) {
    let op = match members {
        // What is downloaded or made by the script itself cannot be looked into yet.
        Some(members)
            if members.archive.is_literal()
                && members.archive.text != "-"
                && !remote(&members.archive)
                && !walk.comes_later(&members.archive) =>
        {
            PathOp::Extract(Box::new(members))
        }
        _ => PathOp::Unpack,
    };
    walk.file(op, place);
}

fn seven_zip(walk: &mut Walk<'_>, args: &[Arg]) {
    let place = args
        .iter()
        .find(|arg| arg.text.starts_with(b"-o") && !arg.text.starts_with(b"-o+"))
        .map_or_else(|| Arg::known("."), |arg| arg.from(2));
    let verb = args.iter().find(|arg| !arg.is_option()).map(Arg::word);
    match verb {
        Some("x" | "e") => {
            let yes = args
                .iter()
                .any(|arg| matches!(arg.word(), "-y" | "-aoa" | "-o+"));
            if yes {
                let mut words = args.iter().filter(|arg| !arg.is_option()).skip(1);
                let members = words.next().map(|archive| Members {
                    archive: archive.clone(),
                    strip: 0,
                    flat: verb == Some("e"),
                    only: words.cloned().collect(),
                });
                extract(walk, members, &place);
            }
        }
        Some("d") => {
            if let Some(path) = args.iter().filter(|arg| !arg.is_option()).nth(1) {
                walk.file(PathOp::Replace, path);
            }
        }
        _ => {}
    }
    if args
        .iter()
        .any(|arg| matches!(arg.word(), "-sdel" | "-df" | "-dr" | "-dw"))
    {
        for path in args.iter().filter(|arg| !arg.is_option()).skip(2) {
            walk.file(PathOp::Delete { recursive: true }, path);
        }
    }
}

fn zip(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "bntxiO",
            ..Spec::default()
        },
    );
    if options.has(&["m", "move"]) {
        for path in options.operands.iter().skip(1) {
            walk.file(PathOp::Delete { recursive: true }, path);
        }
    }
    if let Some(path) = options.operands.first() {
        let op = if options.has(&["d", "delete"]) {
            PathOp::Replace
        } else {
            PathOp::Change
        };
        walk.file(op, path);
    }
    if let Some(command) = options.value(&["TT", "unzip-command"]).cloned() {
        let _ = walk.run_child(command.text.as_slice().into(), &Stream::Unknown);
    }
}

fn cpio(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "CDEFHIMORx",
            ..Spec::default()
        },
    );
    if options.has(&["i", "extract", "r"]) && options.has(&["u", "unconditional"]) {
        let place = options
            .value(&["D", "directory"])
            .cloned()
            .unwrap_or_else(|| Arg::known("."));
        walk.file(PathOp::Unpack, &place);
    }
}

fn patch(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "pdioBDFVYzgr",
            long: &[
                "strip",
                "directory",
                "input",
                "output",
                "prefix",
                "ifdef",
                "fuzz",
                "suffix",
                "reject-file",
            ],
            ..Spec::default()
        },
    );
    if options.surely(&["dry-run", "C", "check"]) {
        return;
    }
    if let Some(path) = options.value(&["o", "output"]).cloned() {
        if path.text != "-" {
            walk.file(PathOp::Replace, &path);
        }
        return;
    }
    if let Some(path) = options.operands.first() {
        walk.file(PathOp::Change, path);
        return;
    }
    let reverse = options.surely(&["R", "reverse"]);
    let text = match options
        .value(&["i", "input"])
        .or_else(|| options.operands.get(1))
        .cloned()
    {
        Some(path) => walk.read_path(&path),
        None => call.input.clone(),
    };
    if text == Stream::Changes && reverse {
        // What the difference says is nowhere else.
        let _ = walk.run_child("git restore :/".into(), &Stream::Nothing);
        return;
    }
    let strip = options
        .value(&["p", "strip"])
        .map(|value| value.word().parse::<usize>());
    let touches = match (&text, strip) {
        (Stream::Text(_), Some(Err(_))) => None,
        (Stream::Text(text), strip) => {
            let strip = strip.and_then(Result::ok);
            patches::touched(text.as_bstr(), Reading { strip, reverse })
        }
        _ => None,
    };
    let base = options
        .value(&["d", "directory"])
        .cloned()
        .unwrap_or_default();
    match touches {
        Some(touches) if base.is_known() => patches::apply(walk, &touches, base.text.as_bstr()),
        _ => walk.mark(
            Level::Transparent,
            "a patch that was not read changes files",
        ),
    }
}
