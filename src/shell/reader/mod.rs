//! Reads shell text into a syntax tree.
//!
//! A recursive descent over bytes that never fails: what it cannot make sense
//! of becomes [`Node::Broken`], which is judged as opaque, and the rest is read
//! on. Nesting is bounded, so that no text can exhaust the stack.
//!
//! The grammar is bash's (`bash(1)`, "SHELL GRAMMAR"), which contains POSIX's.

#![allow(
    clippy::match_same_arms,
    clippy::if_same_then_else,
    reason = "each token of the grammar stands on its own line"
)]

mod command;
mod compound;
mod word;

use super::syntax::{Join, Node, Word};
use bstr::BString;
use std::rc::Rc;

/// Nesting beyond which text counts as unreadable.
const DEPTH: u16 = 100;

/// Reads a script.
pub(crate) fn read(text: &[u8]) -> Vec<Node> {
    Reader::new(text, 0).script()
}

/// A here-document whose body comes after the next newline.
struct Pending {
    id: usize,
    delimiter: BString,
    quoted: bool,
    strip_tabs: bool,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: u16,
    pending: Vec<Pending>,
    documents: Vec<Word>,
    overflowed: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8], depth: u16) -> Self {
        Self {
            text,
            at: 0,
            depth,
            pending: Vec::new(),
            documents: Vec::new(),
            overflowed: false,
        }
    }

    fn script(mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            nodes.extend(self.list(&[]));
            self.blanks();
            if self.peek().is_none() {
                break;
            }
            // A closing token that nothing opened.
            nodes.push(Node::Broken("a closing token that nothing opened"));
            let before = self.at;
            let _ = self.word();
            if self.at == before {
                self.at += 1;
            }
        }
        if self.overflowed {
            nodes.push(Node::Broken("nested too deeply to be read"));
        }
        command::fill_documents(&mut nodes, &self.documents);
        nodes
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn starts(&self, with: &[u8]) -> bool {
        self.text
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(with))
    }

    fn eat(&mut self, what: &[u8]) -> bool {
        let found = self.starts(what);
        if found {
            self.at += what.len();
        }
        found
    }

    /// Skips blanks, line continuations and a comment, not newlines.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.peek_at(1) == Some(b'\r') && self.peek_at(2) == Some(b'\n') => {
                    self.at += 3;
                }
                Some(b'#') if self.at_word_start() => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
    }

    fn at_word_start(&self) -> bool {
        self.at == 0
            || self
                .text
                .get(self.at - 1)
                .is_none_or(|byte| byte.is_ascii_whitespace() || b";|&()".contains(byte))
    }

    /// Consumes a newline and the here-documents that begin after it.
    fn newline(&mut self) {
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            let body = self.document(&pending);
            if let Some(slot) = self.documents.get_mut(pending.id) {
                *slot = body;
            }
        }
    }

    fn document(&mut self, pending: &Pending) -> Word {
        let mut body = Vec::new();
        while self.at < self.text.len() {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let mut line = rest.get(..end).unwrap_or_default();
            self.at += (end + 1).min(rest.len());
            if pending.strip_tabs {
                while let Some(stripped) = line.strip_prefix(b"\t") {
                    line = stripped;
                }
            }
            if line.strip_suffix(b"\r").unwrap_or(line) == pending.delimiter.as_slice() {
                break;
            }
            body.extend_from_slice(line);
            body.push(b'\n');
        }
        if pending.quoted {
            return vec![super::syntax::Part::Quoted(body.into())];
        }
        let mut inner = Reader::new(&body, self.depth + 1);
        let mut word = inner.double_quoted(None);
        command::fill_word(&mut word, &inner.documents);
        self.overflowed |= inner.overflowed;
        word
    }

    /// Skips blanks, newlines and semicolons between commands.
    fn separators(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline(),
                Some(b';') if !self.starts(b";;") && !self.starts(b";&") => self.at += 1,
                Some(b'&') if !self.starts(b"&&") && !self.starts(b"&>") => self.at += 1,
                _ => break,
            }
        }
    }

    /// Skips blanks and newlines, where a command may go on over a line's end.
    fn gaps(&mut self) {
        loop {
            self.blanks();
            if self.peek() == Some(b'\n') {
                self.newline();
            } else {
                break;
            }
        }
    }

    /// The unquoted word at this place, without consuming it.
    fn next_plain_word(&self) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || b";|&()<>\"'`$\\".contains(byte))
            .unwrap_or(rest.len());
        match rest.get(end) {
            Some(byte) if b"\"'`$\\".contains(byte) => &[],
            _ => rest.get(..end).unwrap_or_default(),
        }
    }

    fn eat_word(&mut self, word: &[u8]) -> bool {
        let found = self.next_plain_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Reads commands up to a closing token or one of `stops` in command position.
    fn list(&mut self, stops: &[&[u8]]) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut items: Vec<(Join, Node)> = Vec::new();
        loop {
            self.separators();
            match self.peek() {
                None | Some(b')') => break,
                Some(b';') => break,
                _ => {}
            }
            let word = self.next_plain_word();
            if stops.contains(&word) || (stops.is_empty() && Self::stray(word)) {
                break;
            }
            let before = self.at;
            let node = self.and_or();
            match node {
                Node::List(list) => items.extend(list),
                node => items.push((Join::Always, node)),
            }
            if self.at == before {
                self.at += 1;
                items.push((Join::Always, Node::Broken("a token out of place")));
            }
        }
        match items.len() {
            0 => {}
            1 => nodes.extend(items.into_iter().map(|(_, node)| node)),
            _ => nodes.push(Node::List(items)),
        }
        nodes
    }

    fn stray(word: &[u8]) -> bool {
        matches!(
            word,
            b"then" | b"fi" | b"elif" | b"else" | b"do" | b"done" | b"esac" | b"}"
        )
    }

    fn and_or(&mut self) -> Node {
        let mut items = vec![(Join::Always, self.pipeline())];
        loop {
            self.blanks();
            let join = if self.eat(b"&&") {
                Join::And
            } else if self.eat(b"||") {
                Join::Or
            } else {
                break;
            };
            self.gaps();
            if self.peek().is_none() {
                break;
            }
            let before = self.at;
            items.push((join, self.pipeline()));
            if self.at == before {
                break;
            }
        }
        self.blanks();
        if self.peek() == Some(b'&') && !self.starts(b"&>") {
            self.at += 1;
            if let Some((join, last)) = items.pop() {
                items.push((join, Node::Background(Box::new(last))));
            }
        }
        if items.len() == 1
            && let Some((_, node)) = items.pop()
        {
            return node;
        }
        Node::List(items)
    }

    fn pipeline(&mut self) -> Node {
        self.blanks();
        loop {
            if self.eat_word(b"!") {
                self.blanks();
            } else if self.next_plain_word() == b"time" {
                self.at += 4;
                self.blanks();
                if self.next_plain_word() == b"-p" {
                    self.at += 2;
                    self.blanks();
                }
            } else {
                break;
            }
        }
        let mut stages = vec![self.command()];
        loop {
            self.blanks();
            if self.starts(b"||") || self.peek() != Some(b'|') {
                break;
            }
            self.at += 1;
            self.eat(b"&");
            self.gaps();
            if self.peek().is_none() {
                break;
            }
            let before = self.at;
            stages.push(self.command());
            if self.at == before {
                break;
            }
        }
        if stages.len() == 1
            && let Some(node) = stages.pop()
        {
            return node;
        }
        Node::Pipe(stages)
    }

    /// Goes one level down, unless the text is nested too deeply.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> T, otherwise: T) -> T {
        if self.depth >= DEPTH {
            self.overflowed = true;
            self.at = self.text.len();
            return otherwise;
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn body(&mut self, stops: &[&[u8]]) -> Rc<Vec<Node>> {
        Rc::new(self.list(stops))
    }
}

#[cfg(test)]
mod tests;
