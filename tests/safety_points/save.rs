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
