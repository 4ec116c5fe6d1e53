//! Reads logs: filters, the last lines, counts. Seed-format lines without level or hash are read as they are.

use super::store::{Log, lines_path};
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::Workspace;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};

/// What to look for; an empty filter matches every line.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `level_0` … `level_3`.
    pub level: Option<String>,
    /// A rule id, or a family with its dot (`git.`).
    pub rule: Option<String>,
    /// A decision word.
    pub decision: Option<String>,
    /// `person`, `agent`, `agent:NAME`.
    pub actor: Option<String>,
    /// A run's id.
    pub run: Option<String>,
    /// Not before this RFC 3339 time.
    pub since: Option<jiff::Timestamp>,
    /// Not after this RFC 3339 time.
    pub until: Option<jiff::Timestamp>,
    /// A path or a part of one, anywhere in context or action.
    pub path: Option<String>,
}

/// A text of a line, borrowed from it wherever nothing in it is escaped.
#[derive(Debug, Default, PartialEq, Eq)]
struct Word<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Word<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Word(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Word(Cow::Owned(text.to_owned())))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Word::default())
            }
            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(Word(Cow::Owned(value.to_string())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Word(Cow::Owned(value.to_string())))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
                Ok(Word(Cow::Owned(value.to_string())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Word::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Word::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Word::default())
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// One rule or several.
#[derive(Debug, Default)]
struct Words<'a>(Vec<Word<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Words<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Words(vec![Word(Cow::Borrowed(text))]))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Words(vec![Word(Cow::Owned(text.to_owned()))]))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Words::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut words = Vec::with_capacity(2);
                while let Some(word) = seq.next_element()? {
                    words.push(word);
                }
                Ok(Words(words))
            }
        }
        deserializer.deserialize_any(List)
    }
}

/// The fields that filters and counts look at; every other one is skipped unread.
#[derive(Debug, Default, Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    timestamp: Word<'a>,
    #[serde(borrow, default)]
    decision: Word<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Word<'a>,
    #[serde(borrow, default)]
    level: Word<'a>,
    #[serde(borrow, default)]
    rule: Words<'a>,
    #[serde(borrow, default)]
    outcome: Word<'a>,
    #[serde(borrow, default)]
    actor: Word<'a>,
    #[serde(borrow, default)]
    run: Word<'a>,
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.level.is_none()
            && self.rule.is_none()
            && self.decision.is_none()
            && self.actor.is_none()
            && self.run.is_none()
            && self.since.is_none()
            && self.until.is_none()
            && self.path.is_none()
    }

    /// Returns true for a line that is looked for; a line that cannot be read matches only an empty filter.
    #[must_use]
    pub fn matches(&self, bytes: &[u8]) -> bool {
        if self.is_empty() {
            return true;
        }
        let Ok(line) = serde_json::from_slice::<Line<'_>>(bytes) else {
            return false;
        };
        let is = |wanted: &Option<String>, found: &Word<'_>| {
            wanted.as_ref().is_none_or(|wanted| *wanted == found.0)
        };
        is(&self.level, &line.level)
            && is(&self.run, &line.run)
            && (is(&self.decision, &line.decision) || is(&self.decision, &line.kind))
            && self.actor.as_ref().is_none_or(|wanted| {
                *wanted == line.actor.0
                    || line
                        .actor
                        .0
                        .strip_prefix(wanted.as_str())
                        .is_some_and(|rest| rest.starts_with(':'))
            })
            && self.rule.as_ref().is_none_or(|wanted| {
                line.rule.0.iter().any(|rule| {
                    *wanted == rule.0 || (wanted.ends_with('.') && rule.0.starts_with(wanted))
                })
            })
            && self.in_time(&line.timestamp.0)
            && self.path.as_ref().is_none_or(|path| names(bytes, path))
    }

    fn in_time(&self, timestamp: &str) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        timestamp.parse::<jiff::Timestamp>().is_ok_and(|at| {
            self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
        })
    }
}

/// Returns true when any text inside the line's context or action names the path.
fn names(bytes: &[u8], path: &str) -> bool {
    fn inside(value: &serde_json::Value, path: &str) -> bool {
        match value {
            serde_json::Value::String(text) => text.contains(path),
            serde_json::Value::Array(items) => items.iter().any(|item| inside(item, path)),
            serde_json::Value::Object(members) => {
                members.values().any(|member| inside(member, path))
            }
            _ => false,
        }
    }
    serde_json::from_slice::<serde_json::Value>(bytes).is_ok_and(|value| {
        ["context", "action", "file"]
            .iter()
            .filter_map(|key| value.get(key))
            .any(|value| inside(value, path))
    })
}

/// A reader of one log that remembers how far it has come.
#[derive(Debug)]
pub struct Query {
    log: Log,
    filter: Filter,
    offset: u64,
}

impl Query {
    /// Starts at the beginning of a log.
    #[must_use]
    pub fn new(log: Log, filter: Filter) -> Self {
        Self {
            log,
            filter,
            offset: 0,
        }
    }

    /// Returns the last `most` matching lines from where it stopped before; only whole lines are read.
    ///
    /// # Errors
    /// When the log is there and cannot be read.
    pub fn next_lines(&mut self, workspace: &Workspace, most: usize) -> Result<Vec<Vec<u8>>> {
        let path = lines_path(workspace, self.log);
        let doing = || format!("cannot read {}", path.display());
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).doing(ErrorKind::Io, doing),
        };
        let length = file.metadata().doing(ErrorKind::Io, doing)?.len();
        if length < self.offset {
            // Somebody cut the log short; what is there now is read again.
            self.offset = 0;
        }
        file.seek(SeekFrom::Start(self.offset))
            .doing(ErrorKind::Io, doing)?;
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut found = VecDeque::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader
                .read_until(b'\n', &mut line)
                .doing(ErrorKind::Io, doing)?;
            if line.pop_if(|last| *last == b'\n').is_none() {
                break;
            }
            self.offset += read as u64;
            if !line.trim_ascii().is_empty() && self.filter.matches(&line) {
                if found.len() == most {
                    found.pop_front();
                }
                if most > 0 {
                    found.push_back(line.clone());
                }
            }
        }
        Ok(found.into())
    }
}

/// Counts over a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    /// Lines that match.
    pub entries: u64,
    /// Lines that are no JSON object.
    pub unreadable: u64,
    /// By decision (or by type in the other two logs).
    pub decisions: BTreeMap<String, u64>,
    /// By level.
    pub levels: BTreeMap<String, u64>,
    /// By rule.
    pub rules: BTreeMap<String, u64>,
    /// By outcome.
    pub outcomes: BTreeMap<String, u64>,
}

/// Counts the lines of a log that a filter matches.
///
/// # Errors
/// When it is there and cannot be read.
pub fn stats(workspace: &Workspace, log: Log, filter: &Filter) -> Result<Stats> {
    let path = lines_path(workspace, log);
    let doing = || format!("cannot read {}", path.display());
    let mut stats = Stats::default();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(stats),
        Err(error) => return Err(error).doing(ErrorKind::Io, doing),
    };
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader
            .read_until(b'\n', &mut line)
            .doing(ErrorKind::Io, doing)?
            == 0
        {
            return Ok(stats);
        }
        stats.count(&line, filter);
    }
}

impl Stats {
    fn count(&mut self, bytes: &[u8], filter: &Filter) {
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let Ok(line) = serde_json::from_slice::<Line<'_>>(bytes) else {
            self.unreadable += 1;
            return;
        };
        if !filter.matches(bytes) {
            return;
        }
        self.entries += 1;
        add(&mut self.decisions, &line.decision.0);
        add(&mut self.decisions, &line.kind.0);
        add(&mut self.levels, &line.level.0);
        add(&mut self.outcomes, &line.outcome.0);
        for rule in &line.rule.0 {
            add(&mut self.rules, &rule.0);
        }
    }
}

fn add(counts: &mut BTreeMap<String, u64>, word: &str) {
    if word.is_empty() {
        return;
    }
    match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => {
            counts.insert(word.to_owned(), 1);
        }
    }
}
