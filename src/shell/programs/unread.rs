//! Interpreters of languages that are not read: what their text speaks of decides how it counts.
//!
//! Lisps are read as far as emacs' is, for their calls look alike. Of the
//! others only words are known: a text that deletes, writes or starts nothing
//! by any name passes, any other is opaque.

use crate::judge::Level;
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Interpreters of Lisps, with the options that take program text.
const LISPS: &[(&str, &[&str])] = &[
    ("guile", &["-c"]),
    ("sbcl", &["--eval"]),
    ("clisp", &["-x"]),
    ("ecl", &["--eval", "-eval"]),
    ("ccl", &["--eval", "-e"]),
    ("racket", &["-e", "--eval"]),
    ("csi", &["-e", "-eval"]),
    ("chibi-scheme", &["-e", "-p"]),
    ("gosh", &["-e", "-E"]),
    ("bb", &["-e", "--eval"]),
    ("clojure", &["-e", "-M", "--eval"]),
    ("clj", &["-e", "-M", "--eval"]),
    ("hy", &["-c"]),
    ("fennel", &["-e", "--eval"]),
    ("janet", &["-e"]),
    ("picolisp", &["-e"]),
    ("newlisp", &["-e"]),
];

/// Interpreters of other languages, with the options that take program text.
const OTHERS: &[(&str, &[&str])] = &[
    ("ghc", &["-e"]),
    ("runghc", &["-e"]),
    ("swift", &["-e"]),
    ("ocaml", &["-e"]),
    ("raku", &["-e"]),
    ("perl6", &["-e"]),
    ("erl", &["-eval"]),
    ("gleam", &["-e"]),
    ("octave", &["--eval"]),
    ("octave-cli", &["--eval"]),
    ("matlab", &["-batch", "-r"]),
    ("nim", &["--eval"]),
    ("dotnet-script", &["eval"]),
    ("csharp", &["-e"]),
    ("sage", &["-c"]),
    ("kotlinc", &["-e"]),
    ("gst", &["-e"]),
    ("rakudo", &["-e"]),
    ("io", &["-e"]),
    ("wolframscript", &["-code", "-c"]),
    ("dyalog", &["-e"]),
    ("idris", &["-e"]),
    ("v", &["-e"]),
];

/// Parts of names by which languages delete, replace or start something.
const SPEAKS_OF: &[&str] = &[
    "remove",
    "delete",
    "unlink",
    "erase",
    "rmdir",
    "rm-",
    "rm(",
    "system",
    "exec",
    "spawn",
    "shell",
    "process",
    "popen",
    "truncate",
    "writefile",
    "write_file",
    "file:write",
    "rename",
    "command",
    "callcommand",
    "port_open",
    "os:cmd",
    "qx",
];

/// Notes what the text given to such an interpreter may do.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    let find = |table: &[(&str, &'static [&'static str])]| {
        table
            .iter()
            .find(|(name, _)| *name == call.name)
            .map(|(_, options)| *options)
    };
    if let Some(options) = find(LISPS) {
        for text in texts(call, options) {
            super::scripted::lisp(walk, &text);
        }
    } else if let Some(options) = find(OTHERS) {
        for text in texts(call, options) {
            let lower = text.to_ascii_lowercase();
            if SPEAKS_OF.iter().any(|word| lower.contains_str(word)) {
                walk.opaque(
                    Level::Confirm,
                    format!("{} is given a program that is not read", call.name),
                );
            }
        }
    }
}

/// The program texts among a command's arguments, or its input.
fn texts(call: &Call<'_>, options: &[&str]) -> Vec<BString> {
    let mut found = Vec::new();
    let mut rest = call.args.iter();
    while let Some(arg) = rest.next() {
        let stem = arg.text.split_str("=").next().unwrap_or_default();
        let stem = stem.split_str(":").next().unwrap_or_default();
        if options.iter().any(|option| stem == option.as_bytes()) {
            let value = arg
                .after_equals()
                .or_else(|| rest.next().cloned())
                .map(|value| value.text);
            found.extend(value);
        } else if arg.text.starts_with(b"(") || arg.text.starts_with(b"--eval:") {
            found.push(arg.text.clone());
        }
    }
    if let (true, Stream::Text(text)) = (found.is_empty(), call.input) {
        found.push(text.clone());
    }
    found
}
