//! Asks hunk by hunk what a rollback puts back.

use crate::error::{Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::terminal::Terminal;
use crate::vault::rollback::{Pick, Preview, Step};
use crate::vault::{self};
use bstr::{BString, ByteSlice as _};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;

const HELP: &str = "y - put this back\nn - leave this as it is\nq - leave this and all that remain\na - put this and all that remain of the file back\nd - leave this and all that remain of the file\n? - show this help";

/// A larger file is put back whole or not at all.
const LARGEST: u64 = 4 << 20;

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Yes,
    No,
    Quit,
    All,
    Done,
}

/// Asks about every step of the worktree; what is not asked about any more stays as it is.
///
/// # Errors
/// When the terminal is gone, or a content cannot be read.
pub(super) fn pick(
    env: &Env,
    workspace: &Workspace,
    terminal: &Terminal,
    preview: &Preview,
) -> Result<BTreeMap<BString, Pick>> {
    let mut picks = BTreeMap::new();
    let mut quit = false;
    for step in preview.plan.steps.iter().filter(|step| step.is_work()) {
        if quit {
            picks.entry(step.path.clone()).or_insert(Pick::Leave);
            continue;
        }
        let (pick, flow) = match texts(env, workspace, preview, step)? {
            Some((now, then)) => by_hunk(terminal, step, &now, &then)?,
            None => whole(terminal, step)?,
        };
        quit = flow.is_break();
        picks.insert(step.path.clone(), pick);
    }
    Ok(picks)
}

/// The text of a file now and in the point, where both are texts of a size to be shown.
fn texts(
    env: &Env,
    workspace: &Workspace,
    preview: &Preview,
    step: &Step,
) -> Result<Option<(String, String)>> {
    let is_file = |size: u64| step.replaces_file() && size <= LARGEST;
    if !step.now.as_ref().is_some_and(|row| is_file(row.size)) {
        return Ok(None);
    }
    let place = workspace.root.join(step.path.to_path_lossy());
    let then = vault::content(env, workspace, &preview.target, step.path.as_bstr())?;
    let (Ok(now), Some(then)) = (std::fs::read(&place), then) else {
        return Ok(None);
    };
    Ok(match (String::from_utf8(now), String::from_utf8(then)) {
        (Ok(now), Ok(then)) if !now.contains('\0') && !then.contains('\0') => Some((now, then)),
        _ => None,
    })
}

fn whole(terminal: &Terminal, step: &Step) -> Result<(Pick, ControlFlow<()>)> {
    terminal.say(&step.to_string())?;
    Ok(match ask(terminal, "Put this path back")? {
        Said::Yes | Said::All => (Pick::Whole, ControlFlow::Continue(())),
        Said::No | Said::Done => (Pick::Leave, ControlFlow::Continue(())),
        Said::Quit => (Pick::Leave, ControlFlow::Break(())),
    })
}

fn by_hunk(
    terminal: &Terminal,
    step: &Step,
    now: &str,
    then: &str,
) -> Result<(Pick, ControlFlow<()>)> {
    let diff = TextDiff::from_lines(now, then);
    let hunks = diff.grouped_ops(3);
    terminal.say(&format!(
        "--- {}, now\n+++ {}, in the point",
        step.path, step.path
    ))?;
    let mut wanted: Vec<bool> = Vec::new();
    let mut flow = ControlFlow::Continue(());
    for (at, hunk) in hunks.iter().enumerate() {
        terminal.say(shown(&diff, hunk).trim_end())?;
        let question = format!("({}/{}) Put this hunk back", at + 1, hunks.len());
        match ask(terminal, &question)? {
            Said::Yes => wanted.push(true),
            Said::No => wanted.push(false),
            Said::All => {
                wanted.resize(hunks.len(), true);
                break;
            }
            Said::Done => break,
            Said::Quit => {
                flow = ControlFlow::Break(());
                break;
            }
        }
    }
    wanted.resize(hunks.len(), false);
    let pick = if wanted.iter().all(|wanted| *wanted) {
        Pick::Whole
    } else if wanted.iter().any(|wanted| *wanted) {
        Pick::Bytes(merged(&diff, &hunks, &wanted).into_bytes())
    } else {
        Pick::Leave
    };
    Ok((pick, flow))
}

fn ask(terminal: &Terminal, question: &str) -> Result<Said> {
    loop {
        let answer = terminal.ask(&format!("{question} [y,n,q,a,d,?]? "));
        let answer = match answer {
            Err(error) if error.kind() == ErrorKind::Cancelled => {
                return Err(Error::new(
                    ErrorKind::Cancelled,
                    "nobody answered; nothing was put back",
                ));
            }
            other => other?,
        };
        return Ok(match answer.to_ascii_lowercase().as_str() {
            "y" => Said::Yes,
            "n" => Said::No,
            "q" => Said::Quit,
            "a" => Said::All,
            "d" => Said::Done,
            _ => {
                terminal.say(HELP)?;
                continue;
            }
        });
    }
}

/// A hunk as a unified diff shows it.
fn shown(diff: &TextDiff<'_, '_, str>, hunk: &[DiffOp]) -> String {
    let mut text = String::new();
    if let (Some(first), Some(last)) = (hunk.first(), hunk.last()) {
        let range = |start: usize, end: usize| format!("{},{}", start + 1, end - start);
        let _ = writeln!(
            text,
            "@@ -{} +{} @@",
            range(first.old_range().start, last.old_range().end),
            range(first.new_range().start, last.new_range().end)
        );
    }
    for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value();
        let _ = write!(text, "{sign}{line}");
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
    text
}

/// The text now, with the wanted hunks as the point has them.
fn merged(diff: &TextDiff<'_, '_, str>, hunks: &[Vec<DiffOp>], wanted: &[bool]) -> String {
    let is_wanted = |op: &DiffOp| {
        hunks.iter().zip(wanted).any(|(hunk, wanted)| {
            *wanted
                && hunk.iter().any(|other| {
                    other.tag() != similar::DiffTag::Equal
                        && other.old_range() == op.old_range()
                        && other.new_range() == op.new_range()
                })
        })
    };
    let mut out = String::new();
    for op in diff.ops() {
        let take = is_wanted(op);
        for change in diff.iter_changes(op) {
            let stays = match change.tag() {
                ChangeTag::Equal => true,
                ChangeTag::Delete => !take,
                ChangeTag::Insert => take,
            };
            if stays {
                out.push_str(change.value());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_choice_of_hunks_is_put_together() {
        let lines = |edit: &dyn Fn(usize) -> String| (0..40).map(edit).collect::<String>();
        let now = lines(&|n| {
            if n % 15 == 2 {
                format!("now {n}\n")
            } else {
                format!("{n}\n")
            }
        });
        let then = lines(&|n| {
            if n == 20 {
                String::new()
            } else {
                format!("{n}\n")
            }
        });
        let diff = TextDiff::from_lines(&now, &then);
        let hunks = diff.grouped_ops(3);
        assert!(hunks.len() >= 2);
        let none = vec![false; hunks.len()];
        assert_eq!(merged(&diff, &hunks, &none), now);
        let all = vec![true; hunks.len()];
        assert_eq!(merged(&diff, &hunks, &all), then);
        let mut one = none;
        one[0] = true;
        let text = merged(&diff, &hunks, &one);
        assert!(
            text.starts_with("0\n1\n2\n3\n") && text.contains("now 32\n"),
            "{text}"
        );
    }
}
