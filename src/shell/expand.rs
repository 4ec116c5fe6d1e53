//! Expansion: from words to arguments, known as far as they can be.

use super::arg::{Arg, UNKNOWN};
use super::braces;
use super::pattern;
use super::scope::{Dir, Value};
use super::syntax::{Param, Part, Word};
use super::walk::{Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// A value longer than this counts as unknown, so that no script can blow itself up.
const LONGEST: usize = 256 * 1024;

/// Words built up while a word's parts are expanded.
#[derive(Default)]
struct Fields {
    done: Vec<Arg>,
    now: Arg,
    started: bool,
}

impl Fields {
    fn push(&mut self, bytes: &[u8]) {
        if self.now.text.len() + bytes.len() > LONGEST {
            self.now.text = vec![UNKNOWN].into();
        } else {
            self.now.text.extend_from_slice(bytes);
        }
        self.started = true;
    }

    fn push_arg(&mut self, arg: &Arg) {
        self.push(&arg.text);
        self.now.glob |= arg.glob;
        self.now.remote |= arg.remote;
    }

    fn end(&mut self) {
        if self.started {
            self.done.push(std::mem::take(&mut self.now));
            self.started = false;
        }
    }

    /// Adds a value that is split at blanks and whose patterns are live.
    fn split(&mut self, value: &Arg, separators: &[u8]) {
        let parts = |byte: &u8| separators.contains(byte);
        if value.text.first().is_some_and(parts) {
            self.end();
        }
        let mut first = true;
        for word in value.text.split(parts).filter(|word| !word.is_empty()) {
            if !first {
                self.end();
            }
            first = false;
            self.push(word);
            self.now.remote |= value.remote;
            self.now.glob |= value.glob || pattern::is_live(word);
        }
        if !first && value.text.last().is_some_and(parts) {
            self.end();
        }
    }
}

impl Walk<'_> {
    /// Expands a word to any number of arguments.
    pub(crate) fn expand(&mut self, word: &Word) -> Vec<Arg> {
        if let [Part::Bare(bytes)] = word.as_slice()
            && !bytes.contains(&b'{')
        {
            let glob = pattern::is_live(bytes);
            return vec![Arg {
                text: bytes.clone(),
                glob,
                remote: false,
            }];
        }
        match braces::expand(word) {
            Some(words) => words
                .iter()
                .flat_map(|word| self.expand_fields(word))
                .collect(),
            None => self.expand_fields(word),
        }
    }

    fn expand_fields(&mut self, word: &Word) -> Vec<Arg> {
        let mut fields = Fields::default();
        for part in word {
            self.expand_part(part, &mut fields, true);
        }
        fields.end();
        fields.done
    }

    /// Expands a word to one argument, as in an assignment or a redirection.
    pub(crate) fn expand_one(&mut self, word: &Word) -> Arg {
        let mut fields = Fields::default();
        for part in word {
            self.expand_part(part, &mut fields, false);
        }
        let mut one = Arg::default();
        fields.end();
        for (index, field) in fields.done.into_iter().enumerate() {
            if index > 0 {
                one.text.push(b' ');
            }
            one.text.extend_from_slice(&field.text);
            one.glob |= field.glob;
            one.remote |= field.remote;
        }
        one
    }

    fn expand_part(&mut self, part: &Part, fields: &mut Fields, splits: bool) {
        match part {
            Part::Bare(bytes) => {
                fields.push(bytes);
                fields.now.glob |= pattern::is_live(bytes);
            }
            Part::Quoted(bytes) => fields.push(bytes),
            Part::Param(param) => {
                if !param.subscript.is_empty() {
                    let _ = self.expand_one(&param.subscript);
                }
                self.expand_param(param, fields, splits);
            }
            Part::Command { body, quoted } => {
                let stream = self.substitute(body);
                match stream {
                    Stream::Nothing if *quoted => fields.push(b""),
                    Stream::Nothing => {}
                    Stream::Paths(paths) if splits && !*quoted => {
                        for path in paths {
                            fields.push_arg(&path);
                            fields.end();
                        }
                    }
                    stream => {
                        let value = stream.into_arg();
                        if splits && !*quoted {
                            fields.split(&value, &self.separators());
                        } else {
                            fields.push_arg(&value);
                        }
                    }
                }
            }
            Part::Process { body } => {
                let stream = self.substitute(body);
                let remote = matches!(stream, Stream::Remote);
                let name = self.keep_stream(stream);
                fields.push(&name);
                fields.now.remote |= remote;
            }
            Part::Arithmetic(parts) => {
                let _ = self.expand_one(parts);
                fields.push_arg(&Arg::token());
            }
            Part::Tilde(user) => {
                let path = match user.as_slice() {
                    b"" => self.scope.home.clone().map(Arg::known),
                    b"+" => Some(self.dir_arg()),
                    b"-" => self
                        .scope
                        .vars
                        .get(b"OLDPWD".as_bstr())
                        .map(|value| match value {
                            Value::One(arg) => arg.clone(),
                            Value::Many(_) => Arg::unknown(),
                        }),
                    user if user == self.scope.user.as_slice() => {
                        self.scope.home.clone().map(Arg::known)
                    }
                    b"root" => Some(Arg::known("/root")),
                    user => {
                        let mut path = BString::from("/home/");
                        path.extend_from_slice(user);
                        Some(Arg::known(path))
                    }
                };
                fields.push_arg(&path.unwrap_or_else(Arg::unknown));
            }
        }
    }

    /// The bytes at which the shell splits words.
    fn separators(&self) -> Vec<u8> {
        match self.scope.vars.get(b"IFS".as_bstr()) {
            Some(Value::One(arg)) if arg.is_known() => arg.text.to_vec(),
            _ => b" \t\n".to_vec(),
        }
    }

    /// The working directory as a value.
    pub(crate) fn dir_arg(&self) -> Arg {
        match &self.scope.dir {
            Dir::Known(path) => Arg::known(path.clone()),
            Dir::Unknown | Dir::Elsewhere => Arg::unknown(),
        }
    }

    fn expand_param(&mut self, param: &Param, fields: &mut Fields, splits: bool) {
        let name = param.name.as_slice();
        if matches!(name, b"@" | b"*") && param.operator.is_empty() && !param.computed {
            if !self.scope.positional_known {
                fields.push_arg(&Arg::unknown());
                return;
            }
            let many = self.scope.positional.clone();
            Self::push_many(&many, fields, splits, param.quoted);
            return;
        }
        if param.operator.is_empty()
            && !param.computed
            && let Some(Value::Many(items)) = self.scope.vars.get(param.name.as_bstr())
        {
            let items = items.clone();
            Self::push_many(&items, fields, splits, param.quoted);
            return;
        }
        let value = self.param_value(param);
        let Some(value) = value else {
            // Known to be empty.
            if param.quoted {
                fields.push(b"");
            }
            return;
        };
        if param.quoted || !splits {
            fields.push_arg(&value);
        } else {
            fields.split(&value, &self.separators());
        }
    }

    fn push_many(items: &[Arg], fields: &mut Fields, splits: bool, quoted: bool) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                if splits {
                    fields.end();
                } else {
                    fields.push(b" ");
                }
            }
            if quoted || !splits {
                fields.push_arg(item);
            } else {
                fields.split(item, b" \t\n");
            }
        }
    }

    /// A parameter's value; `None` where it is known to be empty.
    fn param_value(&mut self, param: &Param) -> Option<Arg> {
        if param.computed {
            if param.name == "BASH_SOURCE" {
                return self.variable(&"0".into());
            }
            return Some(if param.name.is_empty() {
                Arg::token()
            } else {
                Arg::unknown()
            });
        }
        let plain = self.variable(&param.name);
        match param.operator.as_slice() {
            b"" => plain,
            b":-" | b"-" | b":=" | b"=" => {
                let known = self.is_set(&param.name);
                match plain {
                    Some(value) if known => Some(value),
                    _ => {
                        let word = self.expand_one(&param.word);
                        if param.operator.ends_with(b"=") {
                            let name = param.name.clone();
                            self.scope.assign(name.as_bstr(), Value::One(word.clone()));
                        }
                        (!word.text.is_empty()).then_some(word)
                    }
                }
            }
            b":+" | b"+" => {
                let word = self.expand_one(&param.word);
                (!word.text.is_empty()).then_some(word)
            }
            b":?" | b"?" => Some(plain.unwrap_or_else(Arg::unknown)),
            operator => {
                let operator = operator.to_vec();
                let word = self.expand_one(&param.word);
                let value = plain?;
                Some(edit(&operator, &value, &word))
            }
        }
    }

    fn is_set(&self, name: &BString) -> bool {
        self.scope.vars.contains_key(name)
            || name.first().is_some_and(u8::is_ascii_digit)
            || name == "PWD"
            || name == "HOME"
    }

    /// A variable's value; `None` where it is known to be empty.
    pub(crate) fn variable(&self, name: &BString) -> Option<Arg> {
        match self.scope.vars.get(name) {
            Some(Value::One(arg)) => return (!arg.text.is_empty()).then(|| arg.clone()),
            Some(Value::Many(items)) => return items.first().cloned(),
            None => {}
        }
        if self.scope.unset.contains(name) {
            return None;
        }
        match name.as_slice() {
            b"PWD" => Some(self.dir_arg()),
            b"HOME" => Some(
                self.scope
                    .home
                    .clone()
                    .map_or_else(Arg::unknown, Arg::known),
            ),
            b"USER" | b"LOGNAME" => Some(Arg::known(self.scope.user.clone())),
            b"?" | b"$" | b"!" | b"#" | b"-" | b"RANDOM" | b"SECONDS" | b"EPOCHSECONDS"
            | b"EPOCHREALTIME" | b"SRANDOM" | b"UID" | b"EUID" | b"BASHPID" | b"PPID"
            | b"LINENO" | b"HOSTNAME" | b"BASH_VERSION" => Some(Arg::token()),
            b"0" => Some(Arg::known("bash")),
            b"IFS" => Some(Arg::known(" \t\n")),
            digits if digits.iter().all(u8::is_ascii_digit) && !digits.is_empty() => {
                let index: usize = digits.to_str().ok()?.parse().ok()?;
                match self.scope.positional.get(index.checked_sub(1)?) {
                    Some(arg) => Some(arg.clone()),
                    None if self.scope.positional_known => None,
                    None => Some(Arg::unknown()),
                }
            }
            _ => Some(Arg::unknown()),
        }
    }
}

/// Applies a substring or pattern operator.
fn edit(operator: &[u8], value: &Arg, word: &Arg) -> Arg {
    if !value.is_known() || !word.is_known() {
        return Arg::unknown();
    }
    let text = value.text.as_slice();
    let glob = word.text.as_slice();
    let cut: Option<BString> = match operator {
        b"#" => (0..=text.len())
            .find(|end| pattern::matches(glob, text.get(..*end).unwrap_or_default()))
            .map(|end| text.get(end..).unwrap_or_default().into())
            .or_else(|| Some(text.into())),
        b"##" => (0..=text.len())
            .rev()
            .find(|end| pattern::matches(glob, text.get(..*end).unwrap_or_default()))
            .map(|end| text.get(end..).unwrap_or_default().into())
            .or_else(|| Some(text.into())),
        b"%" => (0..=text.len())
            .rev()
            .find(|start| pattern::matches(glob, text.get(*start..).unwrap_or_default()))
            .map(|start| text.get(..start).unwrap_or_default().into())
            .or_else(|| Some(text.into())),
        b"%%" => (0..=text.len())
            .find(|start| pattern::matches(glob, text.get(*start..).unwrap_or_default()))
            .map(|start| text.get(..start).unwrap_or_default().into())
            .or_else(|| Some(text.into())),
        b"," | b",," => Some(text.to_ascii_lowercase().into()),
        b"^^" => Some(text.to_ascii_uppercase().into()),
        b":" => substring(text, glob),
        b"/" | b"//" => {
            let (from, to) = match glob.find_byte(b'/') {
                Some(at) => (
                    glob.get(..at).unwrap_or_default(),
                    glob.get(at + 1..).unwrap_or_default(),
                ),
                None => (glob, &b""[..]),
            };
            let plain = !from.is_empty() && !from.iter().any(|byte| b"*?[#%".contains(byte));
            plain.then(|| {
                if operator.len() == 2 {
                    text.replace(from, to).into()
                } else {
                    text.replacen(from, to, 1).into()
                }
            })
        }
        _ => None,
    };
    cut.map_or_else(Arg::unknown, Arg::known)
}

/// `${x:offset:length}` with plain numbers.
fn substring(text: &[u8], spec: &[u8]) -> Option<BString> {
    let spec = spec.to_str().ok()?;
    let (offset, length) = match spec.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (spec, None),
    };
    let offset: i64 = offset.trim().parse().ok()?;
    let size = i64::try_from(text.len()).ok()?;
    let start = if offset < 0 { size + offset } else { offset }.clamp(0, size);
    let end = match length {
        None => size,
        Some(length) => {
            let length: i64 = length.trim().parse().ok()?;
            if length < 0 {
                size + length
            } else {
                start + length
            }
        }
    }
    .clamp(start, size);
    Some(
        text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?
            .into(),
    )
}
