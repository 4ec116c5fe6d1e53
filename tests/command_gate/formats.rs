//! Evidence in repositories of every format: what cannot be read is never taken for nothing.

use super::level;
use crate::support::Sandbox;

/// A repository made with `init`'s options: a committed file, and one commit more than its branch `old` has.
///
/// `None` where this git knows no such option.
fn repository(options: &[&str]) -> Option<Sandbox> {
    let sandbox = Sandbox::plain();
    let made = sandbox
        .command("git")
        .args(["init", "-q", "-b", "main"])
        .args(options)
        .output()
        .unwrap();
    if !made.status.success() {
        return None;
    }
    sandbox.write("kept.txt", "kept\n");
    sandbox.write(".gitignore", "/target/\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "one"]);
    sandbox.git(["branch", "old"]);
    sandbox.write("later.txt", "later\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "two"]);
    sandbox.write("target/out", "made\n");
    Some(sandbox)
}

/// What holds in every format.
fn judged_by_evidence(sandbox: &Sandbox, format: &str) {
    for command in [
        "git reset --hard",
        "git restore kept.txt",
        "git checkout -- .",
        "git branch -d old",
        "git branch -D old",
        "rm -rf target",
        "git clean -fd",
    ] {
        let (found, verdict) = level(sandbox, command);
        assert!(found <= 1, "{format}: {command}: {verdict}");
    }
    let (found, verdict) = level(sandbox, "git reset --hard HEAD~1");
    assert_eq!(found, 3, "{format}");
    let commits = verdict["loses"]["commits"].to_string();
    assert!(commits.contains("two"), "{format}: {commits}");
    assert_eq!(level(sandbox, "git branch -f main old").0, 3, "{format}");
    sandbox.write("kept.txt", "changed\n");
    sandbox.write("new.txt", "nowhere else\n");
    for (command, file) in [
        ("git reset --hard", "kept.txt"),
        ("git restore .", "kept.txt"),
        ("git clean -fd", "new.txt"),
        ("rm new.txt", "new.txt"),
    ] {
        let (found, verdict) = level(sandbox, command);
        assert_eq!(found, 3, "{format}: {command}");
        let files = verdict["loses"]["files"].to_string();
        assert!(files.contains(file), "{format}: {command}: {files}");
    }
    sandbox.git(["add", "kept.txt"]);
    assert_eq!(level(sandbox, "git reset --hard").0, 3, "{format}, staged");
}

#[test]
fn sha256_objects_are_evidence_too() {
    if let Some(sandbox) = repository(&["--object-format=sha256"]) {
        judged_by_evidence(&sandbox, "sha256");
    }
}

#[test]
fn refs_in_a_reftable_are_evidence_too() {
    if let Some(sandbox) = repository(&["--ref-format=reftable"]) {
        judged_by_evidence(&sandbox, "reftable");
    }
}

#[test]
fn a_split_index_is_evidence_too() {
    let sandbox = repository(&[]).unwrap();
    sandbox.git(["update-index", "--split-index"]);
    judged_by_evidence(&sandbox, "split index");
}

#[test]
fn a_version_four_index_is_evidence_too() {
    let sandbox = repository(&[]).unwrap();
    sandbox.git(["update-index", "--index-version", "4"]);
    judged_by_evidence(&sandbox, "index version 4");
}

#[test]
fn a_sparse_index_is_evidence_too() {
    let sandbox = repository(&[]).unwrap();
    sandbox.write("deep/a/file", "a\n");
    sandbox.write("deep/b/file", "b\n");
    sandbox.git(["add", "deep"]);
    sandbox.git(["commit", "-qm", "two deep"]);
    sandbox.git([
        "sparse-checkout",
        "set",
        "--cone",
        "--sparse-index",
        "deep/a",
    ]);
    judged_by_evidence(&sandbox, "sparse index");
}

#[test]
fn a_linked_worktree_is_judged_by_its_own_files() {
    let sandbox = repository(&[]).unwrap();
    sandbox.git(["worktree", "add", "-q", "-b", "side", "../side"]);
    std::fs::write(sandbox.path("side/kept.txt"), "changed there\n").unwrap();
    assert!(level(&sandbox, "git reset --hard").0 <= 1);
    assert_eq!(level(&sandbox, "git -C ../side reset --hard").0, 3);
    assert_eq!(level(&sandbox, "cd ../side && git restore .").0, 3);
    assert_eq!(level(&sandbox, "git worktree remove --force ../side").0, 3);
}

#[test]
fn a_submodule_is_judged_by_its_own_files() {
    let sandbox = repository(&[]).unwrap();
    let other = sandbox.path("other.git");
    sandbox.git(["clone", "-q", "--bare", ".", other.to_str().unwrap()]);
    sandbox.git([
        "submodule",
        "add",
        "-q",
        other.to_str().unwrap(),
        "vendor/other",
    ]);
    sandbox.git(["commit", "-qm", "a submodule"]);
    let reset = "git submodule foreach git reset --hard";
    assert!(level(&sandbox, "cd vendor/other && git reset --hard").0 <= 1);
    sandbox.write("vendor/other/kept.txt", "changed in there\n");
    assert_eq!(level(&sandbox, "cd vendor/other && git reset --hard").0, 3);
    assert_eq!(level(&sandbox, "git -C vendor/other checkout -- .").0, 3);
    assert_eq!(level(&sandbox, reset).0, 3);
    assert_eq!(level(&sandbox, "git submodule deinit -f vendor/other").0, 3);
    assert_eq!(level(&sandbox, "rm -rf vendor/other").0, 3);
}

#[test]
fn a_repository_that_the_command_names_is_the_one_that_is_asked() {
    let sandbox = repository(&[]).unwrap();
    for command in [
        "git --git-dir=.git reset --hard",
        "git --git-dir=.git --work-tree=. checkout -- .",
        "GIT_DIR=.git GIT_WORK_TREE=. git restore kept.txt",
        "git --git-dir .git branch -D old",
    ] {
        assert!(level(&sandbox, command).0 <= 1, "{command}");
    }
    sandbox.write("kept.txt", "changed\n");
    for command in [
        "git --git-dir=.git reset --hard",
        "git --git-dir=.git --work-tree=. checkout -- .",
        "GIT_DIR=.git GIT_WORK_TREE=. git restore kept.txt",
        "git --git-dir=.git --work-tree=/ reset --hard",
        "git --git-dir=nowhere reset --hard",
        "git --git-dir=$DIR reset --hard",
        "git --git-dir=.git branch -f main old",
    ] {
        assert_eq!(level(&sandbox, command).0, 3, "{command}");
    }
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let sandbox = repository(&[]).unwrap();
    sandbox.write(".gitattributes", "*.txt text eol=crlf\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "three"]);
    std::fs::remove_file(sandbox.work().join("kept.txt")).unwrap();
    sandbox.git(["checkout", "--", "kept.txt"]);
    assert_eq!(sandbox.read("kept.txt"), "kept\r\n");
    assert!(level(&sandbox, "git reset --hard").0 <= 1);
    assert!(level(&sandbox, "git restore kept.txt").0 <= 1);
    // Even when its numbers say nothing any more.
    sandbox.write("kept.txt", "kept\r\n");
    assert!(level(&sandbox, "git reset --hard").0 <= 1);
    sandbox.write("kept.txt", "changed\r\n");
    assert_eq!(level(&sandbox, "git reset --hard").0, 3);
}

/// Cuts a loose object of the repository short.
fn cut_short(sandbox: &Sandbox, name: &str) {
    let id = sandbox.git(["rev-parse", name]).trim().to_owned();
    let (first, rest) = id.split_at(2);
    let path = sandbox.work().join(".git/objects").join(first).join(rest);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len().min(30)]).unwrap();
}

#[test]
fn an_object_that_is_cut_short_gets_an_answer_all_the_same() {
    for damaged in ["HEAD", "HEAD^{tree}", "HEAD:file"] {
        let sandbox = Sandbox::with_files(&[("file", "a line that is long enough to be cut\n")]);
        sandbox.write("file", "changed\n");
        cut_short(&sandbox, damaged);
        let (found, verdict) = level(&sandbox, "git reset --hard HEAD~1");
        assert_eq!(found, 3, "{damaged}: {verdict}");
        // The index knows the tree's id, so only a commit that cannot be read leaves a doubt.
        let ran = sandbox.holdpoint(["check", "staged", "--json"]);
        assert_eq!(ran.code != 0, damaged == "HEAD", "{damaged}: {}", ran.out);
    }
}
