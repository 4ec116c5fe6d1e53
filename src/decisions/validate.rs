//! Holds a payload against the tables; `meaning` holds it against the rest.

use super::asks;
use super::envelope::{self, Envelope};
use super::fields::{Field, Kind, Need, Others, Shape, Tie};
use super::json::{self, Flaw, FlawKind, quoted};
use super::kind::{DecisionType, Intent, NodeType};
use super::known::Known;
use super::names::{self, Target};
use super::pointer::At;
use super::report::{Code, Report};
use super::shapes::{self, FAILED_WORDS, FAILURE_KEYS, MAX_BYTES};
use super::tree::{Json, Object};

/// What the caller expects of a decision.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    /// The type it should have; wins over what its event says.
    pub kind: Option<DecisionType>,
    /// The intent it answers; wins over what its event says.
    pub intent: Option<Intent>,
}

/// Validates one decision from its text: everything wrong, all at once.
///
/// The size is measured on the bytes as they came, the one line ending at their end left out.
#[must_use]
pub fn validate_text(bytes: &[u8], known: &Known, expected: Expected) -> Report {
    let mut report = Report::default();
    let length = wire(bytes).len();
    if length > MAX_BYTES {
        report.fault(Code::LimitBytes, &At::ROOT, too_long(length));
        return report;
    }
    match json::read(bytes) {
        Err(flaw) => add_flaw(&mut report, &flaw),
        Ok(read) => {
            for flaw in &read.flaws {
                add_flaw(&mut report, flaw);
            }
            validate_into(&mut report, &read.value, known, expected);
        }
    }
    report
}

/// The report of a decision whose text could not be told apart from the rest.
#[must_use]
pub fn unreadable(flaw: &Flaw) -> Report {
    let mut report = Report::default();
    add_flaw(&mut report, flaw);
    report
}

/// Validates one decision, its event around it or not.
#[must_use]
pub fn validate(value: &Json<'_>, known: &Known, expected: Expected) -> Report {
    let mut report = Report::default();
    validate_into(&mut report, value, known, expected);
    report
}

/// A decision's bytes without the line ending after it, which is no part of it.
#[must_use]
pub fn wire(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

pub(super) fn too_long(bytes: usize) -> String {
    format!("the payload takes {bytes} bytes; at most {MAX_BYTES} are allowed")
}

/// Adds what is wrong with the text itself.
pub(super) fn add_flaw(report: &mut Report, flaw: &Flaw) {
    let code = match flaw.kind {
        FlawKind::Syntax => Code::JsonSyntax,
        FlawKind::Encoding => Code::JsonEncoding,
        FlawKind::Depth => Code::JsonDepth,
        FlawKind::DuplicateKey => Code::JsonDuplicateKey,
        FlawKind::Number => Code::JsonNumber,
        FlawKind::Surrogate => Code::JsonSurrogate,
    };
    report.faults.push(super::report::Fault {
        pointer: flaw.pointer.clone(),
        code,
        message: format!("{} (byte {})", flaw.message, flaw.offset),
    });
}

pub(super) fn validate_into(
    report: &mut Report,
    value: &Json<'_>,
    known: &Known,
    expected: Expected,
) {
    let envelope = envelope::open(value, report);
    let inner = At::ROOT.key("payload");
    let at = if envelope.member.is_some() {
        inner
    } else {
        At::ROOT
    };
    let Some(payload) = envelope.payload.as_object() else {
        report.fault(
            Code::FieldSort,
            &at,
            format!(
                "a decision is an object, this is {}",
                envelope.payload.sort()
            ),
        );
        return;
    };
    let Some(kind) = decision_type(report, payload, &envelope, expected, &at) else {
        return;
    };
    report.kind = Some(kind);
    check_intent(report, kind, expected.intent.or(envelope.intent), &at);
    let mut check = Check { report, known };
    check.shape(shapes::payload(kind), payload, &at);
    check.meaning(kind, payload, &at);
    asks::note(report, kind, payload);
}

/// The payload's type; what is wrong with it goes to the report.
fn decision_type(
    report: &mut Report,
    payload: &Object<'_>,
    envelope: &Envelope<'_, '_>,
    expected: Expected,
    at: &At<'_>,
) -> Option<DecisionType> {
    let declared = expected.kind.or(envelope.declared);
    let here = at.key("action_type");
    let Some(value) = payload.get("action_type") else {
        // The table reports the missing field where another source gives the type.
        if declared.is_none() {
            report.fault(
                Code::FieldMissing,
                &here,
                "action_type is missing; it says which of the ten decisions this is",
            );
        }
        return declared;
    };
    let Some(word) = value.as_text() else {
        if declared.is_none() {
            report.fault(
                Code::FieldSort,
                &here,
                format!("a string expected, found {}", value.sort()),
            );
        }
        return declared;
    };
    let Some(kind) = DecisionType::from_word(word) else {
        let near = DecisionType::from_any_case(word).map_or_else(String::new, |kind| {
            format!("; it is written {:?}", kind.word())
        });
        report.fault(
            Code::FieldValue,
            &here,
            format!("{} is no decision type{near}", quoted(word)),
        );
        return declared;
    };
    if let Some(declared) = declared
        && declared != kind
    {
        report.fault(
            Code::TypeMismatch,
            &here,
            format!("action_type is {kind}, but the decision was announced as {declared}"),
        );
    }
    Some(kind)
}

fn check_intent(report: &mut Report, kind: DecisionType, intent: Option<Intent>, at: &At<'_>) {
    if let Some(intent) = intent
        && !intent.allows(kind)
    {
        let allowed: Vec<&str> = intent.decisions().iter().map(|kind| kind.word()).collect();
        report.fault(
            Code::IntentMismatch,
            &at.key("action_type"),
            format!(
                "the intent {intent} leads to {}, not to {kind}",
                allowed.join(" or ")
            ),
        );
    }
}

/// One validation under way.
pub(super) struct Check<'r, 'k> {
    pub(super) report: &'r mut Report,
    pub(super) known: &'k Known,
}

impl<'k> Check<'_, 'k> {
    pub(super) fn fault(&mut self, code: Code, at: &At<'_>, message: impl Into<String>) {
        self.report.fault(code, at, message);
    }

    pub(super) fn shape(&mut self, shape: &Shape, object: &Object<'_>, at: &At<'_>) {
        for field in shape.fields {
            let here = at.key(field.name);
            match object.get(field.name) {
                None if field.need == Need::Required => self.fault(
                    Code::FieldMissing,
                    &here,
                    format!("{} is missing", field.name),
                ),
                None => {}
                Some(value) => self.field(field, value, object, &here),
            }
        }
        if shape.others == Others::Refused {
            for (name, _) in object.iter() {
                if shape.field(name).is_none() {
                    self.fault(
                        Code::FieldUnknown,
                        &at.key(name),
                        format!("{} is not a field of this object", quoted(name)),
                    );
                }
            }
        }
        for tie in shape.ties {
            self.tie(*tie, object, at);
        }
    }

    fn field(&mut self, field: &Field, value: &Json<'_>, beside: &Object<'_>, at: &At<'_>) {
        if field.need == Need::Nullable && value.is_null() {
            return;
        }
        self.kind(field.kind, value, beside, at);
    }

    fn sort(&mut self, expected: &str, value: &Json<'_>, at: &At<'_>) {
        self.fault(
            Code::FieldSort,
            at,
            format!("{expected} expected, found {}", value.sort()),
        );
    }

    pub(super) fn kind(&mut self, kind: Kind, value: &Json<'_>, beside: &Object<'_>, at: &At<'_>) {
        match (kind, value) {
            (Kind::Any, _)
            | (Kind::Text, Json::Text(_))
            | (Kind::Flag, Json::Flag(_))
            | (Kind::Object, Json::Object(_)) => {}
            (Kind::Filled | Kind::Query, Json::Text(text)) => {
                if names::is_blank(text) {
                    self.fault(Code::FieldEmpty, at, "this may not be empty");
                }
            }
            (Kind::FieldName, Json::Text(text)) => {
                if !names::is_field_name(text) {
                    self.fault(
                        Code::FieldValue,
                        at,
                        format!("{} cannot be the name of a field", quoted(text)),
                    );
                }
            }
            (Kind::Word(words), Json::Text(text)) => {
                if !words.contains(&text.as_ref()) {
                    self.fault(
                        Code::FieldValue,
                        at,
                        format!("{} is not one of {}", quoted(text), words.join(", ")),
                    );
                }
            }
            (Kind::Method, Json::Text(text)) => {
                if !names::is_method(text) {
                    self.fault(
                        Code::FieldValue,
                        at,
                        format!("{} is no HTTP method", quoted(text)),
                    );
                }
            }
            (Kind::Number(range), Json::Number(number)) => {
                if !range.holds(number.value()) {
                    self.fault(
                        Code::FieldRange,
                        at,
                        format!("{} is not {}", number.value(), range.words()),
                    );
                }
            }
            (Kind::Whole(range), Json::Number(number)) => {
                if !number.is_whole() {
                    self.fault(
                        Code::FieldSort,
                        at,
                        format!("a whole number expected, found {}", number.value()),
                    );
                } else if !range.holds(number.value()) {
                    self.fault(
                        Code::FieldRange,
                        at,
                        format!("{} is not {}", number.value(), range.words()),
                    );
                }
            }
            (Kind::Query, Json::Object(object)) => {
                if object.is_empty() {
                    self.fault(Code::FieldEmpty, at, "this may not be empty");
                }
            }
            (Kind::List { least, most, each }, Json::List(items)) => {
                self.list((least, most), *each, items, beside, at);
            }
            (Kind::Shaped(shape), Json::Object(object)) => self.shape(shape, object, at),
            (Kind::NodeConfig { beside: name }, Json::Object(config)) => {
                let kind = beside
                    .get(name)
                    .and_then(Json::as_text)
                    .and_then(NodeType::from_word);
                if let Some(kind) = kind {
                    self.shape(shapes::config(kind), config, at);
                    self.shape(&shapes::TIMES, config, at);
                }
            }
            (Kind::Updates, Json::Object(updates)) => {
                if updates.is_empty() {
                    self.fault(Code::FieldEmpty, at, "there is nothing to update");
                }
                self.updates(updates, beside, at, Others::Refused);
            }
            (Kind::Modifications, Json::Object(updates)) => {
                self.updates(updates, beside, at, Others::Kept);
            }
            (kind, value) => self.sort(expected_sort(kind), value, at),
        }
    }

    fn list(
        &mut self,
        (least, most): (usize, Option<usize>),
        each: Kind,
        items: &[Json<'_>],
        beside: &Object<'_>,
        at: &At<'_>,
    ) {
        if items.len() < least {
            self.fault(
                Code::FieldEmpty,
                at,
                format!("at least {least} expected, found {}", items.len()),
            );
        }
        if let Some(most) = most
            && items.len() > most
        {
            self.fault(
                Code::LimitNodes,
                at,
                format!("at most {most} allowed, found {}", items.len()),
            );
        }
        for (index, item) in items.iter().enumerate() {
            self.kind(each, item, beside, &at.index(index));
        }
    }

    fn updates(&mut self, updates: &Object<'_>, beside: &Object<'_>, at: &At<'_>, others: Others) {
        let config = self.known_config(beside);
        for (name, value) in updates.iter() {
            let here = at.key(name);
            match names::target(name) {
                Target::Ruled(field) => self.field(field, value, updates, &here),
                Target::Free => {}
                Target::Config => match value {
                    Json::Object(config) => {
                        self.shape(&shapes::RULED_CONFIG, config, &here);
                        self.shape(&shapes::TIMES, config, &here);
                    }
                    value => self.sort("an object", value, &here),
                },
                Target::Unknown if others == Others::Kept => {}
                Target::Unknown => {
                    let field = name.strip_prefix("config.").unwrap_or(name);
                    let head = field.split('.').next().unwrap_or(field);
                    if !config.is_some_and(|config| config.contains_key(head)) {
                        self.fault(
                            Code::FieldUnknown,
                            &here,
                            format!("{} is not a field that nodes have", quoted(name)),
                        );
                    }
                }
            }
        }
    }

    /// The configuration of the node that a decision names, where it is known.
    fn known_config(
        &self,
        payload: &Object<'_>,
    ) -> Option<&'k serde_json::Map<String, serde_json::Value>> {
        let id = payload.get("node_id").and_then(Json::as_text)?;
        self.known.node(id)?.config.as_ref()
    }

    fn tie(&mut self, tie: Tie, object: &Object<'_>, at: &At<'_>) {
        match tie {
            Tie::AnyOf(names) => {
                if !names.iter().any(|name| object.get(name).is_some()) {
                    self.fault(
                        Code::FieldMissing,
                        &at.key(names.first().copied().unwrap_or_default()),
                        format!("one of {} has to be there", names.join(", ")),
                    );
                }
            }
            Tie::When {
                field, word, needs, ..
            } => {
                let applies = object.get(field).and_then(Json::as_text) == Some(word);
                let given = match object.get(needs) {
                    None | Some(Json::Null) => false,
                    Some(Json::Object(inner)) => !inner.is_empty(),
                    Some(_) => true,
                };
                if applies && !given {
                    self.fault(
                        Code::FieldMissing,
                        &at.key(needs),
                        format!("{needs} has to be there when {field} is {word}"),
                    );
                }
            }
            Tie::TellsOfFailure => {
                if !tells_of_failure(object) {
                    self.fault(
                        Code::FieldMissing,
                        at,
                        "it does not say what failed: give failed_attempts, failure_reason, or a failed result under node_outputs",
                    );
                }
            }
        }
    }
}

/// Returns true where an execution context says what failed.
fn tells_of_failure(context: &Object<'_>) -> bool {
    let told = FAILURE_KEYS
        .iter()
        .any(|key| context.get(key).is_some_and(says_something));
    told || context
        .get("node_outputs")
        .and_then(Json::as_object)
        .is_some_and(|outputs| {
            outputs.iter().any(|(_, output)| {
                output.as_object().is_some_and(|output| {
                    output
                        .get("status")
                        .and_then(Json::as_text)
                        .is_some_and(|status| FAILED_WORDS.contains(&status))
                        || output.get("error").is_some_and(says_something)
                })
            })
        })
}

/// Returns false for what says that there is nothing: `null`, `false`, 0, and whatever is empty.
fn says_something(value: &Json<'_>) -> bool {
    match value {
        Json::Null => false,
        Json::Flag(flag) => *flag,
        Json::Number(number) => number.value() != 0.0,
        Json::Text(text) => !names::is_blank(text),
        Json::List(items) => !items.is_empty(),
        Json::Object(object) => !object.is_empty(),
    }
}

/// What a kind expects, as a person says it.
fn expected_sort(kind: Kind) -> &'static str {
    match kind {
        Kind::Any => "anything",
        Kind::Text | Kind::Filled | Kind::FieldName | Kind::Word(_) | Kind::Method => "a string",
        Kind::Number(_) => "a number",
        Kind::Whole(_) => "a whole number",
        Kind::Flag => "true or false",
        Kind::Object
        | Kind::Shaped(_)
        | Kind::NodeConfig { .. }
        | Kind::Updates
        | Kind::Modifications => "an object",
        Kind::Query => "a string or an object",
        Kind::List { .. } => "a list",
    }
}
