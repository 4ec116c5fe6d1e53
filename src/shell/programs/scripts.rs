//! Interpreters and the scripts that they are given: python, node, ruby, perl, npm, ….

use super::code::{self, Language};
use super::makefile::{just, make};
use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
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

/// Returns true for a program that runs the program text it reads.
pub(super) fn knows(name: &str) -> bool {
    interpreter(name).is_some()
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
    let mut backup = None;
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
            if matches!(letter, 'l' | '0') && matches!(of.language, Language::Perl | Language::Ruby)
            {
                // `-lne`, `-0777ne`: digits at most belong to them.
                while arg.text.get(at).is_some_and(|byte| {
                    byte.is_ascii_hexdigit() && !byte.is_ascii_alphabetic() || *byte == b'x'
                }) {
                    at += 1;
                }
                continue;
            }
            if of.stuck.contains(letter) {
                in_place |= letter == 'i';
                if letter == 'i' && arg.text.len() > at {
                    backup = Some(arg.from(at));
                }
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
        let op = if texts.is_empty() || prints && !blanks {
            PathOp::Change
        } else {
            PathOp::Empty
        };
        for path in &operands {
            if let Some(suffix) = &backup {
                let mut copy = path.clone();
                copy.text.extend_from_slice(&suffix.text);
                walk.file(PathOp::Replace, &copy);
                walk.file(PathOp::Change, path);
            } else {
                walk.file(op.clone(), path);
            }
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
            } else if !managed(walk, &operands, call.input) {
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
        Stream::Unknown
        | Stream::Changes
        | Stream::Undoing
        | Stream::Tree(_)
        | Stream::Paths(_) => {
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
            | b"exit"
            | b"next"
            | b"printif0"
            | b"printunless1"
            | b"printiffalse"
            | b"putsiffalse"
            | b"last"
            | b"$_.clear"
            | b"$_.replace(\"\")"
            | b"$_=nil"
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
fn managed(walk: &mut Walk<'_>, operands: &[Arg], input: &Stream) -> bool {
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
        "setup.py" => "setup.py",
        _ => return false,
    };
    let args = operands.get(1..).unwrap_or_default().to_vec();
    let call = Call {
        name,
        args: &args,
        input,
    };
    if !super::consoles::run(walk, &call) {
        super::tables::run(walk, &call);
    }
    name != "setup.py"
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
        Some("uninstall" | "remove" | "rm") => {
            let machine = options.has(&["g", "global"])
                || words.first().is_some_and(|word| word.text == "uninstall");
            let names = words.iter().skip(1).map(Arg::shown).collect();
            super::packages::removed(walk, "deno", names, machine);
        }
        _ => {}
    }
    Stream::Unknown
}

/// Files that a directory of the shell may hold, the first that is there.
pub(super) fn project_file(walk: &Walk<'_>, dir: Option<&Arg>, names: &[&str]) -> Option<BString> {
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
