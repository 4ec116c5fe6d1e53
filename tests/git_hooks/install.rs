//! What `init` puts in, `uninstall` takes out byte for byte.

use crate::support::{Ran, Sandbox};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

const EVENTS: &[&str] = &[
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "pre-push",
    "pre-rebase",
    "pre-auto-gc",
    "reference-transaction",
];

/// A directory's entries: modes, bytes or link targets.
type Picture = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Everything of a directory.
fn picture(dir: &Path) -> Picture {
    let mut all = BTreeMap::new();
    let Ok(entries) = fs::read_dir(dir) else {
        return all;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let bytes = if meta.is_symlink() {
            fs::read_link(&path)
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else if meta.is_dir() {
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(path, (meta.permissions().mode(), bytes));
    }
    all
}

/// The hooks directory and the configuration of the sandbox's repository.
fn whole(sandbox: &Sandbox) -> (Picture, Vec<u8>) {
    let git = sandbox.work().join(".git");
    (
        picture(&git.join("hooks")),
        fs::read(git.join("config")).unwrap(),
    )
}

fn hook(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.work().join(".git/hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn commit(sandbox: &Sandbox, file: &str) -> Ran {
    sandbox.write(file, file);
    sandbox.git(["add", "-A"]);
    Ran::from(
        sandbox
            .command("git")
            .args(["commit", "-qm", file])
            .output()
            .unwrap(),
    )
}

#[test]
fn init_puts_a_hook_in_for_every_event_and_uninstall_takes_each_out() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let before = whole(&sandbox);
    let ran = sandbox.holdpoint(["init"]).exits(0);
    for event in EVENTS {
        assert!(ran.out.contains(event), "{event}: {}", ran.out);
        assert!(sandbox.work().join(".git/hooks").join(event).exists());
    }
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn init_again_does_nothing_and_says_so() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    sandbox.holdpoint(["init"]).exits(0);
    let between = whole(&sandbox);
    let ran = sandbox.holdpoint(["init"]).exits(0);
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    assert_eq!(whole(&sandbox), between);
}

#[test]
fn uninstall_without_init_does_nothing_and_says_so() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let before = whole(&sandbox);
    let ran = sandbox.holdpoint(["uninstall"]).exits(0);
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn an_existing_hook_runs_first_with_its_arguments_and_comes_back() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(
        &sandbox,
        "prepare-commit-msg",
        "#!/bin/sh\necho \"$(basename \"$0\") $2\" >> ran\n",
    );
    let before = whole(&sandbox);
    let ran = sandbox.holdpoint(["init"]).exits(0);
    assert!(ran.out.contains("run first"), "{}", ran.out);
    commit(&sandbox, "b").exits(0);
    assert_eq!(sandbox.read("ran"), "prepare-commit-msg message\n");
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn an_existing_hook_that_refuses_still_refuses_with_its_own_status() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "pre-commit", "#!/bin/sh\necho mine >&2\nexit 7\n");
    sandbox.holdpoint(["init"]).exits(0);
    let ran = commit(&sandbox, "b");
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("mine"), "{}", ran.err);
}

#[test]
fn an_existing_hook_gets_the_whole_standard_input() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(
        &sandbox,
        "reference-transaction",
        "#!/bin/sh\nwhile read -r old new ref; do echo \"$1 $ref\" >> seen; done\n",
    );
    sandbox.holdpoint(["init"]).exits(0);
    sandbox.git(["branch", "topic"]);
    assert!(
        sandbox.read("seen").contains("prepared refs/heads/topic"),
        "{}",
        sandbox.read("seen")
    );
    assert!(sandbox.read("seen").contains("committed refs/heads/topic"));
}

#[test]
fn a_hooks_directory_that_init_made_goes_with_uninstall() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let hooks = sandbox.work().join(".git/hooks");
    fs::remove_dir_all(&hooks).unwrap();
    sandbox.holdpoint(["init"]).exits(0);
    assert!(hooks.join("pre-commit").exists());
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert!(!hooks.exists());
}

#[test]
fn git_goes_on_and_a_commit_says_so_when_our_program_is_gone() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "pre-push", "#!/bin/sh\necho theirs >> ran\n");
    let own = sandbox.path("bin");
    fs::create_dir(&own).unwrap();
    for name in ["holdpoint", "holdpoint-hook"] {
        let built = Path::new(env!("CARGO_BIN_EXE_holdpoint")).with_file_name(name);
        fs::hard_link(&built, own.join(name))
            .or_else(|_| fs::copy(&built, own.join(name)).map(drop))
            .unwrap();
    }
    let status = sandbox
        .command(own.join("holdpoint"))
        .env(
            "PATH",
            format!(
                "{}:/usr/bin:/bin:{}",
                own.display(),
                sandbox.path("old-git").display()
            ),
        )
        .arg("init")
        .status()
        .unwrap();
    assert!(status.success());
    fs::remove_dir_all(&own).unwrap();
    fs::remove_dir_all(sandbox.path("state/holdpoint/program")).unwrap();
    let ran = commit(&sandbox, "b").exits(0);
    assert!(ran.err.contains("is gone"), "{}", ran.err);
    sandbox.git(["branch", "topic"]);
    sandbox.git(["branch", "-D", "topic"]);
    sandbox.git(["init", "-q", "--bare", "../remote.git"]);
    sandbox.git(["push", "-q", "../remote.git", "main"]);
    assert_eq!(sandbox.read("ran"), "theirs\n", "their own hook still runs");
}

#[test]
fn a_hook_written_through_our_link_does_not_reach_the_program() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let output = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .arg("init")
        .env_remove("HOLDPOINT_TEST_LINK_PROGRAM")
        .output()
        .unwrap();
    Ran::from(output).exits(0);
    let program = Path::new(env!("CARGO_BIN_EXE_holdpoint-hook"));
    let hook = sandbox.work().join(".git/hooks/reference-transaction");
    let copy = fs::canonicalize(&hook).unwrap();
    assert_ne!(copy, fs::canonicalize(program).unwrap());
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o222, 0);
    let length = fs::metadata(program).unwrap().len();
    let _ = fs::write(&hook, "#!/bin/sh\n");
    assert_eq!(fs::metadata(program).unwrap().len(), length);
    commit(&sandbox, "b").exits(0);
}

#[test]
fn what_another_manager_did_to_our_hooks_is_undone_around_it() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "pre-commit", "#!/bin/sh\necho user >> ran\n");
    sandbox.holdpoint(["init"]).exits(0);
    let hooks = sandbox.work().join(".git/hooks");
    // As pre-commit and prek do: move aside under their own name, and run it first.
    fs::rename(hooks.join("pre-commit"), hooks.join("pre-commit.legacy")).unwrap();
    hook(
        &sandbox,
        "pre-commit",
        "#!/bin/sh\n\"$(dirname \"$0\")/pre-commit.legacy\" \"$@\" && echo manager >> ran\n",
    );
    commit(&sandbox, "b").exits(0);
    assert_eq!(sandbox.read("ran"), "user\nmanager\n");
    sandbox.holdpoint(["uninstall"]).exits(0);
    commit(&sandbox, "c").exits(0);
    assert_eq!(sandbox.read("ran"), "user\nmanager\nuser\nmanager\n");
    assert_eq!(
        fs::read_to_string(hooks.join("pre-commit.legacy")).unwrap(),
        "#!/bin/sh\necho user >> ran\n"
    );
    let names: Vec<_> = picture(&hooks)
        .into_keys()
        .filter(|path| !path.to_string_lossy().ends_with(".sample"))
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn init_after_a_manager_that_displaced_us_steps_before_it() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "pre-commit", "#!/bin/sh\necho user >> ran\n");
    sandbox.holdpoint(["init"]).exits(0);
    let hooks = sandbox.work().join(".git/hooks");
    // As lefthook does: move aside and never run it.
    fs::rename(hooks.join("pre-commit"), hooks.join("pre-commit.old")).unwrap();
    hook(&sandbox, "pre-commit", "#!/bin/sh\necho manager >> ran\n");
    sandbox.holdpoint(["init"]).exits(0);
    commit(&sandbox, "b").exits(0);
    assert!(sandbox.read("ran").contains("manager"));
    sandbox.holdpoint(["uninstall"]).exits(0);
    let text = |name: &str| fs::read_to_string(hooks.join(name)).unwrap();
    assert_eq!(text("pre-commit"), "#!/bin/sh\necho manager >> ran\n");
    assert_eq!(text("pre-commit.old"), "#!/bin/sh\necho user >> ran\n");
}

#[test]
fn a_hook_put_in_our_place_since_is_left_alone_and_named() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "pre-commit", "#!/bin/sh\nexit 0\n");
    sandbox.holdpoint(["init"]).exits(0);
    let path = sandbox.work().join(".git/hooks/pre-commit");
    fs::remove_file(&path).unwrap();
    hook(&sandbox, "pre-commit", "#!/bin/sh\n# a new one\n");
    let ran = sandbox.holdpoint(["uninstall"]).exits(0);
    assert!(ran.out.contains("left alone"), "{}", ran.out);
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        "#!/bin/sh\n# a new one\n"
    );
}

#[test]
fn a_linked_hook_of_a_user_comes_back_as_the_same_link() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let script = sandbox.path("my hook.sh");
    fs::write(&script, "#!/bin/sh\necho linked >> ran\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = sandbox.work().join(".git/hooks/pre-commit");
    symlink(&script, &path).unwrap();
    let before = whole(&sandbox);
    sandbox.holdpoint(["init"]).exits(0);
    commit(&sandbox, "b").exits(0);
    assert_eq!(sandbox.read("ran"), "linked\n");
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn linked_worktrees_share_the_hooks_and_paths_may_hold_spaces_and_umlauts() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let tree = sandbox.path("Bäume und Äste");
    sandbox.git([
        "worktree",
        "add",
        "-q",
        tree.to_str().unwrap(),
        "-b",
        "topic",
    ]);
    let before = whole(&sandbox);
    let ran = Ran::from(
        sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .arg("init")
            .current_dir(&tree)
            .output()
            .unwrap(),
    )
    .exits(0);
    assert!(ran.out.contains("pre-commit"), "{}", ran.out);
    assert!(sandbox.work().join(".git/hooks/pre-commit").exists());
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn a_bare_repository_is_guarded_too() {
    let sandbox = Sandbox::plain();
    sandbox.git(["init", "-q", "--bare", "."]);
    let before = picture(&sandbox.work().join("hooks"));
    sandbox.holdpoint(["init"]).exits(0);
    assert!(sandbox.work().join("hooks/reference-transaction").exists());
    assert!(!sandbox.work().join(".ccg").exists());
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(picture(&sandbox.work().join("hooks")), before);
}

#[test]
fn hooks_go_where_a_hooks_path_inside_the_repository_sends_git() {
    let sandbox = Sandbox::with_files(&[("a", "1"), (".gitignore", "_hooks\n")]);
    sandbox.git(["config", "core.hooksPath", "_hooks"]);
    let before = whole(&sandbox);
    sandbox.holdpoint(["init"]).exits(0);
    assert!(sandbox.work().join("_hooks/pre-commit").exists());
    assert!(
        !sandbox.work().join(".git/hooks/pre-commit").exists(),
        "never twice"
    );
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(whole(&sandbox), before);
    assert!(!sandbox.work().join("_hooks").exists());
}

#[test]
fn a_hooks_path_that_is_not_this_repository_s_own_is_refused_with_what_to_type() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let shared = sandbox.path("shared");
    fs::create_dir(&shared).unwrap();
    for (args, words) in [
        (
            vec!["config", "core.hooksPath", shared.to_str().unwrap()],
            "would run for others",
        ),
        (
            vec!["config", "core.hooksPath", "/dev/null"],
            "switched off",
        ),
        (vec!["config", "core.hooksPath", "tracked"], "tracks"),
    ] {
        sandbox.write("tracked/pre-commit", "#!/bin/sh\n");
        sandbox.git(["add", "-A"]);
        sandbox.git(args);
        let before = whole(&sandbox);
        let ran = sandbox.holdpoint(["init"]).exits(1);
        assert!(ran.err.contains(words), "{}", ran.err);
        assert!(ran.err.contains("hint:"), "{}", ran.err);
        assert_eq!(whole(&sandbox), before);
        assert!(picture(&shared).is_empty());
    }
}

#[test]
fn init_outside_a_repository_says_so() {
    let sandbox = Sandbox::plain();
    let ran = sandbox.holdpoint(["init"]).exits(2);
    assert!(ran.err.contains("git init"), "{}", ran.err);
}

#[test]
fn a_hooks_directory_that_cannot_be_written_is_an_error_that_names_it() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let hooks = sandbox.work().join(".git/hooks");
    fs::remove_dir_all(&hooks).unwrap();
    fs::write(&hooks, "a file\n").unwrap();
    let ran = sandbox.holdpoint(["init"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains(".git/hooks"), "{}", ran.err);
    assert_eq!(fs::read_to_string(&hooks).unwrap(), "a file\n");
}

#[test]
fn an_installation_for_the_user_passes_on_to_each_repository_s_own_hooks() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "commit-msg", "#!/bin/sh\necho own >> ran\n");
    let config = sandbox.path("home/.gitconfig");
    let before = fs::read(&config).unwrap();
    sandbox.holdpoint(["init", "--global"]).exits(0);
    let ran = sandbox.holdpoint(["init", "--global"]).exits(0);
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    commit(&sandbox, "b").exits(0);
    assert_eq!(sandbox.read("ran"), "own\n");
    let ran = sandbox.holdpoint(["init"]).exits(0);
    assert!(ran.out.contains("already"), "{}", ran.out);
    sandbox.holdpoint(["uninstall", "--global"]).exits(0);
    assert_eq!(fs::read(&config).unwrap(), before);
}

#[test]
fn an_installation_for_the_machine_goes_to_the_system_configuration_and_out_again() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let config = sandbox.path("etc/gitconfig");
    fs::create_dir(sandbox.path("etc")).unwrap();
    fs::write(&config, "[core]\n\tabbrev = 12").unwrap();
    let run = |word: &str| {
        let output = sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .args([word, "--system"])
            .env("GIT_CONFIG_SYSTEM", &config)
            .output()
            .unwrap();
        Ran::from(output).exits(0)
    };
    run("init");
    assert!(
        fs::read_to_string(&config)
            .unwrap()
            .starts_with("[core]\n\tabbrev = 12\n[core]\n\thooksPath = ")
    );
    run("uninstall");
    assert_eq!(
        fs::read_to_string(&config).unwrap(),
        "[core]\n\tabbrev = 12"
    );
    assert!(!sandbox.path("etc/holdpoint").exists());
}

/// A `git` that says it is of a version that reads hooks from the configuration.
fn newer_git(sandbox: &Sandbox) -> PathBuf {
    let dir = sandbox.path("newer");
    fs::create_dir_all(&dir).unwrap();
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|dir| dir.join("git"))
        .find(|path| path.exists())
        .unwrap();
    let git = dir.join("git");
    fs::write(
        &git,
        format!(
            "#!/bin/sh\ntest \"$1\" = version && {{ echo git version 2.54.0; exit; }}\nexec {} \"$@\"\n",
            real.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    for tool in ["sh", "env"] {
        let _ = symlink(Path::new("/bin").join(tool), dir.join(tool));
    }
    dir
}

fn with_newer_git(sandbox: &Sandbox, word: &str) -> Ran {
    Ran::from(
        sandbox
            .command(env!("CARGO_BIN_EXE_holdpoint"))
            .arg(word)
            .env("PATH", newer_git(sandbox))
            .output()
            .unwrap(),
    )
    .exits(0)
}

#[test]
fn from_git_2_54_on_hooks_go_into_the_configuration_and_out_again() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    hook(&sandbox, "pre-commit", "#!/bin/sh\nexit 0\n");
    let before = whole(&sandbox);
    with_newer_git(&sandbox, "init");
    assert_eq!(whole(&sandbox).0, before.0, "no hook file is touched");
    let listed = sandbox.git(["config", "--get-regexp", "^hook\\."]);
    for event in EVENTS {
        assert!(
            listed.contains(&format!("hook.holdpoint-{event}.event {event}")),
            "{listed}"
        );
        let command = sandbox.git(["config", &format!("hook.holdpoint-{event}.command")]);
        assert!(Path::new(command.trim()).exists(), "{command}");
    }
    let ran = with_newer_git(&sandbox, "init");
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    with_newer_git(&sandbox, "uninstall");
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn a_configuration_changed_since_keeps_the_change_and_loses_only_ours() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    with_newer_git(&sandbox, "init");
    sandbox.git(["config", "user.nickname", "Countess"]);
    with_newer_git(&sandbox, "uninstall");
    let text = fs::read_to_string(sandbox.work().join(".git/config")).unwrap();
    assert!(text.contains("nickname"), "{text}");
    assert!(!text.contains("gitconfig"), "{text}");
}

#[test]
fn a_newer_git_moves_the_hooks_from_files_to_the_configuration() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let before = whole(&sandbox);
    sandbox.holdpoint(["init"]).exits(0);
    with_newer_git(&sandbox, "init");
    assert_eq!(whole(&sandbox).0, before.0, "never both at once");
    sandbox.holdpoint(["init"]).exits(0);
    assert_eq!(whole(&sandbox).1, before.1, "and back");
    sandbox.holdpoint(["uninstall"]).exits(0);
    assert_eq!(whole(&sandbox), before);
}

#[test]
fn a_configuration_that_git_has_locked_is_not_written() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let lock = sandbox.work().join(".git/config.lock");
    fs::write(&lock, "").unwrap();
    let before = whole(&sandbox);
    let output = sandbox
        .command(env!("CARGO_BIN_EXE_holdpoint"))
        .arg("init")
        .env("PATH", newer_git(&sandbox))
        .output()
        .unwrap();
    let ran = Ran::from(output);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("locked"), "{}", ran.err);
    assert_eq!(whole(&sandbox), before);
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that cannot run here says so")]
fn configured_hooks_hold_a_commit_that_switches_hook_files_off() {
    let sandbox = Sandbox::with_files(&[("a", "1"), ("b", "2")]);
    let version = sandbox.git(["version"]);
    let numbers: Vec<u32> = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect();
    if numbers
        .get(..2)
        .is_none_or(|version| version < &[2, 54][..])
    {
        eprintln!(
            "not run: {} reads no hooks from its configuration",
            version.trim()
        );
        return;
    }
    let before = fs::read(sandbox.work().join(".git/config")).unwrap();
    with_newer_git(&sandbox, "init");
    assert!(!sandbox.work().join(".git/hooks/pre-commit").exists());
    sandbox.git(["rm", "-q", "b"]);
    for off in [&[][..], &["-c", "core.hooksPath=/dev/null"][..]] {
        let ran = Ran::from(
            sandbox
                .command("git")
                .args(off)
                .args(["commit", "-qm", "without b"])
                .output()
                .unwrap(),
        );
        assert_ne!(ran.code, 0, "{off:?}");
        assert!(ran.err.contains("file.delete"), "{}", ran.err);
    }
    with_newer_git(&sandbox, "uninstall");
    assert_eq!(
        fs::read(sandbox.work().join(".git/config")).unwrap(),
        before
    );
    sandbox.git(["commit", "-qm", "without b"]);
}

#[test]
fn a_machine_wide_directory_passes_on_the_hooks_whose_presence_changes_git() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    sandbox.holdpoint(["init", "--global"]).exits(0);
    let target = sandbox.path("target");
    sandbox.git(["clone", "-q", ".", target.to_str().unwrap()]);
    let there = |args: &[&str]| {
        let output = sandbox
            .command("git")
            .args(args)
            .current_dir(&target)
            .output()
            .unwrap();
        Ran::from(output)
    };
    there(&["config", "receive.denyCurrentBranch", "updateInstead"]).exits(0);
    let push = |text: &str| {
        sandbox.write("a", text);
        sandbox.git(["commit", "-qam", text]);
        let output = sandbox
            .command("git")
            .args(["push", "-q", target.to_str().unwrap(), "main"])
            .output()
            .unwrap();
        Ran::from(output)
    };
    let now = || fs::read_to_string(target.join("a")).unwrap();
    push("2").exits(0);
    assert_eq!(now(), "2", "no hook of its own: git's own way");
    fs::write(target.join("a"), "unsaved").unwrap();
    let ran = push("3");
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("unstaged changes"), "{}", ran.err);
    assert_eq!(now(), "unsaved");
    there(&["checkout", "-q", "--", "a"]).exits(0);
    let hook = target.join(".git/hooks/push-to-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(
        &hook,
        "#!/bin/sh\ntouch \"$GIT_DIR/own-hook-ran\"\ngit read-tree -u -m HEAD \"$1\"\n",
    )
    .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    push("4").exits(0);
    assert_eq!(now(), "4");
    assert!(target.join(".git/own-hook-ran").exists());
    let ran = there(&["rev-parse", "--git-path", "hooks/proc-receive"]).exits(0);
    let link = std::path::PathBuf::from(ran.out.trim());
    let output = sandbox
        .command(&link)
        .current_dir(&target)
        .output()
        .unwrap();
    let ran = Ran::from(output);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("cannot find hook"), "{}", ran.err);
}

#[test]
fn a_machine_wide_directory_says_of_a_hook_that_is_not_executable_what_git_says() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let hook = sandbox.work().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o644)).unwrap();
    let commit = || {
        let output = sandbox
            .command("git")
            .args(["commit", "-q", "--allow-empty", "-m", "x"])
            .output()
            .unwrap();
        Ran::from(output).exits(0).err
    };
    let before = commit();
    assert!(before.contains("hook was ignored"), "{before}");
    sandbox.holdpoint(["init", "--global"]).exits(0);
    assert!(commit().contains("hook was ignored"));
    sandbox.git(["config", "advice.ignoredHook", "false"]);
    assert_eq!(commit(), "");
}

#[test]
fn a_repository_that_was_moved_or_copied_with_our_hooks_is_known_again_and_uninstalled_whole() {
    let theirs = "#!/bin/sh\necho theirs >> ran\n";
    for verb in ["mv", "cp -r"] {
        for noted_again in [false, true] {
            let sandbox = Sandbox::with_files(&[("a", "1")]);
            hook(&sandbox, "pre-commit", theirs);
            let config = sandbox.read(".git/config");
            sandbox.holdpoint(["init", "--agent", "claude"]).exits(0);
            let mut shell = sandbox.command("sh");
            shell.current_dir(sandbox.path("."));
            shell.args(["-ec", &format!("{verb} work elsewhere")]);
            assert!(shell.status().unwrap().success());
            let there = sandbox.path("elsewhere");
            let holdpoint = |args: &[&str]| {
                let mut command = sandbox.command(env!("CARGO_BIN_EXE_holdpoint"));
                Ran::from(command.current_dir(&there).args(args).output().unwrap())
            };
            let ran = holdpoint(&["doctor"]).exits(0);
            assert!(ran.out.contains("moved or copied"), "{}", ran.out);
            assert!(ran.out.contains("answered"), "{}", ran.out);
            if noted_again {
                holdpoint(&["init"]).exits(0);
                let ran = holdpoint(&["doctor"]).exits(0);
                assert!(!ran.out.contains("moved or copied"), "{}", ran.out);
            }
            holdpoint(&["uninstall"]).exits(0);
            let hooks = there.join(".git/hooks");
            assert_eq!(
                fs::read_to_string(hooks.join("pre-commit")).unwrap(),
                theirs
            );
            assert!(!hooks.join("reference-transaction").exists(), "{verb}");
            assert!(!hooks.join("pre-push").exists(), "{verb}");
            assert!(!there.join(".claude").exists(), "{verb}");
            assert_eq!(
                fs::read_to_string(there.join(".git/config")).unwrap(),
                config
            );
            let ran = holdpoint(&["uninstall"]).exits(0);
            assert!(ran.out.contains("nothing to do"), "{}", ran.out);
        }
    }
}

#[test]
fn a_shared_hooks_directory_is_not_taken_for_a_repository_s_own() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    sandbox.holdpoint(["init"]).exits(0);
    let hooks = sandbox.work().join(".git/hooks");
    let other = sandbox.path("other");
    fs::create_dir(&other).unwrap();
    let run = |program: &str, args: &[&str]| {
        let mut command = sandbox.command(program);
        Ran::from(command.current_dir(&other).args(args).output().unwrap())
    };
    run("git", &["init", "-q"]).exits(0);
    run(
        "git",
        &["config", "core.hooksPath", hooks.to_str().unwrap()],
    )
    .exits(0);
    let ran = run(env!("CARGO_BIN_EXE_holdpoint"), &["uninstall"]).exits(0);
    assert!(ran.out.contains("nothing to do"), "{}", ran.out);
    assert!(hooks.join("pre-commit").exists());
}

#[test]
fn a_hook_with_closed_streams_gives_the_hook_before_it_open_ones() {
    let sandbox = Sandbox::with_files(&[("a", "1")]);
    let before = "#!/bin/sh\necho out && echo err >&2 && cat && touch told\n";
    hook(&sandbox, "pre-commit", before);
    sandbox.holdpoint(["init"]).exits(0);
    let ran = sandbox
        .command("sh")
        .args(["-c", "exec .git/hooks/pre-commit <&- >&- 2>&-"])
        .output()
        .unwrap();
    assert!(sandbox.work().join("told").exists(), "{ran:?}");
}
