//! One entry of the decision log, with the fields of SPEC §6 in their order.

use super::redact::redact_value;
use crate::judge::{Actor, Level, RuleId, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What came of the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done.
    Success,
    /// It was tried and failed.
    Failure,
    /// A part of it was done.
    Partial,
    /// It waits.
    Pending,
    /// It was stopped.
    Stopped,
}

/// One decision. The store adds timestamp, id and chain.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    decision: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Level>,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rule: Vec<RuleId>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    context: Map<String, Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    user_override: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    safety_point: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<String>,
}

impl LogEntry {
    /// Returns true for an entry that only tells what passed without a person.
    ///
    /// A safety point that was taken is one too: it is on the disk by itself, with
    /// its time and its actor.
    pub(super) fn only_tells(&self) -> bool {
        !self.user_override
            && matches!(self.decision.as_str(), "allow" | "report" | "safety_point")
            && self.level.is_some_and(|level| level < Level::Confirm)
    }

    /// Starts an entry; `decision` is one of the words of SPEC §6 (`allow`, `hold`, `rollback`, …).
    pub fn new(decision: impl Into<String>) -> Self {
        Self {
            decision: decision.into(),
            level: None,
            reason: String::new(),
            reasoning: String::new(),
            rule: Vec::new(),
            context: Map::new(),
            action: String::new(),
            outcome: None,
            user_override: false,
            actor: None,
            session: None,
            run: None,
            safety_point: None,
            hold: None,
        }
    }

    /// Takes level, reason, reasoning, rules, modifiers and context from a verdict.
    #[must_use]
    pub fn verdict(mut self, verdict: &Verdict) -> Self {
        self.level = Some(verdict.level);
        verdict.reason().clone_into(&mut self.reason);
        self.reasoning.clone_from(&verdict.reasoning);
        self.rule = verdict.rules();
        for (key, value) in &verdict.context {
            self.context.insert(key.clone(), value.clone());
        }
        if !verdict.adjustments.is_empty() {
            self = self.context("modifiers", &verdict.adjustments);
        }
        if !verdict.loses.is_empty() {
            self = self.context("loses", verdict.loses.shown());
        }
        self
    }

    /// Sets the level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Sets the machine word of the deciding rule's reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Sets the sentence a person understands.
    #[must_use]
    pub fn reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = reasoning.into();
        self
    }

    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: RuleId) -> Self {
        self.rule.push(rule);
        self
    }

    /// Adds to the context; a value that has no JSON form is written as its error.
    #[must_use]
    pub fn context(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value)
            .unwrap_or_else(|error| Value::String(format!("unserialisable: {error}")));
        self.context.insert(key.into(), value);
        self
    }

    /// Says what was done.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = action.into();
        self
    }

    /// Says what came of it.
    #[must_use]
    pub fn outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Marks that a person decided otherwise than the judge.
    #[must_use]
    pub fn overridden(mut self) -> Self {
        self.user_override = true;
        self
    }

    /// Says who acted.
    #[must_use]
    pub fn actor(mut self, actor: &Actor) -> Self {
        self.actor = Some(actor.word());
        if let Actor::Agent {
            session: Some(session),
            ..
        } = actor
        {
            self.session.get_or_insert_with(|| session.clone());
        }
        self
    }

    /// Links the session.
    #[must_use]
    pub fn session(mut self, session: Option<impl Into<String>>) -> Self {
        self.session = session.map(Into::into).or(self.session);
        self
    }

    /// Links the wrapped run.
    #[must_use]
    pub fn run(mut self, run: Option<impl Into<String>>) -> Self {
        self.run = run.map(Into::into);
        self
    }

    /// Links the safety point.
    #[must_use]
    pub fn safety_point(mut self, point: Option<impl Into<String>>) -> Self {
        self.safety_point = point.map(Into::into);
        self
    }

    /// Links the hold.
    #[must_use]
    pub fn hold(mut self, hold: Option<impl Into<String>>) -> Self {
        self.hold = hold.map(Into::into);
        self
    }

    /// The entry as a JSON object, without secrets.
    pub(super) fn into_body(self) -> Map<String, Value> {
        body(&self)
    }
}

/// Turns an entry into a JSON object without secrets.
pub(super) fn body(entry: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(entry) {
        Ok(mut value) => {
            redact_value(&mut value);
            match value {
                Value::Object(map) => map,
                other => Map::from_iter([("value".to_owned(), other)]),
            }
        }
        Err(error) => Map::from_iter([(
            "unserialisable".to_owned(),
            Value::String(error.to_string()),
        )]),
    }
}
