//! A hold as a person sees it before being asked.

use super::hold::Hold;
use bstr::ByteSlice as _;

/// Most lines that one list on a screen takes.
const MOST: usize = 6;

/// The screen of a hold, as a person sees it before being asked.
#[must_use]
pub fn screen(hold: &Hold) -> String {
    let mut lines = vec![
        format!("HELD  {}: {}", hold.level, hold.summary),
        format!("  why     {}", hold.reasoning),
    ];
    lines.extend(listed(
        "  shows   ",
        hold.evidence.iter().skip(1).map(String::as_str),
    ));
    lines.extend(losses(hold));
    lines.push(match &hold.safety_point {
        Some(point) => format!("  undo    holdpoint rollback {point}"),
        None => "  undo    no safety point was taken".to_owned(),
    });
    if !hold.hint.is_empty() {
        lines.push(format!("  instead {}", hold.hint));
    }
    lines.push(format!("  hold    {}, by {}", hold.id, hold.actor.word()));
    lines.join("\n")
}

fn losses(hold: &Hold) -> Vec<String> {
    let loses = &hold.loses;
    let mut lines = Vec::new();
    let files: Vec<String> = loses
        .files
        .iter()
        .map(|file| file.to_str_lossy().into_owned())
        .collect();
    let refs: Vec<String> = loses
        .refs
        .iter()
        .map(|name| name.to_str_lossy().into_owned())
        .collect();
    for (what, items) in [("file", &files), ("commit", &loses.commits), ("ref", &refs)] {
        if !items.is_empty() {
            let plural = if items.len() == 1 { "" } else { "s" };
            let more = if loses.more { "more than " } else { "" };
            lines.push(format!("  loses   {more}{} {what}{plural}:", items.len()));
            lines.extend(listed("            ", items.iter().map(String::as_str)));
        }
    }
    lines
}

fn listed<'a>(lead: &str, items: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut more = 0;
    for (index, item) in items.enumerate() {
        if index < MOST {
            lines.push(format!("{lead}{item}"));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        lines.push(format!("{lead}… and {more} more"));
    }
    lines
}
