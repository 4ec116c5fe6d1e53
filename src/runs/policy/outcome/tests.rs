//! Tables of endings and the corpus under `fixtures/outcomes`.

use super::*;

fn kind(exit: i32, stdout: &str, stderr: &str) -> Option<Kind> {
    classify(&Ending {
        exit: Exit::Code(exit),
        stdout: stdout.as_bytes(),
        stderr: stderr.as_bytes(),
    })
    .map(|outcome| outcome.kind)
}

#[test]
fn fields_win_over_words() {
    let json =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"permission denied"}}"#;
    let outcome = classify(&Ending {
        exit: Exit::Code(1),
        stdout: json.as_bytes(),
        stderr: b"SyntaxError: timeout",
    })
    .expect("it failed");
    assert_eq!(
        (outcome.kind, outcome.basis),
        (Kind::Busy, Basis::Structured)
    );
}

#[test]
fn quota_is_told_from_a_rate_limit() {
    let quota = r#"{"error":{"code":429,"type":"insufficient_quota","message":"You exceeded your current quota"}}"#;
    let limit = r#"{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED"}}"#;
    assert_eq!(kind(1, quota, ""), Some(Kind::Quota));
    assert_eq!(kind(1, limit, ""), Some(Kind::RateLimit));
}

#[test]
fn the_last_error_object_counts() {
    let stream = "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}\n{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\"}}\n";
    assert_eq!(kind(1, stream, ""), Some(Kind::Authentication));
}

#[test]
fn ordinary_events_are_not_errors() {
    let stream = "{\"type\":\"assistant\",\"message\":{\"content\":\"the 404 error and the timeout\",\"status\":\"completed\"}}";
    assert_eq!(kind(0, stream, ""), None);
}

#[test]
fn a_failed_turn_with_status_zero_is_a_failure() {
    let stream = r#"{"type":"result","is_error":true,"result":"API Error: 529 overloaded"}"#;
    assert_eq!(kind(0, stream, ""), Some(Kind::Busy));
    let said = "{\"type\":\"error\",\"message\":\"x\"}\n{\"type\":\"turn.completed\"}";
    assert_eq!(kind(0, said, ""), None);
}

#[test]
fn colour_does_not_hide_words() {
    assert_eq!(
        kind(1, "", "\u{1b}[1;31merror\u{1b}[0m[E0308]: mismatched types"),
        Some(Kind::Type)
    );
}

#[test]
fn a_silent_end_is_read_from_its_status() {
    for (code, expected) in [
        (126, Kind::Permission),
        (127, Kind::Dependency),
        (130, Kind::Cancelled),
        (143, Kind::Cancelled),
        (139, Kind::Logic),
        (1, Kind::Unknown),
    ] {
        assert_eq!(kind(code, "", ""), Some(expected), "{code}");
    }
}

#[test]
fn huge_and_broken_output_is_survived() {
    let braces = "{".repeat(100_000);
    assert_eq!(kind(1, &braces, ""), Some(Kind::Unknown));
    let bytes = vec![0xff; 200_000];
    let ending = Ending {
        exit: Exit::Signal(9),
        stdout: &bytes,
        stderr: &bytes,
    };
    assert_eq!(classify(&ending).map(|o| o.kind), Some(Kind::Unknown));
}
