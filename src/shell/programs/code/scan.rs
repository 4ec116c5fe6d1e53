//! Finds calls and literals in program text, outside of strings and comments.

use super::Language;
use super::values::{Known, Value, arguments};
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

/// A place in program text.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    pub(super) language: Language,
}

/// The calls of a text, in order.
pub(super) fn calls(known: &Known<'_>, text: &[u8]) -> Vec<Call> {
    let language = known.language;
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
            if let Some(mut call) = scanner.call(&name, &aliases, known) {
                let inner = call.1;
                // Calls among the arguments come first.
                if depth_allows(&found) {
                    found.extend(calls_inside(known, inner));
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
                args: arguments(known, inside),
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

fn calls_inside(known: &Known<'_>, text: &[u8]) -> Vec<Call> {
    if text.len() > 64 * 1024 || !text.contains(&b'(') {
        return Vec::new();
    }
    known.inside(|| calls(known, text))
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
    found.extend(renamed(text));
    found.extend(handed_names(text));
    found.truncate(32);
    found
}

/// `f = os.remove`, `const rm = require('fs').rmSync`: a function under another name.
fn handed_names(text: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for statement in text.split(|byte| matches!(byte, b'\n' | b';')) {
        let Some((name, value)) = statement.split_once_str("=") else {
            continue;
        };
        let (Ok(name), Ok(value)) = (name.trim().to_str(), value.trim().to_str()) else {
            continue;
        };
        let name = name.rsplit(' ').next().unwrap_or(name);
        let mut value = value.replace(['"', '\''], "");
        for opener in ["__import__(", "require(", "importlib.import_module("] {
            if let Some(rest) = value.strip_prefix(opener) {
                value = rest.replacen(')', "", 1);
            }
        }
        let dotted = value.contains('.')
            && value
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "._:/".contains(letter));
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if dotted && plain {
            found.push((name.to_owned(), value));
        }
    }
    found
}

/// `const {execSync: run} = require('child_process')`, `import {rmSync as rm} from 'fs'`.
fn renamed(text: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in text.split(|byte| *byte == b'{').skip(1) {
        let Some((names, after)) = part.split_once_str("}") else {
            continue;
        };
        let after = after.trim_ascii_start();
        let imports = after.starts_with(b"from")
            || after
                .strip_prefix(b"=")
                .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"require("))
            || after
                .strip_prefix(b"=")
                .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"await import("));
        if !imports {
            continue;
        }
        for name in names.split(|byte| *byte == b',') {
            let pair = name
                .split_once_str(":")
                .or_else(|| name.split_once_str(" as "));
            if let Some((name, short)) = pair
                && let (Ok(name), Ok(short)) = (name.trim().to_str(), short.trim().to_str())
            {
                found.push((short.to_owned(), name.to_owned()));
            }
        }
    }
    found
}

impl<'t> Scanner<'t> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn skip_comment(&mut self) -> bool {
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
    fn call(
        &mut self,
        name: &str,
        aliases: &[(String, String)],
        known: &Known<'_>,
    ) -> Option<(Call, &'t [u8])> {
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
                        args: arguments(known, inside),
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
                let of_ours = super::calls::find(
                    self.language,
                    &Call {
                        name: name.clone(),
                        args: vec![Value::Unknown],
                        receiver: None,
                    },
                    self.text,
                );
                of_ours?;
                self.at += end;
                Some((
                    Call {
                        name,
                        args: arguments(known, inside),
                        receiver: None,
                    },
                    inside,
                ))
            }
            // Without a word, Perl's `unlink` takes what a loop is at.
            byte if self.language == Language::Perl
                && name == "unlink"
                && matches!(byte, None | Some(b';' | b'}' | b'\n')) =>
            {
                Some((
                    Call {
                        name,
                        ..Call::default()
                    },
                    b"",
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
    pub(super) fn string(&mut self) -> Arg {
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

/// Groovy's `"command".execute()` and Scala's `"command".!`.
pub(super) fn executed(text: &[u8]) -> Vec<BString> {
    let mut found = Vec::new();
    let mut scanner = Scanner {
        text,
        at: 0,
        language: Language::Other,
    };
    while let Some(byte) = scanner.peek() {
        if matches!(byte, b'"' | b'\'') {
            let literal = scanner.string();
            let after = scanner.rest();
            let runs = [&b".execute("[..], b".!", b".lineStream"]
                .iter()
                .any(|end| after.starts_with(end));
            if runs {
                found.push(literal.text);
            }
            continue;
        }
        scanner.at += 1;
    }
    found
}

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
