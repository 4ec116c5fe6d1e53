//! The shell's own grammar: lists, pipes, groups, loops, branches.

use super::{Stream, Walk};
use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::programs;
use crate::shell::scope::{Dir, Value};
use crate::shell::syntax::{Join, Node, Part, Word};
use bstr::{BString, ByteSlice as _};
use std::rc::Rc;

impl Walk<'_> {
    pub(crate) fn nodes(&mut self, nodes: &[Node], input: &Stream) -> Stream {
        let mut output = Stream::Nothing;
        for node in nodes {
            output = output.then(self.node(node, input));
        }
        output
    }

    fn body(&mut self, body: &Rc<Vec<Node>>, input: &Stream) -> Stream {
        let body = Rc::clone(body);
        self.nodes(&body, input)
    }

    /// Runs a command substitution and returns what it writes.
    pub(crate) fn substitute(&mut self, body: &Rc<Vec<Node>>) -> Stream {
        if !self.deeper() {
            return Stream::Unknown;
        }
        let scope = self.scope.clone();
        let stream = self.body(body, &Stream::Unknown);
        self.scope = scope;
        self.depth -= 1;
        stream
    }

    pub(super) fn node(&mut self, node: &Node, input: &Stream) -> Stream {
        match node {
            Node::Simple(simple) => self.simple(simple, input),
            Node::Pipe(stages) => self.pipe(stages, input),
            Node::List(items) => self.list(items, input),
            Node::Subshell(body) => {
                let scope = self.scope.clone();
                let stream = self.body(body, input);
                self.scope = scope;
                stream
            }
            Node::Group(body) => self.body(body, input),
            Node::For { name, words, body } => self.for_loop(name, words.as_deref(), body, input),
            Node::While { condition, body } => {
                let tested = self.body(condition, input);
                tested.then(self.body(body, input))
            }
            Node::Branches(branches) => {
                let mut output = Stream::Nothing;
                for branch in branches {
                    output = output.then(self.body(branch, input));
                }
                output
            }
            Node::Words(words) => {
                for word in words {
                    let _ = self.expand_one(word);
                }
                Stream::Nothing
            }
            Node::Function { name, body } => {
                programs::defined(self, name);
                self.scope.functions.insert(name.clone(), Rc::clone(body));
                Stream::Nothing
            }
            Node::Redirected(node, redirects) => {
                let first = self.script.deeds.len();
                let (own, _) = self.inputs(redirects);
                let stream = self.node(node, own.as_ref().unwrap_or(input));
                self.outputs(redirects, stream, first, false)
            }
            Node::Background(node) => {
                let _ = self.node(node, input);
                Stream::Unknown
            }
            Node::Broken(why) => {
                self.opaque(Level::Confirm, *why);
                Stream::Unknown
            }
        }
    }

    fn list(&mut self, items: &[(Join, Node)], input: &Stream) -> Stream {
        let mut output = Stream::Nothing;
        // Where a `cd` that may fail would have led, while what runs instead of it is read.
        let mut missed = None;
        for (index, (_, node)) in items.iter().enumerate() {
            let before = self.scope.dir.clone();
            output = output.then(self.node(node, input));
            if let Some(led) = missed.take() {
                let stayed = std::mem::replace(&mut self.scope.dir, led);
                if stayed != self.scope.dir && !ends(node) {
                    self.scope.stay = Some(stayed);
                }
                continue;
            }
            if self.scope.dir == before || !self.may_be_missing() {
                continue;
            }
            match items.get(index + 1) {
                // Commands after it that run in any case.
                Some((Join::Always, _)) => self.scope.stay = Some(before),
                Some((Join::Or, _)) => {
                    missed = Some(std::mem::replace(&mut self.scope.dir, before));
                }
                _ => {}
            }
        }
        output
    }

    /// Whether the present directory is not there, and the script has not made it.
    fn may_be_missing(&self) -> bool {
        let Dir::Known(dir) = &self.scope.dir else {
            return false;
        };
        self.lookup.is_dir(dir) == Some(false) && !self.makes(dir)
    }

    /// Whether the script itself makes a directory.
    fn makes(&self, dir: &BString) -> bool {
        self.script.deeds.iter().any(|deed| match &deed.kind {
            DeedKind::File {
                op:
                    PathOp::Make
                    | PathOp::Touch
                    | PathOp::Unpack
                    | PathOp::Extract(_)
                    | PathOp::Lay { .. },
                path,
            } => deed.dir.join(path) == Dir::Known(dir.clone()),
            _ => false,
        })
    }

    fn pipe(&mut self, stages: &[Node], input: &Stream) -> Stream {
        let scope = self.scope.clone();
        let mut stream = input.clone();
        let piped = self.piped;
        for (index, stage) in stages.iter().enumerate() {
            self.piped = index > 0;
            stream = self.node(stage, &stream);
            self.scope.clone_from(&scope);
        }
        self.piped = piped;
        stream
    }

    fn for_loop(
        &mut self,
        name: &BString,
        words: Option<&[Word]>,
        body: &Rc<Vec<Node>>,
        input: &Stream,
    ) -> Stream {
        let mut items = match words {
            Some(words) => words.iter().flat_map(|word| self.expand(word)).collect(),
            None if self.scope.positional_known => self.scope.positional.clone(),
            None => vec![Arg::unknown()],
        };
        if items.len() > 64 {
            items.truncate(64);
            items.push(Arg::unknown());
        }
        let mut output = Stream::Nothing;
        for item in items {
            self.scope.assign(name.as_bstr(), Value::One(item));
            output = output.then(self.body(body, input));
            if self.fuel == 0 {
                break;
            }
        }
        output
    }
}

/// Commands after which the script does not go on here.
const LEAVES: &[&[u8]] = &[
    b"break",
    b"continue",
    b"exec",
    b"exit",
    b"logout",
    b"return",
];

/// Whether nothing comes after a command: it leaves the shell, the function or the loop.
fn ends(node: &Node) -> bool {
    match node {
        Node::Simple(simple) => match simple.words.first().map(Vec::as_slice) {
            Some([Part::Bare(name)]) => LEAVES.contains(&name.as_slice()),
            _ => false,
        },
        Node::Redirected(node, _) => ends(node),
        Node::Group(body) => body.iter().any(ends),
        Node::List(items) => {
            items
                .iter()
                .any(|(join, node)| *join == Join::Always && ends(node))
                || items.last().is_some_and(|(_, node)| ends(node))
        }
        _ => false,
    }
}
