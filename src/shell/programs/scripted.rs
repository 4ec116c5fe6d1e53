//! Editors and small languages that are given commands: ed, ex, vi, emacs, Tcl, AppleScript.

use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// ed, ex, vi: `:!command`, and files written.
pub(super) fn editor(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "cSuTp",
            long: &["cmd", "eval", "load", "execute"],
            ..Spec::default()
        },
    );
    let mut texts: Vec<BString> = options
        .values(&["c", "cmd"])
        .into_iter()
        .map(|arg| arg.text.clone())
        .collect();
    for arg in call.args {
        if let Some(text) = arg.text.strip_prefix(b"+") {
            texts.push(text.into());
        }
    }
    if let Stream::Text(text) = call.input {
        texts.push(text.clone());
    }
    let mut writes = false;
    let mut empties = false;
    for text in &texts {
        // `%d|x`: a bar parts commands, but what follows `!` is the shell's.
        for line in text.lines().flat_map(commands) {
            let line = plain_command(line);
            empties |= empties_all(line);
            if let Some(at) = line.find_byte(b'!')
                && line
                    .get(..at)
                    .unwrap_or_default()
                    .iter()
                    .all(|byte| b"%.$, r0123456789sil".contains(byte))
            {
                let shell: BString = line.get(at + 1..).unwrap_or_default().into();
                let _ = walk.run_child(shell.as_bstr(), &Stream::Unknown);
            }
            let plain = line.trim_start_with(|c| c == '%');
            writes |= plain.starts_with(b"w") || plain.starts_with(b"x") || line.contains_str("wq");
            writes |= plain.starts_with(b"up") || line == b"ZZ";
        }
        vim_calls(walk, text);
    }
    let op = if empties {
        PathOp::Empty
    } else {
        PathOp::Change
    };
    if writes {
        for path in options
            .operands
            .iter()
            .filter(|path| !path.text.starts_with(b"+"))
        {
            walk.file(op.clone(), path);
        }
    }
    Stream::Unknown
}

/// A command without its colon and the words that only keep it quiet.
fn plain_command(line: &[u8]) -> &[u8] {
    let mut line = line.trim_ascii().trim_start_with(|c| c == ':');
    for word in [
        "silent! ",
        "silent ",
        "sil! ",
        "sil ",
        "noautocmd ",
        "exe ",
        "execute ",
    ] {
        if let Some(rest) = line.strip_prefix(word.as_bytes()) {
            line = rest
                .trim_ascii()
                .trim_with(|c| matches!(c, ':' | '"' | '\''));
        }
    }
    line
}

fn commands(line: &[u8]) -> Vec<&[u8]> {
    if line.contains(&b'!') {
        vec![line]
    } else {
        line.split(|byte| *byte == b'|').collect()
    }
}

/// Whether an editor's command deletes every line.
fn empties_all(line: &[u8]) -> bool {
    let flat: Vec<u8> = line.iter().copied().filter(|byte| *byte != b' ').collect();
    matches!(
        flat.as_slice(),
        b"%d"
            | b"%delete"
            | b"%de"
            | b"1,$d"
            | b",d"
            | b"g/^/d"
            | b"g/.*/d"
            | b"%d_"
            | b"v/\\zs/d"
            | b"normggdG"
            | b"norm!ggdG"
            | b"normalggdG"
            | b"normal!ggdG"
    )
}

/// Vim's `system("…")` and `delete("…")`.
fn vim_calls(walk: &mut Walk<'_>, text: &BString) {
    for name in ["system(", "delete("] {
        let Some(at) = text.find(name) else { continue };
        let rest = text.get(at + name.len()..).unwrap_or_default();
        let literal = rest
            .trim_ascii_start()
            .split(|byte| matches!(byte, b'"' | b'\'' | b')'))
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let literal = BString::from(literal);
        if name == "system(" {
            let _ = walk.run_child(literal.as_bstr(), &Stream::Unknown);
        } else {
            walk.file(PathOp::Delete { recursive: true }, &Arg::known(literal));
        }
    }
}

/// emacs: the calls of its Lisp that touch files or start processes.
pub(super) fn emacs(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "flLdTQqus",
            long: &["eval", "execute", "load", "funcall", "directory"],
            ..Spec::default()
        },
    );
    let mut texts: Vec<Arg> = options
        .values(&["eval", "execute"])
        .into_iter()
        .cloned()
        .collect();
    let mut words = call.args.iter();
    while let Some(word) = words.next() {
        if matches!(word.word(), "-eval" | "-execute") {
            texts.extend(words.next().cloned());
        }
    }
    for text in texts {
        lisp(walk, &text.text);
    }
    let called: Vec<&str> = options
        .values(&["f", "funcall"])
        .into_iter()
        .map(Arg::word)
        .collect();
    if called
        .iter()
        .any(|name| matches!(*name, "save-buffer" | "save-some-buffers"))
    {
        let op = if called.contains(&"erase-buffer") {
            PathOp::Empty
        } else {
            PathOp::Change
        };
        for path in &options.operands {
            walk.file(op.clone(), path);
        }
    }
    Stream::Unknown
}

/// The calls of a Lisp that touch files or start processes.
pub(super) fn lisp(walk: &mut Walk<'_>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest.find_byte(b'(') {
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest.find_byteset(b" \t\n()").unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let near = rest.get(end..).unwrap_or_default();
        let literals = literals(near.get(..near.len().min(2048)).unwrap_or_default());
        let first = literals.first().cloned();
        match name {
            b"delete-file"
            | b"delete-directory"
            | b"f-delete"
            | b"move-file-to-trash"
            | b"rmdir"
            | b"unlink"
            | b"delete-directory/files"
            | b"delete-directory-tree"
            | b"uiop:delete-directory-tree"
            | b"uiop:delete-file-if-exists"
            | b"fs/delete"
            | b"fs/delete-tree"
            | b"fs/delete-if-exists"
            | b"io/delete-file"
            | b"clojure.java.io/delete-file"
            | b"babashka.fs/delete-tree"
            | b"os/rm"
            | b"os.remove"
            | b"os/rmdir"
            | b"remove-directory*"
            | b"delete-directory*"
            | b"file-delete!"
            | b"delete-filesystem-tree" => {
                let path = first.map_or_else(Arg::unknown, Arg::known);
                walk.file(PathOp::Delete { recursive: true }, &path);
            }
            b"write-region"
            | b"write-file"
            | b"spit"
            | b"call-with-output-file"
            | b"with-output-to-file" => {
                let path = literals.last().cloned();
                if let Some(path) = path {
                    walk.file(PathOp::Replace, &Arg::known(path));
                }
            }
            b"rename-file" | b"f-move" => {
                if let [from, to, ..] = literals.as_slice() {
                    let to = Arg::known(to.clone());
                    walk.file(PathOp::Move { to: to.clone() }, &Arg::known(from.clone()));
                    walk.file(PathOp::Replace, &to);
                }
            }
            b"shell-command"
            | b"shell-command-to-string"
            | b"system"
            | b"shell"
            | b"os/shell"
            | b"ext:shell"
            | b"uiop:run-program"
            | b"call-process-shell-command"
            | b"async-shell-command"
            | b"start-process-shell-command" => {
                if let Some(command) = literals.last() {
                    let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
                }
            }
            b"call-process"
            | b"process-lines"
            | b"start-process"
            | b"system*"
            | b"run-program"
            | b"sb-ext:run-program"
            | b"ext:run-program"
            | b"sh"
            | b"clojure.java.shell/sh"
            | b"shell/sh"
            | b"os/execute"
            | b"os/spawn"
            | b"process"
            | b"open-process" => {
                let words: Vec<Arg> = literals.into_iter().map(Arg::known).collect();
                let _ = walk.run_args(&words, &Stream::Unknown);
            }
            _ => {}
        }
    }
}

/// The string literals up to the parenthesis that closes.
fn literals(text: &[u8]) -> Vec<BString> {
    let mut found = Vec::new();
    let mut open = 1_u32;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'(' => open += 1,
            b')' => {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            b'"' => {
                let mut literal = BString::default();
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => literal.extend(bytes.next()),
                        byte => literal.push(byte),
                    }
                }
                found.push(literal);
            }
            _ => {}
        }
    }
    found
}

/// Tcl: `file delete`, `file rename` and `exec`.
pub(super) fn tcl(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let text = match call.args.iter().find(|arg| !arg.is_option()) {
        Some(path) => walk.read_path(path),
        None => call.input.clone(),
    };
    let Stream::Text(text) = text else {
        return Stream::Unknown;
    };
    for line in text.split(|byte| matches!(byte, b'\n' | b';' | b'[' | b']')) {
        let line = line.trim_ascii();
        if let Some(command) = line.strip_prefix(b"exec ") {
            let command = BString::from(command);
            let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        } else if let Some(paths) = line.strip_prefix(b"file delete ") {
            for path in paths
                .fields()
                .filter(|path| !path.starts_with(b"-"))
                .map(|path| path.trim_with(|c| matches!(c, '"' | '{' | '}')))
            {
                let path = if path.contains(&b'$') {
                    Arg::unknown()
                } else {
                    Arg::known(path)
                };
                walk.file(PathOp::Delete { recursive: true }, &path);
            }
        }
    }
    Stream::Unknown
}

/// AppleScript's `do shell script "…"`.
pub(super) fn apple_script(walk: &mut Walk<'_>, text: &[u8]) {
    let mut rest = text;
    for opener in ["do shell script ", "doShellScript("] {
        while let Some(at) = rest.find(opener) {
            rest = rest.get(at + opener.len()..).unwrap_or_default();
            if let Some(command) = literals(rest).into_iter().next() {
                let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
            }
        }
        rest = text;
    }
}
