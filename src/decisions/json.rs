//! A strict JSON reader: what two readers could understand differently is an error.
//!
//! `serde_json` keeps the last of two equal keys, which lets a payload show one
//! value to the validator and another to an executor with a different reader.
//! This one borrows from its input, refuses what RFC 8259 leaves open (duplicate
//! keys, numbers that no double holds, lone surrogates) and bounds its depth.

use super::pointer::{At, Segment};
use super::tree::{Json, Number, Object};
use std::borrow::Cow;
use std::collections::HashSet;

/// How deep lists and objects may nest.
pub const MAX_DEPTH: usize = 128;

/// How long the text of one number may be.
const MAX_NUMBER: usize = 256;

/// Objects with more members than this are searched for duplicates by hashing.
const FEW_MEMBERS: usize = 16;

/// Duplicates and numbers reported one by one; a hostile input could hold a hundred thousand.
const MAX_FLAWS: usize = 100;

/// What is wrong with the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlawKind {
    /// Not JSON.
    Syntax,
    /// Not UTF-8.
    Encoding,
    /// Nested deeper than [`MAX_DEPTH`].
    Depth,
    /// A key appears twice in one object.
    DuplicateKey,
    /// A number that no double holds, or an integer that 64 bits do not hold.
    Number,
    /// A `\u` escape that names half a character.
    Surrogate,
}

/// One thing wrong with the text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What sort.
    pub kind: FlawKind,
    /// JSON pointer of the value in which it was found.
    pub pointer: String,
    /// Byte offset from the start of the input.
    pub offset: usize,
    /// One line for a person, without the place.
    pub message: String,
}

/// A value read from text, with the flaws that did not stop the reading.
#[derive(Debug)]
pub struct Read<'a> {
    /// The value; members with a repeated key are all there.
    pub value: Json<'a>,
    /// Flaws that make the text unfit, each with its place.
    pub flaws: Vec<Flaw>,
    /// How many bytes the value takes, from its first byte to its last.
    pub wire_bytes: usize,
}

/// Reads exactly one value; only white space may follow.
///
/// # Errors
/// The flaw at which reading had to stop.
pub fn read(bytes: &[u8]) -> Result<Read<'_>, Flaw> {
    let text = utf8(bytes)?;
    let (read, end) = read_first(text)?;
    let rest = skip_space(text.as_bytes(), end);
    if rest < text.len() {
        return Err(Flaw {
            kind: FlawKind::Syntax,
            pointer: String::new(),
            offset: rest,
            message: format!(
                "{} after the end of the value",
                shown_at(text.as_bytes(), rest)
            ),
        });
    }
    Ok(read)
}

/// Reads the first value of a text and says where it ends.
///
/// # Errors
/// The flaw at which reading had to stop.
pub fn read_first(text: &str) -> Result<(Read<'_>, usize), Flaw> {
    let start = skip_space(text.as_bytes(), 0);
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: start,
        flaws: Vec::new(),
    };
    let value = reader.value(&At::ROOT, 0)?;
    let end = reader.at;
    Ok((
        Read {
            value,
            flaws: reader.flaws,
            wire_bytes: end - start,
        },
        end,
    ))
}

/// Checks that bytes are UTF-8.
///
/// # Errors
/// The place of the first byte that is not.
pub fn utf8(bytes: &[u8]) -> Result<&str, Flaw> {
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        Flaw {
            kind: FlawKind::Encoding,
            pointer: String::new(),
            offset,
            message: format!(
                "byte 0x{:02x} is not UTF-8",
                bytes.get(offset).copied().unwrap_or_default()
            ),
        }
    })
}

/// The offset of the first byte at or after `at` that is not white space.
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

fn shown_at(bytes: &[u8], at: usize) -> String {
    match bytes.get(at) {
        None => "the end of the input".to_owned(),
        Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(*byte)),
        Some(byte) => format!("byte 0x{byte:02x}"),
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    flaws: Vec<Flaw>,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        self.at = skip_space(self.bytes, self.at);
    }

    fn stop(&self, kind: FlawKind, path: &At<'_>, message: impl Into<String>) -> Flaw {
        Flaw {
            kind,
            pointer: path.pointer(),
            offset: self.at,
            message: message.into(),
        }
    }

    fn expected(&self, what: &str, path: &At<'_>) -> Flaw {
        self.stop(
            FlawKind::Syntax,
            path,
            format!("{what} expected, found {}", shown_at(self.bytes, self.at)),
        )
    }

    fn flag(&mut self, kind: FlawKind, path: &At<'_>, offset: usize, message: String) {
        if self.flaws.len() < MAX_FLAWS {
            self.flaws.push(Flaw {
                kind,
                pointer: path.pointer(),
                offset,
                message,
            });
        }
    }

    fn value(&mut self, path: &At<'_>, depth: usize) -> Result<Json<'a>, Flaw> {
        match self.peek() {
            Some(b'{') => self.object(path, depth + 1),
            Some(b'[') => self.list(path, depth + 1),
            Some(b'"') => Ok(Json::Text(self.string(path)?)),
            Some(b'-' | b'0'..=b'9') => self.number(path),
            Some(b't') => self.word("true", Json::Flag(true), path),
            Some(b'f') => self.word("false", Json::Flag(false), path),
            Some(b'n') => self.word("null", Json::Null, path),
            Some(b'N' | b'I' | b'+') => Err(self.stop(
                FlawKind::Syntax,
                path,
                "NaN, Infinity and `+` are not JSON numbers",
            )),
            _ => Err(self.expected("a value", path)),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>, path: &At<'_>) -> Result<Json<'a>, Flaw> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(word.as_bytes())
            && !rest.get(word.len()).is_some_and(u8::is_ascii_alphanumeric)
        {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.expected("a value", path))
    }

    fn enter(&self, path: &At<'_>, depth: usize) -> Result<(), Flaw> {
        if depth > MAX_DEPTH {
            // The pointer of a value that deep would itself be a wall of text.
            return Err(self.stop(
                FlawKind::Depth,
                &At::ROOT,
                format!(
                    "lists and objects nest deeper than {MAX_DEPTH} (under {})",
                    path.root_word()
                ),
            ));
        }
        Ok(())
    }

    fn object(&mut self, path: &At<'_>, depth: usize) -> Result<Json<'a>, Flaw> {
        self.enter(path, depth)?;
        self.at += 1;
        let mut members: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
        let mut seen: HashSet<Cow<'a, str>> = HashSet::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(Object::new(members)));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in double quotes", path));
            }
            let key_at = self.at;
            let key = self.string(path)?;
            let here = path.then(Segment::Key(&key));
            if repeated(&members, &mut seen, &key) {
                self.flag(
                    FlawKind::DuplicateKey,
                    &here,
                    key_at,
                    format!("the key {} appears twice in one object", quoted(&key)),
                );
            }
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`", &here));
            }
            self.at += 1;
            self.space();
            let value = self.value(&here, depth)?;
            members.push((key, value));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(Object::new(members)));
                }
                _ => return Err(self.expected("`,` or `}`", path)),
            }
            self.space();
        }
    }

    fn list(&mut self, path: &At<'_>, depth: usize) -> Result<Json<'a>, Flaw> {
        self.enter(path, depth)?;
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::List(items));
        }
        loop {
            let item = self.value(&path.then(Segment::Index(items.len())), depth)?;
            items.push(item);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::List(items));
                }
                _ => return Err(self.expected("`,` or `]`", path)),
            }
            self.space();
        }
    }

    fn string(&mut self, path: &At<'_>) -> Result<Cow<'a, str>, Flaw> {
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.peek() == Some(b'"') {
            let text = self.text.get(start..self.at).unwrap_or_default();
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut owned = self.text.get(start..self.at).unwrap_or_default().to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(owned));
                }
                Some(b'\\') => self.escape(&mut owned, path)?,
                Some(byte) => {
                    return Err(self.stop(
                        FlawKind::Syntax,
                        path,
                        format!(
                            "control character 0x{byte:02x} in a string; write it as an escape"
                        ),
                    ));
                }
                None => return Err(self.expected("the string's closing `\"`", path)),
            }
            let from = self.at;
            self.plain();
            owned.push_str(self.text.get(from..self.at).unwrap_or_default());
        }
    }

    /// Goes on to the next byte that a string cannot hold as it is.
    fn plain(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
            .unwrap_or(rest.len());
    }

    fn escape(&mut self, into: &mut String, path: &At<'_>) -> Result<(), Flaw> {
        let start = self.at;
        self.at += 1;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let unit = self.unit(path)?;
                into.push(self.character(unit, start, path)?);
                return Ok(());
            }
            _ => return Err(self.expected("an escape such as `\\n`", path)),
        };
        self.at += 1;
        into.push(plain);
        Ok(())
    }

    /// Joins a `\u` escape with its second half where it is the first of a pair.
    fn character(&mut self, unit: u32, start: usize, path: &At<'_>) -> Result<char, Flaw> {
        let mut code = unit;
        if (0xd800..0xdc00).contains(&unit)
            && self
                .bytes
                .get(self.at..)
                .is_some_and(|rest| rest.starts_with(b"\\u"))
        {
            let back = self.at;
            self.at += 1;
            let low = self.unit(path)?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            } else {
                self.at = back;
            }
        }
        Ok(char::from_u32(code).unwrap_or_else(|| {
            self.flag(
                FlawKind::Surrogate,
                path,
                start,
                format!("the escape \\u{unit:04x} is half a character"),
            );
            char::REPLACEMENT_CHARACTER
        }))
    }

    /// Reads `uXXXX`.
    fn unit(&mut self, path: &At<'_>) -> Result<u32, Flaw> {
        let mut code = 0;
        for _ in 0..4 {
            self.at += 1;
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.expected("a hexadecimal digit", path));
            };
            code = code * 16 + digit;
        }
        self.at += 1;
        Ok(code)
    }

    fn digits(&mut self, path: &At<'_>) -> Result<(), Flaw> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == from {
            return Err(self.expected("a digit", path));
        }
        Ok(())
    }

    fn number(&mut self, path: &At<'_>) -> Result<Json<'a>, Flaw> {
        let start = self.at;
        let mut integer = true;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let first = self.at;
        self.digits(path)?;
        if self.at - first > 1 && self.bytes.get(first) == Some(&b'0') {
            self.at = first;
            return Err(self.stop(
                FlawKind::Syntax,
                path,
                "a number cannot begin with a superfluous 0",
            ));
        }
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.digits(path)?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits(path)?;
        }
        if self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        {
            return Err(self.expected("the end of the number", path));
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        let number = if text.len() > MAX_NUMBER {
            None
        } else if integer {
            Number::from_integer(text)
        } else {
            Number::from_decimal(text)
        };
        Ok(Json::Number(number.unwrap_or_else(|| {
            let shown: String = text.chars().take(32).collect();
            self.flag(
                FlawKind::Number,
                path,
                start,
                format!("the number {shown} is too large to be read exactly"),
            );
            Number::ZERO
        })))
    }
}

fn repeated<'a>(
    members: &[(Cow<'a, str>, Json<'a>)],
    seen: &mut HashSet<Cow<'a, str>>,
    key: &str,
) -> bool {
    if members.len() < FEW_MEMBERS {
        return members.iter().any(|(name, _)| name == key);
    }
    if seen.is_empty() {
        seen.extend(members.iter().map(|(name, _)| name.clone()));
    }
    !seen.insert(Cow::Owned(key.to_owned()))
}

/// Text as it is shown in a message: quoted and cut.
pub(super) fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}
