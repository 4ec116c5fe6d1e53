//! Programs given as text in other languages: which file and process calls they make.
//!
//! No parser of any language: a scan for calls that are known by name, outside
//! of strings and comments, with the literals among their arguments. What a
//! call gets that is no literal counts as unknown; code that is itself made up
//! at run time counts as opaque.

mod calls;
mod scan;
mod spelled;
mod values;

use self::calls::{Does, find};
use self::scan::Call;
use self::values::{Known, Value};
use crate::judge::{Level, SystemClass};
use crate::shell::arg::{Arg, UNKNOWN};
use crate::shell::deed::{Deed, DeedKind, PathOp};
use crate::shell::scope::Dir;
use crate::shell::walk::{Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// A family of languages with the same look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Script,
    /// Ruby, Elixir, Crystal.
    Ruby,
    /// Perl.
    Perl,
    /// PHP.
    Php,
    /// Lua, R, Julia and others whose calls have parentheses.
    Other,
}

/// Notes what a program's text would do.
pub(super) fn read(walk: &mut Walk<'_>, language: Language, text: &[u8]) {
    read_within(walk, language, text, 0);
}

fn read_within(walk: &mut Walk<'_>, language: Language, text: &[u8], depth: u8) {
    let text = &*spelled::plain(text);
    if text
        .iter()
        .all(|byte| *byte == UNKNOWN || byte.is_ascii_whitespace())
        && !text.is_empty()
    {
        walk.opaque(Level::MustAsk, "the program's text is not known");
        return;
    }
    if language == Language::Script && fetches_deletion(text) {
        walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: "a server is told to delete something".to_owned(),
        });
    }
    if text.contains_str("TIOCSTI") {
        walk.note(DeedKind::Guard {
            why: "words are put into a terminal as if a person had typed them".to_owned(),
        });
    }
    for call in calls_of(walk, language, text) {
        if let Some(words) = named_after(language, &call) {
            let _ = walk.run_args(&words, &Stream::Unknown);
        } else if let Some(does) = find(language, &call, text) {
            apply(walk, language, does, &call, text, depth);
        }
    }
    for command in scan::backquoted(language, text) {
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
    }
    if language == Language::Other {
        super::scripted::apple_script(walk, text);
        for command in scan::executed(text) {
            let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        }
    }
    if calls::passes_deletion(text) {
        walk.file(PathOp::Delete { recursive: true }, &Arg::unknown());
    }
}

/// `fetch(url, {method: 'DELETE'})`, but for a server of this machine.
fn fetches_deletion(text: &[u8]) -> bool {
    let flat: Vec<u8> = text
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace() && !b"'\"`".contains(byte))
        .map(u8::to_ascii_lowercase)
        .collect();
    let asks = ["fetch(", "axios", "request(", "got("]
        .iter()
        .any(|name| flat.contains_str(name));
    let here = ["://localhost", "://127.0.0.1"]
        .iter()
        .any(|host| flat.contains_str(host));
    asks && !here && flat.contains_str("method:delete")
}

fn calls_of(walk: &mut Walk<'_>, language: Language, text: &[u8]) -> Vec<Call> {
    let home = walk.scope.home.clone();
    let known = Known::read(language, text, home.as_ref().map(|home| home.as_bstr()));
    let calls = scan::calls(&known, text);
    if known.was_too_deep() {
        walk.opaque(Level::MustAsk, "code nested too deeply to be read");
    }
    calls
}

/// Notes what a script of the project would do, as far as that is certain.
///
/// A program on disk has branches that this run may not take, and values that
/// only it knows. Deletions of things that are there and commands that it
/// starts count; what it writes, asks of a database or makes up does not.
pub(super) fn read_file(walk: &mut Walk<'_>, language: Language, text: &[u8]) {
    let text = &*spelled::plain(text);
    let first = walk.script.deeds.len();
    for call in calls_of(walk, language, text) {
        if let Some(does @ (Does::Delete | Does::Truncate | Does::Run)) =
            find(language, &call, text)
        {
            apply(walk, language, does, &call, text, 0);
        }
    }
    for command in scan::backquoted(language, text) {
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
    }
    let added = walk
        .script
        .deeds
        .split_off(first.min(walk.script.deeds.len()));
    let certain: Vec<_> = added
        .into_iter()
        .filter(|deed| is_certain(walk, deed))
        .collect();
    walk.script.deeds.extend(certain);
}

fn is_certain(walk: &Walk<'_>, deed: &Deed) -> bool {
    match &deed.kind {
        DeedKind::File { op, path } => {
            let destroys = matches!(
                op,
                PathOp::Delete { .. } | PathOp::Empty | PathOp::Mirror | PathOp::Move { .. }
            );
            let there = match deed.dir.join(path) {
                Dir::Known(path) => walk.lookup.exists(&path).unwrap_or(true),
                Dir::Unknown | Dir::Elsewhere => false,
            };
            destroys && there
        }
        DeedKind::Git(_) | DeedKind::System { .. } | DeedKind::Guard { .. } => true,
        DeedKind::Bypass { .. } => true,
        DeedKind::Marked { level, .. } => *level == Level::MustAsk,
        DeedKind::Package { .. } | DeedKind::Opaque { .. } => false,
    }
}

fn apply(walk: &mut Walk<'_>, language: Language, does: Does, call: &Call, text: &[u8], depth: u8) {
    let first = call.args.first();
    match does {
        Does::Delete => {
            let targets: Vec<Arg> = match (&call.receiver, call.args.as_slice()) {
                (Some(receiver), _) if call.on_path() => vec![receiver.clone()],
                (_, []) => vec![Arg::unknown()],
                (_, args) if matches!(language, Language::Perl | Language::Ruby) => {
                    args.iter().flat_map(Value::paths).collect()
                }
                (_, [first, ..]) => first.paths(),
            };
            for path in targets {
                walk.file(PathOp::Delete { recursive: true }, &path);
            }
        }
        Does::DeleteEmpty => {}
        Does::Write => {
            let path = if call.on_path() {
                call.receiver.clone()
            } else {
                first.map(Value::arg)
            };
            written(walk, path, PathOp::Replace);
        }
        Does::Append => written(walk, first.map(Value::arg), PathOp::Change),
        Does::Truncate => {
            let path = first.map_or_else(Arg::unknown, Value::arg);
            walk.file(PathOp::Empty, &path);
        }
        Does::Open => {
            let mode = call
                .args
                .iter()
                .skip(usize::from(!call.on_path()))
                .find_map(Value::mode)
                .unwrap_or_default();
            let path = if call.on_path() {
                call.receiver.clone()
            } else if language == Language::Perl {
                perl_file(call)
            } else {
                first.map(Value::arg)
            };
            match mode.as_str() {
                "w" => written(walk, path, PathOp::Replace),
                "a" => written(walk, path, PathOp::Change),
                _ => {}
            }
        }
        Does::Move => {
            if let [from, to, ..] = call.args.as_slice() {
                let to = to.arg();
                for path in from.paths() {
                    if path.is_known() {
                        walk.file(PathOp::Move { to: to.clone() }, &path);
                    }
                }
                if to.is_known() {
                    walk.file(PathOp::Replace, &to);
                }
            }
        }
        Does::Copy => {
            if let [from, to, ..] = call.args.as_slice() {
                let to = to.arg();
                if to.is_known() {
                    super::copying::into(walk, &from.arg(), &to, false);
                }
            }
        }
        Does::Run => run(walk, call),
        Does::Evaluate => evaluate(walk, language, call, text, depth),
        Does::Query => {
            for arg in &call.args {
                let text = arg.arg().text;
                super::sql::statements(walk, &text);
            }
        }
        Does::Unpackage => {
            let names = first.map(Value::paths).unwrap_or_default();
            let names = names.iter().map(Arg::shown).collect();
            super::packages::removed(walk, &call.name, names, false);
        }
        Does::ServerDelete => walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: "a server is told to delete something".to_owned(),
        }),
    }
}

fn written(walk: &mut Walk<'_>, path: Option<Arg>, op: PathOp) {
    match path {
        Some(path) if !path.has_unknown() && !path.text.is_empty() => walk.file(op, &path),
        _ => walk.mark(
            Level::Transparent,
            "a file is written whose name is not known here",
        ),
    }
}

/// Perl's `open(F, ">x")` and `open(my $f, '>', 'x')`.
fn perl_file(call: &Call) -> Option<Arg> {
    match call.args.as_slice() {
        [_, _, path, ..] => Some(path.arg()),
        [_, both] => {
            let arg = both.arg();
            let at = arg.text.iter().position(|byte| !b">+ ".contains(byte))?;
            Some(arg.from(at))
        }
        _ => None,
    }
}

/// A process that is started: a command line, or a program with its arguments.
/// The program that a call is named after: Python's `sh.rm('-rf', 'x')`, GitPython's `repo.git.reset('--hard')`.
fn named_after(language: Language, call: &Call) -> Option<Vec<Arg>> {
    let mut parts = call.name.rsplit('.');
    let (last, before) = (parts.next()?, parts.next()?);
    let mut words = match (language, before) {
        (Language::Python, "git") => vec![Arg::known("git"), Arg::known(last.replace('_', "-"))],
        (Language::Python, "sh") if call.name == format!("sh.{last}") => vec![Arg::known(last)],
        _ => return None,
    };
    words.extend(call.args.iter().flat_map(|arg| match arg {
        Value::List(more) => more.clone(),
        other => vec![other.arg()],
    }));
    Some(words)
}

fn run(walk: &mut Walk<'_>, call: &Call) {
    let Some(first) = call.args.first() else {
        return;
    };
    if let Value::List(words) = first {
        let words = words.clone();
        let _ = walk.run_args(&words, &Stream::Unknown);
        return;
    }
    let command = first.arg();
    if command.text.is_empty() {
        return;
    }
    if command.text.first() == Some(&UNKNOWN) && command.text.len() == 1 {
        walk.opaque(Level::Confirm, "a command is run that is not known here");
        return;
    }
    // `spawn('rm', ['-rf', 'x'])`, `system('rm', '-rf', 'x')`.
    let mut words = vec![command.clone()];
    for arg in call.args.iter().skip(1) {
        match arg {
            Value::List(more) => words.extend(more.iter().cloned()),
            Value::Text(text) => words.push(text.clone()),
            Value::Unknown => {}
        }
    }
    if words.len() > 1 && !command.text.contains(&b' ') {
        // `os.execvp('rm', ['rm', '-rf', 'x'])` repeats the program.
        if words.get(1) == Some(&command) {
            words.remove(1);
        }
        let _ = walk.run_args(&words, &Stream::Unknown);
    } else {
        let _ = walk.run_child(command.text.as_bstr(), &Stream::Unknown);
    }
}

/// Code made up at run time.
fn evaluate(walk: &mut Walk<'_>, language: Language, call: &Call, text: &[u8], depth: u8) {
    if let Some(Value::Text(code)) = call.args.first()
        && !code.has_unknown()
        && depth < 4
    {
        let code = code.text.clone();
        read_within(walk, language, &code, depth + 1);
        return;
    }
    let fetches = [
        "urlopen",
        "requests.get",
        "urllib",
        "fetch(",
        "http.get",
        "https.get",
        "Net::HTTP",
        "open-uri",
        "file_get_contents('http",
        "LWP",
        "httpx.",
    ]
    .iter()
    .any(|word| text.contains_str(word));
    if fetches {
        walk.note(DeedKind::System {
            class: SystemClass::RemoteCode,
            why: "what is downloaded is run unseen".to_owned(),
        });
        return;
    }
    let decoded = scan::literals(language, text)
        .into_iter()
        .filter(|literal| literal.len() >= 8)
        .find_map(|literal| super::printing::decode64(&literal).filter(is_text));
    let hidden = [
        "b64decode",
        "fromhex",
        "unhexlify",
        "decompress",
        "marshal",
        "codecs",
        "atob",
        "'base64'",
        "\"base64\"",
        "unpack(",
        "base64_decode",
        "Base64",
        "gzinflate",
        "chr(",
        "fromCharCode",
        "rot13",
    ]
    .iter()
    .any(|word| text.contains_str(word));
    match decoded {
        Some(code) if hidden && depth < 4 => {
            walk.opaque(Level::Confirm, "code is decoded and run");
            read_within(walk, language, &code, depth + 1);
        }
        _ if hidden => walk.opaque(Level::MustAsk, "code is decoded and run unseen"),
        _ => walk.opaque(Level::Confirm, "code is made up and run unseen"),
    }
}

fn is_text(bytes: &BString) -> bool {
    !bytes.is_empty()
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}
