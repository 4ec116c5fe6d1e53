//! Taking points.

use super::save;
use crate::support::Sandbox;

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

#[test]
fn a_walk_whose_thread_panics_ends_and_leaves_no_point() {
    let sandbox = Sandbox::with_files(&[("a.txt", "one\n"), ("src/b.txt", "two\n")]);
    let before = save(&sandbox);
    sandbox.write("src/b.txt", "three\n");
    let ran = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .arg("save")
        .env("HOLDPOINT_TEST_PANIC", "1")
        .output()
        .unwrap();
    assert!(!ran.status.success());
    let points = sandbox.holdpoint(["points", "--json"]).exits(0).out;
    assert_eq!(points.matches("\"id\"").count(), 1, "{points}");
    assert_eq!(before["new"], true);
    assert_eq!(save(&sandbox)["new"], true);
}
