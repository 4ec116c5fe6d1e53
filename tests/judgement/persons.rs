//! Only a person confirms: at a terminal of their own, and nobody else.

use super::at_terminal;
use crate::support::Sandbox;
use crate::support::terminal::Terminal;
use bstr::BString;
use holdpoint::holds::{self, Draft, Hold};
use holdpoint::judge::{
    self, Action, Actor, Coverage, Effect, EffectKind, Facts, FileOp, FileState, GitClass, Nature,
    Place, Policy, Surface,
};
use holdpoint::repo::Workspace;
use holdpoint::sys::env::Env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

pub(super) struct Scene {
    pub(super) sandbox: Sandbox,
    env: Env,
    workspace: Workspace,
}

impl Scene {
    pub(super) fn new() -> Self {
        let sandbox = Sandbox::with_files(&[("a", "a\n")]);
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
        Self {
            sandbox,
            env,
            workspace,
        }
    }

    fn hold(&self, text: &str, kind: EffectKind, subject: &str) -> Hold {
        let actor = Actor::Agent {
            name: "claude".to_owned(),
            session: None,
        };
        let facts = Facts {
            surface: Surface::AgentHook,
            actor: actor.clone(),
            effects: vec![Effect::new(kind, subject)],
            coverage: Coverage::NotTaken,
        };
        let verdict = judge::judge(&facts, &Policy::default());
        let action = Action::Command {
            text: BString::from(text),
            cwd: self.sandbox.work(),
        };
        let draft = Draft::new(verdict, action, actor, Surface::AgentHook);
        holds::make(&self.env, &self.workspace, &draft).unwrap()
    }

    fn reset(&self) -> Hold {
        let kind = EffectKind::Git {
            class: GitClass::Discard,
            lossy: true,
        };
        self.hold("git reset --hard HEAD~1", kind, "a")
    }

    pub(super) fn config(&self, path: &str) -> Hold {
        let kind = EffectKind::File {
            op: FileOp::Modify,
            place: Place::Workspace,
            nature: Nature::Config,
            state: FileState::Clean,
        };
        self.hold(&format!("edit {path}"), kind, path)
    }

    pub(super) fn taken(&self, hold: &Hold) -> bool {
        holds::take_confirmed(&self.env, &self.workspace, &hold.action_hash)
            .unwrap()
            .is_some()
    }

    fn file(&self, hold: &Hold) -> PathBuf {
        self.workspace.state.join("holds").join(format!(
            "{}.{}.json",
            hold.id,
            &hold.action_hash[..16]
        ))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
        command.args(arguments);
        command
    }

    #[track_caller]
    fn log_has(&self, text: &str) {
        let ran = self
            .sandbox
            .holdpoint(["log", "--json", "-n", "0"])
            .exits(0);
        assert!(ran.out.contains(text), "{text}: {}", ran.out);
    }
}

#[test]
fn a_person_confirms_level_3_with_the_code_and_it_passes_once() {
    let scene = Scene::new();
    let hold = scene.reset();
    assert!(!scene.taken(&hold));
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", &hold.id]);
    terminal.sees("HELD  Level 3: git reset --hard HEAD~1");
    terminal.types_code();
    let shown = terminal.ends_with(0);
    assert!(shown.contains("Now repeat the command"), "{shown}");
    assert!(scene.taken(&hold));
    assert!(!scene.taken(&hold));
    scene.log_has("\"decision\":\"confirm\"");
}

#[test]
fn a_wrong_code_and_typing_ahead_confirm_nothing() {
    let scene = Scene::new();
    let hold = scene.reset();
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", &hold.id]);
    terminal.types("yes");
    terminal.code();
    terminal.types("yes");
    terminal.ends_with(130);
    assert!(!scene.taken(&hold));
}

#[test]
fn level_2_is_a_plain_question() {
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", &hold.id[20..]]);
    terminal.sees("[y/N]");
    terminal.types("y");
    terminal.ends_with(0);
    assert!(scene.taken(&hold));
}

#[test]
fn without_a_terminal_nobody_confirms() {
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let command = scene.command(&["confirm", &hold.id]);
    // No controlling terminal: a session of its own without one.
    let mut wrapped = Command::new("setsid");
    wrapped
        .arg("-w")
        .arg(command.get_program())
        .args(command.get_args());
    wrapped.current_dir(scene.sandbox.work()).env_clear();
    for (name, value) in command.get_envs() {
        wrapped.env(name, value.unwrap());
    }
    let output = wrapped.stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no controlling terminal"));
    assert!(!scene.taken(&hold));
    scene.log_has("not_a_person");
}

#[test]
fn an_agents_mark_at_a_real_terminal_is_refused() {
    for (name, value) in [
        ("CLAUDECODE", "1"),
        ("CODEX_THREAD_ID", "x"),
        ("GEMINI_CLI", "1"),
        ("COPILOT_CLI", "1"),
        ("OPENCODE", "1"),
        ("AGENT", "1"),
        ("HOLDPOINT_RUN", "01J"),
        ("CLAUDE_PROJECT_DIR", "/x"),
    ] {
        let scene = Scene::new();
        let hold = scene.config("Makefile");
        let mut command = scene.command(&["confirm", &hold.id]);
        command.env(name, value);
        let shown = Terminal::start(command).ends_with(1);
        assert!(shown.contains(name), "{shown}");
        assert!(!scene.taken(&hold));
    }
}

/// A script that stands in for an agent's program: it starts what it is told to.
pub(super) fn agent_program(scene: &Scene, name: &str, body: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = scene.sandbox.path(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn an_agent_among_the_parents_is_refused_even_with_a_clean_environment() {
    for name in ["claude", "codex", "cursor-agent"] {
        let scene = Scene::new();
        let hold = scene.config("Makefile");
        let program = agent_program(&scene, name, "\"$@\"; exit $?");
        let mut command = scene.sandbox.command(program);
        command
            .arg(env!("CARGO_BIN_EXE_holdpoint"))
            .args(["confirm", &hold.id]);
        let shown = Terminal::start(command).ends_with(1);
        assert!(shown.contains("an agent is among the parents"), "{shown}");
        assert!(!scene.taken(&hold));
    }
}

#[test]
fn a_parent_started_with_an_agents_mark_is_refused() {
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let mut command = scene.sandbox.command("sh");
    command
        .env("CLAUDECODE", "1")
        .args(["-c", "env -u CLAUDECODE \"$@\"; exit $?", "sh"])
        .arg(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["confirm", &hold.id]);
    let shown = Terminal::start(command).ends_with(1);
    assert!(shown.contains("was started with CLAUDECODE"), "{shown}");
    assert!(!scene.taken(&hold));
}

#[test]
fn script_is_refused_as_the_one_who_types() {
    if Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let mut command = scene.sandbox.command("script");
    command.args([
        "-qec",
        &format!("{} confirm {}", env!("CARGO_BIN_EXE_holdpoint"), hold.id),
        "/dev/null",
    ]);
    let shown = Terminal::start(command).ends_with(1);
    assert!(shown.contains("input is written by script"), "{shown}");
    assert!(!scene.taken(&hold));
}

#[test]
fn expect_and_its_kin_are_refused_as_those_who_type() {
    let Ok(found) = Command::new("sh")
        .args(["-c", "command -v script"])
        .output()
    else {
        return;
    };
    let script = String::from_utf8(found.stdout).unwrap();
    if script.trim().is_empty() {
        return;
    }
    for typist in ["expect", "autoexpect", "unbuffer", "socat", "faketty"] {
        let scene = Scene::new();
        let hold = scene.config("Makefile");
        let program = scene.sandbox.path(typist);
        fs::copy(script.trim(), &program).unwrap();
        let mut command = scene.sandbox.command(&program);
        command.args([
            "-qec",
            &format!("{} confirm {}", env!("CARGO_BIN_EXE_holdpoint"), hold.id),
            "/dev/null",
        ]);
        let shown = Terminal::start(command).ends_with(1);
        assert!(
            shown.contains(&format!("input is written by {typist}")),
            "{shown}"
        );
        assert!(!scene.taken(&hold));
    }
}

#[test]
fn what_a_timer_started_is_refused_even_at_a_terminal() {
    let shell = fs::canonicalize("/bin/sh").unwrap();
    for timer in ["cron", "crond", "atd", "anacron"] {
        let scene = Scene::new();
        let hold = scene.config("Makefile");
        let program = scene.sandbox.path(timer);
        fs::copy(&shell, &program).unwrap();
        let mut command = scene.sandbox.command(&program);
        command.args([
            "-c",
            "\"$@\"; exit $?",
            "sh",
            env!("CARGO_BIN_EXE_holdpoint"),
            "confirm",
            &hold.id,
        ]);
        let shown = Terminal::start(command).ends_with(1);
        assert!(
            shown.contains(&format!("this was started by {timer}")),
            "{shown}"
        );
        assert!(!scene.taken(&hold));
    }
}

/// Python opens a pty of its own and answers for the person.
const PYTHON_TYPIST: &str = r"
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
out = b''
try:
    os.write(fd, b'y\n')
    while True:
        data = os.read(fd, 4096)
        if not data: break
        out += data
        if b'[y/N]' in data: os.write(fd, b'y\n')
except OSError:
    pass
_, status = os.waitpid(pid, 0)
os.write(1, out)
sys.exit(os.waitstatus_to_exitcode(status))
";

#[test]
fn a_nested_pty_under_an_agent_is_refused() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let typist = scene.sandbox.path("typist.py");
    fs::write(&typist, PYTHON_TYPIST).unwrap();
    let program = agent_program(
        &scene,
        "claude",
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" XDG_STATE_HOME=\"$XDG_STATE_HOME\" HOLDPOINT_TEST_ANCESTRY_ROOT=\"$HOLDPOINT_TEST_ANCESTRY_ROOT\" python3 \"$@\"; exit $?",
    );
    let output = scene
        .sandbox
        .command(program)
        .arg(&typist)
        .arg(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["confirm", &hold.id])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!scene.taken(&hold));
}

/// Lets a program confirm through a pseudo-terminal of its own; returns what was shown there.
fn typed_by_a_program(scene: &Scene, hold: &Hold, started_by: &str) -> String {
    let typist = scene.sandbox.path("typist.py");
    let said = scene.sandbox.path("said");
    fs::write(&typist, PYTHON_TYPIST).unwrap();
    let status = scene
        .sandbox
        .command("sh")
        .args(["-c", started_by, "sh"])
        .env("SAID", &said)
        .arg(&typist)
        .arg(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["confirm", &hold.id])
        .status()
        .unwrap();
    assert!(status.success());
    while !said.exists() {
        std::thread::yield_now();
    }
    fs::read_to_string(&said).unwrap()
}

#[test]
fn a_typist_that_nobody_is_left_to_answer_for_is_refused() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    // Its parent is gone before it starts to type.
    let shown = typed_by_a_program(
        &scene,
        &hold,
        "setsid -f python3 -c 'import os, sys
while os.getppid() == int(sys.argv[1]): pass
new = open(os.environ[\"SAID\"] + \".new\", \"w\")
os.dup2(new.fileno(), 1)
os.dup2(new.fileno(), 2)
script = sys.argv[2]
sys.argv = sys.argv[2:]
try: exec(compile(open(script).read(), script, \"exec\"))
finally: os.rename(os.environ[\"SAID\"] + \".new\", os.environ[\"SAID\"])' $$ \"$@\"; exit 0",
    );
    assert!(shown.contains("nobody is left who started it"), "{shown}");
    assert!(!scene.taken(&hold));
}

#[test]
fn an_unknown_terminal_is_refused_while_an_agent_runs() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let scene = Scene::new();
    let hold = scene.config("Makefile");
    let mut agent = scene
        .sandbox
        .command(agent_program(&scene, "claude", "read _; exit 0"))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let shown = typed_by_a_program(
        &scene,
        &hold,
        "setsid sh -c 'python3 \"$@\" >\"$SAID.new\" 2>&1; mv \"$SAID.new\" \"$SAID\"' sh \"$@\" & exit 0",
    );
    drop(agent.stdin.take());
    agent.wait().unwrap();
    assert!(shown.contains("while an agent is running"), "{shown}");
    assert!(!scene.taken(&hold));
}

#[test]
fn a_forged_hold_is_refused_and_logged() {
    let scene = Scene::new();
    let hold = scene.reset();
    let text = fs::read_to_string(scene.file(&hold)).unwrap();
    fs::write(
        scene.file(&hold),
        text.replace("\"state\": \"pending\"", "\"state\": \"confirmed\""),
    )
    .unwrap();
    assert!(!scene.taken(&hold));
    scene.log_has("forged_confirmation");
}

#[test]
fn an_edited_hold_is_not_shown_to_a_person_as_it_was_judged() {
    let scene = Scene::new();
    let hold = scene.reset();
    let text = fs::read_to_string(scene.file(&hold)).unwrap();
    fs::write(
        scene.file(&hold),
        text.replace("git reset --hard HEAD~1", "git status"),
    )
    .unwrap();
    at_terminal(&scene.sandbox, &["confirm", &hold.id]).ends_with(2);
    assert!(!scene.taken(&hold));
    scene.log_has("forged_hold");
}

fn confirmed(scene: &Scene) -> Hold {
    let hold = scene.reset();
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", &hold.id]);
    terminal.types_code();
    terminal.ends_with(0);
    hold
}

#[test]
fn a_replayed_confirmation_is_refused_and_logged() {
    let scene = Scene::new();
    let hold = confirmed(&scene);
    let copy = fs::read(scene.file(&hold)).unwrap();
    assert!(scene.taken(&hold));
    fs::write(scene.file(&hold), copy).unwrap();
    assert!(!scene.taken(&hold));
    scene.log_has("replayed_confirmation");
}

#[test]
fn a_confirmation_copied_to_another_hold_or_repository_is_refused() {
    let scene = Scene::new();
    let first = confirmed(&scene);
    let other = scene.config("Makefile");
    let mut json: serde_json::Value =
        serde_json::from_slice(&fs::read(scene.file(&other)).unwrap()).unwrap();
    let source: serde_json::Value =
        serde_json::from_slice(&fs::read(scene.file(&first)).unwrap()).unwrap();
    json["state"] = "confirmed".into();
    json["confirmation"] = source["confirmation"].clone();
    fs::write(scene.file(&other), json.to_string()).unwrap();
    assert!(!scene.taken(&other));
    scene.log_has("forged_confirmation");

    // Another repository of the same user, with the same key.
    let elsewhere = scene.sandbox.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    scene
        .sandbox
        .git(["init", "-q", elsewhere.to_str().unwrap()]);
    let workspace = Workspace::find(&scene.env, &elsewhere).unwrap();
    workspace.make_state().unwrap();
    fs::create_dir_all(workspace.state.join("holds")).unwrap();
    fs::copy(
        scene.file(&first),
        workspace
            .state
            .join("holds")
            .join(scene.file(&first).file_name().unwrap()),
    )
    .unwrap();
    let taken = holds::take_confirmed(&scene.env, &workspace, &first.action_hash).unwrap();
    assert!(taken.is_none());
    assert!(scene.taken(&first));
}

#[test]
fn an_edited_log_confirms_nothing() {
    let scene = Scene::new();
    let hold = scene.reset();
    fs::create_dir(scene.sandbox.work().join(".ccg")).unwrap();
    fs::write(
        scene.sandbox.work().join(".ccg/decision_log.jsonl"),
        format!(
            "{{\"decision\":\"confirm\",\"hold\":\"{}\",\"actor\":\"person\"}}\n",
            hold.id
        ),
    )
    .unwrap();
    assert!(!scene.taken(&hold));
}

#[test]
fn an_agent_refuses_no_hold_and_a_person_does() {
    let scene = Scene::new();
    let hold = scene.reset();
    let output = scene
        .command(&["deny", &hold.id])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    scene
        .sandbox
        .holdpoint(["deny", &hold.id, "--why", "not today"])
        .exits(0);
    at_terminal(&scene.sandbox, &["confirm", &hold.id]).ends_with(2);
    let ran = scene
        .sandbox
        .holdpoint(["holds", "show", &hold.id])
        .exits(0);
    assert!(
        ran.out.contains("not today") && ran.out.contains("denied"),
        "{}",
        ran.out
    );
}

#[test]
fn holds_are_listed_and_shown() {
    let scene = Scene::new();
    let ran = scene.sandbox.holdpoint(["holds"]).exits(0);
    assert!(ran.out.contains("Nothing waits"), "{}", ran.out);
    let hold = scene.reset();
    assert_eq!(scene.reset().id, hold.id);
    let ran = scene.sandbox.holdpoint(["holds"]).exits(0);
    assert!(
        ran.out.contains(&hold.id) && ran.out.contains("min left"),
        "{}",
        ran.out
    );
    let ran = scene
        .sandbox
        .holdpoint(["holds", "show", &hold.id, "--json"])
        .exits(0);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(shown["rules"][0], "git.discard");
    assert_eq!(shown["action"]["text"], "git reset --hard HEAD~1");
    scene.sandbox.holdpoint(["holds", "show", "NOPE"]).exits(2);
}

#[test]
fn for_session_and_always_reach_level_2_rules_only() {
    let scene = Scene::new();
    let hold = scene.reset();
    at_terminal(&scene.sandbox, &["confirm", "--always", &hold.id]).ends_with(2);
    let hold = scene.config("Makefile");
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", "--for-session", &hold.id]);
    terminal.sees("[y/N]");
    terminal.types("y");
    terminal.ends_with(0);
    let ran = scene.sandbox.holdpoint(["session", "show"]).exits(0);
    assert!(ran.out.contains("file.config passes until"), "{}", ran.out);
    let hold = scene.config("Dockerfile");
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", "--always", &hold.id]);
    terminal.sees("[y/N]");
    terminal.types("y");
    terminal.ends_with(0);
    let ran = scene
        .sandbox
        .holdpoint(["prefs", "get", "decision_authority.file.config"])
        .exits(0);
    assert_eq!(ran.out.trim(), "level_1");
    assert!(
        scene
            .sandbox
            .read(".ccg/user_preferences.json")
            .contains("file.config")
    );
}

#[test]
fn a_batch_is_previewed_and_confirmed_one_by_one_and_all_that_remain() {
    let scene = Scene::new();
    let all: Vec<Hold> = (1..=4)
        .map(|n| scene.config(&format!("config/app-{n}.toml")))
        .collect();
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", "--like", &all[0].id]);
    terminal.sees("4 holds alike");
    terminal.sees("[s]kip all:");
    terminal.types("o");
    terminal.sees("[q]uit:");
    terminal.types("n");
    terminal.sees("[q]uit:");
    terminal.types("a");
    terminal.sees("Let all 3 pass? [y/N]");
    terminal.types("y");
    let shown = terminal.ends_with(0);
    assert!(shown.contains("Confirmed 3 of 4"), "{shown}");
    assert!(!scene.taken(&all[0]));
    assert!(all[1..].iter().all(|hold| scene.taken(hold)));
    scene.log_has("\"decision\":\"batch\"");
}

#[test]
fn what_cannot_be_undone_is_part_of_no_batch() {
    let scene = Scene::new();
    let holds: Vec<Hold> = (0..3)
        .map(|n| {
            let kind = EffectKind::Git {
                class: GitClass::Discard,
                lossy: true,
            };
            scene.hold(&format!("git checkout -- file-{n}"), kind, "file")
        })
        .collect();
    let shown = at_terminal(&scene.sandbox, &["confirm", "--like", &holds[0].id]).ends_with(2);
    assert!(shown.contains("part of no batch"), "{shown}");
}

#[test]
fn an_ssh_signature_is_asked_for_and_verified_before_use() {
    let scene = Scene::new();
    let key = scene.sandbox.path("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status();
    if made.is_err() {
        return;
    }
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let signers = scene.sandbox.path("allowed_signers");
    fs::write(
        &signers,
        format!("ada@example.org namespaces=\"holdpoint-confirm\" {public}"),
    )
    .unwrap();
    fs::create_dir_all(scene.sandbox.path("config/holdpoint")).unwrap();
    let prefs = |signing: &str| {
        fs::write(
            scene.sandbox.path("config/holdpoint/preferences.json"),
            serde_json::json!({"confirm": {"signing": signing, "signing_key": key, "allowed_signers": signers, "signer": "ada@example.org"}}).to_string(),
        )
        .unwrap();
    };
    // Confirmed without a signature, then the policy asks for one.
    prefs("none");
    let hold = confirmed(&scene);
    prefs("ssh");
    assert!(!scene.taken(&hold));
    scene.log_has("bad_signature");
    let hold = confirmed(&scene);
    assert!(scene.taken(&hold));
    // A key that the policy does not list.
    fs::write(&signers, "").unwrap();
    let hold = scene.reset();
    let mut terminal = at_terminal(&scene.sandbox, &["confirm", &hold.id]);
    terminal.types_code();
    terminal.ends_with(1);
    assert!(!scene.taken(&hold));
}
