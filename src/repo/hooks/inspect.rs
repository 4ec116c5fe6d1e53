//! What git would really run, worktree by worktree.

use super::config;
use super::files::find_ours;
use super::install::is_machine_wide;
use super::place::{self, SetBy};
use super::receipt::{Mode, Receipt};
use super::{Event, install, is_executable, is_ours};
use crate::error::{Context as _, ErrorKind, Result};
use crate::repo::{Git, Workspace};
use crate::sys::env::Env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// The variable by which a hook knows that it is only asked whether it is there.
pub const CANARY: &str = "HOLDPOINT_CANARY";

/// The exit status with which it says so: git would refuse, so that the variable opens nothing.
pub const CANARY_STATUS: i32 = 75;

/// What stands where git looks for one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Ours, and it answers.
    Alive,
    /// Ours, but it does not answer.
    Dead {
        /// What happened instead.
        why: String,
    },
    /// Ours, kept by another hook that has to call it.
    Behind {
        /// Where ours lies.
        ours: PathBuf,
    },
    /// Somebody else's alone.
    Displaced,
    /// Nothing.
    Missing,
}

/// The hooks of one worktree.
#[derive(Clone, Debug)]
pub struct Worktree {
    /// Its top.
    pub root: PathBuf,
    /// The hooks directory that counts there; the configuration file where hooks are named in it.
    pub place: PathBuf,
    /// How hooks got there; `None` when nothing of ours is installed.
    pub mode: Option<Mode>,
    /// An installation for the whole machine answers.
    pub machine_wide: bool,
    /// Remarks about the place itself.
    pub remarks: Vec<String>,
    /// Each event.
    pub events: Vec<(Event, Standing)>,
}

/// Looks at every worktree of the repository and fires a canary through each hook.
///
/// # Errors
/// When git does not answer.
pub fn worktrees(env: &Env, workspace: &Workspace) -> Result<Vec<Worktree>> {
    let listed = Git::at(workspace)
        .args(["worktree", "list", "--porcelain", "-z"])
        .read()?;
    let mut all = Vec::new();
    for word in listed.split(|byte| *byte == 0) {
        let Some(path) = word.strip_prefix(b"worktree ") else {
            continue;
        };
        let root = Path::new(OsStr::from_bytes(path));
        if let Ok(workspace) = Workspace::find(env, root) {
            all.push(worktree(env, &workspace)?);
        }
    }
    if all.is_empty() {
        all.push(worktree(env, workspace)?);
    }
    Ok(all)
}

fn worktree(env: &Env, workspace: &Workspace) -> Result<Worktree> {
    let mut remarks = Vec::new();
    let mut receipt = Receipt::read(&install::note(workspace))?;
    if receipt.is_none() {
        receipt = install::unnoted(env, workspace)?;
        if receipt.is_some() {
            remarks.push(
                "they are not noted here, so the repository was moved or copied with them; to note them: holdpoint init"
                    .to_owned(),
            );
        }
    }
    let mode = receipt.as_ref().map(|receipt| receipt.mode);
    let effective = place::effective(workspace)?;
    if let SetBy::Setting {
        scope,
        value,
        relative,
    } = &effective.set_by
        && mode != Some(Mode::Config)
        && !is_machine_wide(&effective)
    {
        remarks.push(format!("core.hooksPath ({scope}) is {value}"));
        if *relative && workspace.kind == crate::repo::Kind::Linked {
            remarks
                .push("it is relative, so it names another directory in each worktree".to_owned());
        }
    }
    let by_config = mode == Some(Mode::Config);
    let events = Event::ALL
        .into_iter()
        .map(|event| {
            let standing = if by_config {
                by_configuration(env, workspace, event)?
            } else {
                by_file(env, workspace, &effective.path, event)
            };
            Ok((event, standing))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Worktree {
        root: workspace.root.clone(),
        place: if by_config {
            place::common_dir(workspace)?.join("config")
        } else {
            effective.path.clone()
        },
        mode,
        machine_wide: is_machine_wide(&effective),
        remarks,
        events,
    })
}

fn by_file(env: &Env, workspace: &Workspace, dir: &Path, event: Event) -> Standing {
    let hook = dir.join(event.name());
    if is_ours(&hook) {
        if !is_executable(&hook) {
            return Standing::Dead {
                why: "it is not executable, or leads nowhere; git passes over it".to_owned(),
            };
        }
        return canary(env, workspace, &hook, event);
    }
    match find_ours(&hook) {
        Some(ours) => Standing::Behind { ours },
        None if fs::symlink_metadata(&hook).is_ok() => Standing::Displaced,
        None => Standing::Missing,
    }
}

fn by_configuration(env: &Env, workspace: &Workspace, event: Event) -> Result<Standing> {
    let setting = |key: &str| -> Result<Vec<u8>> {
        let answer = Git::at(workspace)
            .args(["config", "--null", "--get"])
            .arg(format!("hook.holdpoint-{event}.{key}"))
            .output()?;
        Ok(answer
            .stdout
            .strip_suffix(b"\0")
            .unwrap_or(&answer.stdout)
            .to_vec())
    };
    let command = setting("command")?;
    if command.is_empty() {
        return Ok(Standing::Missing);
    }
    let program = config::Programs::of_user(env)?.called(event.name());
    if memchr::memmem::find(&command, program.as_os_str().as_bytes()).is_none() {
        return Ok(Standing::Displaced);
    }
    Ok(canary(env, workspace, &program, event))
}

/// Runs a hook with the canary set, as git would run it.
fn canary(env: &Env, workspace: &Workspace, hook: &Path, event: Event) -> Standing {
    let mut command = Command::new(hook);
    if event == Event::ReferenceTransaction {
        command.arg("prepared");
    }
    let output = command
        .env_clear()
        .envs(env.vars())
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .env(CANARY, "1")
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .output()
        .doing(ErrorKind::Io, || format!("cannot run {}", hook.display()));
    match output {
        Ok(output) if output.status.code() == Some(CANARY_STATUS) => Standing::Alive,
        Ok(output) => Standing::Dead {
            why: format!(
                "it did not answer ({}): {}",
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        },
        Err(error) => Standing::Dead {
            why: error.to_string(),
        },
    }
}

/// Calls the tripwire as git would, with the canary set; says what is wrong with its answer.
///
/// # Errors
/// With why it is not alive.
pub fn fire_tripwire(
    env: &Env,
    workspace: &Workspace,
    program: &Path,
) -> std::result::Result<(), String> {
    let output = Command::new(program)
        .args(["2", "canary"])
        .env_clear()
        .envs(env.vars())
        .env(CANARY, "1")
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !said.trim().is_empty() {
        return Err(said.trim().to_owned());
    }
    if output.stdout != b"canary\0/\0" {
        return Err(format!(
            "{} did not answer as git needs it ({})",
            program.display(),
            output.status
        ));
    }
    Ok(())
}

/// Runs the command line of an agent's hook with the canary set and a payload on standard input.
///
/// # Errors
/// When no shell can be started.
pub fn call_as_agent(
    env: &Env,
    workspace: &Workspace,
    command: &str,
    payload: &[u8],
) -> Result<std::process::Output> {
    let doing = || format!("cannot run {command}");
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .env_clear()
        .envs(env.vars())
        .env(CANARY, "1")
        .current_dir(&workspace.root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .doing(ErrorKind::Io, doing)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read has an answer of its own.
        let _ = stdin.write_all(payload);
    }
    child.wait_with_output().doing(ErrorKind::Io, doing)
}

/// The time of the newest commit that HEAD's reflog knows; `None` without one.
///
/// # Errors
/// When git cannot be started.
pub fn newest_commit(workspace: &Workspace) -> Result<Option<SystemTime>> {
    let answer = Git::at(workspace)
        .args([
            "log",
            "--walk-reflogs",
            "--max-count=1",
            "--grep-reflog=^commit",
            "--date=unix",
            "--format=%gd",
            "HEAD",
            "--",
        ])
        .output()?;
    let text = String::from_utf8_lossy(&answer.stdout);
    // `HEAD@{1700000000}`
    Ok(text
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'))
        .and_then(|(seconds, _)| seconds.parse().ok())
        .map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)))
}
