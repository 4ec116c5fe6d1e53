//! Programs that run another program: sudo, env, timeout, script, expect, ….

use super::each::{parallel, xargs};
use super::elsewhere::{other_root, ssh};
use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// A program that runs the command among its own arguments.
struct Carrier {
    name: &'static str,
    /// Short options with a value.
    short: &'static str,
    /// Long options with a value.
    long: &'static [&'static str],
    /// Operands of its own before the command.
    skip: usize,
}

const fn carrier(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    skip: usize,
) -> Carrier {
    Carrier {
        name,
        short,
        long,
        skip,
    }
}

/// Carriers whose command follows their options as plain words.
const CARRIERS: &[Carrier] = &[
    carrier(
        "sudo",
        "ugpCDhRTUrt",
        &[
            "user",
            "group",
            "prompt",
            "chdir",
            "host",
            "chroot",
            "command-timeout",
            "other-user",
            "role",
            "type",
            "close-from",
            "preserve-env",
        ],
        0,
    ),
    carrier("doas", "uC", &[], 0),
    carrier(
        "run0",
        "ug",
        &[
            "user", "group", "unit", "property", "chdir", "slice", "setenv", "nice",
        ],
        0,
    ),
    carrier("pkexec", "", &["user"], 0),
    carrier("gosu", "", &[], 1),
    carrier("su-exec", "", &[], 1),
    carrier("setpriv", "", &["reuid", "regid", "groups"], 0),
    carrier("nice", "n", &["adjustment"], 0),
    carrier("ionice", "cnpPu", &["class", "classdata"], 0),
    carrier("chrt", "TPD", &[], 1),
    carrier("taskset", "", &[], 1),
    carrier("nohup", "", &[], 0),
    carrier("timeout", "ks", &["kill-after", "signal"], 1),
    carrier("gtimeout", "ks", &["kill-after", "signal"], 1),
    carrier("time", "fo", &["format", "output"], 0),
    carrier("gtime", "fo", &["format", "output"], 0),
    carrier("stdbuf", "ioe", &["input", "output", "error"], 0),
    carrier("unbuffer", "", &[], 0),
    carrier("setsid", "", &[], 0),
    carrier("setarch", "", &[], 1),
    carrier("linux32", "", &[], 0),
    carrier("linux64", "", &[], 0),
    carrier("prlimit", "p", &["pid"], 0),
    carrier("cpulimit", "lp", &["limit"], 0),
    carrier(
        "systemd-run",
        "pGuEM",
        &[
            "property",
            "unit",
            "slice",
            "uid",
            "gid",
            "nice",
            "working-directory",
            "setenv",
            "on-active",
            "on-calendar",
            "description",
        ],
        0,
    ),
    carrier("systemd-inhibit", "", &["what", "who", "why", "mode"], 0),
    carrier("caffeinate", "tw", &[], 0),
    carrier("dbus-run-session", "", &["config-file"], 0),
    carrier(
        "xvfb-run",
        "ensfpw",
        &["server-num", "server-args", "error-file"],
        0,
    ),
    carrier(
        "strace",
        "abeEIoOpPsSuX",
        &["trace", "output", "env", "user"],
        0,
    ),
    carrier("ltrace", "aAbeDElnopsuwxX", &["output"], 0),
    carrier("perf", "", &[], 1),
    carrier("valgrind", "", &["tool", "log-file"], 0),
    carrier("gdb", "x", &["args"], 0),
    carrier("catchsegv", "", &[], 0),
    carrier("proxychains", "f", &[], 0),
    carrier("proxychains4", "f", &[], 0),
    carrier("torsocks", "", &[], 0),
    carrier("tsocks", "", &[], 0),
    carrier("command", "", &[], 0),
    carrier("builtin", "", &[], 0),
    carrier("exec", "a", &[], 0),
    carrier("noglob", "", &[], 0),
    carrier("nocorrect", "", &[], 0),
    carrier("-", "", &[], 0),
    carrier("busybox", "", &[], 0),
    carrier("toybox", "", &[], 0),
    carrier("coreutils", "", &[], 0),
    carrier(
        "unshare",
        "SGRw",
        &["root", "wd", "setuid", "setgid", "map-user", "map-group"],
        0,
    ),
    carrier("firejail", "", &["profile"], 0),
    carrier("fakeroot", "lsib", &["lib", "faked"], 0),
    carrier("proot", "rbw", &["rootfs", "bind", "cwd"], 0),
    carrier("dotenv", "fe", &["file"], 0),
    carrier("dotenvx", "f", &["env-file"], 1),
    carrier("direnv", "", &[], 2),
    carrier("chronic", "", &[], 0),
    carrier("ts", "", &[], 0),
    carrier("retry", "tdm", &["times", "delay", "max"], 0),
    carrier("parallel-ssh", "hHlpo", &[], 0),
    carrier("with-contenv", "", &[], 0),
    carrier("tini", "", &[], 0),
    carrier("dumb-init", "", &[], 0),
    carrier(
        "hyperfine",
        "wmMrnpscSPDL",
        &[
            "warmup",
            "min-runs",
            "max-runs",
            "runs",
            "prepare",
            "setup",
            "cleanup",
            "export-json",
            "export-markdown",
        ],
        0,
    ),
    carrier("aws-vault", "", &["duration"], 2),
    carrier("op", "", &["env-file"], 1),
    carrier("doppler", "pc", &["project", "config"], 1),
    carrier("infisical", "", &["env"], 1),
    carrier("mise", "", &[], 1),
    carrier("rtk", "", &[], 0),
    carrier("winpty", "", &[], 0),
    carrier("arch", "", &[], 0),
];

/// Returns true for a program of this family, whose `--help` may be its command's.
pub(super) fn knows(name: &str) -> bool {
    CARRIERS.iter().any(|carrier| carrier.name == name)
        || matches!(
            name,
            "env"
                | "xargs"
                | "parallel"
                | "watch"
                | "entr"
                | "ssh"
                | "script"
                | "su"
                | "runuser"
                | "chroot"
                | "nsenter"
                | "capsh"
                | "flock"
                | "trap"
                | "find"
                | "fd"
        )
}

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    let args = call.args;
    Some(match call.name {
        "env" | "genv" => env(walk, args, call.input),
        "xargs" | "gxargs" => xargs(walk, args, call.input),
        "parallel" => parallel(walk, args, call.input),
        "watch" | "viddy" => {
            text_command(walk, args, "ndg", &["interval", "differences"], call.input)
        }
        "entr" => text_command(walk, args, "", &[], call.input),
        "ssh" | "mosh" | "autossh" | "sshpass" | "dbclient" | "plink" | "tsh" => ssh(walk, call),
        "su" | "runuser" => su(walk, args, call.input),
        "script" => script(walk, args, call.input),
        "expect" | "unbuffer-expect" => expect(walk, call),
        "chroot" => other_root(walk, args, 1),
        "nsenter" => other_root(walk, args, 0),
        "flock" => flock(walk, args, call.input),
        "trap" => {
            if let Some(text) = args.iter().find(|arg| !arg.is_option()).cloned()
                && text.text != "-"
            {
                walk.at_end(&text.text);
            }
            Stream::Nothing
        }
        "at" | "batch" | "atrun" => {
            if let Stream::Text(text) = call.input {
                let text = text.clone();
                let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
            if args.iter().any(|arg| matches!(arg.word(), "-r" | "-d")) {
                walk.mark(Level::Confirm, "a scheduled job is removed");
            } else if !args
                .iter()
                .any(|arg| matches!(arg.word(), "-l" | "-V" | "-c"))
            {
                walk.mark(
                    Level::Confirm,
                    "a command is scheduled for later, out of sight",
                );
            }
            Stream::Nothing
        }
        "docker" | "podman" | "nerdctl" | "finch" => super::tables::containers::run(walk, call),
        "docker-compose" | "podman-compose" => {
            let mut words = vec![Arg::known("compose")];
            words.extend_from_slice(args);
            let inner = Call {
                name: "docker",
                args: &words,
                input: call.input,
            };
            let before = walk.script.deeds.len();
            let stream = super::tables::containers::run(walk, &inner);
            if walk.script.deeds.len() == before {
                super::tables::run(walk, call);
            }
            stream
        }
        "kubectl" | "oc" | "k" | "kubecolor" => super::tables::containers::cluster(walk, call),
        "tmux" | "screen" | "zellij" => return super::terminals::run(walk, call),
        "java" => java(walk, call),
        "capsh" => capsh(walk, call),
        "sem" => parallel(walk, args, call.input),
        name => {
            let carrier = CARRIERS.iter().find(|carrier| carrier.name == name)?;
            carry(walk, carrier, call)
        }
    })
}

fn carry(walk: &mut Walk<'_>, carrier: &Carrier, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: carrier.short,
            long: carrier.long,
            stops: true,
            ..Spec::default()
        },
    );
    match carrier.name {
        "command" if options.surely(&["v", "V"]) => {
            return super::printing::located(&options.operands);
        }
        "sudo" if options.has(&["e", "edit"]) => {
            for path in &options.operands {
                walk.file(PathOp::Change, path);
            }
            return Stream::Nothing;
        }
        "sudo"
            if options.surely(&["l", "list", "v", "validate", "k", "K"])
                && options.operands.is_empty() =>
        {
            return Stream::Unknown;
        }
        "sudo" | "systemd-run" => {
            if let Some(dir) = options.value(&["D", "chdir", "working-directory"]).cloned() {
                let scope = walk.scope.clone();
                walk.scope.dir = walk.scope.dir.join(&dir);
                let stream = command(walk, &options.operands, call.input);
                walk.scope = scope;
                return stream;
            }
        }
        "hyperfine" => {
            for text in options
                .operands
                .iter()
                .chain(options.values(&["p", "prepare", "s", "setup", "c", "cleanup"]))
            {
                let text = text.text.clone();
                let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
            return Stream::Unknown;
        }
        _ => {}
    }
    if matches!(
        carrier.name,
        "op" | "doppler" | "infisical" | "dotenvx" | "aws-vault" | "mise"
    ) && !options
        .operands
        .first()
        .is_some_and(|verb| matches!(verb.word(), "run" | "exec" | "x"))
    {
        if !super::tables::run(walk, call) {
            super::tables::by_words(walk, call);
        }
        return Stream::Unknown;
    }
    let words = options.operands.get(carrier.skip..).unwrap_or_default();
    let words = match words.first() {
        Some(first) if first.text == "--" => words.get(1..).unwrap_or_default(),
        _ => words,
    };
    command(walk, words, call.input)
}

/// Runs words that may begin with assignments.
fn command(walk: &mut Walk<'_>, words: &[Arg], input: &Stream) -> Stream {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    let kept = walk.env.clone();
    for word in words.get(..count).unwrap_or_default() {
        let at = word.text.find_byte(b'=').unwrap_or(0);
        let name: BString = word.text.get(..at).unwrap_or_default().into();
        walk.env.push((name, word.from(at + 1)));
    }
    let words = words.get(count..).unwrap_or_default().to_vec();
    let stream = if words.is_empty() {
        Stream::Nothing
    } else {
        walk.run_program(&words, input)
    };
    walk.env = kept;
    stream
}

fn is_assignment(word: &Arg) -> bool {
    word.text.find_byte(b'=').is_some_and(|at| {
        at > 0
            && word.text.get(..at).is_some_and(|name| {
                name.iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_%()".contains(byte))
            })
    })
}

fn env(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "uCSP",
            long: &["unset", "chdir", "split-string"],
            stops: true,
            ..Spec::default()
        },
    );
    let scope = walk.scope.clone();
    if let Some(dir) = options.value(&["C", "chdir"]) {
        walk.scope.dir = walk.scope.dir.join(dir);
    }
    let stream = if let Some(text) = options.value(&["S", "split-string"]) {
        let mut text = text.text.clone();
        for word in &options.operands {
            text.push(b' ');
            text.extend_from_slice(&crate::shell::walk::quote(&word.text, word.glob));
        }
        walk.run_child(text.as_bstr(), input)
    } else {
        command(walk, &options.operands, input)
    };
    walk.scope = scope;
    stream
}

/// Programs that hand their words to `sh -c`.
fn text_command(
    walk: &mut Walk<'_>,
    args: &[Arg],
    short: &'static str,
    long: &'static [&'static str],
    input: &Stream,
) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short,
            long,
            stops: true,
            ..Spec::default()
        },
    );
    if options.operands.len() == 1 {
        let text = join(&options.operands);
        return walk.run_child(text.as_bstr(), input);
    }
    walk.run_args(&options.operands, input)
}

pub(super) fn join(words: &[Arg]) -> BString {
    let mut text = BString::default();
    for word in words {
        if !text.is_empty() {
            text.push(b' ');
        }
        text.extend_from_slice(&word.text);
    }
    text
}

fn su(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "cgGsuwC",
            long: &[
                "command",
                "group",
                "shell",
                "user",
                "session-command",
                "whitelist-environment",
            ],
            ..Spec::default()
        },
    );
    if let Some(text) = options.value(&["c", "command", "session-command", "C"]) {
        let text = text.text.clone();
        return walk.run_child(text.as_bstr(), input);
    }
    if options.has(&["u", "user"]) {
        return walk.run_args(&options.operands, input);
    }
    if let Stream::Text(text) = input {
        let text = text.clone();
        return walk.run_child(text.as_bstr(), &Stream::Unknown);
    }
    Stream::Unknown
}

fn script(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "cEIOBmoT",
            long: &[
                "command",
                "echo",
                "log-in",
                "log-out",
                "log-io",
                "log-timing",
                "logging-format",
                "output-limit",
            ],
            ..Spec::default()
        },
    );
    if let Some(path) = options.operands.first() {
        let op = if options.has(&["a", "append"]) {
            PathOp::Change
        } else {
            PathOp::Replace
        };
        walk.file(op, path);
    }
    if let Some(text) = options.value(&["c", "command"]) {
        let text = text.text.clone();
        return walk.run_child(text.as_bstr(), input);
    }
    // BSD: `script file command…`.
    if options.operands.len() > 1 {
        let words = options.operands.get(1..).unwrap_or_default().to_vec();
        return walk.run_args(&words, input);
    }
    if let Stream::Text(text) = input {
        let text = text.clone();
        let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
    }
    Stream::Unknown
}

/// `expect -c 'spawn …'`: what is spawned is a command line.
fn expect(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "cf",
            ..Spec::default()
        },
    );
    let mut texts: Vec<BString> = options
        .values(&["c"])
        .into_iter()
        .map(|arg| arg.text.clone())
        .collect();
    if let Stream::Text(text) = call.input {
        texts.push(text.clone());
    }
    for path in &options.operands {
        if let Stream::Text(text) = walk.read_path(path) {
            texts.push(text);
        }
    }
    for text in texts {
        for line in text.split(|byte| matches!(byte, b'\n' | b';')) {
            if let Some(command) = line.trim_ascii().strip_prefix(b"spawn ") {
                let command: BString = command.into();
                let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
            }
        }
    }
    Stream::Unknown
}

fn flock(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "wE",
            long: &["timeout", "wait", "conflict-exit-code"],
            stops: true,
            ..Spec::default()
        },
    );
    let words = options.operands.get(1..).unwrap_or_default();
    match words {
        [flag, text, ..] if matches!(flag.word(), "-c" | "--command") => {
            let text = text.text.clone();
            walk.run_child(text.as_bstr(), input)
        }
        [] => Stream::Nothing,
        words => {
            let words = words.to_vec();
            walk.run_args(&words, input)
        }
    }
}

/// `capsh … -- ARGS`: everything behind the dashes is for a shell (`==`: for itself once more).
fn capsh(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let at = call
        .args
        .iter()
        .position(|arg| matches!(arg.word(), "--" | "=="));
    let Some((ends, words)) = at.and_then(|at| call.args.get(at..)?.split_first()) else {
        return Stream::Unknown;
    };
    let program = if ends.text == "--" { "bash" } else { "capsh" };
    let mut shell = vec![Arg::known(program)];
    shell.extend_from_slice(words);
    walk.run_args(&shell, call.input)
}

/// `java -jar TOOL.jar`: the tool may be one that a table knows.
fn java(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let at = call.args.iter().position(|arg| arg.text == "-jar");
    if let Some(at) = at
        && let Some(jar) = call.args.get(at + 1)
        && let Some(name) = jar.word().rsplit('/').next()
    {
        let tool = Call {
            name: name.strip_suffix(".jar").unwrap_or(name),
            args: call.args.get(at + 2..).unwrap_or_default(),
            input: call.input,
        };
        super::tables::run(walk, &tool);
    }
    Stream::Unknown
}
