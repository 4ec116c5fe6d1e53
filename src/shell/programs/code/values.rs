//! What is known of a call's arguments: literals, names with one value, places every program knows.

use super::Language;
use super::scan::Scanner;
use crate::shell::arg::{Arg, TOKEN, UNKNOWN};
use bstr::{BStr, BString, ByteSlice as _};
use std::cell::Cell;

/// Brackets in brackets that are followed.
const DEPTH: u8 = 24;

/// Most names that are remembered.
const MOST_NAMES: usize = 64;

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

/// What a program's text and its surroundings tell of values.
pub(super) struct Known<'k> {
    /// The language.
    pub(super) language: Language,
    home: Option<&'k BStr>,
    names: Vec<(&'k [u8], Value)>,
    depth: Cell<u8>,
    too_deep: Cell<bool>,
}

impl<'k> Known<'k> {
    /// Collects the names that a text gives one value each.
    pub(super) fn read(language: Language, text: &'k [u8], home: Option<&'k BStr>) -> Self {
        let mut known = Self {
            language,
            home,
            names: Vec::new(),
            depth: Cell::new(0),
            too_deep: Cell::new(false),
        };
        let mut seen: Vec<&[u8]> = Vec::new();
        let mut values: Vec<(&[u8], &[u8])> = Vec::new();
        for statement in statements(language, text) {
            let Some((name, value)) = assignment(statement) else {
                continue;
            };
            if seen.contains(&name) {
                // What has two values has none that is certain.
                values.retain(|(held, _)| *held != name);
            } else if values.len() < MOST_NAMES {
                values.push((name, value));
            }
            seen.push(name);
        }
        for (name, text) in values {
            let value = value(&known, text);
            if value != Value::Unknown {
                known.names.push((name, value));
            }
        }
        known
    }

    /// Looks into brackets, as deep as code is ever written.
    pub(super) fn inside<T: Default>(&self, look: impl FnOnce() -> T) -> T {
        if self.depth.get() >= DEPTH {
            self.too_deep.set(true);
            return T::default();
        }
        self.depth.set(self.depth.get() + 1);
        let found = look();
        self.depth.set(self.depth.get() - 1);
        found
    }

    /// Whether brackets were nested too deeply to be followed.
    pub(super) fn was_too_deep(&self) -> bool {
        self.too_deep.get()
    }

    /// The value of an expression that is no literal.
    fn of(&self, expression: &[u8]) -> Option<Value> {
        let expression = expression.trim_ascii();
        if let Some((_, value)) = self.names.iter().find(|(name, _)| *name == expression) {
            return Some(value.clone());
        }
        let home = matches!(
            expression,
            b"Path.home()"
                | b"pathlib.Path.home()"
                | b"os.homedir()"
                | b"homedir()"
                | b"require('os').homedir()"
                | b"Dir.home"
                | b"process.env.HOME"
                | b"process.env['HOME']"
                | b"os.environ['HOME']"
                | b"os.environ[\"HOME\"]"
                | b"os.environ.get('HOME')"
                | b"os.getenv('HOME')"
                | b"os.getenv(\"HOME\")"
                | b"os.environ.get(\"HOME\")"
                | b"ENV['HOME']"
                | b"ENV[\"HOME\"]"
                | b"$ENV{HOME}"
                | b"getenv('HOME')"
                | b"getenv(\"HOME\")"
        );
        if home {
            return self.home.map(|home| Value::Text(Arg::known(home)));
        }
        let temporary = [
            &b"tempfile."[..],
            b"os.tmpdir()",
            b"tmpdir()",
            b"Dir.mktmpdir",
            b"Dir.tmpdir",
            b"sys_get_temp_dir()",
            b"fs.mkdtempSync(",
            b"mkdtemp(",
            b"mkdtempSync(",
            b"require('os').tmpdir()",
        ]
        .iter()
        .any(|opener| expression.starts_with(opener));
        if temporary {
            let mut text = BString::from("/tmp/tmp.");
            text.push(TOKEN);
            return Some(Value::Text(Arg::known(text)));
        }
        matches!(
            expression,
            b"os.getcwd()" | b"process.cwd()" | b"Dir.pwd" | b"getcwd()" | b"Path.cwd()"
        )
        .then(|| Value::Text(Arg::known(".")))
    }

    /// `os.path.join(a, 'b')`, `path.resolve('src')`.
    fn joined(&self, text: &[u8]) -> Option<Value> {
        let inner = [
            &b"os.path.join("[..],
            b"path.join(",
            b"path.resolve(",
            b"File.join(",
            b"File.expand_path(",
            b"os.path.abspath(",
            b"os.path.realpath(",
            b"os.path.expanduser(",
        ]
        .iter()
        .find_map(|opener| text.strip_prefix(*opener))?
        .strip_suffix(b")")?;
        let mut whole = Arg::default();
        for part in arguments(self, inner) {
            let part = part.arg();
            let from_root = part.text.starts_with(b"/");
            if from_root {
                whole.text.clear();
            } else if !whole.text.is_empty() {
                whole.text.push(b'/');
            }
            whole.text.extend_from_slice(&part.text);
            whole.glob |= part.glob;
        }
        let tilde = whole.text == "~" || whole.text.starts_with(b"~/");
        if tilde {
            let home = self.home?;
            let rest = whole.text.get(1..).unwrap_or_default();
            whole.text = [home.as_bytes(), rest].concat().into();
        }
        Some(Value::Text(whole))
    }
}

/// The statements of a text: what line ends and semicolons part.
fn statements(language: Language, text: &[u8]) -> Vec<&[u8]> {
    let mut scanner = Scanner {
        text,
        at: 0,
        language,
    };
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(byte) = scanner.peek() {
        if scanner.skip_comment() {
            continue;
        }
        match byte {
            b'"' | b'\'' | b'`' => {
                let _ = scanner.string();
                continue;
            }
            b'\n' | b';' => {
                found.push(text.get(start..scanner.at).unwrap_or_default());
                start = scanner.at + 1;
            }
            _ => {}
        }
        scanner.at += 1;
    }
    found.push(text.get(start..).unwrap_or_default());
    found
}

/// `name = value`, with the words that may declare a name.
fn assignment(statement: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = statement.find_byte(b'=')?;
    let value = statement.get(at + 1..)?;
    if value.starts_with(b"=") || value.starts_with(b">") || value.starts_with(b"~") {
        return None;
    }
    let mut name = statement.get(..at)?.trim_ascii();
    for word in [&b"const "[..], b"let ", b"var ", b"my ", b"local ", b"our "] {
        name = name.strip_prefix(word).unwrap_or(name).trim_ascii();
    }
    let plain = !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@'));
    plain.then(|| (name, value.trim_ascii()))
}

/// Splits arguments at commas outside of brackets and strings.
pub(super) fn arguments(known: &Known<'_>, text: &[u8]) -> Vec<Value> {
    known.inside(|| each_argument(known, text))
}

fn each_argument(known: &Known<'_>, text: &[u8]) -> Vec<Value> {
    let mut values = Vec::new();
    for part in split(known.language, text) {
        let part = part.trim_ascii();
        if part.is_empty() {
            continue;
        }
        values.push(value(known, part));
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
fn value(known: &Known<'_>, text: &[u8]) -> Value {
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
        let words = arguments(known, inner).iter().map(Value::arg).collect();
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
                known
                    .inside(|| Some(value(known, inner)))
                    .map_or_else(Arg::unknown, |value| value.arg())
            };
            arg.glob |= arg.text.iter().any(|byte| b"*?[".contains(byte)) && arg.is_known();
            return Value::Text(arg);
        }
    }
    if let Some(value) = known.of(text).or_else(|| known.joined(text)) {
        return value;
    }
    sum(known, text)
}

/// Literals and what is known of names, put together.
fn sum(known: &Known<'_>, text: &[u8]) -> Value {
    let mut scanner = Scanner {
        text,
        at: 0,
        language: known.language,
    };
    let mut whole = Arg::default();
    let mut any = false;
    while let Some(byte) = scanner.peek() {
        match byte {
            b'"' | b'\'' | b'`' => {
                let part = scanner.string();
                whole.text.extend_from_slice(&part.text);
                any = true;
            }
            b'+' | b' ' | b'\n' | b'\t' | b'.' | b'r' | b'b' | b'f' | b'u'
                if any
                    || text
                        .get(scanner.at + 1)
                        .is_some_and(|next| matches!(next, b'"' | b'\'')) =>
            {
                scanner.at += 1;
            }
            _ => {
                // The rest of this operand.
                let start = scanner.at;
                while scanner
                    .peek()
                    .is_some_and(|byte| !matches!(byte, b'+' | b'"' | b'\'' | b'`'))
                {
                    scanner.at += 1;
                }
                any = true;
                let operand = text.get(start..scanner.at).unwrap_or_default();
                match known.of(operand) {
                    Some(Value::Text(part)) => whole.text.extend_from_slice(&part.text),
                    _ if whole.text.ends_with(&[UNKNOWN]) => {}
                    _ => whole.text.push(UNKNOWN),
                }
            }
        }
    }
    if whole.text == [UNKNOWN].as_slice() || whole.text.is_empty() && !any {
        Value::Unknown
    } else {
        Value::Text(whole)
    }
}
