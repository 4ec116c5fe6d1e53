//! Evidence: the same command loses something in one repository and nothing in another.

use super::level;
use crate::support::Sandbox;

fn repository() -> Sandbox {
    let sandbox = Sandbox::with_files(&[
        ("src/main.rs", "fn main() {}\n"),
        ("README.md", "read\n"),
        (".gitignore", "/target/\n*.tmpl\n"),
    ]);
    sandbox.write("target/debug/app", "binary");
    sandbox
}

#[test]
fn a_clean_reset_loses_nothing() {
    let sandbox = repository();
    assert!(level(&sandbox, "git reset --hard").0 <= 1);
    assert!(level(&sandbox, "git checkout -- .").0 <= 1);
    assert!(level(&sandbox, "git restore src/main.rs").0 <= 1);
    assert!(level(&sandbox, "git clean -fd").0 <= 1);
}

#[test]
fn a_reset_of_changed_files_names_them() {
    let sandbox = repository();
    sandbox.write("src/main.rs", "fn main() { changed() }\n");
    for command in [
        "git reset --hard",
        "git checkout -- .",
        "git restore .",
        "git checkout -f",
        "git stash drop",
    ] {
        assert_eq!(level(&sandbox, command).0, 3, "{command}");
    }
    let (_, verdict) = level(&sandbox, "git reset --hard");
    assert_eq!(
        verdict["loses"]["files"],
        serde_json::json!(["src/main.rs"])
    );
    assert!(level(&sandbox, "git restore README.md").0 <= 1);
}

#[test]
fn staged_bytes_count_as_unsaved() {
    let sandbox = repository();
    sandbox.write("src/main.rs", "fn main() { staged() }\n");
    sandbox.git(["add", "src/main.rs"]);
    assert_eq!(level(&sandbox, "git reset --hard").0, 3);
    assert!(level(&sandbox, "git reset").0 <= 1);
    assert!(level(&sandbox, "git restore --staged .").0 <= 1);
}

#[test]
fn commits_that_only_the_branch_holds_are_named() {
    let sandbox = repository();
    sandbox.write("a", "a");
    sandbox.git(["add", "a"]);
    sandbox.git(["commit", "-qm", "only here"]);
    let (found, verdict) = level(&sandbox, "git reset --hard HEAD~1");
    assert_eq!(found, 3);
    assert!(
        verdict["loses"]["commits"][0]
            .as_str()
            .unwrap()
            .ends_with("only here")
    );
    assert!(level(&sandbox, "git reset --soft HEAD~1").0 <= 1);
    sandbox.git(["branch", "keep"]);
    assert!(level(&sandbox, "git reset --hard HEAD~1").0 <= 1);
    assert!(level(&sandbox, "git branch -D keep").0 <= 1);
    sandbox.git(["checkout", "-q", "keep"]);
    sandbox.write("b", "b");
    sandbox.git(["add", "b"]);
    sandbox.git(["commit", "-qm", "kept"]);
    sandbox.git(["checkout", "-q", "main"]);
    assert_eq!(level(&sandbox, "git branch -D keep").0, 3);
    assert!(level(&sandbox, "git branch -d keep").0 <= 1);
    assert_eq!(level(&sandbox, "git branch -f keep main").0, 3);
    assert!(level(&sandbox, "git branch -f main keep").0 <= 1);
}

#[test]
fn untracked_files_are_named_and_build_output_is_not() {
    let sandbox = repository();
    sandbox.write("notes.txt", "only here\n");
    let (found, verdict) = level(&sandbox, "git clean -fd");
    assert_eq!(found, 3);
    assert_eq!(verdict["loses"]["files"], serde_json::json!(["notes.txt"]));
    assert!(level(&sandbox, "rm -rf target").0 <= 1);
    assert!(level(&sandbox, "git clean -fdX").0 <= 1);
    assert_eq!(level(&sandbox, "rm notes.txt").0, 3);
    assert_eq!(level(&sandbox, "echo x > notes.txt").0, 3);
    assert!(level(&sandbox, "echo x >> notes.txt").0 <= 1);
    assert!(level(&sandbox, "echo x > README.md").0 <= 1);
    assert_eq!(level(&sandbox, "rm -rf src").0, 3);
}

#[test]
fn the_stash_is_held_by_nothing_else() {
    let sandbox = repository();
    sandbox.write("README.md", "stashed\n");
    sandbox.git(["stash", "-q"]);
    let (found, verdict) = level(&sandbox, "git stash drop");
    assert_eq!(found, 3);
    assert_eq!(verdict["loses"]["commits"].as_array().unwrap().len(), 1);
    assert_eq!(level(&sandbox, "git stash clear").0, 3);
    assert!(level(&sandbox, "git stash pop").0 <= 1);
}

#[test]
fn an_alias_of_the_repository_is_what_it_stands_for() {
    let sandbox = repository();
    sandbox.git(["config", "alias.undo", "reset --hard HEAD~1"]);
    sandbox.git(["config", "alias.nuke", "!rm -rf src"]);
    sandbox.git(["config", "alias.st", "status -sb"]);
    assert_eq!(level(&sandbox, "git undo").0, 3);
    assert_eq!(level(&sandbox, "git nuke").0, 3);
    assert_eq!(level(&sandbox, "git st").0, 0);
}

#[test]
fn the_hard_cases_that_pattern_matchers_miss_are_held() {
    let sandbox = repository();
    sandbox.write("important.db", "data");
    sandbox.write("a", "a");
    sandbox.git(["add", "a"]);
    sandbox.git(["commit", "-qm", "two"]);
    for command in [
        "> important.db",
        "git branch -f other HEAD~10",
        "mv src /dev/null",
        "git checkout -B main HEAD~1",
        "git -c core.hooksPath=/dev/null commit -m x",
        "find . -type f -print0 | xargs -0 rm -f",
        "HOLDPOINT_BYPASS=1 git status",
        "holdpoint confirm 01ABC",
    ] {
        assert_eq!(level(&sandbox, command).0, 3, "{command}");
    }
    for command in [
        "git commit -m 'git reset --hard was wrong'",
        "echo 'rm -rf /'",
        "grep -r 'git push --force' .",
        "git log --grep='reset --hard'",
        "git reset --help",
        "git clean -n -fdx",
        "cat <<'EOF'\nrm -rf /\nEOF",
    ] {
        assert!(level(&sandbox, command).0 <= 1, "{command}");
    }
}

#[test]
fn a_tree_laid_over_another_loses_what_it_replaces() {
    let sandbox = repository();
    sandbox.write("notes.txt", "only here\n");
    for (path, text) in [
        ("lay/src/main.rs", "x"),
        ("lay/new.rs", "x"),
        ("over/notes.txt", "x"),
    ] {
        let path = sandbox.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for command in ["cp -r ../lay/. .", "rsync -a ../lay/ .", "cp -RT ../lay ."] {
        assert!(
            level(&sandbox, command).0 <= 1,
            "{command}: git holds the old bytes"
        );
    }
    for command in [
        "cp -r ../over/. .",
        "rsync -a ../over/ .",
        "cp -RT ../over .",
    ] {
        let (found, verdict) = level(&sandbox, command);
        assert_eq!(found, 3, "{command}");
        assert_eq!(verdict["loses"]["files"], serde_json::json!(["notes.txt"]));
    }
    assert!(level(&sandbox, "cp -rn ../over/. .").0 <= 1);
    sandbox.write("src/main.rs", "changed\n");
    assert_eq!(level(&sandbox, "cp -a ../lay/src .").0, 3);
}

#[test]
fn what_a_script_checks_out_is_what_it_goes_on_with() {
    let sandbox = repository();
    sandbox.git(["branch", "merged"]);
    sandbox.git(["checkout", "-q", "-b", "side"]);
    sandbox.write("side.txt", "only on side\n");
    sandbox.git(["add", "side.txt"]);
    sandbox.git(["commit", "-qm", "only on side"]);
    sandbox.git(["checkout", "-q", "main"]);
    for command in [
        "git checkout side && git reset --hard main",
        "git switch side; git reset --hard HEAD~1",
        "git checkout side && git reset --hard @^",
        "git checkout --detach main && git branch -f side HEAD",
        "git checkout $BRANCH && git reset --hard main",
        "git checkout side && git reset --hard HEAD@{1}",
    ] {
        assert_eq!(level(&sandbox, command).0, 3, "{command}");
    }
    for command in [
        "git checkout side && git reset --hard HEAD",
        "git checkout merged && git reset --hard main",
        "git checkout --detach side && git branch -f merged HEAD",
    ] {
        assert!(level(&sandbox, command).0 <= 1, "{command}");
    }
}

#[test]
fn what_a_script_moves_holds_nothing_for_what_comes_after() {
    let sandbox = repository();
    sandbox.write("more.txt", "more\n");
    sandbox.git(["add", "more.txt"]);
    sandbox.git(["commit", "-qm", "more"]);
    sandbox.git(["branch", "side"]);
    for command in [
        "git reset --keep HEAD~1 && git branch -D side",
        "git branch -D side && git reset --hard HEAD~1",
        "git branch -f side HEAD~1; git reset --soft HEAD~1; git update-ref -d refs/heads/side; git switch -C main HEAD~1",
        "git update-ref -d refs/heads/side && git branch -f main HEAD~1",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert_eq!(level, 3, "{command}: {verdict}");
    }
    for command in [
        "git reset --keep HEAD~1",
        "git branch -D side",
        "git reset --hard side && git branch -D side",
        "git branch -f side HEAD~1 && git branch -D side",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert!(level <= 1, "{command}: {verdict}");
    }
}

#[test]
fn a_ref_that_the_script_makes_holds_what_it_leaves() {
    let sandbox = repository();
    sandbox.write("more.txt", "more\n");
    sandbox.git(["add", "more.txt"]);
    sandbox.git(["commit", "-qm", "more"]);
    for command in [
        "git branch backup && git reset --hard HEAD~1",
        "git tag before && git reset --keep HEAD~1",
        "git checkout -b tmp && git checkout main && git branch -D tmp",
        "git switch -c tmp HEAD~1 && git switch main && git branch -D tmp",
        "git switch -c tmp && git branch -f main HEAD~1",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert!(level <= 1, "{command}: {verdict}");
    }
    for command in [
        "git reset --hard HEAD~1 && git branch backup",
        "git branch backup HEAD~1 && git reset --hard HEAD~1",
        "git branch main/backup; git reset --hard HEAD~1",
        "git branch bad..name; git reset --hard HEAD~1",
        "git branch \"$NAME\"; git reset --hard HEAD~1",
        "git branch backup && git reset --hard HEAD~1 && git branch -D backup",
        "git checkout -b tmp && git commit --allow-empty -m x && git checkout main && git branch -D tmp",
    ] {
        let (level, verdict) = level(&sandbox, command);
        assert_eq!(level, 3, "{command}: {verdict}");
    }
}

#[test]
fn a_statement_that_changes_rows_is_no_read() {
    let sandbox = repository();
    sandbox.write("app.db", "rows");
    for command in [
        "psql -c 'DELETE FROM t WHERE id = 1'",
        "psql -c 'UPDATE t SET a = 1 WHERE id = 1'",
        "mysql -e 'INSERT INTO t VALUES (1)'",
        "sqlite3 app.db 'DELETE FROM t WHERE id = 1'",
        "cqlsh -e 'DELETE FROM ks.t WHERE id = 1'",
        "mongosh --eval 'db.t.deleteOne({_id: 1})'",
        "mongosh --eval 'db.t.updateMany({a: 1}, {$set: {a: 2}})'",
        "redis-cli SET a 1",
        "curl -XPOST http://es:9200/i/_update_by_query?q=a",
    ] {
        let (found, verdict) = level(&sandbox, command);
        assert_eq!(found, 1, "{command}");
        let rules = verdict["rules"].to_string();
        assert!(!rules.contains("read.only"), "{command}: {rules}");
    }
    assert_eq!(level(&sandbox, "psql -c 'SELECT 1'").0, 0);
}

#[test]
fn what_takes_the_guards_place_is_held() {
    let sandbox = repository();
    sandbox.write("bin/git", "#!/bin/sh\n");
    sandbox.write("tools/x", "#!/bin/sh\n");
    for command in [
        "export PATH=$PWD/bin:$PATH; git status",
        "PATH=bin:$PATH git commit -m x",
        "alias holdpoint-hook=true",
        "holdpoint() { :; }",
        "git() { :; }; export -f git",
        "env 'BASH_FUNC_git%%=() { :; }' sh -c 'git status'",
        "pgrep -f holdpoint-run | xargs kill",
        "kill -9 $(pgrep holdpoint)",
    ] {
        let (found, verdict) = level(&sandbox, command);
        assert_eq!(found, 3, "{command}");
        assert!(
            verdict["rules"].to_string().contains("guard"),
            "{command}: {}",
            verdict["rules"]
        );
    }
    for command in [
        "export PATH=$PWD/tools:$PATH; git status",
        "export PATH=/usr/local/bin:$PATH; git status",
        "git() { command git \"$@\"; }; git status",
        "pgrep -f holdpoint",
        "kill $(pgrep vite)",
    ] {
        assert!(level(&sandbox, command).0 <= 1, "{command}");
    }
}

#[test]
fn a_repository_made_in_a_directory_of_the_script_holds_nothing() {
    let sandbox = repository();
    let fresh = "git init -q && touch a && git add a && git commit -qm x && git reset --hard && git clean -fdx";
    for command in [
        format!("cd $(mktemp -d) && {fresh}"),
        format!("D=$(mktemp -d); cd \"$D\" && {fresh} && cd / && rm -rf \"$D\""),
    ] {
        assert!(level(&sandbox, &command).0 <= 1, "{command}");
    }
    let pushed = "cd $(mktemp -d) && git clone -q u . && git push --force";
    let ran = sandbox.holdpoint(["check", "command", "--actor", "agent", "--", pushed]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    sandbox.write("src/main.rs", "fn main() { changed() }\n");
    let home = sandbox.work().display().to_string();
    for command in [
        "cd $(mktemp -d); cd -; git reset --hard".to_owned(),
        "cd /tmp/not-there-at-all; git reset --hard".to_owned(),
        "cd /tmp/not-there-at-all; git init; git reset --hard".to_owned(),
        "cd /tmp/x-$$; git init; git reset --hard".to_owned(),
        "cd /tmp/not-there || git init /tmp/not-there; git reset --hard".to_owned(),
        "cd /tmp/not-there || mkdir /tmp/not-there; rm -rf src".to_owned(),
        "cd /tmp/not-there || echo no && rm -rf src".to_owned(),
        format!("cd $(mktemp -d); git init; git -C {home} reset --hard"),
        format!(
            "cd $(mktemp -d); git init; git --work-tree={home} --git-dir={home}/.git reset --hard"
        ),
        format!("cd $(mktemp -d) && ln -s {home} x && cd x && git reset --hard"),
        format!("cd $(mktemp -d); git init; ln -s {home} x; cd x; git reset --hard"),
        format!("T=$(mktemp -d); ln -s {home} $T/w; git init $T/w; cd $T/w; git reset --hard"),
        "T=$(mktemp -d); (cd $T; git init); git reset --hard".to_owned(),
    ] {
        assert_eq!(level(&sandbox, &command).0, 3, "{command}");
    }
    for command in [
        "cd /tmp/not-there || exit 1; rm -rf src",
        "cd /tmp/not-there || { echo no; exit 1; }; rm -rf src",
        "cd /tmp/not-there || { mkdir -p /tmp/not-there && cd /tmp/not-there; }; rm -rf src",
    ] {
        assert!(level(&sandbox, command).0 <= 1, "{command}");
    }
    for (command, status) in [
        ("cd $(mktemp -d) && npm install a-package-nobody-lists", 0),
        (
            "cd /tmp/not-there-at-all; npm install a-package-nobody-lists",
            1,
        ),
    ] {
        let ran = sandbox.holdpoint(["check", "command", "--actor", "agent", "--", command]);
        assert_eq!(ran.code, status, "{command}: {}", ran.out);
    }
}
