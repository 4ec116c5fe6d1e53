//! What each hook lets through, holds, and only reports.

use crate::support::{Ran, Sandbox};

/// A guarded repository with commits on `main`, and a branch `topic` with one of its own.
fn guarded(extra: &[&str]) -> Sandbox {
    let sandbox = Sandbox::plain();
    let mut args = vec!["init", "-q", "-b", "main"];
    args.extend(extra);
    sandbox.git(args);
    for text in ["one", "two"] {
        sandbox.write("a", text);
        sandbox.git(["add", "-A"]);
        sandbox.git(["commit", "-qm", text]);
    }
    sandbox.git(["checkout", "-qb", "topic"]);
    sandbox.write("t", "topic");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "on topic"]);
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write("b", "three");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", "three"]);
    sandbox.holdpoint(["init"]).exits(0);
    sandbox
}

fn git(sandbox: &Sandbox, line: &str) -> Ran {
    Ran::from(
        sandbox
            .command("git")
            .args(line.split(' '))
            .output()
            .unwrap(),
    )
}

/// The same, as an agent.
fn by_agent(sandbox: &Sandbox, line: &str) -> Ran {
    Ran::from(
        sandbox
            .command("git")
            .args(line.split(' '))
            .env("HOLDPOINT_AGENT", "tester")
            .output()
            .unwrap(),
    )
}

fn refs(sandbox: &Sandbox) -> String {
    sandbox.git(["for-each-ref", "--format=%(refname) %(objectname)"])
        + &sandbox.git(["rev-parse", "HEAD"])
}

/// Both ways in which git can keep refs; the second only where this git knows it.
fn backends() -> Vec<Vec<&'static str>> {
    let probe = Sandbox::plain();
    let knows = git(&probe, "init -q --ref-format=reftable probe").code == 0;
    let mut all = vec![vec![]];
    if knows {
        all.push(vec!["--ref-format=reftable"]);
    }
    all
}

#[track_caller]
fn held(sandbox: &Sandbox, line: &str) -> Ran {
    let before = refs(sandbox);
    let ran = git(sandbox, line);
    assert_ne!(ran.code, 0, "{line} passed: {}", ran.err);
    assert_eq!(refs(sandbox), before, "{line}");
    assert!(
        ran.err.contains("holdpoint confirm "),
        "{line}: {}",
        ran.err
    );
    ran
}

#[track_caller]
fn passes(sandbox: &Sandbox, line: &str) -> Ran {
    let ran = git(sandbox, line);
    assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    ran
}

#[test]
fn everyday_work_passes_in_silence() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        for line in [
            "branch other",
            "tag v1",
            "checkout -q topic",
            "checkout -q main",
            "switch -q -c more",
            "commit -q --allow-empty -m empty",
            "checkout -q main",
            "merge -q --no-edit topic",
            "stash list",
            "notes add -m note",
            "pack-refs --all",
            "gc -q",
            "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main",
        ] {
            let ran = passes(&sandbox, line);
            assert!(!ran.err.contains("holdpoint"), "{line}: {}", ran.err);
        }
    }
}

#[test]
fn a_branch_that_another_is_renamed_over_is_held_and_a_plain_rename_is_not() {
    let sandbox = guarded(&[]);
    let ran = held(&sandbox, "branch -M main topic");
    assert!(ran.err.contains("on topic"), "{}", ran.err);
    let ran = passes(&sandbox, "branch -m main trunk");
    assert_eq!(ran.err, "");
    let ran = passes(&sandbox, "branch -M trunk main");
    assert_eq!(ran.err, "");
}

#[test]
fn a_stash_goes_in_and_comes_out_in_silence() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        sandbox.write("a", "changed");
        passes(&sandbox, "stash -q");
        let ran = passes(&sandbox, "stash pop");
        assert!(!ran.err.contains("holdpoint"), "{}", ran.err);
        assert_eq!(sandbox.read("a"), "changed");
    }
}

#[test]
fn what_would_lose_commits_is_held_by_the_ref_transaction() {
    for backend in backends() {
        for line in [
            "branch -D topic",
            "branch -f topic main~1",
            "update-ref -d refs/heads/topic",
            "update-ref refs/heads/topic main",
            "checkout -q -B topic main",
            "push -q . --delete topic",
            "push -q -f . main:topic",
            "fetch -q -u . +main:topic",
        ] {
            let sandbox = guarded(&backend);
            let ran = held(&sandbox, line);
            assert!(ran.err.contains("git.history"), "{line}: {}", ran.err);
            assert!(ran.err.contains("on topic"), "{line}: {}", ran.err);
        }
    }
}

#[test]
fn a_reset_that_keeps_the_files_is_held_before_anything_moves() {
    for backend in backends() {
        for line in ["reset -q --soft HEAD~1", "update-ref HEAD HEAD~1"] {
            let sandbox = guarded(&backend);
            held(&sandbox, line);
        }
    }
}

#[test]
fn an_annotated_tag_is_held_and_a_plain_one_on_a_kept_commit_is_told() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        sandbox.git(["tag", "-a", "-m", "release", "v1"]);
        sandbox.git(["tag", "light"]);
        held(&sandbox, "tag -d v1");
        let ran = passes(&sandbox, "tag -d light");
        assert!(ran.err.contains("Level 1"), "{}", ran.err);
    }
}

#[test]
fn a_merged_branch_may_go() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        sandbox.git(["merge", "-q", "--no-edit", "topic"]);
        passes(&sandbox, "branch -D topic");
    }
}

#[test]
fn the_stash_is_held_when_it_would_be_dropped() {
    for backend in backends() {
        for line in ["stash drop", "stash clear"] {
            let sandbox = guarded(&backend);
            sandbox.write("a", "changed");
            sandbox.git(["stash", "-q"]);
            let ran = held(&sandbox, line);
            assert!(ran.err.contains("git.discard"), "{line}: {}", ran.err);
            sandbox.git(["stash", "apply", "-q", "refs/stash"]);
            assert_eq!(sandbox.read("a"), "changed");
        }
    }
}

#[test]
fn an_amended_commit_is_held_early_and_under_no_verify_too() {
    for backend in backends() {
        for line in [
            "commit -q --amend -m other",
            "commit -q --amend --no-verify -m other",
        ] {
            let sandbox = guarded(&backend);
            let ran = held(&sandbox, line);
            assert!(ran.err.contains("git.history"), "{line}: {}", ran.err);
        }
    }
}

#[test]
fn no_verify_does_not_skip_the_judgement_of_a_commit() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        sandbox.git(["rm", "-q", "a"]);
        for line in ["commit -q -m gone", "commit -q --no-verify -m gone"] {
            let ran = held(&sandbox, line);
            assert!(ran.err.contains("file.delete"), "{line}: {}", ran.err);
        }
    }
}

#[test]
fn a_commit_is_judged_by_the_transaction_when_the_other_hooks_are_displaced() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        for name in ["pre-commit", "prepare-commit-msg"] {
            std::fs::remove_file(sandbox.work().join(".git/hooks").join(name)).unwrap();
        }
        sandbox.git(["rm", "-q", "a"]);
        let ran = held(&sandbox, "commit -q -m gone");
        assert!(ran.err.contains("file.delete"), "{}", ran.err);
    }
}

#[test]
fn a_rebase_is_held_before_anything_moves() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        passes(&sandbox, "checkout -q topic");
        sandbox.git(["commit", "-q", "--allow-empty", "-m", "more"]);
        sandbox.git(["checkout", "-q", "main"]);
        sandbox.git(["commit", "-q", "--allow-empty", "-m", "base"]);
        sandbox.git(["checkout", "-q", "topic"]);
        let ran = held(&sandbox, "rebase -q main");
        assert!(ran.err.contains("git.history"), "{}", ran.err);
        assert!(!sandbox.work().join(".git/rebase-merge").exists());
        assert_eq!(git(&sandbox, "status --porcelain -uno").out, "");
    }
}

#[test]
fn a_rebase_under_no_verify_stops_before_the_branch_moves() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        sandbox.git(["commit", "-q", "--allow-empty", "-m", "base"]);
        sandbox.git(["checkout", "-q", "topic"]);
        let before = sandbox.git(["rev-parse", "topic"]);
        let ran = git(&sandbox, "rebase -q --no-verify main");
        assert_ne!(ran.code, 0, "{}", ran.err);
        assert_eq!(sandbox.git(["rev-parse", "topic"]), before);
        assert!(ran.err.contains("rebase --abort"), "{}", ran.err);
        passes(&sandbox, "rebase --abort");
        assert_eq!(sandbox.git(["rev-parse", "HEAD"]), before);
    }
}

#[test]
fn after_a_hard_reset_it_is_not_refused_but_told_how_to_get_back() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        let before = sandbox.git(["rev-parse", "HEAD"]);
        let ran = passes(&sandbox, "reset -q --hard HEAD~1");
        assert!(ran.err.contains("git branch rescued"), "{}", ran.err);
        assert_ne!(sandbox.git(["rev-parse", "HEAD"]), before);
        let log = sandbox.read(".ccg/decision_log.jsonl");
        assert!(log.contains("too_late"), "{log}");
    }
}

#[test]
fn a_hard_reset_that_loses_no_commit_is_silent() {
    let sandbox = guarded(&[]);
    sandbox.git(["branch", "keep"]);
    let ran = passes(&sandbox, "reset -q --hard HEAD~1");
    assert_eq!(ran.err, "");
}

#[test]
fn an_agent_s_push_is_held_and_a_person_s_is_not() {
    let sandbox = guarded(&[]);
    sandbox.git(["init", "-q", "--bare", "../remote.git"]);
    sandbox.git(["remote", "add", "origin", "../remote.git"]);
    let ran = by_agent(&sandbox, "push -q origin main");
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("git.push"), "{}", ran.err);
    let ran = passes(&sandbox, "push -q origin main");
    assert_eq!(ran.err, "");
}

#[test]
fn a_person_s_push_that_drops_commits_of_the_remote_is_held() {
    let sandbox = guarded(&[]);
    sandbox.git(["init", "-q", "--bare", "../remote.git"]);
    sandbox.git(["remote", "add", "origin", "../remote.git"]);
    passes(&sandbox, "push -q origin topic");
    for line in [
        "push -q -f origin main:topic",
        "push -q origin --delete topic",
    ] {
        sandbox.git(["fetch", "-q"]);
        // The same commits are still on the local branch: nothing is lost.
        let ran = git(&sandbox, &format!("{line} --dry-run"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let other = sandbox.path("other");
    sandbox.git([
        "clone",
        "-q",
        "../remote.git",
        other.to_str().unwrap(),
        "-b",
        "topic",
    ]);
    let in_other = |line: &str| {
        let output = sandbox
            .command("git")
            .args(line.split(' '))
            .current_dir(&other)
            .output()
            .unwrap();
        Ran::from(output).exits(0)
    };
    in_other("commit -q --allow-empty -m theirs");
    in_other("push -q origin topic");
    for line in ["push -q -f origin topic", "push -q origin --delete topic"] {
        let ran = git(&sandbox, line);
        assert_ne!(ran.code, 0, "{line}");
        assert!(ran.err.contains("not fetched here"), "{line}: {}", ran.err);
    }
}

#[test]
fn an_agent_s_commit_is_held_at_the_hook() {
    let sandbox = guarded(&[]);
    sandbox.write("a", "by the agent");
    sandbox.git(["add", "-A"]);
    let ran = by_agent(&sandbox, "commit -q -m work");
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("git.commit"), "{}", ran.err);
    assert!(ran.err.contains("A person can agree"), "{}", ran.err);
}

#[test]
fn observing_lets_everything_through_and_says_nothing() {
    for backend in backends() {
        let sandbox = guarded(&backend);
        sandbox.write(
            ".ccg/user_preferences.json",
            r#"{"gate":{"mode":"observe"}}"#,
        );
        let config = sandbox.path("config/holdpoint");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(
            config.join("preferences.json"),
            r#"{"gate":{"mode":"observe"}}"#,
        )
        .unwrap();
        for line in [
            "commit -q --amend -m other",
            "branch -D topic",
            "reset -q --hard HEAD~1",
            "checkout -q -B main HEAD",
        ] {
            let ran = passes(&sandbox, line);
            assert!(!ran.err.contains("holdpoint"), "{line}: {}", ran.err);
        }
        let log = sandbox.read(".ccg/decision_log.jsonl");
        assert!(log.contains("git.history"), "{log}");
    }
}

#[test]
fn observing_leaves_no_trace_in_a_home_that_is_a_worktree() {
    let sandbox = guarded(&[]);
    let home = sandbox.work();
    std::fs::create_dir_all(home.join(".config/holdpoint")).unwrap();
    std::fs::write(
        home.join(".config/holdpoint/preferences.json"),
        r#"{"gate":{"mode":"observe"}}"#,
    )
    .unwrap();
    sandbox.write(".git/info/exclude", ".config\n.ccg\n");
    for line in [
        "commit -q --allow-empty -m x",
        "commit -q --allow-empty --amend -m y",
        "branch -D topic",
    ] {
        let output = sandbox
            .command("git")
            .args(line.split(' '))
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", &home)
            .env("GIT_CONFIG_GLOBAL", sandbox.path("home/.gitconfig"))
            .output()
            .unwrap();
        let ran = Ran::from(output).exits(0);
        assert!(!ran.err.contains("holdpoint"), "{line}: {}", ran.err);
    }
    assert_eq!(sandbox.git(["status", "--porcelain"]), "");
}

#[test]
fn linked_worktrees_are_judged_on_their_own_branch() {
    let sandbox = guarded(&[]);
    let tree = sandbox.path("linked");
    sandbox.git(["worktree", "add", "-q", tree.to_str().unwrap(), "topic"]);
    let run = |line: &str| {
        let output = sandbox
            .command("git")
            .args(line.split(' '))
            .current_dir(&tree)
            .output()
            .unwrap();
        Ran::from(output)
    };
    let ran = run("reset -q --soft HEAD~1");
    assert_ne!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("on topic"), "{}", ran.err);
    run("commit -q --allow-empty -m fine").exits(0);
}

#[test]
fn a_borrowed_worktree_is_judged_by_the_repository_s_own_contract() {
    let sandbox = guarded(&[]);
    sandbox.write(
        ".ccg/contract.md",
        "# Contract\n\n## Scope\n\n### In Scope\n- `src/`\n",
    );
    let elsewhere = sandbox.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("outside.txt"), "x").unwrap();
    let run = |line: &str| {
        let output = sandbox
            .command("git")
            .args(line.split(' '))
            .current_dir(&elsewhere)
            .env("GIT_DIR", sandbox.work().join(".git"))
            .env("GIT_WORK_TREE", &elsewhere)
            .output()
            .unwrap();
        Ran::from(output)
    };
    run("add outside.txt").exits(0);
    let ran = run("commit -qm around -- outside.txt");
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("contract.out-of-scope"), "{}", ran.err);
    let holds = sandbox.holdpoint(["holds", "--json"]).exits(0);
    assert!(holds.out.contains("\"id\""), "{}", holds.out);
}

#[test]
fn housekeeping_waits_while_a_hold_does() {
    let sandbox = guarded(&[]);
    held(&sandbox, "branch -D topic");
    let output = sandbox
        .command("holdpoint-hook")
        .args(["git", "pre-auto-gc"])
        .output()
        .unwrap();
    let ran = Ran::from(output).exits(1);
    assert!(ran.err.contains("automatic gc waits"), "{}", ran.err);
}
