//! Programs that write what they make to a file named on their command line.
//!
//! Whatever else such a program does, the file that it names is replaced: a
//! converter, a dumper, a compiler told to write over a source file.

use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// How a program is told where to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// By an option.
    Option,
    /// By its last operand, where there are at least two.
    Last,
    /// By its last operand, if it is told to overwrite.
    LastIfForced,
    /// By every operand: the files are changed in place.
    InPlace,
}

/// A program that writes to a file.
struct Writer {
    /// Names, parted by `|`.
    names: &'static str,
    /// Short options that name the file.
    short: &'static str,
    /// Long options that name the file.
    long: &'static [&'static str],
    /// Other short options with a value.
    values: &'static str,
    /// How it is told.
    told: Told,
}

const fn by(
    names: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    values: &'static str,
) -> Writer {
    Writer {
        names,
        short,
        long,
        values,
        told: Told::Option,
    }
}

const fn at(names: &'static str, told: Told, values: &'static str) -> Writer {
    Writer {
        names,
        short: "",
        long: &[],
        values,
        told,
    }
}

const WRITERS: &[Writer] = &[
    by("iconv", "o", &["output"], "ft"),
    by("openssl", "", &["out", "keyout", "writerand"], ""),
    by(
        "pandoc|asciidoctor|rst2html",
        "o",
        &["output", "out-file"],
        "fta",
    ),
    by("xsltproc|xmllint|tidy|xmlstarlet", "o", &["output"], ""),
    by("age|rage|sops|minisign|signify", "o", &["output"], "rRip"),
    by("pg_dump|pg_dumpall", "f", &["file"], "hpUdntNTjFEZ"),
    by("mysqldump|mariadb-dump", "r", &["result-file"], "uhPS"),
    by("litestream", "o", &["o"], ""),
    by("psql|usql", "o", &["output", "out"], "cfhpUdvLFRPT"),
    by("sqlcmd|osql|isql|tsql", "o", &[], "SUPdhtqQi"),
    by("mysql|mariadb", "", &["tee"], "hPuDSe"),
    by(
        "genisoimage|mkisofs|xorriso|xorrisofs",
        "o",
        &["output"],
        "V",
    ),
    by(
        "dot|neato|fdp|circo|twopi|plantuml|mmdc",
        "o",
        &["output"],
        "TGNEi",
    ),
    by(
        "shuf|yq|csvcut|csvgrep|jsonnet|cue|dhall",
        "o",
        &["output", "output-file"],
        "nJm",
    ),
    by("tcpdump|tshark|dumpcap", "w", &[], "icCGWrsfY"),
    by(
        "flex|bison|yacc|lex|ragel|re2c",
        "o",
        &["output", "outfile"],
        "bp",
    ),
    by("ctags|etags|cscope|gtags", "fo", &[], "L"),
    by(
        "terser|uglifyjs|esbuild|babel|swc|svgo|postcss|cleancss|lessc",
        "o",
        &["output", "out-file", "outfile"],
        "",
    ),
    by("tsc", "", &["outFile"], "pt"),
    by(
        "gcc|g++|cc|c++|clang|clang++|gfortran|rustc|ld|go|ghc|ocamlc|ocamlopt|dmd|ldc2|fpc|nasm|yasm|as|zig|swiftc|nim|kotlinc",
        "o",
        &[],
        "IlLDUxWfmO",
    ),
    by("yt-dlp|youtube-dl|aria2c", "o", &[], ""),
    at("ffmpeg", Told::LastIfForced, "ifcbrstvafm"),
    at(
        "convert|magick|composite|montage|sox|wkhtmltopdf|wkhtmltoimage|qpdf|pdftotext|ps2pdf|rsvg-convert|inkscape|cwebp|ddrescue|dd_rescue|mksquashfs|objcopy|sass|bsdiff|bspatch|xdelta3|jpegtran",
        Told::Last,
        "",
    ),
    at(
        "mogrify|dos2unix|unix2dos|mac2unix|recode|strip|optipng|jpegoptim|nbstripout|exiftool|chrpath|patchelf|install_name_tool",
        Told::InPlace,
        "",
    ),
];

/// Endings of what a compiler makes: it may make that again.
const MADE: &[&str] = &[
    "o", "obj", "so", "a", "lib", "dll", "dylib", "exe", "out", "bin", "elf", "wasm", "class",
    "jar", "rlib", "pdb", "dwo", "d", "hi", "cmi", "cmo", "cmx", "beam", "pyc",
];

/// Notes the files that a command writes to, if its program is one of these.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    let Some(writer) = WRITERS
        .iter()
        .find(|writer| writer.names.split('|').any(|name| name == call.name))
    else {
        return;
    };
    if writer.told == Told::Option {
        for path in named(writer, call.args) {
            replaced(walk, &path);
        }
        return;
    }
    let options = Options::read(
        call.args,
        &Spec {
            short: writer.values,
            single_dash: true,
            ..Spec::default()
        },
    );
    let operands: Vec<&Arg> = options
        .operands
        .iter()
        .filter(|path| !path.text.starts_with(b"+") && !path.text.starts_with(b"-"))
        .collect();
    match writer.told {
        Told::InPlace => {
            for path in operands {
                walk.file(PathOp::Change, path);
            }
        }
        Told::LastIfForced if !call.args.iter().any(|arg| arg.text == "-y") => {}
        _ => {
            if let (Some(path), true) = (
                call.args.last(),
                operands.len() > 1 || writer.told == Told::LastIfForced,
            ) && !path.is_option()
            {
                replaced(walk, path);
            }
        }
    }
}

/// The files that options name: `-o x`, `-ox`, `--output x`, `--output=x`, `-out x`.
fn named(writer: &Writer, args: &[Arg]) -> Vec<Arg> {
    let mut paths = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.text.as_slice();
        if !arg.is_option() {
            continue;
        }
        let bare = text.trim_start_with(|c| c == '-');
        let stem = bare.split_str("=").next().unwrap_or_default();
        let long = writer.long.iter().any(|name| stem == name.as_bytes());
        let short = match bare.first() {
            Some(letter) if !text.starts_with(b"--") => writer.short.as_bytes().contains(letter),
            _ => false,
        };
        if long {
            paths.extend(arg.after_equals().or_else(|| rest.next().cloned()));
        } else if short && bare.len() == 1 {
            paths.extend(rest.next().cloned());
        } else if short && !bare.iter().skip(1).all(u8::is_ascii_alphabetic) {
            // `-onotes.txt`; letters alone may as well be a cluster or a long name after one dash.
            paths.push(arg.from(2));
        }
    }
    paths
}

fn replaced(walk: &mut Walk<'_>, path: &Arg) {
    if let Some(command) = path.text.strip_prefix(b"|") {
        // psql's `-o '|command'`.
        let command = BString::from(command);
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        return;
    }
    let name = path.text.rsplit_str("/").next().unwrap_or_default();
    let ending = name.rsplit_once_str(".").map(|(_, ending)| ending);
    let made = ending.is_none_or(|ending| {
        MADE.iter()
            .any(|made| ending.eq_ignore_ascii_case(made.as_bytes()))
    });
    let stream = matches!(path.text.as_slice(), b"-" | b"/dev/stdout" | b"/dev/null");
    let device = path.text.starts_with(b"/dev/") && !stream;
    let elsewhere = path.text.contains_str("://") || path.text.contains(&b'%');
    if !stream && !elsewhere && (device || !made) {
        walk.file(PathOp::Replace, path);
    }
}
