//! What each program does with its arguments: one file a family.
//!
//! A program that no file knows does nothing that is judged, apart from its
//! redirections: most commands are a project's own tools.

#![allow(
    clippy::match_same_arms,
    clippy::if_same_then_else,
    reason = "the arms are tables: what stands apart means different things"
)]

mod abbreviations;
mod archives;
mod carriers;
mod code;
mod consoles;
mod copying;
mod each;
mod editors;
mod elsewhere;
mod escapes;
mod files;
mod find;
pub mod git;
mod guard;
mod makefile;
mod outputs;
mod packages;
mod patches;
mod printing;
mod runners;
mod scripted;
mod scripts;
mod shells;
mod sockets;
mod sql;
mod system;
mod tables;
mod tasks;
mod terminals;
mod unread;
mod web;
mod windows;

use super::arg::Arg;
use super::deed::DeedKind;
use super::options;
use super::scope::Value;
use super::walk::{Call, Stream, Walk};
use crate::judge::Level;
use bstr::{BString, ByteSlice as _};

/// Runs one command: finds the program and notes what it would do.
pub(crate) fn run(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let Some(first) = args.first() else {
        return Stream::Nothing;
    };
    let rest = args.get(1..).unwrap_or_default();
    let Some(path) = first.literal().and_then(|name| name.to_str().ok()) else {
        return unknown_program(walk, first, rest, input);
    };
    let path = path.to_owned();
    let name = base_name(&path);
    let call = Call {
        name: &name,
        args: rest,
        input,
    };
    guard::look(walk, &call);
    if let Some(declared) = walk.lookup.declared(&name, rest) {
        let first = walk.script.deeds.len();
        let stream = known_program(walk, &call, &path);
        if declared.agreed {
            walk.script.lower(first);
        }
        walk.mark(declared.level, declared.why);
        return stream;
    }
    known_program(walk, &call, &path)
}

fn known_program(walk: &mut Walk<'_>, call: &Call<'_>, path: &str) -> Stream {
    let (name, rest) = (call.name, call.args);
    if options::asks_help(rest) && !carriers::knows(name) && !shells::knows(name) {
        return Stream::Unknown;
    }
    if prints_settings(call) {
        return Stream::Nothing;
    }
    let args = abbreviations::in_full(call);
    let call = Call {
        name,
        args: &args,
        input: call.input,
    };
    dispatch(walk, &call, path)
}

/// Programs that print settings of theirs for `eval` or `source`.
fn prints_settings(call: &Call<'_>) -> bool {
    let words: Vec<&str> = call.args.iter().map(Arg::word).collect();
    match call.name {
        "ssh-agent" => call.args.iter().all(Arg::is_option),
        "gpg-agent"
        | "dircolors"
        | "lesspipe"
        | "keychain"
        | "resize"
        | "thefuck"
        | "zoxide"
        | "starship"
        | "register-python-argcomplete"
        | "atuin"
        | "mcfly" => true,
        "luarocks" => words.first() == Some(&"path"),
        "pyenv" | "rbenv" | "nodenv" | "goenv" | "jenv" | "plenv" | "pipenv" => {
            matches!(words.first(), Some(&("init" | "virtualenv-init")))
        }
        "direnv" => matches!(words.first(), Some(&("hook" | "export" | "stdlib"))),
        "brew" => words.first() == Some(&"shellenv"),
        "minikube" | "docker-machine" | "podman-machine" => {
            matches!(
                words.first(),
                Some(&("docker-env" | "env" | "podman-env" | "completion"))
            )
        }
        "fnm" | "opam" | "mise" | "rtx" | "asdf" | "volta" | "sdk" | "spack" => {
            matches!(
                words.first(),
                Some(&("env" | "activate" | "hook-env" | "completion" | "init"))
            )
        }
        "conda" | "mamba" | "micromamba" => {
            words.first().is_some_and(|word| word.starts_with("shell"))
        }
        _ => matches!(words.first(), Some(&("completion" | "completions"))) && words.len() <= 3,
    }
}

/// Whether a path is that of a program of the machine's, not of a project's script.
fn is_installed(path: &str) -> bool {
    ["/usr/", "/bin/", "/sbin/", "/opt/", "/snap/", "/nix/"]
        .iter()
        .any(|place| path.starts_with(place))
        || ["/.local/bin/", "/.cargo/bin/", "/go/bin/"]
            .iter()
            .any(|place| path.contains(place))
}

/// Directories whose scripts each start and stop one service.
const SERVICES: &[&str] = &["/etc/init.d/", "/etc/rc.d/", "/usr/local/etc/rc.d/"];

fn dispatch(walk: &mut Walk<'_>, call: &Call<'_>, path: &str) -> Stream {
    if SERVICES.iter().any(|dir| path.starts_with(dir)) {
        let mut args = vec![Arg::known(call.name)];
        args.extend_from_slice(call.args);
        let service = Call {
            name: "service",
            args: &args,
            input: call.input,
        };
        if let Some(stream) = system::run(walk, &service) {
            return stream;
        }
    }
    outputs::look(walk, call);
    sockets::look(walk, call);
    escapes::look(walk, call);
    unread::look(walk, call);
    runners::look(walk, call);
    tasks::look(walk, call);
    if consoles::run(walk, call) {
        return Stream::Unknown;
    }
    if let Some(stream) = escapes::carried(walk, call)
        .or_else(|| shells::run(walk, call))
        .or_else(|| printing::run(walk, call))
        .or_else(|| carriers::run(walk, call))
        .or_else(|| files::run(walk, call))
        .or_else(|| copying::run(walk, call))
        .or_else(|| archives::run(walk, call))
        .or_else(|| patches::run(walk, call))
        .or_else(|| editors::run(walk, call))
        .or_else(|| find::run(walk, call))
        .or_else(|| scripts::run(walk, call))
        .or_else(|| sql::run(walk, call))
        .or_else(|| web::run(walk, call))
        .or_else(|| packages::run(walk, call))
        .or_else(|| system::run(walk, call))
    {
        return stream;
    }
    if call.name == "hub" && tables::run(walk, call) && walk.noted_by_table() {
        return Stream::Unknown;
    }
    if call.name == "git" || call.name == "hub" || call.name == "jgit" {
        return git::run(walk, call);
    }
    if let Some(sub) = call.name.strip_prefix("git-") {
        let mut args = vec![Arg::known(sub)];
        args.extend_from_slice(call.args);
        return git::run(
            walk,
            &Call {
                name: "git",
                args: &args,
                input: call.input,
            },
        );
    }
    if tables::run(walk, call) {
        return Stream::Unknown;
    }
    if !path.contains('/') || is_installed(path) {
        tables::by_words(walk, call);
    }
    runners::embedded(walk, call);
    shells::run_file(walk, path, call)
}

/// Judges a command whose program is not known.
fn unknown_program(walk: &mut Walk<'_>, first: &Arg, rest: &[Arg], input: &Stream) -> Stream {
    if first.remote {
        walk.note(DeedKind::System {
            class: crate::judge::SystemClass::RemoteCode,
            why: "the command itself is downloaded".to_owned(),
        });
        return Stream::Unknown;
    }
    if !first.has_unknown() && first.glob {
        walk.opaque(Level::MustAsk, "the program is given by a pattern");
        return Stream::Unknown;
    }
    // `$SUDO rm -rf x`: the rest may be a command of its own.
    let mut worst = false;
    if let Some(next) = rest.iter().find(|arg| !arg.is_option())
        && next.is_literal()
        && !next.text.starts_with(b"-")
    {
        let at = rest.iter().position(|arg| arg == next).unwrap_or(0);
        let before = walk.script.deeds.len();
        let tail: Vec<Arg> = rest.get(at..).unwrap_or_default().to_vec();
        let _ = walk.run_args(&tail, input);
        worst = walk.script.deeds.len() > before;
    }
    if !worst {
        let shown = first.shown();
        // `"$DIR/bin/tool"` names a program of the project, `$CMD` anything at all.
        let level = if first.text.contains(&b'/') && !first.text.ends_with(&[super::arg::UNKNOWN]) {
            Level::Autonomous
        } else {
            Level::Confirm
        };
        if level > Level::Autonomous {
            walk.opaque(level, format!("the program {shown} is not known"));
        }
    }
    Stream::Unknown
}

/// A program's name without its directory, as far as the directory is one for programs.
fn base_name(path: &str) -> String {
    let name = match path.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => path,
    };
    let name = name
        .strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".EXE"))
        .unwrap_or(name);
    // Cmdlets and commands of Windows shells do not care for case.
    if name.contains('-') || name.chars().any(|letter| letter.is_ascii_lowercase()) {
        let lower = name.to_ascii_lowercase();
        if tables::is_cmdlet(&lower) {
            return lower;
        }
    }
    name.to_owned()
}

/// Judges a variable that is set for the commands that follow.
pub(crate) fn environment(walk: &mut Walk<'_>, name: &BString, value: &Arg) {
    guard::variable(walk, name, value);
}

/// Judges the name of a function or alias: the guard's own is not for others.
pub(crate) fn defined(walk: &mut Walk<'_>, name: &BString) {
    if let Ok(name) = name.to_str()
        && guard::is_own(name)
    {
        guard::shadowed(walk, name);
    }
}

/// Judges the name of a function that other programs' shells get too.
pub(crate) fn exported(walk: &mut Walk<'_>, name: &Arg) {
    if guard::stands_for(name.word()) {
        guard::shadowed(walk, name.word());
    }
}

/// Sets or forgets a variable of the shell.
pub(crate) fn set_variable(walk: &mut Walk<'_>, word: &Arg) {
    let Some(at) = word.text.find_byte(b'=') else {
        return;
    };
    let name: BString = word.text.get(..at).unwrap_or_default().into();
    let value = word.from(at + 1);
    environment(walk, &name, &value);
    walk.scope.assign(name.as_bstr(), Value::One(value));
}
