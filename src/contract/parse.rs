//! Reads a Contract from Markdown: front matter, headings and bullets.
//!
//! Fenced code and HTML comments are for people. A bullet in a path section
//! gives the paths it names (see `bullet`); in Forbidden Patterns it gives
//! `/expressions/` and backticked texts.

use super::bullet::{backticked, is_none, paths};
use super::forbidden::Forbidden;
use super::pattern::PathPattern;
use super::{Contract, Note, Section};
use crate::judge::{Priority, Risk};
use bstr::ByteSlice as _;
use std::borrow::Cow;
use std::fmt;

/// What is wrong with a Contract, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line in the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What would be accepted there; empty where nothing is to be said.
    pub accepted: String,
}

impl Fault {
    pub(super) fn new(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
            accepted: String::new(),
        }
    }

    pub(super) fn accepting(mut self, accepted: impl Into<String>) -> Self {
        self.accepted = accepted.into();
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Fault {}

impl Contract {
    /// Reads a Contract.
    ///
    /// # Errors
    /// With the line of the first path pattern or front matter value that
    /// cannot be read. Expressions are compiled later, see [`Contract::verify`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.find_iter(b"\n").count();
            Fault::new(line, "the text is not UTF-8")
        })?;
        let mut contract = Self::default();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let body = contract.front_matter(&lines)?;
        for bullet in bullets(&lines, body) {
            contract.bullet(&bullet)?;
        }
        Ok(contract)
    }

    /// Reads `key: value` lines between two `---`; returns the index of the first line behind it.
    fn front_matter(&mut self, lines: &[&str]) -> Result<usize, Fault> {
        if lines.first() != Some(&"---") {
            return Ok(0);
        }
        let Some(end) = lines.iter().skip(1).position(|line| *line == "---") else {
            return Ok(0);
        };
        for (index, line) in lines.iter().enumerate().take(end + 1).skip(1) {
            let number = index + 1;
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.split(" #").next().unwrap_or_default();
            let value = value.trim().trim_matches(['"', '\'']);
            match key.trim().to_ascii_lowercase().as_str() {
                "priority" => self.priority = Some(priority(value, number)?),
                "risk" => self.risk = Some(risk(value, number)?),
                "expires" if !value.is_empty() => self.expires = Some(expires(value, number)?),
                _ => {}
            }
        }
        Ok(end + 2)
    }

    fn bullet(&mut self, bullet: &Bullet) -> Result<(), Fault> {
        let listed = match bullet.section {
            Section::InScope => &mut self.in_scope,
            Section::OutOfScope => &mut self.out_of_scope,
            Section::MustNotChange => &mut self.frozen,
            Section::ForbiddenPatterns => {
                let found = expressions(&bullet.text, bullet.line);
                if found.is_empty() {
                    self.notes.push(bullet.note());
                }
                self.forbidden.extend(found);
                return Ok(());
            }
            Section::Constraints | Section::Acceptance => {
                self.notes.push(bullet.note());
                return Ok(());
            }
        };
        let paths = paths(&bullet.text);
        for path in &paths {
            listed.push(PathPattern::parse(path, bullet.line)?);
        }
        if paths.is_empty() && !is_none(&bullet.text) {
            self.notes.push(bullet.note());
        }
        Ok(())
    }
}

/// One bullet with its continuation lines, in a section that is known.
struct Bullet {
    section: Section,
    line: usize,
    text: String,
}

impl Bullet {
    fn note(&self) -> Note {
        Note {
            line: self.line,
            section: self.section,
            text: self.text.clone(),
        }
    }
}

/// Where a reader stands in the Markdown.
#[derive(Default)]
struct Reader {
    section: Option<Section>,
    fence: Option<(char, usize)>,
    comment: bool,
    open: Option<Bullet>,
    done: Vec<Bullet>,
}

fn bullets(lines: &[&str], body: usize) -> Vec<Bullet> {
    let mut reader = Reader::default();
    for (index, line) in lines.iter().enumerate().skip(body) {
        reader.line(index + 1, line, lines.get(index + 1).copied());
    }
    reader.close();
    reader.done
}

impl Reader {
    fn close(&mut self) {
        self.done.extend(self.open.take());
    }

    fn line(&mut self, number: usize, line: &str, next: Option<&str>) {
        if self.inside_fence(line) {
            return;
        }
        let line = self.without_comments(line);
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.close();
        } else if let Some(title) = heading(trimmed, next) {
            self.close();
            self.section = section(title);
        } else if let Some(text) = item(trimmed) {
            self.close();
            self.open = self.section.map(|section| Bullet {
                section,
                line: number,
                text: text.to_owned(),
            });
        } else if let Some(open) = &mut self.open {
            open.text.push(' ');
            open.text.push_str(trimmed);
        }
    }

    fn inside_fence(&mut self, line: &str) -> bool {
        if self.comment {
            return false;
        }
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match (self.fence, mark) {
            (Some((open, least)), Some(mark))
                if mark == open && length >= least && trimmed.len() == length =>
            {
                self.fence = None;
                true
            }
            (Some(_), _) => true,
            (None, Some(mark)) if length >= 3 && !trimmed[length..].contains('`') => {
                self.close();
                self.fence = Some((mark, length));
                true
            }
            (None, _) => false,
        }
    }

    fn without_comments<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if !self.comment && !line.contains("<!--") {
            return Cow::Borrowed(line);
        }
        let mut kept = String::new();
        let mut rest = line;
        loop {
            if self.comment {
                let Some(end) = rest.find("-->") else { break };
                rest = &rest[end + 3..];
                self.comment = false;
            }
            let Some(start) = rest.find("<!--") else {
                kept.push_str(rest);
                break;
            };
            kept.push_str(&rest[..start]);
            rest = &rest[start + 4..];
            self.comment = true;
        }
        Cow::Owned(kept)
    }
}

/// The title of a heading: `## T`, a line underlined by `---` or `===`, or a line all in bold.
fn heading<'a>(line: &'a str, next: Option<&str>) -> Option<&'a str> {
    if let Some(rest) = line.strip_prefix('#') {
        let title = rest.trim_start_matches('#');
        return title
            .starts_with([' ', '\t'])
            .then(|| title.trim().trim_end_matches('#').trim_end());
    }
    let underlined = next.is_some_and(|next| {
        next.len() >= 3 && (next.bytes().all(|b| b == b'-') || next.bytes().all(|b| b == b'='))
    });
    if underlined && item(line).is_none() {
        return Some(line);
    }
    let bold = line.strip_prefix("**")?;
    let bold = bold.strip_suffix(':').unwrap_or(bold);
    let title = bold.strip_suffix("**")?;
    (!title.contains("**")).then_some(title)
}

/// The text of a list item: `- T`, `* T`, `+ T`, `1. T`, `- [ ] T`.
fn item(line: &str) -> Option<&str> {
    let rest = match line.as_bytes().first()? {
        b'-' | b'*' | b'+' => &line[1..],
        b'0'..=b'9' => line
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix(['.', ')'])?,
        _ => return None,
    };
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let text = rest.trim();
    Some(
        ["[ ] ", "[x] ", "[X] "]
            .iter()
            .find_map(|mark| text.strip_prefix(mark))
            .unwrap_or(text),
    )
}

/// The section that a heading opens; any other heading closes the one before.
fn section(title: &str) -> Option<Section> {
    let word: String = title
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    Some(match word.as_str() {
        "scope" | "inscope" | "范围" | "范围内" => Section::InScope,
        "outofscope" | "notinscope" | "范围外" | "不在范围内" => Section::OutOfScope,
        "mustnotchange" | "mustnotchanges" | "donotchange" | "frozen" | "不可修改" | "禁止修改" => {
            Section::MustNotChange
        }
        "constraint" | "constraints" | "约束" => Section::Constraints,
        "forbidden" | "forbiddenpattern" | "forbiddenpatterns" | "禁止模式" => {
            Section::ForbiddenPatterns
        }
        "acceptance" | "acceptancecriteria" | "验收" | "验收标准" => Section::Acceptance,
        _ => return None,
    })
}

/// The forbidden patterns of a bullet: `/expressions/`, in backticks or bare, and backticked texts.
fn expressions(text: &str, line: usize) -> Vec<Forbidden> {
    let spans = backticked(text);
    if spans.is_empty() {
        return slashed(text.trim(), line).into_iter().collect();
    }
    spans
        .iter()
        .map(|span| slashed(span, line).unwrap_or_else(|| Forbidden::literal(span, line)))
        .collect()
}

/// Reads `/expression/` with what may follow it; the expression reaches to the last slash before it.
fn slashed(text: &str, line: usize) -> Option<Forbidden> {
    let body = text.strip_prefix('/')?;
    let mut ends = body.match_indices('/').map(|(at, _)| at).filter(|at| {
        let behind = &body[at + 1..];
        !body[..*at].ends_with('\\')
            && (behind.is_empty()
                || behind == "i"
                || behind.starts_with(|c: char| c.is_whitespace() || ",;:(".contains(c))
                || behind.starts_with("i "))
    });
    let end = ends.rfind(|at| *at > 0)?;
    let ignore_case = body[end + 1..].starts_with('i');
    Some(Forbidden::expression(
        &body[..end].replace("\\/", "/"),
        ignore_case,
        line,
    ))
}

fn priority(value: &str, line: usize) -> Result<Priority, Fault> {
    Ok(match value.to_ascii_uppercase().as_str() {
        "P0" => Priority::P0,
        "P1" => Priority::P1,
        "P2" | "" => Priority::P2,
        "P3" => Priority::P3,
        _ => {
            return Err(Fault::new(line, format!("priority cannot be `{value}`"))
                .accepting("P0, P1, P2 or P3"));
        }
    })
}

fn risk(value: &str, line: usize) -> Result<Risk, Fault> {
    Ok(match value.to_ascii_lowercase().as_str() {
        "low" | "" => Risk::Low,
        "medium" => Risk::Medium,
        "high" => Risk::High,
        _ => {
            return Err(Fault::new(line, format!("risk cannot be `{value}`"))
                .accepting("low, medium or high"));
        }
    })
}

/// Reads a moment or a day; a day ends at midnight UTC.
fn expires(value: &str, line: usize) -> Result<jiff::Timestamp, Fault> {
    if let Ok(at) = value.parse::<jiff::Timestamp>() {
        return Ok(at);
    }
    value
        .parse::<jiff::civil::Date>()
        .and_then(jiff::civil::Date::tomorrow)
        .and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC))
        .map(|midnight| midnight.timestamp())
        .map_err(|_| {
            Fault::new(line, format!("expires cannot be `{value}`"))
                .accepting("a day such as 2026-12-31, or a time such as 2026-12-31T18:00:00Z")
        })
}
