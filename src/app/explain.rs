//! `holdpoint explain`: says what a rule means and what is safe instead.

use super::holds::json;
use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::judge::{MATRIX, Rule, RuleId, explain};
use crate::sys::env::Env;
use crate::sys::out;
use serde_json::{Value, json as value};

/// Arguments of `holdpoint explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A rule's id, such as git.history, or a family, such as git; all rules without it.
    rule: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(_env: &Env, args: &Args) -> Result<ExitStatus> {
    let Some(word) = &args.rule else {
        list(MATRIX.iter().collect(), args)?;
        return Ok(ExitStatus::Passed);
    };
    if let Some(rule) = RuleId::parse(word) {
        show(rule, args)?;
        return Ok(ExitStatus::Passed);
    }
    let family: Vec<&Rule> = MATRIX
        .iter()
        .filter(|rule| rule.id.family() == word.trim_end_matches('.'))
        .collect();
    if family.is_empty() {
        return Err(
            Error::new(ErrorKind::Usage, format!("there is no rule {word}"))
                .hint("see them all: holdpoint explain"),
        );
    }
    list(family, args)?;
    Ok(ExitStatus::Passed)
}

fn list(rules: Vec<&Rule>, args: &Args) -> Result<()> {
    if args.json {
        let all: Vec<Value> = rules.iter().map(|rule| entry(rule.id)).collect();
        out::line(json(&all)?);
        return Ok(());
    }
    for rule in rules {
        out::line(format!(
            "{:<24} {}  {}",
            rule.id.word(),
            rule.level,
            rule.when
        ));
    }
    Ok(())
}

fn show(rule: RuleId, args: &Args) -> Result<()> {
    if args.json {
        out::line(json(&entry(rule))?);
        return Ok(());
    }
    let told = explain(rule);
    out::line(format!("{rule}  {}", rule.rule().level));
    out::line(format!("  when     {}", rule.rule().when));
    out::line(format!("  why      {}", told.why));
    out::line(format!("  instead  {}", told.instead));
    out::line(format!("  source   {}", told.source));
    Ok(())
}

fn entry(rule: RuleId) -> Value {
    let told = explain(rule);
    value!({
        "rule": rule.word(),
        "level": rule.rule().level.number(),
        "when": rule.rule().when,
        "why": told.why,
        "instead": told.instead,
        "source": told.source,
    })
}
