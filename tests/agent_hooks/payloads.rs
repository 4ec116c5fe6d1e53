//! Every captured payload is understood, and every answer is worded as its protocol wants it.
//!
//! Beside each payload lies `NAME.golden`: what was understood, and the reply for
//! each answer. `HOLDPOINT_BLESS=1 cargo test payloads` writes them anew.

use bstr::BString;
use holdpoint::agents::{Agent, Answer, Intent, Moment, Reply, Step};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(agent: Agent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/payloads")
        .join(agent.name())
}

fn payloads(agent: Agent) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder(agent))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}

/// The event's name as `init` writes it into the hook's command line.
fn event_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let stem = stem.strip_prefix("claude-format.").unwrap_or(stem);
    for long in [
        "tool.execute.before",
        "tool.execute.after",
        "event.session.created",
        "event.session.idle",
        "chat.message",
        "shell.env",
    ] {
        if stem.starts_with(long) {
            return long.strip_prefix("event.").unwrap_or(long).to_owned();
        }
    }
    stem.split('.').next().unwrap().to_owned()
}

fn words(reply: &Reply) -> String {
    format!(
        "exit {}\n  out {}\n  err {}\n",
        reply.exit,
        reply.stdout.trim_end(),
        reply.stderr.trim_end()
    )
}

#[test]
fn every_payload_is_understood_and_answered_as_its_golden_file_says() {
    let bless = std::env::var_os("HOLDPOINT_BLESS").is_some();
    let mut seen = 0;
    for agent in Agent::ALL {
        for path in payloads(agent) {
            let event = event_of(&path);
            let call = agent.read(&fs::read(&path).unwrap(), Some(&event)).unwrap();
            let mut text = format!("{call:#?}\n");
            for (name, answer) in [
                ("pass", Answer::Pass),
                ("tell", Answer::Tell("told".to_owned())),
                ("ask", Answer::Ask("asked".to_owned())),
                ("deny", Answer::Deny("denied".to_owned())),
                ("stop", Answer::Stop("stopped".to_owned())),
                (
                    "rewrite",
                    Answer::Rewrite {
                        command: "true".to_owned(),
                        tell: None,
                    },
                ),
            ] {
                write!(text, "{name}: {}", words(&agent.reply(&call, &answer))).unwrap();
            }
            let golden = path.with_extension("golden");
            if bless {
                fs::write(&golden, &text).unwrap();
            }
            let wanted = fs::read_to_string(&golden).unwrap_or_default();
            assert_eq!(text, wanted, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 90, "{seen} payloads");
}

#[test]
fn a_denial_never_is_silent_and_never_lacks_its_reason() {
    for agent in Agent::ALL {
        for path in payloads(agent) {
            let event = event_of(&path);
            let call = agent.read(&fs::read(&path).unwrap(), Some(&event)).unwrap();
            if call.moment != Moment::BeforeTool {
                continue;
            }
            for reason in ["because", "", " \n"] {
                let reply = agent.reply(&call, &Answer::Deny(reason.to_owned()));
                let said = format!("{}{}", reply.stdout, reply.stderr);
                let expected = if reason == "because" {
                    "because"
                } else {
                    "refuses"
                };
                assert!(said.contains(expected), "{agent} {event}: {reply:?}");
                assert!(reply.exit == 0 || (reply.exit == 2 && !reply.stderr.is_empty()));
            }
        }
    }
}

#[test]
fn standard_output_is_one_json_object_or_nothing() {
    for agent in Agent::ALL {
        // OpenCode's plugin is ours, and takes plain text.
        if agent == Agent::OpenCode {
            continue;
        }
        for path in payloads(agent) {
            let event = event_of(&path);
            let call = agent.read(&fs::read(&path).unwrap(), Some(&event)).unwrap();
            for answer in [
                Answer::Pass,
                Answer::Tell("t".to_owned()),
                Answer::Ask("a".to_owned()),
                Answer::Deny("d".to_owned()),
                Answer::Stop("s".to_owned()),
            ] {
                let out = agent.reply(&call, &answer).stdout;
                if !out.is_empty() {
                    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
                    assert!(value.is_object(), "{out}");
                }
            }
        }
    }
}

#[test]
fn codex_is_never_sent_what_makes_it_drop_the_answer() {
    for path in payloads(Agent::Codex) {
        let event = event_of(&path);
        let call = Agent::Codex
            .read(&fs::read(&path).unwrap(), Some(&event))
            .unwrap();
        for answer in [
            Answer::Pass,
            Answer::Tell("t".to_owned()),
            Answer::Ask("a".to_owned()),
            Answer::Deny("d".to_owned()),
            Answer::Stop("s".to_owned()),
        ] {
            let out = Agent::Codex.reply(&call, &answer).stdout;
            for banned in ["\"ask\"", "\"continue\"", "suppressOutput", "stopReason"] {
                assert!(!out.contains(banned), "{out}");
            }
        }
    }
}

fn only_step(agent: Agent, payload: &str) -> Step {
    let call = agent.read(payload.as_bytes(), None).unwrap();
    let Intent::Steps(steps) = call.intent else {
        panic!("{payload}: {:?}", call.intent);
    };
    assert_eq!(steps.len(), 1, "{payload}: {steps:?}");
    steps.into_iter().next().unwrap()
}

#[test]
fn what_a_tool_names_is_found_whatever_the_tool_is_called() {
    let write = |path: &str| Step::Write {
        path: path.into(),
        content: None,
    };
    let run = |command: &str| Step::Run {
        command: command.into(),
        dir: None,
    };
    for (tool, input, step) in [
        ("mcp__fs__write_thing", r#"{"path":"a"}"#, write("a")),
        (
            "mcp__fs__delete_file",
            r#"{"path":"a"}"#,
            Step::Delete { path: "a".into() },
        ),
        (
            "mcp__fs__move_file",
            r#"{"source":"a","destination":"b"}"#,
            Step::Move {
                from: "a".into(),
                to: "b".into(),
            },
        ),
        (
            "NotebookEdit",
            r#"{"notebook_path":"n.ipynb","new_source":"x"}"#,
            write("n.ipynb"),
        ),
        (
            "mcp__sh__anything",
            r#"{"cmd":"rm -rf /"}"#,
            run("rm -rf /"),
        ),
        (
            "mcp__sh__anything",
            r#"{"command":["bash","-lc","rm -rf x"]}"#,
            run("rm -rf x"),
        ),
        (
            "mcp__sh__anything",
            r#"{"command":["rm","-rf","a b"]}"#,
            run("rm -rf 'a b'"),
        ),
        (
            "mcp__git__git_checkout",
            r#"{"repo_path":".","branch_name":"x"}"#,
            Step::Run {
                command: "git checkout x".into(),
                dir: Some(".".into()),
            },
        ),
        (
            "mcp__pg__query",
            r#"{"sql":"DROP TABLE users"}"#,
            run("psql -c 'DROP TABLE users'"),
        ),
        (
            "str_replace_editor",
            r#"{"command":"insert","path":"a","insert_line":1}"#,
            write("a"),
        ),
    ] {
        let payload = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#
        );
        assert_eq!(only_step(Agent::Claude, &payload), step, "{tool}");
    }
}

#[test]
fn a_tool_that_names_nothing_is_risky_only_by_its_own_words() {
    for (tool, risky) in [
        ("mcp__db__drop_everything", Some(true)),
        ("mcp__box__execute", Some(true)),
        ("", Some(true)),
        ("mcp__chat__post_message", Some(false)),
        ("mcp__chat__list_channels", None),
        ("TodoWrite", None),
    ] {
        let payload = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{{"x":1}}}}"#
        );
        let call = Agent::Claude.read(payload.as_bytes(), None).unwrap();
        let found = match call.intent {
            Intent::Unknown { risky } => Some(risky),
            Intent::Read { .. } => None,
            Intent::Steps(steps) => panic!("{tool}: {steps:?}"),
        };
        assert_eq!(found, risky, "{tool}");
    }
}

#[test]
fn an_unknown_shape_with_a_command_in_it_is_judged_by_that_command() {
    for agent in Agent::ALL {
        let call = agent
            .read(br#"{"something":"new","command":"git reset --hard"}"#, None)
            .unwrap();
        let Intent::Steps(steps) = &call.intent else {
            // OpenCode's plugin is ours; its shape does not change under us.
            assert_eq!(agent, Agent::OpenCode, "{:?}", call.intent);
            continue;
        };
        assert!(
            matches!(steps.last(), Some(Step::Run { command, .. }) if command == "git reset --hard"),
            "{agent}: {steps:?}"
        );
    }
}

#[test]
fn what_is_no_json_object_is_refused() {
    for agent in Agent::ALL {
        for bytes in [b"".as_slice(), b"not json", b"[]", b"null", b"{\"a\":"] {
            assert!(agent.read(bytes, None).is_err());
            let reply = agent.refuse(None, "cannot be read");
            assert!(format!("{}{}", reply.stdout, reply.stderr).contains("cannot be read"));
        }
    }
}

#[test]
fn a_gemini_command_gets_git_s_hooks_back_once() {
    use holdpoint::agents::gemini::{as_written, with_git_hooks};
    let once = with_git_hooks("git commit -m x");
    assert_eq!(with_git_hooks(&once), once);
    assert_eq!(as_written(&once), "git commit -m x");
}

#[test]
fn an_edit_is_applied_as_the_tool_would() {
    use holdpoint::agents::Edit;
    let edit = |old: &str, new: &str, all| Edit {
        old: BString::from(old),
        new: BString::from(new),
        all,
    };
    assert_eq!(edit("a", "b", false).apply(b"aa"), Some(b"ba".to_vec()));
    assert_eq!(edit("a", "b", true).apply(b"aa"), Some(b"bb".to_vec()));
    assert_eq!(edit("x", "b", true).apply(b"aa"), None);
    assert_eq!(edit("", "new", false).apply(b""), Some(b"new".to_vec()));
    assert_eq!(edit("", "new", false).apply(b"old"), None);
}
