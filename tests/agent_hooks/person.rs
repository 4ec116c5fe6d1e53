//! A held call, a person at a terminal, and the same call again.

use super::calls::{AGENTS, goes_on, guarded, shell, words};
use crate::support::terminal::Terminal;

/// The id of the hold that a refusal names.
fn hold_in(words: &str) -> String {
    let rest = words.split("holdpoint confirm ").nth(1).unwrap();
    rest.chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
}

#[test]
fn a_held_call_passes_once_after_a_person_typed_its_code_and_is_held_again() {
    for agent in AGENTS {
        let sandbox = guarded();
        sandbox.write("README.md", "UNCOMMITTED\n");
        let line = "git checkout -- README.md";
        let first = shell(&sandbox, agent, line);
        assert!(!goes_on(agent, &first), "{agent}: {first:?}");
        let again = shell(&sandbox, agent, line);
        assert!(!goes_on(agent, &again), "{agent}: {again:?}");
        let id = hold_in(&words(&again));
        let mut confirm = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
        confirm.args(["confirm", &id]);
        let mut terminal = Terminal::start(confirm);
        terminal.sees(line);
        terminal.types_code();
        terminal.ends_with(0);
        let other = shell(&sandbox, agent, "git checkout -- src/lib.rs README.md");
        assert!(!goes_on(agent, &other), "{agent}: another call: {other:?}");
        let confirmed = shell(&sandbox, agent, line);
        assert!(goes_on(agent, &confirmed), "{agent}: {confirmed:?}");
        let spent = shell(&sandbox, agent, line);
        assert!(!goes_on(agent, &spent), "{agent}: {spent:?}");
        assert_ne!(hold_in(&words(&spent)), id, "{agent}");
        assert_eq!(sandbox.read("README.md"), "UNCOMMITTED\n");
    }
}
