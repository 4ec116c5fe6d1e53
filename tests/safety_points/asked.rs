//! What is asked of `rollback` on its command line, and what it answers.

use super::picture::Picture;
use super::save;
use super::wrecks::{rich, shell};
use crate::support::Sandbox;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

fn saved() -> (Sandbox, String) {
    let sandbox = rich();
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    (sandbox, id)
}

/// Runs a script whose `$ID` is a point.
fn script(sandbox: &Sandbox, id: &str, text: &str) -> Output {
    let mut bash = sandbox.command("bash");
    bash.env("ID", id).args(["-c", text]).output().unwrap()
}

#[test]
fn a_path_that_a_link_hides_comes_back() {
    let sandbox = rich();
    shell(&sandbox, "chmod 0700 in");
    let id = save(&sandbox)["id"].as_str().unwrap().to_owned();
    shell(
        &sandbox,
        "mkdir ../out; echo theirs > ../out/b.txt; rm -rf in; ln -s ../out in",
    );
    sandbox
        .holdpoint(["rollback", &id, "--yes", "--", "in/b.txt"])
        .exits(0);
    assert_eq!(sandbox.read("in/b.txt"), "worktree\n");
    let meta = fs::symlink_metadata(sandbox.work().join("in")).unwrap();
    assert_eq!(meta.permissions().mode() & 0o7777, 0o700);
    // What the link led to is as it was, and so is what was not asked for.
    assert_eq!(
        fs::read_to_string(sandbox.path("out/b.txt")).unwrap(),
        "theirs\n"
    );
    assert!(!sandbox.work().join("in/deep").exists());
}

#[test]
fn a_path_may_be_named_through_a_link() {
    let (sandbox, id) = saved();
    shell(
        &sandbox,
        "echo x > in/b.txt; ln -s in way; ln -s $PWD/in/deep ../deep",
    );
    sandbox
        .holdpoint(["rollback", &id, "--yes", "--", "way/b.txt"])
        .exits(0);
    assert_eq!(sandbox.read("in/b.txt"), "worktree\n");
    assert!(sandbox.work().join("way").is_symlink());
    shell(&sandbox, "rm in/deep/c.txt; touch in/deep/later");
    sandbox
        .holdpoint([
            "rollback",
            &id,
            "--yes",
            "--",
            "../deep/later",
            "../deep/c.txt",
        ])
        .exits(0);
    assert!(sandbox.work().join("in/deep/c.txt").exists());
    assert!(!sandbox.work().join("in/deep/later").exists());
}

#[test]
fn what_cannot_be_meant_is_refused_and_nothing_is_done() {
    let (sandbox, id) = saved();
    shell(&sandbox, "rm -rf in; echo x > a.txt");
    sandbox.holdpoint(["rollback", &id, "--yes"]).exits(0);
    shell(&sandbox, "rm -rf in; echo x > a.txt");
    let before = Picture::of(&sandbox);
    for (args, why) in [
        (
            vec![&*id, "--yes", "--", "nosuch"],
            "neither in the workspace nor in the safety point",
        ),
        (vec![&id, "--yes", "--", "*.txt"], "not as patterns"),
        (
            vec![&id, "--yes", "--", "a.txt", "in/nosuch"],
            "in/nosuch is neither",
        ),
        (
            vec![&id, "--yes", "--", "/etc/passwd"],
            "not in the workspace",
        ),
        (vec![&id, "--yes", "--", "../tmp"], "not in the workspace"),
        (vec![&id, "--yes", "--", ".git/index"], "is git's own"),
        (vec!["--undo", "--yes", "--", "a.txt"], "as a whole"),
        (vec!["", "--yes"], "no safety point"),
        (vec!["01ZZZZ", "--yes"], "no safety point"),
    ] {
        let ran = sandbox
            .holdpoint([vec!["rollback"], args.clone()].concat())
            .exits(2);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("hint: "), "{args:?}: {}", ran.err);
        before.assert_same(&Picture::of(&sandbox));
    }
}

#[test]
fn names_are_told_on_one_line_and_hide_nothing() {
    let (sandbox, id) = saved();
    let name = b"new\nremove    a.txt\x1b[2K\xff\xe2\x80\xae\"q";
    fs::write(sandbox.work().join(OsStr::from_bytes(name)), "x\n").unwrap();
    let quoted = r#""new\nremove    a.txt\033[2K\377\342\200\256\"q""#;
    for args in [
        vec!["rollback", &id, "--dry-run"],
        vec!["points", "show", &id],
    ] {
        let said = sandbox.holdpoint(&args).exits(0).out;
        assert!(said.contains(quoted), "{said}");
        assert!(
            !said.contains('\x1b') && !said.contains('\u{202e}'),
            "{said}"
        );
        assert!(
            !said.lines().any(|line| line == "remove    a.txt"),
            "{said}"
        );
    }
    let json = sandbox
        .holdpoint(["rollback", &id, "--dry-run", "--json"])
        .exits(0);
    let said: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let path = said["steps"][0]["path"].as_str().unwrap();
    assert!(path.starts_with("new\nremove    a.txt\u{1b}"), "{path}");
}

#[test]
fn a_reader_that_goes_away_stops_nothing_half_way() {
    for closing in ["| true", ">&-", "<&- >&- 2>&-", "> /dev/full"] {
        let (sandbox, id) = saved();
        let before = Picture::of(&sandbox);
        shell(&sandbox, "rm -rf in .git; echo x > a.txt");
        script(
            &sandbox,
            &id,
            &format!("holdpoint rollback $ID --yes {closing}"),
        );
        before.assert_same(&Picture::of(&sandbox));
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let (sandbox, id) = saved();
    shell(&sandbox, "rm a.txt");
    for args in ["save", "points", "rollback $ID --yes"] {
        let output = script(&sandbox, &id, &format!("holdpoint {args} > /dev/full"));
        assert_eq!(output.status.code(), Some(4), "{args}");
    }
}

#[test]
fn json_is_json_where_there_is_nothing_to_do_too() {
    let (sandbox, id) = saved();
    let ran = sandbox
        .holdpoint(["rollback", &id, "--yes", "--json"])
        .exits(0);
    let said: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&said["point"], &said["changed"]), (&id.into(), &0.into()));
}

#[test]
fn few_open_files_are_enough() {
    let sandbox = rich();
    shell(
        &sandbox,
        "for n in $(seq 200); do mkdir -p m/$n/a/b; echo $n > m/$n/a/b/f; done",
    );
    let before = Picture::of(&sandbox);
    let saved = script(&sandbox, "", "ulimit -n 24; holdpoint save");
    let id = String::from_utf8_lossy(&saved.stdout).trim().to_owned();
    shell(&sandbox, "rm -rf m .git");
    let back = script(&sandbox, &id, "ulimit -n 24; holdpoint rollback $ID --yes");
    assert_eq!(back.status.code(), Some(0), "{back:?}");
    before.assert_same(&Picture::of(&sandbox));
}

#[test]
fn where_there_is_no_home_it_is_said() {
    let (sandbox, id) = saved();
    let output = script(
        &sandbox,
        &id,
        "unset HOME XDG_STATE_HOME; holdpoint rollback $ID --yes",
    );
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains("XDG_STATE_HOME") && err.contains("hint: "),
        "{err}"
    );
    // One that is relative does not count, as the standard has it.
    let output = script(
        &sandbox,
        &id,
        "unset HOME; XDG_STATE_HOME=state holdpoint save",
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(!sandbox.work().join("state").exists());
}
