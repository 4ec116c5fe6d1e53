//! `holdpoint log`: reads, counts, checks and mends the logs.

use super::holds::json;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::journal::{self, Filter, Log, Query, Report, Stats};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::{clock, out};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a followed log is looked at.
const GLANCE: Duration = Duration::from_millis(200);

/// Arguments of `holdpoint log`.
#[derive(Debug, clap::Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(super) struct Args {
    /// Shows at most the last N entries; 0 for all.
    #[arg(short = 'n', value_name = "N", default_value_t = 50)]
    most: usize,
    /// Goes on as entries are written.
    #[arg(long, short)]
    follow: bool,
    /// Only of a level: 0 to 3.
    #[arg(long)]
    level: Option<String>,
    /// Only of a rule, or of a family such as `git.`.
    #[arg(long)]
    rule: Option<String>,
    /// Only of a decision: allow, hold, confirm, ….
    #[arg(long)]
    decision: Option<String>,
    /// Only of an actor: person, agent, agent:NAME.
    #[arg(long)]
    actor: Option<String>,
    /// Only of a wrapped run.
    #[arg(long)]
    run: Option<String>,
    /// Not before a time (RFC 3339) or this long ago (2h, 30m).
    #[arg(long)]
    since: Option<String>,
    /// Not after a time (RFC 3339) or this long ago.
    #[arg(long)]
    until: Option<String>,
    /// Only what names a path.
    #[arg(long)]
    path: Option<String>,
    /// Prints the lines as they are.
    #[arg(long)]
    json: bool,
    /// Counts by decision, level, rule and outcome.
    #[arg(long)]
    stats: bool,
    /// Checks the chain and compares with the mirror.
    #[arg(long)]
    verify: bool,
    /// Sets a torn last line aside, and writes the log again where it is behind its mirror.
    #[arg(long)]
    repair: bool,
    /// Which log: decisions, timeouts, degradations.
    #[arg(long, value_name = "LOG", default_value = "decisions", value_parser = which)]
    log: Log,
}

fn which(word: &str) -> Result<Log, String> {
    match word {
        "decisions" => Ok(Log::Decisions),
        "timeouts" => Ok(Log::Timeouts),
        "degradations" => Ok(Log::Degradations),
        _ => Err("accepted: decisions, timeouts, degradations".to_owned()),
    }
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> Result<ExitStatus> {
    let workspace = Workspace::discover(env)?;
    if args.repair {
        return repair(&workspace);
    }
    if args.verify {
        return verify(&workspace, args);
    }
    let filter = filter(args)?;
    if args.stats {
        return count(&workspace, args, &filter);
    }
    let most = if args.most == 0 {
        usize::MAX
    } else {
        args.most
    };
    let mut query = Query::new(args.log, filter);
    for line in query.next_lines(&workspace, most)? {
        show(&line, args.json);
    }
    if !args.follow {
        return Ok(ExitStatus::Passed);
    }
    loop {
        std::thread::sleep(GLANCE);
        for line in query.next_lines(&workspace, usize::MAX)? {
            show(&line, args.json);
        }
    }
}

fn filter(args: &Args) -> Result<Filter> {
    let level = match args.level.as_deref() {
        None => None,
        Some(word) => Some(match word.trim_start_matches("level_") {
            number @ ("0" | "1" | "2" | "3") => format!("level_{number}"),
            _ => {
                return Err(
                    Error::new(ErrorKind::Usage, format!("there is no level {word}"))
                        .hint("accepted: 0, 1, 2, 3"),
                );
            }
        }),
    };
    Ok(Filter {
        level,
        rule: args.rule.clone(),
        decision: args.decision.clone(),
        actor: args.actor.clone(),
        run: args.run.clone(),
        since: args.since.as_deref().map(time).transpose()?,
        until: args.until.as_deref().map(time).transpose()?,
        path: args.path.clone(),
    })
}

/// Reads a time, or a length of time before now.
fn time(text: &str) -> Result<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(day) = text.parse::<jiff::civil::Date>()
        && let Ok(midnight) = day.to_zoned(jiff::tz::TimeZone::UTC)
    {
        return Ok(midnight.timestamp());
    }
    text.parse::<SignedDuration>()
        .ok()
        .and_then(|length| clock::now().checked_sub(length).ok())
        .ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("`{text}` is no time"))
                .hint("accepted: 2026-01-21T14:00:00Z, 2026-01-21, 2h, 30m")
        })
}

fn show(line: &[u8], as_json: bool) {
    if as_json {
        out::line(String::from_utf8_lossy(line));
        return;
    }
    let Ok(entry) = serde_json::from_slice::<Value>(line) else {
        out::line(format!("(unreadable) {}", String::from_utf8_lossy(line)));
        return;
    };
    let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let first = |keys: &[&str]| {
        keys.iter()
            .map(|key| word(key))
            .find(|word| !word.is_empty())
            .unwrap_or_default()
            .to_owned()
    };
    let what = first(&["reasoning", "action", "reason", "behavior", "task"]);
    out::line(
        format!(
            "{}  {:<12} {:<8} {:<14} {}",
            word("timestamp"),
            first(&["decision", "type", "service"]),
            word("level"),
            word("actor"),
            what
        )
        .trim_end(),
    );
}

fn count(workspace: &Workspace, args: &Args, filter: &Filter) -> Result<ExitStatus> {
    let stats: Stats = journal::stats(workspace, args.log, filter)?;
    if args.json {
        out::line(json(&stats)?);
        return Ok(ExitStatus::Passed);
    }
    out::line(format!("{} entries", stats.entries));
    if stats.unreadable > 0 {
        out::line(format!("{} lines that are no entry", stats.unreadable));
    }
    for (title, counts) in [
        ("decision", &stats.decisions),
        ("level", &stats.levels),
        ("rule", &stats.rules),
        ("outcome", &stats.outcomes),
    ] {
        table(title, counts);
    }
    Ok(ExitStatus::Passed)
}

fn table(title: &str, counts: &BTreeMap<String, u64>) {
    let mut rows: Vec<_> = counts.iter().collect();
    rows.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (word, count) in rows {
        out::line(format!("  {title:<9} {count:>8}  {word}"));
    }
}

fn verify(workspace: &Workspace, args: &Args) -> Result<ExitStatus> {
    let reports = Log::ALL
        .into_iter()
        .map(|log| journal::verify(workspace, log))
        .collect::<Result<Vec<Report>>>()?;
    let whole = reports.iter().all(Report::is_whole);
    if args.json {
        out::line(json(&reports)?);
    } else {
        for report in &reports {
            told(report);
        }
    }
    Ok(if whole {
        ExitStatus::Passed
    } else {
        ExitStatus::Internal
    })
}

fn told(report: &Report) {
    let name = report.file.display();
    if report.is_whole() {
        if report.lines > 0 {
            out::line(format!(
                "{name}: whole, {} lines, {} of them chained",
                report.lines, report.chained
            ));
        }
        return;
    }
    if let Some(broken) = &report.broken {
        out::line(format!("{name}:{}: {}", broken.line, broken.why));
    }
    if let Some(differs) = &report.differs {
        out::line(format!("{name}:{}: {}", differs.line, differs.why));
    }
    out::line(
        "  holdpoint log --repair sets what was found aside and writes the log again from its mirror",
    );
}

fn repair(workspace: &Workspace) -> Result<ExitStatus> {
    let mut done = Vec::new();
    for log in Log::ALL {
        done.extend(journal::repair(workspace, log)?);
    }
    if done.is_empty() {
        done.push("Nothing to repair.".to_owned());
    }
    for line in done {
        out::line(line);
    }
    Ok(ExitStatus::Passed)
}
