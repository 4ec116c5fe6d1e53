//! Task runners whose recipes are read: make, just.

use super::scripts::project_file;
use crate::judge::{Level, SystemClass};
use crate::shell::arg::{Arg, UNKNOWN};
use crate::shell::deed::DeedKind;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk, quote};
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
    let mut text = match options.value(&["f", "file", "makefile"]) {
        Some(path)
            if matches!(
                path.text.as_slice(),
                b"-" | b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0"
            ) =>
        {
            given(walk, call.input)
        }
        Some(path) => match walk.read_path(&path.clone()) {
            Stream::Text(text) => Some(text),
            _ => None,
        },
        None => project_file(walk, dir.as_ref(), &["GNUmakefile", "makefile", "Makefile"]),
    };
    for more in options.values(&["E", "eval"]) {
        let text = text.get_or_insert_default();
        let rest = std::mem::take(text);
        text.extend_from_slice(&more.text);
        text.push(b'\n');
        text.extend_from_slice(&rest);
    }
    let Some(mut text) = text else {
        return Stream::Unknown;
    };
    included(walk, &mut text);
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
    for command in rules.reading(&text) {
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        walk.scope.clone_from(&here);
    }
    let mut done: Vec<BString> = Vec::new();
    while let Some(target) = targets.pop() {
        if done.contains(&target) || done.len() > 64 {
            continue;
        }
        done.push(target.clone());
        let named = rules.rules.iter().find(|rule| rule.names.contains(&target));
        let Some(rule) = named.or_else(|| rules.rules.iter().find(|rule| rule.makes(&target)))
        else {
            continue;
        };
        targets.extend(rule.needs.iter().cloned());
        for line in &rule.recipe {
            walk.scope.clone_from(&here);
            let line = rules.expand(line, &target);
            let line = line.trim_start_with(|c| matches!(c, '@' | '-' | '+' | ' ' | '\t'));
            match rules.shell() {
                Some(shell) => {
                    let mut words = shell;
                    words.push(b' ');
                    words.extend_from_slice(&quote(line, false));
                    let _ = walk.run_child(words.as_bstr(), &Stream::Unknown);
                }
                None => {
                    let _ = walk.run_text(line.as_bstr(), &Stream::Unknown);
                }
            }
        }
    }
    walk.scope = scope;
    Stream::Unknown
}

/// The makefile that stands on standard input.
fn given(walk: &mut Walk<'_>, input: &Stream) -> Option<BString> {
    match input {
        Stream::Text(text) => return Some(text.clone()),
        Stream::Remote => walk.note(DeedKind::System {
            class: SystemClass::RemoteCode,
            why: "downloaded recipes are run unseen".to_owned(),
        }),
        Stream::Nothing => {}
        _ => walk.opaque(Level::Confirm, "make follows what another program writes"),
    }
    None
}

/// Puts the makefiles that a makefile includes behind it.
fn included(walk: &mut Walk<'_>, text: &mut BString) {
    let mut paths: Vec<BString> = Vec::new();
    for line in text.lines() {
        let words = ["include ", "-include ", "sinclude "]
            .iter()
            .find_map(|word| line.strip_prefix(word.as_bytes()));
        paths.extend(
            words
                .into_iter()
                .flat_map(|words| words.fields().map(BString::from)),
        );
    }
    for path in paths.iter().take(8) {
        if let Stream::Text(more) = walk.read_path(&Arg::known(path.clone())) {
            text.push(b'\n');
            text.extend_from_slice(&more);
        }
    }
}

struct Rule {
    names: Vec<BString>,
    needs: Vec<BString>,
    recipe: Vec<BString>,
}

impl Rule {
    /// Whether a pattern of the rule's fits a target.
    fn makes(&self, target: &BString) -> bool {
        self.names.iter().any(|name| {
            name.split_once_str("%").is_some_and(|(before, after)| {
                target.len() > before.len() + after.len()
                    && target.starts_with(before)
                    && target.ends_with(after)
            })
        })
    }
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

    /// What recipes are given to, where that is no plain shell.
    fn shell(&self) -> Option<BString> {
        let last = |name: &str| {
            let found = self.vars.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value)
        };
        let shell = last("SHELL");
        let flags = last(".SHELLFLAGS");
        let name = shell.map_or(&b"sh"[..], |shell| {
            shell.rsplit_str("/").next().unwrap_or_default()
        });
        let plain = name
            .to_str()
            .is_ok_and(|name| super::shells::knows(name) || name.contains("$("));
        let plain_flags = flags.is_none_or(|flags| {
            flags
                .fields()
                .all(|word| word.starts_with(b"-") || word == b"pipefail")
        });
        if plain && plain_flags {
            return None;
        }
        let mut words = shell.cloned().unwrap_or_else(|| BString::from("sh"));
        words.push(b' ');
        words.extend_from_slice(flags.map_or(&b"-c"[..], |flags| flags.as_slice()));
        Some(words)
    }

    /// What make runs while it reads: `$(shell …)` and `!=`, outside of recipes.
    fn reading(&self, text: &[u8]) -> Vec<BString> {
        let mut commands = Vec::new();
        let joined = text.replace("\\\n", " ");
        for line in joined.lines().filter(|line| !line.starts_with(b"\t")) {
            let line = line.split_str("#").next().unwrap_or_default();
            if let Some((name, command)) = line.split_once_str("!=")
                && name.trim_ascii().fields().count() == 1
            {
                commands.push(self.expand(command.trim_ascii(), &BString::default()));
            }
            let mut rest = line;
            while let Some(at) = rest.find("$(shell ") {
                rest = rest.get(at + 8..).unwrap_or_default();
                let end = closing(rest);
                let command = rest.get(..end).unwrap_or_default();
                commands.push(self.expand(command, &BString::default()));
                rest = rest.get(end..).unwrap_or_default();
            }
        }
        commands.truncate(64);
        commands
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
                    if let (b')', Some(call)) = (close, rest.strip_prefix(b"shell ")) {
                        // A recipe's own `$(shell …)` is a substitution of the shell's.
                        let end = closing(call);
                        out.extend_from_slice(b"\0(");
                        out.extend_from_slice(call.get(..end).unwrap_or_default());
                        out.push(b')');
                        at += end + 9;
                        continue;
                    }
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

/// Where the bracket closes that stands open before a text.
fn closing(text: &[u8]) -> usize {
    let mut open = 1_u32;
    text.iter()
        .position(|byte| {
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            open == 0
        })
        .unwrap_or(text.len())
}

/// Adds the lines of a recipe of just's, and the recipes that it needs.
fn recipe(text: &[u8], name: &[u8], body: &mut BString, wanted: &mut Vec<BString>) {
    let mut inside = false;
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
            let rest = head.strip_prefix(name).filter(|rest| {
                rest.first().is_some_and(|byte| matches!(byte, b':' | b' ')) && rest.contains(&b':')
            });
            inside = rest.is_some();
            if let Some((_, needs)) = rest.and_then(|rest| rest.split_once_str(":")) {
                let names =
                    needs.split(|byte| !byte.is_ascii_alphanumeric() && !b"_-".contains(byte));
                wanted.extend(names.filter(|name| !name.is_empty()).map(BString::from));
            }
        }
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
    let (Some(text), Some(first)) = (text, options.operands.first()) else {
        return Stream::Unknown;
    };
    let mut body = BString::default();
    let mut wanted = vec![first.text.clone()];
    let mut done: Vec<BString> = Vec::new();
    while let Some(name) = wanted.pop() {
        if done.contains(&name) || done.len() > 64 {
            continue;
        }
        recipe(&text, &name, &mut body, &mut wanted);
        done.push(name);
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
