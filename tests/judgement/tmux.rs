//! Panes of tmux: a person's where somebody looks at them, an agent's where only an agent could be typing.

use super::persons::{Scene, agent_program};
use crate::support::terminal::Terminal;
use std::fs;
use std::process::Command;

fn is_there() -> bool {
    Command::new("tmux").arg("-V").output().is_ok()
}

/// What runs in the pane: the confirmation, and a note of how it ended.
fn pane(scene: &Scene, id: &str) -> String {
    let socket = scene.sandbox.path("tmux");
    format!(
        "{} confirm {id} 2>{said}.err; echo $? >{said}; tmux -S {socket} wait-for -S done",
        env!("CARGO_BIN_EXE_holdpoint"),
        said = scene.sandbox.path("said").display(),
        socket = socket.display(),
    )
}

#[test]
fn a_pane_that_somebody_looks_at_is_a_persons_terminal() {
    if !is_there() {
        return;
    }
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let mut command = scene.sandbox.command("tmux");
    command
        .env("TERM", "xterm")
        .arg("-f/dev/null")
        .arg("-S")
        .arg(scene.sandbox.path("tmux"))
        .args(["new-session", &pane(&scene, &hold.id)]);
    let mut terminal = Terminal::start(command);
    terminal.sees("[y/N]");
    terminal.types("y");
    let (_, shown) = terminal.ends();
    assert!(scene.taken(&hold), "{shown}");
}

/// What an agent types into panes of its own. `$1` is what starts the server, `$2` the pane's command.
const TYPIST: &str = r#"
eval "$1 tmux -f/dev/null -S '$SOCKET' new-session -d -x 80 -y 24 sh"
tmux -S "$SOCKET" send-keys "$2" Enter
tmux -S "$SOCKET" send-keys y Enter
timeout 60 tmux -S "$SOCKET" wait-for done
tmux -S "$SOCKET" kill-server
"#;

fn refused(start: &str, why: &str) {
    if !is_there() {
        return;
    }
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let program = agent_program(&scene, "claude", TYPIST);
    let status = scene
        .sandbox
        .command(program)
        .env("CLAUDECODE", "1")
        .env("SOCKET", scene.sandbox.path("tmux"))
        .arg(start)
        .arg(pane(&scene, &hold.id))
        .status()
        .unwrap();
    assert!(status.success());
    let said = fs::read_to_string(scene.sandbox.path("said")).unwrap();
    let error = fs::read_to_string(scene.sandbox.path("said.err")).unwrap();
    assert_eq!(said.trim(), "1", "{error}");
    assert!(error.contains(why), "{error}");
    assert!(!scene.taken(&hold));
}

#[test]
fn keys_sent_by_an_agent_to_its_own_server_are_refused() {
    refused("", "CLAUDECODE");
}

#[test]
fn keys_sent_by_an_agent_to_a_server_with_a_clean_environment_are_refused() {
    refused(
        "env -u CLAUDECODE",
        "no client is attached to tmux, and an agent could be typing",
    );
}
