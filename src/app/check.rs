//! `holdpoint check`: judges an action without doing anything.
//!
//! Takes no safety point, makes no hold, writes no log entry. Exit status 0 for
//! Level 0 and 1, 1 for Level 2 and 3.

mod change;

use crate::assess::{self, Around};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::judge::{self, Actor, After, Facts, Policy, Verdict};
use crate::prefs;
use crate::repo::Workspace;
use crate::shell::Script;
use crate::sys::env::Env;
use crate::sys::{actor, out};
use bstr::{BString, ByteSlice as _};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Arguments of `holdpoint check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Judges a shell command.
    Command(CommandArgs),
    /// Judges a write to, or the deletion of, one file.
    Write(WriteArgs),
    /// Judges what the next commit would change.
    Staged(change::StagedArgs),
    /// Judges what a range of commits changed.
    Range(change::RangeArgs),
    /// Judges actions from standard input, one JSON object a line.
    Batch(BatchArgs),
}

#[derive(Debug, clap::Args)]
struct Common {
    /// Prints the verdict as JSON.
    #[arg(long)]
    json: bool,
    /// Prints what was understood: commands, facts and rules.
    #[arg(long)]
    explain: bool,
    /// The directory in which it would happen.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Who would act; found out where it is not given.
    #[arg(long, value_name = "WHO")]
    actor: Option<Who>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Who {
    /// A person.
    Person,
    /// A coding agent.
    Agent,
}

#[derive(Debug, clap::Args)]
struct CommandArgs {
    #[command(flatten)]
    common: Common,
    /// The command's text; several words are joined by blanks. From standard input when absent.
    #[arg(
        value_name = "TEXT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    text: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct WriteArgs {
    #[command(flatten)]
    common: Common,
    /// The file.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The file would be deleted.
    #[arg(long)]
    delete: bool,
}

#[derive(Debug, clap::Args)]
struct BatchArgs {
    /// The directory of actions that name none.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Who acts where an action does not say.
    #[arg(long, value_name = "WHO")]
    actor: Option<Who>,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    match &args.what {
        What::Command(args) => command(env, args),
        What::Write(args) => write(env, args),
        What::Staged(args) => change::staged(env, args),
        What::Range(args) => change::range(env, args),
        What::Batch(args) => batch(env, args),
    }
}

fn command(env: &Env, args: &CommandArgs) -> Result<ExitStatus> {
    let text = if args.text.is_empty() {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)
            .doing(ErrorKind::Io, || "cannot read standard input".to_owned())?;
        BString::from(bytes)
    } else {
        let words: Vec<&[u8]> = args.text.iter().map(|word| word.as_bytes()).collect();
        BString::from(bstr::join(" ", words))
    };
    let place = Spot::find(env, args.common.cwd.as_deref())?;
    let who = who(env, args.common.actor);
    let around = place.around(env);
    let (facts, script) = assess::read(&around, text.as_bstr(), &who);
    let verdict = judge::judge(&facts, &place.policy);
    Ok(answer(&args.common, &verdict, &facts, Some(&script)))
}

fn write(env: &Env, args: &WriteArgs) -> Result<ExitStatus> {
    let place = Spot::find(env, args.common.cwd.as_deref())?;
    let who = who(env, args.common.actor);
    let after = if args.delete {
        After::Gone
    } else {
        After::Unknown
    };
    let around = place.around(env);
    let path = args.path.as_os_str().as_bytes().as_bstr();
    let facts = assess::write_in(&around, path, &after, &who);
    let verdict = judge::judge(&facts, &place.policy);
    Ok(answer(&args.common, &verdict, &facts, None))
}

/// A directory with its workspace and policy.
struct Spot {
    cwd: PathBuf,
    workspace: Workspace,
    policy: Policy,
}

impl Spot {
    fn find(env: &Env, cwd: Option<&Path>) -> Result<Self> {
        let cwd = match cwd {
            Some(dir) => env.cwd().join(dir),
            None => env.cwd().to_path_buf(),
        };
        let workspace = match Workspace::find(env, &cwd) {
            Ok(workspace) => workspace,
            Err(error) if error.kind() == ErrorKind::Repository => Workspace::plain(env, &cwd)?,
            Err(error) => return Err(error),
        };
        let policy = if workspace.git_dir.is_some() || workspace.state.exists() {
            prefs::policy(env, &workspace)?
        } else {
            Policy::default()
        };
        Ok(Self {
            cwd,
            workspace,
            policy,
        })
    }

    fn around<'a>(&'a self, env: &'a Env) -> Around<'a> {
        Around::new(env, &self.workspace, &self.cwd)
    }
}

fn who(env: &Env, given: Option<Who>) -> Actor {
    match given {
        Some(Who::Person) => Actor::Person { terminal: true },
        Some(Who::Agent) => Actor::Agent {
            name: "agent".to_owned(),
            session: None,
        },
        None => actor::detect(env),
    }
}

fn status(verdict: &Verdict) -> ExitStatus {
    if verdict.level.needs_person() {
        ExitStatus::Held
    } else {
        ExitStatus::Passed
    }
}

fn answer(
    common: &Common,
    verdict: &Verdict,
    facts: &Facts,
    script: Option<&Script>,
) -> ExitStatus {
    if common.json {
        let mut value = as_json(verdict);
        if common.explain
            && let Value::Object(map) = &mut value
        {
            map.insert(
                "facts".to_owned(),
                serde_json::to_value(facts).unwrap_or(Value::Null),
            );
            if let Some(script) = script {
                map.insert("commands".to_owned(), json!(script.commands));
            }
        }
        out::line(value.to_string());
        return status(verdict);
    }
    out::line(format!("{}: {}", verdict.level, verdict.reasoning));
    for finding in &verdict.findings {
        if common.explain || finding.level > judge::Level::Autonomous {
            out::line(format!(
                "  {} {}: {}",
                finding.level, finding.rule, finding.harm
            ));
        }
    }
    for (what, names) in [
        (
            "file",
            verdict
                .loses
                .files
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
        ),
        ("commit", verdict.loses.commits.clone()),
        (
            "ref",
            verdict.loses.refs.iter().map(ToString::to_string).collect(),
        ),
    ] {
        for name in names {
            out::line(format!("  loses {what} {name}"));
        }
    }
    if let Some(hint) = verdict
        .findings
        .iter()
        .find(|finding| finding.level.needs_person() && !finding.hint.is_empty())
    {
        out::line(format!("  instead {}", hint.hint));
    }
    if common.explain {
        if let Some(script) = script {
            for command in &script.commands {
                out::line(format!("  runs {command}"));
            }
        }
        for effect in &facts.effects {
            out::line(format!("  effect {:?} {}", effect.kind, effect.subject));
        }
    }
    status(verdict)
}

/// The verdict in the shape that SPEC §7 gives it.
fn as_json(verdict: &Verdict) -> Value {
    let harm = verdict
        .findings
        .first()
        .map_or("", |finding| finding.harm.as_str());
    let findings: Vec<Value> = verdict
        .findings
        .iter()
        .map(|finding| {
            json!({
                "rule": finding.rule.word(),
                "level": finding.level.number(),
                "reason": finding.reason,
                "subject": finding.subject.to_str_lossy(),
                "harm": finding.harm,
                "hint": finding.hint,
            })
        })
        .collect();
    let names = |list: &[BString]| -> Vec<String> {
        list.iter()
            .map(|name| name.to_str_lossy().into_owned())
            .collect()
    };
    json!({
        "level": verdict.level.number(),
        "decision": verdict.decision.word(),
        "rules": verdict.rules().iter().map(|rule| rule.word()).collect::<Vec<_>>(),
        "reason": verdict.reason(),
        "harm": harm,
        "reasoning": verdict.reasoning,
        "loses": {
            "files": names(&verdict.loses.files),
            "commits": verdict.loses.commits,
            "refs": names(&verdict.loses.refs),
            "more": verdict.loses.more,
        },
        "held_by_safety_point": verdict.held_by_safety_point,
        "context": verdict.context,
        "findings": findings,
    })
}

/// One line of a batch.
#[derive(serde::Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Command {
        text: String,
        #[serde(default)]
        cwd: Option<PathBuf>,
        #[serde(default)]
        actor: Option<String>,
    },
    Write {
        path: String,
        #[serde(default)]
        delete: bool,
        #[serde(default, alias = "after")]
        content: Option<String>,
        #[serde(default)]
        cwd: Option<PathBuf>,
        #[serde(default)]
        actor: Option<String>,
    },
}

fn batch(env: &Env, args: &BatchArgs) -> Result<ExitStatus> {
    let fallback = who(env, args.actor);
    let mut spots: Vec<Spot> = Vec::new();
    let mut worst = ExitStatus::Passed;
    let mut input = std::io::BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input
            .read_until(b'\n', &mut line)
            .doing(ErrorKind::Io, || "cannot read standard input".to_owned())?;
        if read == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value = match judge_line(env, args, &fallback, &mut spots, &line) {
            Ok(verdict) => {
                if verdict.level.needs_person() {
                    worst = ExitStatus::Held;
                }
                as_json(&verdict)
            }
            Err(error) => {
                worst = ExitStatus::Held;
                json!({ "error": error.to_string() })
            }
        };
        let written = serde_json::to_writer(&mut output, &value)
            .map_err(std::io::Error::from)
            .and_then(|()| output.write_all(b"\n"));
        // A program that reads answers as it asks needs each at once.
        let written = written.and_then(|()| {
            if input.buffer().is_empty() {
                output.flush()
            } else {
                Ok(())
            }
        });
        if let Err(error) = written {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                return Ok(worst);
            }
            return Err(error).doing(ErrorKind::Io, || "cannot write the answers".to_owned());
        }
    }
    output
        .flush()
        .doing(ErrorKind::Io, || "cannot write the answers".to_owned())?;
    Ok(worst)
}

fn judge_line(
    env: &Env,
    args: &BatchArgs,
    fallback: &Actor,
    spots: &mut Vec<Spot>,
    line: &[u8],
) -> Result<Verdict> {
    let line: Line = serde_json::from_slice(line)
        .doing(ErrorKind::Usage, || "this line is no action".to_owned())?;
    let (cwd, named) = match &line {
        Line::Command { cwd, actor, .. } | Line::Write { cwd, actor, .. } => (cwd, actor),
    };
    let actor = match named.as_deref() {
        None => fallback.clone(),
        Some("person") => Actor::Person { terminal: true },
        Some("agent") => Actor::Agent {
            name: "agent".to_owned(),
            session: None,
        },
        Some(other) => match other.strip_prefix("agent:") {
            Some(name) => Actor::Agent {
                name: name.to_owned(),
                session: None,
            },
            None => {
                return Err(Error::new(
                    ErrorKind::Usage,
                    format!("no actor is called {other}: person, agent or agent:NAME"),
                ));
            }
        },
    };
    let cwd = cwd
        .as_deref()
        .or(args.cwd.as_deref())
        .map_or_else(|| env.cwd().to_path_buf(), |dir| env.cwd().join(dir));
    let at = if let Some(at) = spots.iter().position(|spot| spot.cwd == cwd) {
        at
    } else {
        spots.push(Spot::find(env, Some(&cwd))?);
        spots.len() - 1
    };
    let Some(spot) = spots.get(at) else {
        return Err(Error::new(ErrorKind::Internal, "a directory was lost"));
    };
    let around = spot.around(env);
    let facts = match line {
        Line::Command { text, .. } => assess::read(&around, text.as_bytes().as_bstr(), &actor).0,
        Line::Write {
            path,
            delete,
            content,
            ..
        } => {
            let after = match (delete, content) {
                (true, _) => After::Gone,
                (false, Some(text)) => After::Content { bytes: text.into() },
                (false, None) => After::Unknown,
            };
            assess::write_in(&around, path.as_bytes().as_bstr(), &after, &actor)
        }
    };
    Ok(judge::judge(&facts, &spot.policy))
}
