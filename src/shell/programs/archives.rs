//! Archives: tar, zip and their like, and where their members land.

use super::copying::remote;
use crate::shell::arg::Arg;
use crate::shell::deed::{Members, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::scope::Dir;
use crate::shell::walk::{Call, Stream, Walk, quote};
use bstr::{BString, ByteSlice as _};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "tar" | "gtar" | "bsdtar" => return Some(tar(walk, call.args, call.input)),
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
        _ => return None,
    }
    Some(Stream::Nothing)
}

fn tar(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
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
        let piped = archive.as_ref().is_none_or(|path| path.text == "-");
        if let (true, Stream::Tree(tree)) = (piped && !spares, input) {
            checked_out(walk, tree, &place);
        }
        if !spares {
            let strip = options
                .value(&["strip-components"])
                .map_or(Ok(0), |value| value.word().parse());
            let renames = options.has(&[
                "transform",
                "xform",
                "P",
                "absolute-names",
                // Members behind an archive's end are taken out too.
                "i",
                "ignore-zeros",
            ]);
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

/// The tree of an archive of git's lands on the worktree that it came from: that is a checkout.
fn checked_out(walk: &mut Walk<'_>, tree: &BString, place: &Arg) {
    let dir = walk.scope.dir.join(place);
    let top = walk.lookup.toplevel(&dir).map(Dir::Known);
    if top.as_ref() == Some(&dir) {
        let mut command = BString::from("git restore --source=");
        command.extend_from_slice(&quote(tree, false));
        command.extend_from_slice(b" -- :/");
        let _ = walk.run_child(command.as_bstr(), &Stream::Nothing);
    }
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
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let command = match arg.text.as_slice() {
            b"-TT" | b"--unzip-command" => rest.next().cloned(),
            text if text.starts_with(b"--unzip-command=") => arg.after_equals(),
            _ => None,
        };
        if let Some(command) = command {
            let _ = walk.run_child(command.text.as_slice().into(), &Stream::Unknown);
        }
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
