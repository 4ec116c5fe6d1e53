//! Interpreters and task runners: python, node, ruby, perl, make, npm, just, ….

use super::code::{self, Language};
use crate::judge::{Level, SystemClass};
use crate::shell::arg::{Arg, UNKNOWN};
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BStr, BString, ByteSlice as _};

/// An interpreter's options.
struct Interpreter {
    language: Language,
    /// Short options that take program text.
    text: &'static str,
    /// Other short options with a value.
    short: &'static str,
    /// Short options whose value is stuck to them.
    stuck: &'static str,
    /// Long options that take program text.
    long: &'static [&'static str],
}

fn interpreter(name: &str) -> Option<Interpreter> {
    let plain = |language, text, short, stuck, long| Interpreter {
        language,
        text,
        short,
        stuck,
        long,
    };
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "python" | "pypy" | "ipython" | "pythonw" | "py" => {
            plain(Language::Python, "c", "mWXQ", "", &[])
        }
        "node" | "nodejs" | "bun" | "tsx" | "ts-node" => {
            plain(Language::Script, "ep", "rC", "", &["eval", "print"])
        }
        "ruby" | "jruby" | "irb" => plain(Language::Ruby, "e", "rICEF", "iKTWx0l", &[]),
        "elixir" | "iex" | "crystal" => plain(Language::Ruby, "e", "rS", "", &["eval"]),
        "perl" => plain(Language::Perl, "eE", "", "iMmIFlCdDVx0", &[]),
        "php" => plain(Language::Php, "rBRE", "dcfFSt", "", &["run"]),
        "lua" | "luajit" | "texlua" => plain(Language::Other, "e", "l", "", &[]),
        "Rscript" | "R" | "littler" | "r" => plain(Language::Other, "e", "", "", &[]),
        "julia" => plain(Language::Other, "eE", "JtpLC", "", &["eval", "print"]),
        "groovy" | "jshell" | "scala" | "kotlin" => plain(Language::Other, "e", "", "", &[]),
        "osascript" => plain(Language::Other, "e", "ls", "", &[]),
        _ => return None,
    })
}

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "deno" => return Some(deno(walk, call)),
        "bun"
            if !call
                .args
                .iter()
                .any(|arg| matches!(arg.word(), "-e" | "--eval" | "-p" | "--print")) =>
        {
            return None;
        }
        "make" | "gmake" | "bmake" => return Some(make(walk, call)),
        "just" => return Some(just(walk, call)),
        _ => {}
    }
    let of = interpreter(call.name)?;
    Some(interpret(walk, &of, call))
}

fn interpret(walk: &mut Walk<'_>, of: &Interpreter, call: &Call<'_>) -> Stream {
    let mut texts: Vec<Arg> = Vec::new();
    let mut operands: Vec<Arg> = Vec::new();
    let mut in_place = false;
    let mut backup = false;
    let mut module = None;
    let mut printing = false;
    let mut args = call.args.iter();
    'all: while let Some(arg) = args.next() {
        if !operands.is_empty() || !arg.is_option() {
            operands.push(arg.clone());
            continue;
        }
        if arg.text == "--" {
            operands.extend(args.by_ref().cloned());
            break;
        }
        if let Some(long) = arg.text.strip_prefix(b"--") {
            let name = long.split_str("=").next().unwrap_or_default();
            if of.long.iter().any(|one| name == one.as_bytes()) {
                texts.extend(arg.after_equals().or_else(|| args.next().cloned()));
            }
            continue;
        }
        let mut at = 1;
        while let Some(byte) = arg.text.get(at) {
            let letter = char::from(*byte);
            at += 1;
            if of.text.contains(letter) {
                let rest = arg.from(at);
                texts.extend(if rest.text.is_empty() {
                    args.next().cloned()
                } else {
                    Some(rest)
                });
                // What follows Python's program are the program's own arguments.
                if of.language == Language::Python {
                    operands.extend(args.by_ref().cloned());
                    break 'all;
                }
                break;
            }
            if of.stuck.contains(letter) {
                in_place |= letter == 'i';
                backup |= letter == 'i' && arg.text.len() > at;
                // `-pi -e`, `-i.bak`; in `-pie` the e is the suffix, as Perl has it.
                break;
            }
            printing |= letter == 'p';
            if of.short.contains(letter) {
                let rest = arg.from(at);
                let value = if rest.text.is_empty() {
                    args.next().cloned()
                } else {
                    Some(rest)
                };
                if letter == 'm' && of.language == Language::Python {
                    module = value;
                    operands.extend(args.by_ref().cloned());
                    break 'all;
                }
                break;
            }
        }
    }
    if let Some(module) = module {
        return run_module(walk, &module, &operands, call.input);
    }
    for text in &texts {
        if text.remote {
            remote(walk);
        } else {
            let text = text.text.clone();
            code::read(walk, of.language, &text);
        }
    }
    if in_place {
        let prints = printing
            || texts
                .iter()
                .any(|text| text.text.contains_str("print") || text.text.contains_str("say"));
        let blanks = texts.iter().any(|text| empties_lines(&text.text));
        let op = if backup || texts.is_empty() || prints && !blanks {
            PathOp::Change
        } else {
            PathOp::Empty
        };
        for path in &operands {
            walk.file(op.clone(), path);
        }
        return Stream::Nothing;
    }
    if !texts.is_empty() {
        return Stream::Unknown;
    }
    match operands.first() {
        Some(path) if path.text != "-" => {
            if path.remote || walk.downloaded(path) {
                remote(walk);
            } else if let Some(text) = walk.written(path) {
                code::read(walk, of.language, &text);
            } else if path.text.starts_with(b"/dev/fd/") || path.text == "/dev/stdin" {
                let stream = walk.read_path(path);
                from_input(walk, of, &stream, call.name);
            } else if !managed(walk, &operands) {
                script_file(walk, of.language, path);
            }
        }
        _ => from_input(walk, of, &call.input.clone(), call.name),
    }
    Stream::Unknown
}

fn from_input(walk: &mut Walk<'_>, of: &Interpreter, input: &Stream, name: &str) {
    match input {
        Stream::Text(text) => {
            let text = text.clone();
            code::read(walk, of.language, &text);
        }
        Stream::Remote => remote(walk),
        Stream::Unknown | Stream::Changes | Stream::Paths(_) => {
            if walk.piped() {
                walk.opaque(
                    Level::MustAsk,
                    format!("{name} runs what another program writes"),
                );
            }
        }
        Stream::Nothing => {}
    }
}

/// Returns true for a program of `-p` that leaves nothing of any line.
fn empties_lines(text: &[u8]) -> bool {
    let flat: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b';')
        .collect();
    matches!(
        flat.as_slice(),
        b"$_=\"\""
            | b"$_=''"
            | b"$_=undef"
            | b"undef$_"
            | b"undef($_)"
            | b"s/.*//s"
            | b"s/.*\\n?//"
    )
}

fn remote(walk: &mut Walk<'_>) {
    walk.note(DeedKind::System {
        class: SystemClass::RemoteCode,
        why: "what is downloaded is run unseen".to_owned(),
    });
}

/// A script file whose first line names its interpreter.
pub(super) fn run_text(walk: &mut Walk<'_>, shebang: &[u8], text: &[u8]) {
    let name = shebang
        .split(|byte| matches!(byte, b'/' | b' '))
        .rfind(|word| !word.is_empty() && !word.starts_with(b"-"))
        .unwrap_or_default();
    if let Some(of) = name.to_str().ok().and_then(interpreter) {
        code::read_file(walk, of.language, text);
    }
}

fn run_module(walk: &mut Walk<'_>, module: &Arg, rest: &[Arg], input: &Stream) -> Stream {
    let name = match module.word() {
        "pip" | "pip3" => "pip",
        "uv" | "poetry" | "pipenv" | "black" | "isort" | "ruff" | "twine" | "pytest"
        | "alembic" | "django" | "flask" => module.word(),
        _ => return Stream::Unknown,
    };
    let mut args = vec![Arg::known(name)];
    args.extend_from_slice(rest);
    walk.run_args(&args, input)
}

/// Framework scripts whose subcommands destroy data.
fn managed(walk: &mut Walk<'_>, operands: &[Arg]) -> bool {
    let script = operands
        .first()
        .map(|path| {
            path.text
                .rsplit_str("/")
                .next()
                .unwrap_or_default()
                .to_str_lossy()
                .into_owned()
        })
        .unwrap_or_default();
    let name = match script.as_str() {
        "manage.py" => "manage.py",
        "artisan" => "artisan",
        "console" => "bin/console",
        "wp-cli.phar" => "wp",
        _ => return false,
    };
    let args = operands.get(1..).unwrap_or_default().to_vec();
    super::tables::run(
        walk,
        &Call {
            name,
            args: &args,
            input: &Stream::Unknown,
        },
    );
    true
}

/// A script of the project's that an interpreter runs.
fn script_file(walk: &mut Walk<'_>, language: Language, path: &Arg) {
    if let Stream::Text(text) = walk.read_script(path) {
        code::read_file(walk, language, &text);
    }
}

fn deno(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "c",
            long: &["config", "import-map", "lock"],
            ..Spec::default()
        },
    );
    let words = &options.operands;
    match words.first().map(Arg::word) {
        Some("eval") => {
            if let Some(text) = words.get(1) {
                let text = text.text.clone();
                code::read(walk, Language::Script, &text);
            }
        }
        Some("run") => match words.get(1) {
            Some(path) if path.text == "-" => {
                let of = Interpreter {
                    language: Language::Script,
                    text: "",
                    short: "",
                    stuck: "",
                    long: &[],
                };
                from_input(walk, &of, &call.input.clone(), "deno");
            }
            Some(path) if path.text.starts_with(b"http") => remote(walk),
            Some(path) => script_file(walk, Language::Script, &path.clone()),
            None => {}
        },
        Some("fmt") => walk.mark(Level::Autonomous, "files are formatted"),
        _ => {}
    }
    Stream::Unknown
}

/// Files that a directory of the shell may hold, the first that is there.
fn project_file(walk: &Walk<'_>, dir: Option<&Arg>, names: &[&str]) -> Option<BString> {
    names.iter().find_map(|name| {
        let path = match dir {
            Some(dir) => {
                let mut text = dir.text.clone();
                text.push(b'/');
                text.extend_from_slice(name.as_bytes());
                Arg {
                    text,
                    ..dir.clone()
                }
            }
            None => Arg::known(*name),
        };
        match walk.read_path(&path) {
            Stream::Text(text) => Some(text),
            _ => None,
        }
    })
}

fn make(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "CfIoWE",
            stuck: "jl",
            long: &[
                "directory",
                "file",
                "makefile",
                "include-dir",
                "old-file",
                "what-if",
                "eval",
            ],
            ..Spec::default()
        },
    );
    if options.surely(&[
        "n",
        "just-print",
        "dry-run",
        "recon",
        "q",
        "question",
        "v",
        "version",
    ]) {
        return Stream::Unknown;
    }
    let dir = options.value(&["C", "directory"]).cloned();
    let text = match options.value(&["f", "file", "makefile"]) {
        Some(path) if path.text == "-" => match call.input {
            Stream::Text(text) => Some(text.clone()),
            _ => None,
        },
        Some(path) => match walk.read_path(&path.clone()) {
            Stream::Text(text) => Some(text),
            _ => None,
        },
        None => project_file(walk, dir.as_ref(), &["GNUmakefile", "makefile", "Makefile"]),
    };
    let Some(text) = text else {
        return Stream::Unknown;
    };
    let mut targets: Vec<BString> = options
        .operands
        .iter()
        .filter(|arg| !arg.text.contains(&b'='))
        .map(|arg| arg.text.clone())
        .collect();
    let rules = Makefile::read(&text, &options.operands);
    if targets.is_empty() {
        targets.extend(rules.first.clone());
    }
    let scope = walk.scope.clone();
    if let Some(dir) = &dir {
        walk.scope.dir = walk.scope.dir.join(dir);
    }
    let here = walk.scope.clone();
    let mut done: Vec<BString> = Vec::new();
    while let Some(target) = targets.pop() {
        if done.contains(&target) || done.len() > 64 {
            continue;
        }
        done.push(target.clone());
        let Some(rule) = rules.rules.iter().find(|rule| rule.names.contains(&target)) else {
            continue;
        };
        targets.extend(rule.needs.iter().cloned());
        for line in &rule.recipe {
            walk.scope.clone_from(&here);
            let line = rules.expand(line, &target);
            let line = line.trim_start_with(|c| matches!(c, '@' | '-' | '+' | ' ' | '\t'));
            let _ = walk.run_text(line.as_bstr(), &Stream::Unknown);
        }
    }
    walk.scope = scope;
    Stream::Unknown
}

struct Rule {
    names: Vec<BString>,
    needs: Vec<BString>,
    recipe: Vec<BString>,
}

/// As much of a makefile as its recipes need.
struct Makefile {
    rules: Vec<Rule>,
    vars: Vec<(BString, BString)>,
    first: Option<BString>,
}

impl Makefile {
    fn read(text: &[u8], given: &[Arg]) -> Self {
        let mut file = Self {
            rules: Vec::new(),
            vars: Vec::new(),
            first: None,
        };
        let joined = text.replace("\\\n", " ");
        for line in joined.lines() {
            if let Some(recipe) = line.strip_prefix(b"\t") {
                if let Some(rule) = file.rules.last_mut() {
                    rule.recipe.push(recipe.into());
                }
                continue;
            }
            let plain = line.split_str("#").next().unwrap_or_default().trim_ascii();
            if let Some(at) = plain.find_byte(b'=').filter(|at| {
                !plain.get(..*at).unwrap_or_default().contains(&b' ')
                    || plain
                        .get(..*at)
                        .unwrap_or_default()
                        .trim_ascii()
                        .fields()
                        .count()
                        == 1
            }) {
                let name = plain
                    .get(..at)
                    .unwrap_or_default()
                    .trim_end_with(|c| matches!(c, ':' | '?' | '+' | ' '));
                let value = plain.get(at + 1..).unwrap_or_default().trim_ascii();
                file.vars.push((name.into(), value.into()));
            } else if let Some(at) = plain.find_byte(b':') {
                let names: Vec<BString> = plain
                    .get(..at)
                    .unwrap_or_default()
                    .fields()
                    .map(BString::from)
                    .collect();
                let after = plain
                    .get(at + 1..)
                    .unwrap_or_default()
                    .trim_start_with(|c| c == ':');
                let (needs, inline) = match after.find_byte(b';') {
                    Some(end) => (after.get(..end).unwrap_or_default(), after.get(end + 1..)),
                    None => (after, None),
                };
                let needs = needs.fields().map(BString::from).collect();
                if file.first.is_none() {
                    file.first = names
                        .first()
                        .filter(|name| !name.starts_with(b"."))
                        .cloned();
                }
                file.rules.push(Rule {
                    names,
                    needs,
                    recipe: inline.map(BString::from).into_iter().collect(),
                });
            }
        }
        for arg in given {
            if let Some(at) = arg.text.find_byte(b'=') {
                file.vars.push((
                    arg.text.get(..at).unwrap_or_default().into(),
                    arg.text.get(at + 1..).unwrap_or_default().into(),
                ));
            }
        }
        file
    }

    /// Puts in what is known of the variables; the shell's own `$$` becomes `$`.
    fn expand(&self, line: &[u8], target: &BString) -> BString {
        let mut out = BString::from(line);
        for _ in 0..8 {
            let (next, changed) = self.expand_once(&out, target);
            out = next;
            if !changed || out.len() > 64 * 1024 {
                break;
            }
        }
        out.replace("\u{0}", "$").into()
    }

    fn expand_once(&self, line: &[u8], target: &BString) -> (BString, bool) {
        let mut out = BString::default();
        let mut changed = false;
        let mut at = 0;
        while let Some(byte) = line.get(at) {
            if *byte != b'$' {
                out.push(*byte);
                at += 1;
                continue;
            }
            changed = true;
            match line.get(at + 1) {
                Some(b'$') => {
                    out.push(0);
                    at += 2;
                }
                Some(open @ (b'(' | b'{')) => {
                    let close = if *open == b'(' { b')' } else { b'}' };
                    let rest = line.get(at + 2..).unwrap_or_default();
                    let end = rest.find_byte(close).unwrap_or(rest.len());
                    let name = rest.get(..end).unwrap_or_default();
                    match self.vars.iter().rev().find(|(known, _)| known == name) {
                        Some((_, value)) => out.extend_from_slice(value),
                        None if name == b"RM" => out.extend_from_slice(b"rm -f"),
                        None if name == b"MAKE" => out.extend_from_slice(b"make"),
                        None if name == b"CURDIR" || name == b"PWD" => out.extend_from_slice(b"."),
                        None => out.push(UNKNOWN),
                    }
                    at += end + 3;
                }
                Some(b'@') => {
                    out.extend_from_slice(target);
                    at += 2;
                }
                Some(_) => {
                    out.push(crate::shell::arg::TOKEN);
                    at += 2;
                }
                None => at += 1,
            }
        }
        (out, changed)
    }
}

fn just(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "fd",
            long: &["justfile", "working-directory", "set", "shell"],
            ..Spec::default()
        },
    );
    if options.surely(&[
        "n", "dry-run", "l", "list", "show", "summary", "evaluate", "dump",
    ]) {
        return Stream::Unknown;
    }
    let text = match options.value(&["f", "justfile"]) {
        Some(path) => match walk.read_path(&path.clone()) {
            Stream::Text(text) => Some(text),
            _ => None,
        },
        None => project_file(walk, None, &["justfile", ".justfile", "Justfile"]),
    };
    let (Some(text), Some(name)) = (text, options.operands.first()) else {
        return Stream::Unknown;
    };
    let mut inside = false;
    let mut body = BString::default();
    for line in text.lines() {
        if line
            .first()
            .is_some_and(|byte| matches!(byte, b' ' | b'\t'))
        {
            if inside {
                let line = line
                    .trim_ascii()
                    .trim_start_with(|c| matches!(c, '@' | '-'));
                body.extend_from_slice(line);
                body.push(b'\n');
            }
        } else if !line.trim_ascii().is_empty() {
            let head = line.trim_start_with(|c| c == '@');
            inside = head.strip_prefix(name.text.as_slice()).is_some_and(|rest| {
                rest.first().is_some_and(|byte| matches!(byte, b':' | b' ')) && rest.contains(&b':')
            });
        }
    }
    // `{{name}}` is just's own substitution.
    let mut script = BString::default();
    let mut rest: &[u8] = &body;
    while let Some(at) = rest.find("{{") {
        script.extend_from_slice(rest.get(..at).unwrap_or_default());
        script.push(UNKNOWN);
        let after = rest.get(at..).unwrap_or_default();
        let end = after.find("}}").map_or(after.len(), |end| end + 2);
        rest = after.get(end..).unwrap_or_default();
    }
    script.extend_from_slice(rest);
    walk.run_child(script.as_bstr(), &Stream::Unknown)
}

/// Runs a script of `package.json` by its name; false where there is none.
pub(super) fn package_script(walk: &mut Walk<'_>, name: &str, rest: &[Arg]) -> bool {
    let Some(text) = project_file(walk, None, &["package.json"]) else {
        return false;
    };
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(&text) else {
        return false;
    };
    let mut found = false;
    for key in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
        if let Some(script) = package
            .pointer("/scripts")
            .and_then(|scripts| scripts.get(&key))
            .and_then(|script| script.as_str())
        {
            found = true;
            let mut script = BString::from(script);
            if key == name {
                for arg in rest {
                    script.push(b' ');
                    script.extend_from_slice(&crate::shell::walk::quote(&arg.text, arg.glob));
                }
            }
            let text: &BStr = script.as_bstr();
            let _ = walk.run_child(text, &Stream::Unknown);
        }
    }
    found
}
