//! What an agent's hook answers when the call, or the machine, is not as it should be.

use super::calls::{AGENTS, before, call, feed, goes_on, guarded, shell, words};
use crate::support::{Ran, Sandbox};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The payload of a call of the agent's shell tool.
fn payload(agent: &str, cwd: &Path, command: &str) -> Value {
    let input = json!({ "command": command });
    match agent {
        "copilot" => json!({"sessionId": "s", "cwd": cwd, "toolName": "bash", "toolArgs": input}),
        "cursor" => json!({"hook_event_name": "preToolUse", "workspace_roots": [cwd],
            "tool_name": "Shell", "tool_input": input}),
        "opencode" => {
            json!({"directory": cwd, "input": {"tool": "bash"}, "output": {"args": input}})
        }
        "gemini" => json!({"hook_event_name": "BeforeTool", "cwd": cwd,
            "tool_name": "run_shell_command", "tool_input": input}),
        _ => {
            json!({"hook_event_name": "PreToolUse", "cwd": cwd, "tool_name": "Bash", "tool_input": input})
        }
    }
}

/// The shell tool's call of an agent, in an environment that a test has bent.
fn bent(sandbox: &Sandbox, agent: &str, command: &str, bend: impl Fn(&mut Command)) -> Ran {
    let payload = payload(agent, &sandbox.work(), command);
    let mut hook = sandbox.command(env!("CARGO_BIN_EXE_holdpoint-hook"));
    hook.args(["agent", agent]);
    bend(&mut hook);
    feed(hook, payload.to_string().as_bytes())
}

#[test]
fn a_machine_that_is_not_in_order_refuses_what_writes_and_tells_what_only_reads() {
    let sandbox = guarded();
    let no_state: &dyn Fn(&mut Command) = &|hook| {
        hook.env("XDG_STATE_HOME", "/dev/null/nowhere");
    };
    let no_home: &dyn Fn(&mut Command) = &|hook| {
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            hook.env_remove(name);
        }
    };
    for agent in AGENTS {
        for bend in [no_state, no_home] {
            for command in ["rm -rf src", "echo hi > new.txt", "git commit -am x"] {
                let ran = bent(&sandbox, agent, command, bend);
                assert!(!goes_on(agent, &ran), "{agent} {command}: {ran:?}");
                assert!(words(&ran).contains("refused"), "{agent}: {ran:?}");
            }
            let ran = bent(&sandbox, agent, "ls && git status", bend);
            assert!(goes_on(agent, &ran), "{agent}: {ran:?}");
            assert!(words(&ran).contains("only reads"), "{agent}: {ran:?}");
        }
    }
}

#[test]
fn a_loss_is_seen_without_any_git_on_path() {
    let sandbox = guarded();
    for agent in AGENTS {
        let ran = bent(&sandbox, agent, "rm -rf src", |hook| {
            hook.env("PATH", "/nowhere");
        });
        assert!(!goes_on(agent, &ran), "{agent}: {ran:?}");
    }
}

#[test]
fn a_directory_that_is_gone_is_a_refusal() {
    let sandbox = guarded();
    let gone = sandbox.path("gone");
    for agent in AGENTS {
        fs::create_dir(&gone).unwrap();
        let mut hook = sandbox.command("sh");
        hook.args([
            "-c",
            "rmdir \"$PWD\" && exec holdpoint-hook agent \"$0\"",
            agent,
        ])
        .current_dir(&gone);
        let payload = payload(agent, &gone, "rm -rf ../work/src");
        let ran = feed(hook, payload.to_string().as_bytes());
        assert!(!goes_on(agent, &ran), "{agent}: {ran:?}");
    }
}

#[test]
fn a_pipe_where_settings_should_be_keeps_nobody_waiting() {
    let sandbox = guarded();
    let status = sandbox
        .command("mkfifo")
        .arg(".ccg/user_preferences.json")
        .status()
        .unwrap();
    assert!(status.success());
    for agent in AGENTS {
        let ran = shell(&sandbox, agent, "rm -rf src");
        assert!(!goes_on(agent, &ran), "{agent}: {ran:?}");
        assert!(words(&ran).contains("pipe"), "{agent}: {ran:?}");
        assert!(goes_on(agent, &shell(&sandbox, agent, "ls")), "{agent}");
    }
}

#[test]
fn a_call_that_cannot_be_judged_in_time_is_refused_and_one_that_reads_is_not() {
    let sandbox = guarded();
    fs::remove_file(sandbox.work().join(".git/index")).unwrap();
    let status = sandbox
        .command("mkfifo")
        .arg(".git/index")
        .status()
        .unwrap();
    assert!(status.success());
    for agent in ["claude", "cursor"] {
        let ran = shell(&sandbox, agent, "rm -rf src");
        assert!(!goes_on(agent, &ran), "{agent}: {ran:?}");
        let read = before(&sandbox, agent, "Read", &json!({"file_path": "README.md"}));
        assert!(goes_on(agent, &read), "{agent}: {read:?}");
    }
}

#[test]
fn a_writing_tool_whose_arguments_cannot_be_read_is_refused() {
    let sandbox = guarded();
    for agent in AGENTS {
        for (tool, input) in [
            ("Bash", json!({})),
            ("Bash", json!({"command": 5})),
            ("bash", json!({"command": ""})),
            ("Write", json!({})),
            ("write", json!({"content": "x"})),
            ("Edit", json!({"file_path": 7})),
            ("apply_patch", json!({})),
            ("delete_file", Value::Null),
            ("move_file", json!({"source": "a"})),
        ] {
            let ran = before(&sandbox, agent, tool, &input);
            assert!(!goes_on(agent, &ran), "{agent} {tool} {input}: {ran:?}");
        }
        for (tool, input) in [
            ("mcp__calendar__create", json!({"title": "x"})),
            ("Frobnicate", json!({"zap": 1})),
            ("Read", json!({})),
            ("Glob", json!({})),
        ] {
            let ran = before(&sandbox, agent, tool, &input);
            assert!(goes_on(agent, &ran), "{agent} {tool} {input}: {ran:?}");
        }
    }
}

#[test]
fn a_huge_call_is_answered_and_in_time() {
    let sandbox = guarded();
    let commands = json!({"command": "echo a;".repeat(2_000_000)});
    let nested =
        json!({"command": format!("{}rm -rf src{}", "(".repeat(50_000), ")".repeat(50_000))});
    for input in [commands, nested] {
        let ran = before(&sandbox, "codex", "Bash", &input);
        assert!(!goes_on("codex", &ran), "{}", ran.err);
        assert!(!ran.err.is_empty());
    }
}

#[test]
fn events_without_meaning_get_an_answer_that_decides_nothing() {
    let sandbox = guarded();
    for (agent, event) in [
        ("claude", "PreCompact"),
        ("codex", "Interrupt"),
        ("gemini", "BeforeModel"),
        ("cursor", "preCompact"),
        ("copilot", "agentStop"),
        ("opencode", "session.idle"),
    ] {
        let payload = json!({"hook_event_name": event, "session_id": "s", "cwd": sandbox.work()});
        let ran = call(
            &sandbox,
            agent,
            if agent == "copilot" { event } else { "" },
            &payload,
        );
        assert_eq!(ran.code, 0, "{agent}: {ran:?}");
        let said: Value = serde_json::from_str(&ran.out).unwrap_or(json!({}));
        assert_eq!(said, json!({}), "{agent}");
    }
}

#[test]
fn a_reader_that_went_away_kills_no_hook() {
    let sandbox = guarded();
    sandbox.write("src/new.rs", "in no commit");
    for agent in AGENTS {
        let payload = payload(agent, &sandbox.work(), "rm -rf src");
        sandbox.write("payload.json", payload.to_string());
        let unread = || {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            writer
        };
        let status = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint-hook"))
            .args(["agent", agent])
            .stdin(fs::File::open(sandbox.path("work/payload.json")).unwrap())
            .stdout(unread())
            .stderr(unread())
            .status()
            .unwrap();
        assert!(status.code().is_some(), "{agent}: {status}");
    }
}
