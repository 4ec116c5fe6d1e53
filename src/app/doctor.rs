//! `holdpoint doctor`: checks that every gate is alive, and says what git would really run.
//!
//! A gate that has stopped looks like one that passes. Every installed path is
//! called with a canary, which a hook answers with a refusal of its own.

mod agents;

use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::prefs;
use crate::repo::Workspace;
use crate::repo::hooks::config::{self, Programs};
use crate::repo::hooks::inspect::{self, Standing, Worktree};
use crate::repo::hooks::{Mode, Receipt, is_guarded};
use crate::repo::hooks::{heartbeat, install, program, submodules, tripwire, version};
use crate::sys::env::Env;
use crate::sys::out;
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// Arguments of `holdpoint doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// How one check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    Warn,
    Fail,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    state: State,
    subject: String,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Finding {
    fn new(state: State, subject: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            state,
            subject: subject.into(),
            detail: detail.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    let mut findings = Vec::new();
    programs(env, &mut findings);
    policy(env, &workspace, &mut findings);
    hooks(env, &workspace, &mut findings);
    heartbeats(&workspace, &mut findings);
    monitor(env, &workspace, &mut findings);
    for path in submodules(&workspace) {
        if !is_guarded(&path) {
            findings.push(
                Finding::new(
                    State::Warn,
                    format!("submodule {}", path.display()),
                    "it has hooks of its own, and none of ours",
                )
                .hint(format!("(cd '{}' && holdpoint init)", path.display())),
            );
        }
    }
    agents::check(env, &workspace, &mut findings);
    Ok(tell(&findings, args.json))
}

fn tell(findings: &[Finding], json: bool) -> ExitStatus {
    let failed = findings
        .iter()
        .filter(|finding| finding.state == State::Fail)
        .count();
    if json {
        out::line(serde_json::json!({ "alive": failed == 0, "checks": findings }).to_string());
    } else {
        for finding in findings {
            let word = match finding.state {
                State::Ok => "ok  ",
                State::Warn => "warn",
                State::Fail => "FAIL",
            };
            out::line(format!("{word}  {}: {}", finding.subject, finding.detail));
            if let Some(hint) = &finding.hint {
                out::line(format!("        {hint}"));
            }
        }
        out::line(match failed {
            0 => "every gate that is installed is alive".to_owned(),
            count => format!("{count} of {} checks failed", findings.len()),
        });
    }
    if failed == 0 {
        ExitStatus::Passed
    } else {
        ExitStatus::Usage
    }
}

/// Turns an error of a check into a finding: the other checks still count.
fn failed(subject: &str, error: &Error) -> Finding {
    let finding = Finding::new(State::Fail, subject, error.doing());
    match error.hints().first() {
        Some(hint) => finding.hint(hint),
        None => finding,
    }
}

fn programs(env: &Env, findings: &mut Vec<Finding>) {
    match version::on_path(env) {
        Ok(gits) => {
            for (path, version) in gits {
                findings.push(Finding::new(
                    State::Ok,
                    "git",
                    format!("{} is {version}", path.display()),
                ));
            }
        }
        Err(error) => findings.push(failed("git", &error)),
    }
    let copy = program(env).and_then(|program| {
        let copy = Programs::of_user(env)?.copy();
        Ok((config::same_program(&program, &copy), copy))
    });
    match copy {
        Ok((_, copy)) if !copy.exists() => {}
        Ok((true, copy)) => findings.push(Finding::new(
            State::Ok,
            "program",
            format!("{} is up to date", copy.display()),
        )),
        Ok((false, copy)) => findings.push(
            Finding::new(
                State::Warn,
                "program",
                format!(
                    "{} is another version than the one installed",
                    copy.display()
                ),
            )
            .hint("holdpoint init"),
        ),
        Err(error) => findings.push(failed("program", &error)),
    }
}

fn policy(env: &Env, workspace: &Workspace, findings: &mut Vec<Finding>) {
    findings.push(match prefs::policy(env, workspace) {
        Ok(policy) if policy.observe => Finding::new(
            State::Warn,
            "policy",
            "gate.mode is observe: everything is judged and recorded, nothing is refused",
        )
        .hint("holdpoint prefs set gate.mode enforce"),
        Ok(_) => Finding::new(State::Ok, "policy", "it can be read"),
        Err(error) => failed("policy", &error),
    });
}

fn hooks(env: &Env, workspace: &Workspace, findings: &mut Vec<Finding>) {
    match inspect::worktrees(env, workspace) {
        Ok(worktrees) => {
            for worktree in worktrees {
                of_worktree(&worktree, findings);
            }
        }
        Err(error) => findings.push(failed("git hooks", &error)),
    }
}

fn of_worktree(worktree: &Worktree, findings: &mut Vec<Finding>) {
    let place = worktree.place.display();
    let subject = format!("git hooks of {}", worktree.root.display());
    for remark in &worktree.remarks {
        findings.push(Finding::new(State::Warn, subject.clone(), remark.clone()));
    }
    if worktree.mode.is_none() && !worktree.machine_wide {
        findings.push(
            Finding::new(
                State::Fail,
                subject,
                format!("none of ours are installed; git looks in {place}"),
            )
            .hint("holdpoint init"),
        );
        return;
    }
    let mut alive = Vec::new();
    for (event, standing) in &worktree.events {
        let detail = match standing {
            Standing::Alive => {
                alive.push(event.name());
                continue;
            }
            Standing::Dead { why } => format!("{event}: {why}"),
            Standing::Missing => format!("{event}: there is none in {place}"),
            Standing::Displaced => {
                format!("{event}: another hook stands in its place in {place}, and ours is gone")
            }
            Standing::Behind { ours } => {
                let finding = Finding::new(
                    State::Warn,
                    subject.clone(),
                    format!(
                        "{event}: another hook stands before it; ours runs only if that one calls {}",
                        ours.display()
                    ),
                );
                findings.push(finding.hint("to put ours first again: holdpoint init"));
                continue;
            }
        };
        findings.push(Finding::new(State::Fail, subject.clone(), detail).hint("holdpoint init"));
    }
    if !alive.is_empty() {
        let how = match worktree.mode {
            Some(Mode::Config) => "by configuration",
            _ => "by files",
        };
        findings.push(Finding::new(
            State::Ok,
            subject,
            format!("{} answered ({how}, {place})", alive.join(", ")),
        ));
    }
}

/// The reflog counts whole seconds.
const SLACK: Duration = Duration::from_secs(2);

fn heartbeats(workspace: &Workspace, findings: &mut Vec<Finding>) {
    let Some(installed) = std::fs::metadata(install::note(workspace))
        .and_then(|meta| meta.modified())
        .ok()
    else {
        return;
    };
    let seen = heartbeat::last(workspace, "git");
    let since = seen.unwrap_or(installed).max(installed) + SLACK;
    match heartbeat::newest_move(workspace, since) {
        Err(error) => findings.push(failed("heartbeat", &error)),
        Ok(None) => {}
        Ok(Some(moved)) => findings.push(missed(
            &format!("{} was moved off its commits ({})", moved.branch, moved.how),
            moved.when,
            seen,
        )),
    }
    match inspect::newest_commit(workspace) {
        Err(error) => findings.push(failed("heartbeat", &error)),
        Ok(Some(newest)) if newest > since => {
            findings.push(missed("a commit was made", newest, seen));
        }
        Ok(Some(newest)) if newest + SLACK >= installed => findings.push(Finding::new(
            State::Ok,
            "heartbeat",
            format!("the newest commit ({} ago) passed our hooks", ago(newest)),
        )),
        Ok(_) => {}
    }
}

/// Something that git asks a hook about, and that none of ours was asked about.
fn missed(what: &str, when: SystemTime, seen: Option<SystemTime>) -> Finding {
    let seen = seen.map_or_else(
        || "none ever was".to_owned(),
        |seen| format!("last called {} ago", ago(seen)),
    );
    Finding::new(
        State::Fail,
        "heartbeat",
        format!(
            "{what} {} ago, and no hook of ours was called for it ({seen})",
            ago(when)
        ),
    )
    .hint("somebody worked with hooks switched off, or with a program that knows none; see git reflog")
}

fn monitor(env: &Env, workspace: &Workspace, findings: &mut Vec<Finding>) {
    let ours = Receipt::read(&install::note(workspace))
        .ok()
        .flatten()
        .is_some_and(|receipt| {
            receipt
                .configs
                .iter()
                .any(|config| config.added.contains("tripwire"))
        });
    if !ours {
        return;
    }
    let subject = "tripwire";
    findings.push(match tripwire::present(workspace) {
        Err(error) => failed(subject, &error),
        Ok(Some((_, value))) if value.ends_with(config::TRIPWIRE) => {
            let program = std::path::Path::new(&value);
            match inspect::fire_tripwire(env, workspace, program) {
                Ok(()) => Finding::new(
                    State::Ok,
                    subject,
                    match heartbeat::last(workspace, "tripwire") {
                        Some(seen) => {
                            format!("it answered; it last looked closer {} ago", ago(seen))
                        }
                        None => "it answered; nothing has tripped it yet".to_owned(),
                    },
                ),
                Err(why) => {
                    Finding::new(State::Fail, subject, why).hint("holdpoint init --tripwire")
                }
            }
        }
        Ok(Some((scope, value))) => Finding::new(
            State::Fail,
            subject,
            format!("core.fsmonitor is {value} now ({scope}): git does not call ours"),
        )
        .hint(format!("git config --{scope} --unset core.fsmonitor")),
        Ok(None) => Finding::new(State::Fail, subject, "core.fsmonitor is not set any more")
            .hint("holdpoint init --tripwire"),
    });
}

/// How long ago, in the largest unit that is not 0.
fn ago(time: SystemTime) -> String {
    let seconds = time.elapsed().map_or(0, |elapsed| elapsed.as_secs());
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
