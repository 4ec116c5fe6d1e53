//! Simple commands, assignments, redirections and here-documents.

use super::{Pending, Reader};
use crate::shell::syntax::{Assignment, Node, Part, Redirect, RedirectOp, Simple, Word};
use bstr::BString;
use std::rc::Rc;

impl Reader<'_> {
    pub(super) fn command(&mut self) -> Node {
        self.nested(Self::command_inside, Node::Broken("nested too deeply"))
    }

    fn command_inside(&mut self) -> Node {
        self.blanks();
        let Some(node) = self.compound() else {
            return self.simple();
        };
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        if redirects.is_empty() {
            node
        } else {
            Node::Redirected(Box::new(node), redirects)
        }
    }

    fn simple(&mut self) -> Node {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                simple.redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b'&' | b')') => break,
                Some(b'(') => {
                    if simple.words.len() == 1
                        && simple.assignments.is_empty()
                        && let Some(node) = self.definition(&simple.words)
                    {
                        return node;
                    }
                    // Not the grammar's, yet what is inside would run in some shell.
                    self.at += 1;
                    let body = self.nested(|reader| reader.body(&[]), Rc::default());
                    self.eat(b")");
                    simple.words.push(vec![Part::Command {
                        body,
                        quoted: false,
                    }]);
                    continue;
                }
                Some(_) => {}
            }
            if simple.words.is_empty() {
                if let Some(assignment) = self.assignment() {
                    simple.assignments.push(assignment);
                    continue;
                }
            } else if is_declaration(&simple.words) {
                // `declare -a x=(…)`: the command's own argument, with an array's syntax.
                if let Some(assignment) = self.assignment() {
                    simple.assignments.push(assignment);
                    continue;
                }
            }
            let before = self.at;
            let word = self.word();
            if self.at == before {
                break;
            }
            simple.words.push(word);
        }
        Node::Simple(simple)
    }

    fn definition(&mut self, words: &[Word]) -> Option<Node> {
        let [word] = words else { return None };
        let [Part::Bare(name)] = word.as_slice() else {
            return None;
        };
        let start = self.at;
        self.at += 1;
        self.blanks();
        if !self.eat(b")") {
            self.at = start;
            return None;
        }
        let name = name.clone();
        self.gaps();
        let body = Rc::new(self.command());
        Some(Node::Function { name, body })
    }

    fn assignment(&mut self) -> Option<Assignment> {
        let rest = self.text.get(self.at..)?;
        let mut end = 0;
        while rest
            .get(end)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        {
            end += 1;
        }
        if end == 0 || rest.first()?.is_ascii_digit() {
            return None;
        }
        let name = rest.get(..end)?;
        let mut after = end;
        if rest.get(after) == Some(&b'[') {
            let close = memchr::memchr(b']', rest.get(after..)?)?;
            if close > 64 {
                return None;
            }
            after += close + 1;
        }
        let append = rest.get(after) == Some(&b'+');
        if append {
            after += 1;
        }
        if rest.get(after) != Some(&b'=') {
            return None;
        }
        self.at += after + 1;
        if self.peek() == Some(b'(') {
            self.at += 1;
            let mut values = Vec::new();
            loop {
                self.gaps();
                match self.peek() {
                    None => break,
                    Some(b')') => {
                        self.at += 1;
                        break;
                    }
                    Some(_) => {
                        let before = self.at;
                        values.push(self.word());
                        if self.at == before {
                            self.at += 1;
                        }
                    }
                }
            }
            return Some(Assignment {
                name: name.into(),
                values,
                array: true,
                append,
            });
        }
        let value = self.word();
        Some(Assignment {
            name: name.into(),
            values: vec![value],
            array: after > end + usize::from(append),
            append,
        })
    }

    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let rest = self.text.get(self.at..)?;
        let mut skip = 0;
        if rest.first() == Some(&b'{') {
            // `{name}>file`
            let end = rest
                .iter()
                .take(40)
                .position(|byte| *byte == b'}')
                .filter(|end| {
                    matches!(rest.get(end + 1), Some(b'<' | b'>'))
                        && rest
                            .get(1..*end)
                            .is_some_and(|name| name.iter().all(u8::is_ascii_alphanumeric))
                })?;
            skip = end + 1;
        } else {
            while rest.get(skip).is_some_and(u8::is_ascii_digit) && skip < 4 {
                skip += 1;
            }
        }
        let descriptor = rest
            .get(..skip)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.parse().ok());
        let operator = rest.get(skip..)?;
        let both = skip == 0;
        let (op, length) = if both && operator.starts_with(b"&>>") {
            (RedirectOp::AppendBoth, 3)
        } else if both && operator.starts_with(b"&>") {
            (RedirectOp::WriteBoth, 2)
        } else if operator.starts_with(b"<<<") {
            (RedirectOp::Here, 3)
        } else if operator.starts_with(b"<<") {
            return Some(self.here(skip, descriptor));
        } else if operator.starts_with(b"<(") || operator.starts_with(b">(") {
            return None;
        } else if operator.starts_with(b"<>") {
            (RedirectOp::ReadWrite, 2)
        } else if operator.starts_with(b"<&") {
            (RedirectOp::Duplicate, 2)
        } else if operator.starts_with(b">&") {
            (RedirectOp::Duplicate, 2)
        } else if operator.starts_with(b">>") {
            (RedirectOp::Append, 2)
        } else if operator.starts_with(b">|") {
            (RedirectOp::Write, 2)
        } else if operator.starts_with(b">!") && operator.get(2) != Some(&b' ') {
            (RedirectOp::Write, 2)
        } else if operator.starts_with(b">") {
            (RedirectOp::Write, 1)
        } else if operator.starts_with(b"<") {
            (RedirectOp::Read, 1)
        } else {
            return None;
        };
        let to_file = operator.starts_with(b">&");
        self.at += skip + length;
        self.blanks();
        let target = self.word();
        let op = match op {
            RedirectOp::Duplicate if to_file && !names_descriptor(&target) => RedirectOp::WriteBoth,
            op => op,
        };
        Some(Redirect {
            descriptor,
            op,
            target,
            document: None,
        })
    }

    fn here(&mut self, skip: usize, descriptor: Option<u32>) -> Redirect {
        self.at += skip + 2;
        let strip_tabs = self.eat(b"-");
        self.blanks();
        let start = self.at;
        let word = self.word();
        let raw = self.text.get(start..self.at).unwrap_or_default();
        let quoted = raw.iter().any(|byte| b"'\"\\".contains(byte));
        let mut delimiter = BString::default();
        for part in &word {
            match part {
                Part::Bare(bytes) | Part::Quoted(bytes) | Part::Tilde(bytes) => {
                    delimiter.extend_from_slice(bytes);
                }
                _ => {
                    delimiter = raw.into();
                    break;
                }
            }
        }
        let id = self.documents.len();
        self.documents.push(Vec::new());
        self.pending.push(Pending {
            id,
            delimiter,
            quoted,
            strip_tabs,
        });
        Redirect {
            descriptor,
            op: RedirectOp::Here,
            target: Vec::new(),
            document: Some(id),
        }
    }
}

fn is_declaration(words: &[Word]) -> bool {
    matches!(
        words.first().map(Vec::as_slice),
        Some([Part::Bare(name)])
            if matches!(
                name.as_slice(),
                b"declare" | b"typeset" | b"local" | b"export" | b"readonly"
            )
    )
}

fn names_descriptor(target: &[Part]) -> bool {
    match target {
        [Part::Bare(text)] => {
            let text = text.strip_suffix(b"-").unwrap_or(text);
            text.iter().all(u8::is_ascii_digit)
        }
        // `>&$fd`
        [Part::Param(_)] => true,
        _ => false,
    }
}

/// Puts the bodies of here-documents, read after their commands, where they belong.
pub(super) fn fill_documents(nodes: &mut [Node], documents: &[Word]) {
    if documents.is_empty() {
        return;
    }
    for node in nodes {
        fill(node, documents);
    }
}

fn fill_all(nodes: &mut Rc<Vec<Node>>, documents: &[Word]) {
    for node in Rc::make_mut(nodes) {
        fill(node, documents);
    }
}

fn fill(node: &mut Node, documents: &[Word]) {
    match node {
        Node::Simple(simple) => {
            for redirect in &mut simple.redirects {
                fill_redirect(redirect, documents);
            }
            for word in simple
                .words
                .iter_mut()
                .chain(simple.assignments.iter_mut().flat_map(|a| &mut a.values))
            {
                fill_word(word, documents);
            }
        }
        Node::Pipe(stages) => fill_documents(stages, documents),
        Node::List(items) => {
            for (_, node) in items {
                fill(node, documents);
            }
        }
        Node::Subshell(body) | Node::Group(body) => fill_all(body, documents),
        Node::For { words, body, .. } => {
            for word in words.iter_mut().flatten() {
                fill_word(word, documents);
            }
            fill_all(body, documents);
        }
        Node::While { condition, body } => {
            fill_all(condition, documents);
            fill_all(body, documents);
        }
        Node::Branches(branches) => {
            for branch in branches {
                fill_all(branch, documents);
            }
        }
        Node::Words(words) => {
            for word in words {
                fill_word(word, documents);
            }
        }
        Node::Function { body, .. } => fill(Rc::make_mut(body), documents),
        Node::Redirected(node, redirects) => {
            fill(node, documents);
            for redirect in redirects {
                fill_redirect(redirect, documents);
            }
        }
        Node::Background(node) => fill(node, documents),
        Node::Broken(_) => {}
    }
}

fn fill_redirect(redirect: &mut Redirect, documents: &[Word]) {
    if let Some(body) = redirect.document.and_then(|id| documents.get(id)) {
        redirect.target.clone_from(body);
        redirect.document = None;
    } else {
        fill_word(&mut redirect.target, documents);
    }
}

pub(super) fn fill_word(word: &mut Word, documents: &[Word]) {
    for part in word {
        match part {
            Part::Command { body, .. } | Part::Process { body } => fill_all(body, documents),
            Part::Param(param) => fill_word(&mut param.word, documents),
            Part::Arithmetic(parts) => fill_word(parts, documents),
            Part::Bare(_) | Part::Quoted(_) | Part::Tilde(_) => {}
        }
    }
}
