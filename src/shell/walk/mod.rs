//! Walks through a script as a shell would, without doing anything, and notes what it would do.

use super::arg::Arg;
use super::deed::{Deed, DeedKind, Lookup, PathOp, Script};
use super::programs;
use super::reader;
use super::scope::{Dir, Scope, Value};
use super::syntax::{Assignment, Join, Node, Redirect, RedirectOp, Simple, Word};
use crate::judge::Level;
use bstr::{BStr, BString, ByteSlice as _};
use std::rc::Rc;

/// Commands after which a script counts as too long to judge.
const FUEL: u32 = 120_000;

/// Nesting of wrappers, functions and scripts in scripts beyond which text counts as opaque.
const DEPTH: u16 = 24;

/// Script files that are read because commands run them, scripts in scripts included.
const SCRIPTS: u16 = 48;

/// Names under which the shell would pass a process substitution.
const STREAMS: &[u8] = b"/dev/fd/holdpoint-";

/// What flows from one command to the next, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Stream {
    /// Nothing at all.
    #[default]
    Nothing,
    /// This text.
    Text(BString),
    /// Names of files.
    Paths(Vec<Arg>),
    /// What a download answers.
    Remote,
    /// A patch with what the worktree has and git does not.
    Changes,
    /// Something.
    Unknown,
}

impl Stream {
    /// The text as a substitution would give it.
    pub(crate) fn into_arg(self) -> Arg {
        match self {
            Self::Nothing => Arg::default(),
            Self::Text(text) => {
                let end = text.trim_end_with(|c| c == '\n').len();
                Arg::known(text.get(..end).unwrap_or_default())
            }
            Self::Paths(paths) => match <[Arg; 1]>::try_from(paths) {
                Ok([path]) => path,
                Err(_) => Arg::unknown(),
            },
            Self::Remote => Arg {
                remote: true,
                ..Arg::unknown()
            },
            Self::Changes | Self::Unknown => Arg::unknown(),
        }
    }

    /// What two commands write one after the other.
    pub(crate) fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::Nothing, other) | (other, Self::Nothing) => other,
            (Self::Text(mut a), Self::Text(b)) => {
                a.extend_from_slice(&b);
                Self::Text(a)
            }
            (Self::Paths(mut a), Self::Paths(b)) => {
                a.extend(b);
                Self::Paths(a)
            }
            (Self::Remote, _) | (_, Self::Remote) => Self::Remote,
            _ => Self::Unknown,
        }
    }
}

/// One command as a program gets it.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// The program's name without its directory.
    pub(crate) name: &'c str,
    /// Its arguments.
    pub(crate) args: &'c [Arg],
    /// Its standard input.
    pub(crate) input: &'c Stream,
}

/// A shell that only notes.
pub(crate) struct Walk<'a> {
    /// The shell's state.
    pub(crate) scope: Scope,
    /// The files around.
    pub(crate) lookup: &'a dyn Lookup,
    /// What was noted.
    pub(crate) script: Script,
    /// Variables set for the command at hand only.
    pub(crate) env: Vec<(BString, Arg)>,
    fuel: u32,
    depth: u16,
    streams: Vec<Stream>,
    piped: bool,
    downloads: Vec<BString>,
    written: Vec<(BString, BString)>,
    table: bool,
    traps: Vec<BString>,
    scripts: u16,
    /// Functions and aliases being run, against endless recursion.
    running: Vec<BString>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(scope: Scope, lookup: &'a dyn Lookup) -> Self {
        Self {
            scope,
            lookup,
            script: Script::default(),
            env: Vec::new(),
            fuel: FUEL,
            depth: 0,
            streams: Vec::new(),
            piped: false,
            downloads: Vec::new(),
            written: Vec::new(),
            table: false,
            traps: Vec::new(),
            scripts: SCRIPTS,
            running: Vec::new(),
        }
    }

    /// Notes a deed in the present directory.
    pub(crate) fn note(&mut self, kind: DeedKind) {
        self.note_in(self.scope.dir.clone(), kind);
    }

    /// Notes a deed in another directory.
    pub(crate) fn note_in(&mut self, dir: Dir, kind: DeedKind) {
        if let (Some(stay), DeedKind::File { .. } | DeedKind::Git(_)) = (&self.scope.stay, &kind)
            && dir == self.scope.dir
        {
            self.script.deeds.push(Deed {
                kind: kind.clone(),
                dir: stay.clone(),
                command: String::new(),
            });
        }
        self.script.deeds.push(Deed {
            kind,
            dir,
            command: String::new(),
        });
    }

    /// Notes that something happens to a path.
    pub(crate) fn file(&mut self, op: PathOp, path: &Arg) {
        self.note(DeedKind::File {
            op,
            path: path.clone(),
        });
    }

    /// Notes something that cannot be told.
    pub(crate) fn opaque(&mut self, worst: Level, why: impl Into<String>) {
        self.note(DeedKind::Opaque {
            worst,
            why: why.into(),
        });
    }

    /// Notes a finding at a level of its own.
    pub(crate) fn mark(&mut self, level: Level, why: impl Into<String>) {
        self.note(DeedKind::Marked {
            level,
            why: why.into(),
        });
    }

    /// Whether the command at hand reads what another one writes.
    pub(crate) fn piped(&self) -> bool {
        self.piped
    }

    /// Notes that a download is written to a path.
    pub(crate) fn download_to(&mut self, path: &Arg) {
        self.downloads.push(plain_path(path));
    }

    /// Whether this script downloads what lies at a path.
    pub(crate) fn downloaded(&self, path: &Arg) -> bool {
        self.downloads.contains(&plain_path(path))
    }

    /// Whether this script itself writes a path, so that what is there now says nothing.
    pub(crate) fn comes_later(&self, path: &Arg) -> bool {
        self.downloaded(path)
            || self.script.deeds.iter().any(
                |deed| matches!(&deed.kind, DeedKind::File { path: known, .. } if known.text == path.text),
            )
    }

    /// Remembers text that this script writes to a path.
    pub(crate) fn write_to(&mut self, path: &Arg, text: &[u8], append: bool) {
        let mut whole = if append {
            self.written(path).unwrap_or_default()
        } else {
            BString::default()
        };
        if whole.len() + text.len() > 256 * 1024 || self.written.len() > 256 {
            return;
        }
        whole.extend_from_slice(text);
        self.written.push((plain_path(path), whole));
    }

    /// The text that this script itself writes to a path.
    pub(crate) fn written(&self, path: &Arg) -> Option<BString> {
        let path = plain_path(path);
        self.written
            .iter()
            .rev()
            .find(|(known, _)| *known == path)
            .map(|(_, text)| text.clone())
    }

    /// Remembers whether a table's row matched.
    pub(crate) fn set_table(&mut self, matched: bool) {
        self.table = matched;
    }

    /// Whether the last table asked had a row that matched.
    pub(crate) fn noted_by_table(&self) -> bool {
        self.table
    }

    /// Keeps a stream under a name that a program may open.
    pub(crate) fn keep_stream(&mut self, stream: Stream) -> Vec<u8> {
        let mut name = STREAMS.to_vec();
        name.extend_from_slice(self.streams.len().to_string().as_bytes());
        self.streams.push(stream);
        name
    }

    /// What a program would read from a path.
    pub(crate) fn read_path(&self, path: &Arg) -> Stream {
        if let Some(index) = path.text.strip_prefix(STREAMS) {
            return index
                .to_str()
                .ok()
                .and_then(|digits| digits.parse::<usize>().ok())
                .and_then(|index| self.streams.get(index).cloned())
                .unwrap_or(Stream::Unknown);
        }
        if path.remote {
            return Stream::Remote;
        }
        if path.text == "/dev/null" {
            return Stream::Nothing;
        }
        if let Some(text) = self.written(path) {
            return Stream::Text(text);
        }
        if self.downloaded(path) {
            return Stream::Remote;
        }
        let Some(path) = path.literal() else {
            return Stream::Unknown;
        };
        match self.scope.dir.join(&Arg::known(path)) {
            Dir::Known(path) => self
                .lookup
                .file(&path)
                .map_or(Stream::Unknown, |text| Stream::Text(clean(text).into())),
            Dir::Unknown | Dir::Elsewhere => Stream::Unknown,
        }
    }

    /// Whether a file is not there and nothing in this script makes it.
    pub(crate) fn is_missing(&self, path: &Arg) -> bool {
        path.literal()
            .is_some_and(|_| match self.scope.dir.join(path) {
                Dir::Known(full) => self.lookup.exists(&full) == Some(false),
                Dir::Unknown | Dir::Elsewhere => false,
            })
            && !self.comes_later(path)
    }

    /// The text of a script file that a command would run.
    pub(crate) fn read_script(&mut self, path: &Arg) -> Stream {
        match self.read_path(path) {
            Stream::Text(_) if self.scripts == 0 => {
                self.opaque(Level::Confirm, "more scripts than are read call each other");
                Stream::Unknown
            }
            Stream::Text(text) => {
                self.scripts -= 1;
                Stream::Text(text)
            }
            other => other,
        }
    }

    /// Runs text as a script of its own in this shell's state.
    pub(crate) fn run_text(&mut self, text: &BStr, input: &Stream) -> Stream {
        if !self.deeper() {
            return Stream::Unknown;
        }
        let nodes = reader::read(text);
        let stream = self.nodes(&nodes, input);
        self.depth -= 1;
        stream
    }

    /// Keeps text that runs when the shell ends, with the variables that it has by then.
    pub(crate) fn at_end(&mut self, text: &BString) {
        if self.traps.len() < 16 {
            self.traps.push(text.clone());
        } else {
            self.opaque(Level::Confirm, "more traps than are followed");
        }
    }

    /// Runs what was kept for the end.
    pub(crate) fn end(&mut self) {
        // A trap may set traps; each is run once.
        for _ in 0..16 {
            let Some(text) = self.traps.pop() else { return };
            let _ = self.run_child(text.as_bstr(), &Stream::Unknown);
        }
    }

    /// Runs text as another shell would: what it changes of the state is gone afterwards.
    pub(crate) fn run_child(&mut self, text: &BStr, input: &Stream) -> Stream {
        let scope = self.scope.clone();
        let traps = std::mem::take(&mut self.traps);
        let stream = self.run_text(text, input);
        self.end();
        self.traps = traps;
        self.scope = scope;
        stream
    }

    fn deeper(&mut self) -> bool {
        if self.depth >= DEPTH {
            self.opaque(Level::MustAsk, "commands nested too deeply to be read");
            return false;
        }
        self.depth += 1;
        true
    }

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

    fn node(&mut self, node: &Node, input: &Stream) -> Stream {
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
        for (index, (_, node)) in items.iter().enumerate() {
            let before = self.scope.dir.clone();
            output = output.then(self.node(node, input));
            // A `cd` that may fail, with commands after it that run in any case.
            let unguarded = items
                .get(index + 1)
                .is_some_and(|(join, _)| *join == Join::Always);
            if unguarded
                && self.scope.dir != before
                && let Dir::Known(dir) = &self.scope.dir
                && self.lookup.is_dir(dir) == Some(false)
                && !self.makes(dir)
            {
                self.scope.stay = Some(before);
            }
        }
        output
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

    fn simple(&mut self, simple: &Simple, input: &Stream) -> Stream {
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
    fn inputs(&mut self, redirects: &[Redirect]) -> (Option<Stream>, bool) {
        let mut input = None;
        let mut unseen = false;
        for redirect in redirects {
            let ours = redirect.descriptor.is_none_or(|descriptor| descriptor == 0);
            match redirect.op {
                RedirectOp::Read if ours => {
                    let path = self.expand_one(&redirect.target);
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
    fn outputs(
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

fn plain_path(path: &Arg) -> BString {
    let text = path.text.strip_prefix(b"./").unwrap_or(&path.text);
    text.into()
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

/// Replaces the bytes that stand for unknown values, which mean nothing in a script.
pub(crate) fn clean(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        if matches!(*byte, super::arg::UNKNOWN | super::arg::TOKEN) {
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
pub(crate) fn shown(args: &[Arg]) -> String {
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
