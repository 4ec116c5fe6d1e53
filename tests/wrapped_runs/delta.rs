//! What a run leaves in the workspace: kept, or put back and held whole.

use super::{log, report, run_sh};
use crate::support::Sandbox;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

const CONTRACT: &str =
    "# Contract\n\n## In Scope\n\n- `src/**`\n\n## Out of Scope\n\n- `docs/**`\n";

fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        (".ccg/contract.md", CONTRACT),
        ("src/main.rs", "fn main() {}\n"),
        ("src/old.rs", "old\n"),
        ("docs/guide.md", "guide\n"),
    ]);
    sandbox.holdpoint(["contract", "show"]);
    sandbox
}

#[test]
fn inside_the_contract_a_change_stays() {
    let sandbox = guarded();
    let ran = run_sh(
        &sandbox,
        &["--json"],
        "echo more >> src/main.rs; echo new > src/new.rs",
    )
    .exits(0);
    let report = report(&ran);
    assert_eq!(report["held"].as_array().unwrap().len(), 0);
    assert_eq!(sandbox.read("src/main.rs"), "fn main() {}\nmore\n");
    assert_eq!(sandbox.read("src/new.rs"), "new\n");
    assert!(log(&sandbox).iter().any(|entry| entry["decision"] == "run"));
}

#[test]
fn outside_it_a_change_is_put_back_and_held_whole() {
    let sandbox = guarded();
    let binary: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    sandbox.write("docs/logo.bin", &binary);
    fs::set_permissions(
        sandbox.work().join("docs/logo.bin"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    symlink("guide.md", sandbox.work().join("docs/link")).unwrap();
    let ran = run_sh(
        &sandbox,
        &["--json"],
        "echo in >> src/main.rs; echo out >> docs/guide.md; printf x > docs/logo.bin; chmod 644 docs/logo.bin; ln -sf ../src docs/link; mkdir -p docs/deep/er; echo z > docs/deep/er/z; rm src/old.rs",
    )
    .exits(1);
    let report = report(&ran);
    assert_eq!(sandbox.read("src/main.rs"), "fn main() {}\nin\n");
    assert_eq!(sandbox.read("docs/guide.md"), "guide\n");
    assert_eq!(sandbox.read("src/old.rs"), "old\n");
    assert_eq!(
        fs::read(sandbox.work().join("docs/logo.bin")).unwrap(),
        binary
    );
    let mode = fs::metadata(sandbox.work().join("docs/logo.bin")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o755);
    let target = fs::read_link(sandbox.work().join("docs/link")).unwrap();
    assert_eq!(target.to_str(), Some("guide.md"));
    assert!(!sandbox.work().join("docs/deep").exists());
    let hold = report["holds"][0].as_str().unwrap();
    let shown = sandbox.holdpoint(["holds", "--json"]).exits(0);
    assert!(shown.out.contains(hold), "{}", shown.out);
    assert!(ran.err.contains("contract.out-of-scope"), "{}", ran.err);
    assert!(ran.err.contains("file.delete"), "{}", ran.err);
}

#[test]
fn denying_drops_what_was_held() {
    let sandbox = guarded();
    let ran = run_sh(&sandbox, &["--json"], "echo out >> docs/guide.md").exits(1);
    let hold = report(&ran)["holds"][0].as_str().unwrap().to_owned();
    let dirs = |sandbox: &Sandbox| {
        fs::read_dir(super::run_dir(sandbox))
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .starts_with("held-")
            })
            .count()
    };
    assert_eq!(dirs(&sandbox), 1);
    sandbox.holdpoint(["deny", &hold]).exits(0);
    assert_eq!(dirs(&sandbox), 0);
    assert_eq!(sandbox.read("docs/guide.md"), "guide\n");
}

#[test]
fn a_script_may_accept_or_reject_beforehand() {
    let sandbox = guarded();
    run_sh(&sandbox, &["--reject"], "echo out >> docs/guide.md").exits(1);
    assert_eq!(sandbox.read("docs/guide.md"), "guide\n");
    run_sh(&sandbox, &["--accept"], "echo out >> docs/guide.md").exits(0);
    assert_eq!(sandbox.read("docs/guide.md"), "guide\nout\n");
}

#[test]
fn a_directory_swapped_for_a_link_is_not_followed_out() {
    let sandbox = guarded();
    let outside = sandbox.path("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("guide.md"), "theirs\n").unwrap();
    let script = format!("rm -r docs; ln -s {} docs", outside.display());
    run_sh(&sandbox, &[], &script).exits(1);
    assert_eq!(
        fs::read_to_string(outside.join("guide.md")).unwrap(),
        "theirs\n"
    );
    assert_eq!(sandbox.read("docs/guide.md"), "guide\n");
    assert!(
        !fs::symlink_metadata(sandbox.work().join("docs"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_failed_run_is_judged_all_the_same() {
    let sandbox = guarded();
    run_sh(&sandbox, &[], "echo out >> docs/guide.md; exit 9").exits(3);
    assert_eq!(sandbox.read("docs/guide.md"), "guide\n");
}

#[test]
fn a_loosened_contract_does_not_count() {
    let sandbox = guarded();
    run_sh(
        &sandbox,
        &[],
        "sed -i 's/docs/other/' .ccg/contract.md; echo out >> docs/guide.md",
    )
    .exits(1);
    assert_eq!(sandbox.read("docs/guide.md"), "guide\n");
    assert_eq!(sandbox.read(".ccg/contract.md"), CONTRACT);
}

#[test]
fn a_run_that_changes_nothing_holds_nothing() {
    let sandbox = guarded();
    let ran = run_sh(&sandbox, &["--json"], "cat docs/guide.md").exits(0);
    let report = report(&ran);
    assert_eq!(report["kept"].as_array().unwrap().len(), 0);
    assert_eq!(report["holds"].as_array().unwrap().len(), 0);
}

#[test]
fn a_commit_that_no_hook_judged_is_held_with_its_commits() {
    let sandbox = guarded();
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let ran = run_sh(
        &sandbox,
        &["--json"],
        "echo more >> src/main.rs; git commit -qam sly; git tag mine",
    )
    .exits(1);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head);
    assert_eq!(sandbox.git(["tag", "-l"]), "");
    assert_eq!(sandbox.read("src/main.rs"), "fn main() {}\nmore\n");
    assert!(ran.err.contains("git.commit"), "{}", ran.err);
    let bundles = walk(&super::run_dir(&sandbox), "refs.bundle");
    assert_eq!(bundles.len(), 1);
    let listed = sandbox.git(["bundle", "list-heads", bundles[0].to_str().unwrap()]);
    assert!(listed.contains("refs/heads/main"), "{listed}");
}

#[test]
fn a_rewritten_branch_is_put_back() {
    let sandbox = guarded();
    sandbox.write("src/main.rs", "two\n");
    sandbox.git(["commit", "-qam", "second"]);
    let head = sandbox.git(["rev-parse", "HEAD"]);
    let ran = run_sh(
        &sandbox,
        &[],
        "git reset -q --hard HEAD~1; git branch gone; git branch -D gone",
    )
    .exits(1);
    assert_eq!(sandbox.git(["rev-parse", "HEAD"]), head, "{}", ran.err);
    assert!(ran.err.contains("git.history"), "{}", ran.err);
}

#[test]
fn gits_own_files_are_put_back() {
    let sandbox = guarded();
    sandbox.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    let hook = sandbox.work().join(".git/hooks/pre-commit");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let config = sandbox.read(".git/config");
    let ran = run_sh(
        &sandbox,
        &[],
        "git config core.hooksPath /dev/null; rm .git/hooks/pre-commit; echo x > .git/hooks/post-commit; chmod +x .git/hooks/post-commit",
    )
    .exits(1);
    assert_eq!(sandbox.read(".git/config"), config);
    assert!(ran.err.contains("file.guard"), "{}", ran.err);
    assert!(!sandbox.work().join(".git/hooks/post-commit").exists());
    let mode = fs::metadata(&hook).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn what_git_notes_for_itself_stays() {
    let sandbox = guarded();
    run_sh(
        &sandbox,
        &[],
        "git config remote.origin.url /x; git config branch.main.remote origin",
    )
    .exits(0);
    assert!(sandbox.read(".git/config").contains("/x"));
}

#[test]
fn the_index_under_a_held_file_is_as_before() {
    let sandbox = guarded();
    run_sh(
        &sandbox,
        &[],
        "echo out >> docs/guide.md; echo in >> src/main.rs; git add -A",
    )
    .exits(1);
    assert_eq!(
        sandbox.git(["diff", "--cached", "--name-only"]),
        "src/main.rs\n"
    );
    let status = sandbox.git(["status", "--short", "src", "docs"]);
    assert_eq!(status.trim(), "M  src/main.rs");
}

fn walk(dir: &std::path::Path, name: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path, name));
        } else if path.file_name().unwrap() == name {
            found.push(path);
        }
    }
    found
}

#[test]
fn discarded_work_of_the_person_comes_back() {
    let sandbox = guarded();
    sandbox.write("src/main.rs", "not committed yet\n");
    let ran = run_sh(&sandbox, &[], "git checkout -q -- src/main.rs").exits(1);
    assert_eq!(sandbox.read("src/main.rs"), "not committed yet\n");
    assert!(ran.err.contains("git.discard"), "{}", ran.err);
    run_sh(&sandbox, &[], "git reset -q --hard; git clean -fdxq").exits(1);
    assert_eq!(sandbox.read("src/main.rs"), "not committed yet\n");
}
