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

/// One sample of the corpus: what a real program printed, and what went wrong.
#[derive(serde::Deserialize)]
struct Sample {
    id: String,
    exit: i32,
    stdout: String,
    stderr: String,
    kind: Kind,
    #[serde(skip)]
    file: String,
}

/// The corpus, in two halves: the words were written against one, and are measured on the other.
fn corpus() -> (Vec<Sample>, Vec<Sample>) {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outcomes");
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it is text");
        for line in text.lines() {
            let mut sample: Sample = serde_json::from_str(line).expect("a sample");
            sample.file = path.display().to_string();
            samples.push(sample);
        }
    }
    samples.into_iter().partition(|sample| {
        let hash = sample.id.bytes().fold(0_u32, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(u32::from(byte))
        });
        (hash >> 3) % 2 == 0
    })
}

/// A negative status is a signal, as Python's `subprocess` tells it.
fn exit(sample: &Sample) -> Exit {
    if sample.exit < 0 {
        Exit::Signal(-sample.exit)
    } else {
        Exit::Code(sample.exit)
    }
}

fn classed(sample: &Sample) -> Option<Outcome> {
    classify(&Ending {
        exit: exit(sample),
        stdout: sample.stdout.as_bytes(),
        stderr: sample.stderr.as_bytes(),
    })
}

fn said(sample: &Sample) -> Kind {
    classed(sample).map_or(Kind::Unknown, |outcome| outcome.kind)
}

/// How many of a half are classed rightly, by kind and by family.
fn right(samples: &[Sample]) -> (usize, usize) {
    let kinds = samples.iter().filter(|s| said(s) == s.kind).count();
    let families = samples
        .iter()
        .filter(|s| said(s).family() == s.kind.family())
        .count();
    (kinds, families)
}

#[test]
fn the_held_out_half_of_the_corpus_is_classed_rightly() {
    let (known, held_out) = corpus();
    assert!(known.len() + held_out.len() >= 300);
    let (kinds, families) = right(&held_out);
    let wrong: Vec<String> = held_out
        .iter()
        .filter(|sample| said(sample) != sample.kind)
        .map(|sample| format!("{}: {} not {}", sample.id, said(sample), sample.kind))
        .collect();
    assert!(
        kinds * 100 >= held_out.len() * 88 && families * 100 >= held_out.len() * 92,
        "{kinds} kinds and {families} families of {}: {wrong:#?}",
        held_out.len()
    );
}

#[test]
fn what_is_never_to_be_retried_is_not_taken_for_transient() {
    let (known, held_out) = corpus();
    for sample in known.iter().chain(&held_out) {
        if matches!(sample.kind, Kind::Authentication | Kind::Permission) {
            assert_ne!(
                said(sample).family(),
                Family::Transient,
                "{}: {}",
                sample.id,
                said(sample)
            );
        }
    }
}

#[test]
#[ignore = "prints the table of precision and recall, and what is wrong in the half that may be looked at"]
#[expect(clippy::print_stdout, reason = "the table is what it is run for")]
fn precision_and_recall() {
    let (known, held_out) = corpus();
    for sample in &known {
        let outcome = classed(sample);
        let kind = outcome.as_ref().map_or(Kind::Unknown, |o| o.kind);
        if kind != sample.kind {
            println!("{}: {kind} not {} by {outcome:?}", sample.id, sample.kind);
        }
    }
    for (name, half) in [("known", &known), ("held out", &held_out)] {
        let (kinds, families) = right(half);
        println!(
            "{name}: {} samples, {kinds} kinds, {families} families",
            half.len()
        );
        for kind in Kind::ALL {
            let is = half.iter().filter(|s| s.kind == kind).count();
            let says = half.iter().filter(|s| said(s) == kind).count();
            let both = half
                .iter()
                .filter(|s| s.kind == kind && said(s) == kind)
                .count();
            if is + says > 0 {
                println!("  {kind:<16} precision {both}/{says}  recall {both}/{is}");
            }
        }
    }
}

#[test]
#[ignore = "prints how each file of the corpus is classed"]
#[expect(clippy::print_stdout, reason = "the table is what it is run for")]
fn by_file() {
    let (known, held_out) = corpus();
    let mut files = std::collections::BTreeMap::<String, Vec<Sample>>::new();
    for sample in known.into_iter().chain(held_out) {
        files.entry(sample.file.clone()).or_default().push(sample);
    }
    for (file, samples) in files {
        let (kinds, families) = right(&samples);
        println!(
            "{file}: {} samples, {kinds} kinds, {families} families",
            samples.len()
        );
        for sample in samples.iter().filter(|sample| said(sample) != sample.kind) {
            println!(
                "  {}: {:?}, labelled {}",
                sample.id,
                classed(sample),
                sample.kind
            );
        }
    }
}
