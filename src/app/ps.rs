//! `holdpoint ps`: lists wrapped runs.

use crate::error::Result;
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::runs::open::Standing;
use crate::runs::policy::limits::say;
use crate::runs::record::{self, Dir, Run, Started};
use crate::runs::tail;
use crate::sys::env::Env;
use crate::sys::{clock, out};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Arguments of `holdpoint ps`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Lists runs that are over, too.
    #[arg(long, short)]
    all: bool,
    /// Prints one JSON object a run.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::find(env, env.cwd())?;
    let (runs, damaged) = record::list(&workspace)?;
    let mut shown = 0;
    for run in runs.iter().filter(|run| args.all || !run.is_over()) {
        let row = Row::of(&workspace, run)?;
        if args.json {
            out::line(row.json(run).to_string());
        } else {
            out::line(row.line(run));
        }
        shown += 1;
    }
    for id in &damaged {
        out::note(format!(
            "holdpoint: the snapshot of run {id} is damaged; its files are in {}",
            Dir::of(&workspace, id).path().display()
        ));
    }
    if shown == 0 && !args.json {
        out::note("no run is going on; past ones: holdpoint ps --all");
    }
    Ok(if damaged.is_empty() {
        ExitStatus::Passed
    } else {
        ExitStatus::Internal
    })
}

/// What a listing shows of a run beside its snapshot.
struct Row {
    /// What people read: the task's state, or `interrupted`.
    state: String,
    standing: Standing,
    /// Since it was made.
    age: Option<Duration>,
    elapsed: Option<Duration>,
    last: String,
    child: Option<i32>,
}

impl Row {
    fn of(workspace: &Workspace, run: &Run) -> Result<Self> {
        let dir = Dir::of(workspace, &run.id);
        let attempt = run.last();
        let started: Option<Started> = match attempt {
            Some(attempt) => record::read(&dir.attempt(attempt.number).join("started.json"))?,
            None => None,
        };
        let standing = Standing::of(&dir, run)?;
        let state = match standing {
            Standing::Unled => format!("{} (wrapper killed)", run.state),
            Standing::Interrupted => "interrupted".to_owned(),
            Standing::Over | Standing::Led => run.state.word().to_owned(),
        };
        let age = run
            .created
            .parse::<Timestamp>()
            .ok()
            .and_then(|since| Duration::try_from(clock::now().duration_since(since)).ok());
        let elapsed = attempt.and_then(|attempt| {
            attempt.end.as_ref().map_or_else(
                || {
                    let since: Timestamp = attempt.started.parse().ok()?;
                    Duration::try_from(clock::now().duration_since(since)).ok()
                },
                |end| Some(Duration::from_millis(end.elapsed_ms)),
            )
        });
        let bytes = attempt
            .and_then(|attempt| std::fs::read(dir.attempt(attempt.number).join("both")).ok())
            .unwrap_or_default();
        Ok(Self {
            standing,
            state,
            age,
            elapsed,
            last: tail::last_line(&bytes, 60),
            child: started
                .and_then(|started| started.child)
                .filter(|child| child.lives())
                .map(|child| child.pid),
        })
    }

    fn line(&self, run: &Run) -> String {
        let limits = run.last().map(|attempt| attempt.limits);
        let going_on = self.standing == Standing::Led || self.standing == Standing::Unled;
        let time = match (self.elapsed, limits) {
            (Some(elapsed), Some(limits)) if going_on => format!(
                "{} of {} (at most {})",
                say(Duration::from_secs(elapsed.as_secs())),
                say(limits.default),
                say(limits.max)
            ),
            (Some(elapsed), _) if run.is_over() => say(elapsed),
            _ => String::new(),
        };
        let age = self.age.map_or_else(String::new, |age| {
            format!("{} ago", say(Duration::from_secs(age.as_secs())))
        });
        let mut line = format!(
            "{}  {:<12}  {:<10}  {age:<12}  {time}  {}",
            run.id,
            self.state,
            run.options.agent,
            run.title().chars().take(50).collect::<String>()
        );
        if !self.last.is_empty() && !run.is_over() {
            line.push_str("\n    ");
            line.push_str(&self.last);
        }
        match self.standing {
            Standing::Interrupted => {
                let _ = write!(
                    line,
                    "\n    nobody waits for it, and what it left is not judged: holdpoint run --resume {}",
                    run.id
                );
            }
            Standing::Unled => {
                let _ = write!(
                    line,
                    "\n    its wrapper was killed; wait for it: holdpoint run --resume {id}   end it: holdpoint stop {id}",
                    id = run.id
                );
            }
            Standing::Over | Standing::Led => {}
        }
        line
    }

    fn json(&self, run: &Run) -> Value {
        json!({
            "run": run.id,
            "state": self.state,
            "task_state": run.state,
            "agent": run.options.agent,
            "task": run.options.task,
            "created": run.created,
            "age_seconds": self.age.map(|age| age.as_secs()),
            "resume": matches!(self.standing, Standing::Unled | Standing::Interrupted)
                .then(|| format!("holdpoint run --resume {}", run.id)),
            "ended": run.ended,
            "status": run.status,
            "attempts": run.attempts.len(),
            "elapsed_seconds": self.elapsed.map(|elapsed| elapsed.as_secs()),
            "default_seconds": run.last().map(|attempt| attempt.limits.default.as_secs()),
            "max_seconds": run.last().map(|attempt| attempt.limits.max.as_secs()),
            "pid": self.child,
            "last_line": self.last,
            "sessions": run.sessions,
            "holds": run.holds,
        })
    }
}
