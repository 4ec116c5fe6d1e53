//! Cursor: flat `permission`, always answered, because with `failClosed` silence blocks.

use super::reply::limited;
use super::tools;
use super::{Agent, Answer, Call, Intent, Moment, Reply, Step, text};
use serde_json::{Value, json};

/// Reads a payload.
pub(super) fn read(payload: &Value, event: Option<&str>) -> Call {
    let event = text(payload, "hook_event_name")
        .or(event)
        .unwrap_or("preToolUse");
    let tool = text(payload, "tool_name").unwrap_or(match event {
        "beforeShellExecution" | "afterShellExecution" => "Shell",
        "beforeReadFile" => "Read",
        "afterFileEdit" => "Write",
        _ => "",
    });
    let input = payload.get("tool_input").unwrap_or(payload);
    let cwd = text(payload, "cwd").or_else(|| {
        payload
            .get("workspace_roots")
            .and_then(|roots| roots.get(0))
            .and_then(Value::as_str)
    });
    Call {
        moment: match event {
            "sessionStart" => Moment::SessionStart,
            "preToolUse" | "beforeShellExecution" | "beforeMCPExecution" | "beforeReadFile" => {
                Moment::BeforeTool
            }
            "postToolUse"
            | "postToolUseFailure"
            | "afterShellExecution"
            | "afterMCPExecution"
            | "afterFileEdit" => Moment::AfterTool,
            "beforeSubmitPrompt" => Moment::Prompt,
            _ => Moment::Other,
        },
        event: event.to_owned(),
        session: text(payload, "conversation_id")
            .or_else(|| text(payload, "session_id"))
            .map(str::to_owned),
        subagent: text(payload, "subagent_id").map(str::to_owned),
        cwd: cwd.map(Into::into),
        tool: tool.to_owned(),
        intent: intent(tool, input),
        failure: text(payload, "error_message")
            .or_else(|| text(payload, "error"))
            .map(str::to_owned)
            .or_else(|| payload.get("tool_output").and_then(tools::failure)),
        borrowed: false,
    }
}

fn intent(tool: &str, input: &Value) -> Intent {
    let mut intent = tools::intent(Agent::Cursor, tool, input);
    // The payload of a shell event is its own input, whose `cwd` is the call's.
    if let Intent::Steps(steps) = &mut intent {
        for step in steps {
            if let Step::Run { dir, .. } = step
                && dir.as_ref().is_some_and(|dir| dir.is_empty())
            {
                *dir = None;
            }
        }
    }
    intent
}

/// Words an answer.
pub(super) fn reply(call: &Call, answer: &Answer) -> Reply {
    match call.moment {
        Moment::BeforeTool => Reply::json(&match answer {
            Answer::Pass => json!({ "permission": "allow" }),
            Answer::Tell(tell) => json!({ "permission": "allow", "agent_message": limited(tell) }),
            Answer::Rewrite { command, .. } => {
                json!({ "permission": "allow", "updated_input": { "command": command } })
            }
            // `ask` is not enforced; the model is shown the user's message.
            Answer::Ask(reason) | Answer::Deny(reason) | Answer::Stop(reason) => json!({
                "permission": "deny",
                "user_message": limited(reason),
                "agent_message": limited(reason),
            }),
        }),
        Moment::Prompt => Reply::json(&json!({ "continue": true })),
        Moment::SessionStart | Moment::AfterTool => Reply::json(&match answer {
            Answer::Tell(tell) | Answer::Ask(tell) | Answer::Deny(tell) | Answer::Stop(tell) => {
                json!({ "additional_context": limited(tell) })
            }
            Answer::Pass | Answer::Rewrite { .. } => json!({}),
        }),
        Moment::Other => Reply::json(&json!({})),
    }
}
