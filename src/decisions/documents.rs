//! Splits what came into single decisions: one object, an array, or JSON Lines.

use super::json::{self, Flaw};
use std::ops::Range;

/// How the decisions were written; the answer is written the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One object.
    One,
    /// An array of them.
    Array,
    /// One a line.
    Lines,
}

/// One decision's text, or why it could not be told apart.
#[derive(Clone, Debug)]
pub struct Document {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Its place in the input.
    pub span: Range<usize>,
    /// The flaw that keeps it from being read, where its text could not be told apart.
    pub flaw: Option<Flaw>,
}

/// The decisions of an input, in order.
#[derive(Debug)]
pub struct Documents<'b> {
    bytes: &'b [u8],
    form: Form,
    /// Where to go on.
    at: usize,
    /// The line of `at`, from 1.
    line: usize,
    done: bool,
}

/// Splits an input; an empty one holds no decision.
#[must_use]
pub fn split(bytes: &[u8]) -> Documents<'_> {
    // Some editors put a byte order mark first; RFC 8259 lets a reader ignore it.
    let start = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let first = json::skip_space(bytes, start);
    let (form, at) = match bytes.get(first) {
        None => (Form::Lines, bytes.len()),
        Some(b'[') => (Form::Array, json::skip_space(bytes, first + 1)),
        Some(_) if is_lines(bytes, first) => (Form::Lines, start),
        Some(_) => (Form::One, start),
    };
    let mut documents = Documents {
        bytes,
        form,
        at,
        line: 1 + newlines(bytes, if form == Form::One { first } else { at }),
        done: false,
    };
    if form == Form::Array && bytes.get(at) == Some(&b']') {
        documents.at += 1;
        documents.done = json::skip_space(bytes, at + 1) == bytes.len();
    }
    documents
}

impl Documents<'_> {
    /// How the decisions were written.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    fn one(&mut self) -> Document {
        self.done = true;
        Document {
            line: self.line,
            span: self.at..self.bytes.len(),
            flaw: None,
        }
    }

    fn next_line(&mut self) -> Option<Document> {
        while self.at < self.bytes.len() {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let text = rest.get(..length).unwrap_or_default();
            let document = Document {
                line: self.line,
                span: self.at..self.at + length,
                flaw: None,
            };
            self.at += length + 1;
            self.line += 1;
            if !text.trim_ascii().is_empty() {
                return Some(document);
            }
        }
        None
    }

    /// Finds the next item of an array by its brackets; it is read strictly later.
    fn item(&mut self) -> Document {
        let before = self.bytes.get(self.at.wrapping_sub(1));
        if before == Some(&b']') {
            let rest = json::skip_space(self.bytes, self.at);
            return self.broken(rest, "text after the end of the array");
        }
        let start = self.at;
        let end = item_end(self.bytes, start);
        let item = self.bytes.get(start..end).unwrap_or_default();
        let document = Document {
            line: self.line,
            // White space around an item is the array's, not the item's.
            span: start..start + item.trim_ascii_end().len(),
            flaw: None,
        };
        match self.bytes.get(end) {
            _ if end == start => return self.broken(end, "a value expected in the array"),
            Some(b']') => {
                self.at = end + 1;
                self.done = json::skip_space(self.bytes, self.at) == self.bytes.len();
            }
            Some(_) => self.at = json::skip_space(self.bytes, end + 1),
            // The item itself runs into the end; reading it says so.
            None => self.done = true,
        }
        let passed = self.bytes.get(start..self.at).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count();
        document
    }

    fn broken(&mut self, at: usize, message: &str) -> Document {
        self.done = true;
        Document {
            line: 1 + newlines(self.bytes, at),
            span: at..self.bytes.len(),
            flaw: Some(Flaw {
                kind: json::FlawKind::Syntax,
                pointer: String::new(),
                offset: at,
                message: message.to_owned(),
            }),
        }
    }
}

impl Iterator for Documents<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        if self.done {
            return None;
        }
        match self.form {
            Form::One => Some(self.one()),
            Form::Lines => self.next_line(),
            Form::Array => Some(self.item()),
        }
    }
}

fn newlines(bytes: &[u8], until: usize) -> usize {
    memchr::memchr_iter(b'\n', bytes.get(..until).unwrap_or_default()).count()
}

/// Returns true where the first line is a value by itself and another follows,
/// or where it is broken and a later line is an object by itself.
fn is_lines(bytes: &[u8], first: usize) -> bool {
    let rest = bytes.get(first..).unwrap_or_default();
    let Some(end) = memchr::memchr(b'\n', rest) else {
        return false;
    };
    let (head, tail) = rest.split_at(end);
    if tail.trim_ascii().is_empty() {
        return false;
    }
    if json::read(head).is_ok() {
        return true;
    }
    tail.split(|byte| *byte == b'\n')
        .any(|line| line.first() == Some(&b'{') && json::read(line).is_ok())
}

/// Where an item ends: at the comma or bracket outside strings and nesting.
fn item_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b',' | b']' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match memchr::memchr2(b'"', b'\\', rest) {
            None => return bytes.len(),
            Some(found) if rest.get(found) == Some(&b'"') => return at + found + 1,
            Some(found) => at += found + 2,
        }
        if at >= bytes.len() {
            return bytes.len();
        }
    }
}
