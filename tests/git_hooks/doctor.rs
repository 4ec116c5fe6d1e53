//! What `doctor` and `status` say of gates that live, and of gates that have stopped.

use crate::support::{Ran, Sandbox};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox
}

fn commit(sandbox: &Sandbox) {
    sandbox.git(["commit", "-q", "--allow-empty", "-m", "work"]);
}

#[track_caller]
fn failing(sandbox: &Sandbox, words: &str) -> Ran {
    let ran = sandbox.holdpoint(["doctor"]).exits(2);
    assert!(
        ran.out
            .lines()
            .any(|line| line.starts_with("FAIL") && line.contains(words)),
        "{words}: {}",
        ran.out
    );
    ran
}

#[test]
fn a_guarded_repository_is_healthy_and_every_hook_answered() {
    let sandbox = guarded();
    commit(&sandbox);
    let ran = sandbox.holdpoint(["doctor"]).exits(0);
    assert!(ran.out.contains("pre-commit"), "{}", ran.out);
    assert!(ran.out.contains("alive"), "{}", ran.out);
    assert!(ran.out.contains("heartbeat"), "{}", ran.out);
    let json = sandbox.holdpoint(["doctor", "--json"]).exits(0);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["alive"], true);
}

#[test]
fn nothing_installed_is_a_failure() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    failing(&sandbox, "none of ours are installed");
}

#[test]
fn a_hook_that_is_gone_displaced_or_not_executable_is_named() {
    let sandbox = guarded();
    let hooks = sandbox.work().join(".git/hooks");
    fs::remove_file(hooks.join("pre-push")).unwrap();
    fs::remove_file(hooks.join("pre-rebase")).unwrap();
    fs::write(hooks.join("pre-rebase"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(
        hooks.join("prepare-commit-msg"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    failing(&sandbox, "pre-push");
    failing(&sandbox, "pre-rebase");
    failing(&sandbox, "prepare-commit-msg");
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.holdpoint(["doctor"]).exits(0);
}

#[test]
fn hooks_switched_off_by_a_setting_are_found() {
    let sandbox = guarded();
    sandbox.git(["config", "core.hooksPath", "/dev/null"]);
    failing(&sandbox, "pre-commit");
}

#[test]
fn a_branch_moved_off_its_commits_past_every_hook_is_found_by_the_reflog() {
    let later = (std::time::SystemTime::now() + std::time::Duration::from_mins(1))
        .duration_since(std::time::SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    for (with, command, found) in [
        ("off", "git reset -q --soft HEAD~1", true),
        ("off", "git branch -f side main~1", true),
        ("off", "git update-ref -m tidy refs/heads/side main~1", true),
        ("off", "git branch -f behind main", false),
        ("on", "git branch -f side main~1", false),
        ("off", "git checkout -q side && git checkout -q main", false),
    ] {
        let sandbox = guarded();
        sandbox.git(["commit", "-q", "--allow-empty", "-m", "second"]);
        sandbox.git(["branch", "side"]);
        sandbox.git(["branch", "behind", "main~1"]);
        let mut shell = sandbox.command("sh");
        shell.args(["-ec", command]);
        if with == "off" {
            shell.env("GIT_CONFIG_COUNT", "1");
            shell.env("GIT_CONFIG_KEY_0", "core.hooksPath");
            shell.env("GIT_CONFIG_VALUE_0", "/dev/null");
            shell.env("GIT_COMMITTER_DATE", format!("@{later} +0000"));
        }
        assert!(shell.status().unwrap().success(), "{command}");
        let ran = sandbox.holdpoint(["doctor"]);
        let missed = ran.out.contains("was moved off its commits");
        assert_eq!(missed, found, "{with} {command}: {}", ran.out);
        assert_eq!(ran.code != 0, found, "{with} {command}: {}", ran.out);
    }
}

#[test]
fn a_commit_that_passed_no_hook_is_found_by_the_reflog() {
    let sandbox = guarded();
    commit(&sandbox);
    sandbox.holdpoint(["doctor"]).exits(0);
    // As somebody would who knows how to switch hooks off, a while later.
    let output = sandbox
        .command("git")
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "past us",
        ])
        .env("GIT_COMMITTER_DATE", "2038-01-01T00:00:00Z")
        .output()
        .unwrap();
    assert!(output.status.success());
    failing(&sandbox, "no hook of ours was called");
}

#[test]
fn the_canary_opens_nothing() {
    let sandbox = guarded();
    let before = sandbox.git(["rev-parse", "HEAD"]);
    let output = sandbox
        .command("git")
        .args(["commit", "-q", "--allow-empty", "-m", "sneaky"])
        .env("HOLDPOINT_CANARY", "1")
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), before);
}

#[test]
fn each_linked_worktree_and_submodule_is_looked_at() {
    let sandbox = guarded();
    let tree = sandbox.path("linked");
    sandbox.git([
        "worktree",
        "add",
        "-q",
        tree.to_str().unwrap(),
        "-b",
        "topic",
    ]);
    let other = Sandbox::with_files(&[("x", "1")]);
    sandbox.git([
        "submodule",
        "--quiet",
        "add",
        other.work().to_str().unwrap(),
        "sub",
    ]);
    let ran = sandbox.holdpoint(["doctor"]).exits(0);
    assert!(ran.out.contains("linked"), "{}", ran.out);
    assert!(ran.out.contains("warn  submodule"), "{}", ran.out);
}

#[test]
fn an_agent_s_gate_that_would_be_skipped_is_found() {
    let sandbox = guarded();
    sandbox.holdpoint(["init", "--agent", "codex"]).exits(0);
    failing(&sandbox, "Codex does not trust this repository");
    let config = sandbox.path("home/.codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let root = fs::canonicalize(sandbox.work()).unwrap();
    fs::write(
        &config,
        format!(
            "[projects.\"{}\"]\ntrust_level = \"trusted\"\n{text}",
            root.display()
        ),
    )
    .unwrap();
    sandbox.holdpoint(["doctor"]).exits(0);
    fs::write(&config, text.replace("sha256:2", "sha256:3")).unwrap();
    failing(&sandbox, "does not trust the hook");
}

#[test]
fn settings_that_switch_hooks_off_are_found() {
    let sandbox = guarded();
    sandbox.holdpoint(["init", "--agent", "claude"]).exits(0);
    sandbox.holdpoint(["doctor"]).exits(0);
    let mut document: Value = serde_json::from_str(&sandbox.read(".claude/settings.json")).unwrap();
    document["disableAllHooks"] = true.into();
    sandbox.write(".claude/settings.json", document.to_string());
    failing(&sandbox, "disableAllHooks");
}

#[test]
fn every_agent_s_own_command_line_is_called_with_a_canary() {
    let sandbox = guarded();
    let agents = ["claude", "gemini", "cursor", "copilot", "opencode"];
    for agent in agents {
        sandbox.holdpoint(["init", "--agent", agent]).exits(0);
    }
    let before = fs::read(sandbox.work().join(".ccg/decision_log.jsonl")).unwrap_or_default();
    let ran = sandbox.holdpoint(["doctor"]).exits(0);
    let refused = ran.out.matches("refused a canary").count();
    assert_eq!(refused, agents.len(), "{}", ran.out);
    let after = fs::read(sandbox.work().join(".ccg/decision_log.jsonl")).unwrap_or_default();
    assert_eq!(before, after, "a canary is no decision");
    let holds = sandbox.holdpoint(["holds", "--json"]).exits(0);
    assert!(!holds.out.contains("\"id\""), "{}", holds.out);
    let points = sandbox.holdpoint(["points", "--json"]).exits(0);
    assert!(!points.out.contains("\"id\""), "{}", points.out);
}

#[test]
fn a_command_line_that_lets_the_canary_pass_is_found() {
    let sandbox = guarded();
    sandbox.holdpoint(["init", "--agent", "claude"]).exits(0);
    let settings = sandbox.read(".claude/settings.json");
    sandbox.write(
        ".claude/settings.json",
        settings.replacen(
            "holdpoint-hook agent claude ||",
            "holdpoint-hook agent claude >/dev/null ||",
            1,
        ),
    );
    failing(&sandbox, "let a canary pass");
}

#[test]
fn a_gate_that_can_only_refuse_is_found() {
    let sandbox = guarded();
    sandbox.holdpoint(["init", "--agent", "cursor"]).exits(0);
    sandbox.write(".ccg/contract.md", "# C\n\n## Forbidden Patterns\n- /(/\n");
    failing(&sandbox, "refuses everything");
}

#[test]
fn the_canary_lets_no_call_of_an_agent_pass() {
    let sandbox = guarded();
    let payload = serde_json::json!({"hook_event_name": "PreToolUse", "cwd": sandbox.work(),
        "tool_name": "Bash", "tool_input": {"command": "echo hi > new.txt"}});
    let file = sandbox.path("payload.json");
    fs::write(&file, payload.to_string()).unwrap();
    let output = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint-hook"))
        .args(["agent", "claude"])
        .env("HOLDPOINT_CANARY", "1")
        .stdin(fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    let ran = Ran::from(output);
    assert!(ran.out.contains("\"deny\""), "{}", ran.out);
}

#[test]
fn a_tripwire_that_cannot_be_run_is_found() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    sandbox.holdpoint(["init", "--tripwire"]).exits(0);
    let ran = sandbox.holdpoint(["doctor"]).exits(0);
    assert!(ran.out.contains("tripwire: it answered"), "{}", ran.out);
    fs::remove_file(sandbox.path("state/holdpoint/program/holdpoint-fsmonitor")).unwrap();
    failing(&sandbox, "cannot be run");
}

#[test]
fn a_tripwire_that_somebody_took_away_is_found() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    sandbox.holdpoint(["init", "--tripwire"]).exits(0);
    sandbox.holdpoint(["doctor"]).exits(0);
    sandbox.git(["config", "--unset", "include.path"]);
    failing(&sandbox, "core.fsmonitor is not set");
    sandbox.git(["config", "core.fsmonitor", "true"]);
    failing(&sandbox, "core.fsmonitor is true");
}

#[test]
fn a_contract_that_cannot_be_read_is_found() {
    let sandbox = guarded();
    sandbox.write(".ccg/contract.md", "# C\n\n## Forbidden Patterns\n- /(/\n");
    failing(&sandbox, "policy");
}

#[test]
fn status_shows_everything_on_one_screen() {
    let sandbox = guarded();
    let ran = sandbox.holdpoint(["status"]).exits(0);
    for word in [
        "on main",
        "contract",
        "safety point",
        "holds",
        "git hooks",
        "tripwire",
        "agents",
    ] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    sandbox.holdpoint(["save", "-m", "mine"]).exits(0);
    sandbox.holdpoint(["init", "--agent", "claude"]).exits(0);
    let ran = sandbox.holdpoint(["status", "--json"]).exits(0);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(value["safety_points"], 1);
    assert_eq!(value["git_hooks"]["installed"], "files");
    assert_eq!(value["agents"][0], "claude");
}

#[test]
fn an_agent_may_not_take_the_hooks_out() {
    let sandbox = guarded();
    let output = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .arg("uninstall")
        .env("HOLDPOINT_AGENT", "tester")
        .output()
        .unwrap();
    Ran::from(output).exits(1);
    sandbox.holdpoint(["doctor"]).exits(0);
}
