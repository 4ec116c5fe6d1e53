//! `holdpoint loop`: repeats an agent command with gates at every iteration.

mod screen;

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::loops::action::Turn;
use crate::loops::limit;
use crate::loops::runner::{self, Lead, Outcome, Runner};
use crate::loops::state::{LoopState, Status, derived};
use crate::loops::store::{self, Loaded, Record, Repaired, Store, VERSION};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{clock, out};
use bstr::BString;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt as _;

/// Arguments of `holdpoint loop`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Makes a loop; it runs nothing yet.
    Create(CreateArgs),
    /// Runs a loop until it is done, paused or stopped.
    Run(RunArgs),
    /// Shows how far a loop is.
    Status(StatusArgs),
    /// Pauses a loop before its next action.
    Pause(OneArgs),
    /// Lets a paused loop go on; `loop run` takes it up.
    Resume(ResumeArgs),
    /// Stops a loop for good, before its next action.
    Stop(StopArgs),
    /// Lists the loops.
    List(ListArgs),
    /// Puts a loop's state together again from its progress files.
    Rebuild(OneArgs),
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// A few words.
    #[arg(long)]
    title: String,
    /// What is to be done.
    #[arg(long)]
    description: String,
    /// The most iterations.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    max_iterations: u64,
    /// A task; may be given several times. Without any, the description is the task.
    #[arg(long = "task", value_name = "TEXT")]
    tasks: Vec<String>,
    /// The shell command that validates; without it, the command itself is run with the action `validate`.
    #[arg(long, value_name = "CMD")]
    validate: Option<String>,
    /// Ends an iteration's command after so many seconds; without it, it takes as long as it takes.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    /// The command of an iteration; {action}, {task}, {task_id}, {iteration} and {loop} are filled in.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// The loop.
    id: String,
    /// Sets the most iterations; lets a loop go on that has used up its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_iterations: Option<u64>,
    /// Ends an iteration's command after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Does not pass on what the command prints.
    #[arg(long, short)]
    quiet: bool,
    /// Prints the state as JSON at the end, and passes nothing on.
    #[arg(long)]
    json: bool,
    /// Another command than the loop was made with.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    /// The loop.
    id: String,
    /// Goes on showing it until it is completed or failed.
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct OneArgs {
    /// The loop.
    id: String,
    /// Prints the state as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ResumeArgs {
    /// The loop.
    id: String,
    /// Sets the most iterations; lets a loop go on that has used up its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_iterations: Option<u64>,
    /// Prints the state as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct StopArgs {
    /// The loop.
    id: String,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "stopped by the person")]
    why: String,
    /// Prints the state as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    let store = Store::of(&workspace)?;
    match &args.command {
        Command::Create(args) => create(env, &store, args),
        Command::Run(args) => lead(env, &workspace, store, args),
        Command::Status(args) if args.watch => screen::watch(&store, &args.id),
        Command::Status(args) => status(&store, args),
        Command::Pause(args) => pause(&store, args),
        Command::Resume(args) => resume(&store, args),
        Command::Stop(args) => stop(&store, args),
        Command::List(args) => list(&store, args),
        Command::Rebuild(args) => rebuild(&store, args),
    }
}

fn create(env: &Env, store: &Store, args: &CreateArgs) -> Result<ExitStatus> {
    if args.description.trim().is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            "a loop needs a description of what is to be done",
        ));
    }
    let now = clock::rfc3339(clock::now());
    let state = LoopState {
        loop_id: new_id(&now),
        title: args.title.clone(),
        description: args.description.clone(),
        max_iterations: args.max_iterations,
        status: Status::Created,
        current_iteration: 0,
        created_at: now.clone(),
        updated_at: now.clone(),
        completed_at: None,
        failure_reason: None,
        skill_state: None,
        extra: Map::new(),
    };
    let mut tasks = String::new();
    for (index, description) in args.tasks.iter().enumerate() {
        let task = json!({
            "id": format!("task-{:03}", index + 1),
            "description": description,
            "tool": "bash",
            "mode": "write",
            "status": "pending",
            "files_changed": [],
            "created_at": now,
            "completed_at": null,
        });
        // Writing to a string cannot fail.
        let _ = writeln!(tasks, "{task}");
    }
    let record = Record {
        version: VERSION,
        command: bytes(&args.command),
        validate: args.validate.clone(),
        cwd: env.cwd().to_path_buf(),
        timeout: args.timeout,
        api: Value::Null,
    };
    store.create(&state, &record, &tasks)?;
    if args.json {
        return print(&state);
    }
    out::line(&state.loop_id);
    out::note(format!("run it: holdpoint loop run {}", state.loop_id));
    Ok(ExitStatus::Passed)
}

/// An id in the schema's form: `loop-v2-20260122-abc123`.
fn new_id(now: &str) -> String {
    let day: String = now.chars().take(10).filter(char::is_ascii_digit).collect();
    let id = clock::id().to_ascii_lowercase();
    let random = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
    format!("loop-v2-{day}-{random}")
}

fn bytes(words: &[OsString]) -> Vec<BString> {
    words
        .iter()
        .map(|word| BString::from(word.clone().into_vec()))
        .collect()
}

fn print<T: serde::Serialize>(value: &T) -> Result<ExitStatus> {
    let text = serde_json::to_string_pretty(value)
        .doing(ErrorKind::Internal, || "cannot write the answer".to_owned())?;
    out::line(text);
    Ok(ExitStatus::Passed)
}

fn lead(env: &Env, workspace: &Workspace, store: Store, args: &RunArgs) -> Result<ExitStatus> {
    // Looks first: an unknown loop makes no files.
    let loaded = store.load(&args.id)?;
    runner::tell_repair(&args.id, loaded.repaired.as_ref());
    if !args.command.is_empty() || args.timeout.is_some() {
        let mut record = store.record(&args.id)?.unwrap_or_default();
        record.version = VERSION;
        if !args.command.is_empty() {
            record.command = bytes(&args.command);
            record.cwd = env.cwd().to_path_buf();
        }
        record.timeout = args.timeout.or(record.timeout);
        store.write_record(&args.id, &record)?;
    }
    let shown = store.clone();
    let lead = Lead::take(env, workspace, store, &args.id, args.quiet || args.json)?;
    if let Some(most) = args.max_iterations {
        shown.update(&args.id, |state| set_limit(state, most))?;
    }
    let outcome = lead.run()?;
    if args.json {
        print(&described(&shown.load(&args.id)?.state, None))?;
    }
    Ok(match outcome {
        Outcome::Completed => {
            out::note(format!("holdpoint: loop {} is completed", args.id));
            ExitStatus::Passed
        }
        Outcome::Paused => {
            out::note(format!(
                "holdpoint: loop {} is paused; go on: holdpoint loop resume {id} && holdpoint loop run {id}",
                args.id,
                id = args.id
            ));
            ExitStatus::Passed
        }
        Outcome::Cancelled => {
            out::note(format!(
                "holdpoint: loop {} was cancelled and is paused (E007)",
                args.id
            ));
            ExitStatus::Cancelled
        }
        Outcome::Held(hold) => {
            out::note(format!(
                "holdpoint: loop {} is paused: a change of the last iteration waits for a person\n  look at it: holdpoint holds show {hold}\n  then: holdpoint confirm {hold} (or deny), holdpoint loop resume {}",
                args.id, args.id
            ));
            ExitStatus::Held
        }
        Outcome::Failed(why) => {
            out::note(format!("holdpoint: loop {} failed: {why}", args.id));
            let state = shown.load(&args.id)?.state;
            if limit::gave_up(&state) {
                out::note(format!("  let it go on: {}", more(&state)));
            }
            ExitStatus::GuardedFailed
        }
    })
}

fn pause(store: &Store, args: &OneArgs) -> Result<ExitStatus> {
    let loaded = store.update(&args.id, |state| runner::turn(state, Turn::Pause, "pause"))?;
    runner::tell_repair(&args.id, loaded.repaired.as_ref());
    told(store, &args.id, &loaded, args.json)
}

fn resume(store: &Store, args: &ResumeArgs) -> Result<ExitStatus> {
    let loaded = store.update(&args.id, |state| {
        if let Some(most) = args.max_iterations {
            set_limit(state, most)?;
        }
        if limit::gave_up(state) {
            return Err(store::no_turn(&state.loop_id, state.status, "resume")
                .because(state.failure_reason.clone().unwrap_or_default())
                .hint(format!("let it go on: {}", more(state))));
        }
        runner::turn(state, Turn::Resume, "resume")
    })?;
    runner::tell_repair(&args.id, loaded.repaired.as_ref());
    told(store, &args.id, &loaded, args.json)
}

/// Sets the most iterations.
fn set_limit(state: &mut LoopState, most: u64) -> Result<()> {
    limit::set(state, most).map_err(|done| {
        Error::new(
            ErrorKind::Usage,
            format!("cannot go on with {most} iterations: {done} are done already"),
        )
        .hint(format!("give more: {}", more(state)))
    })
}

/// What to type to give a loop twice the iterations it had.
fn more(state: &LoopState) -> String {
    format!(
        "holdpoint loop run {} --max-iterations {}",
        state.loop_id,
        state.current_iteration.max(state.max_iterations) * 2
    )
}

fn stop(store: &Store, args: &StopArgs) -> Result<ExitStatus> {
    let loaded = store.update(&args.id, |state| {
        let was = state.status;
        runner::turn(state, Turn::Stop, "stop")?;
        if was != Status::Failed {
            state.failure_reason = Some(args.why.clone());
        }
        Ok(())
    })?;
    runner::tell_repair(&args.id, loaded.repaired.as_ref());
    told(store, &args.id, &loaded, args.json)
}

/// Says what a signal did, and when it acts.
fn told(store: &Store, id: &str, loaded: &Loaded, json: bool) -> Result<ExitStatus> {
    if json {
        return print(&loaded.state);
    }
    let acts = match (runner::who(store, id)?, loaded.state.status) {
        (Some(runner), Status::Running) => format!("process {} goes on", runner.pid),
        (Some(runner), _) => format!("process {} leaves before its next action", runner.pid),
        (None, Status::Running) => format!("nobody runs it; take it up: holdpoint loop run {id}"),
        (None, _) => "nobody runs it".to_owned(),
    };
    out::line(format!("{id} is {}; {acts}", loaded.state.status));
    Ok(ExitStatus::Passed)
}

fn rebuild(store: &Store, args: &OneArgs) -> Result<ExitStatus> {
    if let Some(runner) = runner::who(store, &args.id)? {
        return Err(Error::new(
            ErrorKind::Busy,
            format!(
                "the loop {} is run by process {}, which repairs it by itself",
                args.id, runner.pid
            ),
        )
        .hint(format!("pause it first: holdpoint loop pause {}", args.id)));
    }
    let loaded = store.rebuild(&args.id)?;
    let empty = Repaired {
        wrong: Vec::new(),
        aside: None,
        found: Vec::new(),
        lost: Vec::new(),
    };
    let repaired = loaded.repaired.as_ref().unwrap_or(&empty);
    if args.json {
        return print(&json!({
            "state": loaded.state,
            "wrong": repaired.wrong,
            "set_aside": repaired.aside,
            "rebuilt": repaired.found,
            "lost": repaired.lost,
        }));
    }
    if repaired.wrong.is_empty() {
        out::line(format!("{}: nothing was wrong with the state", args.id));
    } else {
        out::line(format!("{}: {}", args.id, repaired.wrong.join("; ")));
    }
    if let Some(aside) = &repaired.aside {
        out::line(format!("  the file as it was: {}", aside.display()));
    }
    for found in &repaired.found {
        out::line(format!("  rebuilt: {found}"));
    }
    for lost in &repaired.lost {
        out::line(format!("  could not be rebuilt: {lost}"));
    }
    Ok(ExitStatus::Passed)
}

fn list(store: &Store, args: &ListArgs) -> Result<ExitStatus> {
    let loops = store.list()?;
    if args.json {
        let values: Vec<Value> = loops
            .iter()
            .map(|listed| match &listed.state {
                Ok(state) => described(state, None),
                Err(wrong) => json!({ "loop_id": listed.id, "damaged": wrong }),
            })
            .collect();
        return print(&values);
    }
    if loops.is_empty() {
        out::note("no loops; make one: holdpoint loop create --title T --description D -- COMMAND");
    }
    for listed in &loops {
        match &listed.state {
            Ok(state) => out::line(format!(
                "{}  {:9}  {:3.0}%  {}/{}  {}",
                listed.id,
                state.status.word(),
                derived(state).overall_progress,
                state.current_iteration,
                state.max_iterations,
                screen::first_line(&state.title)
            )),
            Err(wrong) => out::line(format!("{}  damaged: {}", listed.id, wrong.join("; "))),
        }
    }
    Ok(ExitStatus::Passed)
}

fn status(store: &Store, args: &StatusArgs) -> Result<ExitStatus> {
    let loaded = store.load(&args.id)?;
    runner::tell_repair(&args.id, loaded.repaired.as_ref());
    let runner = runner::who(store, &args.id)?;
    if args.json {
        return print(&described(&loaded.state, runner.as_ref()));
    }
    out::line(screen::screen(&loaded.state, runner.as_ref()));
    Ok(ExitStatus::Passed)
}

/// A state with its derived fields and its runner, as JSON.
fn described(state: &LoopState, runner: Option<&Runner>) -> Value {
    let mut value = serde_json::to_value(state).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("derived".to_owned(), json!(derived(state)));
        object.insert("runner".to_owned(), json!(runner));
    }
    value
}
