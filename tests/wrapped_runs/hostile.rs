//! Commands that take away what they stand on, or go around what watches them.

use super::{run, run_sh};
use crate::support::Sandbox;
use std::fs;

const CONTRACT: &str = "# Contract\n\n## In Scope\n\n- `src/**`\n";

fn guarded() -> Sandbox {
    Sandbox::with_files(&[
        (".ccg/contract.md", CONTRACT),
        ("src/in", "in\n"),
        ("out", "out\n"),
    ])
}

#[test]
fn a_file_that_became_a_directory_is_put_back() {
    let sandbox = guarded();
    let ran = run_sh(
        &sandbox,
        &["-q"],
        "rm src/in out; mkdir -p src/in out/empty/er; echo a > src/in/a; echo b > out/b",
    )
    .exits(1);
    assert_eq!(sandbox.read("src/in"), "in\n");
    assert_eq!(sandbox.read("out"), "out\n");
    assert!(!ran.err.contains("something else"), "{}", ran.err);
    // What the run made of them waits whole.
    let holds = sandbox.holdpoint(["holds", "--json"]).exits(0).out;
    for path in ["src/in/a", "out/b"] {
        assert!(holds.contains(path), "{path}: {holds}");
    }
}

#[test]
fn a_deleted_repository_is_put_back() {
    let sandbox = guarded();
    sandbox.write("src/unpushed", "work\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "unpushed"]);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let ran = run_sh(&sandbox, &["-q"], "echo edit >> src/in; rm -rf .git").exits(1);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
    assert!(ran.err.contains("deleted the repository"), "{}", ran.err);
    sandbox.git(["fsck", "--no-dangling"]);
    // What it had changed meanwhile is not lost either.
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("src/in"), "in\nedit\n");
}

#[test]
fn a_deleted_workspace_is_put_back() {
    let sandbox = guarded();
    let work = sandbox.work();
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let script = format!("cd /; rm -rf '{}'", work.display());
    let ran = run_sh(&sandbox, &["-q"], &script).exits(1);
    assert!(
        ran.err.contains("deleted the whole workspace"),
        "{}",
        ran.err
    );
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
    assert_eq!(sandbox.read("src/in"), "in\n");
    assert_eq!(sandbox.read("out"), "out\n");
    // The run is over: nothing waits to be resumed.
    let ps = sandbox.holdpoint(["ps"]).exits(0);
    assert!(ps.out.is_empty(), "{}", ps.out);
}

#[test]
fn a_commit_past_the_hooks_is_held() {
    for script in [
        "rm -rf .git/hooks; echo y > src/in; git commit -qam past",
        "echo y > src/in; git -c core.hooksPath=/dev/null commit -qam past",
        "git -c core.hooksPath=/dev/null commit -q --allow-empty -m past; git -c core.hooksPath=/dev/null branch more",
    ] {
        let sandbox = guarded();
        sandbox.holdpoint(["init"]).exits(0);
        let head = sandbox.git(["rev-parse", "HEAD"]);
        let ran = run_sh(&sandbox, &["-q"], script).exits(1);
        assert_eq!(
            sandbox.git(["rev-parse", "HEAD"]),
            head,
            "{script}: {}",
            ran.err
        );
        assert!(ran.err.contains("no git hook judged it"), "{}", ran.err);
    }
}

#[test]
fn a_branch_where_nothing_is_new_needs_nobody_where_hooks_are() {
    let sandbox = guarded();
    sandbox.holdpoint(["init"]).exits(0);
    run_sh(
        &sandbox,
        &["-q"],
        "git -c core.hooksPath=/dev/null branch other",
    )
    .exits(0);
    assert!(sandbox.git(["branch"]).contains("other"));
}

#[test]
fn what_git_was_left_in_the_middle_of_is_told() {
    let sandbox = guarded();
    sandbox.git(["switch", "-qc", "side"]);
    sandbox.write("src/in", "side\n");
    sandbox.git(["commit", "-qam", "side"]);
    sandbox.git(["switch", "-q", "-"]);
    sandbox.write("src/in", "here\n");
    sandbox.git(["commit", "-qam", "here"]);
    let ran = run_sh(
        &sandbox,
        &["-q"],
        "git merge -q side; touch .git/index.lock; true",
    );
    assert!(ran.err.contains("git merge --abort"), "{}", ran.err);
    assert!(
        ran.err.contains("index.lock was left behind"),
        "{}",
        ran.err
    );
}

#[test]
fn a_fallback_that_is_not_there_is_told_before_anything_starts() {
    let sandbox = guarded();
    let ran = run(
        &sandbox,
        [
            "-q",
            "--fallback",
            "no-such-agent",
            "--",
            "sh",
            "-c",
            "echo y > src/in",
        ],
    )
    .exits(3);
    assert!(ran.err.contains("E001"), "{}", ran.err);
    assert!(ran.err.contains("no-such-agent"), "{}", ran.err);
    assert_eq!(sandbox.read("src/in"), "in\n");
}

#[test]
fn a_change_beyond_a_link_out_of_the_workspace_is_not_written_through() {
    let sandbox = guarded();
    let outside = sandbox.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("in"), "theirs\n").unwrap();
    let script = format!("rm -r src; ln -s '{}' src", outside.display());
    run_sh(&sandbox, &["-q"], &script).exits(1);
    assert_eq!(sandbox.read("src/in"), "in\n");
    assert!(!sandbox.work().join("src").is_symlink());
    assert_eq!(fs::read_to_string(outside.join("in")).unwrap(), "theirs\n");
}

#[test]
fn a_pipe_where_a_file_was_stands_in_nobodys_way() {
    let sandbox = guarded();
    let ran = run_sh(
        &sandbox,
        &["-q"],
        "rm out; mkfifo out pipe src/pipe; echo y > src/in",
    )
    .exits(1);
    assert_eq!(sandbox.read("out"), "out\n", "{}", ran.err);
    assert!(!sandbox.work().join("pipe").exists());
    assert_eq!(sandbox.read("src/in"), "y\n");
}

#[test]
fn commits_that_were_collected_come_back() {
    let sandbox = guarded();
    sandbox.write("src/more", "more\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "more"]);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let ran = run_sh(
        &sandbox,
        &["-q"],
        "git reset -q --hard HEAD~1; git reflog expire --expire=now --all; git gc -q --prune=now",
    )
    .exits(1);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head, "{}", ran.err);
    assert_eq!(sandbox.read("src/more"), "more\n");
    sandbox.git(["fsck", "--no-dangling"]);
}

#[test]
fn a_retry_starts_from_the_file_that_became_a_directory() {
    let sandbox = guarded();
    run_sh(
        &sandbox,
        &["-q", "--retries", "1"],
        "if [ -f src/in ]; then rm src/in; mkdir -p src/in/deep; touch src/in/deep/x; fi; [ -e tried ] && exit 0; touch \"$TMPDIR/x\"; echo 'HTTP 503 Service Unavailable'; exit 1",
    );
    assert_eq!(sandbox.read("src/in"), "in\n");
}

#[test]
fn a_submodule_outside_the_contract_is_held_or_told_and_nothing_is_lost() {
    let sandbox = guarded();
    let theirs = sandbox.path("theirs");
    fs::create_dir(&theirs).unwrap();
    let git = |dir: &std::path::Path, args: &[&str]| {
        let output = sandbox
            .command("git")
            .current_dir(dir)
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&theirs, &["init", "-q"]);
    fs::write(theirs.join("s"), "s\n").unwrap();
    git(&theirs, &["add", "-A"]);
    git(&theirs, &["commit", "-qm", "s"]);
    let url = theirs.display().to_string();
    sandbox.git([
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &url,
        "vendor",
    ]);
    sandbox.git(["commit", "-qm", "vendor"]);
    let vendor = sandbox.work().join("vendor");
    let ran = run_sh(
        &sandbox,
        &["-q"],
        "cd vendor && echo t >> s && git commit -qam inner && echo u >> s; cd ..; echo x > out",
    )
    .exits(1);
    assert_eq!(sandbox.read("out"), "out\n", "{}", ran.err);
    assert!(ran.err.contains("vendor"), "{}", ran.err);
    // The commit inside is in the submodule's own repository, whatever became of the rest.
    assert!(git(&vendor, &["log", "--all", "--reflog", "--format=%s"]).contains("inner"));
}
