//! Simple commands: assignments, redirections, functions, aliases, programs.

use super::text::{quote, shown};
use super::{Stream, Walk};
use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::scope::Value;
use crate::shell::syntax::{Assignment, Node, Redirect, RedirectOp, Simple};
use crate::shell::{programs, reader};
use bstr::ByteSlice as _;
use std::rc::Rc;

impl Walk<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, input: &Stream) -> Stream {
        if self.fuel == 0 {
            return Stream::Unknown;
        }
        self.fuel -= 1;
        if self.fuel == 0 {
            self.opaque(Level::MustAsk, "too many commands to judge");
            return Stream::Unknown;
        }
        let first = self.script.deeds.len();
        let mut args = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            args.extend(self.expand(word));
        }
        let env = std::mem::take(&mut self.env);
        for assignment in &simple.assignments {
            self.assignment(assignment, args.is_empty() || is_declaration(&args));
        }
        if is_declaration(&args) {
            self.assigned(&simple.assignments);
        }
        let (own, unseen) = self.inputs(&simple.redirects);
        let piped = self.piped;
        if own.is_some() {
            // A file that cannot be read is as unseen as what another program writes.
            self.piped = unseen;
        }
        let stream = if args.is_empty() {
            self.assigned(&simple.assignments);
            Stream::Nothing
        } else {
            let input = own.as_ref().unwrap_or(input);
            self.run_alias(&args, input)
        };
        self.piped = piped;
        let silent = args.is_empty();
        let stream = self.outputs(&simple.redirects, stream, first, silent);
        self.env = env;
        self.label(first, &args);
        stream
    }

    /// Puts the command's words on the deeds that have none yet.
    fn label(&mut self, first: usize, args: &[Arg]) {
        if self.script.deeds.len() == first {
            return;
        }
        let label = shown(args);
        for deed in self.script.deeds.iter_mut().skip(first) {
            if deed.command.is_empty() {
                deed.command.clone_from(&label);
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment, lasting: bool) {
        let mut values: Vec<Arg> = Vec::new();
        for word in &assignment.values {
            if assignment.array {
                values.extend(self.expand(word));
            } else {
                values.push(self.expand_one(word));
            }
        }
        let value = if assignment.array {
            let mut items = match self.scope.vars.get(&assignment.name) {
                Some(Value::Many(old)) if assignment.append => old.clone(),
                _ => Vec::new(),
            };
            items.extend(values);
            Value::Many(items)
        } else {
            let mut one = values.pop().unwrap_or_default();
            if assignment.append {
                let mut old = self.variable(&assignment.name).unwrap_or_default();
                old.text.extend_from_slice(&one.text);
                old.glob |= one.glob;
                old.remote |= one.remote;
                one = old;
            }
            if one.text.len() > 64 * 1024 {
                one = Arg::unknown();
            }
            // An assignment keeps a pattern as text; it lives again where it is used bare.
            one.glob = false;
            Value::One(one)
        };
        if lasting {
            self.scope.assign(assignment.name.as_bstr(), value);
        } else if let Value::One(arg) = value {
            self.env.push((assignment.name.clone(), arg));
        }
    }

    /// Judges variables whose setting is a deed in itself.
    fn assigned(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            if let Some(Value::One(value)) = self.scope.vars.get(&assignment.name) {
                let value = value.clone();
                programs::environment(self, &assignment.name.clone(), &value);
            }
        }
    }

    /// Runs a command after its aliases are resolved.
    fn run_alias(&mut self, args: &[Arg], input: &Stream) -> Stream {
        let Some(name) = args.first() else {
            return Stream::Nothing;
        };
        if let Some(text) = self.scope.aliases.get(&name.text).cloned()
            && !self.running.contains(&name.text)
            && self.deeper()
        {
            let mut text = text;
            let name = name.text.clone();
            let rest = args.get(1..).unwrap_or_default();
            for arg in rest {
                text.push(b' ');
                text.extend_from_slice(&quote(&arg.text, arg.glob));
            }
            self.running.push(name);
            let nodes = reader::read(&text);
            let stream = self.nodes(&nodes, input);
            self.running.pop();
            self.depth -= 1;
            return stream;
        }
        self.run_args(args, input)
    }

    /// Runs a command given as arguments.
    pub(crate) fn run_args(&mut self, args: &[Arg], input: &Stream) -> Stream {
        let Some(name) = args.first() else {
            return Stream::Nothing;
        };
        if let Some(body) = self.scope.functions.get(&name.text) {
            let body = Rc::clone(body);
            return self.function(&body, args, input);
        }
        self.run_program(args, input)
    }

    /// Runs a command as a program or builtin, whatever functions there are.
    pub(crate) fn run_program(&mut self, args: &[Arg], input: &Stream) -> Stream {
        if !self.deeper() {
            return Stream::Unknown;
        }
        if self.script.commands.len() < 200 {
            self.script.commands.push(shown(args));
        }
        let first = self.script.deeds.len();
        let stream = programs::run(self, args, input);
        self.label(first, args);
        self.depth -= 1;
        stream
    }

    fn function(&mut self, body: &Rc<Node>, args: &[Arg], input: &Stream) -> Stream {
        let name = args.first().map(|arg| arg.text.clone()).unwrap_or_default();
        let calls = self
            .running
            .iter()
            .filter(|running| **running == name)
            .count();
        if calls >= 2 {
            if calls == 2 {
                let forks = matches!(&**body, Node::Group(nodes) if nodes.iter().any(forks));
                if forks {
                    self.note(DeedKind::System {
                        class: crate::judge::SystemClass::Config,
                        why: "a function that starts itself over and over (a fork bomb)".to_owned(),
                    });
                }
            }
            return Stream::Unknown;
        }
        if !self.deeper() {
            return Stream::Unknown;
        }
        let positional = std::mem::replace(
            &mut self.scope.positional,
            args.get(1..).unwrap_or_default().to_vec(),
        );
        let known = std::mem::replace(&mut self.scope.positional_known, true);
        self.running.push(name);
        let stream = self.node(body, input);
        self.running.pop();
        self.scope.positional = positional;
        self.scope.positional_known = known;
        self.depth -= 1;
        stream
    }

    /// The standard input that redirections give, and whether it is a file that cannot be read.
    pub(super) fn inputs(&mut self, redirects: &[Redirect]) -> (Option<Stream>, bool) {
        let mut input = None;
        let mut unseen = false;
        for redirect in redirects {
            let ours = redirect.descriptor.is_none_or(|descriptor| descriptor == 0);
            match redirect.op {
                RedirectOp::Read if ours => {
                    let path = self.expand_one(&redirect.target);
                    self.has_read(&path);
                    let stream = self.read_path(&path);
                    unseen = stream == Stream::Unknown && !self.is_missing(&path);
                    input = Some(stream);
                }
                RedirectOp::Here => {
                    let body = self.expand_one(&redirect.target);
                    if ours {
                        input = Some(if body.remote {
                            Stream::Remote
                        } else {
                            let mut text = body.text;
                            if !text.ends_with(b"\n") {
                                text.push(b'\n');
                            }
                            Stream::Text(text)
                        });
                    }
                }
                _ => {}
            }
        }
        (input, unseen)
    }

    /// Notes what output redirections write, and returns what still reaches standard output.
    pub(super) fn outputs(
        &mut self,
        redirects: &[Redirect],
        stream: Stream,
        first: usize,
        silent: bool,
    ) -> Stream {
        let mut left = stream;
        let mut taken = false;
        for redirect in redirects {
            let standard = redirect.descriptor.is_none_or(|descriptor| descriptor == 1);
            let op = match redirect.op {
                RedirectOp::Write | RedirectOp::WriteBoth => {
                    let empty = standard && (silent || matches!(left, Stream::Nothing)) && !taken;
                    // A program that writes elsewhere leaves its output file empty, and means to.
                    if empty && (silent || self.script.deeds.len() == first) {
                        PathOp::Empty
                    } else {
                        PathOp::Replace
                    }
                }
                RedirectOp::Append | RedirectOp::AppendBoth | RedirectOp::ReadWrite => {
                    PathOp::Change
                }
                RedirectOp::Read | RedirectOp::Here | RedirectOp::Duplicate => continue,
            };
            let path = self.expand_one(&redirect.target);
            match &left {
                Stream::Remote if standard => self.download_to(&path),
                Stream::Text(text) if standard && path.is_literal() => {
                    self.write_to(&path, &text.clone(), op == PathOp::Change);
                }
                _ => {}
            }
            self.file(op, &path);
            taken |= standard;
        }
        if taken {
            left = Stream::Nothing;
        }
        left
    }
}

fn is_declaration(args: &[Arg]) -> bool {
    args.first().is_some_and(|name| {
        matches!(
            name.text.as_slice(),
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly"
        )
    })
}

fn forks(node: &Node) -> bool {
    match node {
        Node::Background(_) | Node::Pipe(_) => true,
        Node::List(items) => items.iter().any(|(_, node)| forks(node)),
        _ => false,
    }
}
