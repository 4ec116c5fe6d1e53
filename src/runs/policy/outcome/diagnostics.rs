//! What compilers and linters report: a place in a file, then what is wrong there.

use super::{Basis, Family, Kind, Outcome, words};
use regex::Regex;
use std::sync::LazyLock;

/// What a diagnostic means of which the message says nothing known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voice {
    /// A compiler's: the code does not hold together.
    Compiler,
    /// A parser's: compilers that give codes to all other errors.
    Parser,
    /// A linter's: it holds together, and is not as it should be.
    Linter,
}

/// How a diagnostic is laid out, and who speaks so.
const LAYOUTS: &[(Voice, &str)] = &[
    // gcc, clang, javac, mypy, swiftc, ghc, kotlinc: `main.c:1:22: error: …`.
    (
        Voice::Compiler,
        r"^\S[^:\n]*\.\w+:\d+(?::\d+)?: (?:fatal )?[Ee]rror:? (?P<message>.+)$",
    ),
    // go build and vet: `./main.go:3:14: …`.
    (
        Voice::Compiler,
        r"^(?:vet: )?\S+\.go:\d+(?::\d+)?: (?P<message>.+)$",
    ),
    // csc, msbuild: `Program.cs(3,5): error CS0029: …`.
    (
        Voice::Compiler,
        r"^\S+\(\d+,\d+\): error [A-Z]+\d+: (?P<message>.+)$",
    ),
    // rustc's parser, rustdoc, zig: the place follows on a line of its own.
    (
        Voice::Parser,
        r"^error: (?P<message>.+)\n\s*(?:-->|╭▸|┌─) (?P<place>\S+)",
    ),
    // make: `Makefile:2: *** missing separator.  Stop.`
    (Voice::Parser, r"^\S+:\d+: \*\*\* (?P<message>.+)$"),
    // black, dprint: `error: cannot parse: main.py:1:6`, with the place in the message.
    (
        Voice::Parser,
        r"(?i)^error: (?P<message>cannot (?:parse|format)\b.*:\d+:\d+.*)$",
    ),
    // Terraform: `Error: …` and `on main.tf line 1`.
    (
        Voice::Compiler,
        r"^[│|]?\s*Error: (?P<message>.+)\n(?:[│|]?\s*\n)?[│|]?\s*on \S+ line \d+",
    ),
    // flake8, pylint, rubocop: `main.py:1:7: F821 …`.
    (
        Voice::Linter,
        r"^\S+\.\w+:\d+(?::\d+)?: [A-Z]+\d+:? (?P<message>.+)$",
    ),
    // ruff: the place follows.
    (
        Voice::Linter,
        r"^[A-Z]{1,4}\d{2,4}(?: \[\*\])? (?P<message>.+)\n\s*-->",
    ),
    // eslint, stylelint: `  1:5  error  …  no-var`.
    (
        Voice::Linter,
        r"^\s+\d+:\d+\s+(?:error|✖)\s+(?P<message>.+)$",
    ),
];

/// Phrases of messages, in the order in which they explain one another.
const PHRASES: &[(Kind, &[&str])] = &[
    (
        Kind::Syntax,
        &[
            "syntax",
            "illegal start of",
            "unterminated",
            "unclosed",
            "unbalanced",
            "unmatched",
            "expected '",
            "expected ‘",
            "expected `",
            "expected expression",
            "expected identifier",
            "expected declaration",
            "unexpected token",
            "unexpected end",
            "unexpected indent",
            "unexpected keyword",
            "parse",
            "parsing",
            "missing separator",
            "reached end of file",
            "invalid character",
            "stray ‘",
            "stray '",
            "extraneous",
            "class, interface, enum, or record expected",
            "non-declaration statement",
            "missing closing",
            "missing name for",
            "invalid expression",
            "statement ended",
            "newline",
            "indentation",
            "expected one of",
            "expected type,",
            "delimiter",
            "expected item",
            "argument or block definition",
        ],
    ),
    (
        Kind::Dependency,
        &[
            "package org.",
            "package com.",
            "cannot find implementation or library stub",
            "no such module",
            "no such file",
            "file not found",
            "cannot find package",
            "library stubs not installed",
            "no required module",
            "cannot find module",
            "unable to import",
            "are you missing an assembly reference",
            "can't find crate",
            "could not resolve dependenc",
            "no matching package",
        ],
    ),
    (Kind::Path, &["no matching files found", "cannot open file"]),
    (
        Kind::Import,
        &[
            "imported and not used",
            "is not in goroot",
            "is not in std",
            "import cycle",
            "unresolved import",
            "no name '",
            "does not contain a member",
            "circular import",
            "cyclic import",
            "attempted relative import",
        ],
    ),
    (
        Kind::Name,
        &[
            "undefined",
            "undeclared",
            "not declared",
            "unresolved",
            "cannot find symbol",
            "cannot find '",
            "cannot find `",
            "cannot find value",
            "cannot find function",
            "cannot find macro",
            "cannot find type",
            "has no attribute",
            "has no member",
            "no member named",
            "unknown type name",
            "implicit declaration",
            "no item named",
            "not in scope",
            "has no field",
            "does not exist in the current context",
            "does not contain a definition",
            "is not defined",
            "unknown identifier",
            "unbound",
            "not found in this scope",
        ],
    ),
    (
        Kind::Type,
        &[
            "type",
            "incompatible",
            "cannot convert",
            "cannot be converted",
            "cannot assign",
            "cannot use",
            "mismatch",
            "argument",
            "return value",
            "has arg",
            "lifetime",
            "borrow",
            "cast",
            "conversion",
            "overload",
            "const ",
            "nullable",
            "optional",
        ],
    ),
];

/// One diagnostic.
struct Diagnostic {
    voice: Voice,
    message: String,
    /// The file is read by a tool, and is no code.
    in_settings: bool,
}

/// Returns what the diagnostics in a text say.
pub(super) fn read(text: &str) -> Option<Outcome> {
    let found = all(text);
    let first = found.first()?;
    let said = |kind, message: &str| Some(Outcome::new(kind, Basis::Code, message));
    if let Some(setting) = found.iter().find(|one| one.in_settings) {
        return words::read(&setting.message)
            .filter(|outcome| outcome.kind.family() == Family::Environment)
            .or_else(|| said(Kind::Config, &setting.message));
    }
    for (kind, phrases) in PHRASES {
        let one = found.iter().find(|one| {
            let lower = one.message.to_lowercase();
            // A linter's complaint about types or arguments is one about style.
            !(one.voice == Voice::Linter && *kind == Kind::Type)
                && phrases.iter().any(|phrase| lower.contains(phrase))
        });
        if let Some(one) = one {
            return said(*kind, &one.message);
        }
    }
    words::read(&first.message)
        .filter(|outcome| matches!(outcome.kind.family(), Family::Code | Family::Environment))
        .or_else(|| {
            let kind = match first.voice {
                Voice::Compiler => Kind::Type,
                Voice::Parser => Kind::Syntax,
                Voice::Linter => Kind::Logic,
            };
            said(kind, &first.message)
        })
}

static REGEXES: LazyLock<Vec<(Voice, Regex)>> = LazyLock::new(|| {
    LAYOUTS
        .iter()
        .filter_map(|(voice, layout)| Some((*voice, Regex::new(&format!("(?m){layout}")).ok()?)))
        .collect()
});

fn all(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (voice, regex) in REGEXES.iter() {
        for captures in regex.captures_iter(text).take(50) {
            let part = |name| captures.name(name).map_or("", |part| part.as_str());
            found.push(Diagnostic {
                voice: *voice,
                message: part("message").to_owned(),
                in_settings: [".toml:", ".json:", ".yaml:", ".yml:", ".ini:", ".cfg:"]
                    .iter()
                    .any(|end| part("place").contains(end)),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_is_read_by_its_message() {
        for (text, expected) in [
            (
                "a.c:1:22: error: initialization of ‘int *’ from incompatible pointer type",
                Kind::Type,
            ),
            ("A.java:1: error: illegal start of type", Kind::Syntax),
            (
                "A.java:1: error: package org.nope does not exist\nA.java:2: error: cannot find symbol",
                Kind::Dependency,
            ),
            ("main.py:1:7: F821 undefined name 'fooo'", Kind::Name),
            (
                "Program.cs(3,5): error CS0103: The name 'x' does not exist in the current context",
                Kind::Name,
            ),
            (
                "I001 [*] Import block is un-sorted\n --> main.py:1:1",
                Kind::Logic,
            ),
            (
                "  1:1  error  Unexpected var, use let or const instead  no-var",
                Kind::Logic,
            ),
            (
                "./main.go:3:14: fmt.Printf format %d has arg \"x\" of wrong type string",
                Kind::Type,
            ),
        ] {
            assert_eq!(read(text).map(|o| o.kind), Some(expected), "{text}");
        }
        assert!(read("see src/main.rs:10 for the error: it is old").is_none());
    }

    #[test]
    fn every_layout_is_a_pattern() {
        assert_eq!(REGEXES.len(), LAYOUTS.len());
    }
}
