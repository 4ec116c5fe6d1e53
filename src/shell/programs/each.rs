//! Programs that run a command for each of many names: xargs, parallel.

use crate::shell::arg::Arg;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// What the names on standard input become as arguments.
fn piped_arguments(input: &Stream) -> Vec<Arg> {
    match input {
        Stream::Paths(paths) => paths.clone(),
        Stream::Text(text) => {
            let words: Vec<Arg> = text
                .split(|byte| byte.is_ascii_whitespace() || *byte == 0)
                .filter(|word| !word.is_empty())
                .take(2000)
                .map(|word| Arg::known(word.trim_with(|c| c == '\'' || c == '"')))
                .collect();
            words
        }
        Stream::Nothing => Vec::new(),
        Stream::Remote | Stream::Changes | Stream::Undoing | Stream::Tree(_) | Stream::Unknown => {
            vec![Arg::unknown()]
        }
    }
}

pub(super) fn xargs(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "aEdIJLnPsRS",
            stuck: "eil",
            long: &[
                "arg-file",
                "delimiter",
                "replace",
                "max-lines",
                "max-args",
                "max-procs",
                "max-chars",
                "eof",
                "process-slot-var",
            ],
            stops: true,
            ..Spec::default()
        },
    );
    let source = match options.value(&["a", "arg-file"]) {
        Some(path) => walk.read_path(path),
        None => input.clone(),
    };
    let items = piped_arguments(&source);
    let mut words = options.operands.clone();
    if words.is_empty() {
        return Stream::Unknown;
    }
    let replace = options
        .given
        .iter()
        .rev()
        .find(|given| matches!(given.name.as_str(), "I" | "i" | "J" | "replace"))
        .map(|given| {
            given
                .value
                .as_ref()
                .map_or_else(|| BString::from("{}"), |value| value.text.clone())
        });
    let items = if items.is_empty() && replace.is_some() {
        vec![Arg::unknown()]
    } else {
        items
    };
    if let Some(mark) = replace {
        let mut stream = Stream::Nothing;
        for item in items.iter().take(64) {
            let filled: Vec<Arg> = words.iter().map(|word| fill(word, &mark, item)).collect();
            stream = stream.then(walk.run_args(&filled, &Stream::Unknown));
        }
        return stream;
    }
    words.extend(items);
    walk.run_args(&words, &Stream::Unknown)
}

/// Puts an item in the place of a mark.
pub(super) fn fill(word: &Arg, mark: &BString, item: &Arg) -> Arg {
    if mark.is_empty() || !word.text.contains_str(mark) {
        return word.clone();
    }
    Arg {
        text: word
            .text
            .replace(mark.as_slice(), item.text.as_slice())
            .into(),
        glob: word.glob || item.glob,
        remote: word.remote || item.remote,
    }
}

pub(super) fn parallel(walk: &mut Walk<'_>, args: &[Arg], input: &Stream) -> Stream {
    let options = Options::read(
        args,
        &Spec {
            short: "jIdNnLaPS",
            long: &[
                "jobs",
                "max-procs",
                "delimiter",
                "arg-file",
                "colsep",
                "joblog",
                "results",
                "timeout",
                "retries",
                "delay",
                "tmpdir",
                "sshlogin",
                "workdir",
            ],
            stops: true,
            ..Spec::default()
        },
    );
    if options.surely(&["dry-run", "dryrun"]) {
        return Stream::Unknown;
    }
    let at = options
        .operands
        .iter()
        .position(|arg| matches!(arg.text.as_slice(), b":::" | b":::+" | b"::::"));
    let (words, items) = match at {
        Some(at) => (
            options.operands.get(..at).unwrap_or_default().to_vec(),
            options
                .operands
                .get(at + 1..)
                .unwrap_or_default()
                .iter()
                .filter(|arg| !arg.text.starts_with(b":::"))
                .cloned()
                .collect(),
        ),
        None => (options.operands.clone(), piped_arguments(input)),
    };
    let mark = BString::from("{}");
    let mut stream = Stream::Nothing;
    if words.is_empty() {
        // Each item is a whole command.
        for item in items.iter().take(64) {
            let text = item.text.clone();
            stream = stream.then(walk.run_child(text.as_bstr(), &Stream::Unknown));
        }
        return stream;
    }
    for item in items.iter().take(64) {
        let mut text = BString::default();
        let marked = words.iter().any(|word| word.text.contains_str("{"));
        for word in &words {
            if !text.is_empty() {
                text.push(b' ');
            }
            text.extend_from_slice(&fill(word, &mark, item).text);
        }
        if !marked {
            text.push(b' ');
            text.extend_from_slice(&crate::shell::walk::quote(&item.text, item.glob));
        }
        stream = stream.then(walk.run_child(text.as_bstr(), &Stream::Unknown));
    }
    stream
}
