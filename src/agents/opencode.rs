//! OpenCode: no process hooks of its own; our plugin (`hooks/opencode.js`) passes
//! its calls on and throws when the status is not 0, which is how OpenCode refuses.

use super::reply::limited;
use super::tools;
use super::{Agent, Answer, Call, Moment, Reply, text};
use serde_json::Value;

/// Reads a payload: `{input, output}` as the plugin got them, or flattened, with the plugin's `directory`.
pub(super) fn read(payload: &Value, event: Option<&str>) -> Call {
    let input = payload.get("input").unwrap_or(payload);
    let output = payload.get("output").unwrap_or(payload);
    let event = text(payload, "hook_event_name")
        .or_else(|| text(payload, "type"))
        .or(event)
        .unwrap_or("tool.execute.before");
    let tool = text(input, "tool").unwrap_or_default();
    let args = output
        .get("args")
        .or_else(|| input.get("args"))
        .unwrap_or(&Value::Null);
    let session = text(input, "sessionID").or_else(|| {
        payload
            .get("properties")
            .and_then(|properties| text(properties, "sessionID"))
    });
    let moment = match event {
        "session.created" => Moment::SessionStart,
        "tool.execute.before" => Moment::BeforeTool,
        "tool.execute.after" => Moment::AfterTool,
        "chat.message" => Moment::Prompt,
        _ => Moment::Other,
    };
    let failed = output
        .pointer("/metadata/exit")
        .and_then(Value::as_i64)
        .filter(|status| *status != 0);
    Call {
        moment,
        event: event.to_owned(),
        session: session.map(str::to_owned),
        subagent: None,
        cwd: text(payload, "directory")
            .or_else(|| text(payload, "cwd"))
            .map(Into::into),
        tool: tool.to_owned(),
        intent: tools::intent(Agent::OpenCode, tool, args),
        failure: failed.map(|status| {
            format!(
                "exit {status}: {}",
                text(output, "output").unwrap_or_default()
            )
        }),
        borrowed: false,
    }
}

/// Words an answer for the plugin: status 2 and a reason, or text to hand on.
pub(super) fn reply(call: &Call, answer: &Answer) -> Reply {
    match (call.moment, answer) {
        (_, Answer::Pass | Answer::Rewrite { .. }) | (Moment::Other, _) => Reply::silent(),
        (Moment::BeforeTool, Answer::Deny(reason) | Answer::Ask(reason) | Answer::Stop(reason)) => {
            Reply::blocked(reason)
        }
        // The plugin adds it to the tool's result, where the model reads it.
        (_, Answer::Tell(tell) | Answer::Deny(tell) | Answer::Ask(tell) | Answer::Stop(tell)) => {
            Reply {
                stdout: format!("{}\n", limited(tell)),
                ..Reply::default()
            }
        }
    }
}
