//! find and fd: what they delete, what they run, and which names they list.

use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    Some(match call.name {
        "find" | "gfind" => find(walk, call.args),
        "fd" | "fdfind" => fd(walk, call.args),
        "locate" | "mlocate" | "plocate" => Stream::Paths(vec![Arg::unknown()]),
        _ => return None,
    })
}

fn find(walk: &mut Walk<'_>, args: &[Arg]) -> Stream {
    let mut at = 0;
    let mut roots = Vec::new();
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_slice();
        match text {
            b"-H" | b"-L" | b"-P" | b"-E" | b"-X" | b"-x" | b"-d" | b"-s" => {}
            b"-D" | b"-f" => at += 1,
            text if text.starts_with(b"-O") => {}
            text if text.starts_with(b"-") || matches!(text, b"(" | b"!" | b",") => break,
            _ => roots.push(arg.clone()),
        }
        at += 1;
    }
    if roots.is_empty() {
        roots.push(Arg::known("."));
    }
    let tests = args.get(at..).unwrap_or_default();
    let matched = Matched::read(tests, &roots);
    let mut index = 0;
    while let Some(arg) = tests.get(index) {
        match arg.text.as_slice() {
            b"-delete" => {
                for path in matched.paths() {
                    walk.file(matched.deletion(), &path);
                }
            }
            b"-exec" | b"-execdir" | b"-ok" | b"-okdir" => {
                let rest = tests.get(index + 1..).unwrap_or_default();
                let end = rest
                    .iter()
                    .position(|arg| arg.text == ";" || arg.text == "+")
                    .unwrap_or(rest.len());
                let words = rest.get(..end).unwrap_or_default();
                run_on(walk, words, &matched.paths());
                index += end;
            }
            b"-fprint" | b"-fprint0" | b"-fls" | b"-fprintf" => {
                if let Some(path) = tests.get(index + 1) {
                    walk.file(PathOp::Replace, path);
                }
            }
            b"-files0-from" => {}
            _ => {}
        }
        index += 1;
    }
    Stream::Paths(matched.paths())
}

fn run_on(walk: &mut Walk<'_>, words: &[Arg], paths: &[Arg]) {
    let mark = BString::from("{}");
    for path in paths {
        let filled: Vec<Arg> = words
            .iter()
            .map(|word| super::each::fill(word, &mark, path))
            .collect();
        let scope = walk.scope.clone();
        let _ = walk.run_args(&filled, &Stream::Unknown);
        walk.scope = scope;
    }
}

/// What a search would come up with.
struct Matched {
    roots: Vec<Arg>,
    names: Vec<BString>,
    empty: bool,
    directories: bool,
}

impl Matched {
    fn read(tests: &[Arg], roots: &[Arg]) -> Self {
        let mut matched = Self {
            roots: roots.to_vec(),
            names: Vec::new(),
            empty: false,
            directories: false,
        };
        let mut negated = false;
        let mut alternatives = false;
        for (index, arg) in tests.iter().enumerate() {
            let value = tests.get(index + 1);
            match arg.text.as_slice() {
                b"!" | b"-not" => {
                    negated = true;
                    continue;
                }
                b"-o" | b"-or" => alternatives = true,
                b"-name" | b"-iname" if !negated => {
                    matched.names.extend(value.map(|value| value.text.clone()));
                }
                b"-path" | b"-ipath" | b"-wholename" if !negated => {
                    // Only the last component says what is found.
                    if let Some(value) = value {
                        let name = value.text.rsplit_str("/").next().unwrap_or_default();
                        let whole = if name == b"*" {
                            value.text.clone()
                        } else {
                            BString::from(name)
                        };
                        matched.names.push(whole);
                    }
                }
                b"-empty" if !negated => matched.empty = true,
                b"-type" => {
                    matched.directories |= value.is_some_and(|value| value.text.contains(&b'd'));
                }
                _ => {}
            }
            negated = false;
        }
        if matched.names.len() > 1 && !alternatives {
            matched.names.truncate(1);
        }
        matched
    }

    /// The paths as patterns below the roots.
    fn paths(&self) -> Vec<Arg> {
        let mut paths = Vec::new();
        for root in &self.roots {
            if self.names.is_empty() {
                if self.empty {
                    let mut text = root.text.clone();
                    text.extend_from_slice(b"/**/[]");
                    paths.push(Arg {
                        text,
                        glob: true,
                        ..root.clone()
                    });
                } else {
                    paths.push(root.clone());
                }
            }
            for name in &self.names {
                let mut text = root.text.clone();
                text.extend_from_slice(b"/**/");
                text.extend_from_slice(name);
                paths.push(Arg {
                    text,
                    glob: true,
                    ..root.clone()
                });
            }
        }
        paths
    }

    fn deletion(&self) -> PathOp {
        if self.empty {
            PathOp::RemoveEmpty
        } else {
            PathOp::Delete { recursive: true }
        }
    }
}

fn fd(walk: &mut Walk<'_>, args: &[Arg]) -> Stream {
    let at = args
        .iter()
        .position(|arg| matches!(arg.word(), "-x" | "--exec" | "-X" | "--exec-batch"));
    let (own, words) = match at {
        Some(at) => (
            args.get(..at).unwrap_or_default(),
            args.get(at + 1..).unwrap_or_default(),
        ),
        None => (args, &[][..]),
    };
    let options = Options::read(
        own,
        &Spec {
            short: "eEtdSojC",
            long: &[
                "extension",
                "exclude",
                "type",
                "max-depth",
                "size",
                "owner",
                "threads",
                "base-directory",
                "search-path",
            ],
            ..Spec::default()
        },
    );
    let mut names: Vec<BString> = options
        .values(&["e", "extension"])
        .into_iter()
        .map(|arg| {
            let mut text = BString::from("*.");
            text.extend_from_slice(&arg.text);
            text
        })
        .collect();
    if names.is_empty()
        && let Some(pattern) = options.operands.first()
    {
        let mut text = BString::from("*");
        text.extend_from_slice(
            pattern
                .text
                .trim_with(|c| matches!(c, '^' | '$' | '.' | '*' | '\\')),
        );
        text.push(b'*');
        names.push(if pattern.text == "." {
            "*".into()
        } else {
            text
        });
    }
    let roots = match options.operands.get(1..) {
        Some(roots) if !roots.is_empty() => roots.to_vec(),
        _ => vec![Arg::known(".")],
    };
    let mut paths = Vec::new();
    for root in &roots {
        for name in &names {
            let mut text = root.text.clone();
            text.extend_from_slice(b"/**/");
            text.extend_from_slice(name);
            paths.push(Arg {
                text,
                glob: true,
                ..root.clone()
            });
        }
        if names.is_empty() {
            paths.push(root.clone());
        }
    }
    if at.is_some() {
        let marked = words.iter().any(|word| word.text.contains_str("{"));
        if marked {
            run_on(walk, words, &paths);
        } else {
            let mut all = words.to_vec();
            all.extend(paths.iter().cloned());
            let _ = walk.run_args(&all, &Stream::Unknown);
        }
    }
    Stream::Paths(paths)
}
