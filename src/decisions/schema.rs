//! Writes the tables as JSON Schema, draft 2020-12.
//!
//! A schema holds what the tables hold. Graphs, dangers, wire sizes and names
//! that have to exist are beyond it; `x-holdpoint-also` names them.

use super::fields::{Bound, Default as Fill, Field, Kind, Need, Others, Range, Shape, Tie};
use super::kind::{DecisionType, NodeType};
use super::names::METHODS;
use super::shapes::{
    self, FAILED_WORDS, FAILURE_KEYS, FREE_CONFIG, NODE_FIELDS, RULED_CONFIG, TIMES,
};
use serde_json::{Map, Value, json};

/// Text with a character that is not Unicode white space, as `char::is_whitespace` counts it.
const FILLED: &str =
    r"[^\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";
const FIELD_NAME: &str = r"^([A-Za-z_]|[^\u0000-\u007f])([A-Za-z0-9_.\-]|[^\u0000-\u007f])*$";

/// The schema of one type's payload.
#[must_use]
pub fn schema(kind: DecisionType) -> Value {
    let mut schema = of_shape(shapes::payload(kind), Some(kind));
    let mut whole = Map::new();
    whole.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    whole.insert("title".to_owned(), json!(kind.word()));
    whole.insert("description".to_owned(), json!(kind.meaning()));
    whole.append(&mut schema);
    whole.insert("x-holdpoint-also".to_owned(), json!(beyond(kind)));
    Value::Object(whole)
}

/// One schema for all ten types.
#[must_use]
pub fn schema_of_all() -> Value {
    let each: Vec<Value> = DecisionType::ALL
        .iter()
        .map(|kind| Value::Object(of_shape(shapes::payload(*kind), Some(*kind))))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "decision",
        "oneOf": each,
    })
}

/// The rules that no schema can express.
fn beyond(kind: DecisionType) -> Vec<&'static str> {
    let mut rules = vec!["at most 1 MiB as it comes", "no key twice in one object"];
    match kind {
        DecisionType::Respond | DecisionType::Continue | DecisionType::RequestClarification => {}
        DecisionType::CreateWorkflowPlan => rules.extend([
            "node ids are unique",
            "edges join nodes of the plan",
            "no cycle",
            "every node has an edge, START and END excepted",
            "no dangerous operation",
        ]),
        DecisionType::ExecuteWorkflow => rules.extend([
            "the workflow exists and is READY or COMPLETED",
            "input_params are inputs of the workflow",
            "no reference to a secret",
        ]),
        DecisionType::CreateNode => rules.push("no dangerous operation"),
        DecisionType::ModifyNode => rules.extend([
            "the node exists",
            "the node is valid afterwards",
            "no dangerous operation",
        ]),
        DecisionType::ErrorRecovery | DecisionType::ReplanWorkflow => rules.extend([
            "the workflow and the named nodes exist",
            "no dangerous operation",
        ]),
        DecisionType::SpawnSubagent => rules.extend([
            "the sub-agent is registered and gets what it needs",
            "no dangerous operation",
        ]),
    }
    rules
}

fn of_shape(shape: &Shape, kind: Option<DecisionType>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut all_of = Vec::new();
    for field in shape.fields {
        let mut value = match (field.name, kind) {
            ("action_type", Some(kind)) => json!({ "const": kind.word() }),
            ("suggested_changes", Some(DecisionType::ReplanWorkflow)) => suggested_changes(),
            _ => of_field(field),
        };
        add_default(&mut value, field.default);
        properties.insert(field.name.to_owned(), value);
        if field.need == Need::Required {
            required.push(json!(field.name));
        }
        if let Kind::NodeConfig { beside } = field.kind {
            all_of.extend(configs(field.name, beside));
        }
    }
    all_of.extend(shape.ties.iter().map(of_tie));
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    if shape.others == Others::Refused {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    if !all_of.is_empty() {
        schema.insert("allOf".to_owned(), Value::Array(all_of));
    }
    schema
}

/// Parts of a plan by free names: of a node among them only the time limit is bound to a range.
fn suggested_changes() -> Value {
    let times: Map<String, Value> = RULED_CONFIG
        .field("timeout")
        .into_iter()
        .chain(TIMES.fields)
        .map(|field| {
            let limit = json!({ "if": { "type": "number" }, "then": of_field(field) });
            (field.name.to_owned(), limit)
        })
        .collect();
    let part = json!({ "properties": { "config": { "properties": times } } });
    let mut each = part.clone();
    if let Value::Object(each) = &mut each {
        each.insert("items".to_owned(), part);
    }
    json!({ "type": ["object", "null"], "additionalProperties": each })
}

fn add_default(schema: &mut Value, default: Fill) {
    let value = match default {
        Fill::Text(word) => json!(word),
        Fill::Number(number) => json!(number),
        Fill::Whole(number) => json!(number),
        Fill::Object => json!({}),
        Fill::List => json!([]),
        Fill::None | Fill::Beside(_) => return,
    };
    if let Value::Object(schema) = schema {
        schema.insert("default".to_owned(), value);
    }
}

/// One condition a node type: its configuration has that type's shape.
fn configs(name: &str, beside: &str) -> Vec<Value> {
    NodeType::ALL
        .iter()
        .map(|kind| {
            let config = timed(of_shape(shapes::config(*kind), None));
            json!({
                "if": {
                    "properties": { beside: { "const": kind.word() } },
                    "required": [beside],
                },
                "then": { "properties": { name: config } },
            })
        })
        .collect()
}

/// A configuration's schema with the other names for its time limit.
fn timed(mut config: Map<String, Value>) -> Value {
    if let Some(properties) = config
        .entry("properties")
        .or_insert_with(|| json!({}))
        .as_object_mut()
    {
        for field in TIMES.fields {
            properties.insert(field.name.to_owned(), of_field(field));
        }
    }
    Value::Object(config)
}

fn of_tie(tie: &Tie) -> Value {
    match tie {
        Tie::AnyOf(names) => {
            let each: Vec<Value> = names
                .iter()
                .map(|name| json!({ "required": [name] }))
                .collect();
            json!({ "anyOf": each })
        }
        Tie::When {
            field, word, needs, ..
        } => json!({
            "if": { "properties": { *field: { "const": word } }, "required": [field] },
            "then": {
                "properties": { *needs: { "not": { "type": "null" }, "minProperties": 1 } },
                "required": [needs],
            },
        }),
        Tie::TellsOfFailure => {
            let told = |key: &str| {
                json!({
                    "properties": {
                        key: { "not": { "enum": [null, false, 0, [], {}] }, "pattern": FILLED },
                    },
                    "required": [key],
                })
            };
            let mut ways: Vec<Value> = FAILURE_KEYS.iter().map(|key| told(key)).collect();
            let failed = json!({
                "type": "object",
                "anyOf": [
                    { "properties": { "status": { "enum": FAILED_WORDS } }, "required": ["status"] },
                    told("error"),
                ],
            });
            ways.push(json!({
                "properties": {
                    "node_outputs": {
                        "type": "object",
                        "not": { "additionalProperties": { "not": failed } },
                    },
                },
                "required": ["node_outputs"],
            }));
            json!({ "anyOf": ways })
        }
    }
}

fn of_field(field: &Field) -> Value {
    let schema = of_kind(field.kind);
    if field.need == Need::Nullable {
        json!({ "anyOf": [schema, { "type": "null" }] })
    } else {
        schema
    }
}

fn of_kind(kind: Kind) -> Value {
    match kind {
        Kind::Any => json!({}),
        Kind::Text => json!({ "type": "string" }),
        Kind::Filled => json!({ "type": "string", "pattern": FILLED }),
        Kind::FieldName => json!({ "type": "string", "pattern": FIELD_NAME }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Method => json!({ "type": "string", "pattern": method_pattern() }),
        Kind::Number(range) => of_range("number", range),
        Kind::Whole(range) => of_range("integer", range),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Object | Kind::NodeConfig { .. } => json!({ "type": "object" }),
        Kind::Query => json!({
            "anyOf": [
                { "type": "string", "pattern": FILLED },
                { "type": "object", "minProperties": 1 },
            ],
        }),
        Kind::List { least, most, each } => {
            let mut schema = Map::new();
            schema.insert("type".to_owned(), json!("array"));
            schema.insert("items".to_owned(), of_kind(*each));
            if least > 0 {
                schema.insert("minItems".to_owned(), json!(least));
            }
            if let Some(most) = most {
                schema.insert("maxItems".to_owned(), json!(most));
            }
            Value::Object(schema)
        }
        Kind::Shaped(shape) => Value::Object(of_shape(shape, None)),
        Kind::Updates => of_updates(Others::Refused),
        Kind::Modifications => of_updates(Others::Kept),
    }
}

fn of_range(sort: &str, range: Range) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!(sort));
    let least = match range.above {
        Bound::Included => "minimum",
        Bound::Excluded => "exclusiveMinimum",
    };
    schema.insert(least.to_owned(), json!(range.least));
    if let Some(most) = range.most {
        schema.insert("maximum".to_owned(), json!(most));
    }
    Value::Object(schema)
}

/// `GET` and the others in any case, or anything with a template in it.
fn method_pattern() -> String {
    let each: Vec<String> = METHODS
        .iter()
        .map(|method| {
            method.chars().fold(String::new(), |mut pattern, c| {
                pattern.extend(['[', c, c.to_ascii_lowercase(), ']']);
                pattern
            })
        })
        .collect();
    format!(r"^({})$|\$\{{", each.join("|"))
}

/// New values by name: `timeout`, `config.timeout`, `config.headers.accept`, `config`.
fn of_updates(others: Others) -> Value {
    let mut properties = Map::new();
    for field in RULED_CONFIG.fields.iter().chain(TIMES.fields) {
        properties.insert(field.name.to_owned(), of_field(field));
        properties.insert(format!("config.{}", field.name), of_field(field));
    }
    for field in NODE_FIELDS.fields {
        properties.insert(field.name.to_owned(), of_field(field));
    }
    properties.insert("config".to_owned(), timed(of_shape(&RULED_CONFIG, None)));
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if others == Others::Refused {
        schema.insert("minProperties".to_owned(), json!(1));
        schema.insert(
            "propertyNames".to_owned(),
            json!({ "pattern": update_pattern() }),
        );
    }
    Value::Object(schema)
}

fn update_pattern() -> String {
    let config: Vec<&str> = RULED_CONFIG
        .fields
        .iter()
        .chain(TIMES.fields)
        .map(|field| field.name)
        .chain(FREE_CONFIG.iter().copied())
        .collect();
    let node: Vec<&str> = NODE_FIELDS.fields.iter().map(|field| field.name).collect();
    format!(
        r"^(config|(config\.)?({})(\.[\s\S]+)?|({})(\.[\s\S]+)?)$",
        config.join("|"),
        node.join("|")
    )
}
