//! Finds calls and literals in program text, outside of strings and comments.

use super::Language;
use crate::shell::arg::{Arg, UNKNOWN};
use bstr::{BString, ByteSlice as _};

/// Most calls that one text is searched for.
const MOST: usize = 2000;

/// A call with its name and what is known of its arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    /// Dotted name; a module that was required in place stands before it.
    pub(super) name: String,
    /// Its arguments.
    pub(super) args: Vec<Value>,
    /// What it is called on, where that is an object made from a path.
    pub(super) receiver: Option<Arg>,
}

impl Call {
    /// Returns true where the call is made on a path object.
    pub(super) fn on_path(&self) -> bool {
        self.receiver.is_some()
    }
}

/// What is known of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Text, perhaps with unknown parts.
    Text(Arg),
    /// A list of texts.
    List(Vec<Arg>),
    /// Something else.
    Unknown,
}

impl Value {
    /// As one argument.
    pub(super) fn arg(&self) -> Arg {
        match self {
            Self::Text(arg) => arg.clone(),
            Self::List(args) => args.first().cloned().unwrap_or_default(),
            Self::Unknown => Arg::unknown(),
        }
    }

    /// As paths.
    pub(super) fn paths(&self) -> Vec<Arg> {
        match self {
            Self::List(args) => args.clone(),
            other => vec![other.arg()],
        }
    }

    /// The kind of a mode such as `w+b` or Perl's `>`: `w`, `a`, or nothing.
    pub(super) fn mode(&self) -> Option<String> {
        let Self::Text(arg) = self else { return None };
        let text = arg.word();
        let text = text.split(':').next().unwrap_or(text).trim();
        if text.starts_with(">>") {
            return Some("a".to_owned());
        }
        if text.starts_with('>') || text.starts_with("+>") {
            return Some("w".to_owned());
        }
        let plain =
            text.len() <= 3 && text.chars().all(|c| "rwaxbt+".contains(c)) && !text.is_empty();
        if !plain {
            return None;
        }
        let kind = if text.contains('w') {
            "w"
        } else if text.contains('a') || text.contains('+') {
            "a"
        } else {
            ""
        };
        Some(kind.to_owned())
    }
}

struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    language: Language,
}

/// The calls of a text, in order.
pub(super) fn calls(language: Language, text: &[u8]) -> Vec<Call> {
    let mut found = Vec::new();
    let mut scanner = Scanner {
        text,
        at: 0,
        language,
    };
    let aliases = aliases(text);
    let mut last: Option<Call> = None;
    let mut after_close = false;
    while let Some(byte) = scanner.peek() {
        if found.len() >= MOST {
            break;
        }
        if scanner.skip_comment() {
            continue;
        }
        if matches!(byte, b'"' | b'\'') || (byte == b'`' && language == Language::Script) {
            let _ = scanner.string();
            after_close = false;
            continue;
        }
        if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'@') {
            let name = scanner.name();
            if let Some(mut call) = scanner.call(&name, &aliases) {
                let inner = call.1;
                // Calls among the arguments come first.
                if depth_allows(&found) {
                    found.extend(calls_inside(language, inner));
                }
                if after_close {
                    attach(&mut call.0, last.as_ref());
                }
                last = Some(call.0.clone());
                found.push(call.0);
                after_close = true;
            } else {
                after_close = false;
            }
            continue;
        }
        // `require('rimraf')('src')`
        let module = last
            .as_ref()
            .filter(|call| after_close && byte == b'(' && call.name == "require")
            .and_then(|call| call.args.first().map(Value::arg));
        if let Some(module) = module {
            scanner.at += 1;
            let inside = scanner.until_close();
            let call = Call {
                name: module.word().to_owned(),
                args: arguments(language, inside),
                receiver: None,
            };
            last = Some(call.clone());
            found.push(call);
            continue;
        }
        if byte == b'.'
            || byte == b'>' && scanner.text.get(scanner.at.wrapping_sub(1)) == Some(&b'-')
        {
            scanner.at += 1;
            continue;
        }
        if !byte.is_ascii_whitespace() && byte != b'-' {
            after_close = false;
        }
        scanner.at += 1;
    }
    found
}

fn depth_allows(found: &[Call]) -> bool {
    found.len() < MOST
}

fn calls_inside(language: Language, text: &[u8]) -> Vec<Call> {
    if text.len() > 64 * 1024 || !text.contains(&b'(') {
        return Vec::new();
    }
    calls(language, text)
}

/// `Path("x").unlink()`, `require('fs').rmSync(…)`, `__import__('os').system(…)`.
fn attach(call: &mut Call, last: Option<&Call>) {
    let Some(last) = last else { return };
    let of = last.name.rsplit('.').next().unwrap_or(&last.name);
    let first = last.args.first().map(Value::arg);
    match of {
        "Path" | "PurePath" | "PosixPath" | "Pathname" | "File" | "file" => {
            call.receiver = Some(first.unwrap_or_default());
        }
        "require" | "__import__" | "import" | "import_module" => {
            if let Some(module) = first {
                call.name = format!("{}.{}", module.word(), call.name);
            }
        }
        "joinpath" | "resolve" | "absolute" | "expanduser" => {
            call.receiver.clone_from(&last.receiver);
            if of == "joinpath" {
                call.receiver = Some(Arg::unknown());
            }
        }
        _ => {}
    }
}

/// `import os as o`, `const f = require('fs')`: short names with what they stand for.
fn aliases(text: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.split(|byte| matches!(byte, b'\n' | b';')) {
        let words: Vec<&str> = line
            .split(|byte| byte.is_ascii_whitespace() || *byte == b',')
            .filter_map(|word| word.to_str().ok())
            .filter(|word| !word.is_empty())
            .collect();
        for window in words.windows(3) {
            if let [module, "as", short] = window {
                found.push(((*short).to_owned(), (*module).to_owned()));
            }
        }
        if let [_, name, "=", rest, ..] | [name, "=", rest, ..] = words.as_slice() {
            for opener in ["require(", "__import__("] {
                if let Some(module) = rest.strip_prefix(opener) {
                    let module = module.trim_matches(|c| matches!(c, '"' | '\'' | ')' | ';'));
                    found.push(((*name).to_owned(), module.to_owned()));
                }
            }
        }
    }
    found.truncate(32);
    found
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let line = match self.language {
            Language::Script | Language::Php => {
                if rest.starts_with(b"/*") {
                    let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
                    self.at += end;
                    return true;
                }
                rest.starts_with(b"//")
            }
            Language::Python | Language::Ruby | Language::Perl => {
                rest.starts_with(b"#")
                    && self.at.checked_sub(1).is_none_or(|before| {
                        self.text
                            .get(before)
                            .is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b';')
                    })
            }
            Language::Other => rest.starts_with(b"--") && rest.get(2) == Some(&b' '),
        };
        if line {
            self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()).max(1);
        }
        line
    }

    /// A dotted name; `::` and `->` count as dots.
    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') {
                name.push(char::from(byte));
                self.at += 1;
            } else if byte == b'.'
                || self.rest().starts_with(b"::")
                || self.rest().starts_with(b"->")
                || self.rest().starts_with(b"?.")
            {
                let width = if byte == b'.' { 1 } else { 2 };
                let next = self.text.get(self.at + width);
                if !next.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
                    break;
                }
                name.push('.');
                self.at += width;
            } else if matches!(byte, b'!' | b'?') && matches!(self.language, Language::Ruby) {
                name.push(char::from(byte));
                self.at += 1;
                break;
            } else {
                break;
            }
        }
        name
    }

    /// The call that a name begins, with the text of its arguments.
    fn call(&mut self, name: &str, aliases: &[(String, String)]) -> Option<(Call, &'t [u8])> {
        let start = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let name = full_name(name, aliases);
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let inside = self.until_close();
                Some((
                    Call {
                        name,
                        args: arguments(self.language, inside),
                        receiver: None,
                    },
                    inside,
                ))
            }
            // Ruby, Perl and PHP call without parentheses.
            Some(byte)
                if matches!(
                    self.language,
                    Language::Ruby | Language::Perl | Language::Php
                ) && self.at > start
                    && (matches!(byte, b'"' | b'\'' | b'%' | b'$' | b'<' | b'@' | b'*')
                        || byte.is_ascii_alphabetic()) =>
            {
                let rest = self.rest();
                let end = rest.find_byteset(b";\n}").unwrap_or(rest.len());
                let inside = rest.get(..end).unwrap_or_default();
                let known = super::calls::find(
                    self.language,
                    &Call {
                        name: name.clone(),
                        args: vec![Value::Unknown],
                        receiver: None,
                    },
                    self.text,
                );
                known?;
                self.at += end;
                Some((
                    Call {
                        name,
                        args: arguments(self.language, inside),
                        receiver: None,
                    },
                    inside,
                ))
            }
            _ => {
                self.at = start;
                // `%x(…)`, `qx/…/` and the like are found elsewhere.
                None
            }
        }
    }

    /// The text up to the parenthesis that closes.
    fn until_close(&mut self) -> &'t [u8] {
        let start = self.at;
        let mut open = 1_u32;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' | b'\'' | b'`' => {
                    let _ = self.string();
                    continue;
                }
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' => {
                    open -= 1;
                    if open == 0 {
                        let inside = self.text.get(start..self.at).unwrap_or_default();
                        self.at += 1;
                        return inside;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        self.text.get(start..).unwrap_or_default()
    }

    /// A string literal at this place.
    fn string(&mut self) -> Arg {
        let Some(quote) = self.peek() else {
            return Arg::default();
        };
        let prefix = self
            .at
            .checked_sub(1)
            .and_then(|at| self.text.get(at).copied())
            .unwrap_or(b' ');
        let formats = match self.language {
            Language::Python => matches!(prefix, b'f' | b'F'),
            Language::Script => quote == b'`',
            Language::Ruby | Language::Perl | Language::Php => quote == b'"',
            Language::Other => false,
        };
        let triple = [quote; 3];
        let long = self.rest().starts_with(&triple) && self.language == Language::Python;
        let close: &[u8] = if long {
            &triple
        } else {
            triple.get(..1).unwrap_or_default()
        };
        self.at += close.len();
        let mut text = BString::default();
        while let Some(byte) = self.peek() {
            if self.rest().starts_with(close) {
                self.at += close.len();
                break;
            }
            match byte {
                b'\\' => {
                    match self.text.get(self.at + 1) {
                        Some(b'n') => text.push(b'\n'),
                        Some(b't') => text.push(b'\t'),
                        Some(b'x') if quote != b'\'' || self.language != Language::Perl => {
                            let digits =
                                self.text.get(self.at + 2..self.at + 4).unwrap_or_default();
                            let value = digits
                                .to_str()
                                .ok()
                                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                            if let Some(value) = value {
                                text.push(value);
                                self.at += 2;
                            }
                        }
                        Some(next) => text.push(*next),
                        None => {}
                    }
                    self.at += 2;
                }
                b'{' if formats && self.language == Language::Python => {
                    text.push(UNKNOWN);
                    self.skip_braces();
                }
                b'$' | b'#' if formats && self.text.get(self.at + 1) == Some(&b'{') => {
                    text.push(UNKNOWN);
                    self.at += 1;
                    self.skip_braces();
                }
                b'$' | b'@'
                    if formats
                        && matches!(self.language, Language::Perl | Language::Php)
                        && self
                            .text
                            .get(self.at + 1)
                            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') =>
                {
                    text.push(UNKNOWN);
                    self.at += 1;
                    while self
                        .peek()
                        .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                    {
                        self.at += 1;
                    }
                }
                byte => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        Arg::known(text)
    }

    fn skip_braces(&mut self) {
        let mut open = 0_u32;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'{' => open += 1,
                b'}' => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}

fn full_name(name: &str, aliases: &[(String, String)]) -> String {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    for (short, module) in aliases {
        if short == first {
            return if rest.is_empty() {
                module.clone()
            } else {
                format!("{module}.{rest}")
            };
        }
    }
    name.to_owned()
}

/// Splits arguments at commas outside of brackets and strings.
fn arguments(language: Language, text: &[u8]) -> Vec<Value> {
    let mut values = Vec::new();
    for part in split(language, text) {
        let part = part.trim_ascii();
        if part.is_empty() {
            continue;
        }
        values.push(value(language, part));
        if values.len() > 64 {
            break;
        }
    }
    values
}

fn split(language: Language, text: &[u8]) -> Vec<&[u8]> {
    let mut scanner = Scanner {
        text,
        at: 0,
        language,
    };
    let mut parts = Vec::new();
    let mut start = 0;
    let mut open = 0_u32;
    while let Some(byte) = scanner.peek() {
        match byte {
            b'"' | b'\'' | b'`' => {
                let _ = scanner.string();
                continue;
            }
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            b',' if open == 0 => {
                parts.push(text.get(start..scanner.at).unwrap_or_default());
                start = scanner.at + 1;
            }
            _ => {}
        }
        scanner.at += 1;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// What is known of one argument: literals, their sums, lists of them.
fn value(language: Language, text: &[u8]) -> Value {
    // Keyword arguments: `args=["rm"]`, `mode="w"`.
    let text = match text.find_byte(b'=') {
        Some(at)
            if text.get(..at).is_some_and(|name| {
                !name.is_empty()
                    && name
                        .trim_ascii()
                        .iter()
                        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            }) && text.get(at + 1) != Some(&b'=') =>
        {
            text.get(at + 1..).unwrap_or_default().trim_ascii()
        }
        _ => text,
    };
    if let Some(inner) = text
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"))
    {
        let words = arguments(language, inner).iter().map(Value::arg).collect();
        return Value::List(words);
    }
    if let Some(inner) = text
        .strip_prefix(b"qw(")
        .and_then(|rest| rest.strip_suffix(b")"))
    {
        return Value::List(inner.fields().map(Arg::known).collect());
    }
    for wrapper in [
        &b"Path("[..],
        b"pathlib.Path(",
        b"str(",
        b"shlex.split(",
        b"glob.glob(",
        b"glob(",
        b"Dir.glob(",
        b"Dir[",
        b"<",
        b"glob ",
    ] {
        if let Some(inner) = text.strip_prefix(wrapper) {
            let inner = inner.trim_end_with(|c| matches!(c, ')' | ']' | '>'));
            let mut arg = if wrapper == b"<" {
                Arg::known(inner)
            } else {
                value(language, inner).arg()
            };
            arg.glob |= arg.text.iter().any(|byte| b"*?[".contains(byte)) && arg.is_known();
            return Value::Text(arg);
        }
    }
    let mut scanner = Scanner {
        text,
        at: 0,
        language,
    };
    let mut whole = Arg::default();
    let mut known = false;
    while let Some(byte) = scanner.peek() {
        match byte {
            b'"' | b'\'' | b'`' => {
                let part = scanner.string();
                whole.text.extend_from_slice(&part.text);
                known = true;
            }
            b'+' | b' ' | b'\n' | b'\t' | b'.' | b'r' | b'b' | b'f' | b'u'
                if known
                    || text
                        .get(scanner.at + 1)
                        .is_some_and(|next| matches!(next, b'"' | b'\'')) =>
            {
                scanner.at += 1;
            }
            _ => {
                if !whole.text.ends_with(&[UNKNOWN]) {
                    whole.text.push(UNKNOWN);
                }
                // The rest of this operand.
                while scanner
                    .peek()
                    .is_some_and(|byte| !matches!(byte, b'+' | b'"' | b'\'' | b'`'))
                {
                    scanner.at += 1;
                }
                known = true;
            }
        }
    }
    if whole.text == [UNKNOWN].as_slice() || whole.text.is_empty() && !known {
        Value::Unknown
    } else {
        Value::Text(whole)
    }
}

/// The string literals of a text.
pub(super) fn literals(language: Language, text: &[u8]) -> Vec<BString> {
    let mut scanner = Scanner {
        text,
        at: 0,
        language,
    };
    let mut found = Vec::new();
    while let Some(byte) = scanner.peek() {
        if matches!(byte, b'"' | b'\'' | b'`') {
            found.push(scanner.string().text);
            if found.len() > 200 {
                break;
            }
        } else {
            scanner.at += 1;
        }
    }
    found
}

/// What begins a command in Ruby and Perl.
const OPENERS: [&[u8]; 6] = [b"%x(", b"%x{", b"%x[", b"qx(", b"qx{", b"qx/"];

/// Commands in backquotes, `%x(…)`, `qx(…)`, `$`…``.
pub(super) fn backquoted(language: Language, text: &[u8]) -> Vec<BString> {
    let mut found = Vec::new();
    let ticks = matches!(language, Language::Ruby | Language::Perl | Language::Php);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let opened = OPENERS
            .iter()
            .find(|opener| rest.starts_with(opener) && ticks);
        let shell = language == Language::Script
            && (rest.starts_with(b"$`") || rest.starts_with(b"Bun.$`"));
        if let Some(opener) = opened {
            let close = match opener.last() {
                Some(b'(') => b')',
                Some(b'{') => b'}',
                Some(b'[') => b']',
                _ => b'/',
            };
            let inner = rest.get(opener.len()..).unwrap_or_default();
            let end = inner.find_byte(close).unwrap_or(inner.len());
            found.push(BString::from(inner.get(..end).unwrap_or_default()));
            at += opener.len() + end;
        } else if *byte == b'`' && ticks || shell {
            let skip = rest.find_byte(b'`').unwrap_or(0) + 1;
            let inner = rest.get(skip..).unwrap_or_default();
            let end = inner.find_byte(b'`').unwrap_or(inner.len());
            found.push(BString::from(inner.get(..end).unwrap_or_default()));
            at += skip + end;
        } else if matches!(byte, b'"' | b'\'') {
            let mut scanner = Scanner { text, at, language };
            let _ = scanner.string();
            at = scanner.at;
            continue;
        }
        at += 1;
    }
    found
}
