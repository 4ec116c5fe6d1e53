//! Task runners whose recipes are read: make, just.

use super::scripts::project_file;
use crate::shell::arg::{Arg, UNKNOWN};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

pub(super) fn make(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
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

pub(super) fn just(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
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
