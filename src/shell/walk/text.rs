//! Commands as text again.

use crate::shell::arg::{Arg, TOKEN, UNKNOWN};
use bstr::BString;

/// Replaces the bytes that stand for unknown values, which mean nothing in a script.
pub(crate) fn clean(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        if matches!(*byte, TOKEN | UNKNOWN) {
            *byte = b'?';
        }
    }
    text
}

/// Quotes an argument so that reading it again gives the same.
pub(crate) fn quote(text: &[u8], glob: bool) -> BString {
    if glob
        && !text
            .iter()
            .any(|byte| b" \t\n'\"\\$`;|&()<>".contains(byte))
    {
        return text.into();
    }
    quoted(text)
}

/// Quotes bytes for a POSIX shell.
pub(crate) fn quoted(text: &[u8]) -> BString {
    let mut quoted = BString::from("'");
    for byte in text {
        if *byte == b'\'' {
            quoted.extend_from_slice(b"'\\''");
        } else {
            quoted.push(*byte);
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A command as people read it, cut short.
pub(super) fn shown(args: &[Arg]) -> String {
    let mut text = String::new();
    for arg in args {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&arg.shown());
        if text.len() > 120 {
            let mut end = 120;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text.push('…');
            break;
        }
    }
    text
}
