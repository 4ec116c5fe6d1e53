//! The git side of a run's end: refs that moved, and the files that decide what git runs.

use super::settle::{Settled, held_dir, pass};
use super::{Scene, guard};
use crate::assess;
use crate::assess::refs::Moved;
use crate::error::{Context as _, ErrorKind, Result};
use crate::gate::Answer;
use crate::journal::{Filter, Log, Query};
use crate::judge::{
    Action, Effect, EffectKind, Facts, GitClass, RefChange, RefUpdate, RuleId, Surface,
};
use crate::repo::hooks::fate::Fate;
use crate::runs::gitside;
use crate::runs::record::{Held, Run};
use crate::sys::failpoint;
use crate::vault::SafetyPoint;
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeSet;

/// Holds changes of the files that decide what git runs, and puts them back.
pub(super) fn files(
    scene: &Scene<'_>,
    run: &mut Run,
    point: &SafetyPoint,
    settled: &mut Settled,
) -> Result<()> {
    let dir = scene
        .dir
        .path()
        .join(format!("held-{}", ulid::Ulid::generate()));
    let Some((changes, payload)) = gitside::tampered(scene.workspace, &super::noted(scene), &dir)?
    else {
        return Ok(());
    };
    settled.git_touched = true;
    let paths: Vec<BString> = changes.iter().map(|change| change.path.clone()).collect();
    let facts = gitside::facts(&changes, run.actor(), &point.id);
    let action = Action::WorkspaceDelta {
        from: point.id.clone(),
        changes,
    };
    let json = serde_json::to_value(&payload).doing(ErrorKind::Internal, || {
        "cannot word the held change".to_owned()
    })?;
    let wanted = Wanted {
        action,
        facts,
        payload: json,
        what: "git's own files",
    };
    if decide(scene, run, wanted, settled)? {
        settled.kept.extend(paths);
        return payload.drop_bytes();
    }
    payload.put_back(scene.workspace)?;
    settled.held.extend(paths);
    if run.options.held == Held::Reject {
        payload.drop_bytes()?;
    }
    Ok(())
}

/// Puts back stash entries that the run dropped: nothing else in the repository leads to them.
pub(super) fn stashes(scene: &Scene<'_>, run: &Run, settled: &mut Settled) -> Result<()> {
    if run.options.held == Held::Accept {
        return Ok(());
    }
    let gone = gitside::put_stashes_back(scene.workspace, &super::noted(scene))?;
    if gone.is_empty() {
        return Ok(());
    }
    let what = format!(
        "the run dropped stash entries, which are back: {}",
        gone.join("; ")
    );
    let note = guard::Note::new("rollback", RuleId::GitDiscard, "stash_dropped");
    guard::log(scene, run, note.saying(what.clone()))?;
    settled.notes.push(what);
    Ok(())
}

/// Says which refs moved; holds them where no git hook has judged them already.
pub(super) fn refs(scene: &Scene<'_>, run: &mut Run, settled: &mut Settled) -> Result<()> {
    let now = guard::refs(scene)?;
    let mut pairs = gitside::moved(&run.refs, &now);
    if run.refs.get("HEAD") != now.get("HEAD") {
        settled.notes.push(format!(
            "HEAD is now {}",
            now.get("HEAD")
                .filter(|name| !name.is_empty())
                .map_or("detached", String::as_str)
        ));
    }
    if pairs.is_empty() {
        return Ok(());
    }
    for (name, old, new) in &pairs {
        settled.notes.push(match (old.is_empty(), new.is_empty()) {
            (true, _) => format!("{name} is new ({})", short(new)),
            (_, true) => format!("{name} is gone (it was {})", short(old)),
            _ => format!("{name} moved from {} to {}", short(old), short(new)),
        });
    }
    if gitside::hooks_judge(scene.workspace) {
        if !settled.git_touched && hooks_spoke(scene, run)? {
            return Ok(());
        }
        // Installed, and gone around: what they would have let pass without a word is left alone.
        let known: BTreeSet<&String> = run.refs.values().collect();
        pairs.retain(|(name, _, new)| {
            (name.starts_with("refs/heads/") || name.starts_with("refs/tags/"))
                && !known.contains(new)
        });
        if pairs.is_empty() {
            return Ok(());
        }
    }
    let names: Vec<BString> = pairs
        .iter()
        .map(|(name, ..)| name.as_str().into())
        .collect();
    let mut moves: Vec<Moved> = Vec::new();
    for (name, old, new) in pairs {
        let fate = if old.is_empty() {
            Fate {
                change: RefChange::Create,
                lost: Vec::new(),
                more: false,
                tag_lost: false,
            }
        } else {
            let target = (!new.is_empty()).then_some(new.as_str());
            crate::repo::hooks::fate::of(scene.workspace, &old, target, &names)?
        };
        moves.push(Moved {
            update: RefUpdate {
                name: name.into(),
                change: fate.change,
                old,
                new,
            },
            fate,
        });
    }
    let mut facts = assess::refs::facts(&moves, Surface::Run, run.actor());
    for (moved, effect) in moves.iter().zip(&mut facts.effects) {
        // Refs that only went forward carry new commits: nobody else has judged those.
        if matches!(
            moved.fate.change,
            RefChange::Create | RefChange::FastForward
        ) {
            *effect = Effect::new(
                EffectKind::Git {
                    class: GitClass::Commit,
                    lossy: false,
                },
                moved.update.name.clone(),
            )
            .because("the run committed, and no git hook judged it");
        }
    }
    let action = assess::refs::action(&moves);
    let dir = held_dir(scene, &action);
    let updates: Vec<RefUpdate> = moves.iter().map(|moved| moved.update.clone()).collect();
    let payload = gitside::keep_refs(scene.workspace, updates.clone(), &dir)?;
    let json = serde_json::to_value(&payload).doing(ErrorKind::Internal, || {
        "cannot word the held refs".to_owned()
    })?;
    let wanted = Wanted {
        action,
        facts,
        payload: json,
        what: "refs",
    };
    if decide(scene, run, wanted, settled)? {
        return payload.drop_bytes();
    }
    gitside::put_head_back(scene.workspace, &run.refs, &now)?;
    gitside::put_refs_back(scene.workspace, &updates)?;
    settled
        .held
        .extend(updates.into_iter().map(|update| update.name));
    if run.options.held == Held::Reject {
        payload.drop_bytes()?;
    }
    Ok(())
}

/// Whether a git hook has let anything pass since the run began.
fn hooks_spoke(scene: &Scene<'_>, run: &Run) -> Result<bool> {
    let filter = Filter {
        since: run.created.parse().ok(),
        ..Filter::default()
    };
    let lines = Query::new(Log::Decisions, filter).next_lines(scene.workspace, usize::MAX)?;
    Ok(lines.iter().any(|line| {
        line.contains_str("\"surface\":\"git_hook\"")
            && line.contains_str("\"outcome\":\"success\"")
    }))
}

/// Something of git's that wants to stay.
struct Wanted {
    action: Action,
    facts: Facts,
    payload: serde_json::Value,
    what: &'static str,
}

/// Decides whether it stays: by the gate, or by what a person said beforehand.
fn decide(scene: &Scene<'_>, run: &mut Run, wanted: Wanted, settled: &mut Settled) -> Result<bool> {
    if run.options.held != Held::Ask {
        let accepted = run.options.held == Held::Accept;
        settled.notes.push(format!(
            "{}: {} {}",
            if accepted { "--accept" } else { "--reject" },
            wanted.what,
            if accepted {
                "stay as the run left them"
            } else {
                "are put back"
            }
        ));
        let note = guard::Note::new(
            if accepted { "allow" } else { "deny" },
            RuleId::FileGuard,
            if accepted { "accepted" } else { "rejected" },
        );
        guard::log(scene, run, note.saying(wanted.action.summary()))?;
        return Ok(accepted);
    }
    match pass(scene, run, &wanted.action, wanted.facts, wanted.payload)? {
        Answer::Passed(_) => Ok(true),
        Answer::Held(held) => {
            failpoint::reach();
            run.holds.push(held.hold.id.clone());
            scene.dir.save(run)?;
            settled.notes.push(format!(
                "held ({}): {}; put back, and kept in hold {id}\n  look: holdpoint holds show {id}   apply: holdpoint confirm {id}   drop: holdpoint deny {id}",
                wanted.what,
                held.verdict.reasoning,
                id = held.hold.id
            ));
            Ok(false)
        }
    }
}

fn short(id: &str) -> &str {
    if id.starts_with("refs/") {
        id
    } else {
        id.get(..10).unwrap_or(id)
    }
}
