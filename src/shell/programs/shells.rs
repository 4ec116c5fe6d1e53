//! Shells and their builtins: `sh -c`, `eval`, `source`, `cd`, `export`, `alias`, script files.

use crate::judge::{Level, SystemClass};
use crate::shell::arg::{Arg, UNKNOWN};
use crate::shell::deed::DeedKind;
use crate::shell::options::{Options, Spec};
use crate::shell::scope::{Dir, Value};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Returns true for a shell, whose `--help` may belong to its script.
pub(super) fn knows(name: &str) -> bool {
    is_shell(name)
        || matches!(
            name,
            "eval" | "source" | "." | "pwsh" | "powershell" | "cmd"
        )
}

fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "ksh93"
            | "mksh"
            | "ash"
            | "fish"
            | "rbash"
            | "csh"
            | "tcsh"
            | "yash"
            | "osh"
            | "nu"
            | "xonsh"
            | "elvish"
    )
}

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    let args = call.args;
    Some(match call.name {
        name if is_shell(name) => shell(walk, call),
        "pwsh" | "powershell" => super::windows::powershell(walk, call),
        "cmd" => super::windows::windows(walk, call),
        "eval" => {
            let text = join(args);
            run_text(walk, &text, call.input, "eval")
        }
        "source" | "." => {
            let Some(path) = args.first() else {
                return Some(Stream::Nothing);
            };
            let stream = match path.text.as_slice() {
                b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0" => call.input.clone(),
                _ => walk.read_path(path),
            };
            match stream {
                Stream::Text(text) => walk.run_text(text.as_bstr(), call.input),
                Stream::Remote => remote(walk),
                _ => Stream::Unknown,
            }
        }
        "cd" | "pushd" | "chdir" | "set-location" => {
            change_dir(walk, args);
            Stream::Nothing
        }
        "popd" => {
            let dir = match walk.scope.vars.get(b"OLDPWD".as_bstr()) {
                Some(Value::One(arg)) if arg.is_literal() => Dir::Known(arg.text.clone()),
                _ => Dir::Unknown,
            };
            walk.scope.enter(dir);
            Stream::Nothing
        }
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            let functions = args
                .iter()
                .any(|arg| matches!(arg.word(), "-f" | "-fx" | "-xf"))
                && args
                    .iter()
                    .any(|arg| matches!(arg.word(), "-fx" | "-xf" | "-x") || call.name == "export");
            for word in args.iter().filter(|arg| !arg.is_option()) {
                if functions {
                    super::exported(walk, word);
                }
                super::set_variable(walk, word);
            }
            // `declare x=(…)` arrives as an assignment beside the command.
            for (name, value) in walk.env.clone() {
                super::environment(walk, &name, &value);
            }
            Stream::Nothing
        }
        "unset" => {
            for name in args.iter().filter(|arg| !arg.is_option()) {
                walk.scope.forget(name.text.as_bstr());
            }
            Stream::Nothing
        }
        "set" => {
            if let Some(at) = args.iter().position(|arg| arg.text == "--") {
                walk.scope.positional = args.get(at + 1..).unwrap_or_default().to_vec();
                walk.scope.positional_known = true;
            }
            Stream::Nothing
        }
        "shift" => {
            if !walk.scope.positional.is_empty() {
                walk.scope.positional.remove(0);
            }
            Stream::Nothing
        }
        "read" | "mapfile" | "readarray" | "getopts" => {
            read(walk, call);
            Stream::Nothing
        }
        "alias" => {
            for word in args.iter().filter(|arg| !arg.is_option()) {
                if let Some(at) = word.text.find_byte(b'=') {
                    let name: BString = word.text.get(..at).unwrap_or_default().into();
                    let value: BString = word.text.get(at + 1..).unwrap_or_default().into();
                    super::defined(walk, &name);
                    walk.scope.aliases.insert(name, value);
                }
            }
            Stream::Nothing
        }
        "unalias" => {
            for word in args {
                walk.scope.aliases.remove(&word.text);
            }
            Stream::Nothing
        }
        "test" | "[" | "let" | "wait" | "jobs" | "bg" | "fg" | "disown" | "hash" | "help"
        | "history" | "return" | "break" | "continue" | "exit" | "umask" | "ulimit" | "shopt"
        | "setopt" | "sleep" | "times" | "bind" | "complete" | "compgen" | "enable" | "dirs"
        | "logout" | "suspend" => {
            if call.name == "history"
                && args
                    .iter()
                    .any(|arg| arg.is_option() && arg.text.contains(&b'c'))
            {
                walk.mark(Level::Confirm, "the shell's history is cleared");
            }
            Stream::Nothing
        }
        _ => return None,
    })
}

pub(super) fn join(args: &[Arg]) -> Arg {
    let mut joined = Arg::default();
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            joined.text.push(b' ');
        }
        joined.text.extend_from_slice(&arg.text);
        joined.remote |= arg.remote;
    }
    joined
}

pub(super) fn remote(walk: &mut Walk<'_>) -> Stream {
    walk.note(DeedKind::System {
        class: SystemClass::RemoteCode,
        why: "what is downloaded is run unseen".to_owned(),
    });
    Stream::Unknown
}

/// Runs text that a shell gets, if it is known.
pub(super) fn run_text(walk: &mut Walk<'_>, text: &Arg, input: &Stream, what: &str) -> Stream {
    if text.remote {
        return remote(walk);
    }
    let known = text
        .text
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .any(|byte| *byte != UNKNOWN && *byte != b';');
    if text.has_unknown() && !known {
        walk.opaque(
            Level::MustAsk,
            format!("{what} runs text that is not known"),
        );
        return Stream::Unknown;
    }
    walk.run_text(text.text.as_bstr(), input)
}

/// `ssh-agent -s`, `direnv hook` and the like print settings for `eval`.
fn shell(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    // `+x` is an option like `-x`.
    let args: Vec<Arg> = call
        .args
        .iter()
        .map(|arg| match arg.text.strip_prefix(b"+") {
            Some(b"o" | b"O") | None => arg.clone(),
            Some(letters) if letters.len() < 4 && letters.iter().all(u8::is_ascii_alphabetic) => {
                Arg::known("--posix")
            }
            Some(_) => arg.clone(),
        })
        .collect();
    let options = Options::read(
        &args,
        &Spec {
            short: "oOC",
            long: &["rcfile", "init-file", "init-command", "command", "commands"],
            stops: true,
            ..Spec::default()
        },
    );
    let mut operands = options.operands.clone();
    let with_text = options.has(&["c"])
        || options
            .given
            .iter()
            .any(|given| given.long && given.name.starts_with("command"));
    for path in options.values(&["rcfile", "init-file"]) {
        if let Stream::Text(text) = walk.read_path(path) {
            let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
        }
    }
    for text in options.values(&["C", "init-command", "command", "commands"]) {
        let text = text.clone();
        let scope = walk.scope.clone();
        let _ = run_text(walk, &text, call.input, call.name);
        walk.scope = scope;
    }
    if options.surely(&["n"]) && !with_text {
        return Stream::Unknown;
    }
    if with_text {
        if operands.is_empty() {
            return Stream::Unknown;
        }
        let text = operands.remove(0);
        let scope = walk.scope.clone();
        // The word after the text is `$0`.
        if let Some(zero) = operands.first() {
            walk.scope.assign(b"0".as_bstr(), Value::One(zero.clone()));
        }
        walk.scope.positional = operands.get(1..).unwrap_or_default().to_vec();
        walk.scope.positional_known = true;
        let stream = run_text(walk, &text, call.input, call.name);
        walk.scope = scope;
        return stream;
    }
    if operands.is_empty() || options.has(&["s"]) {
        return match call.input {
            Stream::Text(text) => {
                let scope = walk.scope.clone();
                walk.scope.positional = operands;
                walk.scope.positional_known = true;
                let text = Arg::known(text.clone());
                let stream = run_text(walk, &text, &Stream::Unknown, call.name);
                walk.scope = scope;
                stream
            }
            Stream::Remote => remote(walk),
            Stream::Nothing => Stream::Nothing,
            // A terminal, or what another program wrote.
            Stream::Unknown
            | Stream::Changes
            | Stream::Undoing
            | Stream::Tree(_)
            | Stream::Paths(_) => {
                if walk.piped() {
                    walk.opaque(
                        Level::MustAsk,
                        format!("{} runs what another program writes", call.name),
                    );
                }
                Stream::Unknown
            }
        };
    }
    let path = operands.remove(0);
    if path.remote {
        return remote(walk);
    }
    match walk.read_script(&path) {
        Stream::Text(text) => {
            let scope = walk.scope.clone();
            walk.scope.positional = operands;
            walk.scope.positional_known = true;
            let stream = walk.run_text(text.as_bstr(), call.input);
            walk.scope = scope;
            stream
        }
        Stream::Remote => remote(walk),
        Stream::Nothing => Stream::Nothing,
        Stream::Unknown
        | Stream::Changes
        | Stream::Undoing
        | Stream::Tree(_)
        | Stream::Paths(_) => {
            if path.text.starts_with(b"/dev/fd/") || path.text == "/dev/stdin" || path.text == "-" {
                return shell(
                    walk,
                    &Call {
                        name: call.name,
                        args: &[],
                        input: call.input,
                    },
                );
            }
            script_made(walk, &path);
            Stream::Unknown
        }
    }
}

/// A script that a download in the same command has just written.
fn script_made(walk: &mut Walk<'_>, path: &Arg) {
    if walk.downloaded(path) {
        remote(walk);
    }
}

/// Runs a file by its path, if it is a shell script that can be read.
pub(super) fn run_file(walk: &mut Walk<'_>, path: &str, call: &Call<'_>) -> Stream {
    if !path.contains('/') {
        return Stream::Unknown;
    }
    let path = Arg::known(path);
    script_made(walk, &path);
    let Stream::Text(text) = walk.read_script(&path) else {
        return Stream::Unknown;
    };
    let first = text.lines().next().unwrap_or_default();
    let shebang = first.starts_with(b"#!");
    let is_shell_script = shebang
        && [&b"sh"[..], b"bash", b"zsh", b"dash", b"ksh"]
            .iter()
            .any(|shell| {
                first
                    .split(|byte| matches!(byte, b'/' | b' '))
                    .any(|word| word == *shell)
            });
    let own = walk.written(&path).is_some();
    if is_shell_script || own && !shebang {
        let scope = walk.scope.clone();
        walk.scope.positional = call.args.to_vec();
        walk.scope.positional_known = true;
        let stream = walk.run_text(text.as_bstr(), call.input);
        walk.scope = scope;
        return stream;
    }
    if shebang {
        super::scripts::run_text(walk, first, &text);
    }
    Stream::Unknown
}

fn change_dir(walk: &mut Walk<'_>, args: &[Arg]) {
    let target = args.iter().find(|arg| !arg.is_option() || arg.text == "-");
    let dir = match target {
        None => match &walk.scope.home {
            Some(home) => Dir::Known(home.clone()),
            None => Dir::Unknown,
        },
        Some(arg) if arg.text == "-" => match walk.scope.vars.get(b"OLDPWD".as_bstr()) {
            Some(Value::One(arg)) if arg.is_literal() => Dir::Known(arg.text.clone()),
            _ => Dir::Unknown,
        },
        Some(arg) => walk.scope.dir.join(arg),
    };
    walk.scope.enter(dir);
}

fn read(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "adinNptuCcOs",
            ..Spec::default()
        },
    );
    let value = match call.input {
        Stream::Paths(paths) => match paths.as_slice() {
            [one] => Value::One(one.clone()),
            many => Value::Many(many.to_vec()),
        },
        Stream::Text(text) => {
            let lines: Vec<Arg> = text.lines().take(64).map(Arg::known).collect();
            match <[Arg; 1]>::try_from(lines) {
                Ok([one]) => Value::One(one),
                Err(_) if options.operands.len() == 1 && text.lines().count() < 64 => {
                    // One name takes each line in turn: any of them may be meant.
                    Value::Many(text.lines().map(Arg::known).collect())
                }
                Err(_) => Value::One(Arg::unknown()),
            }
        }
        _ => Value::One(Arg::unknown()),
    };
    let mut names: Vec<BString> = options
        .operands
        .iter()
        .map(|arg| arg.text.clone())
        .collect();
    names.extend(
        options
            .values(&["a"])
            .into_iter()
            .map(|arg| arg.text.clone()),
    );
    if names.is_empty() {
        names.push("REPLY".into());
        names.push("MAPFILE".into());
    }
    let single = names.len() == 1;
    for name in names {
        let value = if single {
            value.clone()
        } else {
            Value::One(Arg::unknown())
        };
        walk.scope.assign(name.as_bstr(), value);
    }
}
