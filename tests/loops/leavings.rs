//! What an iteration leaves behind is judged, however it ended, git's own files too.

use super::{create, holdpoint, sandbox, until};

#[test]
fn gits_own_files_are_put_back_and_held() {
    let sandbox = sandbox();
    sandbox.write("a.txt", "stashed\n");
    sandbox.git(["stash"]);
    let config = sandbox.read(".git/config");
    let script = "git config core.hooksPath /tmp/none; mkdir -p .git/hooks; \
        echo 'exit 0' > .git/hooks/pre-push; git stash drop -q; echo done > b.txt";
    let id = create(&sandbox, &["--max-iterations", "1"], script);
    let ran = holdpoint(&sandbox, &["loop", "run", &id]);
    assert_eq!(sandbox.read("b.txt"), "done\n", "{}", ran.err);
    assert_eq!(sandbox.read(".git/config"), config);
    assert!(!sandbox.work().join(".git/hooks/pre-push").exists());
    assert!(sandbox.git(["stash", "list"]).contains("stash@{0}"));
    assert!(ran.err.contains("git's own files"), "{}", ran.err);
    assert!(ran.err.contains("holdpoint confirm"), "{}", ran.err);
    let holds = sandbox.holdpoint(["holds", "--json"]).exits(0).out;
    assert!(holds.contains(".git/hooks/pre-push"), "{holds}");
}

#[test]
fn what_a_killed_iteration_did_is_judged_before_it_is_done_again() {
    let sandbox = sandbox();
    let gate = sandbox.path("gate");
    let script = format!(
        "[ -e again.txt ] && exit 0; rm a.txt; echo 1 > again.txt; while [ ! -e {} ]; do sleep 0.02; done",
        gate.display()
    );
    let id = create(&sandbox, &["--max-iterations", "1"], &script);
    let mut runner = super::spawn(&sandbox, &["loop", "run", &id]);
    until("the iteration is under way", || {
        sandbox.work().join("again.txt").exists() && super::kills::is_noted(&sandbox)
    });
    super::kills::strike_all(&sandbox, &mut runner);
    let ran = holdpoint(&sandbox, &["loop", "run", &id]);
    assert!(ran.err.contains("is done again"), "{}", ran.err);
    assert_eq!(sandbox.read("a.txt"), "a\n", "{}", ran.err);
    assert!(sandbox.work().join("again.txt").exists());
}
