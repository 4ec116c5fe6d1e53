//! Several things at once that a workspace may be, and operations stopped in their middle.

use super::picture::Picture;
use super::wrecks::{shell, survives_in};
use super::{comes_back_at, holdpoint_at, in_dir, save};
use crate::support::Sandbox;
use std::fs;

fn prepared(setup: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    shell(&sandbox, setup);
    sandbox
}

/// A file with one line a commit, the newest on a branch of their own.
const SERIES: &str = "
    echo 0 > f; echo 0 > g; git add .; git commit -qm 0; git checkout -qb topic
    for n in 1 2; do echo $n > g; git commit -qam g$n; done
    echo 3 > f; git commit -qam f3
    for n in 4 5; do echo $n > g; git commit -qam g$n; done
    git checkout -q main; echo x > f; git commit -qam x";

#[test]
fn a_sparse_index_with_a_conflict_and_an_intent_to_add() {
    let sandbox = prepared(
        "mkdir -p x y/z; echo 1 > x/f; echo 1 > y/z/g; echo 1 > top; git add -A; git commit -qm 1
         git checkout -qb other; echo 2 > top; git commit -qam 2; git checkout -q main; echo 3 > top; git commit -qam 3
         git sparse-checkout init --cone --sparse-index; git sparse-checkout set x
         git merge -q other || true
         echo new > x/new; git add -N x/new; mkdir -p y/z; echo own > y/z/own",
    );
    assert!(sandbox.git(["ls-files", "-u"]).lines().count() == 3);
    survives_in(
        &sandbox,
        "rm -rf x/new; git reset -q --hard; git sparse-checkout disable; git clean -qffdx",
    );
}

#[test]
fn a_split_index_with_a_conflict() {
    let sandbox = prepared(&format!(
        "{SERIES}
         git update-index --split-index; git merge -q topic || true; echo u > u; git add u"
    ));
    survives_in(
        &sandbox,
        "git merge --abort; rm -f .git/sharedindex.*; rm -f .git/index; git reset -q --hard",
    );
}

#[test]
fn a_sparse_checkout_with_other_hashes() {
    let sandbox = Sandbox::plain();
    shell(
        &sandbox,
        "git init -q --object-format=sha256; mkdir x y; echo 1 > x/f; echo 1 > y/g; git add -A; git commit -qm 1
         git sparse-checkout init --cone; git sparse-checkout set x; echo 2 > x/f; mkdir y; echo own > y/own",
    );
    survives_in(
        &sandbox,
        "git sparse-checkout disable; git reset -q --hard; git clean -qffdx",
    );
}

#[test]
fn five_picked_commits_stopped_at_the_third_go_on() {
    let sandbox = prepared(SERIES);
    shell(&sandbox, "git cherry-pick topic~5..topic || true");
    survives_in(
        &sandbox,
        "git cherry-pick --abort; git reset -q --hard HEAD~1; git gc -q --prune=now",
    );
    shell(
        &sandbox,
        "echo y > f; git add f; git cherry-pick --continue",
    );
    assert_eq!(sandbox.git(["rev-list", "--count", "HEAD"]), "7\n");
}

#[test]
fn three_mailed_patches_stopped_at_the_second_go_on() {
    let sandbox = prepared(&format!(
        "{SERIES}
         git format-patch -q -o ../mail topic~4..topic~1; git am ../mail/* || true"
    ));
    assert!(sandbox.work().join(".git/rebase-apply").is_dir());
    survives_in(
        &sandbox,
        "git am --abort; rm -rf .git/rebase-apply; git reset -q --hard HEAD~1",
    );
    shell(&sandbox, "git am --skip || git am --skip || git am --skip");
    assert!(!sandbox.work().join(".git/rebase-apply").exists());
}

#[test]
fn a_rebase_that_takes_branches_along_goes_on() {
    let sandbox = prepared(
        "echo 0 > n; git add n; git commit -qm 0; git checkout -qb t
         for i in 1 2 3; do echo $i > n; git commit -qam $i; git branch b$i; done; echo dirty >> n
         GIT_SEQUENCE_EDITOR='sed -i 0,/pick/s//edit/' git rebase -q --update-refs --autostash -i HEAD~3 || true",
    );
    assert!(
        sandbox
            .work()
            .join(".git/rebase-merge/update-refs")
            .exists()
    );
    survives_in(
        &sandbox,
        "git rebase --abort; git reset -q --hard; git branch -D b1 b2 b3; git gc -q --prune=now",
    );
    shell(&sandbox, "git rebase --continue");
    assert_eq!(sandbox.read("n"), "3\ndirty\n");
    sandbox.git(["rev-parse", "b1", "b2", "b3"]);
}

#[test]
fn a_bisection_half_done_finds_the_commit() {
    let sandbox = prepared(
        "for i in 1 2 3 4 5 6 7 8; do echo $i > f; git add f; git commit -qm $i; done
         git bisect start HEAD HEAD~7; git bisect good",
    );
    survives_in(
        &sandbox,
        "git bisect reset; git reset -q --hard HEAD~2; rm -rf .git/BISECT* .git/refs/bisect",
    );
    let found = sandbox.git(["bisect", "run", "sh", "-c", "test $(cat f) -lt 6"]);
    assert!(
        found.contains("first bad commit") && found.contains("\n    6\n"),
        "{found}"
    );
}

#[test]
fn an_unborn_branch_with_staged_files_whose_repository_was_made_anew() {
    let sandbox =
        prepared("echo a > a; git add a; echo b >> a; echo u > u; git add -N u; mkdir empty");
    survives_in(
        &sandbox,
        "rm -rf .git a u; git init -q -b other; git commit -q --allow-empty -m other",
    );
}

#[test]
fn refs_that_name_refs() {
    let sandbox = prepared(
        "git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2
         git symbolic-ref refs/heads/alias refs/heads/main
         git update-ref refs/remotes/origin/main HEAD~1
         git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main; git pack-refs --all",
    );
    survives_in(
        &sandbox,
        "git symbolic-ref -d refs/heads/alias; rm -rf .git/refs/remotes; git update-ref -d refs/remotes/origin/main; git pack-refs --all",
    );
}

#[test]
fn a_worktrees_own_configuration() {
    let sandbox = prepared(
        "echo a > a; git add a; git commit -qm a
         git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout false",
    );
    survives_in(
        &sandbox,
        "rm .git/config.worktree; git config --unset extensions.worktreeConfig; rm a",
    );
}

#[test]
fn repositories_and_loops_inside() {
    let sandbox = prepared(
        "echo a > a; git add a; git commit -qm a
         git init -q --bare nested.git; git push -q nested.git HEAD:main
         git init -q unborn; echo x > unborn/x
         mkdir -p fake/.git/objects fake/.git/refs; echo x > fake/.git/random; echo y > fake/z
         mkdir round; echo 'gitdir: ../round' > round/.git; ln -s .git self; ln -s loop loop; ln -s . here; ln -s .. up",
    );
    survives_in(
        &sandbox,
        "rm -rf nested.git unborn fake round self loop here up; mkdir loop; echo x > loop/x; ln -s / up",
    );
}

#[test]
fn a_bare_repository_comes_back() {
    let sandbox = prepared(
        "git init -q --bare ../bare.git; git commit -q --allow-empty -m 1; git push -q ../bare.git HEAD:main HEAD:x",
    );
    let bare = sandbox.path("bare.git");
    let says = || {
        in_dir(&sandbox, &bare, "git", &["for-each-ref"])
            .exits(0)
            .out
    };
    let (before, said) = (Picture::at(&bare).files, says());
    let id = holdpoint_at(&sandbox, &bare, &["save"]);
    shell(
        &sandbox,
        "cd ../bare.git; git update-ref -d refs/heads/x; rm -rf objects/* HEAD",
    );
    holdpoint_at(&sandbox, &bare, &["rollback", &id, "--refs", "--yes"]);
    assert_eq!((before, said), (Picture::at(&bare).files, says()));
    in_dir(&sandbox, &bare, "git", &["fsck", "--strict"]).exits(0);
}

#[test]
fn a_linked_worktree_of_a_submodule() {
    let sandbox = prepared(
        "git init -q ../lib; cd ../lib; echo 1 > f; git add f; git commit -qm 1; cd ../work
         git submodule --quiet add ../lib sub; git commit -qm sub; cd sub
         git worktree add -q -b own ../../tree; cd ../../tree; echo dirty > f; echo u > u; git add u",
    );
    comes_back_at(&sandbox, &sandbox.path("tree"), &["--refs"], || {
        shell(
            &sandbox,
            "cd ../tree; git reset -q --hard; git checkout -q --detach; git branch -D own; rm -f .git f",
        );
    });
}

#[test]
fn names_that_somebody_takes_for_gits() {
    let sandbox = prepared(
        r"touch -- -rf ':(top)x' .GIT 'git~1' aux '.git ' '.git.' 'con' 'a:b' 'a\b' '[' '~' '#x' '!y' ' lead' 'trail ' '...'
          mkdir .Git; echo '[core] bare = true' > .Git/config; git add -A -- . || true",
    );
    survives_in(
        &sandbox,
        "git reset -q; find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +",
    );
}

#[test]
fn composed_and_decomposed_names_are_two() {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
    for setting in ["true", "false"] {
        for names in [vec![decomposed], vec![composed, decomposed]] {
            let sandbox = prepared(&format!("git config core.precomposeUnicode {setting}"));
            for (n, name) in names.iter().enumerate() {
                sandbox.write(name, format!("{n}\n"));
                sandbox.write(format!("dir-{name}/{name}"), format!("in {n}\n"));
            }
            sandbox.git(["add", "-A"]);
            sandbox.write(format!("late-{decomposed}"), "untracked\n");
            survives_in(
                &sandbox,
                "git rm -rqf --cached .; find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +",
            );
            let listed = fs::read_dir(sandbox.work()).unwrap().flatten();
            let found = listed
                .filter(|entry| entry.file_name() == *decomposed)
                .count();
            assert_eq!(found, 1);
        }
    }
}

#[test]
fn a_target_as_long_as_the_system_takes() {
    let sandbox =
        prepared("ln -s $(printf 'x/%.0s' $(seq 2047)) long; ln -s $'to\\nthere\\xff' odd");
    survives_in(&sandbox, "rm long odd; ln -s short long");
}

#[test]
fn undo_says_so_when_its_point_was_dropped() {
    let sandbox = prepared("echo 1 > a");
    let first = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.write("a", "2\n");
    sandbox.holdpoint(["rollback", &first, "--yes"]).exits(0);
    // The point that it went back to is not needed for the way back.
    sandbox.holdpoint(["points", "drop", &first]).exits(0);
    sandbox.holdpoint(["points", "prune"]).exits(0);
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a"), "2\n");
    let redo = sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a"), "1\n", "{}", redo.err);
    let points = sandbox.holdpoint(["points", "--json"]).exits(0).out;
    let points: Vec<serde_json::Value> = serde_json::from_str(&points).unwrap();
    for point in &points {
        sandbox
            .holdpoint(["points", "drop", point["id"].as_str().unwrap()])
            .exits(0);
    }
    let refused = sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(2);
    assert!(
        refused.err.contains("is gone, it was dropped or pruned"),
        "{}",
        refused.err
    );
    assert_eq!(sandbox.read("a"), "1\n");
}

#[test]
fn a_redo_goes_where_the_rollback_went_though_points_were_taken_since() {
    let sandbox = prepared("echo 1 > a");
    let first = save(&sandbox)["id"].as_str().unwrap().to_owned();
    sandbox.write("a", "2\n");
    sandbox.holdpoint(["rollback", &first, "--yes"]).exits(0);
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    sandbox.write("a", "3\n");
    save(&sandbox);
    sandbox.write("a", "4\n");
    sandbox.holdpoint(["rollback", "--redo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a"), "1\n");
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("a"), "4\n");
}
