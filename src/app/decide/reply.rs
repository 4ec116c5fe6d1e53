//! Writes what became of decisions, in the form in which they came.

use super::Judged;
use crate::decisions::{
    self, Change, DecisionType, Fault, Report, Unchecked,
    documents::{Document, Form},
};
use crate::judge::RuleId;
use crate::sys::out;
use serde::Serialize;

/// How much output is gathered before it is written.
const CHUNK: usize = 64 * 1024;

/// What is answered for one decision.
#[derive(Serialize)]
struct Answer<'r> {
    index: usize,
    line: usize,
    action_type: Option<&'static str>,
    valid: bool,
    event: &'static str,
    next: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    asks: Option<Asks>,
    errors: &'r [Fault],
    #[serde(skip_serializing_if = "is_zero")]
    more_errors: usize,
    #[serde(skip_serializing_if = "<[Unchecked]>::is_empty")]
    unchecked: &'r [Unchecked],
    #[serde(skip_serializing_if = "<[Change]>::is_empty")]
    changes: &'r [Change],
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<serde_json::Value>,
}

/// Under which rule a decision asks for a person.
#[derive(Clone, Copy, Serialize)]
struct Asks {
    rule: RuleId,
    level: u8,
}

impl Asks {
    fn of(report: &Report) -> Option<Self> {
        report.asks.map(|rule| Self {
            rule,
            level: rule.rule().level.number(),
        })
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Writes answers in the form in which the decisions came, a chunk at a time.
pub(super) struct Reply {
    json: bool,
    form: Form,
    text: Vec<u8>,
    first: bool,
}

impl Reply {
    pub(super) fn new(json: bool, form: Form) -> Self {
        let mut reply = Self {
            json,
            form,
            text: Vec::new(),
            first: true,
        };
        if json && form == Form::Array {
            reply.text.push(b'[');
        }
        reply
    }

    pub(super) fn add(&mut self, index: usize, document: &Document, judged: &Judged) {
        if self.json {
            if self.form == Form::Array && !self.first {
                self.text.extend_from_slice(b",\n");
            }
            let answer = Answer {
                index,
                line: document.line,
                action_type: judged.report.kind.map(DecisionType::word),
                valid: judged.report.is_valid(),
                event: event(&judged.report),
                next: decisions::next(&judged.report),
                asks: Asks::of(&judged.report),
                errors: &judged.report.faults,
                more_errors: judged.report.more,
                unchecked: &judged.report.unchecked,
                changes: &judged.changes,
                corrected: judged.corrected.clone(),
            };
            // Plain strings and numbers always serialise.
            if let Ok(text) = serde_json::to_vec(&answer) {
                self.text.extend_from_slice(&text);
            }
            if self.form != Form::Array {
                self.text.push(b'\n');
            }
        } else {
            self.text
                .extend_from_slice(worded(self.form, index, document, judged).as_bytes());
        }
        self.first = false;
        if self.text.len() > CHUNK {
            out::raw(&self.text);
            self.text.clear();
        }
    }

    pub(super) fn end(&mut self) {
        if self.json && self.form == Form::Array {
            self.text.extend_from_slice(b"]\n");
        }
        out::raw(&self.text);
        self.text.clear();
    }
}

/// The name of the event that a decision's validation gives.
pub(super) fn event(report: &Report) -> &'static str {
    if report.is_valid() {
        "DecisionValidated"
    } else {
        "DecisionRejected"
    }
}

fn worded(form: Form, index: usize, document: &Document, judged: &Judged) -> String {
    use std::fmt::Write as _;
    let report = &judged.report;
    let place = match form {
        Form::One => String::new(),
        Form::Array => format!("decision {index} (line {}): ", document.line),
        Form::Lines => format!("line {}: ", document.line),
    };
    let kind = report.kind.map_or("decision", DecisionType::word);
    let outcome = match (report.is_valid(), judged.changes.is_empty()) {
        (true, true) => "valid",
        (true, false) => "valid after correction",
        (false, _) => "rejected",
    };
    let mut text = format!("{place}{kind}: {outcome}\n");
    // Writing to a string cannot fail.
    for change in &judged.changes {
        let value = |value: &Option<serde_json::Value>| {
            value
                .as_ref()
                .map_or_else(|| "nothing".to_owned(), serde_json::Value::to_string)
        };
        let _ = writeln!(
            text,
            "  changed {}: {} -> {} ({})",
            shown(&change.pointer),
            value(&change.from),
            value(&change.to),
            change.why
        );
    }
    for fault in &report.faults {
        let _ = writeln!(
            text,
            "  {}: {} [{}]",
            shown(&fault.pointer),
            fault.message,
            fault.code.word()
        );
    }
    if report.more > 0 {
        let _ = writeln!(text, "  and {} more", report.more);
    }
    if let Some(asks) = Asks::of(report) {
        let _ = writeln!(
            text,
            "  asks a person: {} (level {}, {})",
            asks.rule.rule().when,
            asks.level,
            asks.rule
        );
    }
    if !report.is_valid() {
        let _ = writeln!(
            text,
            "  next: {}",
            match decisions::next(report) {
                "replan_workflow" => "plan the workflow anew (replan_workflow)",
                _ => "put it right and send it again; --correct repairs what can be repaired",
            }
        );
    }
    for note in &report.unchecked {
        let _ = writeln!(
            text,
            "  not checked {}: {}",
            shown(&note.pointer),
            note.message
        );
    }
    if let (Form::One, Some(value)) = (form, &judged.corrected) {
        let _ = writeln!(text, "{value:#}");
    }
    text
}

pub(super) fn shown(pointer: &str) -> &str {
    if pointer.is_empty() {
        "(whole)"
    } else {
        pointer
    }
}
