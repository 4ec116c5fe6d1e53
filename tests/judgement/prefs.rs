//! Preferences by their command: layers, errors, and what needs a person.

use super::at_terminal;
use crate::support::Sandbox;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

fn settled() -> Sandbox {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    sandbox.holdpoint(["contract", "init"]).exits(0);
    sandbox
}

fn get(sandbox: &Sandbox, key: &str) -> String {
    sandbox
        .holdpoint(["prefs", "get", key])
        .exits(0)
        .out
        .trim()
        .to_owned()
}

#[test]
fn layers_go_defaults_user_repository() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    assert_eq!(get(&sandbox, "timeouts.coder_max"), "600");
    fs::create_dir_all(sandbox.path("config/holdpoint")).unwrap();
    fs::write(
        sandbox.path("config/holdpoint/preferences.json"),
        r#"{"timeouts": {"coder_max": 500, "codex_max": 200}}"#,
    )
    .unwrap();
    sandbox.write(
        ".ccg/user_preferences.json",
        r#"{"timeouts": {"coder_max": 700}, "// note": 1}"#,
    );
    let ran = sandbox.holdpoint(["prefs", "show", "--origin"]).exits(0);
    assert!(
        ran.out.contains("timeouts.coder_max = 700  (repository)"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("timeouts.codex_max = 200  (user)"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("timeouts.gemini_max = 480  (default)"),
        "{}",
        ran.out
    );
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn a_looser_file_counts_only_once_a_person_confirms_it() {
    let sandbox = settled();
    sandbox.write(
        ".ccg/user_preferences.json",
        r#"{"gate": {"mode": "observe"}, "recoverable": "report", "timeouts": {"coder_max": 9000, "codex_max": 5},
            "decision_authority": {"git.commit": "level_0", "file.create": "level_2"}, "safety": {"store": "/tmp/x"}}"#,
    );
    for (key, value) in [
        ("gate.mode", "enforce"),
        ("recoverable", "hold"),
        ("timeouts.coder_max", "600"),
        ("timeouts.codex_max", "5"),
        ("decision_authority.git.commit", "level_2"),
        ("decision_authority.file.create", "level_2"),
        ("safety.store", "null"),
    ] {
        assert_eq!(get(&sandbox, key), value, "{key}");
    }
    let mut terminal = at_terminal(&sandbox, &["prefs", "confirm"]);
    terminal.types_code();
    terminal.ends_with(0);
    assert_eq!(get(&sandbox, "gate.mode"), "observe");
    assert_eq!(get(&sandbox, "decision_authority.git.commit"), "level_0");
    fs::remove_file(sandbox.work().join(".ccg/user_preferences.json")).unwrap();
    assert_eq!(get(&sandbox, "gate.mode"), "observe");
}

#[test]
fn setting_something_looser_needs_a_person_and_stricter_does_not() {
    let sandbox = settled();
    sandbox
        .holdpoint(["prefs", "set", "global_strictness", "strict"])
        .exits(0);
    assert_eq!(get(&sandbox, "global_strictness"), "strict");
    sandbox
        .holdpoint(["prefs", "set", "global_strictness", "relaxed"])
        .exits(1);
    assert_eq!(get(&sandbox, "global_strictness"), "strict");
    let mut terminal = at_terminal(&sandbox, &["prefs", "set", "global_strictness", "relaxed"]);
    terminal.sees("Set global_strictness");
    terminal.types("y");
    terminal.ends_with(0);
    assert_eq!(get(&sandbox, "global_strictness"), "relaxed");
    let ran = sandbox.holdpoint(["log", "--json"]).exits(0);
    assert!(ran.out.contains("not_a_person"), "{}", ran.out);
}

#[test]
fn what_cannot_be_set_is_refused_with_what_can() {
    let sandbox = settled();
    for (key, value, hint) in [
        ("timeouts.coder_mx", "5", "timeouts.coder_max"),
        ("timeouts.coder_max", "ten", "whole number"),
        ("decision_authority.git.push", "level_1", "Level 3"),
    ] {
        let ran = sandbox.holdpoint(["prefs", "set", key, value]).exits(2);
        assert!(ran.err.contains(hint), "{key}: {}", ran.err);
    }
}

#[test]
fn a_bad_file_is_an_error_with_pointer_and_accepted_values() {
    let sandbox = settled();
    sandbox.write(
        ".ccg/user_preferences.json",
        r#"{"global_strictness": "harsh"}"#,
    );
    let ran = sandbox.holdpoint(["prefs", "show"]).exits(2);
    for text in [
        ".ccg/user_preferences.json",
        "/global_strictness",
        "\"strict\"",
    ] {
        assert!(ran.err.contains(text), "{}", ran.err);
    }
    sandbox.write(
        ".ccg/user_preferences.json",
        r#"{"global_strictnes": "strict"}"#,
    );
    let ran = sandbox.holdpoint(["prefs", "show"]).exits(0);
    assert!(
        ran.err.contains("did you mean global_strictness?"),
        "{}",
        ran.err
    );
}

#[test]
fn the_schema_is_printed() {
    let ran = Sandbox::new().holdpoint(["prefs", "schema"]).exits(0);
    let schema: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    assert_eq!(
        schema["properties"]["timeouts"]["properties"]["coder_max"]["default"],
        600
    );
}

#[test]
fn a_session_is_relaxed_by_a_person_and_by_nobody_else() {
    let sandbox = settled();
    sandbox
        .holdpoint(["session", "relax", "--for", "1h"])
        .exits(1);
    sandbox
        .holdpoint(["session", "relax", "--for", "99h"])
        .exits(2);
    let mut terminal = at_terminal(&sandbox, &["session", "relax", "--for", "30m"]);
    terminal.sees("Agree?");
    terminal.types("y");
    terminal.ends_with(0);
    let ran = sandbox.holdpoint(["session", "show"]).exits(0);
    assert!(ran.out.contains("Relaxed until"), "{}", ran.out);
    sandbox.holdpoint(["session", "strict"]).exits(0);
    let ran = sandbox.holdpoint(["session", "show"]).exits(0);
    assert!(ran.out.contains("Not relaxed"), "{}", ran.out);
}

/// What the gate answers an agent that would write `content` to `path` with its own tool.
fn written(sandbox: &Sandbox, path: &str, content: &str) -> String {
    let call = serde_json::json!({
        "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Write",
        "cwd": sandbox.work(),
        "tool_input": { "file_path": sandbox.work().join(path), "content": content },
    });
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint-hook"))
        .args(["agent", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(call.to_string().as_bytes()).unwrap();
    drop(stdin);
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn an_instruction_is_a_persons_and_passes_the_contract_with_a_word() {
    let sandbox = settled();
    sandbox.write(".ccg/contract.md", "## In Scope\n- src/\n");
    sandbox.holdpoint(["contract", "check", "db/a.sql"]);
    let held = written(&sandbox, "db/a.sql", "select 1;\n");
    assert!(held.contains("contract.out-of-scope"), "{held}");
    sandbox
        .holdpoint(["session", "instruct", "../elsewhere"])
        .exits(2);
    sandbox.holdpoint(["session", "instruct", "db/"]).exits(1);
    let mut terminal = at_terminal(&sandbox, &["session", "instruct", "db/", "--for", "30m"]);
    terminal.types_code();
    terminal.ends_with(0);
    let told = written(&sandbox, "db/a.sql", "select 1;\n");
    assert!(
        !told.contains("deny") && told.contains("a person asked for it"),
        "{told}"
    );
    assert!(written(&sandbox, "docs/a.md", "x\n").contains("contract.out-of-scope"));
    let shown = sandbox.holdpoint(["session", "show"]).exits(0);
    assert!(shown.out.contains("db/ may change until"), "{}", shown.out);
    let log = sandbox.holdpoint(["log", "--json", "-n", "0"]).exits(0);
    assert!(log.out.contains("explicit_instruction"), "{}", log.out);
    assert!(
        log.out.contains("\"winner\":\"instruction\""),
        "{}",
        log.out
    );
    sandbox.holdpoint(["session", "strict"]).exits(0);
    assert!(written(&sandbox, "db/a.sql", "select 2;\n").contains("contract.out-of-scope"));
}

#[test]
fn a_contract_is_compared_with_the_confirmed_one_and_not_with_the_file() {
    let sandbox = settled();
    let narrow = "## In Scope\n- src/\n";
    let wide = "## In Scope\n- src/\n- db/\n";
    sandbox.write(".ccg/contract.md", narrow);
    let mut terminal = at_terminal(&sandbox, &["contract", "confirm"]);
    terminal.sees("[y/N]");
    terminal.types("y");
    terminal.ends_with(0);
    // Somebody widened the file behind the gate's back; writing the same again is no smaller step.
    sandbox.write(".ccg/contract.md", wide);
    let held = written(&sandbox, ".ccg/contract.md", &format!("{wide}- docs/\n"));
    assert!(
        held.contains("contract.scope") && held.contains("db/"),
        "{held}"
    );
    let told = written(&sandbox, ".ccg/contract.md", narrow);
    assert!(!told.contains("deny"), "{told}");
    let told = written(&sandbox, ".ccg/contract.md", "## In Scope\n- src/a.rs\n");
    assert!(!told.contains("deny"), "{told}");
    let held = written(&sandbox, ".ccg/contract.md", "");
    assert!(
        held.contains("deny") && held.contains("contract.scope"),
        "{held}"
    );
}

#[test]
fn explain_knows_every_rule() {
    let sandbox = Sandbox::new();
    let ran = sandbox.holdpoint(["explain", "--json"]).exits(0);
    let rules: Vec<serde_json::Value> = serde_json::from_str(&ran.out).unwrap();
    assert!(rules.len() > 55);
    for rule in &rules {
        let id = rule["rule"].as_str().unwrap();
        let ran = sandbox.holdpoint(["explain", id]).exits(0);
        for part in ["when", "why", "instead", "source"] {
            assert!(ran.out.contains(part), "{id}");
        }
    }
    sandbox.holdpoint(["explain", "git"]).exits(0);
    sandbox.holdpoint(["explain", "git.nonsense"]).exits(2);
}

#[test]
fn a_commit_brings_no_preferences_state_or_home_of_its_own() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    // A real copy of the program, as outside tests.
    let mut init = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    init.arg("init").env_remove("HOLDPOINT_TEST_LINK_PROGRAM");
    assert!(init.output().unwrap().status.success());
    let observing = r#"{"gate": {"mode": "observe"}}"#;
    for place in ["evil/holdpoint", "evil/.config/holdpoint"] {
        fs::create_dir_all(sandbox.path(place)).unwrap();
        fs::write(sandbox.path(place).join("preferences.json"), observing).unwrap();
    }
    sandbox.write("a", "b\n");
    sandbox.git(["add", "a"]);
    let commit = |variables: &[&str]| {
        let mut command = sandbox.command("git");
        command
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(["commit", "-qm", "x"])
            .env("CLAUDECODE", "1");
        for variable in variables {
            command.env(variable, sandbox.path("evil"));
            if *variable == "HOME" {
                command.env_remove("XDG_CONFIG_HOME");
                command.env_remove("XDG_STATE_HOME");
            }
        }
        command.output().unwrap().status.success()
    };
    for variables in [
        &[][..],
        &["XDG_CONFIG_HOME"],
        &["XDG_STATE_HOME"],
        &["XDG_CONFIG_HOME", "XDG_STATE_HOME"],
        &["HOME"],
    ] {
        assert!(!commit(variables), "{variables:?}");
    }
    assert!(!sandbox.path("evil/holdpoint/repos").exists());
    let held = sandbox.holdpoint(["holds", "--json"]).exits(0);
    assert!(held.out.contains("git.commit"), "{}", held.out);
}
