//! Taking points.

use crate::support::Sandbox;
use serde_json::Value;

fn save(sandbox: &Sandbox) -> Value {
    let ran = sandbox.holdpoint(["save", "--json"]).exits(0);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn an_unchanged_workspace_yields_the_existing_point() {
    let sandbox = Sandbox::with_files(&[("a.txt", "one\n"), ("src/b.txt", "two\n")]);
    let first = save(&sandbox);
    assert_eq!(first["new"], true);
    let second = save(&sandbox);
    assert_eq!(second["new"], false);
    assert_eq!(second["id"], first["id"]);
    sandbox.write("a.txt", "1ne\n");
    let third = save(&sandbox);
    assert_eq!(third["new"], true);
    assert_eq!(third["changed"], 1);
}

#[test]
fn a_plain_directory_has_points_too() {
    let sandbox = Sandbox::plain();
    sandbox.write("a.txt", "one\n");
    let first = save(&sandbox);
    assert_eq!(first["new"], true);
    assert_eq!(first["changed"], 1);
    sandbox.holdpoint(["points"]).exits(0);
}
