//! `holdpoint-hook`: what git and agents call. `holdpoint-hook git HOOK ARGS…`, `holdpoint-hook agent NAME`.
//!
//! Started by a link that bears a hook's name (`.git/hooks/pre-commit`), it is
//! that hook. Most calls have nothing to judge; they leave before the
//! environment is read or a repository is opened.

mod agent;
mod chain;
mod commit;
mod git;
mod grants;
mod housekeeping;
mod marks;
mod push;
mod rebase;
mod refs;
mod scene;
mod tripwire;

use crate::exit::ExitStatus;
use crate::repo::hooks::{config, files, inspect};
use crate::sys::{failpoint, out, process};
use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// One call of a git hook, as git made it.
#[derive(Debug)]
struct GitCall {
    /// The hook's name.
    name: String,
    /// The hook file that git ran, where it is known.
    called_as: Option<PathBuf>,
    /// Git's arguments.
    args: Vec<OsString>,
}

/// Runs a hook; whatever goes wrong, including a fault of ours, becomes the surface's own refusal.
pub(super) fn main() -> ExitStatus {
    let words = process::arguments();
    if let Some(call) = git_call(&words) {
        if process::variable(inspect::CANARY).is_some() {
            // Git takes this for a refusal: whoever sets the variable opens nothing.
            out::note(format!("holdpoint: the {} hook is alive", call.name));
            return ExitStatus::of_command(inspect::CANARY_STATUS);
        }
        return guarded("git", || git::run(&call));
    }
    if let Some(args) = tripwire_call(&words) {
        return guarded("fsmonitor", || tripwire::run(args));
    }
    if let Some(rest) = words.get(2..)
        && words.get(1).is_some_and(|word| word == OsStr::new("agent"))
    {
        // The default report of a panic names a line of ours, which helps no agent.
        std::panic::set_hook(Box::new(|_| {}));
        return match agent::named(rest) {
            Ok((agent, event)) => agent::run(agent, event.as_deref()),
            Err(why) => {
                // Status 2 and words on standard error: what every host takes for a refusal.
                out::note(format!("holdpoint-hook agent: {why}"));
                ExitStatus::Usage
            }
        };
    }
    out::note(
        "holdpoint-hook is called by git and by agents: holdpoint-hook git HOOK ARGS…, holdpoint-hook agent NAME\n  \
         hint: to install it: holdpoint init",
    );
    ExitStatus::Usage
}

/// Reads a git hook's call, by the program's name or by its arguments.
fn git_call(words: &[OsString]) -> Option<GitCall> {
    let own = PathBuf::from(words.first()?);
    if let Some(event) = own.file_name().and_then(files::event_of) {
        return Some(GitCall {
            name: event.to_owned(),
            called_as: Some(own),
            args: words.get(1..).unwrap_or_default().to_vec(),
        });
    }
    if words.get(1)? != OsStr::new("git") {
        return None;
    }
    let mut rest = words.get(2..)?;
    let mut called_as = None;
    if let [flag, file, others @ ..] = rest
        && flag == OsStr::new("--as")
    {
        called_as = Some(PathBuf::from(file));
        rest = others;
    }
    let (name, args) = rest.split_first()?;
    Some(GitCall {
        name: name.to_str()?.to_owned(),
        called_as,
        args: args.to_vec(),
    })
}

/// Git's arguments, when it calls us as its file-system monitor.
fn tripwire_call(words: &[OsString]) -> Option<&[OsString]> {
    let own = PathBuf::from(words.first()?);
    if own.file_name() == Some(OsStr::new(config::TRIPWIRE)) {
        return words.get(1..);
    }
    if words.get(1)? == OsStr::new("fsmonitor") {
        return words.get(2..);
    }
    None
}

/// Turns a panic into a refusal that says whose fault it is.
fn guarded(surface: &str, run: impl FnOnce() -> ExitStatus) -> ExitStatus {
    // The default report names a line of ours, which helps nobody who commits.
    std::panic::set_hook(Box::new(|_| {}));
    let run = || {
        failpoint::panic_if_asked();
        run()
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let words = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        out::note(format!(
            "holdpoint: a fault of Holdpoint's own stopped this ({surface} hook): {words}\n  \
             hint: nothing was changed by it; see `holdpoint doctor`, and report it with this message"
        ));
        ExitStatus::Internal
    })
}
