//! Work that git throws away comes back.

use crate::support::Sandbox;

#[test]
fn a_hard_reset_and_a_clean_are_undone_and_redone() {
    let sandbox = Sandbox::with_files(&[
        ("a.txt", "one\n"),
        ("b.txt", "b\n"),
        (".gitignore", "*.env\n"),
    ]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write("a.txt", "staged\n");
    sandbox.git(["add", "a.txt"]);
    sandbox.write("a.txt", "on disk\n");
    sandbox.write("new/c.txt", "untracked\n");
    sandbox.write("x.env", "SECRET=1\n");
    let index = std::fs::read(sandbox.work().join(".git/index")).unwrap();
    sandbox.holdpoint(["save", "-m", "mine"]).exits(0);
    sandbox.git(["reset", "-q", "--hard"]);
    sandbox.git(["clean", "-ffdxq", "-e", ".ccg"]);
    assert_eq!(sandbox.read("a.txt"), "one\n");

    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    let is_back = || {
        assert_eq!(sandbox.read("a.txt"), "on disk\n");
        assert_eq!(sandbox.git(["show", ":a.txt"]), "staged\n");
        assert_eq!(sandbox.read("new/c.txt"), "untracked\n");
        assert_eq!(sandbox.read("x.env"), "SECRET=1\n");
    };
    is_back();
    assert_eq!(
        std::fs::read(sandbox.work().join(".git/index")).unwrap(),
        index
    );

    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "one\n");
    assert!(!sandbox.work().join("new/c.txt").exists());
    sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(0);
    is_back();
    sandbox.holdpoint(["log", "--verify"]).exits(0);
    let log = sandbox.holdpoint(["log", "--json"]).exits(0).out;
    assert_eq!(
        log.matches("\"decision\":\"safety_point\"").count(),
        1,
        "{log}"
    );
    assert_eq!(log.matches("\"decision\":\"rollback\"").count(), 3, "{log}");
}

#[test]
fn a_deleted_git_directory_comes_back() {
    let sandbox = Sandbox::with_files(&[("a.txt", "one\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write("a.txt", "two\n");
    sandbox.holdpoint(["save"]).exits(0);
    std::fs::remove_dir_all(sandbox.work().join(".git")).unwrap();
    std::fs::write(sandbox.work().join("a.txt"), "broken\n").unwrap();
    sandbox.holdpoint(["rollback", "--yes", "--force"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "two\n");
    assert_eq!(sandbox.git(["show", "HEAD:a.txt"]), "one\n");
    sandbox.git(["fsck", "--strict"]);
}

#[test]
fn a_reset_that_drops_commits_does_not_hide_the_point_with_the_lost_files() {
    let sandbox = Sandbox::with_files(&[("a.txt", "one\n")]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.write("a.txt", "two\n");
    sandbox.git(["commit", "-qam", "two"]);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    sandbox.write("a.txt", "three, not committed\n");
    sandbox.write("b.txt", "untracked\n");
    sandbox.holdpoint(["save"]).exits(0);
    sandbox.git(["reset", "-q", "--hard", "HEAD~1"]);
    sandbox.git(["clean", "-fdq"]);
    sandbox.holdpoint(["rollback", "--refs", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "three, not committed\n");
    assert_eq!(sandbox.read("b.txt"), "untracked\n");
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
}
