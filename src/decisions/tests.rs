//! The rules against the fixtures, the validator against the schemas, the reader against anything.

use super::json::{FlawKind, MAX_DEPTH, read};
use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::LazyLock;

fn fixtures(part: &str) -> Vec<(String, Value)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/decisions")
        .join(part);
    let mut found: Vec<_> = std::fs::read_dir(dir)
        .expect("fixtures are there")
        .map(|entry| {
            let path = entry.expect("readable").path();
            let bytes = std::fs::read(&path).expect("readable");
            (
                path.display().to_string(),
                serde_json::from_slice(&bytes).expect("JSON"),
            )
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!found.is_empty());
    found
}

fn report(value: &Value) -> Report {
    validate(
        &Json::from_value(value),
        &Known::default(),
        Expected::default(),
    )
}

#[test]
fn every_example_of_the_specification_is_valid() {
    let mut kinds = Vec::new();
    for (name, value) in fixtures("valid") {
        let report = report(&value);
        assert_eq!(report.faults, [], "{name}");
        kinds.extend(report.kind);
    }
    for kind in DecisionType::ALL {
        assert!(kinds.contains(kind), "no example of {kind}");
    }
}

#[test]
fn every_invalid_fixture_has_exactly_the_faults_it_claims() {
    for (name, case) in fixtures("invalid") {
        let report = report(&case["payload"]);
        let found: Vec<Value> = report
            .faults
            .iter()
            .map(|fault| json!({"code": fault.code.word(), "pointer": fault.pointer}))
            .collect();
        assert_eq!(json!(found), case["faults"], "{name}: {:?}", report.faults);
        if let Some(message) = case["message"].as_str() {
            assert!(
                report
                    .faults
                    .iter()
                    .any(|fault| fault.message.contains(message)),
                "{name}: {:?}",
                report.faults
            );
        }
    }
}

#[test]
fn names_are_looked_up_where_a_list_is_given() {
    let known: Known = serde_json::from_value(json!({
        "workflows": {
            "ready": {
                "state": "READY",
                "inputs": {"from": {"required": true}, "to": {}},
                "nodes": {"a": {"type": "LLM", "config": {"prompt": "x", "persona": "p"}}},
            },
            "busy": {"state": "RUNNING"},
        },
        "subagents": {"researcher": {"required": ["query"]}},
        "node_types": ["LLM"],
        "max_tokens": 100,
    }))
    .expect("a list");
    let codes = |value: Value| -> Vec<(Code, String)> {
        validate(&Json::from_value(&value), &known, Expected::default())
            .faults
            .into_iter()
            .map(|fault| (fault.code, fault.pointer))
            .collect()
    };
    let run = |id: &str, params: Value| {
        codes(json!({"action_type": "execute_workflow", "workflow_id": id, "input_params": params}))
    };
    assert_eq!(run("ready", json!({"from": 1})), []);
    assert_eq!(
        run("ready", json!({"until": 1})),
        [
            (Code::KnownInput, "/input_params/until".to_owned()),
            (Code::KnownInput, "/input_params/from".to_owned()),
        ]
    );
    assert_eq!(
        run("busy", json!({})),
        [(Code::KnownState, "/workflow_id".to_owned())]
    );
    assert_eq!(
        run("gone", json!({})),
        [(Code::KnownWorkflow, "/workflow_id".to_owned())]
    );
    let modify = |updates: Value| {
        codes(json!({"action_type": "modify_node", "node_id": "a", "updates": updates}))
    };
    assert_eq!(modify(json!({"config.persona": "q"})), []);
    assert_eq!(
        modify(json!({"type": "HTTP"})),
        [
            (Code::FieldMissing, "/updates".to_owned()),
            (Code::FieldMissing, "/updates".to_owned()),
        ]
    );
    assert_eq!(
        codes(json!({"action_type": "modify_node", "node_id": "z", "updates": {"name": "x"}})),
        [(Code::KnownNode, "/node_id".to_owned())]
    );
    let spawn = |kind: &str, task: Value| {
        codes(json!({"action_type": "spawn_subagent", "subagent_type": kind, "task_payload": task}))
    };
    assert_eq!(spawn("researcher", json!({"query": "x"})), []);
    assert_eq!(
        spawn("researcher", json!({})),
        [(Code::KnownSubagent, "/task_payload/query".to_owned())]
    );
    assert_eq!(
        spawn("wizard", json!({})),
        [(Code::KnownSubagent, "/subagent_type".to_owned())]
    );
    assert_eq!(
        codes(
            json!({"action_type": "create_node", "node_type": "PYTHON", "node_name": "n", "config": {"code": "return 1"}})
        ),
        [(Code::PolicyNodeType, "/node_type".to_owned())]
    );
    assert_eq!(
        codes(
            json!({"action_type": "create_node", "node_type": "LLM", "node_name": "n", "config": {"prompt": "x", "max_tokens": 101}})
        ),
        [(Code::LimitTokens, "/config/max_tokens".to_owned())]
    );
    assert_eq!(
        codes(
            json!({"action_type": "replan_workflow", "workflow_id": "ready", "reason": "r", "execution_context": {"failed_attempts": 1}, "preserve_nodes": ["a", "b"]})
        ),
        [(Code::KnownNode, "/preserve_nodes/1".to_owned())]
    );
}

#[test]
fn what_cannot_be_checked_is_said() {
    let report = report(&json!({"action_type": "execute_workflow", "workflow_id": "w"}));
    assert!(report.is_valid());
    assert_eq!(report.unchecked.len(), 1);
    assert_eq!(report.unchecked[0].pointer, "/workflow_id");
}

#[test]
fn hostile_text_is_a_clear_error() {
    let deep = "[".repeat(1 << 20);
    let deep_object = "{\"a\":".repeat(100_000);
    for (text, kind, pointer) in [
        (deep.as_bytes(), FlawKind::Depth, ""),
        (deep_object.as_bytes(), FlawKind::Depth, ""),
        (b"{\"a\": NaN}", FlawKind::Syntax, "/a"),
        (b"{\"a\": [1, Infinity]}", FlawKind::Syntax, "/a/1"),
        (b"{\"a\": -Infinity}", FlawKind::Syntax, "/a"),
        (b"{\"a\": 01}", FlawKind::Syntax, "/a"),
        (b"{\"a\": 1.}", FlawKind::Syntax, "/a"),
        (b"{\"a\": 1e}", FlawKind::Syntax, "/a"),
        (b"{\"a\": +1}", FlawKind::Syntax, "/a"),
        (b"{\"a\": 0x10}", FlawKind::Syntax, "/a"),
        (b"{\"a\": tru}", FlawKind::Syntax, "/a"),
        (b"{\"a\": 'x'}", FlawKind::Syntax, "/a"),
        (b"{\"a\": \"\x01\"}", FlawKind::Syntax, "/a"),
        (b"{\"a\": \"\\x\"}", FlawKind::Syntax, "/a"),
        (b"{\"a\": \"\\u12\"}", FlawKind::Syntax, "/a"),
        (b"{\"a\": 1,}", FlawKind::Syntax, ""),
        (b"{\"a\" 1}", FlawKind::Syntax, "/a"),
        (b"{a: 1}", FlawKind::Syntax, ""),
        (b"{\"a\": 1} x", FlawKind::Syntax, ""),
        (b"{\"a\": 1", FlawKind::Syntax, ""),
        (b"{\"a\": \"x", FlawKind::Syntax, "/a"),
        (b"// x\n{}", FlawKind::Syntax, ""),
        (b"", FlawKind::Syntax, ""),
        (b"{\"a\": \"\xff\"}", FlawKind::Encoding, ""),
    ] {
        let flaw = read(text).expect_err("refused");
        assert_eq!(
            (flaw.kind, flaw.pointer.as_str()),
            (kind, pointer),
            "{:?}",
            text.get(..20)
        );
    }
    for (text, kind, pointer) in [
        (
            "{\"a\": 1, \"b\": {\"c\": 1, \"c\": 2}}",
            FlawKind::DuplicateKey,
            "/b/c",
        ),
        ("{\"a\": 1, \"\\u0061\": 2}", FlawKind::DuplicateKey, "/a"),
        ("{\"a\": 1e999}", FlawKind::Number, "/a"),
        ("{\"a\": 99999999999999999999}", FlawKind::Number, "/a"),
        ("{\"a\": \"\\ud800\"}", FlawKind::Surrogate, "/a"),
        ("{\"a\": \"\\udc00\\ud800\"}", FlawKind::Surrogate, "/a"),
    ] {
        let read = read(text.as_bytes()).expect("readable");
        let flaw = read.flaws.first().expect("a flaw");
        assert_eq!(
            (flaw.kind, flaw.pointer.as_str()),
            (kind, pointer),
            "{text}"
        );
    }
    let long = format!("{{\"a\": 0.{}}}", "1".repeat(100_000));
    assert_eq!(
        read(long.as_bytes())
            .expect("readable")
            .flaws
            .first()
            .map(|flaw| flaw.kind),
        Some(FlawKind::Number)
    );
}

#[test]
fn as_deep_as_allowed_is_allowed() {
    let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nest(MAX_DEPTH).as_bytes()).is_ok());
    assert!(read(nest(MAX_DEPTH + 1).as_bytes()).is_err());
}

#[test]
fn a_hundred_thousand_keys_are_compared_in_time() {
    let members: Vec<String> = (0..100_000).map(|key| format!("\"{key}\":0")).collect();
    let text = format!("{{{},\"7\":1}}", members.join(","));
    let read = read(text.as_bytes()).expect("readable");
    assert_eq!(read.flaws.len(), 1);
    assert_eq!(read.flaws[0].pointer, "/7");
}

#[test]
fn the_size_is_that_of_the_bytes_as_they_came() {
    let payload = |fill: usize| {
        format!(
            "{{\"action_type\":\"continue\",\"thought\":\"{}\"}}",
            "\\u0061".repeat(fill)
        )
    };
    let frame = payload(0).len();
    let fits = (MAX_BYTES - frame) / 6;
    let text = payload(fits);
    let pad = " ".repeat(MAX_BYTES - text.len());
    let exact = text.replacen(':', &format!(":{pad}"), 1);
    assert_eq!(exact.len(), MAX_BYTES);
    let judge = |text: &str| validate_text(text.as_bytes(), &Known::default(), Expected::default());
    assert!(judge(&exact).is_valid());
    assert!(judge(&format!("{exact}\r\n")).is_valid());
    assert_eq!(judge(&format!("{exact} ")).faults[0].code, Code::LimitBytes);
    let over = exact.replacen(':', ": ", 1);
    assert_eq!(judge(&over).faults[0].code, Code::LimitBytes);
}

#[test]
fn decisions_are_told_apart() {
    use documents::{Form, split};
    let texts = |bytes: &'static str| -> (Form, Vec<(usize, &'static str, bool)>) {
        let documents = split(bytes.as_bytes());
        (
            documents.form(),
            documents
                .map(|d| (d.line, bytes[d.span].trim(), d.flaw.is_some()))
                .collect(),
        )
    };
    assert_eq!(
        texts("{\"a\":1}"),
        (Form::One, vec![(1, "{\"a\":1}", false)])
    );
    assert_eq!(
        texts("\n{\n\"a\":1}\n"),
        (Form::One, vec![(2, "{\n\"a\":1}", false)])
    );
    assert_eq!(
        texts("[{\"a\":\"],\"},\n {}]"),
        (
            Form::Array,
            vec![(1, "{\"a\":\"],\"}", false), (2, "{}", false)]
        )
    );
    assert_eq!(texts("[]"), (Form::Array, vec![]));
    assert_eq!(texts("[ ] x"), (Form::Array, vec![(1, "x", true)]));
    assert_eq!(texts("[{},]").1.last(), Some(&(1, "]", true)));
    assert_eq!(texts("[{}"), (Form::Array, vec![(1, "{}", false)]));
    assert_eq!(
        texts("{}\n\n{}\r\n"),
        (Form::Lines, vec![(1, "{}", false), (3, "{}", false)])
    );
    assert_eq!(
        texts("{broken\n{\"a\":1}\n"),
        (
            Form::Lines,
            vec![(1, "{broken", false), (2, "{\"a\":1}", false)]
        )
    );
    assert_eq!(texts("{\n  \"a\": {\n").0, Form::One);
    assert_eq!(texts("  \n"), (Form::Lines, vec![]));
}

#[test]
fn an_array_that_is_cut_off_is_an_error_in_its_last_item() {
    let report = validate_text(b"{\"action_type\":", &Known::default(), Expected::default());
    assert_eq!(report.faults[0].code, Code::JsonSyntax);
}

fn corrected(value: &Value) -> (Vec<Change>, Report, Value) {
    let text = value.to_string();
    let mut read = read(text.as_bytes()).expect("JSON");
    let (changes, report) = correct(&mut read, &Known::default(), Expected::default());
    (changes, report, read.value.to_value())
}

#[test]
fn a_correction_says_what_it_changed_and_validates_again() {
    let (changes, report, value) = corrected(&json!({
        "action_type": "RESPOND", "response": "hi", "intent": "Greeting", "confidence": 7,
        "mood": "good", "requires_followup": null,
    }));
    assert_eq!(report.faults, []);
    assert_eq!(
        value,
        json!({"action_type": "respond", "response": "hi", "intent": "greeting", "confidence": 1})
    );
    let told: Vec<(&str, ChangeKind)> = changes
        .iter()
        .map(|change| (change.pointer.as_str(), change.change))
        .collect();
    assert_eq!(
        told,
        [
            ("/action_type", ChangeKind::Replaced),
            ("/intent", ChangeKind::Replaced),
            ("/confidence", ChangeKind::Clamped),
            ("/requires_followup", ChangeKind::Removed),
            ("/mood", ChangeKind::Removed),
        ]
    );
}

#[test]
fn a_correction_reaches_nodes_updates_and_recovery_plans() {
    for (before, after) in [
        (
            json!({"action_type": "create_node", "node_type": "http", "config": {"url": "https://x.org", "timeout": 900}}),
            json!({"action_type": "create_node", "node_type": "HTTP", "config": {"url": "https://x.org", "timeout": 300, "method": "GET"}, "node_name": "HTTP"}),
        ),
        (
            json!({"action_type": "modify_node", "node_id": "n", "updates": {"config.timeout": 900, "bogus": 1}}),
            json!({"action_type": "modify_node", "node_id": "n", "updates": {"config.timeout": 300}}),
        ),
        (
            json!({"action_type": "error_recovery", "workflow_id": "w", "failed_node_id": "n", "failure_reason": "r", "recovery_plan": {"action": "retry", "delay": -1}}),
            json!({"action_type": "error_recovery", "workflow_id": "w", "failed_node_id": "n", "failure_reason": "r", "recovery_plan": {"action": "RETRY", "delay": 0, "max_attempts": 3}, "execution_context": {}}),
        ),
        (
            json!({"action_type": "request_clarification", "question": "q", "options": []}),
            json!({"action_type": "request_clarification", "question": "q"}),
        ),
        (
            json!({"action_type": "spawn_subagent", "subagent_type": "s", "task_payload": {}, "priority": 99, "timeout": -1}),
            json!({"action_type": "spawn_subagent", "subagent_type": "s", "task_payload": {}, "priority": 10}),
        ),
    ] {
        let (changes, report, value) = corrected(&before);
        assert_eq!(report.faults, [], "{before}");
        assert_eq!(value, after);
        assert!(!changes.is_empty());
    }
}

#[test]
fn nothing_dangerous_and_nothing_unknowable_is_corrected() {
    for value in [
        json!({"action_type": "create_node", "node_type": "PYTHON", "node_name": "n", "config": {"code": "eval(x)"}}),
        json!({"action_type": "respond", "intent": "greeting", "confidence": 1}),
        json!({"action_type": "continue", "thought": ""}),
        json!({"action_type": "modify_node", "node_id": "n", "updates": {"bogus": 1}}),
    ] {
        assert!(!corrected(&value).1.is_valid(), "{value}");
    }
    let mut read =
        read(b"{\"action_type\":\"continue\",\"thought\":\"a\",\"thought\":\"b\"}").expect("JSON");
    let (changes, report) = correct(&mut read, &Known::default(), Expected::default());
    assert!(changes.is_empty());
    assert!(!report.is_valid());
}

#[test]
fn intents_lead_where_the_table_says() {
    assert!(Intent::Greeting.allows(DecisionType::Respond));
    assert!(!Intent::Greeting.allows(DecisionType::CreateNode));
    assert!(Intent::SimpleQuery.allows(DecisionType::CreateNode));
    assert!(!Intent::SimpleQuery.allows(DecisionType::CreateWorkflowPlan));
    assert!(Intent::ComplexTask.allows(DecisionType::SpawnSubagent));
    assert!(Intent::WorkflowRequest.allows(DecisionType::ExecuteWorkflow));
    assert!(!Intent::Unknown.allows(DecisionType::Respond));
    assert!(Intent::Unknown.allows(DecisionType::RequestClarification));
    assert!(
        Intent::ALL
            .iter()
            .all(|intent| intent.allows(DecisionType::ErrorRecovery))
    );
}

static SCHEMAS: LazyLock<Vec<(DecisionType, jsonschema::Validator)>> = LazyLock::new(|| {
    DecisionType::ALL
        .iter()
        .map(|kind| {
            let schema = schema(*kind);
            assert!(jsonschema::draft202012::meta::is_valid(&schema), "{kind}");
            (
                *kind,
                jsonschema::draft202012::new(&schema).expect("a schema"),
            )
        })
        .collect()
});

static SEEDS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut seeds: Vec<Value> = fixtures("valid")
        .into_iter()
        .map(|(_, value)| value)
        .collect();
    seeds.extend(
        fixtures("invalid")
            .into_iter()
            .map(|(_, case)| case["payload"].clone())
            .filter(|payload| {
                payload["action_type"]
                    .as_str()
                    .and_then(DecisionType::from_word)
                    .is_some()
            }),
    );
    seeds
});

/// What a place in a payload may be turned into.
fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        prop_oneof![
            Just(json!(0)),
            Just(json!(1)),
            Just(json!(-1)),
            Just(json!(0.5)),
            Just(json!(8.0)),
            Just(json!(300)),
            Just(json!(300.5)),
            Just(json!(10)),
            Just(json!(11)),
            Just(json!(1e300)),
            Just(json!(2.5)),
            Just(json!(u64::MAX)),
            Just(json!(i64::MIN)),
        ],
        prop_oneof![
            Just(json!("")),
            Just(json!(" \t\u{3000}\u{85}")),
            Just(json!("\u{feff}")),
            Just(json!("x")),
            Just(json!("get")),
            Just(json!("${m}")),
            Just(json!("sync")),
            Just(json!("RETRY")),
            Just(json!("MODIFY")),
            Just(json!("HTTP")),
            Just(json!("LLM")),
            Just(json!("START")),
            Just(json!("a-b.c")),
            Just(json!("é1")),
            Just(json!("1a")),
            Just(json!("failed")),
            Just(json!("TIMEOUT")),
            Just(json!("line\nbreak")),
        ],
        Just(json!([])),
        Just(json!({})),
        Just(json!(["x"])),
        Just(json!([{}])),
        Just(json!({"a": {"status": "failed"}})),
        Just(json!({"a": {"error": 1}, "b": 2})),
        Just(json!({"timeout": 400})),
        Just(json!({"timeout_ms": 300_001, "timeout_s": 300})),
        Just(json!({"a": {"error": ""}, "b": {"status": "FAILED"}})),
        Just(json!({"config.timeout": 4, "config": {"url": ""}})),
    ]
}

/// Names under which a member may be added.
const NAMES: &[&str] = &[
    "extra",
    "timeout",
    "timeout_ms",
    "timeout_seconds",
    "config.timeoutMs",
    "errors",
    "config",
    "config.timeout",
    "config.headers.x",
    "headers.",
    "bogus",
    "error",
    "failed_attempts",
    "node_outputs",
    "max_attempts",
    "modifications",
    "options",
    "messages",
    "prompt",
    "temperature",
    "retry_config",
    "config.method",
    "name",
    "type",
    "a\nb",
    "config.url.\n",
];

#[derive(Clone, Debug)]
enum Mutation {
    Replace(usize, Value),
    Remove(usize),
    Add(usize, usize, Value),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<usize>(), replacement()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        any::<usize>().prop_map(Mutation::Remove),
        (any::<usize>(), 0..NAMES.len(), replacement())
            .prop_map(|(at, name, value)| Mutation::Add(at, name, value)),
    ]
}

/// Pointers to every place in a value.
fn places(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{key}"), into);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{at}/{index}"), into);
            }
        }
        _ => {}
    }
}

fn mutate(value: &mut Value, mutation: &Mutation) {
    let mut all = Vec::new();
    places(value, "", &mut all);
    let (Mutation::Replace(at, _) | Mutation::Remove(at) | Mutation::Add(at, ..)) = mutation;
    let place = all[at % all.len()].clone();
    match mutation {
        Mutation::Replace(_, new) => {
            *value.pointer_mut(&place).expect("a place") = new.clone();
        }
        Mutation::Remove(_) => {
            let Some((parent, key)) = place.rsplit_once('/') else {
                return;
            };
            let key = key.replace("~1", "/").replace("~0", "~");
            match value.pointer_mut(parent).expect("a place") {
                Value::Object(members) => {
                    members.shift_remove(&key);
                }
                Value::Array(items) => {
                    items.remove(key.parse().expect("an index"));
                }
                _ => {}
            }
        }
        Mutation::Add(_, name, new) => {
            if let Some(Value::Object(members)) = value.pointer_mut(&place) {
                members.insert(NAMES[*name].to_owned(), new.clone());
            }
        }
    }
}

fn payload() -> impl Strategy<Value = (DecisionType, Value)> {
    (
        any::<prop::sample::Index>(),
        prop::collection::vec(mutation(), 0..4),
    )
        .prop_map(|(seed, mutations)| {
            let mut value = seed.get(&SEEDS[..]).clone();
            let kind = value["action_type"]
                .as_str()
                .and_then(DecisionType::from_word)
                .expect("a type");
            for mutation in &mutations {
                mutate(&mut value, mutation);
            }
            (kind, value)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_validator_and_the_schemas_agree((kind, value) in payload()) {
        let schema = &SCHEMAS.iter().find(|(of, _)| *of == kind).expect("a schema").1;
        let expected = Expected { kind: Some(kind), intent: None };
        let report = validate(&Json::from_value(&value), &Known::default(), expected);
        if value.is_object() && value["action_type"] == json!(kind.word()) {
            prop_assert_eq!(
                report.has_shape(),
                schema.is_valid(&value),
                "{}\n{:?}\n{:?}", value, report.faults,
                schema.iter_errors(&value).map(|e| e.to_string()).collect::<Vec<_>>()
            );
        } else {
            prop_assert!(!report.is_valid());
            prop_assert!(!schema.is_valid(&value));
        }
    }

    #[test]
    fn what_a_correction_accepts_is_valid((_, value) in payload()) {
        let (changes, report, after) = corrected(&value);
        if report.is_valid() {
            prop_assert!(super::validate(&Json::from_value(&after), &Known::default(), Expected::default()).is_valid());
        }
        prop_assert_eq!(changes.is_empty(), after == value, "{} -> {}", value, after);
        // A second correction finds nothing left to do.
        let again = corrected(&after);
        prop_assert!(again.0.is_empty(), "{:?}", again.0);
    }

    #[test]
    fn the_reader_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        for document in documents::split(&bytes) {
            prop_assert!(bytes.get(document.span).is_some());
        }
    }

    #[test]
    fn the_reader_never_panics_on_what_looks_like_json(text in "[\\[\\]{},:\" \\\\a-fu0-9.eE+\\-\\n]{0,60}") {
        let _ = validate_text(text.as_bytes(), &Known::default(), Expected::default());
        let _ = documents::split(text.as_bytes()).count();
        // `-0` is the integer 0 here; serde_json makes a fraction of it.
        prop_assume!(!text.contains("-0"));
        // Where ours accepts without a flaw, serde_json reads the same value.
        if let Ok(ours) = read(text.as_bytes()) && ours.flaws.is_empty() {
            let theirs: Value = serde_json::from_str(&text).expect("serde_json reads it too");
            prop_assert_eq!(ours.value.to_value(), theirs);
        } else if let Err(flaw) = read(text.as_bytes()) {
            prop_assert!(serde_json::from_str::<Value>(&text).is_err() || flaw.kind == FlawKind::Depth);
        }
    }
}
