//! A workspace that was renamed or moved is known again; a copy of it and whatever comes to its place are not.

use super::picture::Picture;
use super::wrecks::{rich, shell};
use super::{holdpoint_at, in_dir};
use crate::support::{Ran, Sandbox};
use std::fs;
use std::path::Path;
use std::process::Stdio;

fn holdpoint_in(sandbox: &Sandbox, dir: &Path, args: &[&str]) -> Ran {
    in_dir(sandbox, dir, env!("CARGO_BIN_EXE_holdpoint"), args)
}

fn save_in(sandbox: &Sandbox, dir: &Path) -> String {
    holdpoint_at(sandbox, dir, &["save"])
}

/// How many points are listed in a directory.
fn count_in(sandbox: &Sandbox, dir: &Path) -> usize {
    let listed = holdpoint_in(sandbox, dir, &["points", "--json"])
        .exits(0)
        .out;
    serde_json::from_str::<Vec<serde_json::Value>>(&listed)
        .unwrap()
        .len()
}

/// Whether this file system tells when a directory was made; without that none is known again.
fn tells_births(sandbox: &Sandbox) -> bool {
    fs::metadata(sandbox.work()).unwrap().created().is_ok()
}

#[test]
fn a_renamed_workspace_keeps_its_points_and_its_log() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let before = Picture::of(&sandbox);
    let id = save_in(&sandbox, &sandbox.work());
    shell(
        &sandbox,
        "rm -rf in; echo x > a.txt; git add -A; git commit -qm gone",
    );
    let destroyed = Picture::of(&sandbox);
    let there = sandbox.path("elsewhere/renamed");
    fs::create_dir(sandbox.path("elsewhere")).unwrap();
    fs::rename(sandbox.work(), &there).unwrap();
    let told = holdpoint_in(&sandbox, &there, &["points"]).exits(0);
    assert!(
        told.err.contains("this workspace was at") && told.err.contains("work"),
        "{}",
        told.err
    );
    assert!(
        told.out.contains(&id) && !told.out.contains("/work"),
        "{}",
        told.out
    );
    // Once is enough.
    assert_eq!(holdpoint_in(&sandbox, &there, &["points"]).exits(0).err, "");
    holdpoint_in(&sandbox, &there, &["rollback", "--yes", "--refs"]).exits(0);
    before.assert_same(&Picture::at(&there));
    holdpoint_in(&sandbox, &there, &["rollback", "--undo", "--yes"]).exits(0);
    destroyed.assert_same(&Picture::at(&there));
    holdpoint_in(&sandbox, &there, &["log", "--verify"]).exits(0);
    let log = holdpoint_in(&sandbox, &there, &["log", "--json"])
        .exits(0)
        .out;
    assert!(
        log.contains("saved_by_hand") && log.contains("asked_for"),
        "{log}"
    );
    // Nothing is left at the old place, and nothing is put there.
    assert!(!sandbox.work().exists());
    holdpoint_in(&sandbox, &there, &["points", "verify"]).exits(0);
}

#[test]
fn a_moved_workspace_without_its_repository_comes_back() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let before = Picture::of(&sandbox);
    let id = save_in(&sandbox, &sandbox.work());
    shell(&sandbox, "rm -rf .git a.txt");
    let there = sandbox.path("moved");
    fs::rename(sandbox.work(), &there).unwrap();
    holdpoint_in(&sandbox, &there, &["rollback", &id, "--yes"]).exits(0);
    before.assert_same(&Picture::at(&there));
    assert!(!sandbox.work().exists());
}

#[test]
fn what_was_undone_before_a_move_can_be_redone_after_it() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let before = Picture::of(&sandbox);
    let id = save_in(&sandbox, &sandbox.work());
    sandbox.write("a.txt", "later\n");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    let there = sandbox.path("moved");
    fs::rename(sandbox.work(), &there).unwrap();
    holdpoint_in(&sandbox, &there, &["rollback", "--redo", "--yes"]).exits(0);
    before.assert_same(&Picture::at(&there));
}

#[test]
fn moved_there_and_back_and_on_it_is_the_same_workspace() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    save_in(&sandbox, &sandbox.work());
    let mut at = sandbox.work();
    for (step, name) in ["one", "work", "two", "three"].iter().enumerate() {
        let to = sandbox.path(name);
        fs::rename(&at, &to).unwrap();
        at = to;
        assert_eq!(count_in(&sandbox, &at), step + 1);
        fs::write(at.join("step"), name).unwrap();
        save_in(&sandbox, &at);
    }
    // Two moves of which the first was never seen.
    fs::rename(&at, sandbox.path("unseen")).unwrap();
    fs::rename(sandbox.path("unseen"), sandbox.path("seen")).unwrap();
    assert_eq!(count_in(&sandbox, &sandbox.path("seen")), 5);
}

#[test]
fn a_copy_has_no_points_and_takes_none_away() {
    let sandbox = rich();
    save_in(&sandbox, &sandbox.work());
    shell(&sandbox, "cp -a . ../copy");
    let copy = sandbox.path("copy");
    assert_eq!(count_in(&sandbox, &copy), 0);
    assert_eq!(count_in(&sandbox, &sandbox.work()), 1);
    // Not even when the original is gone.
    fs::remove_dir_all(sandbox.work()).unwrap();
    assert_eq!(count_in(&sandbox, &copy), 0);
    save_in(&sandbox, &copy);
    assert_eq!(count_in(&sandbox, &copy), 1);
}

#[test]
fn what_comes_to_the_old_place_leaves_the_moved_one_its_points() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let id = save_in(&sandbox, &sandbox.work());
    let there = sandbox.path("aside");
    fs::rename(sandbox.work(), &there).unwrap();
    fs::create_dir(sandbox.work()).unwrap();
    sandbox.git(["init", "-q"]);
    let told = holdpoint_in(&sandbox, &there, &["points"]).exits(0);
    assert!(told.out.contains(&id), "{}", told.out);
    assert_eq!(count_in(&sandbox, &sandbox.work()), 0);
    sandbox.write("new", "new\n");
    save_in(&sandbox, &sandbox.work());
    assert_eq!(
        (
            count_in(&sandbox, &sandbox.work()),
            count_in(&sandbox, &there)
        ),
        (1, 1)
    );
}

#[test]
fn a_workspace_that_was_removed_and_made_again_still_has_its_points() {
    let sandbox = rich();
    // No point holds what tools make again.
    fs::remove_dir_all(sandbox.work().join("node_modules")).unwrap();
    let before = Picture::of(&sandbox);
    let id = save_in(&sandbox, &sandbox.work());
    fs::remove_dir_all(sandbox.work()).unwrap();
    fs::create_dir(sandbox.work()).unwrap();
    sandbox.git(["init", "-q"]);
    sandbox.holdpoint(["save"]).exits(0);
    sandbox
        .holdpoint(["rollback", &id, "--yes", "--refs"])
        .exits(0);
    assert_eq!(before.files, Picture::of(&sandbox).files);
    // And when it is moved after that.
    if tells_births(&sandbox) {
        fs::rename(sandbox.work(), sandbox.path("moved")).unwrap();
        let told = holdpoint_in(&sandbox, &sandbox.path("moved"), &["points"]).exits(0);
        assert!(told.out.contains(&id), "{}", told.out);
    }
}

#[test]
fn a_place_where_another_workspace_was_is_not_mixed_up_with_it() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let mine = save_in(&sandbox, &sandbox.work());
    let other = sandbox.path("other");
    shell(&sandbox, "git init -q ../other; echo o > ../other/o");
    let theirs = save_in(&sandbox, &other);
    fs::remove_dir_all(&other).unwrap();
    fs::rename(sandbox.work(), &other).unwrap();
    let told = holdpoint_in(&sandbox, &other, &["points"]).exits(0);
    assert!(
        told.out.contains(&mine) && !told.out.contains(&theirs),
        "{}",
        told.out
    );
    assert!(
        told.err.contains("another workspace that was here"),
        "{}",
        told.err
    );
    // What was kept for that one is still on the disk.
    let aside = told.err.split(" lies in ").nth(1).unwrap().trim();
    assert!(
        Path::new(aside)
            .join("vault/store")
            .join(format!("{theirs}.json"))
            .exists()
    );
}

#[test]
fn a_moved_linked_worktree_keeps_its_points() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    shell(
        &sandbox,
        "git worktree add -q ../linked side; echo l > ../linked/a.txt; echo e > ../linked/.env",
    );
    let (linked, there) = (sandbox.path("linked"), sandbox.path("there"));
    let before = Picture::at(&linked);
    let id = save_in(&sandbox, &linked);
    shell(
        &sandbox,
        "git worktree move ../linked ../there; rm ../there/.env; echo x > ../there/a.txt",
    );
    let told = holdpoint_in(&sandbox, &there, &["rollback", "--yes"]).exits(0);
    assert!(told.err.contains("this worktree was at"), "{}", told.err);
    before.assert_same(&Picture::at(&there));
    let listed = holdpoint_in(&sandbox, &there, &["points"]).exits(0);
    assert!(listed.out.contains(&id), "{}", listed.out);
    in_dir(&sandbox, &there, "git", &["status"]).exits(0);
}

#[test]
fn a_linked_worktree_whose_repository_was_moved_comes_back() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    shell(
        &sandbox,
        "git worktree add -q ../linked side; echo l > ../linked/a.txt; git -C ../linked add a.txt",
    );
    let linked = sandbox.path("linked");
    let before = Picture::at(&linked).files;
    let id = save_in(&sandbox, &linked);
    save_in(&sandbox, &sandbox.work());
    shell(
        &sandbox,
        "rm ../linked/a.txt; git -C ../linked add -A; git -C ../linked commit -qm gone",
    );
    let main = sandbox.path("main");
    fs::rename(sandbox.work(), &main).unwrap();
    assert_eq!(count_in(&sandbox, &main), 2);
    in_dir(&sandbox, &main, "git", &["worktree", "repair"]).exits(0);
    holdpoint_in(&sandbox, &linked, &["rollback", &id, "--yes", "--refs"]).exits(0);
    let mut after = Picture::at(&linked).files;
    // The file that names the repository names the one that is there.
    let named = after.insert(b".git".to_vec(), before[b".git".as_slice()].clone());
    assert_ne!(named.as_ref(), before.get(b".git".as_slice()));
    assert_eq!(before, after);
    let status = in_dir(&sandbox, &linked, "git", &["status", "--porcelain"]).exits(0);
    assert_eq!(status.out, "M  a.txt\n");
    assert!(!sandbox.work().exists());
}

#[test]
fn the_confirmed_policy_goes_along() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    sandbox.write(".ccg/contract.md", "## Scope\n### In Scope\n- `in/`\n");
    sandbox.holdpoint(["init"]).exits(0);
    save_in(&sandbox, &sandbox.work());
    let there = sandbox.path("moved");
    fs::rename(sandbox.work(), &there).unwrap();
    // Widened by somebody who moved it and hopes that nothing is agreed there.
    fs::write(
        there.join(".ccg/contract.md"),
        "## Scope\n### In Scope\n- `**`\n",
    )
    .unwrap();
    let judged = holdpoint_in(
        &sandbox,
        &there,
        &["check", "write", "--actor", "agent", "a.txt"],
    );
    assert_eq!(judged.code, 1, "{} {}", judged.out, judged.err);
    assert!(
        judged.out.contains("contract.out-of-scope"),
        "{}",
        judged.out
    );
    let status = holdpoint_in(&sandbox, &there, &["status"]).exits(0);
    assert_eq!(status.err, "");
}

#[test]
fn a_vault_kept_elsewhere_is_found_again() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let store = sandbox.path("store");
    fs::create_dir_all(sandbox.path("config/holdpoint")).unwrap();
    let json = serde_json::json!({ "safety": { "store": store } });
    fs::write(
        sandbox.path("config/holdpoint/preferences.json"),
        json.to_string(),
    )
    .unwrap();
    let id = save_in(&sandbox, &sandbox.work());
    assert!(store.is_dir());
    fs::rename(sandbox.work(), sandbox.path("moved")).unwrap();
    let told = holdpoint_in(&sandbox, &sandbox.path("moved"), &["points"]).exits(0);
    assert!(told.out.contains(&id), "{}", told.out);
}

#[test]
fn a_move_that_is_seen_by_a_dying_command_is_seen_again() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let before = Picture::of(&sandbox);
    let id = save_in(&sandbox, &sandbox.work());
    let mut at = sandbox.work();
    let mut kills = 0;
    for step in 1.. {
        let to = sandbox.path(format!("place-{step}"));
        fs::rename(&at, &to).unwrap();
        at = to;
        let status = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .arg("points")
            .env("HOLDPOINT_TEST_DIE_AT", step.to_string())
            .current_dir(&at)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        // Now and then it moves on before anybody looked again.
        if step % 3 == 0 {
            let to = sandbox.path(format!("unseen-{step}"));
            fs::rename(&at, &to).unwrap();
            at = to;
        }
        assert_eq!(count_in(&sandbox, &at), 1, "killed at {step}");
        if status.success() {
            break;
        }
        kills += 1;
    }
    assert!(kills > 5, "only {kills} kills");
    fs::remove_file(at.join("a.txt")).unwrap();
    holdpoint_at(&sandbox, &at, &["rollback", &id, "--yes"]);
    before.assert_same(&Picture::at(&at));
    holdpoint_at(&sandbox, &at, &["points", "verify"]);
    holdpoint_at(&sandbox, &at, &["log", "--verify"]);
}

#[test]
fn a_workspace_that_became_a_link_to_itself_is_the_same() {
    let sandbox = rich();
    if !tells_births(&sandbox) {
        return;
    }
    let before = Picture::of(&sandbox);
    save_in(&sandbox, &sandbox.work());
    shell(&sandbox, "rm a.txt; mv ../work ../real; ln -s real ../work");
    holdpoint_at(&sandbox, &sandbox.work(), &["rollback", "--yes"]);
    before.assert_same(&Picture::at(&sandbox.path("real")));
}

#[test]
fn a_repository_outside_the_worktree_may_have_been_moved_along() {
    for setup in [
        "git init -q ../lib; cd ../lib; echo 1 > f; git add f; git commit -qm 1
         git init -q ../up/super; cd ../up/super; git submodule --quiet add ../../lib tree; git commit -qm tree",
        "git init -q --separate-git-dir ../up/super/apart.git ../up/super/tree; cd ../up/super/tree; echo 1 > f; git add f; git commit -qm 1",
    ] {
        let sandbox = Sandbox::plain();
        if !tells_births(&sandbox) {
            return;
        }
        fs::create_dir_all(sandbox.path("up/super")).unwrap();
        shell(&sandbox, setup);
        shell(&sandbox, "cd ../up/super/tree; echo 2 > f; git stash -q; echo 3 > f; git add f");
        let id = save_in(&sandbox, &sandbox.path("up/super/tree"));
        fs::rename(sandbox.path("up"), sandbox.path("down")).unwrap();
        let there = sandbox.path("down/super/tree");
        if setup.contains("separate") {
            // git itself has to be told of such a move.
            let names = format!("gitdir: {}\n", sandbox.path("down/super/apart.git").display());
            fs::write(there.join(".git"), names).unwrap();
        }
        shell(&sandbox, "cd ../down/super/tree; git stash drop -q; git reset -q --hard; git branch later");
        holdpoint_at(&sandbox, &there, &["rollback", &id, "--yes", "--refs"]);
        let status = in_dir(&sandbox, &there, "git", &["status", "--porcelain"]).exits(0);
        let refs = in_dir(&sandbox, &there, "git", &["for-each-ref", "--format=%(refname)"]).exits(0);
        assert_eq!(status.out, "M  f\n");
        assert!(refs.out.contains("refs/stash") && !refs.out.contains("later"), "{}", refs.out);
    }
}

#[test]
fn a_note_that_is_damaged_is_written_anew() {
    let sandbox = rich();
    let before = Picture::of(&sandbox);
    let id = save_in(&sandbox, &sandbox.work());
    let repos = fs::read_dir(sandbox.path("state/holdpoint/repos")).unwrap();
    let note = repos.flatten().next().unwrap().path().join("repo.json");
    for damage in ["", "{", "null", "{\"version\":1}"] {
        fs::write(&note, damage).unwrap();
        // It is known that there was a workspace, even without its repository.
        shell(&sandbox, "rm -rf .git a.txt");
        holdpoint_at(&sandbox, &sandbox.work(), &["rollback", &id, "--yes"]);
        before.assert_same(&Picture::of(&sandbox));
        assert!(
            fs::read_to_string(&note).unwrap().contains("\"root\""),
            "{damage}"
        );
    }
    if tells_births(&sandbox) {
        fs::rename(sandbox.work(), sandbox.path("moved")).unwrap();
        holdpoint_at(
            &sandbox,
            &sandbox.path("moved"),
            &["rollback", &id, "--yes"],
        );
    }
}
