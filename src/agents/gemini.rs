//! Gemini CLI: flat decisions; a JSON reply without a `decision` lets the call through.
//!
//! Its shell tool switches git hooks and the person's git configuration off
//! through `GIT_CONFIG_*`; [`with_git_hooks`] puts them back on.

use super::reply::limited;
use super::tools;
use super::{Agent, Answer, Call, Moment, Reply, claude, text};
use serde_json::{Value, json};

/// Variables by which Gemini CLI hides git's configuration from its shell.
const UNSET: &str =
    "unset GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM; ";

/// Reads a payload.
pub(super) fn read(payload: &Value, event: Option<&str>) -> Call {
    let event = text(payload, "hook_event_name")
        .or(event)
        .unwrap_or("BeforeTool");
    let tool = text(payload, "tool_name").unwrap_or_default();
    let input = payload.get("tool_input").unwrap_or(payload);
    Call {
        moment: match event {
            "SessionStart" => Moment::SessionStart,
            "BeforeTool" => Moment::BeforeTool,
            "AfterTool" => Moment::AfterTool,
            "BeforeAgent" => Moment::Prompt,
            _ => Moment::Other,
        },
        event: event.to_owned(),
        session: text(payload, "session_id").map(str::to_owned),
        subagent: None,
        cwd: text(payload, "cwd").map(Into::into),
        tool: tool.to_owned(),
        intent: tools::intent(Agent::Gemini, tool, input),
        failure: payload.get("tool_response").and_then(tools::failure),
        borrowed: false,
    }
}

/// The command with git's hooks and the person's configuration in force.
#[must_use]
pub fn with_git_hooks(command: &str) -> String {
    if command.starts_with(UNSET) {
        return command.to_owned();
    }
    format!("{UNSET}{command}")
}

/// The command as the agent wrote it, without what [`with_git_hooks`] put before it.
#[must_use]
pub fn as_written(command: &str) -> &str {
    command.strip_prefix(UNSET).unwrap_or(command)
}

/// Words an answer.
pub(super) fn reply(call: &Call, answer: &Answer) -> Reply {
    match (call.moment, answer) {
        (_, Answer::Pass) | (Moment::Other, _) => Reply::silent(),
        (
            Moment::BeforeTool | Moment::AfterTool,
            Answer::Deny(reason) | Answer::Ask(reason) | Answer::Stop(reason),
        ) => Reply::json(&json!({ "decision": "deny", "reason": limited(reason) })),
        (Moment::BeforeTool, Answer::Tell(tell)) => {
            Reply::json(&json!({ "systemMessage": limited(tell) }))
        }
        (Moment::BeforeTool, Answer::Rewrite { command, tell }) => {
            let mut output = claude::specific(call);
            output.insert("tool_input".into(), json!({ "command": command }));
            let mut reply = json!({ "hookSpecificOutput": output });
            if let (Some(tell), Some(reply)) = (tell, reply.as_object_mut()) {
                reply.insert("systemMessage".into(), limited(tell).into());
            }
            Reply::json(&reply)
        }
        (_, Answer::Tell(tell) | Answer::Deny(tell) | Answer::Ask(tell) | Answer::Stop(tell)) => {
            let mut output = claude::specific(call);
            output.insert("additionalContext".into(), limited(tell).into());
            Reply::json(&json!({ "hookSpecificOutput": output }))
        }
        (_, Answer::Rewrite { .. }) => Reply::silent(),
    }
}
