//! The words of a verdict, for a person at a terminal and for an agent.
//!
//! Short and plain: what happened, why, what to type next. One place, so that
//! every surface says the same.

use super::verdict::{Finding, Verdict};
use super::{Action, Level};
use bstr::ByteSlice as _;

/// Most findings or losses that one screen lists.
const MOST: usize = 6;

/// What a person hears of a verdict that passes: nothing at Level 0, one line at Level 1.
#[must_use]
pub fn passed(verdict: &Verdict) -> Option<String> {
    if verdict.level < Level::Transparent {
        return None;
    }
    let first = verdict.findings.first()?;
    let more = others(verdict);
    Some(format!(
        "holdpoint: {} {}{more} (holdpoint explain {})",
        verdict.level, first.harm, first.rule
    ))
}

/// What a person hears of a verdict that is held, with the commands to type.
#[must_use]
pub fn held(verdict: &Verdict, hold: &str) -> String {
    let mut lines = vec![format!("holdpoint: held, {}", verdict.reasoning)];
    lines.extend(
        verdict
            .findings
            .iter()
            .filter(|finding| finding.level.needs_person())
            .skip(1)
            .take(MOST)
            .map(|finding| format!("  also    {}: {}", finding.rule, finding.harm)),
    );
    lines.extend(instead(verdict).map(|hint| format!("  instead {hint}")));
    lines.push(format!("  look    holdpoint holds show {hold}"));
    lines.push(format!(
        "  agree   holdpoint confirm {hold}, then repeat the command"
    ));
    lines.join("\n")
}

/// What an agent is told of a verdict that is held: stable words, no command that it may not run.
#[must_use]
pub fn held_for_agent(verdict: &Verdict, hold: &str) -> String {
    let mut text = format!("Holdpoint held this: {}.", verdict.reasoning);
    for finding in verdict
        .findings
        .iter()
        .filter(|finding| finding.level.needs_person())
        .skip(1)
        .take(MOST)
    {
        text.push_str(" Also ");
        text.push_str(finding.rule.word());
        text.push_str(": ");
        text.push_str(&finding.harm);
        text.push('.');
    }
    if let Some(hint) = instead(verdict) {
        text.push_str(" Instead: ");
        text.push_str(hint);
        text.push('.');
    }
    text.push_str(
        " Do not work around it. A person can agree in their own terminal: holdpoint confirm ",
    );
    text.push_str(hold);
    text.push_str(". Then the same call passes once.");
    text
}

fn instead(verdict: &Verdict) -> Option<&str> {
    verdict
        .findings
        .iter()
        .map(|finding: &Finding| finding.hint.as_str())
        .find(|hint| !hint.is_empty())
}

/// How many more findings there are that a person should hear of.
fn others(verdict: &Verdict) -> String {
    let told = |finding: &&Finding| finding.level >= Level::Transparent;
    match verdict.findings.iter().skip(1).filter(told).count() {
        0 => String::new(),
        count => format!("; and {count} more"),
    }
}

impl Action {
    /// What would be done, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let text = match self {
            Self::Command { text, .. } => text.to_str_lossy().into_owned(),
            Self::Write { path, after } => {
                let what = match after {
                    super::After::Content { .. } | super::After::Unknown => "write",
                    super::After::Gone => "delete",
                    super::After::MovedTo { path: to } => {
                        return cut(&format!("move {path} to {to}"));
                    }
                };
                format!("{what} {path}")
            }
            Self::StagedChange { changes } => format!("commit {}", paths(changes)),
            Self::RefUpdates { updates } => {
                let names: Vec<String> = updates
                    .iter()
                    .take(3)
                    .map(|update| format!("{} {}", word(update.change), update.name))
                    .collect();
                let more = updates.len().saturating_sub(3);
                format!(
                    "{}{}",
                    names.join(", "),
                    if more > 0 {
                        format!(" and {more} more")
                    } else {
                        String::new()
                    }
                )
            }
            Self::WorkspaceDelta { changes, .. } => {
                format!("keep the run's changes to {}", paths(changes))
            }
            Self::Decision { payload } => format!(
                "the decision {}",
                payload
                    .get("action_type")
                    .and_then(serde_json::Value::as_str)
                    .unwrap_or("of an agent")
            ),
            Self::Outcome { exit, .. } => exit.map_or_else(
                || "go on after a killed attempt".to_owned(),
                |exit| format!("go on after an attempt that ended with {exit}"),
            ),
        };
        cut(&text)
    }
}

fn word(change: super::RefChange) -> &'static str {
    match change {
        super::RefChange::Create => "create",
        super::RefChange::FastForward => "advance",
        super::RefChange::Rewrite => "rewrite",
        super::RefChange::Delete => "delete",
        super::RefChange::Symbolic => "repoint",
    }
}

fn paths(changes: &[super::PathChange]) -> String {
    match changes {
        [] => "nothing".to_owned(),
        [only] => only.path.to_string(),
        [first, second] => format!("{} and {}", first.path, second.path),
        [first, rest @ ..] => format!("{} and {} more", first.path, rest.len()),
    }
}

/// One line of at most 160 characters.
fn cut(text: &str) -> String {
    let mut line: String = text
        .chars()
        .map(|c| if c == '\n' || c == '\r' { ' ' } else { c })
        .take(160)
        .collect();
    if text.chars().count() > 160 {
        line.push('…');
    }
    line
}
