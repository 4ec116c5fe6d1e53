//! Compound commands: groups, subshells, `if`, loops, `case`, functions, tests.

use super::Reader;
use crate::shell::syntax::{Node, Part, Word};
use bstr::BString;
use std::rc::Rc;

impl Reader<'_> {
    /// Reads a compound command, if one starts here.
    pub(super) fn compound(&mut self) -> Option<Node> {
        if self.starts(b"((")
            && let Some(node) = self.arithmetic_command()
        {
            return Some(node);
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            let body = self.body(&[]);
            self.close(b")");
            return Some(Node::Subshell(body));
        }
        let word = self.next_plain_word();
        match word {
            b"{" => {
                self.at += 1;
                let body = self.body(&[b"}"]);
                self.close(b"}");
                Some(Node::Group(body))
            }
            b"if" => Some(self.conditional()),
            b"while" | b"until" => {
                self.at += 5;
                let condition = self.body(&[b"do"]);
                self.eat_word(b"do");
                let body = self.body(&[b"done"]);
                self.close(b"done");
                Some(Node::While { condition, body })
            }
            b"for" | b"select" => {
                self.at += word.len();
                Some(self.for_loop())
            }
            b"case" => {
                self.at += 4;
                Some(self.case())
            }
            b"function" => {
                self.at += 8;
                self.blanks();
                let name: BString = self.next_plain_word().into();
                self.at += name.len();
                self.blanks();
                if self.eat(b"(") {
                    self.blanks();
                    self.eat(b")");
                }
                self.gaps();
                let body = Rc::new(self.command());
                Some(Node::Function { name, body })
            }
            b"coproc" => {
                self.at += 6;
                self.blanks();
                // `coproc NAME { … }`
                let start = self.at;
                let _ = self.word();
                self.blanks();
                if !matches!(self.peek(), Some(b'{' | b'(')) {
                    self.at = start;
                }
                Some(Node::Background(Box::new(self.command())))
            }
            b"[[" => {
                self.at += 2;
                Some(Node::Words(self.test_words()))
            }
            _ => None,
        }
    }

    /// Consumes a closing token; a missing one is a script cut short, whose commands still count.
    fn close(&mut self, token: &[u8]) {
        self.separators();
        self.eat(token);
    }

    fn arithmetic_command(&mut self) -> Option<Node> {
        let inside = self.arithmetic_end(2)?;
        let text = self.text.get(self.at + 2..inside)?;
        let mut inner = Reader::new(text, self.depth + 1);
        let parts = inner.double_quoted(None);
        self.overflowed |= inner.overflowed;
        self.at = inside + 2;
        Some(Node::Words(vec![parts]))
    }

    /// The place of the `))` that closes what starts `skip` bytes on, if it is arithmetic.
    pub(super) fn arithmetic_end(&self, skip: usize) -> Option<usize> {
        let mut open = 0_u32;
        let mut at = self.at + skip;
        let limit = (at + 4096).min(self.text.len());
        while at < limit {
            match self.text.get(at)? {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => return (self.text.get(at + 1) == Some(&b')')).then_some(at),
                // Never part of arithmetic, so this is a subshell in a subshell.
                b';' | b'\n' if skip == 2 && open > 0 => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn conditional(&mut self) -> Node {
        self.at += 2;
        let mut branches = Vec::new();
        loop {
            branches.push(self.body(&[b"then"]));
            self.eat_word(b"then");
            branches.push(self.body(&[b"elif", b"else", b"fi"]));
            if self.eat_word(b"elif") {
                continue;
            }
            if self.eat_word(b"else") {
                branches.push(self.body(&[b"fi"]));
            }
            self.close(b"fi");
            return Node::Branches(branches);
        }
    }

    fn for_loop(&mut self) -> Node {
        self.blanks();
        if self.starts(b"((") {
            let header = self.arithmetic_command();
            let body = self.loop_body();
            let mut branches = vec![body];
            if let Some(header) = header {
                branches.insert(0, Rc::new(vec![header]));
            }
            return Node::Branches(branches);
        }
        let name: BString = self.next_plain_word().into();
        self.at += name.len();
        self.gaps();
        let words = self.eat_word(b"in").then(|| {
            let mut words = Vec::new();
            loop {
                self.blanks();
                if matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')')) {
                    break words;
                }
                let before = self.at;
                words.push(self.word());
                if self.at == before {
                    break words;
                }
            }
        });
        let body = self.loop_body();
        Node::For { name, words, body }
    }

    fn loop_body(&mut self) -> Rc<Vec<Node>> {
        self.separators();
        if self.eat_word(b"do") {
            let body = self.body(&[b"done"]);
            self.close(b"done");
            body
        } else if self.next_plain_word() == b"{" {
            Rc::new(vec![self.command()])
        } else {
            Rc::new(vec![Node::Broken("a loop without a body")])
        }
    }

    fn case(&mut self) -> Node {
        self.blanks();
        let subject = self.word();
        self.gaps();
        self.eat_word(b"in");
        let mut branches: Vec<Rc<Vec<Node>>> = vec![Rc::new(vec![Node::Words(vec![subject])])];
        loop {
            self.gaps();
            while self.starts(b";;") || self.starts(b";&") {
                self.at += 2;
                self.eat(b"&");
                self.gaps();
            }
            if self.peek().is_none() || self.eat_word(b"esac") {
                break;
            }
            let before = self.at;
            self.eat(b"(");
            loop {
                self.blanks();
                let _ = self.word();
                self.blanks();
                if !self.eat(b"|") {
                    break;
                }
            }
            self.eat(b")");
            branches.push(self.body(&[b"esac"]));
            if self.at == before {
                self.at += 1;
                branches.push(Rc::new(vec![Node::Broken("a case that cannot be read")]));
            }
        }
        Node::Branches(branches)
    }

    fn test_words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.gaps();
            match self.peek() {
                None => break,
                Some(b'<' | b'>' | b'&' | b'|' | b'(' | b')' | b';') => self.at += 1,
                Some(_) => {
                    let before = self.at;
                    let word = self.word();
                    if matches!(word.as_slice(), [Part::Bare(text)] if text == "]]") {
                        break;
                    }
                    words.push(word);
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        words
    }
}
