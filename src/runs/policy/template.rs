//! Placeholders in a command: `{session}`, `{task}`, `{attempt}`.
//!
//! A word that is nothing but `{session}` disappears, with the option before it
//! when that ends the pair, where there is no session yet: the first attempt
//! of `agent --resume {session} {task}` is `agent TASK`. A brace pair around
//! anything else is text, because agents are given JSON and code as arguments;
//! a misspelt placeholder is found by its nearness to a known one.

use bstr::{BString, ByteSlice as _};
use std::fmt;

/// What the placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The agent's session, where there is one.
    pub session: Option<&'a str>,
    /// The task's text.
    pub task: Option<&'a str>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
}

/// A command that cannot be rendered (E002).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrendered {
    /// A placeholder has no value.
    NoValue {
        /// Its name.
        name: String,
        /// The word it stands in.
        word: String,
    },
    /// A placeholder is not known.
    Unknown {
        /// What was written.
        written: String,
        /// The known one that was probably meant.
        meant: &'static str,
    },
    /// Nothing is left to run.
    Empty,
}

impl fmt::Display for Unrendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue { name, word } => {
                write!(f, "{{{name}}} in `{word}` has no value")
            }
            Self::Unknown { written, meant } => {
                write!(f, "{{{written}}} is not a placeholder; {{{meant}}} is")
            }
            Self::Empty => f.write_str("the command is empty"),
        }
    }
}

impl std::error::Error for Unrendered {}

const KNOWN: [&str; 3] = ["session", "task", "attempt"];

/// Renders a command's words.
pub fn render(words: &[BString], values: &Values<'_>) -> Result<Vec<BString>, Unrendered> {
    let mut rendered: Vec<BString> = Vec::with_capacity(words.len());
    for word in words {
        if word.as_slice() == b"{session}" && values.session.is_none() {
            // `--resume {session}`: the option goes with its missing value.
            if rendered.len() > 1 && rendered.last().is_some_and(|last| last.starts_with(b"-")) {
                rendered.pop();
            }
            continue;
        }
        if is_option_with(word, b"={session}") && values.session.is_none() {
            continue;
        }
        rendered.push(render_word(word, values)?);
    }
    match rendered.first() {
        Some(program) if !program.is_empty() => Ok(rendered),
        _ => Err(Unrendered::Empty),
    }
}

/// Returns true where a command has the placeholder.
#[must_use]
pub fn uses(words: &[BString], name: &str) -> bool {
    let placeholder = format!("{{{name}}}");
    words
        .iter()
        .any(|word| word.contains_str(placeholder.as_str()))
}

fn is_option_with(word: &BString, end: &[u8]) -> bool {
    word.starts_with(b"-") && word.ends_with(end)
}

fn render_word(word: &BString, values: &Values<'_>) -> Result<BString, Unrendered> {
    let mut out = BString::default();
    let mut rest = word.as_bstr();
    while let Some(open) = rest.find_byte(b'{') {
        let (before, from_open) = rest.split_at(open);
        out.extend_from_slice(before);
        let name = from_open
            .find_byte(b'}')
            .and_then(|close| from_open.get(1..close))
            .and_then(|name| name.to_str().ok());
        let value = match name {
            Some(name) if KNOWN.contains(&name) => {
                Some(value_of(name, values).ok_or_else(|| Unrendered::NoValue {
                    name: name.to_owned(),
                    word: word.to_string(),
                })?)
            }
            Some(name) => {
                if let Some(meant) = misspelt(name) {
                    return Err(Unrendered::Unknown {
                        written: name.to_owned(),
                        meant,
                    });
                }
                None
            }
            None => None,
        };
        if let (Some(value), Some(name)) = (value, name) {
            out.extend_from_slice(value.as_bytes());
            rest = from_open
                .get(name.len() + 2..)
                .unwrap_or_default()
                .as_bstr();
        } else {
            out.extend_from_slice(b"{");
            rest = from_open.get(1..).unwrap_or_default().as_bstr();
        }
    }
    out.extend_from_slice(rest);
    Ok(out)
}

fn value_of(name: &str, values: &Values<'_>) -> Option<String> {
    match name {
        "session" => values.session.map(str::to_owned),
        "task" => values.task.map(str::to_owned),
        "attempt" => Some(values.attempt.to_string()),
        _ => None,
    }
}

/// The known placeholder that a word is within two edits of, or that it spells in other case.
fn misspelt(written: &str) -> Option<&'static str> {
    let lower = written.to_ascii_lowercase();
    if !(3..=12).contains(&lower.len())
        || !lower
            .chars()
            .all(|c| c.is_ascii_alphabetic() || c == '_' || c == '-')
    {
        return None;
    }
    KNOWN.into_iter().find(|known| {
        let most = if known.len() > 5 { 2 } else { 1 };
        distance(&lower, known) <= most
            || lower == format!("{known}_id")
            || lower == format!("{known}-id")
            || lower == format!("{known}id")
    })
}

/// The number of letters inserted, dropped or exchanged between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, to) in row.iter().skip(1).zip(&b) {
            let exchanged = corner + usize::from(from != *to);
            left = exchanged.min(above + 1).min(left + 1);
            corner = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(
        words: &[&str],
        session: Option<&str>,
        task: Option<&str>,
    ) -> Result<Vec<String>, Unrendered> {
        let words: Vec<BString> = words.iter().map(|word| BString::from(*word)).collect();
        render(
            &words,
            &Values {
                session,
                task,
                attempt: 2,
            },
        )
        .map(|words| words.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn placeholders_are_filled_wherever_they_stand() {
        assert_eq!(
            rendered(
                &["agent", "--id={session}", "do {task} ({attempt})"],
                Some("s1"),
                Some("it")
            )
            .expect("renders"),
            ["agent", "--id=s1", "do it (2)"]
        );
    }

    #[test]
    fn a_missing_session_takes_its_option_along() {
        for words in [
            &["agent", "--resume", "{session}", "-p", "{task}"][..],
            &["agent", "--resume={session}", "-p", "{task}"],
        ] {
            assert_eq!(
                rendered(words, None, Some("x")).expect("renders"),
                ["agent", "-p", "x"]
            );
        }
        assert_eq!(
            rendered(&["codex", "exec", "resume", "{session}"], None, None).expect("renders"),
            ["codex", "exec", "resume"]
        );
    }

    #[test]
    fn a_missing_value_is_an_error() {
        assert_eq!(
            rendered(&["agent", "{task}"], None, None),
            Err(Unrendered::NoValue {
                name: "task".into(),
                word: "{task}".into()
            })
        );
        assert!(matches!(
            rendered(&["agent", "id-{session}"], None, None),
            Err(Unrendered::NoValue { .. })
        ));
        assert_eq!(rendered(&[], None, None), Err(Unrendered::Empty));
        assert_eq!(rendered(&[""], None, None), Err(Unrendered::Empty));
    }

    #[test]
    fn a_misspelt_placeholder_is_an_error() {
        for written in ["sesion", "SESSION", "session_id", "tasks", "atempt"] {
            assert!(
                matches!(
                    rendered(&["a", &format!("{{{written}}}")], Some("s"), Some("t")),
                    Err(Unrendered::Unknown { .. })
                ),
                "{written}"
            );
        }
    }

    #[test]
    fn other_braces_are_text() {
        for word in [
            "{}",
            "{\"a\":{\"b\":1}}",
            "${HOME}",
            "{a,b}",
            "{ task }",
            "{",
            "}{",
            "awk {print}",
            "{name}",
        ] {
            assert_eq!(
                rendered(&["echo", word], None, None).expect("renders"),
                ["echo", word]
            );
        }
    }

    #[test]
    fn values_are_not_rendered_again() {
        assert_eq!(
            rendered(&["a", "{task}"], Some("s"), Some("{session} $(x)")).expect("renders"),
            ["a", "{session} $(x)"]
        );
    }
}
