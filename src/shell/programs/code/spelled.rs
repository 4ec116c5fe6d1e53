//! Other spellings of a member's name, made plain: `getattr(os, 'system')`, `fs['unlinkSync']`.

use bstr::{BString, ByteSlice as _};
use std::borrow::Cow;

/// A text with its members named by dots.
pub(super) fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    let attributes = text.contains_str("getattr(");
    let brackets = text.contains_str("['") || text.contains_str("[\"");
    if !attributes && !brackets {
        return Cow::Borrowed(text);
    }
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let found = match byte {
            b'g' => attribute(rest),
            b'[' if out
                .last()
                .is_some_and(|before| names(*before) || *before == b')') =>
            {
                member(rest)
            }
            _ => None,
        };
        if let Some((name, length)) = found {
            out.extend_from_slice(&name);
            at += length;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    Cow::Owned(out)
}

fn names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// `getattr(os, 'system')` as `os.system`, and its length.
fn attribute(text: &[u8]) -> Option<(BString, usize)> {
    let inside = text.strip_prefix(b"getattr(")?;
    let (object, rest) = inside.split_once_str(",")?;
    let object = object.trim_ascii();
    let plain = !object.is_empty()
        && object
            .iter()
            .all(|byte| names(*byte) || b".()'\"".contains(byte));
    let rest = rest.trim_ascii_start();
    let (name, after) = literal(rest)?;
    let after = after.trim_ascii_start().strip_prefix(b")")?;
    plain.then(|| {
        let mut whole = BString::from(object);
        whole.push(b'.');
        whole.extend_from_slice(name);
        (whole, text.len() - after.len())
    })
}

/// `['unlinkSync']` before a call as `.unlinkSync`, and its length.
fn member(text: &[u8]) -> Option<(BString, usize)> {
    let (name, after) = literal(text.get(1..)?)?;
    let after = after.strip_prefix(b"]")?;
    after.starts_with(b"(").then(|| {
        let mut whole = BString::from(".");
        whole.extend_from_slice(name);
        (whole, text.len() - after.len())
    })
}

/// A name in quotes at the start of a text, and what follows it.
fn literal(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let quote = text.first().copied().filter(|byte| b"'\"".contains(byte))?;
    let inside = text.get(1..)?;
    let end = inside.find_byte(quote)?;
    let name = inside.get(..end)?;
    let plain = !name.is_empty() && name.iter().all(|byte| names(*byte));
    plain.then(|| (name, inside.get(end + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_member_is_known_by_any_spelling() {
        for (text, expected) in [
            ("getattr(os, 'system')('x')", "os.system('x')"),
            (
                "getattr(__import__('os'),\"remove\")(f)",
                "__import__('os').remove(f)",
            ),
            ("fs['unlinkSync']('a')", "fs.unlinkSync('a')"),
            (
                "require('fs')[\"rmSync\"]('a')",
                "require('fs').rmSync('a')",
            ),
            ("d['key'] = 1", "d['key'] = 1"),
            ("x = ['rm', 'y']", "x = ['rm', 'y']"),
            ("getattr(os, name)", "getattr(os, name)"),
            ("getattr(", "getattr("),
            ("a['", "a['"),
        ] {
            assert_eq!(
                plain(text.as_bytes()).as_ref(),
                expected.as_bytes(),
                "{text}"
            );
        }
    }
}
