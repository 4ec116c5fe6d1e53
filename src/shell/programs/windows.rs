//! PowerShell and cmd: their texts, as far as the shell's grammar can read them.

use super::shells::{join, remote, run_text};
use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

pub(super) fn powershell(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let mut rest = call.args.iter();
    while let Some(arg) = rest.next() {
        let lower = arg.text.to_ascii_lowercase();
        if lower.starts_with(b"-e")
            && b"-encodedcommand".starts_with(lower.as_slice())
            && lower.len() > 1
        {
            let decoded = rest
                .next()
                .and_then(|arg| super::printing::decode64(&arg.text));
            let Some(text) = decoded else {
                walk.opaque(Level::MustAsk, "the command is encoded");
                return Stream::Unknown;
            };
            // UTF-16, little end first.
            let text: BString = text
                .iter()
                .copied()
                .filter(|byte| *byte != 0)
                .collect::<Vec<_>>()
                .into();
            return walk.run_child(text.as_bstr(), call.input);
        }
        if lower.starts_with(b"-c") {
            let words: Vec<Arg> = rest.cloned().collect();
            let text = in_powershell(walk, &join(&words));
            let scope = walk.scope.clone();
            let stream = run_text(walk, &text, call.input, call.name);
            walk.scope = scope;
            return stream;
        }
        if !arg.is_option() {
            let words: Vec<Arg> = std::iter::once(arg.clone()).chain(rest.cloned()).collect();
            let text = in_powershell(walk, &join(&words));
            return walk.run_child(text.text.as_bstr(), call.input);
        }
    }
    match call.input {
        Stream::Remote => remote(walk),
        Stream::Text(text) => {
            let text = text.clone();
            walk.run_child(text.as_bstr(), &Stream::Unknown)
        }
        _ => Stream::Unknown,
    }
}

/// A text of PowerShell's as the shell's grammar can read it; downloads that it evaluates are noted.
fn in_powershell(walk: &mut Walk<'_>, text: &Arg) -> Arg {
    let lower = text.text.to_ascii_lowercase();
    let evaluates = lower
        .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
        .any(|word| matches!(word, b"iex" | b"invoke-expression"));
    let downloads = [
        "downloadstring",
        "webclient",
        "invoke-webrequest",
        "invoke-restmethod",
        "iwr",
        "irm",
        "http://",
        "https://",
    ]
    .iter()
    .any(|word| lower.contains_str(word));
    if evaluates && downloads {
        remote(walk);
    }
    if lower.contains_str(".delete(") {
        walk.file(PathOp::Delete { recursive: true }, &Arg::unknown());
    }
    // `select` begins a loop elsewhere.
    let spelled = expressions(&text.text).replace("| select ", "| select-object ");
    Arg {
        text: spelled.replace("|select ", "| select-object ").into(),
        ..text.clone()
    }
}

/// PowerShell's statements that begin with a variable: an assignment is what stands right of it,
/// and anything else is only shown, where the shell would run it.
fn expressions(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut starts = true;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        if starts && *byte == b'$' {
            let name = rest
                .iter()
                .skip(1)
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count();
            let after = rest.get(name + 1..).unwrap_or_default().trim_start();
            if name > 0 && after.starts_with(b"=") && !after.starts_with(b"==") {
                at = text.len() - after.len() + 1;
                continue;
            }
            out.extend_from_slice(b"write-output ");
        }
        starts = match byte {
            b'{' | b';' | b'|' | b'(' | b'\n' => true,
            b' ' | b'\t' => starts,
            _ => false,
        };
        out.push(*byte);
        at += 1;
    }
    out
}

pub(super) fn windows(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let rest: Vec<Arg> = call
        .args
        .iter()
        .skip_while(|arg| arg.text.starts_with(b"/") && arg.text.len() <= 3)
        .cloned()
        .collect();
    // Backslashes are no escapes there.
    let mut text = BString::default();
    for word in join(&rest).text.replace("\\", "/").split_str(" ") {
        // `/s/q` are two switches.
        let switches = word.starts_with(b"/")
            && word.len() > 2
            && word
                .chunks(2)
                .all(|pair| matches!(pair, [b'/', letter] if letter.is_ascii_alphabetic()));
        let word: BString = if switches {
            word.replace("/", " /").into()
        } else {
            word.into()
        };
        text.extend_from_slice(&word);
        text.push(b' ');
    }
    walk.run_child(text.as_bstr(), call.input)
}
