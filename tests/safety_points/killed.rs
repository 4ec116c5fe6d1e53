//! Killed at any write, eight at once, a full disk: never half a point, never half a workspace unsaid.

use super::picture::Picture;
use super::save;
use crate::support::Sandbox;
use std::fs;
use std::process::{Command, Stdio};

fn shell(sandbox: &Sandbox, text: &str) {
    let output = sandbox.command("sh").args(["-ec", text]).output().unwrap();
    assert!(
        output.status.success(),
        "{text}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn busy() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        (".gitignore", ".env\n"),
        ("a.txt", "a\n"),
        ("in/b.txt", "b\n"),
        ("in/deep/c.txt", "c\n"),
        ("swap", "file\n"),
    ]);
    shell(
        &sandbox,
        "echo stash > a.txt; git stash -q; echo index > a.txt; git add a.txt; echo worktree > a.txt
         echo secret > .env; ln -s a.txt link; mkdir empty; chmod 600 in/b.txt",
    );
    sandbox
}

/// Everything that a rollback has to take back: files, types, the index, the stash.
fn destroy(sandbox: &Sandbox) {
    shell(
        sandbox,
        "git stash drop -q; git reset -q --hard; rm -rf in link .env empty swap
         mkdir swap; echo x > swap/x; echo new > new; ln -s / in; git add -A",
    );
}

/// Runs `holdpoint` so that it dies at the n-th write; returns whether it did.
fn dies_at(sandbox: &Sandbox, args: &[&str], at: u64) -> bool {
    let status = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .args(args)
        .env("HOLDPOINT_TEST_DIE_AT", at.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    status.code().is_none()
}

/// How many steps there are between two kills: all of them in a thorough run.
fn stride() -> usize {
    std::env::var("HOLDPOINT_THOROUGH").map_or(7, |_| 1)
}

fn no_lock_is_left(sandbox: &Sandbox) {
    let found = sandbox
        .command("find")
        .args([".git", "-name", "*.lock"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

fn ids(sandbox: &Sandbox) -> usize {
    let ran = sandbox.holdpoint(["points", "--json"]).exits(0);
    let points: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    points.as_array().unwrap().len()
}

#[test]
fn a_save_that_is_killed_leaves_whole_points_only() {
    let sandbox = busy();
    save(&sandbox);
    let mut kills = 0;
    for at in (1..).step_by(stride()) {
        sandbox.write("a.txt", format!("{at}\n"));
        sandbox.write(format!("new/{at}.txt"), format!("new {at}\n"));
        let before = Picture::of(&sandbox);
        let died = dies_at(&sandbox, &["save"], at);
        no_lock_is_left(&sandbox);
        sandbox.holdpoint(["points", "verify"]).exits(0);
        // The next save holds everything, whatever the dead one left behind.
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        if kills % 5 == 0 {
            shell(&sandbox, "rm -rf new a.txt");
            sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
            before.assert_same(&Picture::of(&sandbox));
        }
        if !died {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 2, "only {kills} kills");
    let left = sandbox
        .command("find")
        .arg(sandbox.path("state"))
        .args(["-name", "tmp-*"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
    println!("{kills} kills of save");
}

#[test]
fn a_first_save_that_is_killed_leaves_whole_points_only() {
    for at in (1..).step_by(stride() * 3) {
        let sandbox = busy();
        let before = Picture::of(&sandbox);
        let died = dies_at(&sandbox, &["save"], at);
        sandbox.holdpoint(["points", "verify"]).exits(0);
        save(&sandbox);
        destroy(&sandbox);
        sandbox.holdpoint(["rollback", "--yes"]).exits(0);
        before.assert_same(&Picture::of(&sandbox));
        if !died {
            break;
        }
    }
}

#[test]
fn a_rollback_that_is_killed_is_finished_by_the_next_command() {
    let sandbox = busy();
    let wanted = Picture::of(&sandbox);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let mut kills = 0;
    for at in (1..).step_by(stride()) {
        destroy(&sandbox);
        let destroyed = Picture::of(&sandbox);
        let died = dies_at(&sandbox, &["rollback", &id, "--yes"], at);
        no_lock_is_left(&sandbox);
        // Any next command finishes it, or nothing had begun.
        let next = if at % 2 == 0 { "save" } else { "points" };
        sandbox.holdpoint([next]).exits(0);
        let after = Picture::of(&sandbox);
        if after != destroyed {
            wanted.assert_same(&after);
        }
        sandbox.holdpoint(["points", "verify"]).exits(0);
        if !died {
            break;
        }
        kills += 1;
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        wanted.assert_same(&Picture::of(&sandbox));
    }
    assert!(kills >= 5, "only {kills} kills");
    println!("{kills} kills of rollback");
}

#[test]
fn a_rollback_killed_in_an_empty_place_is_finished() {
    let mut kills = 0;
    for at in (30..).step_by(stride() * 5) {
        let sandbox = busy();
        let wanted = Picture::of(&sandbox);
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        shell(&sandbox, "rm -rf .[!.]* *");
        let died = dies_at(&sandbox, &["rollback", &id, "--yes"], at);
        sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
        wanted.assert_same(&Picture::of(&sandbox));
        sandbox.git(["fsck", "--strict"]);
        if !died {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 2, "only {kills} kills");
}

#[test]
fn what_changed_after_a_kill_is_not_overwritten() {
    let sandbox = busy();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    destroy(&sandbox);
    let journal = || {
        let found = sandbox
            .command("find")
            .arg(sandbox.path("state"))
            .args(["-name", "*.journal"])
            .output()
            .unwrap();
        !found.stdout.is_empty()
    };
    let mut at = 1;
    while !journal() {
        assert!(dies_at(&sandbox, &["rollback", &id, "--yes"], at));
        at += 1;
    }
    sandbox.write("a.txt", "a person was here\n");
    let ran = sandbox.holdpoint(["save"]).exits(0);
    assert!(ran.err.contains("a.txt"), "{}", ran.err);
    assert_eq!(sandbox.read("a.txt"), "a person was here\n");
    assert_eq!(sandbox.read(".env"), "secret\n");
}

#[test]
fn a_prune_that_is_killed_loses_no_point() {
    let sandbox = busy();
    let keep = save(&sandbox)["id"].as_str().unwrap().to_owned();
    let wanted = Picture::of(&sandbox);
    let mut kills = 0;
    for at in 1.. {
        sandbox.write("a.txt", format!("dropped {at}\n"));
        let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
        sandbox.write("a.txt", format!("{at}\n"));
        save(&sandbox);
        sandbox.holdpoint(["points", "drop", &id]).exits(0);
        let died = dies_at(&sandbox, &["points", "prune"], at);
        sandbox.holdpoint(["points", "verify"]).exits(0);
        if !died {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 2, "only {kills} kills");
    sandbox.holdpoint(["points", "prune"]).exits(0);
    sandbox.holdpoint(["rollback", &keep, "--yes"]).exits(0);
    wanted.assert_same(&Picture::of(&sandbox));
}

#[test]
fn dropped_points_give_their_bytes_back() {
    let sandbox = busy();
    save(&sandbox);
    let mut state = 7_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    })
    .take(2_000_000)
    .collect();
    sandbox.write("large.bin", noise);
    let large = save(&sandbox)["id"].as_str().unwrap().to_owned();
    fs::remove_file(sandbox.work().join("large.bin")).unwrap();
    save(&sandbox);
    let size = || {
        let out = sandbox
            .command("du")
            .arg("-sk")
            .arg(sandbox.path("state"))
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        text.split_whitespace()
            .next()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let before = size();
    sandbox.holdpoint(["points", "drop", &large]).exits(0);
    sandbox.holdpoint(["points", "prune"]).exits(0);
    assert!(size() + 500 < before, "{before} -> {}", size());
    sandbox.holdpoint(["points", "verify"]).exits(0);
    let again = save(&sandbox);
    assert_eq!(again["new"], false);
}

#[test]
fn eight_at_once_lose_no_point() {
    let sandbox = busy();
    save(&sandbox);
    let rounds = if std::env::var("HOLDPOINT_THOROUGH").is_ok() {
        400
    } else {
        5
    };
    std::thread::scope(|scope| {
        for saver in 0..8 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for round in 0..rounds {
                    sandbox.write(format!("saver{saver}.txt"), format!("{saver} {round}\n"));
                    let ran = sandbox.holdpoint(["save"]).exits(0);
                    assert_eq!(ran.err, "");
                }
            });
        }
        scope.spawn(|| {
            for round in 0..rounds * 2 {
                sandbox.write("committed.txt", format!("{round}\n"));
                // git itself may find its own lock taken by nobody but git.
                sandbox.git(["add", "committed.txt"]);
                sandbox.git(["commit", "-qm", "round"]);
                if round % 20 == 7 {
                    sandbox.git(["gc", "-q", "--prune=now"]);
                }
            }
        });
    });
    sandbox.holdpoint(["points", "verify"]).exits(0);
    let wanted = Picture::of(&sandbox);
    let points = ids(&sandbox);
    assert!(points >= rounds, "{points}");
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "rm -rf .git ./*.txt");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    wanted.assert_same(&Picture::of(&sandbox));
    sandbox.git(["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn pruning_beside_savers_loses_nothing() {
    let sandbox = busy();
    save(&sandbox);
    std::thread::scope(|scope| {
        for saver in 0..3 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for round in 0..8 {
                    sandbox.write(format!("saver{saver}.txt"), format!("{saver} {round}\n"));
                    let id = save(sandbox)["id"].as_str().unwrap().to_owned();
                    if round % 2 == 0 {
                        sandbox.holdpoint(["points", "drop", &id]);
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..10 {
                sandbox.holdpoint(["points", "prune"]).exits(0);
            }
        });
    });
    sandbox.holdpoint(["points", "verify"]).exits(0);
    let wanted = Picture::of(&sandbox);
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(&sandbox, "rm -rf .git ./*.txt in");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    wanted.assert_same(&Picture::of(&sandbox));
}

/// Runs a script in a mount namespace of its own; `None` where the machine does not let us.
fn in_namespace(sandbox: &Sandbox, script: &str) -> Option<std::process::Output> {
    let can = Command::new("unshare")
        .args(["-rm", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    can.then(|| {
        sandbox
            .command("unshare")
            .args(["-rm", "sh", "-ec", script])
            .env("HOLDPOINT", env!("CARGO_BIN_EXE_holdpoint"))
            .output()
            .unwrap()
    })
}

#[test]
fn a_full_disk_is_loud_and_leaves_earlier_points_whole() {
    let sandbox = busy();
    sandbox.write("large.bin", vec![7_u8; 100]);
    let script = "
        mkdir -p ../small; mount -t tmpfs -o size=600k tmpfs ../small
        export XDG_STATE_HOME=$(realpath ../small)
        \"$HOLDPOINT\" save >/dev/null
        head -c 4000000 /dev/urandom > large.bin
        if \"$HOLDPOINT\" save 2> ../err; then echo saved anyway; exit 1; fi
        grep -q 'space' ../err; grep -q 'hint' ../err
        \"$HOLDPOINT\" points verify
        rm a.txt; head -c 100 /dev/zero > large.bin
        echo fits > large.bin
        \"$HOLDPOINT\" rollback --yes
        test \"$(cat a.txt)\" = worktree";
    let Some(output) = in_namespace(&sandbox, script) else {
        return;
    };
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_full_workspace_leaves_a_rollback_that_can_be_finished() {
    let sandbox = busy();
    let script = "
        mkdir -p ../small; mount -t tmpfs -o size=3m tmpfs ../small; cd ../small
        git init -q .; head -c 1500000 /dev/urandom > large; echo a > a; cp large ../copy
        id=$(\"$HOLDPOINT\" save)
        rm large; echo b > a; head -c 2700000 /dev/urandom > filler
        \"$HOLDPOINT\" save >/dev/null
        mkdir ../out; mv filler ../out/; ln ../out/filler . 2>/dev/null || true
        head -c 2700000 /dev/zero > ballast || true
        mount --bind ballast ballast
        if \"$HOLDPOINT\" rollback $id --yes 2> ../err; then :; else grep -q space ../err; fi
        umount ballast; rm -f ballast
        \"$HOLDPOINT\" rollback $id --yes
        cmp large ../copy; test \"$(cat a)\" = a";
    let Some(output) = in_namespace(&sandbox, script) else {
        return;
    };
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_read_only_vault_is_loud() {
    let sandbox = busy();
    save(&sandbox);
    sandbox.write("a.txt", "edited\n");
    let script = "
        mount --bind ../state ../state; mount -o remount,ro,bind ../state
        if \"$HOLDPOINT\" save 2> ../err; then exit 1; fi
        grep -qi 'read-only' ../err; grep -q 'earlier points are intact' ../err
        \"$HOLDPOINT\" points | grep -q manual";
    if let Some(output) = in_namespace(&sandbox, script) {
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[test]
fn a_workspace_that_became_read_only_is_put_back_later() {
    let sandbox = Sandbox::plain();
    let script = "
        mkdir ../ro; mount -t tmpfs none ../ro; cd ../ro
        git init -q .; echo a > a; echo b > b; id=$(\"$HOLDPOINT\" save)
        rm a; echo x > b; mount -o remount,ro ../ro
        if \"$HOLDPOINT\" rollback $id --yes 2> ../err; then exit 1; fi
        grep -qi 'read-only' ../err
        \"$HOLDPOINT\" points 2> ../err | grep -q manual
        grep -q 'interrupted and could not be finished' ../err
        if \"$HOLDPOINT\" save 2> ../err; then exit 1; fi
        grep -q 'nothing is lost' ../err
        mount -o remount,rw ../ro
        \"$HOLDPOINT\" points 2>&1 | grep -q 'finished the rollback'
        test \"$(cat a b | tr -d '\\n')\" = ab";
    if let Some(output) = in_namespace(&sandbox, script) {
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn damage_is_found_and_named() {
    let sandbox = busy();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "pack=$(find ../state -name '*.pack'); printf 'x' | dd of=$pack bs=1 seek=40 conv=notrunc status=none",
    );
    let ran = sandbox.holdpoint(["points", "verify"]).exits(4);
    assert!(
        ran.out.contains(&id) || ran.out.contains("pack"),
        "{}",
        ran.out
    );
}

#[test]
fn a_clock_set_back_does_not_matter() {
    let sandbox = busy();
    let first = save(&sandbox)["id"].as_str().unwrap().to_owned();
    // A point from the future, as a clock that was wrong leaves it.
    shell(
        &sandbox,
        "points=$(dirname \"$(find ../state -path '*store/*.json')\"); cd \"$points\"
         for f in *.json; do sed 's/\"id\": \"[0-9A-Z]*\"/\"id\": \"7ZZZZZZZZZZZZZZZZZZZZZZZZ0\"/' $f > 7ZZZZZZZZZZZZZZZZZZZZZZZZ0.json; done",
    );
    sandbox.write("a.txt", "later\n");
    let second = save(&sandbox)["id"].as_str().unwrap().to_owned();
    assert!(
        second > first && second.as_str() > "7ZZZZZZZZZZZZZZZZZZZZZZZZ0",
        "{second}"
    );
    sandbox.holdpoint(["points", "verify"]).exits(0);
}
