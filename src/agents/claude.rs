//! Claude Code: `.claude/settings.json`, snake_case payloads, nested decisions.

use super::reply::limited;
use super::tools;
use super::{Agent, Answer, Call, Moment, Reply, text};
use serde_json::{Map, Value, json};

/// Reads a payload.
pub(super) fn read(payload: &Value, event: Option<&str>) -> Call {
    let mut call = read_as(Agent::Claude, payload, event);
    // Claude always names its transcript; Copilot, which reads Claude's settings too, never does.
    call.borrowed = payload.get("transcript_path").is_none() && payload.get("timestamp").is_some();
    call
}

/// Reads a payload of Claude's shape, as Codex and Copilot send it too.
pub(super) fn read_as(agent: Agent, payload: &Value, event: Option<&str>) -> Call {
    let event = text(payload, "hook_event_name")
        .or(event)
        .unwrap_or("PreToolUse");
    let tool = text(payload, "tool_name").unwrap_or_default();
    let input = payload.get("tool_input").unwrap_or(payload);
    Call {
        moment: match event {
            "SessionStart" => Moment::SessionStart,
            "PreToolUse" => Moment::BeforeTool,
            "PostToolUse" | "PostToolUseFailure" => Moment::AfterTool,
            "UserPromptSubmit" => Moment::Prompt,
            _ => Moment::Other,
        },
        event: event.to_owned(),
        session: text(payload, "session_id").map(str::to_owned),
        subagent: text(payload, "agent_id").map(str::to_owned),
        cwd: text(payload, "cwd").map(Into::into),
        tool: tool.to_owned(),
        intent: tools::intent(agent, tool, input),
        failure: failure(payload),
        borrowed: false,
    }
}

fn failure(payload: &Value) -> Option<String> {
    if let Some(error) = text(payload, "error") {
        return Some(error.to_owned());
    }
    let response = payload
        .get("tool_response")
        .or_else(|| payload.get("tool_result"))?;
    tools::failure(response)
}

/// Words an answer.
pub(super) fn reply(call: &Call, answer: &Answer) -> Reply {
    match (call.moment, answer) {
        (Moment::BeforeTool, Answer::Deny(reason) | Answer::Stop(reason)) => {
            decision(call, "deny", reason)
        }
        (Moment::BeforeTool, Answer::Ask(reason)) => decision(call, "ask", reason),
        (Moment::BeforeTool, Answer::Rewrite { command, tell }) => {
            let mut output = specific(call);
            output.insert("permissionDecision".into(), "allow".into());
            output.insert("updatedInput".into(), json!({ "command": command }));
            if let Some(tell) = tell {
                output.insert("additionalContext".into(), limited(tell).into());
            }
            Reply::json(&json!({ "hookSpecificOutput": output }))
        }
        (Moment::BeforeTool, Answer::Tell(tell)) => {
            let mut output = specific(call);
            output.insert("additionalContext".into(), limited(tell).into());
            Reply::json(&json!({ "hookSpecificOutput": output, "systemMessage": limited(tell) }))
        }
        (Moment::AfterTool, Answer::Deny(reason) | Answer::Stop(reason)) => {
            Reply::json(&json!({ "decision": "block", "reason": limited(reason) }))
        }
        (
            Moment::SessionStart | Moment::AfterTool | Moment::Prompt,
            Answer::Tell(tell) | Answer::Ask(tell) | Answer::Deny(tell) | Answer::Stop(tell),
        ) => {
            let mut output = specific(call);
            output.insert("additionalContext".into(), limited(tell).into());
            Reply::json(&json!({ "hookSpecificOutput": output }))
        }
        (_, Answer::Pass | Answer::Rewrite { .. }) | (Moment::Other, _) => Reply::silent(),
    }
}

/// A decision about a tool call, with its reason.
pub(super) fn decision(call: &Call, word: &str, reason: &str) -> Reply {
    let mut output = specific(call);
    output.insert("permissionDecision".into(), word.into());
    output.insert("permissionDecisionReason".into(), limited(reason).into());
    Reply::json(&json!({ "hookSpecificOutput": output }))
}

/// The part of a reply that names its event.
pub(super) fn specific(call: &Call) -> Map<String, Value> {
    let mut output = Map::new();
    output.insert("hookEventName".into(), call.event.clone().into());
    output
}
