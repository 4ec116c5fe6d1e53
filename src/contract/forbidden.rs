//! Forbidden patterns, compiled the first time a line is held against them.

use super::parse::Fault;
use bstr::ByteSlice as _;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::OnceLock;

/// A pattern that no added line may match.
#[derive(Clone, Debug)]
pub struct Forbidden {
    /// As written: `/expression/` or a literal text.
    pub text: String,
    /// Line in the file, from 1.
    pub line: usize,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    Literal(Vec<u8>),
    Expression {
        source: String,
        ignore_case: bool,
        compiled: OnceLock<Option<Regex>>,
    },
}

impl PartialEq for Forbidden {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.line == other.line
    }
}

impl Eq for Forbidden {}

impl Forbidden {
    /// A regular expression, written between slashes; `i` behind them ignores case.
    #[must_use]
    pub fn expression(source: &str, ignore_case: bool, line: usize) -> Self {
        Self {
            text: format!("/{source}/{}", if ignore_case { "i" } else { "" }),
            line,
            matcher: Matcher::Expression {
                source: source.to_owned(),
                ignore_case,
                compiled: OnceLock::new(),
            },
        }
    }

    /// A text that is looked for as it stands.
    #[must_use]
    pub fn literal(text: &str, line: usize) -> Self {
        Self {
            text: text.to_owned(),
            line,
            matcher: Matcher::Literal(text.as_bytes().to_vec()),
        }
    }

    pub(super) fn matches(&self, added: &[u8]) -> bool {
        match &self.matcher {
            Matcher::Literal(text) => added.contains_str(text),
            Matcher::Expression {
                source,
                ignore_case,
                compiled,
            } => compiled
                .get_or_init(|| compile(source, *ignore_case).ok())
                .as_ref()
                .is_none_or(|regex| regex.is_match(added)),
        }
    }

    pub(super) fn verify(&self) -> Result<(), Fault> {
        let Matcher::Expression {
            source,
            ignore_case,
            compiled,
        } = &self.matcher
        else {
            return Ok(());
        };
        match compile(source, *ignore_case) {
            Ok(regex) => {
                let _ = compiled.set(Some(regex));
                Ok(())
            }
            Err(error) => Err(Fault::new(
                self.line,
                format!("{} is no regular expression: {}", self.text, brief(&error)),
            )
            .accepting("`/expression/` in the syntax of Rust's regex crate (no look-around, no back-references)")),
        }
    }
}

fn compile(source: &str, ignore_case: bool) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source)
        .case_insensitive(ignore_case)
        .build()
}

/// The last line of the crate's drawing of an error says what is wrong.
fn brief(error: &regex::Error) -> String {
    error
        .to_string()
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}
