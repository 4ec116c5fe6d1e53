//! Programs whose output is known: echo, printf, cat, base64, basename, ….

use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::scope::Dir;
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    Some(match call.name {
        "echo" => echo(call.args),
        "printf" => printf(call.args),
        "true" | ":" | "false" => Stream::Nothing,
        "yes" => Stream::Unknown,
        "cat" | "gcat" | "zcat" | "bat" | "type" | "get-content" | "head" | "tail" | "tac"
        | "nl" => cat(walk, call),
        "pwd" => match &walk.scope.dir {
            Dir::Known(path) => Stream::Text(path.clone()),
            Dir::Unknown | Dir::Elsewhere => Stream::Unknown,
        },
        "basename" => words(call.args.first(), |text| {
            let text = text.trim_end_with(|c| c == '/');
            text.rsplit_str("/").next().unwrap_or_default().into()
        }),
        "dirname" => words(call.args.first(), |text| {
            let text = text.trim_end_with(|c| c == '/');
            match text.rfind_byte(b'/') {
                Some(0) => "/".into(),
                Some(at) => text.get(..at).unwrap_or_default().into(),
                None => ".".into(),
            }
        }),
        "realpath" | "readlink" | "grealpath" => {
            let path = call.args.iter().find(|arg| !arg.is_option());
            match path.map(|path| walk.scope.dir.join(path)) {
                Some(Dir::Known(path)) => Stream::Text(path),
                _ => Stream::Unknown,
            }
        }
        "which" | "whereis" => located(call.args),
        "seq" | "date" | "whoami" | "nproc" | "uuidgen" | "hostname" | "id" | "arch" | "uname"
        | "logname" => {
            if call
                .args
                .iter()
                .any(|arg| matches!(arg.word(), "-s" | "--set"))
                && call.name == "date"
                || call.name == "hostname" && call.args.iter().any(|arg| !arg.is_option())
                || call.name == "arch" && call.args.iter().any(|arg| !arg.is_option())
            {
                return None;
            }
            if call.name == "whoami" {
                Stream::Text(walk.scope.user.clone())
            } else {
                Stream::Text(vec![crate::shell::arg::TOKEN].into())
            }
        }
        "wc" | "md5sum" | "sha256sum" | "sha1sum" | "cksum" | "stat" | "du" | "df" => {
            Stream::Text(vec![crate::shell::arg::TOKEN].into())
        }
        "base64" | "gbase64" | "basenc" => base64(walk, call),
        "xxd" => xxd(walk, call),
        "rev" | "tr" => transform(call),
        "ls" | "dir" | "exa" | "eza" => ls(call.args),
        "sort" => sort(walk, call),
        "uniq" => {
            if let Some(path) = Options::read(
                call.args,
                &Spec {
                    short: "fsw",
                    ..Spec::default()
                },
            )
            .operands
            .get(1)
            {
                walk.file(PathOp::Replace, path);
            }
            passes(call)
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ggrep" => grep(call),
        _ => return None,
    })
}

/// Where a program would be found.
pub(super) fn located(args: &[Arg]) -> Stream {
    match args.iter().find(|arg| !arg.is_option()) {
        Some(name) if name.is_literal() => {
            let mut path = BString::from("/usr/local/bin/");
            path.extend_from_slice(&name.text);
            Stream::Text(path)
        }
        _ => Stream::Unknown,
    }
}

fn words(arg: Option<&Arg>, cut: impl Fn(&[u8]) -> BString) -> Stream {
    match arg {
        Some(arg) if !arg.glob => Stream::Text(cut(&arg.text)),
        Some(_) => Stream::Unknown,
        None => Stream::Nothing,
    }
}

/// What a filter passes on: names stay names, text becomes unknown.
fn passes(call: &Call<'_>) -> Stream {
    match call.input {
        Stream::Paths(paths) => Stream::Paths(paths.clone()),
        Stream::Remote => Stream::Remote,
        Stream::Text(text) if call.args.is_empty() => Stream::Text(text.clone()),
        _ => Stream::Unknown,
    }
}

fn echo(args: &[Arg]) -> Stream {
    let mut newline = true;
    let mut escapes = false;
    let mut words = args;
    while let Some((first, rest)) = words.split_first() {
        let flags = first.text.strip_prefix(b"-").unwrap_or_default();
        if flags.is_empty() || !flags.iter().all(|byte| b"neE".contains(byte)) {
            break;
        }
        newline &= !flags.contains(&b'n');
        escapes |= flags.contains(&b'e');
        words = rest;
    }
    if words.iter().any(|word| word.remote) {
        return Stream::Remote;
    }
    let mut text = BString::default();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(&word.text);
    }
    if escapes {
        text = unescape(&text);
    } else if text.contains(&b'\\') && words.len() == 1 {
        // bash prints it as it stands, dash and zsh what it escapes: either may be run.
        let other = unescape(&text);
        if other != text {
            text.push(b'\n');
            text.extend_from_slice(&other);
        }
    }
    if newline && !text.is_empty() {
        text.push(b'\n');
    }
    if text.is_empty() {
        Stream::Nothing
    } else {
        Stream::Text(text)
    }
}

/// The escapes of `echo -e` and `printf`.
pub(super) fn unescape(text: &[u8]) -> BString {
    let mut out = BString::default();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some(next) = text.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        match next {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' | b'b' | b'f' | b'v' => out.push(b' '),
            b'\\' => out.push(b'\\'),
            b'x' => {
                let (value, length) = number(text.get(at..).unwrap_or_default(), 16, 2);
                at += length;
                out.push(value);
            }
            b'0'..=b'7' => {
                let start = if *next == b'0' { at } else { at - 1 };
                let (value, length) = number(text.get(start..).unwrap_or_default(), 8, 3);
                at = start + length;
                out.push(value);
            }
            other => {
                out.push(b'\\');
                out.push(*other);
            }
        }
    }
    out
}

fn number(text: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let mut value = 0_u32;
    let mut length = 0;
    while length < most {
        let Some(digit) = text
            .get(length)
            .and_then(|byte| char::from(*byte).to_digit(radix))
        else {
            break;
        };
        value = value * radix + digit;
        length += 1;
    }
    (u8::try_from(value & 0xff).unwrap_or(b'?'), length)
}

fn printf(args: &[Arg]) -> Stream {
    let args = match args.first().map(Arg::word) {
        Some("--") => args.get(1..).unwrap_or_default(),
        Some("-v") => return Stream::Nothing,
        _ => args,
    };
    let Some((format, values)) = args.split_first() else {
        return Stream::Nothing;
    };
    if format.remote || values.iter().any(|value| value.remote) {
        return Stream::Remote;
    }
    if format.has_unknown() {
        return Stream::Unknown;
    }
    let mut text = BString::default();
    let mut values = values.iter().peekable();
    let format = unescape(&format.text);
    loop {
        let mut used = false;
        let mut at = 0;
        while let Some(byte) = format.get(at) {
            at += 1;
            if *byte != b'%' {
                text.push(*byte);
                continue;
            }
            while format
                .get(at)
                .is_some_and(|byte| byte.is_ascii_digit() || b"-+ #.*".contains(byte))
            {
                at += 1;
            }
            match format.get(at) {
                Some(b'%') => text.push(b'%'),
                Some(letter) => {
                    if let Some(value) = values.next() {
                        used = true;
                        if *letter == b'b' {
                            text.extend_from_slice(&unescape(&value.text));
                        } else {
                            text.extend_from_slice(&value.text);
                        }
                    }
                }
                None => text.push(b'%'),
            }
            at += 1;
        }
        if !used || values.peek().is_none() || text.len() > 64 * 1024 {
            break;
        }
    }
    if text.is_empty() {
        Stream::Nothing
    } else {
        Stream::Text(text)
    }
}

fn cat(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: if matches!(call.name, "head" | "tail") {
                "nc"
            } else {
                ""
            },
            ..Spec::default()
        },
    );
    if options.operands.is_empty() {
        return match (call.name, call.input) {
            ("cat" | "gcat", input) => input.clone(),
            (_, input) => match input {
                Stream::Text(text) => Stream::Text(text.clone()),
                other => other.clone(),
            },
        };
    }
    let mut output = Stream::Nothing;
    for path in &options.operands {
        walk.has_read(path);
        output = output.then(if path.text == "-" {
            call.input.clone()
        } else {
            walk.read_path(path)
        });
    }
    output
}

fn base64(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "wbio",
            long: &["wrap"],
            ..Spec::default()
        },
    );
    let source = match options.operands.first() {
        Some(path) => {
            walk.has_read(path);
            walk.read_path(path)
        }
        None => call.input.clone(),
    };
    if !options.has(&["d", "D", "decode"]) {
        return Stream::Unknown;
    }
    match source {
        Stream::Text(text) => decode64(&text).map_or(Stream::Unknown, Stream::Text),
        Stream::Remote => Stream::Remote,
        _ => Stream::Unknown,
    }
}

/// Decodes base64; `None` for text that is none.
pub(super) fn decode64(text: &[u8]) -> Option<BString> {
    let mut out = BString::default();
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            byte if byte.is_ascii_whitespace() => continue,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((held >> bits) & 0xff).ok()?);
        }
    }
    Some(out)
}

fn xxd(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "cglos",
            ..Spec::default()
        },
    );
    if let Some(path) = options.operands.get(1).filter(|_| options.has(&["r"])) {
        walk.file(PathOp::Change, path);
    }
    match call.input {
        Stream::Text(text) if options.has(&["r"]) => {
            let digits: Vec<u32> = text
                .iter()
                .filter_map(|byte| char::from(*byte).to_digit(16))
                .collect();
            let bytes: Vec<u8> = digits
                .chunks_exact(2)
                .filter_map(|pair| match pair {
                    [high, low] => u8::try_from(high * 16 + low).ok(),
                    _ => None,
                })
                .collect();
            Stream::Text(bytes.into())
        }
        Stream::Remote => Stream::Remote,
        _ => Stream::Unknown,
    }
}

fn transform(call: &Call<'_>) -> Stream {
    match call.input {
        Stream::Text(text) if call.name == "rev" => {
            let mut out = BString::default();
            for line in text.lines() {
                let mut line = line.to_vec();
                line.reverse();
                out.extend_from_slice(&line);
                out.push(b'\n');
            }
            Stream::Text(out)
        }
        Stream::Text(text) => translate(text, call.args).map_or(Stream::Unknown, Stream::Text),
        Stream::Paths(paths) => Stream::Paths(paths.clone()),
        Stream::Remote => Stream::Remote,
        _ => Stream::Unknown,
    }
}

/// `tr SET1 SET2` and `tr -d SET1` with sets of single letters and ranges.
fn translate(text: &[u8], args: &[Arg]) -> Option<BString> {
    let options = Options::read(args, &Spec::default());
    let sets: Vec<Vec<u8>> = options
        .operands
        .iter()
        .map(|arg| set(&unescape(&arg.text)))
        .collect::<Option<_>>()?;
    match (sets.as_slice(), options.has(&["d", "delete"])) {
        ([gone], true) => Some(
            text.iter()
                .copied()
                .filter(|byte| !gone.contains(byte))
                .collect::<Vec<_>>()
                .into(),
        ),
        ([from, to], false) => {
            let last = *to.last()?;
            Some(
                text.iter()
                    .map(|byte| match from.iter().position(|one| one == byte) {
                        Some(at) => to.get(at).copied().unwrap_or(last),
                        None => *byte,
                    })
                    .collect::<Vec<_>>()
                    .into(),
            )
        }
        _ => None,
    }
}

fn set(text: &[u8]) -> Option<Vec<u8>> {
    if text.contains(&b'[') {
        return None;
    }
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        if text.get(at + 1) == Some(&b'-') && text.get(at + 2).is_some() {
            let high = *text.get(at + 2)?;
            out.extend(*byte..=high);
            at += 3;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    Some(out)
}

fn ls(args: &[Arg]) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "ITw",
            ..Spec::default()
        },
    );
    if options.surely(&["l"]) {
        return Stream::Unknown;
    }
    let mut paths = Vec::new();
    for path in &options.operands {
        if path.glob {
            paths.push(path.clone());
        } else {
            let mut text = path.text.clone();
            text.extend_from_slice(b"/*");
            paths.push(Arg::pattern(text));
        }
    }
    if paths.is_empty() {
        paths.push(Arg::pattern("*"));
    }
    Stream::Paths(paths)
}

fn sort(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "kotTS",
            long: &[
                "key",
                "output",
                "field-separator",
                "temporary-directory",
                "buffer-size",
                "compress-program",
            ],
            ..Spec::default()
        },
    );
    if let Some(path) = options.value(&["o", "output"]).cloned() {
        let own = options.operands.contains(&path);
        walk.file(if own { PathOp::Change } else { PathOp::Replace }, &path);
        return Stream::Nothing;
    }
    if let Some(command) = options.value(&["compress-program"]).cloned() {
        let _ = walk.run_child(command.text.as_bstr(), &Stream::Unknown);
    }
    passes(call)
}

/// Searches list names with `-l`, and pass names through in a pipeline.
fn grep(call: &Call<'_>) -> Stream {
    if let Stream::Paths(paths) = call.input {
        return Stream::Paths(paths.clone());
    }
    let options = Options::read(
        call.args,
        &Spec {
            short: "efmABCdDgt",
            long: &[
                "regexp",
                "file",
                "max-count",
                "include",
                "exclude",
                "exclude-dir",
                "glob",
                "type",
            ],
            ..Spec::default()
        },
    );
    if options.surely(&[
        "l",
        "L",
        "files-with-matches",
        "files-without-match",
        "files",
    ]) {
        let mut paths: Vec<Arg> = options.operands.iter().skip(1).cloned().collect();
        if paths.is_empty() {
            paths.push(Arg::pattern("./*"));
        }
        return Stream::Paths(paths);
    }
    match call.input {
        Stream::Remote => Stream::Remote,
        _ => Stream::Unknown,
    }
}
