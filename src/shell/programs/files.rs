//! Programs that make, remove and change files: rm, rmdir, shred, mkdir, touch, truncate, chmod, ….

use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "rm" | "grm" => rm(walk, call.args),
        "rimraf" | "del-cli" | "trash-cli" => {
            for path in plain(call.args) {
                walk.file(PathOp::Delete { recursive: true }, &path);
            }
        }
        "unlink" => deletes(walk, call.args),
        "srm" | "wipe" | "sfill" => {
            for path in plain(call.args) {
                walk.file(PathOp::Delete { recursive: true }, &path);
            }
        }
        "shred" => shred(walk, call.args),
        "rmdir" => {
            let options = Options::read(call.args, &Spec::default());
            if options
                .operands
                .iter()
                .any(|arg| arg.text == "/s" || arg.text == "/S")
            {
                windows_delete(walk, call.args);
            } else {
                for path in &options.operands {
                    walk.file(PathOp::RemoveEmpty, path);
                }
            }
        }
        "trash" | "trash-put" | "gio" | "kioclient" | "rmtrash" => trash(walk, call),
        "trash-empty" | "trash-rm" => {
            walk.mark(Level::MustAsk, "what lies in the trash is deleted for good");
        }
        "mkdir" | "md" => makes(walk, call.args, "mZ", &["mode", "context"]),
        "touch" => makes(walk, call.args, "dtr", &["date", "reference", "time"]),
        "mkfifo" => makes(walk, call.args, "mZ", &["mode", "context"]),
        "truncate" => truncate(walk, call.args),
        "fallocate" => fallocate(walk, call.args),
        "tee" => {
            tee(walk, call);
            return Some(call.input.clone());
        }
        "sponge" => {
            for path in plain(call.args) {
                walk.file(PathOp::Replace, &path);
            }
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "chflags" | "xattr" | "chcon"
        | "restorecon" => permissions(walk, call),
        "ln" | "gln" => link(walk, call.args),
        "split" | "csplit" => split(walk, call),
        "gzip" | "bzip2" | "xz" | "zstd" | "lz4" | "gunzip" | "bunzip2" | "unxz" | "unzstd"
        | "compress" | "uncompress" | "lzma" | "pigz" | "pbzip2" | "pixz" | "brotli" => {
            compress(walk, call);
            return Some(if matches!(call.input, Stream::Remote) {
                Stream::Remote
            } else {
                Stream::Unknown
            });
        }
        "rename" | "prename" | "mmv" | "vidir" | "detox" | "perl-rename" | "zmv" => {
            let options = Options::read(call.args, &Spec::default());
            if options.surely(&["n", "dry-run", "no-act", "nono"]) {
                return Some(Stream::Unknown);
            }
            walk.mark(Level::Confirm, "files are renamed by a pattern");
        }
        "mktemp" | "gmktemp" => {
            let stream = mktemp(call.args);
            if let Stream::Text(path) = &stream {
                walk.file(PathOp::Touch, &Arg::known(path.clone()));
            }
            return Some(stream);
        }
        "fdupes" | "jdupes" | "rdfind" => {
            if call.args.iter().any(|arg| {
                arg.text.starts_with(b"--delete")
                    || arg.text == "-d"
                    || arg.text == "-dN"
                    || arg.text == "-deleteduplicates"
            }) {
                walk.mark(Level::MustAsk, "files with the same content are deleted");
            }
        }
        "del" | "erase" | "rd" | "deltree" => windows_delete(walk, call.args),
        "remove-item" | "ri" => powershell_delete(walk, call.args),
        "clear-content" | "clc" | "set-content" | "out-file" => {
            for path in powershell_paths(call.args) {
                walk.file(
                    if call.name.starts_with("cl") {
                        PathOp::Empty
                    } else {
                        PathOp::Replace
                    },
                    &path,
                );
            }
        }
        _ => return None,
    }
    Some(Stream::Nothing)
}

/// The operands of a program whose options take no value.
fn plain(args: &[Arg]) -> Vec<Arg> {
    Options::read(args, &Spec::default()).operands
}

fn rm(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(args, &Spec::default());
    let recursive = options.has(&["r", "R", "recursive"]);
    if options.surely(&["no-preserve-root"]) && recursive {
        walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: "rm may remove the root directory".to_owned(),
        });
    }
    let empty_only = options.surely(&["d", "dir"]) && !recursive;
    for path in &options.operands {
        if empty_only && path.text.ends_with(b"/") {
            walk.file(PathOp::RemoveEmpty, path);
        } else {
            walk.file(PathOp::Delete { recursive }, path);
        }
    }
}

fn deletes(walk: &mut Walk<'_>, args: &[Arg]) {
    for path in plain(args) {
        walk.file(PathOp::Delete { recursive: false }, &path);
    }
}

fn shred(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "ns",
            long: &["iterations", "size", "random-source", "remove"],
            ..Spec::default()
        },
    );
    for path in &options.operands {
        walk.file(PathOp::Delete { recursive: false }, path);
    }
}

/// Trash can be emptied but also restored: a person is told.
fn trash(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words: Vec<&str> = call.args.iter().map(Arg::word).collect();
    let acts = match call.name {
        "gio" => matches!(words.first(), Some(&("trash" | "remove"))),
        "kioclient" => matches!(words.first(), Some(&("remove" | "move"))),
        _ => true,
    };
    if words.first() == Some(&"remove") {
        for path in plain(call.args.get(1..).unwrap_or_default()) {
            walk.file(PathOp::Delete { recursive: true }, &path);
        }
    } else if words.contains(&"--empty") {
        walk.mark(Level::MustAsk, "what lies in the trash is deleted for good");
    } else if acts {
        walk.mark(
            Level::Transparent,
            "files go to the trash, from which they can be had back",
        );
    }
}

fn makes(walk: &mut Walk<'_>, args: &[Arg], short: &'static str, long: &'static [&'static str]) {
    let options = Options::read(
        args,
        &Spec {
            short,
            long,
            ..Spec::default()
        },
    );
    for path in &options.operands {
        walk.file(PathOp::Touch, path);
    }
}

fn truncate(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "rs",
            long: &["reference", "size"],
            ..Spec::default()
        },
    );
    let size = options.value(&["s", "size"]);
    let grows = size.is_some_and(|size| matches!(size.text.first(), Some(b'+' | b'>' | b'%')));
    let empties = size.is_none_or(|size| {
        size.has_unknown() || matches!(size.text.as_slice(), b"0" | b"<0" | b"/0")
    });
    for path in &options.operands {
        let op = if grows {
            PathOp::Change
        } else if empties {
            PathOp::Empty
        } else {
            PathOp::Replace
        };
        walk.file(op, path);
    }
}

fn fallocate(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "ol",
            long: &["offset", "length"],
            ..Spec::default()
        },
    );
    let cuts = options.has(&["p", "punch-hole", "z", "zero-range", "c", "collapse-range"]);
    for path in &options.operands {
        walk.file(
            if cuts {
                PathOp::Replace
            } else {
                PathOp::Change
            },
            path,
        );
    }
}

fn tee(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            long: &["output-error"],
            ..Spec::default()
        },
    );
    let op = if options.surely(&["a", "append"]) {
        PathOp::Change
    } else if matches!(call.input, Stream::Nothing) {
        PathOp::Empty
    } else {
        PathOp::Replace
    };
    for path in &options.operands {
        match call.input {
            Stream::Remote => walk.download_to(path),
            Stream::Text(text) => walk.write_to(path, text, op == PathOp::Change),
            _ => {}
        }
        walk.file(op.clone(), path);
    }
}

fn permissions(walk: &mut Walk<'_>, call: &Call<'_>) {
    let spec = Spec {
        short: match call.name {
            "setfacl" => "mxMX",
            "chattr" => "v",
            _ => "",
        },
        long: &["reference", "from", "set", "modify", "remove"],
        ..Spec::default()
    };
    // `chmod -x f`, `chattr -i f`: a mode that looks like an option.
    let (modes, rest): (Vec<&Arg>, Vec<&Arg>) = call.args.iter().partition(|arg| {
        arg.is_option()
            && matches!(call.name, "chmod" | "chattr")
            && !matches!(
                arg.word(),
                "-R" | "-v" | "-f" | "-c" | "-V" | "-Rv" | "-vR" | "-Rf" | "-fR"
            )
            && !arg.text.starts_with(b"--")
    });
    let rest: Vec<Arg> = rest.into_iter().cloned().collect();
    let options = Options::read(&rest, &spec);
    let recursive =
        options.has(&["R", "recursive", "r"]) || modes.iter().any(|m| m.text.contains(&b'R'));
    let mut operands = options.operands.as_slice();
    let takes_mode = modes.is_empty()
        && !options
            .given
            .iter()
            .any(|given| given.long && given.name.starts_with("ref"))
        && !matches!(call.name, "setfacl" | "xattr" | "restorecon");
    let mode = if takes_mode {
        let mode = operands.first().cloned();
        operands = operands.get(1..).unwrap_or_default();
        mode
    } else {
        modes.first().map(|mode| (*mode).clone())
    };
    let locks = mode
        .as_ref()
        .is_some_and(|mode| locks(call.name, mode.word()));
    for path in operands {
        walk.file(PathOp::Permissions { recursive, locks }, path);
    }
}

/// Returns true for a mode that takes access away, or gives it to everybody.
fn locks(program: &str, mode: &str) -> bool {
    match program {
        "chmod" => {
            let digits = mode.trim_start_matches('0');
            mode.contains("-x")
                || mode.contains("-r")
                || mode.contains("-w")
                || (mode.starts_with('0') && digits.is_empty())
                || digits == "777"
                || digits == "666"
                || (mode.contains('w')
                    && (mode.starts_with("a+") || mode.starts_with("o+") || mode.starts_with('+')))
        }
        "chattr" => mode.contains('+') && mode.contains('i'),
        _ => false,
    }
}

fn link(walk: &mut Walk<'_>, args: &[Arg]) {
    let options = Options::read(
        args,
        &Spec {
            short: "tS",
            long: &["target-directory", "suffix"],
            ..Spec::default()
        },
    );
    let forced = options.has(&["f", "force"]);
    let kept = options.surely(&["b", "backup"]);
    let place = options.value(&["t", "target-directory"]).cloned();
    let (from, to) = match (&place, options.operands.split_last()) {
        (Some(to), _) => (options.operands.as_slice(), to.clone()),
        (None, Some((to, from))) if !from.is_empty() => (from, to.clone()),
        _ => return,
    };
    if forced && !kept {
        for path in from {
            super::copying::into(
                walk,
                path,
                &to,
                options.has(&["T", "no-target-directory", "n"]),
            );
        }
    } else {
        walk.file(PathOp::Make, &to);
    }
}

fn split(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "abClnftd",
            long: &[
                "suffix-length",
                "bytes",
                "lines",
                "number",
                "filter",
                "prefix",
                "digits",
            ],
            ..Spec::default()
        },
    );
    if let Some(command) = options.value(&["filter"]).cloned() {
        let _ = walk.run_child(command.text.as_slice().into(), &Stream::Unknown);
    }
    let prefix = if call.name == "csplit" {
        options.value(&["f", "prefix"]).cloned()
    } else {
        options.operands.get(1).cloned()
    };
    let mut path =
        prefix.unwrap_or_else(|| Arg::known(if call.name == "csplit" { "xx" } else { "x" }));
    path.text.extend_from_slice(b"[a-z0-9][a-z0-9]");
    path.glob = true;
    walk.file(PathOp::Unpack, &path);
}

/// The original goes once the other form is written, so no content is lost.
fn compress(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "STo",
            long: &["suffix", "threads", "output-dir-flat"],
            ..Spec::default()
        },
    );
    if options.surely(&["c", "stdout", "to-stdout", "t", "test", "l", "list"]) {
        return;
    }
    if let Some(path) = options.value(&["o"]).cloned() {
        walk.file(PathOp::Replace, &path);
        return;
    }
    for path in &options.operands {
        walk.file(PathOp::Change, path);
    }
}

fn mktemp(args: &[Arg]) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "p",
            long: &["suffix", "tmpdir"],
            ..Spec::default()
        },
    );
    match (options.operands.first(), options.value(&["p"])) {
        (Some(template), None) if template.text.starts_with(b"/") => {
            Stream::Text(template.text.clone())
        }
        (_, Some(dir)) => {
            let mut path = dir.text.clone();
            path.extend_from_slice(b"/tmp.made");
            Stream::Text(path)
        }
        (Some(template), _) if !options.surely(&["t", "tmpdir"]) => {
            let mut path = template.text.clone();
            path.push(crate::shell::arg::TOKEN);
            Stream::Text(path)
        }
        _ => Stream::Text("/tmp/tmp.made".into()),
    }
}

/// `del /s /q x`, `rd /s x`.
fn windows_delete(walk: &mut Walk<'_>, args: &[Arg]) {
    let recursive = args.iter().any(|arg| arg.text.eq_ignore_ascii_case(b"/s"));
    for path in args {
        let switch = path.text.starts_with(b"/") && path.text.len() == 2;
        if !switch && !path.is_option() {
            walk.file(PathOp::Delete { recursive }, path);
        }
    }
}

fn powershell_delete(walk: &mut Walk<'_>, args: &[Arg]) {
    if args
        .iter()
        .any(|arg| arg.text.eq_ignore_ascii_case(b"-whatif"))
    {
        return;
    }
    let paths = powershell_paths(args);
    if paths.is_empty() && walk.piped() {
        walk.file(PathOp::Delete { recursive: true }, &Arg::unknown());
    }
    for path in paths {
        walk.file(PathOp::Delete { recursive: true }, &path);
    }
}

fn powershell_paths(args: &[Arg]) -> Vec<Arg> {
    let mut paths = Vec::new();
    let mut value_of = None;
    for arg in args {
        if arg.is_option() {
            value_of = Some(arg.text.to_ascii_lowercase());
        } else {
            let is_path = match value_of.as_deref() {
                None => true,
                Some(b"-path" | b"-literalpath" | b"-recurse" | b"-force" | b"-filepath") => true,
                Some(
                    b"-value" | b"-encoding" | b"-erroraction" | b"-filter" | b"-include"
                    | b"-exclude",
                ) => false,
                Some(_) => true,
            };
            if is_path {
                paths.push(arg.clone());
            }
            value_of = None;
        }
    }
    paths
}
