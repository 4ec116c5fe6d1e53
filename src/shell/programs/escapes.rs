//! Programs whose own commands can start a shell: debuggers, m4, man, gnuplot.

use super::code::{self, Language};
use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Notes what a command's own commands start.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    match call.name {
        "gdb" | "lldb" | "rust-gdb" | "rust-lldb" | "cgdb" | "dlv" => debugger(walk, call),
        "ftp" | "tnftp" | "pftp" | "ncftp" | "lftp" | "sftp" | "smbclient" | "telnet" | "dc"
        | "mail" | "mailx" => {
            let mut texts: Vec<BString> = call
                .args
                .iter()
                .filter(|arg| arg.text.contains(&b'!'))
                .map(|arg| arg.text.clone())
                .collect();
            if let Stream::Text(text) = call.input {
                texts.push(text.clone());
            }
            for text in texts {
                for line in text.split(|byte| matches!(byte, b'\n' | b';')) {
                    let line = line.trim_ascii();
                    if let Some(command) =
                        line.strip_prefix(b"!").or_else(|| line.strip_prefix(b"~!"))
                    {
                        let command = BString::from(command);
                        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
                    }
                }
            }
        }
        "nim" => {
            for arg in call.args {
                if let Some(code) = arg.text.strip_prefix(b"--eval:") {
                    code::read(walk, Language::Other, code);
                }
            }
        }
        "crystal" | "dotnet" => {
            let words: Vec<&Arg> = call.args.iter().filter(|arg| !arg.is_option()).collect();
            let code = match words.as_slice() {
                [verb, code, ..] if verb.text == "eval" => Some((Language::Ruby, *code)),
                [script, verb, code, ..] if script.text == "script" && verb.text == "eval" => {
                    Some((Language::Other, *code))
                }
                _ => None,
            };
            if let Some((language, code)) = code {
                code::read(walk, language, &code.text.clone());
            }
        }
        "flatpak" => {
            let command = call
                .args
                .iter()
                .find_map(|arg| arg.text.strip_prefix(b"--command="));
            let app = call
                .args
                .iter()
                .rposition(|arg| arg.text.starts_with(b"--command="));
            if let (Some(command), Some(app)) = (command, app) {
                let mut words = vec![Arg::known(command)];
                words.extend(call.args.iter().skip(app + 2).cloned());
                let _ = walk.run_args(&words, call.input);
            }
        }
        "m4" | "gm4" => {
            if let Stream::Text(text) = call.input {
                let text = text.clone();
                for name in ["syscmd(", "esyscmd("] {
                    parenthesised(walk, &text, name);
                }
            }
        }
        "man" | "gman" | "mandb" => {
            let options = Options::read(
                call.args,
                &Spec {
                    short: "PMmCLRSe",
                    long: &["pager"],
                    ..Spec::default()
                },
            );
            if let Some(pager) = options.value(&["P", "pager"]) {
                let text = pager.text.clone();
                let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
        }
        "less" | "more" | "most" | "view" => {
            for arg in call.args {
                if let Some(command) = arg.text.strip_prefix(b"+!") {
                    let command = BString::from(command);
                    let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
                }
            }
        }
        "gnuplot" | "octave" | "octave-cli" | "matlab" | "maxima" | "gp" => {
            for arg in call.args {
                let text = arg.text.clone();
                for name in ["system(", "system ", "shell_cmd("] {
                    parenthesised(walk, &text, name);
                }
            }
        }
        _ => {}
    }
}

/// `-ex 'shell CMD'`, `-o 'platform shell CMD'`, `-ex 'python CODE'`.
fn debugger(walk: &mut Walk<'_>, call: &Call<'_>) {
    let mut rest = call.args.iter();
    let mut texts: Vec<BString> = Vec::new();
    while let Some(arg) = rest.next() {
        let name = arg.text.trim_start_with(|c| c == '-');
        let takes = matches!(
            name,
            b"ex" | b"iex" | b"eval-command" | b"init-eval-command" | b"o" | b"O" | b"one-line"
        );
        if arg.is_option() && takes {
            texts.extend(rest.next().map(|arg| arg.text.clone()));
        } else if let Some(value) = arg.after_equals()
            && arg.text.contains_str("eval-command")
        {
            texts.push(value.text);
        }
    }
    if let Stream::Text(text) = call.input {
        texts.push(text.clone());
    }
    for text in texts {
        for line in text.lines() {
            let line = line.trim_ascii();
            let shell = ["shell ", "platform shell ", "!", "make "]
                .iter()
                .find_map(|start| line.strip_prefix(start.as_bytes()));
            if let Some(command) = shell {
                let command = BString::from(command);
                let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
            }
            let python = ["python ", "python-interactive ", "script ", "py "]
                .iter()
                .find_map(|start| line.strip_prefix(start.as_bytes()));
            if let Some(code) = python {
                code::read(walk, Language::Python, code);
            }
        }
    }
}

/// Runs what stands after each `name`, up to the quote or parenthesis that closes it.
fn parenthesised(walk: &mut Walk<'_>, text: &[u8], name: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        rest = rest.get(at + name.len()..).unwrap_or_default();
        let inner = rest.trim_start_with(|c| matches!(c, '"' | '\'' | '`' | ' '));
        let end = inner.find_byteset(b"\"')").unwrap_or(inner.len());
        let command: BString = inner.get(..end).unwrap_or_default().into();
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
    }
}

/// A command line that another program hands on: `wsl CMD`, `repo forall -c CMD`, `k3s kubectl …`.
pub(super) fn carried(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "wsl" => {
            let options = Options::read(
                call.args,
                &Spec {
                    short: "du",
                    long: &["distribution", "user", "cd", "shell-type"],
                    stops: true,
                    ..Spec::default()
                },
            );
            let other = options.given.iter().any(|given| {
                !matches!(
                    given.name.as_str(),
                    "d" | "u" | "e" | "distribution" | "user" | "cd" | "shell-type" | "exec"
                )
            });
            (!other && !options.operands.is_empty())
                .then(|| walk.run_args(&options.operands, call.input))
        }
        "repo" | "west" | "mr" | "meta" | "gita" | "mani" => {
            let forall = call.args.first().is_some_and(|arg| {
                matches!(arg.word(), "forall" | "run" | "exec" | "shell" | "super")
            });
            let at = call.args.iter().position(|arg| arg.text == "-c");
            let words = match at {
                Some(at) => call.args.get(at + 1..),
                None => call.args.get(1..),
            };
            let words = words.filter(|_| forall)?;
            let text = super::carriers::join(words);
            let scope = walk.scope.clone();
            walk.scope.dir = crate::shell::scope::Dir::Unknown;
            let stream = walk.run_child(text.as_bstr(), &Stream::Unknown);
            walk.scope = scope;
            Some(stream)
        }
        "microk8s" | "k3s" | "minikube" | "k0s" | "rke2" => {
            let at = call
                .args
                .iter()
                .position(|arg| matches!(arg.word(), "kubectl" | "ctr" | "crictl" | "helm"))?;
            let words: Vec<Arg> = call
                .args
                .get(at..)?
                .iter()
                .filter(|arg| arg.text != "--")
                .cloned()
                .collect();
            Some(walk.run_args(&words, call.input))
        }
        _ => None,
    }
}
