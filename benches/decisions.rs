//! What validating decisions costs: `cargo bench --bench decisions`.
//!
//! A plan of 50 nodes against `serde_json` parsing the same bytes, and small
//! decisions in JSON Lines on one core, through the library and the program.

#![allow(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

use holdpoint::decisions::{Expected, Known, documents, validate_text};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    plan();
    lines();
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// A plan of 50 nodes, a quarter of each kind, in a chain.
fn fifty_nodes() -> String {
    let configs = [
        r#"{"query":"SELECT month, sum(amount) FROM sales WHERE date >= DATE_SUB(NOW(), INTERVAL 3 MONTH) GROUP BY month","connection":"sales_db"}"#,
        r#"{"code":"import pandas as pd\ndf = pd.DataFrame(input_data)\ntrend = df.groupby('month')['amount'].sum()\nreturn {'trend': trend.to_dict()}"}"#,
        r#"{"prompt":"Describe the trend in two sentences: ${node_1.output.trend}","temperature":0.7,"max_tokens":1000}"#,
        r#"{"url":"https://api.example.com/send","method":"POST","body":{"to":"user@example.com","attachments":["${node_2.output.chart}"]},"timeout":10}"#,
    ];
    let kinds = ["DATABASE", "PYTHON", "LLM", "HTTP"];
    let mut text = String::from(
        r#"{"action_type":"create_workflow_plan","name":"report","description":"fifty steps","nodes":["#,
    );
    for node in 0..50 {
        let comma = if node > 0 { "," } else { "" };
        let _ = write!(
            text,
            r#"{comma}{{"node_id":"node_{node}","type":"{}","name":"step {node}","config":{},"input_mapping":{{"x":"${{node_0.output}}"}}}}"#,
            kinds[node % 4],
            configs[node % 4]
        );
    }
    text.push_str(r#"],"edges":["#);
    for node in 1..50 {
        let comma = if node > 1 { "," } else { "" };
        let _ = write!(
            text,
            r#"{comma}{{"source":"node_{}","target":"node_{node}"}}"#,
            node - 1
        );
    }
    text.push_str("]}");
    text
}

fn plan() {
    let text = fifty_nodes();
    let bytes = text.as_bytes();
    let known = Known::default();
    let report = validate_text(bytes, &known, Expected::default());
    assert!(report.is_valid(), "{:?}", report.faults);
    let parse = best(2000, || {
        black_box(serde_json::from_slice::<serde_json::Value>(black_box(bytes)).expect("JSON"));
    });
    let validate = best(2000, || {
        black_box(validate_text(black_box(bytes), &known, Expected::default()));
    });
    println!(
        "50 nodes, {} bytes: serde_json {parse:?}, validate {validate:?}: {:.2} x",
        bytes.len(),
        validate.as_secs_f64() / parse.as_secs_f64()
    );
}

fn lines() {
    const COUNT: usize = 100_000;
    let mut text = String::new();
    for number in 0..COUNT {
        let _ = writeln!(
            text,
            r#"{{"action_type":"respond","response":"answer {number}","intent":"simple_query","confidence":0.9}}"#
        );
    }
    let known = Known::default();
    let library = best(5, || {
        let valid = documents::split(text.as_bytes())
            .filter(|document| {
                validate_text(
                    &text.as_bytes()[document.span.clone()],
                    &known,
                    Expected::default(),
                )
                .is_valid()
            })
            .count();
        assert_eq!(valid, COUNT);
    });
    println!(
        "{COUNT} small decisions: library {library:?}, {:.0} a second",
        COUNT as f64 / library.as_secs_f64()
    );
    let program = best(3, || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["decide", "validate", "-", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("starts");
        child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(text.as_bytes())
            .expect("written");
        assert!(child.wait().expect("ends").success());
    });
    println!(
        "{COUNT} small decisions: program {program:?}, {:.0} a second",
        COUNT as f64 / program.as_secs_f64()
    );
}
