//! Error objects in JSON: agents' event streams, API replies, compilers' and runners' messages.

use super::{Basis, Kind, Outcome, codes, identifiers, words};
use serde_json::Value;

/// How many places are tried at which a JSON object might start.
const TRIES: usize = 400;

/// Returns what the last error object in the text says.
pub(super) fn read(text: &str) -> Option<Outcome> {
    objects(text).iter().rev().find_map(error_of)
}

/// Returns the failure that an agent's event stream ends with, for programs that leave with status 0 all the same.
pub(super) fn failed_turn(text: &str) -> Option<Outcome> {
    let objects = objects(text);
    let last = objects.last()?;
    let failed = last.get("is_error").and_then(Value::as_bool) == Some(true)
        || matches!(
            last.get("type").and_then(Value::as_str),
            Some("turn.failed" | "error" | "session.error")
        );
    if !failed {
        return None;
    }
    Some(error_of(last).unwrap_or_else(|| {
        Outcome::new(
            Kind::Unknown,
            Basis::Structured,
            "the last event says that the run failed",
        )
    }))
}

/// All JSON objects in a text: one a line, after a prefix, or over several lines.
pub(super) fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut tries = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + start;
        tries += 1;
        if tries > TRIES {
            break;
        }
        let rest = text.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value @ Value::Object(_))) => {
                at = start + stream.byte_offset();
                found.push(value);
            }
            _ => at = start + 1,
        }
    }
    found
}

/// Returns what an object says went wrong, if it is about an error at all.
fn error_of(object: &Value) -> Option<Outcome> {
    if !is_error(object) {
        return None;
    }
    let mut said = Said::default();
    collect(object, 0, &mut said);
    let by_field = said
        .fields
        .iter()
        .filter_map(|(key, value)| kind_of_field(key, value).map(|kind| (kind, key, value)))
        .min_by_key(|(kind, ..)| vagueness(*kind));
    let by_message = said.messages.iter().find_map(|message| {
        read(message)
            .or_else(|| codes::read(message))
            .or_else(|| words::read(message))
    });
    match (by_field, by_message) {
        (Some((kind, key, value)), Some(message)) => Some(if refines(message.kind, kind) {
            message
        } else {
            Outcome::new(kind, Basis::Structured, format!("{key}: {value}"))
        }),
        (Some((kind, key, value)), None) => Some(Outcome::new(
            kind,
            Basis::Structured,
            format!("{key}: {value}"),
        )),
        (None, Some(message)) => Some(Outcome {
            basis: Basis::Structured,
            ..message
        }),
        (None, None) => None,
    }
}

/// Fields whose name says that their object is about an error.
fn is_error(object: &Value) -> bool {
    let Some(map) = object.as_object() else {
        return false;
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
    let has_error = map
        .get("error")
        .is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)))
        || map
            .get("errors")
            .and_then(Value::as_array)
            .is_some_and(|errors| !errors.is_empty());
    let kind = text("type");
    let counted = map
        .get("numFailedTests")
        .or_else(|| map.get("numFailedTestSuites"))
        .and_then(Value::as_u64)
        .is_some_and(|count| count > 0);
    // An API's refusal without an envelope: a message, and a code or status beside it.
    let refused = map
        .get("message")
        .or_else(|| map.get("title"))
        .is_some_and(Value::is_string)
        && (map.contains_key("documentation_url")
            || ["status", "statusCode", "status_code", "code"]
                .iter()
                .filter_map(|key| map.get(*key))
                .any(|value| {
                    value
                        .as_u64()
                        .or_else(|| value.as_str()?.parse().ok())
                        .is_some_and(|status| (400..600).contains(&status))
                }));
    has_error
        || counted
        || refused
        || map.contains_key("__type")
        || map.get("is_error").and_then(Value::as_bool) == Some(true)
        || kind.contains("error")
        || kind.ends_with("failed")
        || text("level") == "error"
        || text("severity") == "error"
        || text("Action") == "fail"
        || text("name").ends_with("Error")
        || (text("reason") == "compiler-message"
            && map
                .get("message")
                .and_then(|message| message.get("level"))
                .and_then(Value::as_str)
                == Some("error"))
}

/// What an error object holds that is worth reading.
#[derive(Default)]
struct Said {
    fields: Vec<(String, String)>,
    messages: Vec<String>,
}

/// Keys whose values are meant for machines.
const CODED: &[&str] = &[
    "code",
    "status",
    "type",
    "name",
    "kind",
    "errortype",
    "error_type",
    "errorcode",
    "error_code",
    "error",
    "subtype",
    "statuscode",
    "status_code",
    "http_status",
    "httpstatus",
    "api_error_status",
    "reason",
    "codexerrorinfo",
    "codex_error_info",
    "__type",
];

/// Keys whose values are names of errors, and not of whatever else an object is about.
const NAMES: &[&str] = &[
    "code",
    "errortype",
    "error_type",
    "errorcode",
    "error_code",
    "error",
    "reason",
    "__type",
];

/// Keys whose values are prose.
const PROSE: &[&str] = &[
    "message",
    "summary",
    "detail",
    "details",
    "result",
    "description",
    "msg",
    "output",
    "cause",
    "responsebody",
    "error_description",
    "rendered",
];

fn collect(value: &Value, depth: usize, said: &mut Said) {
    if depth > 8 {
        return;
    }
    match value {
        Value::Object(map) => {
            if map.get("Action").and_then(Value::as_str) == Some("fail")
                || map
                    .get("numFailedTests")
                    .and_then(Value::as_u64)
                    .is_some_and(|count| count > 0)
            {
                said.fields.push(("Action".to_owned(), "fail".to_owned()));
            }
            for (key, value) in map {
                let lower = key.to_ascii_lowercase();
                match value {
                    Value::String(text) => {
                        if CODED.contains(&lower.as_str()) && !text.contains(' ') {
                            said.fields.push((lower, text.clone()));
                        } else if CODED.contains(&lower.as_str()) || PROSE.contains(&lower.as_str())
                        {
                            said.messages.push(text.clone());
                        }
                    }
                    Value::Number(number) if CODED.contains(&lower.as_str()) => {
                        said.fields.push((lower, number.to_string()));
                    }
                    Value::Object(_) | Value::Array(_) => collect(value, depth + 1, said),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) => said.messages.push(text.clone()),
                    other => collect(other, depth + 1, said),
                }
            }
        }
        _ => {}
    }
}

/// What one coded field means.
fn kind_of_field(key: &str, value: &str) -> Option<Kind> {
    if key == "Action" {
        return Some(Kind::TestFailure);
    }
    if let Ok(number) = value.parse::<u16>() {
        return match key {
            // Gemini's own exit codes come in the same field as HTTP's.
            "code" => gemini_exit(number).or_else(|| codes::http(number)),
            _ => codes::http(number),
        };
    }
    codes::token(value).or_else(|| {
        let named =
            NAMES.contains(&key) || value.ends_with("Error") || value.ends_with("Exception");
        named.then(|| identifiers::kind(value)).flatten()
    })
}

/// Gemini CLI's fatal error codes (its `errors.ts`).
fn gemini_exit(code: u16) -> Option<Kind> {
    match code {
        41 => Some(Kind::Authentication),
        42 => Some(Kind::InvalidRequest),
        44 | 52 => Some(Kind::Config),
        130 => Some(Kind::Cancelled),
        _ => None,
    }
}

/// Kinds that say little give way to the others in the same object.
fn vagueness(kind: Kind) -> u8 {
    match kind {
        Kind::Quota => 0,
        Kind::Unknown => 9,
        Kind::InvalidRequest => 3,
        Kind::Upstream => 4,
        _ => 1,
    }
}

/// Whether prose says more precisely what a field says roughly.
fn refines(prose: Kind, field: Kind) -> bool {
    match field {
        Kind::RateLimit => prose == Kind::Quota,
        Kind::InvalidRequest => matches!(
            prose,
            Kind::Quota | Kind::Authentication | Kind::RateLimit | Kind::NotFound
        ),
        Kind::Unavailable => matches!(prose, Kind::Busy | Kind::NetworkTimeout),
        Kind::Permission => matches!(prose, Kind::Authentication | Kind::Quota | Kind::RateLimit),
        Kind::Upstream => matches!(
            prose,
            Kind::Busy
                | Kind::RateLimit
                | Kind::Quota
                | Kind::Unavailable
                | Kind::NetworkTimeout
                | Kind::ConnectionReset
                | Kind::Authentication
                | Kind::NotFound
                | Kind::Permission
        ),
        Kind::Unknown => true,
        _ => false,
    }
}
