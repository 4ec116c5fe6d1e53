//! Programs that change files in place: sed, awk, ed, vi, formatters.

use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    Some(match call.name {
        "sed" | "gsed" => sed(walk, call),
        "awk" | "gawk" | "mawk" | "nawk" => awk(walk, call),
        "ed" | "ex" | "vi" | "vim" | "nvim" | "view" | "gvim" => {
            super::scripted::editor(walk, call)
        }
        "emacs" | "emacsclient" => super::scripted::emacs(walk, call),
        "tclsh" | "wish" | "expect5" => super::scripted::tcl(walk, call),
        "sd" => {
            for path in Options::read(
                call.args,
                &Spec {
                    short: "nf",
                    ..Spec::default()
                },
            )
            .operands
            .get(2..)
            .unwrap_or_default()
            {
                walk.file(PathOp::Change, path);
            }
            Stream::Nothing
        }
        _ => return None,
    })
}

fn sed(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "efl",
            stuck: "i",
            long: &["expression", "file", "line-length"],
            ..Spec::default()
        },
    );
    let scripts = options.values(&["e", "expression"]);
    let mut operands = options.operands.as_slice();
    let mut texts: Vec<BString> = scripts.into_iter().map(|arg| arg.text.clone()).collect();
    if texts.is_empty()
        && options.value(&["f", "file"]).is_none()
        && let Some((script, rest)) = operands.split_first()
    {
        texts.push(script.text.clone());
        operands = rest;
    }
    for path in options.values(&["f", "file"]) {
        if let Stream::Text(text) = walk.read_path(path) {
            texts.push(text);
        }
    }
    if !options.surely(&["sandbox"]) {
        for text in &texts {
            commands_of(walk, text);
        }
    }
    let in_place = options.given.iter().any(|given| {
        given.name == "i" && !given.long || given.long && given.name.starts_with("in-p")
    });
    if !in_place {
        return match call.input {
            Stream::Remote => Stream::Remote,
            Stream::Paths(paths) => Stream::Paths(paths.clone()),
            _ => Stream::Unknown,
        };
    }
    let quiet = options.has(&["n", "quiet", "silent"]);
    let prints = texts.iter().any(|text| sed_prints(text));
    let empties = texts.iter().any(|text| sed_empties(text))
        || quiet && !prints && !texts.is_empty() && operands_known(&texts);
    let op = if empties {
        PathOp::Empty
    } else {
        PathOp::Change
    };
    // BSD's `-i ''` leaves an empty operand.
    for path in operands.iter().filter(|path| !path.text.is_empty()) {
        if let Some(copy) = backup(&options, path) {
            walk.file(PathOp::Replace, &copy);
        }
        walk.file(op.clone(), path);
    }
    Stream::Nothing
}

/// The copy that `-i.bak` leaves of a file.
fn backup(options: &Options, path: &Arg) -> Option<Arg> {
    let suffix = options.value(&["i", "in-place"])?;
    if suffix.text.is_empty() || suffix.text.iter().any(|byte| b"*/'\"".contains(byte)) {
        return None;
    }
    let mut copy = path.clone();
    copy.text.extend_from_slice(&suffix.text);
    Some(copy)
}

fn operands_known(texts: &[BString]) -> bool {
    texts
        .iter()
        .all(|text| !text.contains(&crate::shell::arg::UNKNOWN))
}

/// Returns true for a sed script that leaves nothing of any line.
fn sed_empties(text: &[u8]) -> bool {
    let flat: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace() && !b"{};".contains(byte))
        .collect();
    matches!(
        flat.as_slice(),
        b"d" | b"1,$d"
            | b"0~1d"
            | b"1~1d"
            | b"Q"
            | b"1Q"
            | b"D"
            | b"$!Nd"
            | b"s/.*//"
            | b"s/.*//g"
            | b"s/^.*$//"
            | b"s/^.*$//g"
            | b"s/^.*//"
            | b"s/.*$//"
            | b"s/.//g"
            | b"/.*/d"
            | b"/./d"
            | b"/^/d"
            | b"/$/d"
            | b"//d"
            | b"z"
    ) || matches!(
        flat.as_slice(),
        [b's', mark, b'.', b'*', second, third] if mark == second && second == third
    )
}

/// Whether a sed script prints lines of its own accord.
fn sed_prints(text: &[u8]) -> bool {
    // Letters of patterns and of what replaces them are no commands.
    let mut rest = text;
    let mut commands = Vec::new();
    while let Some(byte) = rest.first() {
        let after = rest.get(1..).unwrap_or_default();
        match byte {
            b'/' => rest = past(after, b'/'),
            b's' | b'y' if after.first().is_some_and(u8::is_ascii_punctuation) => {
                let mark = after.first().copied().unwrap_or(b'/');
                rest = past(past(after.get(1..).unwrap_or_default(), mark), mark);
            }
            byte => {
                commands.push(*byte);
                rest = after;
            }
        }
    }
    commands.iter().any(|byte| b"piacrRPe=l".contains(byte))
}

/// What follows the next mark that is not escaped.
fn past(text: &[u8], mark: u8) -> &[u8] {
    let mut escaped = false;
    let at = text.iter().position(|byte| {
        let ends = *byte == mark && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    at.and_then(|at| text.get(at + 1..)).unwrap_or_default()
}

/// sed's `w FILE`, `s///w FILE`, `e COMMAND` and `s///e`.
fn commands_of(walk: &mut Walk<'_>, text: &[u8]) {
    for line in text.split(|byte| matches!(byte, b'\n' | b';')) {
        let line = line.trim_ascii();
        let command =
            line.trim_start_with(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!'));
        if let Some(path) = command.strip_prefix(b"w ") {
            walk.file(PathOp::Replace, &Arg::known(path.trim_ascii()));
        } else if let Some(shell) = command.strip_prefix(b"e ") {
            let shell: BString = shell.into();
            let _ = walk.run_child(shell.as_bstr(), &Stream::Unknown);
        } else if command.first() == Some(&b's') && command.len() > 3 {
            let mark = command.get(1).copied().unwrap_or(b'/');
            if mark.is_ascii_alphanumeric() || mark == b' ' {
                continue;
            }
            let flags = command
                .rsplit(|byte| *byte == mark)
                .next()
                .unwrap_or_default();
            let replacement = command
                .rsplit(|byte| *byte == mark)
                .nth(1)
                .unwrap_or_default();
            if let Some(at) = flags.find(b"w ") {
                let path = flags.get(at + 2..).unwrap_or_default();
                walk.file(PathOp::Replace, &Arg::known(path.trim_ascii()));
            } else if flags.contains(&b'e') && flags.len() <= 4 {
                let shell = with_matches(replacement);
                let _ = walk.run_child(shell.as_bstr(), &Stream::Unknown);
            }
        }
    }
}

/// What replaces a match, with what was matched unknown.
fn with_matches(replacement: &[u8]) -> BString {
    let mut text = BString::default();
    let mut bytes = replacement.iter().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'&' => text.push(crate::shell::arg::UNKNOWN),
            b'\\' => match bytes.next() {
                Some(next) if next.is_ascii_digit() => text.push(crate::shell::arg::UNKNOWN),
                Some(next) => text.push(*next),
                None => {}
            },
            byte => text.push(*byte),
        }
    }
    text
}

fn awk(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "fFviel",
            long: &[
                "file",
                "field-separator",
                "assign",
                "include",
                "source",
                "load",
            ],
            ..Spec::default()
        },
    );
    let in_place = options
        .values(&["i", "include"])
        .iter()
        .any(|value| value.text.starts_with(b"inplace"));
    let mut operands = options.operands.as_slice();
    let mut program: Option<BString> = options.value(&["e", "source"]).map(|arg| arg.text.clone());
    if program.is_none()
        && options.value(&["f", "file"]).is_none()
        && let Some((first, rest)) = operands.split_first()
    {
        program = Some(first.text.clone());
        operands = rest;
    }
    let silent = program.as_ref().is_some_and(|program| !awk_prints(program));
    if let Some(program) = program {
        awk_program(walk, &program);
    }
    if in_place {
        let op = if silent {
            PathOp::Empty
        } else {
            PathOp::Change
        };
        for path in operands {
            walk.file(op.clone(), path);
        }
    }
    match call.input {
        Stream::Paths(_) => Stream::Paths(vec![Arg::unknown()]),
        Stream::Remote => Stream::Remote,
        _ => Stream::Unknown,
    }
}

/// Whether an awk program prints anything: a `print`, or a pattern without an action.
fn awk_prints(program: &[u8]) -> bool {
    if program.contains_str("print") || program.contains_str("@include") {
        return true;
    }
    let mut open = 0_u32;
    let mut pattern = Vec::new();
    let mut patterns = Vec::new();
    for byte in program {
        match byte {
            b'{' => {
                open += 1;
                pattern.clear();
            }
            b'}' => open = open.saturating_sub(1),
            b';' | b'\n' if open == 0 => patterns.push(std::mem::take(&mut pattern)),
            byte if open == 0 => pattern.push(*byte),
            _ => {}
        }
    }
    patterns.push(pattern);
    patterns
        .iter()
        .map(|pattern| pattern.trim_ascii())
        .any(|pattern| {
            !matches!(
                pattern,
                b"" | b"0" | b"\"\"" | b"!1" | b"1==0" | b"END" | b"BEGIN"
            )
        })
}

/// awk's `system("…")`, `print | "…"` and `print > "…"`.
fn awk_program(walk: &mut Walk<'_>, program: &[u8]) {
    let mut rest = program;
    while let Some(at) = rest.find("system(") {
        rest = rest.get(at + 7..).unwrap_or_default();
        let text = rest.trim_ascii_start();
        match string(text) {
            Some((text, whole)) => {
                let mut text = text;
                if !whole {
                    text.push(crate::shell::arg::UNKNOWN);
                }
                let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
            None => walk.opaque(Level::MustAsk, "awk runs commands that it makes up"),
        }
    }
    read_from(walk, program);
    let mut said: Option<Stream> = None;
    let mut rest = program;
    while let Some(at) = rest.find_byteset(b"|>") {
        let mark = rest.get(at).copied();
        rest = rest.get(at + 1..).unwrap_or_default();
        let after = rest.trim_start_with(|c| c == '>' || c == ' ' || c == '&');
        let Some((text, _)) = string(after) else {
            continue;
        };
        let printed = program
            .get(..program.len() - rest.len())
            .unwrap_or_default()
            .contains_str("print");
        if mark == Some(b'|') {
            let before = program
                .get(..program.len() - rest.len() - 1)
                .unwrap_or_default();
            if runs_input(&text) && prints_more(before) {
                walk.opaque(Level::Confirm, "a shell runs what awk makes of its input");
                continue;
            }
            let said = said.get_or_insert_with(|| printed_before(program));
            let _ = walk.run_child(text.as_bstr(), said);
        } else if printed && !text.is_empty() {
            let op = if rest.first() == Some(&b'>') {
                PathOp::Change
            } else {
                PathOp::Replace
            };
            // `$3 > "x"` compares; a file name follows a print.
            let before = program
                .get(..program.len() - rest.len() - 1)
                .unwrap_or_default();
            let statement = before
                .rsplit(|byte| b"{};\n".contains(byte))
                .next()
                .unwrap_or_default();
            if statement.trim_ascii_start().starts_with(b"print") {
                walk.file(op, &Arg::known(text));
            }
        }
    }
}

/// Whether a command runs what it reads.
fn runs_input(command: &BString) -> bool {
    let word = command.fields().next().unwrap_or_default();
    let name = word.rsplit_str("/").next().unwrap_or_default();
    name.to_str()
        .is_ok_and(|name| super::shells::knows(name) || super::scripts::knows(name))
}

/// Whether the `print` before a bar says more than literals.
fn prints_more(before: &[u8]) -> bool {
    let statement = before
        .rsplit(|byte| b"{};\n".contains(byte))
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let told = statement
        .strip_prefix(b"printf")
        .or_else(|| statement.strip_prefix(b"print"));
    let Some(mut told) = told else { return false };
    if told.trim_ascii().is_empty() {
        return true;
    }
    while let Some(at) = told.find_byte(b'"') {
        if told
            .iter()
            .take(at)
            .any(|byte| byte.is_ascii_alphanumeric() || *byte == b'$')
        {
            return true;
        }
        let Some((literal, _)) = string(told.get(at..).unwrap_or_default()) else {
            return true;
        };
        told = told.get(at + literal.len() + 2..).unwrap_or_default();
    }
    told.iter()
        .any(|byte| byte.is_ascii_alphanumeric() || *byte == b'$')
}

/// awk's `"command" | getline`.
fn read_from(walk: &mut Walk<'_>, program: &[u8]) {
    let mut rest = program;
    while let Some(at) = rest.find_byte(b'"') {
        let Some((literal, _)) = string(rest.get(at..).unwrap_or_default()) else {
            break;
        };
        rest = rest.get(at + literal.len() + 2..).unwrap_or_default();
        let after = rest
            .trim_ascii_start()
            .strip_prefix(b"|")
            .unwrap_or_default();
        if after
            .trim_start_with(|c| c == '&' || c == ' ')
            .starts_with(b"getline")
        {
            let _ = walk.run_child(literal.as_bstr(), &Stream::Unknown);
        }
    }
}

/// The literals of a program, as what it may print.
fn printed_before(program: &[u8]) -> Stream {
    let mut text = BString::default();
    let mut rest = program;
    while let Some(at) = rest.find_byte(b'"') {
        let Some((literal, _)) = string(rest.get(at..).unwrap_or_default()) else {
            break;
        };
        rest = rest.get(at + literal.len() + 2..).unwrap_or_default();
        text.extend_from_slice(&literal);
        text.push(b'\n');
    }
    Stream::Text(text)
}

/// A string literal at the start of text, and whether it is the whole argument.
fn string(text: &[u8]) -> Option<(BString, bool)> {
    let text = text.strip_prefix(b"\"")?;
    let mut out = BString::default();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let after = text.get(at..).unwrap_or_default().trim_ascii_start();
                return Some((
                    out,
                    after.is_empty() || matches!(after.first(), Some(b')' | b';' | b'}' | b'\n')),
                ));
            }
            b'\\' => {
                if let Some(next) = text.get(at) {
                    out.push(*next);
                    at += 1;
                }
            }
            byte => out.push(*byte),
        }
    }
    None
}
