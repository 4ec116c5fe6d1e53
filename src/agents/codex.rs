//! Codex CLI: Claude's shape in, a stricter one out. An unknown key, or an answer
//! it does not know (`ask`), makes the hook fail and the call go on.

use super::reply::limited;
use super::{Agent, Answer, Call, Moment, Reply, claude};
use serde_json::{Value, json};

/// Reads a payload.
pub(super) fn read(payload: &Value, event: Option<&str>) -> Call {
    claude::read_as(Agent::Codex, payload, event)
}

/// Words an answer.
pub(super) fn reply(call: &Call, answer: &Answer) -> Reply {
    match (call.moment, answer) {
        (_, Answer::Pass) | (Moment::Other, _) => Reply::silent(),
        // Standard error and status 2: read by every version, with no JSON to get wrong.
        (Moment::BeforeTool, Answer::Deny(reason) | Answer::Ask(reason) | Answer::Stop(reason)) => {
            Reply::blocked(reason)
        }
        (Moment::BeforeTool, Answer::Rewrite { command, .. }) => {
            let mut output = claude::specific(call);
            output.insert("permissionDecision".into(), "allow".into());
            output.insert("updatedInput".into(), json!({ "command": command }));
            Reply::json(&json!({ "hookSpecificOutput": output }))
        }
        (Moment::AfterTool, Answer::Deny(reason) | Answer::Stop(reason)) => {
            Reply::json(&json!({ "decision": "block", "reason": limited(reason) }))
        }
        (_, Answer::Tell(tell) | Answer::Ask(tell) | Answer::Deny(tell) | Answer::Stop(tell)) => {
            let mut output = claude::specific(call);
            output.insert("additionalContext".into(), limited(tell).into());
            Reply::json(&json!({ "hookSpecificOutput": output }))
        }
        (_, Answer::Rewrite { .. }) => Reply::silent(),
    }
}
