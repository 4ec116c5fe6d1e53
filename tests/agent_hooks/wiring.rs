//! Agents' own settings: our hooks in, twice the same, and out again.

use crate::support::{Ran, Sandbox};
use holdpoint::agents::Agent;
use holdpoint::agents::wiring::Whose;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

fn settings(sandbox: &Sandbox, agent: Agent) -> PathBuf {
    sandbox.work().join(agent.place(Whose::Repository).path)
}

fn init(sandbox: &Sandbox, agent: Agent) -> Ran {
    sandbox
        .holdpoint(["init", "--agent", agent.name()])
        .exits(0)
}

#[test]
fn every_agent_s_settings_get_our_hooks_once_and_lose_them_byte_for_byte() {
    for agent in Agent::ALL {
        let sandbox = Sandbox::with_files(&[("a", "1")]);
        let path = settings(&sandbox, agent);
        init(&sandbox, agent);
        let first = fs::read_to_string(&path).unwrap();
        assert!(first.contains("holdpoint-hook"), "{first}");
        assert!(!first.contains(sandbox.work().to_str().unwrap()), "{first}");
        assert!(!first.contains("target/"), "no absolute path: {first}");
        let ran = init(&sandbox, agent);
        assert!(ran.out.contains("nothing to do"), "{}", ran.out);
        assert_eq!(fs::read_to_string(&path).unwrap(), first);
        sandbox.holdpoint(["uninstall"]).exits(0);
        assert!(!path.exists(), "{agent}");
        let top = path.strip_prefix(sandbox.work()).unwrap();
        let top = sandbox.work().join(top.components().next().unwrap());
        assert!(!top.exists(), "{agent}: the directory was ours too");
    }
}

#[test]
fn settings_that_were_there_keep_their_order_and_come_back_byte_for_byte() {
    let theirs = "{\n    \"zeta\": 1,\n    \"hooks\": {\n        \"PreToolUse\": [\n            { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"mine\" } ] }\n        ]\n    },\n    \"alpha\": [1, 2]\n}\n";
    let sandbox = Sandbox::with_files(&[("a", "1"), (".claude/settings.json", theirs)]);
    init(&sandbox, Agent::Claude);
    let text = sandbox.read(".claude/settings.json");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["hooks"]["PreToolUse"].as_array().unwrap().len(), 2);
    assert_eq!(
        document["hooks"]["PreToolUse"][0]["hooks"][0]["command"],
        "mine"
    );
    assert!(text.starts_with("{\n    \"zeta\""), "{text}");
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(sandbox.read(".claude/settings.json"), theirs);
}

#[test]
fn settings_changed_since_lose_only_our_hooks() {
    let sandbox = Sandbox::with_files(&[("a", "1"), (".claude/settings.json", "{}\n")]);
    init(&sandbox, Agent::Claude);
    let mut document: Value = serde_json::from_str(&sandbox.read(".claude/settings.json")).unwrap();
    document["model"] = "opus".into();
    sandbox.write(".claude/settings.json", document.to_string());
    let ran = sandbox.holdpoint(["uninstall"]).exits(0);
    assert!(ran.out.contains("changed since"), "{}", ran.out);
    let text = sandbox.read(".claude/settings.json");
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap(),
        serde_json::json!({"model": "opus"})
    );
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone_and_named() {
    let sandbox = Sandbox::with_files(&[("a", "1"), (".claude/settings.json", "{ // mine\n}\n")]);
    let ran = sandbox.holdpoint(["init", "--agent", "claude"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains(".claude/settings.json"), "{}", ran.err);
    assert_eq!(sandbox.read(".claude/settings.json"), "{ // mine\n}\n");
}

#[test]
fn the_user_s_own_settings_are_wired_without_any_repository() {
    let sandbox = Sandbox::plain();
    for agent in Agent::ALL {
        sandbox
            .holdpoint(["init", "--user", "--agent", agent.name()])
            .exits(0);
    }
    for path in [
        "home/.claude/settings.json",
        "home/.codex/hooks.json",
        "home/.gemini/settings.json",
        "home/.cursor/hooks.json",
        "home/.copilot/hooks/holdpoint.json",
        "config/opencode/plugins/holdpoint.js",
    ] {
        assert!(sandbox.path(path).exists(), "{path}");
    }
    sandbox.holdpoint(["uninstall", "--user"]).exits(0);
    assert!(!sandbox.path("home/.claude").exists());
    assert!(!sandbox.path("home/.codex/hooks.json").exists());
}

#[test]
fn codex_is_told_to_trust_exactly_these_hooks() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let config = sandbox.path("home/.codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "model = \"m\"\n").unwrap();
    let ran = init(&sandbox, Agent::Codex);
    assert!(ran.out.contains("trust_level"), "{}", ran.out);
    let text = fs::read_to_string(&config).unwrap();
    let hooks = settings(&sandbox, Agent::Codex);
    for event in ["pre_tool_use", "post_tool_use", "session_start"] {
        let table = format!("[hooks.state.\"{}:{event}:0:0\"]", hooks.display());
        assert!(text.contains(&table), "{table}: {text}");
    }
    // What `codex app-server` answers for this very definition (0.169.0).
    assert!(
        text.contains("sha256:224c95746c42d21a3b4f8606be4b387981011822facefcc1ea4b4c83f95fa07a"),
        "{text}"
    );
    init(&sandbox, Agent::Codex);
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"m\"\n");
}

#[test]
fn the_bytes_that_codex_trusts_do_not_change_by_themselves() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    init(&sandbox, Agent::Codex);
    let bytes = fs::read(settings(&sandbox, Agent::Codex)).unwrap();
    let hex = holdpoint::repo::hooks::files::hex_sha256(&bytes);
    // Changing it on purpose asks every user of Codex for new trust.
    assert_eq!(
        hex, "204638a43169d3a10710f911c16ce56adf3398bb16bcff955c35de4ba9aa2cfb",
        "an upgrade that changes this line disarms the guard"
    );
}

#[test]
fn a_missing_program_refuses_where_the_host_would_go_on() {
    for agent in [Agent::Claude, Agent::Codex, Agent::Gemini] {
        let (_, entry) = agent.entries().into_iter().next().unwrap();
        let command = entry["hooks"][0]["command"].as_str().unwrap();
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", command])
            .env_clear()
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        let ran = Ran::from(output);
        assert_eq!(ran.code, 2, "{agent}");
        assert!(ran.err.contains("refused"), "{agent}: {}", ran.err);
    }
}

#[test]
fn settings_kept_elsewhere_stay_a_link_and_keep_their_mode() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let real = sandbox.path("home/dotfiles.json");
    fs::write(&real, "{\"model\": \"x\"}\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    let link = settings(&sandbox, Agent::Claude);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    init(&sandbox, Agent::Claude);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.contains("holdpoint-hook"), "{text}");
    let mode = || fs::metadata(&real).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600, "it may hold keys");
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"model\": \"x\"}\n");
    assert_eq!(mode(), 0o600);
}

#[test]
fn settings_that_cannot_be_changed_are_refused_before_anything_is_installed() {
    for (text, mode) in [
        ("{ \"hooks\": { broken", 0o644),
        ("{\n  // why\n  \"model\": \"x\"\n}\n", 0o644),
        ("[]\n", 0o644),
        ("{\"hooks\": []}\n", 0o644),
        ("{\"hooks\": {\"PreToolUse\": \"x\"}}\n", 0o644),
        ("{}\n", 0o444),
    ] {
        let sandbox = Sandbox::with_files(&[("a", "1"), (".claude/settings.json", text)]);
        let path = settings(&sandbox, Agent::Claude);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let ran = sandbox.holdpoint(["init", "--agent", "claude"]);
        assert_ne!(ran.code, 0, "{text}");
        assert!(ran.err.contains("settings.json"), "{}", ran.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert!(!sandbox.work().join(".ccg").exists(), "{text}");
        assert!(!sandbox.work().join(".git/hooks/pre-commit").exists());
    }
}
