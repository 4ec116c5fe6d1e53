//! Refs read from their files are what git says they are.

use crate::support::Sandbox;
use holdpoint::repo::{self, Workspace};
use holdpoint::sys::env::Env;
use std::collections::BTreeMap;
use std::path::Path;

fn by_git(sandbox: &Sandbox, dir: &Path) -> (BTreeMap<String, String>, String, Option<String>) {
    let git = |args: &[&str]| {
        let output = sandbox
            .command("git")
            .current_dir(dir)
            .args(args)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let all = git(&["for-each-ref", "--format=%(objectname) %(refname)"])
        .lines()
        .map(|line| {
            let (id, name) = line.split_once(' ').unwrap();
            (name.to_owned(), id.to_owned())
        })
        .collect();
    let head = git(&["symbolic-ref", "-q", "HEAD"]).trim().to_owned();
    let start = git(&["rev-parse", "-q", "--verify", "HEAD^{commit}"]);
    let start = Some(start.trim().to_owned()).filter(|id| !id.is_empty());
    (all, head, start)
}

#[track_caller]
fn agree(sandbox: &Sandbox, dir: &Path) {
    let env = Env::from_parts(
        [("HOME", "home"), ("XDG_STATE_HOME", "state")]
            .map(|(name, path)| (name.into(), sandbox.path(path).into_os_string())),
        dir.to_path_buf(),
    );
    let refs = repo::refs::list(&Workspace::discover(&env).unwrap()).unwrap();
    assert_eq!((refs.all, refs.head, refs.start), by_git(sandbox, dir));
}

#[test]
fn every_sort_of_ref_is_read_as_git_reads_it() {
    let sandbox = Sandbox::plain();
    let work = sandbox.work();
    sandbox.git(["init", "-q", "-b", "main"]);
    agree(&sandbox, &work);
    sandbox.write("a", "a\n");
    sandbox.git(["add", "."]);
    sandbox.git(["commit", "-qm", "one"]);
    agree(&sandbox, &work);
    for arguments in [
        &["branch", "deep/er/topic"][..],
        &["tag", "light"],
        &["tag", "-am", "note", "heavy"],
        &["update-ref", "refs/remotes/origin/main", "HEAD"],
        &[
            "symbolic-ref",
            "refs/remotes/origin/HEAD",
            "refs/remotes/origin/main",
        ],
        &[
            "symbolic-ref",
            "refs/remotes/origin/gone",
            "refs/remotes/origin/none",
        ],
        &["update-ref", "refs/bisect/bad", "HEAD"],
        &["pack-refs", "--all"],
        &["commit", "--allow-empty", "-qm", "two"],
        &["branch", "-f", "deep/er/topic"],
        &["tag", "-d", "light"],
        &["checkout", "-q", "--detach"],
    ] {
        sandbox.git(arguments);
        agree(&sandbox, &work);
    }
    let linked = sandbox.path("linked");
    sandbox.git([
        "worktree",
        "add",
        "-q",
        linked.to_str().unwrap(),
        "deep/er/topic",
    ]);
    sandbox.git([
        "-C",
        linked.to_str().unwrap(),
        "update-ref",
        "refs/bisect/good",
        "HEAD",
    ]);
    agree(&sandbox, &linked);
    agree(&sandbox, &work);
    sandbox.git(["checkout", "-q", "--orphan", "fresh"]);
    agree(&sandbox, &work);
}
