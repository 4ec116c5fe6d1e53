//! Agents that go round in circles: each is told in its own protocol, by the preferences' thresholds.

use super::calls::{AGENTS, call, guarded};
use crate::support::{Ran, Sandbox};
use serde_json::{Value, json};

/// A call of an agent's hook after a tool has run, in that agent's own shape.
fn after(sandbox: &Sandbox, agent: &str, tool: &str, input: &Value, failed: bool) -> Ran {
    let cwd = sandbox.work();
    let (event, payload) = match agent {
        "copilot" => (
            "postToolUse",
            json!({"sessionId": "s", "cwd": cwd, "toolName": tool, "toolArgs": input, "toolResult":
                {"resultType": if failed { "failure" } else { "success" }, "textResultForLlm": "boom"}}),
        ),
        "cursor" => {
            let event = if failed {
                "postToolUseFailure"
            } else {
                "postToolUse"
            };
            let mut payload = json!({"hook_event_name": event, "conversation_id": "s",
                "workspace_roots": [cwd], "tool_name": tool, "tool_input": input});
            if failed {
                payload["error_message"] = "boom".into();
            }
            (event, payload)
        }
        "opencode" => (
            "tool.execute.after",
            json!({"directory": cwd, "input": {"tool": tool, "sessionID": "s", "args": input},
                "output": {"output": "boom", "metadata": {"exit": i32::from(failed)}}}),
        ),
        "gemini" => (
            "",
            json!({"hook_event_name": "AfterTool", "session_id": "s", "cwd": cwd, "tool_name": tool,
                "tool_input": input, "tool_response": {"llmContent":
                if failed { "Command: x\nError: boom\nExit Code: 1" } else { "Output: fine" }}}),
        ),
        "codex" => (
            "",
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": cwd, "tool_name": tool,
                "tool_input": input, "tool_response": if failed { "Exit code: 1\nboom" } else { "fine" }}),
        ),
        _ => {
            let mut payload = json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": cwd,
                "transcript_path": "t", "tool_name": tool, "tool_input": input, "tool_response": {}});
            if failed {
                payload["hook_event_name"] = "PostToolUseFailure".into();
                payload["error"] = "boom".into();
            }
            ("", payload)
        }
    };
    call(sandbox, agent, event, &payload).exits(0)
}

fn shell_of(agent: &str) -> &'static str {
    match agent {
        "gemini" => "run_shell_command",
        "cursor" => "Shell",
        "copilot" | "opencode" => "bash",
        _ => "Bash",
    }
}

fn reader_of(agent: &str) -> (&'static str, Value) {
    match agent {
        "gemini" | "codex" => ("read_file", json!({"file_path": "a"})),
        "copilot" => ("view", json!({"path": "a"})),
        "opencode" => ("read", json!({"filePath": "a"})),
        _ => ("Read", json!({"file_path": "a"})),
    }
}

/// What the agent reads of a notice, by its protocol's own keys and no others.
#[track_caller]
fn notice(agent: &str, ran: &Ran) -> Option<String> {
    if ran.out.trim().is_empty() || ran.out.trim() == "{}" {
        return None;
    }
    if agent == "opencode" {
        return Some(ran.out.clone());
    }
    let reply: Value = serde_json::from_str(&ran.out).unwrap();
    let known: &[&str] = match agent {
        "claude" | "codex" => &["decision", "reason", "hookSpecificOutput"],
        "gemini" => &["decision", "reason", "systemMessage", "hookSpecificOutput"],
        "cursor" => &["additional_context"],
        _ => &["additionalContext"],
    };
    for key in reply.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "{agent}: {key}");
    }
    Some(reply.to_string())
}

#[test]
fn every_agent_is_told_at_the_fifth_read_the_third_failure_and_the_twenty_first_search() {
    for agent in AGENTS {
        let sandbox = guarded();
        let (reader, input) = reader_of(agent);
        for time in 1..=5 {
            let said = notice(agent, &after(&sandbox, agent, reader, &input, false));
            assert_eq!(said.is_some(), time == 5, "{agent} read {time}: {said:?}");
            if let Some(said) = said {
                assert!(said.contains("5 times"), "{agent}: {said}");
            }
        }
        let sandbox = guarded();
        let command = json!({"command": "make"});
        for time in 1..=3 {
            let ran = after(&sandbox, agent, shell_of(agent), &command, true);
            let said = notice(agent, &ran);
            assert_eq!(
                said.is_some(),
                time == 3,
                "{agent} failure {time}: {said:?}"
            );
            if let Some(said) = said {
                assert!(said.contains("3 times in a row"), "{agent}: {said}");
                assert!(said.contains("stuck.failures"), "{agent}: {said}");
            }
        }
        let sandbox = guarded();
        for time in 1..=21 {
            let ran = after(
                &sandbox,
                agent,
                "grep",
                &json!({"pattern": format!("{time}")}),
                false,
            );
            let said = notice(agent, &ran);
            assert_eq!(
                said.is_some(),
                time == 21,
                "{agent} search {time}: {said:?}"
            );
        }
        let log = sandbox.read(".ccg/timeout_log.jsonl");
        assert!(log.contains("excessive_searches"), "{agent}: {log}");
    }
}

#[test]
fn a_failure_between_successes_is_no_circle() {
    let sandbox = guarded();
    for agent in AGENTS {
        for time in 0..8 {
            let failed = time % 2 == 0;
            let input = json!({"command": "make"});
            let ran = after(&sandbox, agent, shell_of(agent), &input, failed);
            assert_eq!(notice(agent, &ran), None, "{agent} {time}");
        }
    }
}

#[test]
fn ten_minutes_without_progress_are_told_at_the_next_call() {
    for agent in AGENTS {
        let sandbox = guarded();
        let (reader, input) = reader_of(agent);
        after(&sandbox, agent, reader, &input, false);
        age_sessions(&sandbox);
        let ran = after(
            &sandbox,
            agent,
            reader,
            &json!({"path": "b", "file_path": "b", "filePath": "b"}),
            false,
        );
        let said = notice(agent, &ran).unwrap_or_default();
        assert!(said.contains("stuck.no-progress"), "{agent}: {said}");
    }
}

/// Makes what the sessions have seen eleven minutes older.
fn age_sessions(sandbox: &Sandbox) {
    let repos = sandbox.path("state/holdpoint/repos");
    for repo in std::fs::read_dir(repos).unwrap().flatten() {
        for file in std::fs::read_dir(repo.path().join("sessions"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = file.path();
            if path.extension().is_none_or(|name| name != "jsonl") {
                continue;
            }
            let mut text = String::new();
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let mut event: Value = serde_json::from_str(line).unwrap();
                let at: jiff::Timestamp = event["at"].as_str().unwrap().parse().unwrap();
                event["at"] = (at - jiff::SignedDuration::from_mins(11))
                    .to_string()
                    .into();
                text.push_str(&event.to_string());
                text.push('\n');
            }
            std::fs::write(&path, text).unwrap();
        }
    }
}
