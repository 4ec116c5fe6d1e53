//! Which rule stands behind a question to the user, and what follows on a verdict. Pure.
//!
//! The family `intent` has four rules. A question says which it is by its
//! context, else by its words; a plain choice between several workable options
//! is the mildest, and what cannot be told is the strictest reading.

use super::kind::DecisionType;
use super::names;
use super::report::Report;
use super::tree::{Json, Object};
use crate::judge::RuleId;

/// Members of the context that say what sort of question it is.
const SORTS: &[&str] = &["rule", "kind", "type", "category", "reason"];

const TRADEOFF: &[&str] = &["trade-off", "tradeoff", "trade off", "权衡", "取舍"];

const TECHNOLOGY: &[&str] = &[
    "technology",
    "tech stack",
    "which framework",
    "what framework",
    "which library",
    "what library",
    "which database",
    "what database",
    "which language",
    "what language",
    "技术选型",
    "技术栈",
    "哪个框架",
    "哪种框架",
    "哪个数据库",
    "哪种数据库",
    "哪种语言",
    "哪个库",
];

/// The rule under which a clarification asks for a person.
pub(super) fn rule(payload: &Object<'_>) -> RuleId {
    let context = payload.get("context").and_then(Json::as_object);
    let said = context.and_then(|context| {
        SORTS.iter().find_map(|name| {
            context
                .get(name)
                .and_then(Json::as_text)
                .and_then(|word| sort(&word.to_ascii_lowercase()))
        })
    });
    if let Some(rule) = said {
        return rule;
    }
    let question = payload
        .get("question")
        .and_then(Json::as_text)
        .unwrap_or_default()
        .to_lowercase();
    let speaks_of = |words: &[&str]| words.iter().any(|word| question.contains(word));
    if speaks_of(TRADEOFF) {
        return RuleId::IntentTradeoff;
    }
    if speaks_of(TECHNOLOGY) {
        return RuleId::IntentTechnology;
    }
    let listed = |value: Option<&Json<'_>>| {
        value
            .and_then(Json::as_list)
            .map_or(0, |items: &[Json<'_>]| items.len())
    };
    let missing = listed(payload.get("required_fields"))
        + listed(context.and_then(|context| context.get("missing_info")));
    if listed(payload.get("options")) > 1 && missing == 0 {
        return RuleId::IntentOptions;
    }
    RuleId::IntentUnclear
}

/// The rule that a word of the context names.
fn sort(word: &str) -> Option<RuleId> {
    let word = word
        .strip_prefix("intent.")
        .unwrap_or(word)
        .replace('_', "-");
    match word.as_str() {
        "tradeoff" | "trade-off" => Some(RuleId::IntentTradeoff),
        "technology" | "technology-choice" | "tech-stack" => Some(RuleId::IntentTechnology),
        "options" | "several-options" | "choice" => Some(RuleId::IntentOptions),
        "unclear" | "ambiguous" | "missing-info" => Some(RuleId::IntentUnclear),
        _ => None,
    }
}

/// What follows on a verdict, by section 6 of the seed.
#[must_use]
pub fn next(report: &Report) -> &'static str {
    match (report.is_valid(), report.kind) {
        (true, Some(DecisionType::RequestClarification)) => "wait_for_user",
        (true, Some(DecisionType::Continue)) => "continue",
        (true, _) => "execute",
        (false, Some(DecisionType::ErrorRecovery)) => "replan_workflow",
        (false, _) => "retry",
    }
}

/// Notes in the report under which rule a decision asks for a person, where it does.
pub(super) fn note(report: &mut Report, kind: DecisionType, payload: &Object<'_>) {
    let asks = kind == DecisionType::RequestClarification
        && payload
            .get("question")
            .and_then(Json::as_text)
            .is_some_and(|question| !names::is_blank(question));
    report.asks = asks.then(|| rule(payload));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_question_is_put_under_its_rule() {
        for (payload, expected) in [
            (
                json!({"question": "Which data source?"}),
                RuleId::IntentUnclear,
            ),
            (
                json!({"question": "Which?", "options": ["a", "b"], "required_fields": ["source"]}),
                RuleId::IntentUnclear,
            ),
            (
                json!({"question": "Which?", "options": ["a", "b"], "context": {"missing_info": ["x"]}}),
                RuleId::IntentUnclear,
            ),
            (
                json!({"question": "Which?", "options": ["a", "b"]}),
                RuleId::IntentOptions,
            ),
            (
                json!({"question": "Which?", "options": ["a"]}),
                RuleId::IntentUnclear,
            ),
            (
                json!({"question": "Which framework shall it be?", "options": ["a", "b"]}),
                RuleId::IntentTechnology,
            ),
            (
                json!({"question": "请确认技术选型"}),
                RuleId::IntentTechnology,
            ),
            (
                json!({"question": "Speed or memory: a trade-off", "options": ["a", "b"]}),
                RuleId::IntentTradeoff,
            ),
            (
                json!({"question": "Which?", "context": {"kind": "intent.tradeoff"}}),
                RuleId::IntentTradeoff,
            ),
            (
                json!({"question": "Which?", "context": {"reason": "technology_choice"}}),
                RuleId::IntentTechnology,
            ),
        ] {
            let Json::Object(object) = Json::from_value(&payload) else {
                unreachable!("an object");
            };
            assert_eq!(rule(&object), expected, "{payload}");
        }
    }

    #[test]
    fn what_follows_is_the_seeds_flow() {
        let after = |payload: Value| {
            next(&super::super::validate(
                &Json::from_value(&payload),
                &super::super::Known::default(),
                super::super::Expected::default(),
            ))
        };
        assert_eq!(
            after(json!({"action_type": "continue", "thought": "t"})),
            "continue"
        );
        assert_eq!(
            after(json!({"action_type": "request_clarification", "question": "q"})),
            "wait_for_user"
        );
        assert_eq!(
            after(json!({"action_type": "execute_workflow", "workflow_id": "w"})),
            "execute"
        );
        assert_eq!(
            after(json!({"action_type": "error_recovery"})),
            "replan_workflow"
        );
        assert_eq!(after(json!({"action_type": "respond"})), "retry");
    }
}
