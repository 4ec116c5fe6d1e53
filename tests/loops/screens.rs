//! What a person sees: the watch of a loop, and the live lines of a side-by-side run.

use super::{create, holdpoint, sandbox, spawn, state, until};
use crate::support::terminal::Terminal;

#[test]
fn a_watch_shows_every_phase_as_it_goes() {
    let sandbox = sandbox();
    let script = "while [ ! -e \"$HOLDPOINT_LOOP_ITERATION.go\" ]; do sleep 0.02; done; \
                  [ \"$HOLDPOINT_LOOP_ITERATION\" != 1 ]";
    let id = create(&sandbox, &["--task", "Sign \u{1b}[2Jin"], script);
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(["loop", "status", &id, "--watch"]);
    let mut screen = Terminal::start(command);
    screen.sees("created, iteration 0 of 10");
    let mut runner = spawn(&sandbox, &["loop", "run", &id]);
    screen.sees("running, iteration 0 of 10, develop");
    screen.sees(&format!("run by process {}", runner.id()));
    screen.sees("overall");
    screen.sees("0 of 1 tasks");
    screen.sees("task-001 Sign [2Jin (in_progress)");
    sandbox.write("1.go", "");
    screen.sees("iteration 1 of 10, debug");
    screen.sees("bug       task-001: exit status 1");
    screen.sees("last error (develop,");
    sandbox.write("2.go", "");
    sandbox.write("3.go", "");
    screen.sees("iteration 3 of 10, validate");
    screen.sees("1 of 1 tasks");
    sandbox.write("4.go", "");
    screen.sees("completed, iteration 4 of 10, complete");
    let shown = screen.ends_with(0);
    assert!(shown.contains("passed, 100% of the tests pass"), "{shown}");
    // Each screen replaces the one before: as many lines up as it had.
    let up = shown.matches("\u{1b}[").count();
    assert!(up >= 4, "{shown:?}");
    assert!(
        !shown.contains("\u{1b}[2J"),
        "a task's text reached the terminal"
    );
    assert!(runner.wait().unwrap().success());
}

#[test]
fn a_watch_goes_on_through_a_pause_and_ends_with_a_stop() {
    let sandbox = sandbox();
    let id = create(&sandbox, &[], "true");
    holdpoint(&sandbox, &["loop", "pause", &id]).exits(0);
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(["loop", "status", &id, "--watch"]);
    let mut screen = Terminal::start(command);
    screen.sees("paused, iteration 0 of 10");
    holdpoint(&sandbox, &["loop", "stop", &id, "--why", "not wanted"]).exits(0);
    screen.sees("failed, iteration 0 of 10; not wanted");
    screen.ends_with(0);
    assert_eq!(state(&sandbox, &id)["status"], "failed");
}

#[test]
fn ctrl_c_at_a_terminal_pauses_the_loop_and_ends_its_command() {
    let sandbox = sandbox();
    let id = create(
        &sandbox,
        &["--task", "one"],
        "[ -e second ] && exit 0; touch second; echo $$ > pid; echo up; sleep 600",
    );
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(["loop", "run", &id]);
    let mut screen = Terminal::start(command);
    screen.sees("up");
    screen.types("\u{3}");
    let shown = screen.ends_with(130);
    assert!(shown.contains("E007"), "{shown}");
    assert!(shown.contains("holdpoint rollback"), "{shown}");
    let pid = sandbox.read("pid").trim().to_owned();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    let paused = state(&sandbox, &id);
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["current_iteration"], 0);
    holdpoint(&sandbox, &["loop", "resume", &id]).exits(0);
    holdpoint(&sandbox, &["loop", "run", &id]).exits(0);
    assert_eq!(state(&sandbox, &id)["current_iteration"], 2);
}

/// A side-by-side run whose agents end when the test says so.
fn gated(sandbox: &crate::support::Sandbox, more: &[&str]) -> std::process::Command {
    let agent = |name: &str| {
        format!(
            "sh -c 'touch {name}.up; while [ ! -e {name}.go ]; do sleep 0.02; done; echo SESSION_ID: {name}-12345678'"
        )
    };
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command
        .args(["collab", "--role", "analyzer", "--task", "t"])
        .args(["--codex-command", &agent("codex")])
        .args(["--gemini-command", &agent("gemini")])
        .args(more);
    command
}

#[test]
fn two_live_lines_show_who_is_still_at_it() {
    let sandbox = sandbox();
    let mut command = gated(&sandbox, &[]);
    command.env("TERM", "xterm");
    let mut screen = Terminal::start(command);
    screen.sees("codex running");
    screen.sees("gemini running");
    sandbox.write("codex.go", "");
    screen.sees("codex success");
    screen.sees("gemini running");
    sandbox.write("gemini.go", "");
    let shown = screen.ends_with(0);
    let end = shown.rsplit_once("## codex").expect("the results").1;
    assert!(end.contains("## gemini"), "{shown}");
    assert!(end.contains("SUCCESS"), "{shown}");
    assert!(!end.contains("running"), "a live line stayed: {end:?}");
}

#[test]
fn a_terminal_that_cannot_draw_gets_a_line_at_a_time() {
    let sandbox = sandbox();
    for term in [None, Some("dumb")] {
        let mut command = gated(&sandbox, &[]);
        command.env("HOLDPOINT_TEST_TELL_MS", "50");
        if let Some(term) = term {
            command.env("TERM", term);
        }
        let mut screen = Terminal::start(command);
        screen.sees("holdpoint: codex running");
        sandbox.write("codex.go", "");
        screen.sees("codex success · gemini running");
        sandbox.write("gemini.go", "");
        let shown = screen.ends_with(0);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        for name in ["codex.go", "gemini.go"] {
            std::fs::remove_file(sandbox.work().join(name)).unwrap();
        }
    }
}

#[test]
fn without_a_terminal_progress_is_told_a_line_at_a_time() {
    let sandbox = sandbox();
    let err = sandbox.path("told");
    let mut child = gated(&sandbox, &["--json"])
        .env("HOLDPOINT_TEST_TELL_MS", "50")
        .stdout(std::process::Stdio::null())
        .stderr(std::fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let told = || std::fs::read_to_string(&err).unwrap();
    until("two lines of progress", || {
        told().matches("codex running").count() >= 2
    });
    sandbox.write("gemini.go", "");
    until("one is done", || told().contains("gemini success"));
    sandbox.write("codex.go", "");
    assert!(child.wait().unwrap().success());
    let told = told();
    let line = told
        .lines()
        .find(|line| line.contains("codex running"))
        .unwrap();
    assert!(line.starts_with("holdpoint: codex running "), "{line}");
    assert!(line.contains(" s of 300 s"), "{line}");
    assert!(!told.contains('\u{1b}'), "{told:?}");
}

/// A side-by-side run whose front end says nothing usable: a person is asked whether that will do.
fn degraded(sandbox: &crate::support::Sandbox) -> Terminal {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command
        .env("TERM", "xterm")
        .args(["collab", "--role", "architect", "--task", "t"])
        .args(["--codex-command", "sh -c 'echo SESSION_ID: c-12345678'"])
        .args(["--gemini-command", "sh -c 'echo words without a session'"]);
    Terminal::start(command)
}

#[test]
fn a_person_at_a_terminal_takes_a_degraded_result_or_does_not() {
    for (answer, code, word) in [("y", 0, "SUCCESS"), ("n", 3, "FAILED"), ("", 3, "FAILED")] {
        let sandbox = sandbox();
        let mut screen = degraded(&sandbox);
        screen.sees("The frontend dimension is missing");
        screen.sees("E006");
        screen.types(answer);
        let shown = screen.ends_with(code);
        assert!(
            shown.contains(&format!("holdpoint: {word}; missing: frontend")),
            "{answer:?}: {shown}"
        );
        assert!(
            shown.contains("impact: nothing was said on the frontend"),
            "{shown}"
        );
    }
}

#[test]
fn an_open_degraded_result_is_taken_later_at_a_terminal() {
    let sandbox = sandbox();
    let open = sandbox.holdpoint([
        "collab",
        "--role",
        "architect",
        "--task",
        "t",
        "--codex-command",
        "sh -c 'echo SESSION_ID: c-12345678'",
        "--gemini-command",
        "sh -c 'echo words without a session'",
    ]);
    let open = open.exits(1);
    let id = super::collab::run_id(&sandbox).unwrap();
    assert!(
        open.err
            .contains(&format!("holdpoint collab --resume {id}")),
        "{}",
        open.err
    );
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
    command.args(["collab", "--resume", &id]);
    let mut screen = Terminal::start(command);
    screen.sees("The frontend dimension is missing");
    screen.types("y");
    let shown = screen.ends_with(0);
    assert!(shown.contains("SUCCESS"), "{shown}");
}
