//! Every operation of git that can lose something, and what stands before each.
//!
//! One row an operation. `hooks` says what git's own hooks can do about it,
//! `tripwire` what the file-system monitor can, and every row is put to an
//! agent's hook too, the only one that stands before all of them.
//!
//! | operation | row |
//! |---|---|
//! | `reset --hard`, `reset --hard REV` | `reset --hard`, `reset --hard HEAD~1` |
//! | the commits under `reset --soft REV` | `reset -q --soft HEAD~1` |
//! | `reset`, `reset --merge` over what is staged | `reset -q`, `reset --merge` |
//! | `checkout -- PATH`, `checkout TREE PATH`, `checkout .`, `restore` in its forms | the same |
//! | `clean`, `rm`, `rm --cached`, `mv -f`, `add` over what is staged | the same |
//! | `checkout -f`, `switch --discard-changes`, `checkout` over an ignored file | the same |
//! | `read-tree -u --reset`, `checkout-index -f`, `apply -R` | the same |
//! | `worktree remove --force`, `submodule deinit -f`, `submodule update --force` | the same |
//! | `merge`, `cherry-pick`, `revert`, `rebase`, `am` with `--abort`; `bisect reset` | the same |
//! | `sparse-checkout set` | the same |
//! | `stash push`, `push -u`, `drop`, `clear`, `pop` | the same; `drop` with and without other entries |
//! | `branch -D`, `-f`, `-M`, `tag -d`, `tag -f`, `update-ref`, `replace -d`, `checkout -B` | the same |
//! | `symbolic-ref`, `notes remove`, `remote remove`, `fetch --prune`, `fetch +a:b`, `fast-import --force` | the same |
//! | `commit --amend`, `rebase`, each with `--no-verify`; `cherry-pick`, `revert`, `filter-branch` | the same |
//! | `reflog expire`, `reflog delete`, `prune`, `gc --prune=now` | the same |
//! | `gc --auto` | `events::housekeeping_waits_while_a_hold_does` |
//! | `push` in its forced forms, `--no-verify`, `send-pack --force` | the same |
//! | files written into the git directory, `rm -rf .git` | the same |

use crate::support::{Ran, Sandbox};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// What git's own hooks do about an operation by a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hooks {
    /// Nothing is lost, and it waits for a person.
    Held,
    /// It is too late to refuse; the person is told what left and how to get it back.
    Told,
    /// No hook precedes the loss, and none follows it that could tell.
    Blind,
    /// Nothing is lost: it goes on.
    Passes,
}

/// What the tripwire does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tripwire {
    /// A safety point holds the victim beforehand, and an agent is stopped in time.
    Stands,
    /// Git does not call it, or hooks do it better.
    Elsewhere,
}

struct Row {
    /// The command, for a shell.
    line: &'static str,
    /// Makes the victim.
    prepare: fn(&Sandbox),
    /// Whether the victim is still there.
    intact: fn(&Sandbox) -> bool,
    hooks: Hooks,
    tripwire: Tripwire,
    /// An agent's hook refuses the call.
    agent_is_held: bool,
}

const PRECIOUS: &str = "PRECIOUS\n";

/// A repository with `main`, a branch `other` that changes `a`, and a branch `topic` with a commit of its own.
fn repository(extra: &[&str]) -> Sandbox {
    let sandbox = Sandbox::plain();
    let mut args = vec!["init", "-q", "-b", "main"];
    args.extend(extra);
    sandbox.git(args);
    sandbox.write(".gitignore", "ignored.env\n");
    sandbox.write("a", "one\n");
    sandbox.write("b", "one\n");
    sandbox.write("dir/c", "one\n");
    commit(&sandbox, "one");
    sandbox.git(["checkout", "-qb", "other"]);
    sandbox.write("a", "other\n");
    commit(&sandbox, "on other");
    sandbox.git(["checkout", "-qb", "topic", "main"]);
    sandbox.write("t", "topic\n");
    commit(&sandbox, "on topic");
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write("b", "two\n");
    commit(&sandbox, "two");
    sandbox
}

fn commit(sandbox: &Sandbox, message: &str) {
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-qm", message]);
}

fn run(sandbox: &Sandbox, line: &str, agent: bool) -> Ran {
    let mut command = sandbox.command("sh");
    command.args(["-c", line]);
    if agent {
        command.env("HOLDPOINT_AGENT", "tester");
    }
    Ran::from(command.stdin(Stdio::null()).output().unwrap())
}

/// Runs what a preparation needs; some of it ends in a conflict on purpose.
fn prepared(sandbox: &Sandbox, line: &str) {
    let ran = run(sandbox, line, false);
    assert!(ran.code <= 1, "{line}: {} {}", ran.out, ran.err);
}

fn is(sandbox: &Sandbox, path: &str, text: &str) -> bool {
    fs::read_to_string(sandbox.work().join(path)).is_ok_and(|now| now == text)
}

fn dirty(sandbox: &Sandbox) {
    sandbox.write("a", PRECIOUS);
}

fn a_is_precious(sandbox: &Sandbox) -> bool {
    is(sandbox, "a", PRECIOUS)
}

fn staged(sandbox: &Sandbox) {
    dirty(sandbox);
    sandbox.git(["add", "a"]);
    sandbox.write("a", "one\n");
}

fn a_is_staged(sandbox: &Sandbox) -> bool {
    run(sandbox, "git show :a", false).out == PRECIOUS
}

fn nothing(_: &Sandbox) {}

fn always(_: &Sandbox) -> bool {
    true
}

fn has_ref(sandbox: &Sandbox, name: &str, subject: &str) -> bool {
    run(sandbox, &format!("git log -1 --format=%s {name}"), false)
        .out
        .trim()
        == subject
}

fn topic_stands(sandbox: &Sandbox) -> bool {
    has_ref(sandbox, "refs/heads/topic", "on topic")
}

fn head_stands(sandbox: &Sandbox) -> bool {
    has_ref(sandbox, "refs/heads/main", "two")
}

fn on_topic(sandbox: &Sandbox) {
    sandbox.git(["checkout", "-q", "topic"]);
}

fn two_stashes(sandbox: &Sandbox) {
    for text in [PRECIOUS, "another\n"] {
        sandbox.write("a", text);
        sandbox.git(["stash", "-q"]);
    }
}

fn one_stash(sandbox: &Sandbox) {
    dirty(sandbox);
    sandbox.git(["stash", "-q"]);
}

fn stash_holds(sandbox: &Sandbox, which: &str) -> bool {
    run(sandbox, &format!("git show {which}:a"), false).out == PRECIOUS
}

/// A merge of `other` that stopped at a conflict, whose resolution has begun.
fn conflict(sandbox: &Sandbox, start: &str) {
    sandbox.write("a", "mine\n");
    commit(sandbox, "mine");
    prepared(sandbox, start);
    sandbox.write("a", PRECIOUS);
}

fn remote(sandbox: &Sandbox) {
    prepared(
        sandbox,
        "git init -q --bare ../remote.git && git remote add origin ../remote.git \
         && git push -q origin topic main && git clone -q -b topic ../remote.git ../theirs \
         && cd ../theirs && git commit -q --allow-empty -m theirs && git push -q origin topic",
    );
}

fn remote_stands(sandbox: &Sandbox) -> bool {
    run(
        sandbox,
        "git --git-dir ../remote.git log -1 --format=%s refs/heads/topic",
        false,
    )
    .out
    .trim()
        == "theirs"
}

fn submodule(sandbox: &Sandbox) {
    prepared(
        sandbox,
        "git init -q ../lib && cd ../lib && echo one > a && git add a && git commit -qm one \
         && cd ../work && git submodule --quiet add ../lib sub && git commit -qm sub",
    );
    sandbox.write("sub/a", PRECIOUS);
}

fn sub_is_precious(sandbox: &Sandbox) -> bool {
    is(sandbox, "sub/a", PRECIOUS)
}

fn linked(sandbox: &Sandbox) {
    sandbox.git(["worktree", "add", "-q", "../linked", "topic"]);
    fs::write(sandbox.path("linked/t"), PRECIOUS).unwrap();
}

fn linked_is_precious(sandbox: &Sandbox) -> bool {
    is(sandbox, "../linked/t", PRECIOUS)
}

/// A commit that only the reflog knows.
fn left_behind(sandbox: &Sandbox) {
    sandbox.write("a", PRECIOUS);
    commit(sandbox, "left behind");
    prepared(
        sandbox,
        "git rev-parse HEAD > ../left; git reset -q --hard HEAD~1",
    );
}

fn reflog_knows(sandbox: &Sandbox) -> bool {
    run(
        sandbox,
        "git reflog --format=%H main | grep -q \"$(cat ../left)\" && git cat-file -e \"$(cat ../left)\"",
        false,
    )
    .code
        == 0
}

macro_rules! rows {
    ($($line:literal, $prepare:expr, $intact:expr, $hooks:ident, $tripwire:ident, $agent_is_held:literal;)*) => {
        &[$(Row {
            line: $line,
            prepare: $prepare,
            intact: $intact,
            hooks: Hooks::$hooks,
            tripwire: Tripwire::$tripwire,
            agent_is_held: $agent_is_held,
        }),*]
    };
}

/// Losses of the worktree and the index.
const FILES: &[Row] = rows! {
    "git reset -q --hard", dirty, a_is_precious, Blind, Stands, true;
    "git reset -q --merge", |s| { dirty(s); s.git(["add", "a"]); }, a_is_precious, Blind, Stands, true;
    "git reset -q", staged, a_is_staged, Blind, Stands, true;
    "git checkout -q -- a", dirty, a_is_precious, Blind, Stands, true;
    "git checkout -q HEAD -- a", dirty, a_is_precious, Blind, Stands, true;
    "git checkout -q .", dirty, a_is_precious, Blind, Stands, true;
    "git restore a", dirty, a_is_precious, Blind, Stands, true;
    "git restore -S -W a", dirty, a_is_precious, Blind, Stands, true;
    "git restore --source=other a", dirty, a_is_precious, Blind, Stands, true;
    "git clean -q -fdx", |s| s.write("new/n", PRECIOUS), |s| is(s, "new/n", PRECIOUS), Blind, Stands, true;
    "git clean -q -fX", |s| s.write("ignored.env", PRECIOUS), |s| is(s, "ignored.env", PRECIOUS), Blind, Stands, true;
    "git checkout -q -f other", dirty, a_is_precious, Blind, Stands, true;
    "git switch -q --discard-changes other", dirty, a_is_precious, Blind, Stands, true;
    "git switch -q -f other", dirty, a_is_precious, Blind, Stands, true;
    "git checkout -q topic", |s| {
        prepared(s, "git checkout -q topic && echo theirs > ignored.env && git add -f ignored.env && git commit -qm env && git checkout -q main");
        s.write("ignored.env", PRECIOUS);
    }, |s| is(s, "ignored.env", PRECIOUS), Blind, Stands, true;
    "git switch -q topic", |s| {
        prepared(s, "git checkout -q topic && echo theirs > ignored.env && git add -f ignored.env && git commit -qm env && git checkout -q main");
        s.write("ignored.env", PRECIOUS);
    }, |s| is(s, "ignored.env", PRECIOUS), Blind, Stands, true;
    "git checkout -q -f topic", |s| s.write("t", PRECIOUS), |s| is(s, "t", PRECIOUS), Blind, Stands, true;
    "git rm -q -f a", dirty, a_is_precious, Blind, Stands, true;
    "git rm -q --cached -f a", staged, a_is_staged, Blind, Stands, true;
    "git mv -f b a", dirty, a_is_precious, Blind, Stands, true;
    "git add a", staged, a_is_staged, Blind, Elsewhere, false;
    "git read-tree -u --reset HEAD", dirty, a_is_precious, Blind, Stands, true;
    "git read-tree -u --reset topic", |s| s.write("t", PRECIOUS), |s| is(s, "t", PRECIOUS), Blind, Stands, true;
    "git checkout-index -q -f -a", dirty, a_is_precious, Blind, Stands, true;
    "git apply -R ../p", |s| { dirty(s); prepared(s, "git diff > ../p"); }, a_is_precious, Blind, Elsewhere, false;
    "git worktree remove --force ../linked", linked, linked_is_precious, Blind, Elsewhere, true;
    "git submodule --quiet deinit -f sub", submodule, sub_is_precious, Blind, Stands, true;
    "git submodule --quiet update --force", submodule, sub_is_precious, Blind, Stands, true;
    "git merge --abort", |s| conflict(s, "git merge -q other"), a_is_precious, Blind, Stands, true;
    "git cherry-pick --abort", |s| conflict(s, "git cherry-pick other"), a_is_precious, Blind, Stands, true;
    "git revert --abort", |s| conflict(s, "git revert --no-edit $(git log --format=%H --diff-filter=A -- a)"), a_is_precious, Blind, Stands, true;
    "git rebase --abort", |s| conflict(s, "git rebase -q other"), a_is_precious, Blind, Stands, true;
    "git am --abort", |s| conflict(s, "git format-patch -q -1 -o ../patches other && git am -q -3 ../patches/* || true"), a_is_precious, Blind, Stands, true;
    "git bisect reset", |s| { prepared(s, "git bisect start -q HEAD HEAD~1 >/dev/null"); dirty(s); }, a_is_precious, Passes, Elsewhere, false;
    "git sparse-checkout set dir", |s| {
        prepared(s, "mkdir cone && echo x > cone/x && git add cone && git commit -qm cone");
        s.write("cone/ignored.env", PRECIOUS);
    }, |s| is(s, "cone/ignored.env", PRECIOUS), Blind, Stands, true;
    "rm -rf .git", nothing, |s| s.work().join(".git").exists(), Blind, Elsewhere, true;
    "echo x > .git/refs/heads/topic", nothing, topic_stands, Blind, Elsewhere, true;
};

/// Losses of refs, commits and stashes.
const REFS: &[Row] = rows! {
    "git reset -q --hard HEAD~1", nothing, head_stands, Told, Stands, true;
    "git reset -q --hard topic", |s| { s.git(["branch", "kept"]); s.write("t", PRECIOUS); }, |s| is(s, "t", PRECIOUS), Blind, Stands, true;
    "git reset -q --soft HEAD~1", nothing, head_stands, Held, Elsewhere, false;
    "git stash -q", dirty, |s| a_is_precious(s) || stash_holds(s, "stash@{0}"), Passes, Elsewhere, false;
    "git stash -q -u", dirty, |s| a_is_precious(s) || stash_holds(s, "stash@{0}"), Passes, Elsewhere, false;
    "git stash drop -q stash@{1}", two_stashes, |s| s.git(["stash", "list"]).lines().count() == 2, Blind, Elsewhere, true;
    "git stash drop -q", one_stash, |s| stash_holds(s, "refs/stash"), Held, Elsewhere, true;
    "git stash clear", one_stash, |s| stash_holds(s, "refs/stash"), Held, Elsewhere, true;
    "git stash pop -q", one_stash, |s| a_is_precious(s) || stash_holds(s, "refs/stash"), Passes, Elsewhere, false;
    "git branch -q -D topic", nothing, topic_stands, Held, Elsewhere, true;
    "git branch -q -f topic main", nothing, topic_stands, Held, Elsewhere, true;
    "git branch -q -M main topic", nothing, topic_stands, Held, Elsewhere, true;
    "git tag -d v1", |s| { s.git(["tag", "-a", "-m", "release", "v1"]); }, |s| run(s, "git cat-file -t v1", false).out == "tag\n", Held, Elsewhere, true;
    "git tag -f v1 main", |s| { s.git(["tag", "-a", "-m", "release", "v1", "main~1"]); }, |s| run(s, "git cat-file -t v1", false).out == "tag\n", Held, Elsewhere, true;
    "git update-ref -d refs/heads/topic", nothing, topic_stands, Held, Elsewhere, true;
    "git update-ref refs/heads/topic main", nothing, topic_stands, Held, Elsewhere, true;
    "git replace -d main", |s| {
        prepared(s, "git replace main $(git commit-tree -m replaced 'main^{tree}')");
    }, |s| run(s, "git replace -l", false).out.len() > 40, Held, Elsewhere, true;
    "git checkout -q -B topic main", nothing, topic_stands, Held, Elsewhere, true;
    "git symbolic-ref HEAD refs/heads/other", nothing, head_stands, Passes, Elsewhere, true;
    "git notes remove", |s| { s.git(["notes", "add", "-m", "note"]); }, |s| run(s, "git log --format=%T refs/notes/commits", false).out.lines().count() >= 1, Passes, Elsewhere, true;
    "git remote remove origin", remote, remote_stands, Passes, Elsewhere, true;
    "git fetch -q --prune ../remote.git '+refs/heads/*:refs/heads/*' -u", |s| {
        remote(s);
        prepared(s, "git branch mine topic && git checkout -q mine && git commit -q --allow-empty -m mine && git checkout -q main");
    }, |s| has_ref(s, "mine", "mine"), Held, Elsewhere, true;
    "git fetch -q . +main:topic", nothing, topic_stands, Held, Elsewhere, true;
    "printf 'reset refs/heads/topic\\nfrom main\\n\\n' | git fast-import --quiet --force", nothing, topic_stands, Held, Elsewhere, true;
    "git commit -q --amend -m other", nothing, head_stands, Held, Elsewhere, true;
    "git commit -q --amend --no-verify -m other", nothing, head_stands, Held, Elsewhere, true;
    "git rebase -q main", on_topic, topic_stands, Held, Elsewhere, true;
    "git rebase -q --no-verify main", on_topic, topic_stands, Held, Elsewhere, true;
    "git rebase -q --autostash main", |s| { on_topic(s); dirty(s); }, |s| topic_stands(s) && a_is_precious(s), Held, Elsewhere, true;
    "git cherry-pick topic", nothing, topic_stands, Passes, Elsewhere, false;
    "git revert --no-edit HEAD", nothing, |s| run(s, "git log --format=%s main", false).out.contains("two"), Passes, Elsewhere, false;
    "git filter-branch -f --msg-filter 'tr a-z A-Z' main", nothing, head_stands, Held, Elsewhere, true;
    "git reflog expire --expire=now --all", left_behind, reflog_knows, Blind, Elsewhere, true;
    "git reflog delete main@{1}", left_behind, reflog_knows, Blind, Elsewhere, true;
    "git prune --expire=now", |s| prepared(s, "echo PRECIOUS | git hash-object -w --stdin > ../left"),
        |s| run(s, "git cat-file -e $(cat ../left)", false).code == 0, Blind, Elsewhere, true;
    "git gc -q --prune=now", |s| prepared(s, "echo PRECIOUS | git hash-object -w --stdin > ../left"),
        |s| run(s, "git cat-file -e $(cat ../left)", false).code == 0, Blind, Elsewhere, true;
    "git push -q -f origin topic", remote, remote_stands, Held, Elsewhere, true;
    "git push -q origin +topic", remote, remote_stands, Held, Elsewhere, true;
    "git push -q --force-with-lease=topic:$(git ls-remote origin topic | cut -f1) origin topic", remote, remote_stands, Held, Elsewhere, true;
    "git push -q origin --delete topic", remote, remote_stands, Held, Elsewhere, true;
    "git push -q origin :topic", remote, remote_stands, Held, Elsewhere, true;
    "git push -q --mirror origin", remote, remote_stands, Held, Elsewhere, true;
    "git push -q --prune origin main", |s| { remote(s); s.git(["branch", "-D", "topic"]); }, always, Passes, Elsewhere, true;
    "git push -q --prune origin 'refs/heads/*:refs/heads/*'", |s| { remote(s); prepared(s, "git branch -D topic"); }, remote_stands, Held, Elsewhere, true;
    "git push -q --no-verify -f origin topic", remote, remote_stands, Blind, Elsewhere, true;
    "git send-pack --force ../remote.git topic", remote, remote_stands, Blind, Elsewhere, true;
};

/// Both ways in which git can keep refs; the second only where this git knows it.
fn backends() -> Vec<Vec<&'static str>> {
    let probe = Sandbox::plain();
    let knows = run(&probe, "git init -q --ref-format=reftable probe", false).code == 0;
    let mut all = vec![vec![]];
    if knows {
        all.push(vec!["--ref-format=reftable"]);
    }
    all
}

/// A lock that git left behind.
fn lock_below(dir: &Path) -> Option<std::path::PathBuf> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(lock) = lock_below(&path) {
                return Some(lock);
            }
        } else if path.extension().is_some_and(|name| name == "lock") {
            return Some(path);
        }
    }
    None
}

/// What stands before one row for a person, with hooks alone; the faults found.
fn with_hooks(row: &Row, backend: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let sandbox = repository(backend);
    (row.prepare)(&sandbox);
    assert!((row.intact)(&sandbox), "{}: no victim", row.line);
    sandbox.holdpoint(["init"]).exits(0);
    let ran = run(&sandbox, row.line, false);
    let intact = (row.intact)(&sandbox);
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            faults.push(format!(
                "{} {backend:?}, hooks alone: {what} (status {}): {}{}",
                row.line, ran.code, ran.out, ran.err
            ));
        }
    };
    let hooks = match backend {
        // A reftable is rewritten for a rename, and no transaction is told of it.
        [_, ..] if row.line == "git branch -q -M main topic" => Hooks::Blind,
        _ => row.hooks,
    };
    match hooks {
        Hooks::Held => {
            expect(ran.code != 0, "went on");
            expect(intact, "the victim is gone");
            expect(
                sandbox
                    .holdpoint(["holds", "--json"])
                    .out
                    .contains("\"id\""),
                "no hold was made",
            );
            let git = sandbox.work().join(".git");
            expect(lock_below(&git).is_none(), "a lock is left");
        }
        Hooks::Told => {
            expect(ran.code == 0, "was refused too late");
            expect(ran.err.contains("git branch rescued"), "nobody was told");
        }
        Hooks::Blind => {
            expect(ran.code == 0, "failed");
            expect(!intact, "it was meant to lose its victim");
        }
        Hooks::Passes => {
            expect(ran.code == 0, "failed");
            expect(intact, "it was not meant to lose anything");
            expect(!ran.err.contains("hold "), "was not silent");
        }
    }
    faults
}

/// The same with the tripwire, for a person and for an agent.
fn with_tripwire(row: &Row) -> Vec<String> {
    let mut faults = Vec::new();
    for agent in [false, true] {
        let sandbox = repository(&[]);
        (row.prepare)(&sandbox);
        sandbox.holdpoint(["init", "--tripwire"]).exits(0);
        let ran = run(&sandbox, row.line, agent);
        let mut expect = |holds: bool, what: &str| {
            if !holds {
                let who = if agent { "agent" } else { "person" };
                faults.push(format!(
                    "{}, tripwire, {who}: {what} (status {}): {}{}",
                    row.line, ran.code, ran.out, ran.err
                ));
            }
        };
        if agent && row.tripwire == Tripwire::Stands {
            expect(ran.code != 0, "went on");
            expect((row.intact)(&sandbox), "the victim is gone");
            expect(ran.err.contains("holdpoint confirm "), "was not told how");
        } else {
            expect(!(row.intact)(&sandbox), "it was meant to lose its victim");
            let back = sandbox.holdpoint(["rollback", "--yes", "--force", "--refs"]);
            expect(
                (row.intact)(&sandbox),
                &format!("no safety point gave it back: {}{}", back.out, back.err),
            );
        }
        let git = sandbox.work().join(".git");
        expect(lock_below(&git).is_none(), "a lock is left");
    }
    faults
}

/// The same command through an agent's hook, before anything runs.
fn with_agent_hook(row: &Row) -> Vec<String> {
    let sandbox = repository(&[]);
    (row.prepare)(&sandbox);
    sandbox.holdpoint(["init"]).exits(0);
    let payload = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": sandbox.work(),
        "transcript_path": "t", "tool_name": "Bash", "tool_input": {"command": row.line}});
    let mut child = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint-hook"))
        .args(["agent", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(payload.to_string().as_bytes())
        .unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    let held = ran.out.contains("\"deny\"");
    if held == row.agent_is_held {
        Vec::new()
    } else {
        vec![format!(
            "{}, agent's hook: held {held}: {}{}",
            row.line, ran.out, ran.err
        )]
    }
}

#[track_caller]
fn no(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn hooks_do_for_the_worktree_what_the_table_says() {
    let rows = FILES.iter().map(|row| with_hooks(row, &[]));
    no(&rows.flatten().collect::<Vec<_>>());
}

#[test]
fn hooks_do_for_refs_what_the_table_says_in_both_ways_of_keeping_them() {
    let mut faults = Vec::new();
    for backend in backends() {
        faults.extend(REFS.iter().flat_map(|row| with_hooks(row, &backend)));
    }
    no(&faults);
}

#[test]
fn the_tripwire_stands_before_what_no_hook_precedes() {
    let rows = FILES.iter().chain(REFS);
    let rows = rows.filter(|row| row.tripwire != Tripwire::Elsewhere);
    no(&rows.flat_map(with_tripwire).collect::<Vec<_>>());
}

#[test]
fn an_agent_s_hook_stands_before_every_operation() {
    let rows = FILES.iter().chain(REFS);
    no(&rows.flat_map(with_agent_hook).collect::<Vec<_>>());
}
