//! `holdpoint-hook git`: one call of one hook, from git's arguments to an exit status.

use super::GitCall;
use super::chain::Chained;
use super::{commit, housekeeping, push, rebase, refs};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::journal::{self, LogEntry, Outcome};
use crate::prefs::{self, Mode};
use crate::repo::Workspace;
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::{Event, deploy, machine};
use crate::sys::env::Env;
use crate::sys::{out, process};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Runs the hook that was there before, then ours.
pub(super) fn run(call: &GitCall) -> ExitStatus {
    match chained_then_ours(call) {
        Ok(code) => code,
        Err(error) => {
            out::note(format!(
                "holdpoint: {} is refused because it cannot be judged: {error}",
                call.name
            ));
            ExitStatus::from(error.kind())
        }
    }
}

fn chained_then_ours(call: &GitCall) -> Result<ExitStatus> {
    let event = Event::parse(&call.name).filter(|event| concerns_us(*event, call));
    let chained = call
        .called_as
        .as_deref()
        .and_then(|called_as| Chained::find(called_as, &git_dir()));
    if chained.is_none() {
        hint_of_ignored(call);
    }
    let Some(event) = event.filter(|_| !chained.as_ref().is_some_and(Chained::is_ours)) else {
        return match chained {
            None => Ok(as_if_absent(call)),
            Some(chained) => Err(chained.replace_us(&call.args)).doing(ErrorKind::Config, || {
                format!("cannot run the {} hook that was there before", call.name)
            }),
        };
    };
    let input = if event.reads_stdin() {
        process::read_stdin().doing(ErrorKind::Io, || {
            format!("cannot read what git says to {event}")
        })?
    } else {
        Vec::new()
    };
    if let Some(chained) = chained {
        let input = event.reads_stdin().then_some(input.as_slice());
        let code = chained.run(&call.args, input)?;
        if code != 0 {
            return Ok(ExitStatus::of_command(code));
        }
    }
    let judged = ours(event, call, &input);
    match judged {
        Err(error) if observes() => {
            written_down(call, &error);
            Ok(ExitStatus::Passed)
        }
        judged => judged,
    }
}

/// Says what git would have said of the repository's own hook, which it would have passed over.
fn hint_of_ignored(call: &GitCall) {
    let own = call
        .called_as
        .as_deref()
        .and_then(|called_as| machine::ignored(called_as, &git_dir()));
    if let Some(hint) = own.as_deref().and_then(deploy::hint_of_ignored) {
        out::note(hint);
    }
}

/// What git does without a hook of this name.
fn as_if_absent(call: &GitCall) -> ExitStatus {
    let done = match (call.name.as_str(), call.args.first()) {
        ("push-to-checkout", Some(new)) => deploy::push_to_checkout(new),
        ("proc-receive", _) => {
            // Git names a fault of the pipes itself.
            let _ = process::with_pipes(deploy::decline_proc_receive);
            Err("error: cannot find hook 'proc-receive'")
        }
        _ => Ok(()),
    };
    match done {
        Ok(()) => ExitStatus::Passed,
        Err(why) => {
            out::note(why);
            ExitStatus::Held
        }
    }
}

/// Returns true where a person asked to observe only: what cannot be judged then passes too.
fn observes() -> bool {
    let mode = || -> Result<Mode> {
        let env = Env::read()?;
        let workspace = Workspace::discover(&env)?;
        Ok(prefs::load(&env, &workspace)?.gate.mode)
    };
    matches!(mode(), Ok(Mode::Observe))
}

/// Writes down that something passed unjudged; observing changes nothing that git prints.
fn written_down(call: &GitCall, error: &Error) {
    let append = || -> Result<()> {
        let env = Env::read()?;
        let workspace = Workspace::discover(&env)?;
        let entry = LogEntry::new("report")
            .reason("not_judged")
            .reasoning(format!(
                "{} passed unjudged, in observe mode: {error}",
                call.name
            ))
            .outcome(Outcome::Success)
            .context("observe", true);
        journal::append(&env, &workspace, entry).map(|_| ())
    };
    // There is nobody left to tell: the log cannot be written, and git's output stays its own.
    let _ = append();
}

fn ours(event: Event, call: &GitCall, input: &[u8]) -> Result<ExitStatus> {
    let caller = Caller::of_hook;
    match event {
        Event::ReferenceTransaction => refs::judge(input, &git_dir()),
        Event::PreCommit | Event::PreMergeCommit | Event::PrepareCommitMsg => {
            commit::judge(event, caller())
        }
        Event::PrePush => push::judge(&call.args, input, caller()),
        Event::PreRebase => rebase::judge(&call.args, caller()),
        Event::PreAutoGc => housekeeping::judge(caller()),
    }
}

/// Returns false for a call that has nothing to judge whatever its input.
fn concerns_us(event: Event, call: &GitCall) -> bool {
    match event {
        // `preparing` (2.54) precedes the locks, `committed` and `aborted` come too late.
        Event::ReferenceTransaction => call
            .args
            .first()
            .is_some_and(|phase| phase == OsStr::new("prepared")),
        Event::PreCommit
        | Event::PreMergeCommit
        | Event::PrepareCommitMsg
        | Event::PrePush
        | Event::PreRebase
        | Event::PreAutoGc => true,
    }
}

/// The git directory as git gives it to hooks, without asking git.
fn git_dir() -> PathBuf {
    if let Some(dir) = process::variable("GIT_DIR") {
        return PathBuf::from(dir);
    }
    let dot_git = Path::new(".git");
    if dot_git.is_dir() {
        return dot_git.to_path_buf();
    }
    let Ok(bytes) = std::fs::read(dot_git) else {
        return PathBuf::from(".");
    };
    let target = bytes.strip_prefix(b"gitdir:").unwrap_or(&bytes);
    PathBuf::from(OsStr::from_bytes(target.trim_ascii()))
}
