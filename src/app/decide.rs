//! `holdpoint decide`: validates agents' structured decisions.

mod known;
mod record;
mod reply;

use self::known::known;
use self::reply::{Reply, event, shown};

use crate::decisions::{
    self, Change, DecisionType, Expected, Fault, Intent, Known, MAX_BYTES, Report,
    documents::{self, Document, Form},
    json, queue,
};
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::out;
use serde::Serialize;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The most that one call reads; one decision alone may take a mebibyte.
const MAX_INPUT: u64 = 256 * MAX_BYTES as u64;

/// Arguments of `holdpoint decide`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Validates decisions: one object, an array, or JSON Lines.
    Validate(ValidateArgs),
    /// Puts simultaneous decisions in order, the most urgent first.
    Queue(QueueArgs),
    /// Prints the JSON Schema of a decision type.
    Schema(SchemaArgs),
    /// Lists which decisions each intent may lead to.
    Intents(IntentsArgs),
}

#[derive(Debug, clap::Args)]
struct Source {
    /// The file with the decisions; `-` reads standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What exists and is allowed, as JSON; `.ccg/decisions.json` where there is one.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// The nodes run in a sandbox: code and commands are confined there.
    #[arg(long)]
    sandboxed: bool,
    /// Prints JSON, in the form of the input: an object, an array, or lines.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct ValidateArgs {
    #[command(flatten)]
    source: Source,
    /// Repairs what can be repaired, says what changed, and validates again.
    #[arg(long)]
    correct: bool,
    /// The type that the decisions should have.
    #[arg(long = "type", value_name = "TYPE", value_parser = decision_type)]
    kind: Option<DecisionType>,
    /// The intent that the decisions answer (GREETING, SIMPLE_QUERY, …).
    #[arg(long, value_name = "INTENT", value_parser = intent)]
    intent: Option<Intent>,
}

#[derive(Debug, clap::Args)]
struct QueueArgs {
    #[command(flatten)]
    source: Source,
}

#[derive(Debug, clap::Args)]
struct SchemaArgs {
    /// The decision type; all ten in one schema when left out.
    #[arg(value_name = "TYPE", value_parser = decision_type)]
    kind: Option<DecisionType>,
}

#[derive(Debug, clap::Args)]
struct IntentsArgs {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

fn decision_type(word: &str) -> std::result::Result<DecisionType, String> {
    DecisionType::from_any_case(word).ok_or_else(|| {
        let words: Vec<&str> = DecisionType::ALL.iter().map(|kind| kind.word()).collect();
        format!("the types are {}", words.join(", "))
    })
}

fn intent(word: &str) -> std::result::Result<Intent, String> {
    Intent::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = Intent::ALL.iter().map(|intent| intent.word()).collect();
        format!("the intents are {}", words.join(", "))
    })
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    match &args.command {
        Command::Validate(args) => validate(env, args),
        Command::Queue(args) => order(env, args),
        Command::Schema(args) => {
            let schema = args
                .kind
                .map_or_else(decisions::schema_of_all, decisions::schema);
            out::line(format!("{schema:#}"));
            Ok(ExitStatus::Passed)
        }
        Command::Intents(args) => {
            intents(args);
            Ok(ExitStatus::Passed)
        }
    }
}

/// One decision, judged.
struct Judged {
    report: Report,
    changes: Vec<Change>,
    corrected: Option<serde_json::Value>,
}

fn validate(env: &Env, args: &ValidateArgs) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env).ok();
    let known = known(env, workspace.as_ref(), &args.source)?;
    let bytes = input(env, &args.source.file)?;
    let expected = Expected {
        kind: args.kind,
        intent: args.intent,
    };
    let documents = documents::split(&bytes);
    let form = documents.form();
    let mut reply = Reply::new(args.source.json, form);
    let mut log = record::Log::new(env, workspace.as_ref());
    let (mut accepted, mut rejected) = (0_usize, 0_usize);
    for (index, document) in documents.enumerate() {
        let judged = judge(&bytes, &document, &known, expected, args.correct);
        if judged.report.is_valid() {
            accepted += 1;
        } else {
            rejected += 1;
        }
        log.add(&document, &bytes, &judged);
        reply.add(index, &document, &judged);
    }
    // The answer stands in the log before it is given.
    log.end(&bytes)?;
    reply.end();
    if accepted + rejected == 0 && form != Form::Array {
        return Err(
            Error::new(ErrorKind::Usage, "there is no decision in the input")
                .hint("give one JSON object, an array of them, or one a line"),
        );
    }
    if form != Form::One && !args.source.json {
        out::line(format!("{accepted} valid, {rejected} rejected"));
    }
    Ok(if rejected == 0 {
        ExitStatus::Passed
    } else {
        ExitStatus::Held
    })
}

fn judge(
    bytes: &[u8],
    document: &Document,
    known: &Known,
    expected: Expected,
    correct: bool,
) -> Judged {
    let text = bytes.get(document.span.clone()).unwrap_or_default();
    let report = match &document.flaw {
        Some(flaw) => decisions::unreadable(flaw),
        None => decisions::validate_text(text, known, expected),
    };
    let mut judged = Judged {
        report,
        changes: Vec::new(),
        corrected: None,
    };
    if correct
        && !judged.report.is_valid()
        && decisions::wire(text).len() <= MAX_BYTES
        && let Ok(mut read) = json::read(text)
    {
        let (changes, report) = decisions::correct(&mut read, known, expected);
        judged.corrected = report.is_valid().then(|| read.value.to_value());
        judged.report = report;
        judged.changes = changes;
    }
    judged
}

/// Reads the decisions, with a limit that no honest input reaches.
fn input(env: &Env, file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT + 1)
            .read_to_end(&mut bytes)
    } else {
        File::open(env.cwd().join(file))
            .and_then(|file| file.take(MAX_INPUT + 1).read_to_end(&mut bytes))
    };
    read.doing(ErrorKind::Usage, || {
        format!("cannot read the decisions from {}", file.display())
    })?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("the input is larger than {MAX_INPUT} bytes"),
        )
        .hint("split it, or send it a part at a time"));
    }
    Ok(bytes)
}

/// The answer of `queue`.
#[derive(Serialize)]
struct Queued<'q> {
    queue: &'q [queue::Place],
    rejected: Vec<Rejected>,
}

#[derive(Serialize)]
struct Rejected {
    index: usize,
    line: usize,
    errors: Vec<Fault>,
}

fn order(env: &Env, args: &QueueArgs) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env).ok();
    let known = known(env, workspace.as_ref(), &args.source)?;
    let bytes = input(env, &args.source.file)?;
    let mut decisions = Vec::new();
    let mut rejected = Vec::new();
    let mut log = record::Log::new(env, workspace.as_ref());
    for (index, document) in documents::split(&bytes).enumerate() {
        let judged = judge(&bytes, &document, &known, Expected::default(), false);
        log.add(&document, &bytes, &judged);
        match judged.report.kind {
            Some(kind) if judged.report.is_valid() => decisions.push((index, kind)),
            _ => rejected.push(Rejected {
                index,
                line: document.line,
                errors: judged.report.faults,
            }),
        }
    }
    log.end(&bytes)?;
    let places = queue::order(&decisions);
    let status = if rejected.is_empty() {
        ExitStatus::Passed
    } else {
        ExitStatus::Held
    };
    if args.source.json {
        let answer = serde_json::to_string_pretty(&Queued {
            queue: &places,
            rejected,
        })
        .doing(ErrorKind::Internal, || "cannot write the answer".to_owned())?;
        out::line(answer);
        return Ok(status);
    }
    for place in &places {
        out::line(format!(
            "{}. {} (decision {}, priority {}): {}",
            place.position,
            place.action_type,
            place.index,
            place.priority,
            because(place)
        ));
    }
    for rejected in &rejected {
        out::line(format!(
            "rejected: decision {} (line {})",
            rejected.index, rejected.line
        ));
        for fault in &rejected.errors {
            out::line(format!(
                "  {}: {} [{}]",
                shown(&fault.pointer),
                fault.message,
                fault.code.word()
            ));
        }
    }
    Ok(status)
}

fn because(place: &queue::Place) -> String {
    let by = place
        .held_up_by
        .map_or_else(String::new, |index| format!(" decision {index}"));
    match place.state {
        queue::State::Next => "next".to_owned(),
        queue::State::Waiting => format!("waits for{by}"),
        queue::State::Interrupted => format!("interrupted by the error recovery of{by}"),
        queue::State::Blocked => format!("blocked until the user has answered{by}"),
    }
}

fn intents(args: &IntentsArgs) {
    if args.json {
        let table: serde_json::Map<String, serde_json::Value> = Intent::ALL
            .iter()
            .map(|intent| {
                let words: Vec<&str> = intent.decisions().iter().map(|kind| kind.word()).collect();
                (intent.word().to_owned(), words.into())
            })
            .collect();
        out::line(format!("{:#}", serde_json::Value::Object(table)));
        return;
    }
    for intent in Intent::ALL {
        let words: Vec<&str> = intent.decisions().iter().map(|kind| kind.word()).collect();
        out::line(format!("{intent}: {}", words.join(", ")));
    }
}
