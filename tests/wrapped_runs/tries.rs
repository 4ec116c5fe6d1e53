//! Retries, fixes, fallbacks and sessions, by the rules and with their entries in the log.

use super::{log, report, run, run_sh};
use crate::support::Sandbox;

/// Fails as a rate-limited agent does until its third attempt.
const LIMITED: &str = r#"echo "try" >> tries; if [ $(wc -l < tries) -lt 3 ]; then echo '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}'; exit 1; fi; echo done"#;

#[test]
fn a_rate_limit_is_waited_for_and_then_it_works() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &["--retries", "3", "--keep-partial", "--json"],
        LIMITED,
    )
    .exits(0);
    let report = report(&ran);
    assert_eq!(report["attempts"].as_array().unwrap().len(), 3);
    assert_eq!(report["attempts"][0]["outcome"]["kind"], "rate_limit");
    assert!(
        ran.err.contains("(1 of 3)") && ran.err.contains("(2 of 3)"),
        "{}",
        ran.err
    );
    let retries: Vec<_> = log(&sandbox)
        .into_iter()
        .filter(|entry| entry["decision"] == "auto_retry")
        .collect();
    assert_eq!(retries.len(), 2);
    assert_eq!(retries[0]["rule"][0], "retry.rate-limit");
    assert_eq!(retries[0]["level"], "level_1");
}

#[test]
fn a_coder_is_not_retried_unless_asked() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(&sandbox, &["--agent", "coder", "--json"], LIMITED).exits(3);
    assert_eq!(report(&ran)["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn authentication_is_never_retried() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &["--retries", "5", "--json"],
        "echo 'Invalid API key' >&2; exit 1",
    )
    .exits(3);
    let report = report(&ran);
    assert_eq!(report["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(report["attempts"][0]["outcome"]["kind"], "authentication");
    assert!(
        log(&sandbox)
            .iter()
            .any(|entry| entry["rule"][0] == "fail.auth")
    );
}

#[test]
fn a_retry_starts_from_the_safety_point() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let script = "cat a >> seen; echo junk >> a; echo x > made; echo 'ETIMEDOUT' >&2; exit 1";
    let script = script.replace("seen", &sandbox.path("seen").display().to_string());
    run_sh(&sandbox, &["--retries", "2"], &script).exits(3);
    assert_eq!(
        std::fs::read_to_string(sandbox.path("seen")).unwrap(),
        "a\na\na\n"
    );
    std::fs::remove_file(sandbox.path("seen")).unwrap();
    sandbox.git(["checkout", "-q", "--", "a"]);
    run_sh(&sandbox, &["--retries", "1", "--keep-partial"], &script).exits(3);
    assert_eq!(
        std::fs::read_to_string(sandbox.path("seen")).unwrap(),
        "a\na\njunk\n"
    );
}

#[test]
fn a_fallback_takes_over_and_is_logged() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run(
        &sandbox,
        [
            "--agent",
            "codex",
            "--retries",
            "0",
            "--json",
            "--task",
            "review it",
            "--fallback",
            "sh -c 'echo second: $0' {task}",
            "--",
            "sh",
            "-c",
            "echo 'usage_limit_reached' >&2; exit 1",
        ],
    )
    .exits(0);
    assert!(ran.out.contains("second: review it"), "{}", ran.out);
    assert!(ran.err.contains("sh takes over"), "{}", ran.err);
    assert!(
        log(&sandbox)
            .iter()
            .any(|entry| entry["rule"][0] == "degrade.planned")
    );
    let report = report(&ran);
    assert_eq!(report["attempts"].as_array().unwrap().len(), 2);
}

#[test]
fn without_a_fallback_it_says_who_could() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &["--agent", "codex", "--retries", "0"],
        "echo insufficient_quota >&2; exit 1",
    )
    .exits(3);
    assert!(ran.err.contains("coder could"), "{}", ran.err);
    assert!(
        log(&sandbox)
            .iter()
            .any(|entry| entry["rule"][0] == "degrade.unplanned")
    );
}

#[test]
fn a_retry_goes_on_with_the_agents_own_session() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let script = r#"echo "session=[$1]" >&2; echo '{"type":"thread.started","thread_id":"0199-abcd-1234"}'; [ "$0" = 2 ] && exit 0; echo '{"type":"error","error":{"code":"ECONNRESET"}}'; exit 1"#;
    let ran = run(
        &sandbox,
        [
            "--agent",
            "codex",
            "--retries",
            "1",
            "--json",
            "--",
            "sh",
            "-c",
            script,
            "{attempt}",
            "{session}",
        ],
    )
    .exits(0);
    assert!(ran.err.contains("session=[]"), "{}", ran.err);
    assert!(ran.err.contains("session=[0199-abcd-1234]"), "{}", ran.err);
    assert_eq!(report(&ran)["sessions"]["codex"], "0199-abcd-1234");
}

#[test]
fn a_confident_test_fix_is_tried_with_its_arithmetic_in_the_log() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &[
            "--retries", "3", "--json", "--test-cmd",
            r#"if [ $(wc -l < n) -ge 2 ]; then echo "2 passed"; else echo "test_a.py:3: in test_a"; echo "E   assert 1 == 2"; echo "FAILED test_a.py::test_a - assert 1 == 2"; echo "1 failed, 1 passed"; exit 1; fi"#,
        ],
        "echo x >> n",
    )
    .exits(0);
    let report = report(&ran);
    let purposes: Vec<&str> = report["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| attempt["purpose"].as_str().unwrap())
        .collect();
    assert_eq!(purposes, ["work", "test", "work", "test"]);
    let fix = log(&sandbox)
        .into_iter()
        .find(|entry| entry["decision"] == "auto_fix")
        .unwrap();
    assert_eq!(fix["rule"][0], "fix.test-high");
    let arithmetic = fix["context"]["arithmetic"].as_str().unwrap();
    assert!(
        arithmetic.contains("+ 0.3 simple assertion"),
        "{arithmetic}"
    );
}

#[test]
fn a_doubtful_fix_is_not_tried_without_a_person() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &[
            "--retries",
            "3",
            "--json",
            "--test-cmd",
            "echo broken; exit 1",
        ],
        "true",
    )
    .exits(3);
    let report = report(&ran);
    assert_eq!(report["state"], "needs_person");
    assert_eq!(report["attempts"].as_array().unwrap().len(), 2);
}

#[test]
fn a_blocking_review_says_what_to_fix() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &[
            "--accept-cmd",
            "true",
            "--review-cmd",
            "echo 'Blocking: out of scope'; exit 1",
        ],
        "true",
    )
    .exits(3);
    assert!(ran.err.contains("fix the code"), "{}", ran.err);
}

#[test]
fn a_chain_of_preferences_takes_over_by_the_agents_name() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    std::fs::create_dir_all(sandbox.path("config/holdpoint")).unwrap();
    std::fs::write(
        sandbox.path("config/holdpoint/preferences.json"),
        r#"{"degradation": {"coder": ["gemini", "main"]}, "collab": {"gemini": ["sh", "-c", "echo gemini does: $0", "{task}"]}}"#,
    )
    .unwrap();
    let ran = run(
        &sandbox,
        [
            "--agent",
            "coder",
            "--task",
            "paint it",
            "--",
            "sh",
            "-c",
            "echo insufficient_quota >&2; exit 1",
        ],
    )
    .exits(0);
    assert!(ran.out.contains("gemini does: paint it"), "{}", ran.out);
}

#[test]
fn what_the_agents_hook_told_it_stands_in_the_report() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let event = r#"{"hook_event_name":"PostToolUse","session_id":"s-1","cwd":".","tool_name":"Read","tool_input":{"file_path":"a"},"tool_response":{}}"#;
    sandbox.write("event.json", event);
    let script = "for i in 1 2 3 4 5 6; do holdpoint-hook agent claude < event.json >/dev/null 2>&1; done; true";
    let ran = run_sh(&sandbox, &["--json", "--accept"], script);
    let notes = report(&ran)["notes"].to_string();
    assert!(
        notes.contains("the agent was told: stuck.rereads"),
        "{notes} {}",
        ran.err
    );
}

#[test]
fn a_long_silence_is_told_and_logged() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    std::fs::create_dir_all(sandbox.path("config/holdpoint")).unwrap();
    std::fs::write(
        sandbox.path("config/holdpoint/preferences.json"),
        r#"{"guardrails": {"no_progress_timeout": 1}}"#,
    )
    .unwrap();
    let ran = run_sh(&sandbox, &[], "sleep 3");
    if ran.err.contains("no_progress_timeout") {
        // The preference has a least value: nothing to wait for here.
        return;
    }
    assert!(ran.err.contains("is it stuck?"), "{}", ran.err);
    assert!(
        log(&sandbox)
            .iter()
            .any(|entry| entry["rule"][0] == "stuck.no-progress")
    );
}

#[test]
fn a_fallback_takes_over_from_an_agent_that_crashes() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run(
        &sandbox,
        [
            "-q",
            "--fallback",
            "sh -c 'echo hi > src'",
            "--",
            "sh",
            "-c",
            "echo half > src; kill -SEGV $$",
        ],
    )
    .exits(0);
    assert!(ran.err.contains("takes over"), "{}", ran.err);
    assert_eq!(sandbox.read("src"), "hi\n");
}
