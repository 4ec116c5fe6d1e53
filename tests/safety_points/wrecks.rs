//! Ways to wreck a repository that nobody thinks of until an agent does: everything comes back.

use super::picture::Picture;
use super::{comes_back_at, in_dir, save};
use crate::support::Sandbox;
use std::fs::{self, File};

pub fn shell(sandbox: &Sandbox, text: &str) {
    let output = sandbox
        .command("bash")
        .args(["-ec", text])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{text}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A repository with something of everything: history, tags, a stash, staged, edited, ignored and new files.
pub fn rich() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        (".gitignore", ".env\n*.log\nnode_modules/\n"),
        ("a.txt", "a\n"),
        ("in/b.txt", "b\n"),
        ("in/deep/c.txt", "c\n"),
    ]);
    shell(
        &sandbox,
        "echo a2 >> a.txt; git commit -qam two; git tag v1; git tag -am t v2; git branch side HEAD~1
         echo s > a.txt; git stash -q; echo secret > .env; echo log > x.log
         mkdir node_modules; echo m > node_modules/m.js
         echo staged > in/b.txt; git add in/b.txt; echo worktree > in/b.txt
         echo new > n; git add -N n; echo u > untracked",
    );
    sandbox
}

/// What git says of the repository; nothing here writes.
pub fn git_says(sandbox: &Sandbox) -> Vec<String> {
    [
        "git --no-optional-locks status --porcelain=v2 -z",
        "git ls-files -s -v --debug",
        "git fsck --no-dangling 2>&1 | grep -v -e notice -e hint",
        "git rev-parse HEAD; git symbolic-ref -q HEAD",
        "git stash list; git show-ref --head",
        "git config -l --local",
        "git log --oneline --all",
    ]
    .iter()
    .map(|text| {
        let output = sandbox.command("bash").args(["-c", text]).output().unwrap();
        format!("{text}: {}", String::from_utf8_lossy(&output.stdout))
    })
    .collect()
}

#[track_caller]
pub fn survives_in(sandbox: &Sandbox, wreck: &str) {
    let (files, git) = (Picture::of(sandbox), git_says(sandbox));
    let id = save(sandbox)["id"].as_str().unwrap().to_owned();
    shell(sandbox, wreck);
    sandbox
        .holdpoint(["rollback", &id, "--refs", "--yes"])
        .exits(0);
    files.assert_same(&Picture::of(sandbox));
    assert_eq!(git, git_says(sandbox));
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[track_caller]
pub fn survives(wreck: &str) {
    survives_in(&rich(), wreck);
}

#[test]
fn a_renamed_git_directory() {
    survives("mv .git .gitx");
}

#[test]
fn a_git_directory_moved_out_of_the_way() {
    survives("mv .git ../elsewhere; rm -rf in a.txt");
}

#[test]
fn a_file_in_the_place_of_the_git_directory() {
    survives("rm -rf .git; echo junk > .git");
}

#[test]
fn a_link_in_the_place_of_the_git_directory() {
    survives("mv .git ../g; ln -s ../g .git; git reset -q --hard");
}

#[test]
fn another_repository_in_the_place_of_the_git_directory() {
    survives("rm -rf .git; git init -q; git add -A; git commit -qm other");
}

#[test]
fn objects_emptied_in_place() {
    survives("for f in .git/objects/??/*; do chmod u+w $f; : > $f; done");
}

#[test]
fn a_small_pack_damaged_in_place() {
    let sandbox = rich();
    shell(&sandbox, "git gc -q");
    survives_in(
        &sandbox,
        "p=$(echo .git/objects/pack/*.pack); chmod u+w $p; printf '\\377\\377' | dd of=$p bs=1 seek=40 conv=notrunc status=none",
    );
}

#[test]
fn a_repository_made_bare() {
    survives("git config core.bare true; rm -rf in a.txt");
}

#[test]
fn a_worktree_moved_by_configuration() {
    survives("mkdir ../other; git config core.worktree ../../other; rm -rf in");
}

#[test]
fn a_configuration_that_is_garbage() {
    survives("head -c 100 /dev/urandom > .git/config; rm a.txt");
}

#[test]
fn a_configuration_that_is_gone() {
    survives("rm .git/config; rm a.txt");
}

#[test]
fn a_format_that_no_git_reads() {
    survives("git config core.repositoryformatversion 99; rm a.txt");
}

#[test]
fn a_checkout_made_sparse() {
    let sandbox = rich();
    shell(&sandbox, "git reset -q --hard");
    survives_in(&sandbox, "git sparse-checkout set in");
}

#[test]
fn what_the_configuration_says_of_remotes_stays() {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "git remote add new ../new; rm a.txt");
    sandbox
        .holdpoint(["rollback", &id, "--refs", "--yes"])
        .exits(0);
    assert_eq!(sandbox.git(["remote"]).trim(), "new");
}

#[test]
fn a_head_that_is_garbage() {
    survives("echo garbage > .git/HEAD; rm a.txt");
}

#[test]
fn a_file_in_the_place_of_the_refs() {
    survives("rm -rf .git/refs; touch .git/refs; rm a.txt");
}

#[test]
fn packed_refs_cut_short() {
    let sandbox = rich();
    shell(&sandbox, "git pack-refs --all");
    survives_in(
        &sandbox,
        "truncate -s 60 .git/packed-refs; git tag -d v1 || true",
    );
}

#[test]
fn grafts_replacements_and_notes() {
    let sandbox = rich();
    shell(
        &sandbox,
        "git rev-parse HEAD~1 > .git/info/grafts; git notes add -m note; git replace HEAD HEAD~1",
    );
    survives_in(
        &sandbox,
        "rm -rf .git/info; git replace -d $(git replace -l); git notes remove; git reset -q --hard",
    );
}

#[test]
fn a_shallow_boundary() {
    let sandbox = rich();
    shell(
        &sandbox,
        "git clone -q --depth 1 file://$PWD ../shallow; rm -rf .git; mv ../shallow/.git .git",
    );
    survives_in(&sandbox, "rm .git/shallow a.txt");
}

#[test]
fn a_rebase_with_what_it_stashed() {
    let sandbox = rich();
    shell(
        &sandbox,
        "git reset -q --hard; git checkout -q side; echo q > a.txt; git commit -qam q
         echo dirty > in/b.txt; git rebase -q --autostash main || test -d .git/rebase-merge",
    );
    survives_in(
        &sandbox,
        "git rebase --abort; git reset -q --hard; git clean -qfdx in",
    );
}

#[test]
fn hooks_and_excludes_that_are_gone() {
    let sandbox = rich();
    shell(
        &sandbox,
        "mkdir -p .git/hooks; printf '#!/bin/sh\\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push
         echo zzz > .git/info/exclude; echo 1 > zzz",
    );
    survives_in(&sandbox, "rm -rf .git/hooks .git/info zzz");
    assert!(sandbox.work().join(".git/hooks/pre-push").exists());
}

#[test]
fn an_index_cut_short_beside_output() {
    let sandbox = rich();
    survives_in(&sandbox, "truncate -s 20 .git/index; rm a.txt");
    assert_eq!(sandbox.read("node_modules/m.js"), "m\n");
}

#[test]
fn an_index_that_is_a_directory() {
    survives("rm .git/index; mkdir .git/index; rm a.txt");
}

#[test]
fn a_submodule_that_was_taken_out() {
    let sandbox = rich();
    shell(
        &sandbox,
        "git init -q ../sub; cd ../sub; echo s > s; git add s; git commit -qm s; cd ../work
         git submodule --quiet add ../sub sub; git commit -qam sub; echo d >> sub/s; echo u > sub/u",
    );
    survives_in(
        &sandbox,
        "git submodule --quiet deinit -f sub; rm -rf .git/modules sub; git reset -q --hard HEAD~1",
    );
}

#[test]
fn files_whose_names_look_like_locks_and_objects() {
    let sandbox = rich();
    shell(
        &sandbox,
        "echo 1 > yarn.lock; mkdir -p in/objects/ab; echo o > in/objects/ab/x; echo h > in/HEAD",
    );
    survives_in(&sandbox, "rm -rf yarn.lock in; git reset -q --hard");
}

#[test]
fn branches_that_are_in_each_others_way() {
    let sandbox = rich();
    shell(&sandbox, "git branch a/b; git branch c");
    survives_in(
        &sandbox,
        "git branch -qD a/b c; git branch a; git branch c/d; git pack-refs --all",
    );
}

#[test]
fn a_directory_swapped_for_a_link_out_of_the_workspace() {
    let sandbox = rich();
    shell(
        &sandbox,
        "mkdir ../out; echo theirs > ../out/b.txt; mkdir empty",
    );
    survives_in(
        &sandbox,
        "rm -rf in empty; ln -s ../out in; ln -s /etc empty; echo evil > in/new",
    );
    assert_eq!(
        fs::read_to_string(sandbox.path("out/b.txt")).unwrap(),
        "theirs\n"
    );
}

#[test]
fn a_lock_that_a_dead_git_left() {
    let sandbox = rich();
    save(&sandbox);
    shell(&sandbox, "git rm -rqf in; touch .git/index.lock");
    let ran = sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    assert!(ran.err.contains("index.lock"), "{}", ran.err);
    assert_eq!(sandbox.read("in/b.txt"), "worktree\n");
    sandbox.git(["add", "-A"]);
}

#[test]
fn a_lock_that_a_process_has_open_is_respected() {
    let sandbox = rich();
    save(&sandbox);
    shell(&sandbox, "rm -rf in");
    sandbox.git(["add", "-A"]);
    let path = sandbox.work().join(".git/index.lock");
    let held = File::create(&path).unwrap();
    let ran = sandbox.holdpoint(["rollback", "--yes"]).exits(4);
    assert!(ran.err.contains("index.lock"), "{}", ran.err);
    assert!(!sandbox.work().join("in").exists());
    drop(held);
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    assert_eq!(sandbox.read("in/b.txt"), "worktree\n");
}

#[test]
fn a_git_directory_elsewhere_that_is_gone() {
    let sandbox = Sandbox::plain();
    shell(
        &sandbox,
        "git init -q --separate-git-dir ../apart; echo a > a; git add a; git commit -qm 1; echo u > u",
    );
    survives_in(&sandbox, "rm -rf ../apart a u");
}

#[test]
fn a_linked_worktree_without_its_ties() {
    for wreck in [
        "rm .git a.txt",
        "rm -rf \"$(git rev-parse --git-dir)\"; rm a.txt",
    ] {
        let sandbox = rich();
        shell(
            &sandbox,
            "git worktree add -q ../linked side; cd ../linked; echo l > a.txt; echo u > u; git add u",
        );
        let linked = sandbox.path("linked");
        comes_back_at(&sandbox, &linked, &[], || {
            in_dir(&sandbox, &linked, "bash", &["-ec", wreck]).exits(0);
        });
    }
}

#[test]
fn many_points_cost_few_files() {
    let sandbox = rich();
    for round in 0..40 {
        sandbox.write("a.txt", format!("{round}\n"));
        save(&sandbox);
    }
    let packs = sandbox
        .command("bash")
        .args(["-c", "find ../state -name '*.pack' | wc -l"])
        .output()
        .unwrap();
    let count: usize = String::from_utf8_lossy(&packs.stdout)
        .trim()
        .parse()
        .unwrap();
    assert!(count <= 20, "{count} packs");
    sandbox.holdpoint(["points", "verify"]).exits(0);
    let points: serde_json::Value =
        serde_json::from_str(&sandbox.holdpoint(["points", "--json"]).exits(0).out).unwrap();
    let first = points[0]["id"].as_str().unwrap();
    sandbox.holdpoint(["rollback", first, "--yes"]).exits(0);
    assert_eq!(sandbox.read("a.txt"), "0\n");
}

#[test]
fn newer_objects_that_nobody_can_read_go() {
    for wreck in [
        ": > $f",
        "truncate -s 9 $f",
        "printf junk >> $f; printf '\\0\\0\\0' | dd of=$f bs=1 seek=5 conv=notrunc status=none",
    ] {
        let sandbox = rich();
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        shell(
            &sandbox,
            "echo later > later; echo sound > sound; git add later sound",
        );
        let find = "f=.git/objects/$(git hash-object later | sed 's|..|&/|'); chmod u+w $f; ";
        shell(&sandbox, &format!("{find}{wreck}"));
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        // git would not write an object of which it finds the name.
        shell(
            &sandbox,
            "echo later > later; git add later; git cat-file -p :later; echo sound | git hash-object --stdin | git cat-file --batch",
        );
        assert_eq!(sandbox.git(["show", ":later"]), "later\n", "{wreck}");
        sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
        sandbox.holdpoint(["points", "verify"]).exits(0);
    }
}

#[test]
fn pipes_in_the_place_of_gits_files() {
    for path in [
        "HEAD",
        "config",
        "index",
        "packed-refs",
        "info/exclude",
        "refs/heads/main",
        "logs/HEAD",
        "MERGE_HEAD",
    ] {
        let sandbox = rich();
        let (files, git) = (Picture::of(&sandbox), git_says(&sandbox));
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        let place = format!(".git/{path}");
        shell(
            &sandbox,
            &format!("rm -f {place}; mkfifo {place}; rm a.txt"),
        );
        // Whoever opened one would wait for ever.
        for args in [&["save"][..], &["rollback", &id, "--refs", "--yes"]] {
            let ran = sandbox
                .command("timeout")
                .args(["20", env!("CARGO_BIN_EXE_holdpoint")])
                .args(args)
                .output()
                .unwrap();
            assert!(ran.status.success(), "{path} {args:?}: {ran:?}");
        }
        files.assert_same(&Picture::of(&sandbox));
        assert_eq!(git, git_says(&sandbox), "{path}");
    }
}

#[test]
fn what_was_begun_before_head_was_lost_does_not_go_on() {
    for begin in [
        "git merge -q --no-commit --no-ff more",
        "git cherry-pick -n more; git rev-parse more > .git/CHERRY_PICK_HEAD",
        "git bisect start -q; git bisect bad",
        "git update-index --split-index",
        "git stash push -qu; git branch later",
        "echo later > later; git add later; find .git/objects -type f -exec chmod u+w {} + -exec truncate -s 0 {} +",
    ] {
        let sandbox = rich();
        shell(
            &sandbox,
            "git reset -q --hard; git checkout -qb more; echo m > m; git add m; git commit -qm m; git checkout -q main",
        );
        survives_in(&sandbox, &format!("{begin}; rm .git/HEAD"));
    }
}
