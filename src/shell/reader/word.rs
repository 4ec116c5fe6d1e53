//! Words: quoting, parameters, substitutions.

use super::Reader;
use crate::shell::syntax::{Param, Part, Word};
use bstr::BString;
use std::rc::Rc;

#[derive(Default)]
struct Parts {
    done: Vec<Part>,
    bare: Vec<u8>,
    quoted: Vec<u8>,
}

impl Parts {
    fn bare(&mut self, byte: u8) {
        self.end_quoted();
        self.bare.push(byte);
    }

    fn quoted(&mut self, byte: u8) {
        self.end_bare();
        self.quoted.push(byte);
    }

    fn end_bare(&mut self) {
        if !self.bare.is_empty() {
            self.done
                .push(Part::Bare(std::mem::take(&mut self.bare).into()));
        }
    }

    fn end_quoted(&mut self) {
        if !self.quoted.is_empty() {
            self.done
                .push(Part::Quoted(std::mem::take(&mut self.quoted).into()));
        }
    }

    fn push(&mut self, part: Part) {
        self.end_bare();
        self.end_quoted();
        self.done.push(part);
    }

    fn finish(mut self) -> Word {
        self.end_bare();
        self.end_quoted();
        self.done
    }
}

impl Reader<'_> {
    /// Reads one word; consumes nothing where none starts.
    pub(super) fn word(&mut self) -> Word {
        let mut parts = Parts::default();
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | b';' | b'|' | b'&' | b')' => break,
                b'(' => {
                    // Extended globs: `!(…)`, `@(…)`.
                    let glob = self.at > start
                        && self
                            .text
                            .get(self.at - 1)
                            .is_some_and(|byte| b"?*+@!".contains(byte));
                    if !glob {
                        break;
                    }
                    self.skip_parentheses();
                    parts.bare(b'*');
                }
                b'<' | b'>' => {
                    if self.peek_at(1) == Some(b'(') {
                        self.at += 2;
                        let body = self.nested(|reader| reader.body(&[]), Rc::default());
                        self.eat(b")");
                        parts.push(Part::Process { body });
                    } else {
                        break;
                    }
                }
                b'\\' => {
                    match self.peek_at(1) {
                        Some(b'\n') => {}
                        Some(next) => parts.quoted(next),
                        None => parts.quoted(b'\\'),
                    }
                    self.at += 2;
                }
                b'\'' => {
                    self.at += 1;
                    parts.push(Part::Quoted(self.single_quoted()));
                }
                b'"' => {
                    self.at += 1;
                    let inner = self.nested(|reader| reader.double_quoted(Some(b'"')), Vec::new());
                    if inner.is_empty() {
                        parts.push(Part::Quoted(BString::default()));
                    }
                    for part in inner {
                        parts.push(part);
                    }
                }
                b'$' => {
                    if self.peek_at(1) == Some(b'\'') {
                        self.at += 2;
                        parts.push(Part::Quoted(self.ansi_quoted()));
                    } else if self.peek_at(1) == Some(b'"') {
                        self.at += 1;
                    } else {
                        match self.dollar(false) {
                            Some(part) => parts.push(part),
                            None => parts.bare(b'$'),
                        }
                    }
                }
                b'`' => {
                    let part = self.backquoted(false);
                    parts.push(part);
                }
                b'~' if self.at == start
                    || self
                        .text
                        .get(self.at - 1)
                        .is_some_and(|byte| matches!(byte, b'=' | b':')) =>
                {
                    self.at += 1;
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    let end = rest
                        .iter()
                        .position(|byte| !byte.is_ascii_alphanumeric() && !b"_-+.".contains(byte))
                        .unwrap_or(rest.len());
                    let user = rest.get(..end).unwrap_or_default();
                    self.at += end;
                    parts.push(Part::Tilde(user.into()));
                }
                byte => {
                    parts.bare(byte);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        parts.finish()
    }

    fn skip_parentheses(&mut self) {
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        return;
                    }
                }
                b'\n' => return,
                _ => {}
            }
        }
    }

    fn single_quoted(&mut self) -> BString {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = memchr::memchr(b'\'', rest).unwrap_or(rest.len());
        self.at = (self.at + end + 1).min(self.text.len());
        rest.get(..end).unwrap_or_default().into()
    }

    fn ansi_quoted(&mut self) -> BString {
        let mut text = Vec::new();
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\'' => break,
                b'\\' => self.ansi_escape(&mut text),
                byte => text.push(byte),
            }
        }
        text.into()
    }

    fn ansi_escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'a' => text.push(7),
            b'b' => text.push(8),
            b'e' | b'E' => text.push(0x1b),
            b'f' => text.push(0x0c),
            b'v' => text.push(0x0b),
            b'x' => {
                let value = self.digits(16, 2);
                text.push(u8::try_from(value).unwrap_or(b'?'));
            }
            b'u' | b'U' => {
                let value = self.digits(16, if byte == b'u' { 4 } else { 8 });
                let letter = char::from_u32(value).unwrap_or('?');
                let mut buffer = [0; 4];
                text.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
            }
            b'0'..=b'7' => {
                self.at -= 1;
                let value = self.digits(8, 3);
                text.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            b'c' => self.at += 1,
            other => text.push(other),
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = self
                .peek()
                .and_then(|byte| char::from(byte).to_digit(radix))
            else {
                break;
            };
            value = value * radix + digit;
            self.at += 1;
        }
        value
    }

    /// Reads text in which `$`, backquotes and backslashes are live, up to `end`.
    pub(super) fn double_quoted(&mut self, end: Option<u8>) -> Word {
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                byte if Some(byte) == end => {
                    self.at += 1;
                    break;
                }
                b'\\' => {
                    match self.peek_at(1) {
                        Some(b'\n') => {}
                        Some(next) if b"$`\"\\".contains(&next) => parts.quoted(next),
                        Some(next) => {
                            parts.quoted(b'\\');
                            parts.quoted(next);
                        }
                        None => parts.quoted(b'\\'),
                    }
                    self.at += 2;
                }
                b'$' => match self.dollar(true) {
                    Some(part) => parts.push(part),
                    None => parts.quoted(b'$'),
                },
                b'`' => {
                    let part = self.backquoted(true);
                    parts.push(part);
                }
                byte => {
                    parts.quoted(byte);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        parts.finish()
    }

    /// Reads what a `$` starts; a `$` that starts nothing is consumed and `None`.
    fn dollar(&mut self, quoted: bool) -> Option<Part> {
        self.at += 1;
        match self.peek()? {
            b'(' => Some(self.nested(
                |reader| reader.parenthesised(quoted),
                Part::Quoted(BString::default()),
            )),
            b'{' => Some(self.nested(
                |reader| reader.braced(quoted),
                Part::Quoted(BString::default()),
            )),
            b'[' => {
                // The old form of arithmetic.
                Some(self.nested(
                    |reader| Part::Arithmetic(reader.subscript()),
                    Part::Quoted(BString::default()),
                ))
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let start = self.at;
                while self
                    .peek()
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                {
                    self.at += 1;
                }
                Some(plain_param(
                    self.text.get(start..self.at).unwrap_or_default(),
                    quoted,
                ))
            }
            byte if byte.is_ascii_digit() || b"@*#?$!-".contains(&byte) => {
                self.at += 1;
                Some(plain_param(&[byte], quoted))
            }
            _ => None,
        }
    }

    fn parenthesised(&mut self, quoted: bool) -> Part {
        if self.starts(b"((")
            && let Some(end) = self.arithmetic_end(2)
        {
            let text = self.text.get(self.at + 2..end).unwrap_or_default();
            let mut inner = Reader::new(text, self.depth + 1);
            let parts = inner.double_quoted(None);
            self.overflowed |= inner.overflowed;
            self.at = end + 2;
            return Part::Arithmetic(parts);
        }
        self.at += 1;
        let mut nodes = self.list(&[]);
        // Whatever is left before the parenthesis closes is part of the substitution.
        while self.peek().is_some_and(|byte| byte != b')') {
            let before = self.at;
            let _ = self.word();
            self.at = self.at.max(before + 1);
            nodes.push(crate::shell::syntax::Node::Broken("a token out of place"));
            nodes.extend(self.list(&[]));
        }
        self.eat(b")");
        Part::Command {
            body: Rc::new(nodes),
            quoted,
        }
    }

    fn backquoted(&mut self, quoted: bool) -> Part {
        self.at += 1;
        let mut text = Vec::new();
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'`' => break,
                b'\\' => match self.peek() {
                    Some(next) if b"`\\$".contains(&next) || (quoted && next == b'"') => {
                        text.push(next);
                        self.at += 1;
                    }
                    _ => text.push(b'\\'),
                },
                byte => text.push(byte),
            }
        }
        let body = self.nested(
            |reader| {
                let inner = Reader::new(&text, reader.depth);
                inner.script()
            },
            vec![crate::shell::syntax::Node::Broken("nested too deeply")],
        );
        Part::Command {
            body: Rc::new(body),
            quoted,
        }
    }

    fn braced(&mut self, quoted: bool) -> Part {
        self.at += 1;
        let mut computed = false;
        if self.peek() == Some(b'!') && self.peek_at(1).is_some_and(|byte| byte != b'}') {
            computed = true;
            self.at += 1;
        } else if self.peek() == Some(b'#') && self.peek_at(1).is_some_and(|byte| byte != b'}') {
            computed = true;
            self.at += 1;
        }
        let start = self.at;
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            self.at += 1;
        }
        if self.at == start && self.peek().is_some_and(|byte| b"@*#?$!-".contains(&byte)) {
            self.at += 1;
        }
        let name = self.text.get(start..self.at).unwrap_or_default();
        let mut subscript = Vec::new();
        if self.peek() == Some(b'[') {
            let all = self.starts(b"[@]") || self.starts(b"[*]");
            computed |= !all;
            subscript = self.subscript();
        }
        let start = self.at;
        while self.at < start + 2
            && self
                .peek()
                .is_some_and(|byte| b":-=?+#%/^,@".contains(&byte))
        {
            self.at += 1;
            // `:` stands alone before a substring's offset.
            if self.text.get(self.at - 1) == Some(&b':')
                && !self.peek().is_some_and(|byte| b"-=?+".contains(&byte))
            {
                break;
            }
            // `-word` may begin with any of these.
            if self
                .text
                .get(self.at - 1)
                .is_some_and(|byte| b"-=?+".contains(byte))
            {
                break;
            }
        }
        let operator = self.text.get(start..self.at).unwrap_or_default();
        let word = self.braced_word(quoted);
        Part::Param(Box::new(Param {
            name: name.into(),
            operator: operator.into(),
            word,
            quoted,
            computed,
            subscript,
        }))
    }

    /// Reads what stands between square brackets, which the shell computes.
    fn subscript(&mut self) -> Vec<Part> {
        self.at += 1;
        let start = self.at;
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            match byte {
                b']' | b'}' | b'\n' if open == 0 => break,
                b'[' | b'(' | b'{' => open += 1,
                b']' | b')' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        let inside = self.text.get(start..self.at).unwrap_or_default();
        self.eat(b"]");
        if !inside.iter().any(|byte| b"$`".contains(byte)) {
            return Vec::new();
        }
        let mut inner = Reader::new(inside, self.depth + 1);
        let parts = inner.double_quoted(None);
        self.overflowed |= inner.overflowed;
        parts
    }

    /// Reads an expansion's word up to its closing brace.
    fn braced_word(&mut self, quoted: bool) -> Word {
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    self.at += 1;
                    break;
                }
                b'\\' => {
                    if let Some(next) = self.peek_at(1) {
                        parts.quoted(next);
                    }
                    self.at += 2;
                }
                b'\'' if !quoted => {
                    self.at += 1;
                    parts.push(Part::Quoted(self.single_quoted()));
                }
                b'"' => {
                    self.at += 1;
                    for part in self.nested(|reader| reader.double_quoted(Some(b'"')), Vec::new()) {
                        parts.push(part);
                    }
                }
                b'$' => match self.dollar(quoted) {
                    Some(part) => parts.push(part),
                    None => parts.bare(b'$'),
                },
                b'`' => {
                    let part = self.backquoted(quoted);
                    parts.push(part);
                }
                b'~' => {
                    self.at += 1;
                    parts.push(Part::Tilde(BString::default()));
                }
                byte => {
                    if quoted {
                        parts.quoted(byte);
                    } else {
                        parts.bare(byte);
                    }
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        parts.finish()
    }
}

fn plain_param(name: &[u8], quoted: bool) -> Part {
    Part::Param(Box::new(Param {
        name: name.into(),
        operator: BString::default(),
        word: Vec::new(),
        quoted,
        computed: false,
        subscript: Vec::new(),
    }))
}
