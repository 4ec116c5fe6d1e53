//! GitHub Copilot CLI: camelCase payloads without the event's name, flat decisions.
//!
//! It also reads `.claude/settings.json` and then speaks Claude's format with its
//! own argument names; such a payload is answered in that format.

use super::reply::limited;
use super::tools;
use super::{Agent, Answer, Call, Moment, Reply, claude, text};
use serde_json::{Value, json};

/// Reads a payload of either format.
pub(super) fn read(payload: &Value, event: Option<&str>) -> Call {
    if payload.get("hook_event_name").is_some() {
        let mut call = claude::read_as(Agent::Copilot, payload, event);
        call.borrowed = true;
        return call;
    }
    let event = event.unwrap_or("preToolUse");
    let tool = text(payload, "toolName").unwrap_or_default();
    let args = payload.get("toolArgs").unwrap_or(payload);
    // Arguments may come as an object, or as the text of one; a patch is neither.
    let parsed = args
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .filter(Value::is_object);
    let input = parsed.as_ref().unwrap_or(args);
    Call {
        moment: match event {
            "sessionStart" => Moment::SessionStart,
            "preToolUse" => Moment::BeforeTool,
            "postToolUse" | "postToolUseFailure" => Moment::AfterTool,
            "userPromptSubmitted" => Moment::Prompt,
            _ => Moment::Other,
        },
        event: event.to_owned(),
        session: text(payload, "sessionId").map(str::to_owned),
        subagent: text(payload, "agentId").map(str::to_owned),
        cwd: text(payload, "cwd").map(Into::into),
        tool: tool.to_owned(),
        intent: tools::intent(Agent::Copilot, tool, input),
        failure: payload.get("toolResult").and_then(tools::failure),
        borrowed: false,
    }
}

/// Words an answer in the format of the call.
pub(super) fn reply(call: &Call, answer: &Answer) -> Reply {
    if call.borrowed {
        return claude::reply(call, answer);
    }
    match (call.moment, answer) {
        (Moment::BeforeTool, Answer::Deny(reason) | Answer::Stop(reason)) => flat("deny", reason),
        (Moment::BeforeTool, Answer::Ask(reason)) => flat("ask", reason),
        (Moment::BeforeTool, Answer::Rewrite { command, .. }) => {
            Reply::json(&json!({ "modifiedArgs": { "command": command } }))
        }
        (
            Moment::BeforeTool | Moment::AfterTool | Moment::SessionStart,
            Answer::Tell(tell) | Answer::Ask(tell) | Answer::Deny(tell) | Answer::Stop(tell),
        ) => Reply::json(&json!({ "additionalContext": limited(tell) })),
        (_, Answer::Pass | Answer::Rewrite { .. }) | (Moment::Other | Moment::Prompt, _) => {
            Reply::silent()
        }
    }
}

fn flat(word: &str, reason: &str) -> Reply {
    Reply::json(&json!({
        "permissionDecision": word,
        "permissionDecisionReason": limited(reason),
    }))
}
