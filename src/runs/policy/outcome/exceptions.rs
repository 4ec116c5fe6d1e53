//! Exceptions that nobody caught: what Python, Node, the JVM, .NET, PHP and Ruby print as they die of one.
//!
//! The class decides where it is a fault of the code (`KeyError: 'timeout'` is
//! no timeout); else the message does, then the class's own words.

use super::{Basis, Kind, Outcome, codes, errno, identifiers, words};
use regex::Regex;
use std::sync::LazyLock;

/// An exception as it was printed.
#[derive(Debug)]
struct Thrown {
    class: String,
    message: String,
    /// The trace that leads to it, where the runtime prints it first.
    trace: String,
}

/// Returns what the exception says that the text ends with.
pub(super) fn read(text: &str) -> Option<Outcome> {
    let mut thrown = python(text);
    thrown.extend(node(text));
    thrown.extend(by_patterns(text));
    let known = thrown.iter().find_map(meaning);
    // A program that dies of an exception nobody knows has gone wrong all the same.
    known.or_else(|| {
        let first = thrown.into_iter().next()?;
        Some(Outcome::new(Kind::Logic, Basis::Code, first.class))
    })
}

fn meaning(thrown: &Thrown) -> Option<Outcome> {
    let said = |kind| Some(Outcome::new(kind, Basis::Code, thrown.class.clone()));
    let line = format!("{}: {}", thrown.class, thrown.message);
    if let Some(kind) = by_class(thrown) {
        return said(kind);
    }
    codes::read(&line)
        .or_else(|| errno::read(&line))
        .or_else(|| words::read(&line))
        .or_else(|| identifiers::kind(&thrown.class).and_then(said))
}

/// Classes that mean the same whatever their message says.
fn by_class(thrown: &Thrown) -> Option<Kind> {
    let class = thrown.class.rsplit(['.', ':', '\\']).next()?;
    let has = |words: &[&str]| {
        words
            .iter()
            .any(|words| thrown.message.to_lowercase().contains(words))
    };
    Some(match class {
        // A network failure in the clothes of a type error.
        "TypeError"
            if has(&[
                "fetch failed",
                "failed to fetch",
                "load failed",
                "terminated",
            ]) =>
        {
            return None;
        }
        "TypeError"
        | "ClassCastException"
        | "InvalidCastException"
        | "ValidationError"
        | "ZodError" => Kind::Type,
        "NameError" | "UnboundLocalError" | "AttributeError" | "ReferenceError"
        | "NoMethodError" | "NoSuchMethodError" | "NoSuchFieldError" => Kind::Name,
        // The environment is a dictionary too, and a program that misses a variable is not wrong.
        "KeyError" if thrown.trace.contains("os.environ[") => Kind::Config,
        "KeyError"
        | "IndexError"
        | "ZeroDivisionError"
        | "AssertionError"
        | "StopIteration"
        | "NotImplementedError"
        | "RecursionError"
        | "OverflowError"
        | "RangeError"
        | "NullPointerException"
        | "NullReferenceException"
        | "IllegalStateException"
        | "ArithmeticException"
        | "StackOverflowError" => Kind::Logic,
        "SyntaxError" if has(&["json"]) => Kind::Config,
        "SyntaxError" if !has(&["does not provide an export", "named export"]) => Kind::Syntax,
        "IndentationError" | "TabError" => Kind::Syntax,
        "JSONDecodeError"
            if ["requests/", "httpx/", "aiohttp/", "urllib3/"]
                .iter()
                .any(|library| thrown.trace.contains(library)) =>
        {
            Kind::Upstream
        }
        "JSONDecodeError" => Kind::Config,
        "FileNotFoundError" if thrown.trace.contains("subprocess.py") => Kind::Dependency,
        "KeyboardInterrupt" => Kind::Cancelled,
        "MemoryError" | "OutOfMemoryError" => Kind::Unknown,
        _ => return None,
    })
}

/// Python: the last lines of its tracebacks, the last one first.
fn python(text: &str) -> Vec<Thrown> {
    const TRACEBACK: &str = "Traceback (most recent call last):";
    let starts: Vec<usize> = text.match_indices(TRACEBACK).map(|(at, _)| at).collect();
    let mut thrown = Vec::new();
    for (index, start) in starts.iter().enumerate().rev() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        let body = text.get(start + TRACEBACK.len()..end).unwrap_or_default();
        let mut lines = body.lines().skip(1);
        let mut trace = String::new();
        let last = lines.find(|line| {
            let bare = line.trim_start_matches([' ', '|', '+']);
            let stacked = line.starts_with(' ') && bare.len() < line.len() && !line.contains('|');
            let is_last = !stacked && class_of(bare).is_some();
            if !is_last {
                trace.push_str(line);
                trace.push('\n');
            }
            is_last
        });
        let Some(last) = last.map(|line| line.trim_start_matches([' ', '|', '+'])) else {
            continue;
        };
        let more: String = lines
            .take_while(|line| !line.trim().is_empty())
            .take(6)
            .flat_map(|line| ["\n", line])
            .collect();
        let (class, message) = last.split_once(':').unwrap_or((last, ""));
        thrown.push(Thrown {
            class: class.trim().to_owned(),
            message: format!("{}{more}", message.trim()),
            trace,
        });
    }
    thrown
}

/// The class at the start of a line, if it reads like one: dotted names, then a colon or the end.
fn class_of(line: &str) -> Option<&str> {
    let end = line
        .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
        .unwrap_or(line.len());
    let class = line.get(..end)?;
    let rest = line.get(end..)?;
    let first = class.rsplit('.').next()?.chars().next()?;
    (first.is_alphabetic() && (rest.is_empty() || rest.starts_with(':'))).then_some(class)
}

/// The first line of an error that Node prints.
static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:Uncaught |\[cause\]: |.*\[cause\]: )?((?:\w+\.)*[A-Z]\w*(?:Error|Exception)?)(?: \[(\w+)\])?(?:: (.*))?$",
    )
    .ok()
});

/// Node: a line of the error's class, then its stack.
fn node(text: &str) -> Vec<Thrown> {
    let Some(head) = HEAD.as_ref() else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut thrown = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(found) = head.captures(line.trim_start()) else {
            continue;
        };
        let class = found.get(1).map_or("", |class| class.as_str());
        if !(class.ends_with("Error") || class.ends_with("Exception")) {
            continue;
        }
        let after = lines.get(index + 1..).unwrap_or_default();
        let body = after
            .iter()
            .take(40)
            .take_while(|line| !line.trim_start().starts_with("at "));
        let message: Vec<&str> = body.copied().collect();
        let has_stack = after
            .get(message.len())
            .is_some_and(|line| line.trim_start().starts_with("at "));
        if !has_stack {
            continue;
        }
        // What the error carries is printed after its stack.
        let fields: Vec<&str> = after
            .iter()
            .skip(message.len())
            .skip_while(|line| line.trim_start().starts_with("at "))
            .take(12)
            .copied()
            .filter(|line| is_field(line))
            .collect();
        let code = found.get(2).map_or("", |code| code.as_str());
        let own = found.get(3).map_or("", |message| message.as_str());
        thrown.push(Thrown {
            class: class.to_owned(),
            message: format!(
                "{own} {code}\n{}\n{}",
                message.join("\n"),
                fields.join("\n")
            ),
            trace: String::new(),
        });
    }
    thrown
}

/// Fields of an error that say what it is.
fn is_field(line: &str) -> bool {
    let line = line.trim_start();
    ["code:", "status:", "statusCode:", "type:", "reason:"]
        .iter()
        .any(|key| line.starts_with(key))
}

/// One pattern a runtime: the class, then the message.
const PATTERNS: &[&str] = &[
    // JVM: the innermost cause is the reason.
    r"^Caused by: (?P<class>[\w.$]+)(?:: (?P<message>.*))?$",
    r#"^Exception in thread "[^"]*" (?P<class>[\w.$]+)(?:: (?P<message>.*))?$"#,
    // .NET.
    r"^\s*Unhandled exception[.:] (?P<class>[\w.]+): (?P<message>.*)$",
    // PHP.
    r"Uncaught (?P<class>[\w\\]+): (?P<message>.*)$",
    // Ruby.
    r"^\S+:\d+:in [`'].*': (?P<message>.*) \((?P<class>[\w:]+)\)$",
    // A class with its package, whatever printed it.
    r"^(?P<class>(?:[a-z]\w*\.)+[A-Z]\w*(?:Error|Exception))(?:: (?P<message>.*))?$",
    // Dart, Swift, Deno.
    r"^Unhandled exception:\s(?P<class>\w+): (?P<message>.*)$",
    r"^error: Uncaught (?:\(in promise\) )?(?P<class>\w+): (?P<message>.*)$",
];

static REGEXES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    PATTERNS
        .iter()
        .flat_map(|pattern| Regex::new(&format!("(?m){pattern}")))
        .collect()
});

fn by_patterns(text: &str) -> Vec<Thrown> {
    let mut thrown = Vec::new();
    for regex in REGEXES.iter() {
        let part = |found: &regex::Captures<'_>, name: &str| {
            found
                .name(name)
                .map_or_else(String::new, |part| part.as_str().to_owned())
        };
        let mut found: Vec<Thrown> = regex
            .captures_iter(text)
            .map(|found| Thrown {
                class: part(&found, "class"),
                message: part(&found, "message"),
                trace: String::new(),
            })
            .collect();
        found.reverse();
        thrown.append(&mut found);
    }
    thrown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_decides_over_the_message() {
        for (text, expected) in [
            (
                "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    d['timeout']\nKeyError: 'timeout'\n",
                Kind::Logic,
            ),
            (
                "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    os.environ[\"TOKEN\"]\n    ^^^^^\nKeyError: 'TOKEN'\n",
                Kind::Config,
            ),
            (
                "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\nbotocore.errorfactory.ThroughputThrottledError: no\n",
                Kind::RateLimit,
            ),
            (
                "TypeError: fetch failed\n    at node:internal\n  [cause]: Error: connect ECONNREFUSED 127.0.0.1:1\n      at TCP\n",
                Kind::Unavailable,
            ),
            (
                "Exception in thread \"main\" java.lang.RuntimeException: no luck\n\tat A.b(A.java:1)\nCaused by: java.net.UnknownHostException: db\n",
                Kind::Unavailable,
            ),
            (
                "main.rb:3:in `<main>': undefined method `foo' for nil (NoMethodError)\n",
                Kind::Name,
            ),
            (
                "Unhandled exception. System.IO.FileNotFoundException: Could not find file '/x'.\n",
                Kind::Path,
            ),
        ] {
            assert_eq!(read(text).map(|o| o.kind), Some(expected), "{text}");
        }
        assert!(read("the KeyError: of before is mended").is_none());
    }

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(REGEXES.len(), PATTERNS.len());
        assert!(HEAD.is_some());
    }
}
