//! `holdpoint demo` is the README's first command.

use crate::support::Sandbox;

#[test]
fn the_demo_plays_to_its_end_and_cleans_up() {
    let sandbox = Sandbox::plain();
    let ran = sandbox.holdpoint(["demo"]).exits(0);
    assert!(
        ran.out.contains("Both files are back, byte for byte."),
        "{}",
        ran.out
    );
    let left: Vec<_> = std::fs::read_dir(sandbox.path("tmp")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
