//! The event around a payload: type, intent and confidence as the conversation announced them.
//!
//! Section 6 of the seed sends `{decision_type, payload, confidence}`; the
//! payload alone is taken too.

use super::json::quoted;
use super::kind::{DecisionType, Intent};
use super::pointer::At;
use super::report::{Code, Report};
use super::tree::Json;

/// A payload and what was said of it.
#[derive(Debug)]
pub struct Envelope<'j, 'a> {
    /// The payload.
    pub payload: &'j Json<'a>,
    /// The member that holds it, where it is not the whole value.
    pub(super) member: Option<&'static str>,
    /// The type that the event names.
    pub declared: Option<DecisionType>,
    /// The intent that the event names.
    pub intent: Option<Intent>,
}

/// Takes the payload out of its event; faults of the event itself go to the report.
pub fn open<'j, 'a>(value: &'j Json<'a>, report: &mut Report) -> Envelope<'j, 'a> {
    let plain = Envelope {
        payload: value,
        member: None,
        declared: None,
        intent: None,
    };
    let Some(object) = value.as_object() else {
        return plain;
    };
    if object.get("action_type").is_some() {
        return plain;
    }
    let Some(payload) = object.get("payload") else {
        return plain;
    };
    let mut envelope = Envelope {
        payload,
        member: Some("payload"),
        declared: None,
        intent: None,
    };
    for name in ["decision_type", "type"] {
        let Some(value) = object.get(name) else {
            continue;
        };
        let at = At::ROOT.key(name);
        match value
            .as_text()
            .map(|text| (text, DecisionType::from_any_case(text)))
        {
            Some((_, Some(kind))) => envelope.declared = Some(kind),
            Some((text, None)) => report.fault(
                Code::FieldValue,
                &at,
                format!("{} is no decision type", quoted(text)),
            ),
            None => report.fault(
                Code::FieldSort,
                &at,
                format!("a decision type expected, found {}", value.sort()),
            ),
        }
        break;
    }
    if let Some(value) = object.get("intent") {
        let at = At::ROOT.key("intent");
        match value.as_text().and_then(Intent::from_word) {
            Some(intent) => envelope.intent = Some(intent),
            None => report.fault(
                Code::FieldValue,
                &at,
                format!("no intent; the intents are {}", words()),
            ),
        }
    }
    if let Some(value) = object.get("confidence")
        && !value.as_number().is_some_and(|n| (0.0..=1.0).contains(&n))
    {
        report.fault(
            Code::FieldRange,
            &At::ROOT.key("confidence"),
            "a number from 0 to 1 expected",
        );
    }
    envelope
}

fn words() -> String {
    let words: Vec<&str> = Intent::ALL.iter().map(|intent| intent.word()).collect();
    words.join(", ")
}
