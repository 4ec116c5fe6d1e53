//! A vault that was damaged: what is whole stays usable, the rest is named, and the next point is whole.

use super::picture::Picture;
use super::save;
use super::wrecks::{rich, shell};
use crate::support::Sandbox;
use bstr::ByteSlice as _;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

fn id_of_save(sandbox: &Sandbox) -> String {
    save(sandbox)["id"].as_str().unwrap().to_owned()
}

/// The one vault's directory of packs and records.
fn store(sandbox: &Sandbox) -> PathBuf {
    let repos = sandbox.path("state/holdpoint/repos");
    let mut all = fs::read_dir(repos).unwrap().flatten();
    all.next().unwrap().path().join("vault/store")
}

fn packs(sandbox: &Sandbox) -> Vec<PathBuf> {
    fs::read_dir(store(sandbox))
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "pack")
        })
        .collect()
}

fn cut(path: &Path, len: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(len).unwrap();
}

#[test]
fn a_record_that_cannot_be_read_hides_no_other() {
    let sandbox = rich();
    let first = id_of_save(&sandbox);
    let before = Picture::of(&sandbox);
    sandbox.write("a.txt", "later\n");
    let second = id_of_save(&sandbox);
    cut(&store(&sandbox).join(format!("{second}.json")), 10);
    let listed = sandbox.holdpoint(["points"]).exits(0);
    assert!(
        listed.out.contains(&first) && !listed.out.contains(&second),
        "{}",
        listed.out
    );
    let told = format!("holdpoint points drop {second}");
    assert!(listed.err.contains(&told), "{}", listed.err);
    sandbox.holdpoint(["rollback", "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
    sandbox.write("new", "new\n");
    let third = id_of_save(&sandbox);
    let verified = sandbox.holdpoint(["points", "verify"]).exits(4);
    assert!(
        verified.out.contains(&second) && !verified.out.contains(&third),
        "{}",
        verified.out
    );
    sandbox.holdpoint(["points", "drop", &second]).exits(0);
    sandbox.holdpoint(["points", "verify"]).exits(0);
    sandbox.holdpoint(["points", "prune"]).exits(0);
}

#[test]
fn after_a_pack_was_lost_the_next_point_is_whole() {
    let wrecks: [fn(&Path); 4] = [
        |pack| fs::remove_file(pack).unwrap(),
        |pack| cut(pack, 0),
        |pack| cut(pack, 100),
        |pack| fs::write(pack, "something else").unwrap(),
    ];
    for wreck in wrecks {
        for changed in [false, true] {
            let sandbox = rich();
            id_of_save(&sandbox);
            for pack in packs(&sandbox) {
                wreck(&pack);
            }
            if changed {
                sandbox.write("new", "new\n");
            }
            let before = Picture::of(&sandbox);
            let saved = sandbox.holdpoint(["save"]).exits(0);
            assert!(saved.err.contains("has lost contents"), "{}", saved.err);
            shell(&sandbox, "rm -rf .git a.txt in .env .gitignore");
            sandbox
                .holdpoint(["rollback", saved.out.trim(), "--yes"])
                .exits(0);
            before.assert_same(&Picture::of(&sandbox));
            // It was said once, and the next one is cheap again.
            assert_eq!(sandbox.holdpoint(["save"]).exits(0).err, "");
        }
    }
}

#[test]
fn after_bytes_were_overwritten_a_check_sets_them_aside_and_the_next_point_is_whole() {
    let sandbox = rich();
    sandbox.write("noise", blake3::hash(b"noise").to_hex().repeat(40));
    let id = id_of_save(&sandbox);
    let before = Picture::of(&sandbox);
    for pack in packs(&sandbox) {
        let len = fs::metadata(&pack).unwrap().len();
        let file = fs::File::options().write(true).open(&pack).unwrap();
        for at in (20..len / 2).step_by(97) {
            file.write_all_at(b"\xee\xee", at).unwrap();
        }
    }
    let told = sandbox.holdpoint(["points", "verify"]).exits(4).out;
    assert!(
        told.contains(".damaged") && told.contains("holdpoint save"),
        "{told}"
    );
    assert!(told.contains(&id), "{told}");
    let saved = id_of_save(&sandbox);
    shell(&sandbox, "rm -rf .git a.txt in noise .env .gitignore");
    sandbox.holdpoint(["rollback", &saved, "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[test]
fn what_the_vault_still_has_comes_back_and_the_rest_is_named() {
    let sandbox = rich();
    id_of_save(&sandbox);
    let old = packs(&sandbox);
    sandbox.write("lost", "lost\n");
    std::os::unix::fs::symlink("some/where else", sandbox.work().join("link")).unwrap();
    let id = id_of_save(&sandbox);
    let mut hit = 0;
    for pack in packs(&sandbox).iter().filter(|pack| !old.contains(pack)) {
        let bytes = fs::read(pack).unwrap();
        let file = fs::File::options().write(true).open(pack).unwrap();
        for content in [b"lost\n".as_slice(), b"some/where else"] {
            if let Some(at) = bytes.find(content) {
                file.write_all_at(b"?", at as u64).unwrap();
                hit += 1;
            }
        }
    }
    assert_eq!(hit, 2);
    shell(
        &sandbox,
        "rm -rf lost link in a.txt .env; mkdir link; echo x > link/x",
    );
    let ran = sandbox.holdpoint(["rollback", &id, "--yes"]).exits(3);
    for path in ["lost", "link"] {
        let told = format!("could not be put back: {path} (the vault's copy is missing or damaged");
        assert!(ran.err.contains(&told), "{}", ran.err);
    }
    assert_eq!(sandbox.read("a.txt"), "a\na2\n");
    assert_eq!(sandbox.read("in/b.txt"), "worktree\n");
    assert!(sandbox.work().join(".env").exists());
    assert!(sandbox.work().join("link").is_dir());
    // What was there before can be had again.
    sandbox.holdpoint(["rollback", "--undo", "--yes"]).exits(0);
    assert_eq!(sandbox.read("link/x"), "x\n");
    assert!(!sandbox.work().join("a.txt").exists());
}

#[test]
fn merged_and_pruned_packs_are_no_lost_ones() {
    let sandbox = rich();
    for n in 0..40 {
        sandbox.write("a.txt", format!("{n}\n"));
        let saved = sandbox.holdpoint(["save"]).exits(0);
        assert_eq!(saved.err, "", "{n}");
    }
    assert!(packs(&sandbox).len() < 40);
    sandbox.holdpoint(["points", "prune"]).exits(0);
    assert_eq!(sandbox.holdpoint(["save"]).exits(0).err, "");
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[test]
fn a_stat_cache_that_is_gone_or_garbage_costs_nothing_but_time() {
    let sandbox = rich();
    let id = id_of_save(&sandbox);
    let cache = store(&sandbox).with_file_name("cache");
    for wreck in [
        "rm -f *",
        "for f in *; do : > $f; done",
        "for f in *; do truncate -s 40 $f; done",
        "for f in *; do echo garbage > $f; done",
    ] {
        let ran = sandbox
            .command("sh")
            .args(["-c", wreck])
            .current_dir(&cache)
            .status();
        assert!(ran.unwrap().success());
        assert_eq!(id_of_save(&sandbox), id, "{wreck}");
    }
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[test]
fn no_bit_of_a_stat_cache_gets_into_a_point() {
    let sandbox = rich();
    id_of_save(&sandbox);
    sandbox.write("in/new", "new\n");
    id_of_save(&sandbox);
    let cache = store(&sandbox).with_file_name("cache");
    let files: Vec<_> = fs::read_dir(&cache)
        .unwrap()
        .flatten()
        .map(|entry| (entry.path(), fs::read(entry.path()).unwrap()))
        .collect();
    assert!(files.len() > 1);
    for round in 0..60_usize {
        for (path, bytes) in &files {
            let mut bytes = bytes.clone();
            let at = round * 7919 % bytes.len();
            match round % 3 {
                0 => bytes[at] ^= 1 << (round % 8),
                1 => bytes
                    .iter_mut()
                    .skip(at)
                    .take(64)
                    .for_each(|byte| *byte = 0),
                _ => bytes.truncate(at),
            }
            fs::write(path, bytes).unwrap();
        }
        sandbox.write("a.txt", format!("{round}\n"));
        let before = Picture::of(&sandbox);
        let id = id_of_save(&sandbox);
        if round % 6 == 0 {
            shell(&sandbox, "rm -rf in a.txt .env");
            sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
            before.assert_same(&Picture::of(&sandbox));
        }
    }
    sandbox.holdpoint(["points", "verify"]).exits(0);
}

#[test]
fn a_large_pack_that_was_damaged_in_the_vault_is_held_anew() {
    let sandbox = rich();
    shell(
        &sandbox,
        "head -c 9500000 /dev/urandom > large; git add large; git commit -qm large; git gc -q; rm large",
    );
    let id = id_of_save(&sandbox);
    let before = Picture::of(&sandbox);
    let links = store(&sandbox).with_file_name("links");
    let find = |pattern: &str| -> Vec<PathBuf> {
        let found = sandbox
            .command("find")
            .arg(&links)
            .args(["-type", "f", "-name", pattern])
            .output()
            .unwrap();
        let text = String::from_utf8(found.stdout).unwrap();
        text.lines().map(PathBuf::from).collect()
    };
    for wreck in [
        // Another file, so that git's own is as it was.
        "cp $l $l.new; printf x | dd of=$l.new bs=1 seek=5000000 conv=notrunc status=none; mv -f $l.new $l",
        "cp $l $l.new; truncate -s 1000 $l.new; mv -f $l.new $l",
        "rm $l",
    ] {
        let mut link = find("*");
        link.retain(|path| path.extension().is_none());
        assert_eq!(link.len(), 1, "{link:?}");
        shell(&sandbox, &format!("l='{}'; {wreck}", link[0].display()));
        let told = sandbox.holdpoint(["points", "verify"]).exits(4).out;
        assert!(
            told.contains(&id) && told.contains("holdpoint save"),
            "{told}"
        );
        assert_eq!(id_of_save(&sandbox), id);
        sandbox.holdpoint(["points", "verify"]).exits(0);
    }
    assert_eq!(find("*.damaged").len(), 1);
    sandbox.holdpoint(["points", "prune"]).exits(0);
    assert!(find("*.damaged").is_empty());
    shell(&sandbox, "rm -rf .git in a.txt");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
    sandbox.git(["fsck", "--full"]);
}

#[test]
fn what_the_vault_and_its_stat_cache_lost_is_held_anew() {
    let sandbox = rich();
    let id = id_of_save(&sandbox);
    let before = Picture::of(&sandbox);
    for pack in packs(&sandbox) {
        cut(&pack, 100);
    }
    fs::remove_dir_all(store(&sandbox).with_file_name("cache")).unwrap();
    fs::create_dir(store(&sandbox).with_file_name("cache")).unwrap();
    assert_eq!(id_of_save(&sandbox), id);
    shell(&sandbox, "rm -rf .git in a.txt .env");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
}

#[test]
fn a_pack_and_a_link_that_were_damaged_at_once_are_held_anew() {
    let sandbox = rich();
    shell(
        &sandbox,
        "head -c 9500000 /dev/urandom > large; git add large; git commit -qm large; git gc -q",
    );
    let id = id_of_save(&sandbox);
    let before = Picture::of(&sandbox);
    let links = store(&sandbox).with_file_name("links");
    shell(
        &sandbox,
        &format!(
            "for l in $(find '{0}' '{1}' -type f -size +8000k); do
                 cp $l $l.new; printf xyz | dd of=$l.new bs=1 seek=5000000 conv=notrunc status=none; mv -f $l.new $l
             done",
            links.display(),
            store(&sandbox).display()
        ),
    );
    let told = sandbox.holdpoint(["points", "verify"]).exits(4).out;
    assert_eq!(told.matches(".damaged").count(), 2, "{told}");
    assert_eq!(id_of_save(&sandbox), id);
    sandbox.holdpoint(["points", "verify"]).exits(0);
    shell(&sandbox, "rm -rf .git large");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    before.assert_same(&Picture::of(&sandbox));
}
