//! What Python code would do beyond computing.
//!
//! The code is split into tokens, imports and simple assignments are followed,
//! and dotted names are resolved to what they mean. It finds what is written
//! plainly or under another name; code built at run time is itself a finding,
//! because `eval`, `exec` and `getattr` on a module are.

mod literal;
mod tokens;

use self::tokens::{Token, tokens};
use super::path::{self, Guarded};
use super::{Danger, command, env, sql, url};
use crate::decisions::json::quoted;
use crate::decisions::known::Known;
use crate::decisions::report::Code;
use std::collections::HashMap;

/// How deep code inside an f-string is followed.
const MAX_NESTING: usize = 3;

/// Names that run code, by prefix of their full name.
const RUNS: &[&str] = &[
    "os.system",
    "os.popen",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.fork",
    "os.kill",
    "os.killpg",
    "os.startfile",
    "posix.system",
    "subprocess.",
    "pty.",
    "ctypes.",
    "cffi.",
    "importlib.",
    "runpy.",
    "builtins.eval",
    "builtins.exec",
    "builtins.compile",
    "builtins.__import__",
    "code.interact",
    "code.InteractiveInterpreter",
    "pickle.load",
    "cPickle.load",
    "_pickle.load",
    "dill.load",
    "marshal.load",
    "jsonpickle.decode",
    "yaml.unsafe_load",
    "commands.getoutput",
    "asyncio.create_subprocess",
    "pexpect.",
    "multiprocessing.Process",
    "sys.settrace",
    "sys.modules",
    "platform.popen",
    "sh.",
];

/// Bare names that run code.
const BARE: &[&str] = &["eval", "exec", "execfile", "__import__"];

/// Attributes by which code climbs out of what it was given.
const CLIMBS: &[&str] = &[
    "__subclasses__",
    "__globals__",
    "__builtins__",
    "__mro__",
    "__bases__",
    "__base__",
    "__code__",
    "__loader__",
    "__getattribute__",
];

/// Calls that remove or replace files, by full name.
const REMOVES: &[&str] = &[
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "os.removedirs",
    "os.truncate",
    "shutil.rmtree",
    "shutil.move",
];

/// Methods whose argument is a query.
const QUERIES: &[&str] = &[
    "execute",
    "executemany",
    "executescript",
    "read_sql",
    "read_sql_query",
    "run_sql",
];

/// Modules whose attributes are taken by name at run time only to hide which.
const RISKY_MODULES: &[&str] = &[
    "os",
    "subprocess",
    "builtins",
    "__builtins__",
    "sys",
    "importlib",
    "ctypes",
    "shutil",
    "pty",
];

/// Finds what a piece of Python would do that it may not.
pub(super) fn dangers(code: &str, known: &Known) -> Vec<Danger> {
    let mut scan = Scan {
        known,
        aliases: HashMap::new(),
        dangers: Vec::new(),
    };
    scan.code(&literal::folded(code), 0);
    let mut dangers = scan.dangers;
    let mut seen = Vec::new();
    dangers.retain(|danger| {
        let fresh = !seen.contains(danger);
        if fresh {
            seen.push(danger.clone());
        }
        fresh
    });
    dangers
}

/// Which call an argument belongs to.
struct Frame {
    name: String,
    /// Where its arguments begin.
    start: usize,
}

struct Scan<'k> {
    known: &'k Known,
    aliases: HashMap<String, String>,
    dangers: Vec<Danger>,
}

impl Scan<'_> {
    fn code(&mut self, code: &str, nesting: usize) {
        let tokens = tokens(code);
        let mut calls: Vec<Frame> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match *token {
                Token::Name(word @ ("import" | "from")) if starts_statement(&tokens, at) => {
                    at = self.import(&tokens, at, word);
                    continue;
                }
                Token::Name(_) => {
                    let (name, end) = dotted(&tokens, at);
                    let method = matches!(previous(&tokens, at), Some(Token::Sign(b'.')));
                    self.name(&tokens, &name, (at, end), method);
                    at = end;
                    if tokens.get(at) == Some(&Token::Sign(b'(')) {
                        let full = if method { name } else { self.resolve(&name) };
                        calls.push(Frame {
                            name: full,
                            start: at + 1,
                        });
                        at += 1;
                    }
                    continue;
                }
                Token::Sign(b'(') => calls.push(Frame {
                    name: String::new(),
                    start: at + 1,
                }),
                Token::Sign(b')') => {
                    calls.pop();
                }
                Token::Text { body, formatted } => {
                    self.text(body, &tokens, calls.last());
                    if let Some(whole) = literal::joined(&tokens, at) {
                        self.text(&whole, &tokens, calls.last());
                    }
                    if formatted && nesting < MAX_NESTING {
                        for inner in braces(body) {
                            self.code(inner, nesting + 1);
                        }
                    }
                }
                Token::Sign(b'!') if starts_statement(&tokens, at) && !self.known.sandbox => {
                    self.add(
                        Code::DangerCode,
                        "a line that begins with `!` is a shell command in a notebook",
                    );
                }
                Token::Sign(_) | Token::Line => {}
            }
            at += 1;
        }
    }

    fn add(&mut self, code: Code, message: impl Into<String>) {
        self.dangers.push(Danger::new(code, message));
    }

    /// Follows an import and returns where the statement ends.
    fn import(&mut self, tokens: &[Token<'_>], start: usize, word: &str) -> usize {
        let end = tokens
            .iter()
            .enumerate()
            .skip(start)
            .scan(0_i32, |depth, (at, token)| {
                match token {
                    Token::Sign(b'(') => *depth += 1,
                    Token::Sign(b')') => *depth -= 1,
                    Token::Line if *depth <= 0 => return None,
                    _ => {}
                }
                Some(at)
            })
            .last()
            .map_or(start + 1, |at| at + 1);
        let statement = tokens.get(start + 1..end).unwrap_or_default();
        if word == "import" {
            for part in statement.split(|token| *token == Token::Sign(b',')) {
                let (module, after) = dotted(part, 0);
                let bound = bound_name(part, after)
                    .unwrap_or_else(|| module.split('.').next().unwrap_or_default());
                let target = if bound_name(part, after).is_some() {
                    module.clone()
                } else {
                    bound.to_owned()
                };
                self.aliases.insert(bound.to_owned(), target);
            }
            return end;
        }
        let (module, after) = dotted(statement, 0);
        let names = statement.get(after + 1..).unwrap_or_default();
        if names.first() == Some(&Token::Sign(b'*')) {
            for full in RUNS.iter().chain(REMOVES) {
                if let Some(name) = full
                    .strip_prefix(&module)
                    .and_then(|rest| rest.strip_prefix('.'))
                {
                    self.aliases.insert(name.to_owned(), (*full).to_owned());
                }
            }
            return end;
        }
        for part in names.split(|token| *token == Token::Sign(b',')) {
            let part: Vec<Token<'_>> = part
                .iter()
                .copied()
                .filter(|token| matches!(token, Token::Name(_)))
                .collect();
            if let Some(Token::Name(name)) = part.first() {
                let bound = bound_name(&part, 1).unwrap_or(name);
                self.aliases
                    .insert(bound.to_owned(), format!("{module}.{name}"));
            }
        }
        end
    }

    fn resolve(&self, name: &str) -> String {
        let (head, rest) = name.split_once('.').unwrap_or((name, ""));
        match self.aliases.get(head) {
            Some(target) if rest.is_empty() => target.clone(),
            Some(target) => format!("{target}.{rest}"),
            None => name.to_owned(),
        }
    }

    fn name(
        &mut self,
        tokens: &[Token<'_>],
        name: &str,
        (start, end): (usize, usize),
        method: bool,
    ) {
        for part in name.split('.') {
            if CLIMBS.contains(&part) {
                self.add(
                    Code::DangerCode,
                    format!("{part} reaches what the code was not given"),
                );
            }
        }
        let called = tokens.get(end) == Some(&Token::Sign(b'('));
        if method {
            if called && matches!(name, "unlink" | "rmdir") {
                self.removal(tokens, end, name);
            }
            return;
        }
        let keyword = tokens.get(end) == Some(&Token::Sign(b'='))
            && tokens.get(end + 1) != Some(&Token::Sign(b'='))
            && !starts_statement(tokens, start);
        if keyword {
            return;
        }
        let full = self.resolve(name);
        self.assign(tokens, start, end, &full);
        let bare = BARE.contains(&full.as_str()) || (full == "compile" && called);
        let runs = RUNS.iter().any(|prefix| {
            full.starts_with(prefix)
                || prefix
                    .strip_suffix('.')
                    .is_some_and(|module| module == full && called)
        });
        if (bare || runs) && !self.known.sandbox {
            self.add(
                Code::DangerCode,
                format!("{full} runs code or programs of its own outside a sandbox"),
            );
        }
        if runs && called && self.known.sandbox {
            self.shell_argument(tokens, end);
        }
        if REMOVES.contains(&full.as_str()) && called {
            self.removal(tokens, end, &full);
        }
        if full == "yaml.load" && called && !self.known.sandbox && !names_safe(tokens, end) {
            self.add(
                Code::DangerCode,
                "yaml.load makes whatever objects the text names; use yaml.safe_load",
            );
        }
        if full == "getattr" && called {
            self.taken_by_name(tokens, end);
        }
        self.environment(tokens, &full, end);
    }

    /// Follows `x = os.system` and `x = os`.
    fn assign(&mut self, tokens: &[Token<'_>], start: usize, end: usize, full: &str) {
        if let (Some(Token::Sign(b'=')), Some(Token::Name(target))) =
            (previous(tokens, start), tokens.get(start.wrapping_sub(2)))
            && starts_statement(tokens, start - 2)
            && matches!(tokens.get(end), None | Some(Token::Line))
        {
            self.aliases.insert((*target).to_owned(), full.to_owned());
        }
    }

    fn removal(&mut self, tokens: &[Token<'_>], open: usize, what: &str) {
        let own = matches!(tokens.get(open + 1), Some(Token::Text { body, formatted: false })
            if is_own_path(body));
        if !own && !self.known.sandbox {
            self.add(
                Code::DangerCode,
                format!("{what} removes files that cannot be told beforehand; name one below the working directory"),
            );
        }
    }

    fn taken_by_name(&mut self, tokens: &[Token<'_>], open: usize) {
        if let Some(Token::Name(_)) = tokens.get(open + 1) {
            let (name, end) = dotted(tokens, open + 1);
            let full = self.resolve(&name);
            let plain = match tokens.get(end + 1) {
                Some(Token::Text {
                    body,
                    formatted: false,
                }) => {
                    let target = format!("{full}.{body}");
                    !RUNS.iter().any(|prefix| target.starts_with(prefix))
                        && tokens.get(end + 2) != Some(&Token::Sign(b'+'))
                }
                _ => false,
            };
            if RISKY_MODULES.contains(&full.as_str()) && !plain && !self.known.sandbox {
                self.add(
                    Code::DangerCode,
                    format!("getattr on {full} hides what is called"),
                );
            }
        }
    }

    fn shell_argument(&mut self, tokens: &[Token<'_>], open: usize) {
        if let Some(Token::Text { body, .. }) = tokens.get(open + 1) {
            self.dangers.extend(command::dangers(body, self.known));
        }
    }

    fn environment(&mut self, tokens: &[Token<'_>], full: &str, end: usize) {
        let from = match full {
            "os.getenv"
            | "os.environ.get"
            | "os.environ.pop"
            | "os.getenvb"
            | "os.environ.setdefault" => end,
            "os.environ" | "os.environb" if tokens.get(end) == Some(&Token::Sign(b'[')) => end,
            "os.environ" | "os.environb" | "os.environ.copy" | "os.environ.items"
            | "os.environ.values" => {
                let tested = matches!(previous(tokens, end - 1), Some(Token::Name("in")));
                if !tested {
                    self.add(
                        Code::DangerEnv,
                        "reads the whole environment, secrets included; read the variable it needs",
                    );
                }
                return;
            }
            _ => return,
        };
        match (tokens.get(from + 1), tokens.get(from + 2)) {
            (
                Some(Token::Text {
                    body,
                    formatted: false,
                }),
                Some(Token::Sign(b')' | b']' | b',')),
            ) => {
                self.dangers.extend(env::reading(body, &self.known.env));
            }
            _ => self.add(
                Code::DangerEnv,
                "reads an environment variable whose name is made at run time",
            ),
        }
    }

    fn text(&mut self, body: &str, tokens: &[Token<'_>], call: Option<&Frame>) {
        if CLIMBS.contains(&body) {
            self.add(
                Code::DangerCode,
                format!("{body} reaches what the code was not given"),
            );
        }
        let name = call.map_or("", |call| call.name.as_str());
        if url::is_file_url(body) || body.contains("://") {
            let calls_out = ["requests.", "urllib.", "httpx.", "aiohttp.", "http."]
                .iter()
                .any(|module| name.starts_with(module));
            self.dangers.extend(
                url::dangers(body, self.known)
                    .into_iter()
                    .filter(|danger| calls_out || danger.code != Code::PolicyDomain),
            );
        }
        if QUERIES.contains(&name.rsplit('.').next().unwrap_or(name)) {
            self.dangers.extend(sql::dangers(body));
        }
        let Some(guarded) = path::guarded(body).filter(|_| body.len() > 1) else {
            return;
        };
        let reads = call.is_some_and(|call| is_reading(call, tokens));
        if guarded == Guarded::Secret || !reads {
            self.add(
                Code::DangerFile,
                format!("{} is a system file or holds secrets", quoted(body)),
            );
        }
    }
}

/// Returns true where an argument of the call names a safe loader.
fn names_safe(tokens: &[Token<'_>], open: usize) -> bool {
    tokens
        .iter()
        .skip(open)
        .take_while(|token| **token != Token::Line)
        .any(|token| matches!(token, Token::Name(name) if name.contains("Safe")))
}

fn is_reading(call: &Frame, tokens: &[Token<'_>]) -> bool {
    let name = call.name.as_str();
    if name.starts_with("os.path.")
        || name.starts_with("glob.")
        || name.ends_with(".read_csv")
        || matches!(
            name,
            "os.listdir" | "os.stat" | "os.scandir" | "print" | "len"
        )
    {
        return true;
    }
    if !matches!(name, "open" | "io.open") {
        return false;
    }
    let mode = tokens
        .get(call.start + 1..)
        .unwrap_or_default()
        .iter()
        .take_while(|token| !matches!(token, Token::Sign(b')')))
        .filter(|token| !matches!(token, Token::Sign(_)))
        .find_map(|token| match token {
            Token::Name("mode") => None,
            Token::Name("encoding" | "errors" | "newline") => Some(""),
            Token::Text { body, .. } => Some(*body),
            _ => Some("?"),
        });
    mode.is_none_or(|mode| mode.bytes().all(|byte| b"rbt".contains(&byte)))
}

fn previous<'t, 'c>(tokens: &'t [Token<'c>], at: usize) -> Option<&'t Token<'c>> {
    at.checked_sub(1).and_then(|before| tokens.get(before))
}

fn starts_statement(tokens: &[Token<'_>], at: usize) -> bool {
    matches!(
        previous(tokens, at),
        None | Some(Token::Line | Token::Sign(b':'))
    )
}

/// The dotted name that begins at `at`, and where it ends.
fn dotted(tokens: &[Token<'_>], at: usize) -> (String, usize) {
    let Some(Token::Name(first)) = tokens.get(at) else {
        return (String::new(), at);
    };
    let mut name = (*first).to_owned();
    let mut end = at + 1;
    while let (Some(Token::Sign(b'.')), Some(Token::Name(next))) =
        (tokens.get(end), tokens.get(end + 1))
    {
        name.push('.');
        name.push_str(next);
        end += 2;
    }
    (name, end)
}

fn bound_name<'c>(part: &[Token<'c>], at: usize) -> Option<&'c str> {
    match (part.get(at), part.get(at + 1)) {
        (Some(Token::Name("as")), Some(Token::Name(name))) => Some(name),
        _ => None,
    }
}

/// A path below the working directory or in the temporary directory.
fn is_own_path(path: &str) -> bool {
    let climbs = path.split('/').any(|part| part == "..");
    let relative = !path.starts_with(['/', '~', '\\']) && !path.contains(':');
    !climbs
        && !matches!(path.trim_matches(['/', '.']), "" | "*")
        && (relative || path.starts_with("/tmp/"))
}

/// The expressions in an f-string's braces.
fn braces(body: &str) -> Vec<&str> {
    let mut inner = Vec::new();
    let mut rest = body;
    while let Some(open) = rest.find('{') {
        rest = rest.get(open + 1..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix('{') {
            rest = after;
            continue;
        }
        let Some(close) = rest.find('}') else { break };
        inner.push(rest.get(..close).unwrap_or_default());
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    inner
}

#[cfg(test)]
mod tests;
