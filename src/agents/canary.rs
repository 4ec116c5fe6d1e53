//! A call that only asks whether a gate is alive, and what a host would make of the answer. Pure.
//!
//! The call names a loss that no policy lets pass; the hook, told by the
//! environment that nobody means it, refuses it with words of its own.

use super::Agent;
use crate::judge::Level;
use serde_json::{Value, json};

/// A command that is a loss wherever it is judged; it is never run.
const COMMAND: &str = "rm -rf .git";

/// The words with which a canary is refused, up to its reasoning.
#[must_use]
pub fn words(level: Level) -> String {
    format!("holdpoint canary, judged Level {}: ", level.number())
}

/// A call of the agent's shell tool that would be a loss, in its own payload.
#[must_use]
pub fn payload(agent: Agent, cwd: &str) -> Value {
    let input = json!({ "command": COMMAND });
    let session = "holdpoint-canary";
    match agent {
        Agent::Claude | Agent::Codex => json!({
            "hook_event_name": "PreToolUse", "session_id": session, "transcript_path": "",
            "cwd": cwd, "tool_name": "Bash", "tool_input": input,
        }),
        Agent::Gemini => json!({
            "hook_event_name": "BeforeTool", "session_id": session, "cwd": cwd,
            "tool_name": "run_shell_command", "tool_input": input,
        }),
        Agent::Cursor => json!({
            "hook_event_name": "preToolUse", "conversation_id": session, "cwd": cwd,
            "workspace_roots": [cwd], "tool_name": "Shell", "tool_input": input,
        }),
        Agent::Copilot => json!({
            "sessionId": session, "cwd": cwd, "toolName": "bash", "toolArgs": input,
        }),
        Agent::OpenCode => json!({
            "hook_event_name": "tool.execute.before", "directory": cwd,
            "input": { "tool": "bash", "sessionID": session }, "output": { "args": input },
        }),
    }
}

/// What the model would read of a refusal; `None` where the host would let the call go on.
#[must_use]
pub fn refusal(agent: Agent, status: Option<i32>, stdout: &str, stderr: &str) -> Option<String> {
    let reply: Value = serde_json::from_str(stdout).unwrap_or(Value::Null);
    let decided = |pointer: &str, word: &str, reason: &str| -> Option<String> {
        (reply.pointer(pointer)?.as_str()? == word)
            .then(|| reply.pointer(reason)?.as_str().map(str::to_owned))
            .flatten()
            .filter(|reason| !reason.is_empty())
    };
    let said = (!stderr.trim().is_empty()).then(|| stderr.trim().to_owned());
    match (agent, status) {
        (Agent::OpenCode, status) => said.filter(|_| status != Some(0)),
        (Agent::Copilot, None | Some(1..)) | (_, Some(2)) => said,
        (Agent::Claude | Agent::Codex, Some(0)) => decided(
            "/hookSpecificOutput/permissionDecision",
            "deny",
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (Agent::Gemini, Some(0)) => decided("/decision", "deny", "/reason"),
        (Agent::Cursor, Some(0)) => decided("/permission", "deny", "/user_message"),
        (Agent::Copilot, Some(0)) => {
            decided("/permissionDecision", "deny", "/permissionDecisionReason")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{payload, refusal};
    use crate::agents::{Agent, Answer, Intent, Moment};

    #[test]
    fn every_agent_reads_its_canary_as_a_call_of_the_shell_and_hears_our_refusal() {
        for agent in Agent::ALL {
            let call = agent
                .read(payload(agent, "/work").to_string().as_bytes(), None)
                .expect("a payload");
            assert_eq!(call.moment, Moment::BeforeTool, "{agent}");
            assert!(matches!(call.intent, Intent::Steps(_)), "{agent}");
            for (answer, heard) in [
                (Answer::Deny("why".to_owned()), Some("why".to_owned())),
                (Answer::Pass, None),
                (Answer::Tell("by the way".to_owned()), None),
            ] {
                let reply = agent.reply(&call, &answer);
                let status = Some(i32::from(reply.exit));
                assert_eq!(
                    refusal(agent, status, &reply.stdout, &reply.stderr),
                    heard,
                    "{agent} {answer:?}"
                );
            }
            assert_eq!(refusal(agent, Some(2), "", ""), None, "{agent}");
        }
    }
}
