//! Repairs what can be repaired, says what it changed, and validates again.
//!
//! Section 3.3 of the seed: missing fields get their default, values out of
//! range go to the nearest end, unknown fields are dropped. Nothing is invented
//! that only the sender can know, and nothing dangerous is made to pass.

use super::envelope;
use super::fields::{Default as Fill, Field, Kind, Need, Others, Shape, Tie};
use super::json::Read;
use super::kind::{DecisionType, NodeType};
use super::known::Known;
use super::names::{self, Target};
use super::pointer::At;
use super::report::Report;
use super::shapes;
use super::tree::{Json, Number, Object};
use super::validate::{Expected, validate_into};
use serde::Serialize;
use std::borrow::Cow;

/// What a correction did to one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A missing field was filled in.
    Added,
    /// A value went to the nearest end of its range.
    Clamped,
    /// A word was written as the table writes it.
    Replaced,
    /// A field was dropped.
    Removed,
}

/// One thing that a correction changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// JSON pointer to the value.
    pub pointer: String,
    /// What was done.
    pub change: ChangeKind,
    /// The value before, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<serde_json::Value>,
    /// The value after, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<serde_json::Value>,
    /// Why, in one clause.
    pub why: &'static str,
}

/// Corrects a decision in place and validates it again.
///
/// A text with flaws (repeated keys, numbers too large) says two things at
/// once; which one was meant cannot be told, so it is left as it is.
pub fn correct(read: &mut Read<'_>, known: &Known, expected: Expected) -> (Vec<Change>, Report) {
    let mut changes = Vec::new();
    if read.flaws.is_empty() {
        let mut before = Report::default();
        let envelope = envelope::open(&read.value, &mut before);
        let declared = expected.kind.or(envelope.declared);
        let member = envelope.member;
        repair(&mut read.value, member, declared, &mut changes);
    }
    let mut report = Report::default();
    for flaw in &read.flaws {
        super::validate::add_flaw(&mut report, flaw);
    }
    validate_into(&mut report, &read.value, known, expected);
    (changes, report)
}

fn repair(
    value: &mut Json<'_>,
    member: Option<&'static str>,
    declared: Option<DecisionType>,
    changes: &mut Vec<Change>,
) {
    let inner = At::ROOT.key("payload");
    let (payload, at) = match (member, value) {
        (Some(member), Json::Object(event)) => match event.get_mut(member) {
            Some(payload) => (payload, inner),
            None => return,
        },
        (_, value) => (value, At::ROOT),
    };
    let Json::Object(payload) = payload else {
        return;
    };
    let mut repair = Repair { changes };
    if let Some(kind) = repair.action_type(payload, declared, &at) {
        repair.shape(shapes::payload(kind), payload, &at);
    }
}

struct Repair<'c> {
    changes: &'c mut Vec<Change>,
}

impl Repair<'_> {
    fn note(
        &mut self,
        at: &At<'_>,
        change: ChangeKind,
        (from, to): (Option<&Json<'_>>, Option<&Json<'_>>),
        why: &'static str,
    ) {
        self.changes.push(Change {
            pointer: at.pointer(),
            change,
            from: from.map(Json::to_value),
            to: to.map(Json::to_value),
            why,
        });
    }

    fn action_type(
        &mut self,
        payload: &mut Object<'_>,
        declared: Option<DecisionType>,
        at: &At<'_>,
    ) -> Option<DecisionType> {
        let here = at.key("action_type");
        let Some(value) = payload.get_mut("action_type") else {
            let kind = declared?;
            let word = text(kind.word());
            self.note(
                &here,
                ChangeKind::Added,
                (None, Some(&word)),
                "the decision was announced as this type",
            );
            payload.set("action_type", word);
            return Some(kind);
        };
        let kind = DecisionType::from_any_case(value.as_text()?)?;
        if value.as_text() != Some(kind.word()) {
            let word = text(kind.word());
            self.note(
                &here,
                ChangeKind::Replaced,
                (Some(value), Some(&word)),
                "types are written in lower case",
            );
            *value = word;
        }
        Some(kind)
    }

    fn shape(&mut self, shape: &Shape, object: &mut Object<'_>, at: &At<'_>) {
        for field in shape.fields {
            self.member(field, object, at);
        }
        if shape.others == Others::Refused {
            self.drop_others(object, at, |name| shape.field(name).is_some());
        }
        for tie in shape.ties {
            if let Tie::When {
                field,
                word,
                needs,
                default,
            } = tie
                && object.get(field).and_then(Json::as_text) == Some(word)
                && object.get(needs).is_none_or(Json::is_null)
                && let Some(value) = filled(*default, object)
            {
                self.note(
                    &at.key(needs),
                    ChangeKind::Added,
                    (None, Some(&value)),
                    "required with this action; the default",
                );
                object.set(needs, value);
            }
        }
    }

    fn drop_others(&mut self, object: &mut Object<'_>, at: &At<'_>, keep: impl Fn(&str) -> bool) {
        for (name, value) in object.iter() {
            if !keep(name) {
                self.note(
                    &at.key(name),
                    ChangeKind::Removed,
                    (Some(value), None),
                    "not a field of this object",
                );
            }
        }
        object.retain(keep);
    }

    /// Repairs one member of an object.
    fn member(&mut self, field: &Field, object: &mut Object<'_>, at: &At<'_>) {
        let here = at.key(field.name);
        let unusable = match object.get(field.name) {
            None => field.need == Need::Required,
            Some(Json::Null) => field.need != Need::Nullable,
            Some(Json::Text(text)) => matches!(field.kind, Kind::Filled) && names::is_blank(text),
            Some(Json::List(items)) => {
                items.is_empty()
                    && field.need != Need::Required
                    && matches!(field.kind, Kind::List { least, .. } if least > 0)
            }
            Some(_) => false,
        };
        if unusable {
            self.replace_unusable(field, object, &here);
            return;
        }
        let node_type = match field.kind {
            Kind::NodeConfig { beside } => object
                .get(beside)
                .and_then(Json::as_text)
                .and_then(NodeType::from_word),
            _ => None,
        };
        let Some(value) = object.get_mut(field.name) else {
            return;
        };
        if self.value(field.kind, value, node_type, &here) == Fate::Drop
            && field.need != Need::Required
            && let Some(old) = object.remove(field.name)
        {
            self.note(
                &here,
                ChangeKind::Removed,
                (Some(&old), None),
                "out of its range, which has no nearest value",
            );
        }
    }

    fn replace_unusable(&mut self, field: &Field, object: &mut Object<'_>, at: &At<'_>) {
        let old = object.get(field.name).cloned();
        if let Some(value) = filled(field.default, object) {
            self.note(
                at,
                ChangeKind::Added,
                (old.as_ref(), Some(&value)),
                "required; the default",
            );
            object.set(field.name, value);
        } else if field.need != Need::Required
            && let Some(old) = object.remove(field.name)
        {
            self.note(
                at,
                ChangeKind::Removed,
                (Some(&old), None),
                "optional and empty",
            );
        }
    }

    /// Repairs a value in place; says whether it is beyond repair but could be left out.
    fn value(
        &mut self,
        kind: Kind,
        value: &mut Json<'_>,
        node_type: Option<NodeType>,
        at: &At<'_>,
    ) -> Fate {
        match (kind, &mut *value) {
            (Kind::Number(range) | Kind::Whole(range), Json::Number(number)) => {
                let whole = matches!(kind, Kind::Whole(_));
                if range.holds(number.value()) || (whole && !number.is_whole()) {
                    return Fate::Keep;
                }
                let Some(nearest) = range.clamp(number.value()) else {
                    return Fate::Drop;
                };
                let new = Json::Number(number_of(nearest));
                self.note(
                    at,
                    ChangeKind::Clamped,
                    (Some(value), Some(&new)),
                    "out of its range; the nearest value",
                );
                *value = new;
            }
            (Kind::Word(words), Json::Text(written)) => {
                if !words.contains(&written.as_ref())
                    && let Some(word) = words
                        .iter()
                        .find(|word| word.eq_ignore_ascii_case(written.trim()))
                {
                    let new = text(word);
                    self.note(
                        at,
                        ChangeKind::Replaced,
                        (Some(value), Some(&new)),
                        "written as the table writes it",
                    );
                    *value = new;
                }
            }
            (Kind::List { each, .. }, Json::List(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(*each, item, None, &at.index(index));
                }
            }
            (Kind::Shaped(shape), Json::Object(object)) => self.shape(shape, object, at),
            (Kind::NodeConfig { .. }, Json::Object(config)) => {
                if let Some(kind) = node_type {
                    self.shape(shapes::config(kind), config, at);
                    self.shape(&shapes::TIMES, config, at);
                }
            }
            (Kind::Updates, Json::Object(updates)) => {
                self.updates(updates, at);
                self.drop_others(updates, at, |name| {
                    !matches!(names::target(name), Target::Unknown)
                });
            }
            (Kind::Modifications, Json::Object(updates)) => self.updates(updates, at),
            _ => {}
        }
        Fate::Keep
    }

    fn updates(&mut self, updates: &mut Object<'_>, at: &At<'_>) {
        for (name, value) in updates.iter_mut() {
            let name = name.to_owned();
            let here = at.key(&name);
            match names::target(&name) {
                Target::Ruled(field) => {
                    self.value(field.kind, value, None, &here);
                }
                Target::Config => {
                    if let Json::Object(config) = value {
                        self.shape(&shapes::RULED_CONFIG, config, &here);
                        self.shape(&shapes::TIMES, config, &here);
                    }
                }
                Target::Free | Target::Unknown => {}
            }
        }
    }
}

/// Whether a value can stay where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Keep,
    Drop,
}

fn text<'a>(word: &'static str) -> Json<'a> {
    Json::Text(Cow::Borrowed(word))
}

/// A number as an integer where it is one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ends of ranges are small"
)]
fn number_of(value: f64) -> Number {
    if value >= 0.0 && value.fract() == 0.0 && value < 1e9 {
        Number::Natural(value as u64)
    } else {
        Number::Decimal(value)
    }
}

fn filled<'a>(default: Fill, object: &Object<'a>) -> Option<Json<'a>> {
    match default {
        Fill::None => None,
        Fill::Text(word) => Some(text(word)),
        Fill::Number(value) => Some(Json::Number(Number::Decimal(value))),
        Fill::Whole(value) => Some(Json::Number(Number::Natural(value))),
        Fill::Object => Some(Json::Object(Object::default())),
        Fill::List => Some(Json::List(Vec::new())),
        Fill::Beside(name) => object
            .get(name)
            .filter(|value| value.as_text().is_some_and(|text| !names::is_blank(text)))
            .cloned(),
    }
}
