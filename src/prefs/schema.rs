//! The published JSON Schema of a preferences file (draft 2020-12).

use super::keys::{KEYS, Kind, LEVELS};
use super::typed::Preferences;
use crate::judge::MATRIX;
use serde_json::{Map, Value, json};

/// The schema.
#[must_use]
pub fn schema() -> Value {
    let defaults = serde_json::to_value(Preferences::default()).unwrap_or_default();
    let mut properties = Map::new();
    let levels = json!({"enum": LEVELS});
    let rules: Map<String, Value> = MATRIX
        .iter()
        .map(|rule| {
            let property = json!({
                "enum": LEVELS,
                "description": rule.when,
                "default": rule.level.word(),
            });
            (rule.id.word().to_owned(), property)
        })
        .collect();
    properties.insert(
        "decision_authority".to_owned(),
        json!({
            "type": "object",
            "description": "sets a rule's level, by rule id or by a seed's key; Level 3 rules cannot be lowered",
            "properties": rules,
            "patternProperties": {"^//": {}},
            "additionalProperties": levels,
        }),
    );
    for key in KEYS {
        let default = defaults.pointer(&format!("/{}", key.path.replace('.', "/")));
        let property = property(key.kind, key.about, default);
        match key.path.split_once('.') {
            None => {
                properties.insert(key.path.to_owned(), property);
            }
            Some((group, name)) => {
                let entry = properties.entry(group.to_owned()).or_insert_with(|| {
                    json!({"type": "object", "properties": {}, "patternProperties": {"^//": {}}})
                });
                if let Some(members) = entry.get_mut("properties").and_then(Value::as_object_mut) {
                    members.insert(name.to_owned(), property);
                }
            }
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Holdpoint preferences",
        "type": "object",
        "properties": properties,
        "patternProperties": {"^//": {"description": "a comment"}},
    })
}

fn property(kind: Kind, about: &str, default: Option<&Value>) -> Value {
    let mut property = match kind {
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Whole(least, u64::MAX) => json!({"type": "integer", "minimum": least}),
        Kind::Whole(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Kind::Number(least, most) => {
            json!({"type": "number", "minimum": least, "maximum": most})
        }
        Kind::Text => json!({"type": "string", "minLength": 1}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
    };
    property["description"] = about.into();
    if let Some(default) = default.filter(|default| !default.is_null()) {
        property["default"] = default.clone();
    }
    property
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefs::Document;

    #[test]
    fn every_key_has_a_default_that_it_accepts_itself() {
        let defaults = serde_json::to_value(Preferences::default()).expect("JSON");
        for key in KEYS {
            let default = defaults
                .pointer(&format!("/{}", key.path.replace('.', "/")))
                .unwrap_or_else(|| panic!("{} is in no struct", key.path));
            assert!(
                default.is_null() || key.kind.accepts(default),
                "{}: {default}",
                key.path
            );
        }
    }

    #[test]
    fn every_field_of_the_structs_is_a_key() {
        fn walk(path: &str, value: &Value) {
            match value {
                Value::Object(members) if path != "decision_authority" => {
                    for (name, member) in members {
                        let path = if path.is_empty() {
                            name.clone()
                        } else {
                            format!("{path}.{name}")
                        };
                        walk(&path, member);
                    }
                }
                Value::Object(_) => {}
                _ => assert!(crate::prefs::key(path).is_some(), "{path}"),
            }
        }
        walk(
            "",
            &serde_json::to_value(Preferences::default()).expect("JSON"),
        );
    }

    #[test]
    fn the_schema_and_the_reader_agree() {
        let validator = jsonschema::validator_for(&schema()).expect("a schema");
        for (text, good) in [
            (
                r#"{"//": 1, "global_strictness": "strict", "timeouts": {"coder_max": 5}}"#,
                true,
            ),
            (
                r#"{"decision_authority": {"auto_git_commit": "level_0"}}"#,
                true,
            ),
            (r#"{"global_strictness": "harsh"}"#, false),
            (r#"{"timeouts": {"coder_max": 0}}"#, false),
            (
                r#"{"decision_authority": {"git.commit": "level_9"}}"#,
                false,
            ),
            (r#"{"degradation": {"codex": [1]}}"#, false),
        ] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(validator.is_valid(&value), good, "{text}");
            assert_eq!(Document::parse(text, "x").is_ok(), good, "{text}");
        }
    }
}
