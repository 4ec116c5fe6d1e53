//! What the caller of a wrapped command sees: its output, its status, the start gate's refusals.

use super::{report, run, run_sh, wrapper};
use crate::support::Sandbox;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

#[test]
fn output_passes_untouched_on_its_own_stream() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = wrapper(&sandbox)
        .args([
            "-q",
            "--",
            "sh",
            "-c",
            r"printf 'a\000\377\r\nb'; printf 'e\000' >&2",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    let mut err = Vec::new();
    std::io::Read::read_to_end(&mut child.stderr.take().unwrap(), &mut err).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(out, b"a\0\xff\r\nb");
    assert!(err.starts_with(b"e\0"), "{}", String::from_utf8_lossy(&err));
}

#[test]
fn standard_input_reaches_the_command() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    fs::write(sandbox.path("input"), "typed\n").unwrap();
    let output = wrapper(&sandbox)
        .args(["-q", "--", "cat"])
        .stdin(fs::File::open(sandbox.path("input")).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"typed\n");
}

#[test]
fn statuses_are_those_of_the_specification() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    run_sh(&sandbox, &[], "true").exits(0);
    run_sh(&sandbox, &[], "exit 7").exits(3);
    run_sh(&sandbox, &["--pass-status"], "exit 7").exits(7);
    run_sh(&sandbox, &["--pass-status"], "kill -9 $$").exits(137);
    run(&sandbox, [] as [&str; 0]).exits(2);
    run(&sandbox, ["--max", "soon", "--", "true"]).exits(2);
}

#[test]
fn the_command_knows_its_run_and_agent() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run_sh(
        &sandbox,
        &["--agent", "codex", "--json"],
        "echo $HOLDPOINT_AGENT $HOLDPOINT_RUN",
    )
    .exits(0);
    let report = report(&ran);
    let first = ran.out.lines().next().unwrap();
    assert_eq!(first, format!("codex {}", report["run"].as_str().unwrap()));
}

#[test]
fn the_start_gate_names_what_is_wrong_and_starts_nothing() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    sandbox.write("plain", "#!/bin/sh\n");
    sandbox.write("bad", "#!/no/such/interpreter\n");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(sandbox.work().join("bad"), mode).unwrap();
    for (args, code) in [
        (&["--", "no-such-program"][..], "E001"),
        (&["--", "./plain"], "E001"),
        (&["--", "echo", "{task}"], "E002"),
        (&["--", "echo", "{sesion}"], "E002"),
        (&["--", "./bad"], "E003"),
    ] {
        let ran = run(&sandbox, args);
        assert!(ran.err.contains(code), "{args:?}: {}", ran.err);
        assert_ne!(ran.code, 0, "{args:?}");
    }
}

#[test]
fn templates_are_filled() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let ran = run(
        &sandbox,
        [
            "--task",
            "do it",
            "--session",
            "s-1234",
            "--",
            "echo",
            "{task}|{session}|{attempt}",
        ],
    )
    .exits(0);
    assert_eq!(ran.out, "do it|s-1234|1\n");
}

#[test]
fn a_reader_that_leaves_ends_the_command() {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    let mut child = wrapper(&sandbox)
        .args(["-q", "--", "yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = [0; 2];
    let mut out = child.stdout.take().unwrap();
    std::io::Read::read_exact(&mut out, &mut first).unwrap();
    drop(out);
    assert_eq!(&first, b"y\n");
    assert!(!child.wait().unwrap().success());
}

#[test]
fn outside_a_repository_nothing_is_started() {
    let sandbox = Sandbox::plain();
    let ran = run_sh(&sandbox, &[], "touch started").exits(2);
    assert!(!sandbox.work().join("started").exists(), "{}", ran.err);
}
