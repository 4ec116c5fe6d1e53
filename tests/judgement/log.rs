//! The decision log: chain, mirror, repair, and many writers.

use crate::support::Sandbox;
use holdpoint::journal::{self, Log, LogEntry};
use holdpoint::repo::Workspace;
use holdpoint::sys::env::Env;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

fn opened() -> (Sandbox, Env, Workspace) {
    let sandbox = Sandbox::with_files(&[("a", "a\n")]);
    fs::create_dir(sandbox.work().join(".ccg")).unwrap();
    let env = Env::from_parts(
        [
            ("HOME", sandbox.path("home")),
            ("XDG_STATE_HOME", sandbox.path("state")),
            ("XDG_CONFIG_HOME", sandbox.path("config")),
        ]
        .map(|(name, path)| (name.into(), path.into_os_string())),
        sandbox.work(),
    );
    let workspace = Workspace::discover(&env).unwrap();
    (sandbox, env, workspace)
}

fn add(env: &Env, workspace: &Workspace, action: &str) -> journal::Written {
    journal::append(
        env,
        workspace,
        LogEntry::new("allow").reason("no_risk").action(action),
    )
    .unwrap()
}

fn log(sandbox: &Sandbox) -> PathBuf {
    sandbox.work().join(".ccg/decision_log.jsonl")
}

#[test]
fn entries_are_chained_and_mirrored_and_read_back() {
    let (sandbox, env, workspace) = opened();
    for index in 0..5 {
        add(&env, &workspace, &format!("act {index}"));
    }
    assert_eq!(
        fs::read(log(&sandbox)).unwrap(),
        fs::read(journal::mirror_path(&workspace, Log::Decisions)).unwrap()
    );
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(0);
    assert!(
        ran.out.contains("whole, 5 lines, 5 of them chained"),
        "{}",
        ran.out
    );
    let ran = sandbox.holdpoint(["log", "-n", "2", "--json"]).exits(0);
    assert_eq!(ran.out.lines().count(), 2);
    assert!(ran.out.contains("act 4"));
    let first: serde_json::Value = serde_json::from_str(
        fs::read_to_string(log(&sandbox))
            .unwrap()
            .lines()
            .next()
            .unwrap(),
    )
    .unwrap();
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "timestamp",
            "id",
            "prev",
            "hash",
            "decision",
            "reason",
            "action"
        ]
    );
}

#[test]
fn seed_lines_are_read_as_they_are_and_chained_onto() {
    let (sandbox, env, workspace) = opened();
    fs::write(
        log(&sandbox),
        "{\"timestamp\": \"2026-01-21T14:00:00Z\", \"decision\": \"auto_retry\", \"reason\": \"network_timeout\", \"attempt\": 1, \"max\": 3}\n{\"timestamp\": \"2026-01-21T14:10:00Z\", \"decision\": \"ask_user\", \"context\": \"repeated test failures\"}\n",
    )
    .unwrap();
    add(&env, &workspace, "ours");
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(0);
    assert!(
        ran.out.contains("3 lines, 1 of them chained"),
        "{}",
        ran.out
    );
    let ran = sandbox.holdpoint(["log", "--stats"]).exits(0);
    assert!(
        ran.out.contains("3 entries") && ran.out.contains("auto_retry"),
        "{}",
        ran.out
    );
    let ran = sandbox
        .holdpoint([
            "log",
            "--decision",
            "ask_user",
            "--path",
            "test failures",
            "--json",
        ])
        .exits(0);
    assert_eq!(ran.out.lines().count(), 1);
    // Another tool goes on writing in the seeds' format.
    fs::OpenOptions::new()
        .append(true)
        .open(log(&sandbox))
        .unwrap()
        .write_all(b"{\"timestamp\": \"2026-01-21T14:20:00Z\", \"decision\": \"success\"}\n")
        .unwrap();
    assert!(add(&env, &workspace, "ours again").notes.is_empty());
    sandbox.holdpoint(["log", "--verify"]).exits(0);
}

#[test]
fn an_edited_line_is_named() {
    let (sandbox, env, workspace) = opened();
    for index in 0..4 {
        add(&env, &workspace, &format!("act {index}"));
    }
    let text = fs::read_to_string(log(&sandbox)).unwrap();
    fs::write(log(&sandbox), text.replace("act 1", "act X")).unwrap();
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(4);
    assert!(
        ran.out
            .contains("decision_log.jsonl:2: its content does not fit its hash"),
        "{}",
        ran.out
    );
    assert!(
        ran.out
            .contains("decision_log.jsonl:2: the line is not the one that was written"),
        "{}",
        ran.out
    );
    sandbox.holdpoint(["log", "--repair"]).exits(0);
    sandbox.holdpoint(["log", "--verify"]).exits(0);
    assert_eq!(fs::read_to_string(log(&sandbox)).unwrap(), text);
}

#[test]
fn a_removed_line_a_cut_and_a_deleted_log_are_noticed() {
    let (sandbox, env, workspace) = opened();
    for index in 0..4 {
        add(&env, &workspace, &format!("act {index}"));
    }
    let text = fs::read_to_string(log(&sandbox)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(
        log(&sandbox),
        format!("{}\n{}\n{}\n", lines[0], lines[2], lines[3]),
    )
    .unwrap();
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(4);
    assert!(
        ran.out
            .contains(":2: it does not follow the line before it"),
        "{}",
        ran.out
    );
    fs::write(log(&sandbox), format!("{}\n", lines[0])).unwrap();
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(4);
    assert!(ran.out.contains(":2: the log ends here"), "{}", ran.out);
    fs::remove_file(log(&sandbox)).unwrap();
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(4);
    assert!(ran.out.contains("the log is gone"), "{}", ran.out);
    // The next entry brings everything back and says so.
    let written = add(&env, &workspace, "after");
    assert!(
        written.notes[0].contains("was deleted"),
        "{:?}",
        written.notes
    );
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(0);
    assert!(ran.out.contains("6 lines"), "{}", ran.out);
    assert!(
        fs::read_to_string(log(&sandbox))
            .unwrap()
            .starts_with(&text)
    );
}

#[test]
fn a_rewritten_log_is_set_aside_by_the_next_entry() {
    let (sandbox, env, workspace) = opened();
    for index in 0..3 {
        add(&env, &workspace, &format!("act {index}"));
    }
    fs::write(
        log(&sandbox),
        "{\"decision\": \"allow\", \"hash\": \"forged\"}\n",
    )
    .unwrap();
    let written = add(&env, &workspace, "after");
    assert!(
        written.notes[0].contains("was altered"),
        "{:?}",
        written.notes
    );
    assert!(fs::read_to_string(log(&sandbox)).unwrap().contains("act 0"));
    let aside = fs::read_dir(workspace.state.join("log/altered"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert!(fs::read_to_string(aside.path()).unwrap().contains("forged"));
    sandbox.holdpoint(["log", "--verify"]).exits(0);
}

#[test]
fn a_torn_last_line_is_set_aside_and_never_deleted() {
    let (sandbox, env, workspace) = opened();
    add(&env, &workspace, "act 0");
    let mirror = journal::mirror_path(&workspace, Log::Decisions);
    for path in [&mirror, &log(&sandbox)] {
        fs::OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .write_all(b"{\"timestamp\":\"torn")
            .unwrap();
    }
    sandbox.holdpoint(["log", "--verify"]).exits(4);
    sandbox.holdpoint(["log", "--repair"]).exits(0);
    sandbox.holdpoint(["log", "--verify"]).exits(0);
    assert!(
        fs::read_to_string(mirror.with_extension("torn"))
            .unwrap()
            .contains("torn")
    );
    add(&env, &workspace, "act 1");
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(0);
    assert!(ran.out.contains("2 lines"), "{}", ran.out);
}

#[test]
fn what_was_synced_is_noted_and_forgotten_with_a_torn_line() {
    let (_sandbox, env, workspace) = opened();
    let mirror = journal::mirror_path(&workspace, Log::Decisions);
    let length = || fs::metadata(&mirror).unwrap().len();
    let noted = || {
        let note = fs::read(mirror.with_extension("synced")).unwrap();
        let end = note.get(8..16)?.try_into().unwrap();
        Some(u64::from_le_bytes(end))
    };
    // A process that another test is starting may hold the note's lock for a moment;
    // the line is then synced without a note, and the next one is noted.
    let held = |action: &str| {
        for _ in 0..1000 {
            let line = LogEntry::new("hold").action(action);
            journal::append(&env, &workspace, line).unwrap();
            if noted() == Some(length()) {
                return;
            }
        }
        panic!("{action} is never noted");
    };
    held("act 0");
    // A line of no weight is not waited for; the next one takes it along.
    let passed = LogEntry::new("allow").level(holdpoint::judge::Level::Transparent);
    journal::append(&env, &workspace, passed).unwrap();
    assert!(noted() < Some(length()));
    held("act 2");
    let torn = vec![b'x'; 100_000];
    let mut file = fs::OpenOptions::new().append(true).open(&mirror).unwrap();
    file.write_all(&torn).unwrap();
    let note = fs::read(mirror.with_extension("synced")).unwrap();
    let said = [&note[..8], &length().to_le_bytes()[..]].concat();
    let forged = [&said[..], &blake3::hash(&said).as_bytes()[..8]].concat();
    fs::write(mirror.with_extension("synced"), forged).unwrap();
    held("act 3");
}

#[test]
fn a_link_in_the_logs_place_is_not_followed() {
    let (sandbox, env, workspace) = opened();
    let victim = sandbox.path("victim");
    fs::write(&victim, "precious\n").unwrap();
    std::os::unix::fs::symlink(&victim, log(&sandbox)).unwrap();
    let written = add(&env, &workspace, "act");
    assert!(!written.notes.is_empty());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
    assert!(
        fs::read_to_string(journal::mirror_path(&workspace, Log::Decisions))
            .unwrap()
            .contains("act")
    );
}

#[test]
fn no_line_is_longer_than_64_kib_and_no_secret_is_written() {
    let (sandbox, env, workspace) = opened();
    let paths: Vec<String> = (0..20_000)
        .map(|index| format!("src/deep/module/file-{index}.rs"))
        .collect();
    let entry = LogEntry::new("hold")
        .context("paths", &paths)
        .context(
            "command",
            "curl -H 'Authorization: Bearer abcdefghijklmnop' https://ada:hunter2@example.org/",
        )
        .reasoning("x".repeat(100_000))
        .action("git push https://ada:hunter2@example.org/");
    journal::append(&env, &workspace, entry).unwrap();
    let text = fs::read_to_string(log(&sandbox)).unwrap();
    assert!(text.len() <= 64 * 1024, "{}", text.len());
    assert!(text.contains("more"));
    assert!(!text.contains("hunter2") && !text.contains("abcdefghijklmnop"));
    sandbox.holdpoint(["log", "--verify"]).exits(0);
}

#[test]
fn without_ccg_the_log_lies_outside_the_workspace() {
    let (sandbox, env, workspace) = opened();
    fs::remove_dir(sandbox.work().join(".ccg")).unwrap();
    add(&env, &workspace, "act");
    assert!(!sandbox.work().join(".ccg").exists());
    sandbox.holdpoint(["log", "--verify"]).exits(0);
    let ran = sandbox.holdpoint(["log"]).exits(0);
    assert!(ran.out.contains("act"), "{}", ran.out);
}

#[test]
fn eight_processes_lose_no_entry_and_the_chain_stays_whole() {
    many_writers(8, 100);
}

#[test]
#[ignore = "takes minutes; run by hand"]
fn eight_processes_of_ten_thousand_entries_lose_none() {
    many_writers(8, 10_000);
}

/// Appends from several processes: this test's own program, started again for one hidden test.
fn many_writers(processes: usize, entries: usize) {
    let (sandbox, _, _) = opened();
    let children: Vec<_> = (0..processes)
        .map(|index| {
            sandbox
                .command(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "judgement::log::a_writer_of_many"])
                .env("WRITER", index.to_string())
                .env("ENTRIES", entries.to_string())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = fs::read_to_string(log(&sandbox)).unwrap();
    let actions: std::collections::HashSet<String> = text
        .lines()
        .map(|line| {
            let entry: serde_json::Value = serde_json::from_str(line).unwrap();
            entry["action"].as_str().unwrap().to_owned()
        })
        .collect();
    for writer in 0..processes {
        for entry in 0..entries {
            assert!(actions.contains(&format!("writer {writer} entry {entry} of {entries}")));
        }
    }
    let ran = sandbox.holdpoint(["log", "--verify"]).exits(0);
    let total = processes * entries;
    assert!(
        ran.out
            .contains(&format!("{total} lines, {total} of them chained")),
        "{}",
        ran.out
    );
}

#[test]
#[ignore = "a part of the test above, in a process of its own"]
fn a_writer_of_many() {
    let (Ok(writer), Ok(entries)) = (std::env::var("WRITER"), std::env::var("ENTRIES")) else {
        return;
    };
    let env = Env::read().unwrap();
    let workspace = Workspace::discover(&env).unwrap();
    for entry in 0..entries.parse::<usize>().unwrap() {
        add(
            &env,
            &workspace,
            &format!("writer {writer} entry {entry} of {entries}"),
        );
    }
}

#[test]
fn a_writer_killed_at_any_moment_leaves_a_whole_log() {
    let (sandbox, env, workspace) = opened();
    for round in 0..10 {
        let mut child = sandbox
            .command(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "judgement::log::a_writer_of_many"])
            .env("WRITER", round.to_string())
            .env("ENTRIES", "100000")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let before = fs::metadata(log(&sandbox)).map_or(0, |meta| meta.len());
        // Lets it write something, whatever the machine's speed.
        while fs::metadata(log(&sandbox)).map_or(0, |meta| meta.len()) < before + 2000 {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        add(&env, &workspace, &format!("after {round}"));
        sandbox.holdpoint(["log", "--verify"]).exits(0);
    }
}

#[test]
fn what_is_no_file_in_the_logs_place_is_kept_aside_and_the_log_written_again() {
    for kind in ["directory", "link"] {
        let (sandbox, env, workspace) = opened();
        add(&env, &workspace, "first");
        fs::remove_file(log(&sandbox)).unwrap();
        if kind == "directory" {
            fs::create_dir(log(&sandbox)).unwrap();
            fs::write(log(&sandbox).join("inside"), "kept\n").unwrap();
        } else {
            std::os::unix::fs::symlink("nowhere", log(&sandbox)).unwrap();
        }
        sandbox.holdpoint(["log", "--repair"]).exits(0);
        sandbox.holdpoint(["log", "--verify"]).exits(0);
        assert!(fs::read_to_string(log(&sandbox)).unwrap().contains("first"));
        let aside = fs::read_dir(sandbox.work().join(".ccg"))
            .unwrap()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.to_string_lossy().starts_with("decision_log.found-")
            })
            .count();
        assert_eq!(aside, 1, "{kind}");
    }
}

#[test]
fn filters_find_what_they_name_and_nothing_else() {
    let (sandbox, env, workspace) = opened();
    let agent = holdpoint::judge::Actor::Agent {
        name: "codex".to_owned(),
        session: None,
    };
    let entry = LogEntry::new("hold")
        .level(holdpoint::judge::Level::MustAsk)
        .rule(holdpoint::judge::RuleId::GitHistory)
        .context("paths", ["src/a.rs"])
        .run(Some("01RUN"))
        .actor(&agent);
    journal::append(&env, &workspace, entry).unwrap();
    add(&env, &workspace, "other");
    let count = |arguments: &[&str]| {
        let all = [&["log", "--json"], arguments].concat();
        sandbox.holdpoint(all).exits(0).out.lines().count()
    };
    for (arguments, expected) in [
        (&["--level", "3"][..], 1),
        (&["--level", "level_0"], 0),
        (&["--rule", "git.history"], 1),
        (&["--rule", "git."], 1),
        (&["--rule", "git"], 0),
        (&["--decision", "allow"], 1),
        (&["--actor", "agent"], 1),
        (&["--actor", "agent:codex"], 1),
        (&["--actor", "agent:cod"], 0),
        (&["--run", "01RUN"], 1),
        (&["--path", "src/a.rs"], 1),
        (&["--since", "1h"], 2),
        (&["--until", "1h"], 0),
        (
            &["--since", "2026-01-01T00:00:00Z", "--decision", "hold"],
            1,
        ),
        (&["-n", "0"], 2),
        (&["-n", "1"], 1),
    ] {
        assert_eq!(count(arguments), expected, "{arguments:?}");
    }
    sandbox.holdpoint(["log", "--level", "9"]).exits(2);
    sandbox.holdpoint(["log", "--since", "soon"]).exits(2);
}

#[test]
fn a_followed_log_goes_on_as_entries_are_written() {
    let (sandbox, env, workspace) = opened();
    add(&env, &workspace, "before");
    let mut terminal = super::at_terminal(&sandbox, &["log", "--follow"]);
    terminal.sees("before");
    add(&env, &workspace, "after");
    terminal.sees("after");
    terminal.stops();
}

#[test]
fn the_other_logs_are_written_in_the_seeds_fields_and_chained() {
    let (sandbox, env, workspace) = opened();
    let timeout = journal::Timeout::DecisionTimeout {
        behavior: journal::Behavior::RepeatedReads,
        file: Some("src/main.py".to_owned()),
        tool: None,
        count: 5,
        action: "stopped".to_owned(),
    };
    journal::append_timeout(&env, &workspace, timeout).unwrap();
    let degradation = journal::Degradation {
        service: "codex".to_owned(),
        reason: "api_quota_exceeded".to_owned(),
        fallback: "coder".to_owned(),
        task: "review".to_owned(),
        impact: "a lower standard".to_owned(),
        success: true,
    };
    journal::append_degradation(&env, &workspace, degradation).unwrap();
    let line: serde_json::Value =
        serde_json::from_str(&sandbox.read(".ccg/timeout_log.jsonl")).unwrap();
    assert_eq!(line["type"], "decision_timeout");
    assert_eq!(
        (&line["behavior"], &line["count"]),
        (&"repeated_reads".into(), &5.into())
    );
    assert!(
        sandbox
            .read(".ccg/degradation_log.jsonl")
            .contains("\"fallback\":\"coder\"")
    );
    sandbox.holdpoint(["log", "--verify"]).exits(0);
    let ran = sandbox
        .holdpoint(["log", "--log", "timeouts", "--stats"])
        .exits(0);
    assert!(ran.out.contains("decision_timeout"), "{}", ran.out);
}
