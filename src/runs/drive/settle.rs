//! The end of a run: what it left in the workspace is judged, kept, or held and put back.

use super::{Scene, guard, settle_git};
use crate::assess;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::gate::{self, Answer, Asking};
use crate::judge::{
    self, Action, ChangeOp, Coverage, Facts, Level, PathChange, RefUpdate, RuleId, Verdict,
};
use crate::runs::delta::{self, Payload};
use crate::runs::gitside::{self, RefPayload};
use crate::runs::policy::complexity::{Complexity, Size};
use crate::runs::record::{Held, Run};
use crate::sys::failpoint;
use crate::vault::{self, SafetyPoint};
use bstr::{BString, ByteSlice as _};
use std::collections::BTreeSet;

/// What became of the workspace.
#[derive(Debug)]
pub struct Settled {
    /// Paths that changed and stay changed.
    pub kept: Vec<BString>,
    /// Paths that were put back.
    pub held: Vec<BString>,
    /// What a person should read.
    pub notes: Vec<String>,
    /// How big the change was.
    pub complexity: Complexity,
}

/// Judges what the run left behind, once.
pub(super) fn settle(scene: &Scene<'_>, run: &mut Run) -> Result<Settled> {
    let mut settled = Settled {
        kept: Vec::new(),
        held: Vec::new(),
        notes: Vec::new(),
        complexity: Complexity::Simple,
    };
    // What the first life of a resumed run has put into a hold is put back first.
    finish_put_back(scene, run, &mut settled)?;
    let Some(id) = run.point.clone() else {
        run.judged = true;
        return Ok(settled);
    };
    let point = vault::find(scene.env, scene.workspace, Some(&id))?;
    let mut changes: Vec<PathChange> = vault::compare(scene.env, scene.workspace, &point)?
        .into_iter()
        .filter(|change| !assess::delta::is_own_log(change.path.as_bstr()))
        .collect();
    let lines = add_lines(scene, &point, &mut changes)?;
    settled.complexity = Complexity::of(Size {
        files: changes.len(),
        lines,
        architecture: false,
    });
    let facts = facts(scene, run, &point, &changes)?;
    let verdict = judge::judge(&facts, scene.policy);
    let (held, kept) = split(&changes, &verdict);
    settled
        .kept
        .extend(kept.iter().map(|change| change.path.clone()));
    if !kept.is_empty() {
        // What stays is a decision too, and stands in the log with its rules.
        record_kept(scene, run, &point, &kept)?;
        note_reported(&verdict, &held, &mut settled);
    }
    if !held.is_empty() {
        hold(scene, run, &point, held, &mut settled)?;
    }
    settle_git::files(scene, run, &point, &mut settled)?;
    settle_git::refs(scene, run, &mut settled)?;
    note_size(run, scene, &mut settled);
    run.judged = true;
    Ok(settled)
}

fn facts(
    scene: &Scene<'_>,
    run: &Run,
    point: &SafetyPoint,
    changes: &[PathChange],
) -> Result<Facts> {
    let paths: Vec<BString> = changes
        .iter()
        .filter(|change| change.op != ChangeOp::Create)
        .map(|change| match &change.op {
            ChangeOp::Rename { from } => from.clone(),
            _ => change.path.clone(),
        })
        .collect();
    let coverage = if paths.is_empty() {
        Coverage::Held {
            point: point.id.clone(),
        }
    } else {
        vault::coverage(point, &paths)
    };
    assess::delta::facts(
        scene.env,
        scene.workspace,
        changes,
        run.refs.get(delta::START).map(String::as_str),
        coverage,
        run.actor(),
    )
}

/// Fills in the added lines where the Contract forbids patterns; returns how many lines changed in all.
fn add_lines(scene: &Scene<'_>, point: &SafetyPoint, changes: &mut [PathChange]) -> Result<usize> {
    let forbids = scene
        .policy
        .contract
        .as_ref()
        .is_some_and(|contract| !contract.forbidden.is_empty());
    let mut lines = 0;
    for change in changes {
        if change.op == ChangeOp::Delete || change.mode_after == "120000" {
            continue;
        }
        let old = match &change.op {
            ChangeOp::Rename { from } => from.clone(),
            _ => change.path.clone(),
        };
        let before = if change.mode_before.is_empty() {
            Vec::new()
        } else {
            vault::content(scene.env, scene.workspace, point, old.as_bstr())?.unwrap_or_default()
        };
        let after = match crate::runs::beneath::read(&scene.workspace.root, change.path.as_bstr())?
        {
            crate::runs::beneath::Content::File { bytes, .. } => bytes,
            _ => Vec::new(),
        };
        let added = assess::delta::added_lines(&before, &after);
        lines += added.len();
        if forbids {
            change.added = added;
        }
    }
    Ok(lines)
}

/// Parts changes into those that a person has to agree to and those that stay.
fn split(changes: &[PathChange], verdict: &Verdict) -> (Vec<PathChange>, Vec<PathChange>) {
    let mut subjects = BTreeSet::new();
    let mut all = false;
    for finding in &verdict.findings {
        if finding.level < Level::Confirm {
            continue;
        }
        if finding.rule == RuleId::FileBulk
            || !changes.iter().any(|change| change.path == finding.subject)
        {
            // A finding about the whole change holds the whole change.
            all = true;
        }
        subjects.insert(finding.subject.clone());
    }
    let needs = |change: &PathChange| all || subjects.contains(&change.path);
    let mut held: Vec<PathChange> = changes.iter().filter(|c| needs(c)).cloned().collect();
    // What stands where a held path was has to make room for it.
    loop {
        let in_the_way: Vec<PathChange> = changes
            .iter()
            .filter(|change| !held.iter().any(|held| held.path == change.path))
            .filter(|change| {
                held.iter().any(|held| {
                    is_above(change.path.as_ref(), held.path.as_ref())
                        || matches!(&held.op, ChangeOp::Rename { from } if is_above(change.path.as_ref(), from.as_ref()))
                })
            })
            .cloned()
            .collect();
        if in_the_way.is_empty() {
            break;
        }
        held.extend(in_the_way);
    }
    held.sort_by(|a, b| a.path.cmp(&b.path));
    let kept = changes
        .iter()
        .filter(|change| !held.iter().any(|held| held.path == change.path))
        .cloned()
        .collect();
    (held, kept)
}

fn is_above(dir: &[u8], path: &[u8]) -> bool {
    path.strip_prefix(dir)
        .is_some_and(|rest| rest.first() == Some(&b'/'))
}

fn record_kept(
    scene: &Scene<'_>,
    run: &Run,
    point: &SafetyPoint,
    kept: &[PathChange],
) -> Result<()> {
    let facts = facts(scene, run, point, kept)?;
    let action = Action::WorkspaceDelta {
        from: point.id.clone(),
        changes: kept.to_vec(),
    };
    let answer = pass(scene, run, &action, facts, serde_json::Value::Null)?;
    match answer {
        Answer::Passed(_) => Ok(()),
        Answer::Held(held) => Err(Error::new(
            ErrorKind::Internal,
            format!(
                "what was to stay was held after all ({})",
                held.verdict.reasoning
            ),
        )),
    }
}

fn note_reported(verdict: &Verdict, held: &[PathChange], settled: &mut Settled) {
    for finding in &verdict.findings {
        if finding.level == Level::Transparent
            && !held.iter().any(|change| change.path == finding.subject)
        {
            settled
                .notes
                .push(format!("{}: {}", finding.rule, finding.harm));
        }
    }
}

pub(super) fn pass(
    scene: &Scene<'_>,
    run: &Run,
    action: &Action,
    facts: Facts,
    payload: serde_json::Value,
) -> Result<Answer> {
    let session = run.sessions.values().next().map(String::as_str);
    gate::pass(
        scene.env,
        scene.workspace,
        gate::Request {
            action,
            facts,
            policy: scene.policy,
            session,
            run: Some(&run.id),
            asking: Asking::Never,
            payload,
        },
    )
}

/// Puts changes into a hold with their bytes, and the workspace back.
fn hold(
    scene: &Scene<'_>,
    run: &mut Run,
    point: &SafetyPoint,
    held: Vec<PathChange>,
    settled: &mut Settled,
) -> Result<()> {
    let paths: Vec<BString> = held.iter().map(|change| change.path.clone()).collect();
    match run.options.held {
        Held::Accept => {
            guard::log(
                scene,
                run,
                guard::Note::new("allow", RuleId::FileModify, "accepted")
                    .saying(format!(
                        "a person said --accept beforehand: {} files that would be held are kept",
                        paths.len()
                    ))
                    .with("paths", shown(&paths)),
            )?;
            settled.notes.push(format!(
                "--accept: {} files that would have been held are kept: {}",
                paths.len(),
                shown(&paths).join(", ")
            ));
            settled.kept.extend(paths);
            return Ok(());
        }
        Held::Ask | Held::Reject => {}
    }
    let dir = scene
        .dir
        .path()
        .join(format!("held-{}", ulid::Ulid::generate()));
    let payload = delta::keep(scene.env, scene.workspace, point, &held, &dir)?;
    if run.options.held == Held::Reject {
        guard::log(
            scene,
            run,
            guard::Note::new("deny", RuleId::FileModify, "rejected")
                .saying(format!(
                    "a person said --reject beforehand: {} files are put back",
                    paths.len()
                ))
                .with("paths", shown(&paths)),
        )?;
        put_back(scene, point, &payload, settled)?;
        settled.notes.push(format!(
            "--reject: put back and dropped: {}",
            shown(&paths).join(", ")
        ));
        settled.held.extend(paths);
        return payload.drop_bytes();
    }
    let facts = facts(scene, run, point, &held)?;
    let action = Action::WorkspaceDelta {
        from: point.id.clone(),
        changes: held,
    };
    let json = serde_json::to_value(&payload).doing(ErrorKind::Internal, || {
        "cannot word the held change".to_owned()
    })?;
    match pass(scene, run, &action, facts, json)? {
        Answer::Passed(passed) => {
            settled.kept.extend(paths);
            if let Some(hold) = passed.confirmed {
                settled.notes.push(format!("confirmed before: {hold}"));
            }
            payload.drop_bytes()
        }
        Answer::Held(held) => {
            failpoint::reach();
            run.holds.push(held.hold.id.clone());
            scene.dir.save(run)?;
            put_back(scene, point, &payload, settled)?;
            for finding in held
                .verdict
                .findings
                .iter()
                .filter(|finding| finding.level >= Level::Confirm)
                .take(SHOWN)
            {
                settled
                    .notes
                    .push(format!("held ({}): {}", finding.rule, finding.harm));
            }
            settled.notes.push(format!(
                "{} files are put back as they were; the change is kept in hold {id}\n  look: holdpoint holds show {id}   apply: holdpoint confirm {id}   drop: holdpoint deny {id}",
                paths.len(),
                id = held.hold.id
            ));
            settled.held.extend(paths);
            Ok(())
        }
    }
}

/// Paths that a note names.
const SHOWN: usize = 10;

fn shown(paths: &[BString]) -> Vec<String> {
    paths.iter().take(SHOWN).map(ToString::to_string).collect()
}

fn put_back(
    scene: &Scene<'_>,
    point: &SafetyPoint,
    payload: &Payload,
    settled: &mut Settled,
) -> Result<()> {
    let left = payload.put_back(scene.workspace)?;
    payload.remove_new_dirs(scene.env, scene.workspace, point)?;
    let paths: Vec<BString> = payload.paths.iter().map(|kept| kept.path.clone()).collect();
    gitside::restore_index(scene.workspace, &super::noted(scene), &paths)?;
    if !left.is_empty() {
        settled.notes.push(format!(
            "changed again while it was judged, and left as it is: {}",
            shown(&left).join(", ")
        ));
    }
    Ok(())
}

/// Puts back what an earlier life of this run held and may not have put back.
fn finish_put_back(scene: &Scene<'_>, run: &Run, settled: &mut Settled) -> Result<()> {
    for id in &run.holds {
        let hold = crate::holds::find(scene.env, scene.workspace, id)?;
        if hold.state_now() != crate::holds::State::Pending {
            continue;
        }
        if let Some(payload) = RefPayload::of(&hold) {
            let now = guard::refs(scene)?;
            let stand: Vec<RefUpdate> = payload
                .updates
                .into_iter()
                .filter(|update| {
                    now.get(&update.name.to_string())
                        .cloned()
                        .unwrap_or_default()
                        == update.new
                })
                .collect();
            gitside::put_refs_back(scene.workspace, &stand)?;
            settled
                .held
                .extend(stand.into_iter().map(|update| update.name));
            continue;
        }
        let Some(payload) = Payload::of(&hold) else {
            continue;
        };
        payload.put_back(scene.workspace)?;
        settled
            .held
            .extend(payload.paths.iter().map(|kept| kept.path.clone()));
        settled.notes.push(format!(
            "held: {}; look: holdpoint holds show {id}",
            hold.summary
        ));
    }
    Ok(())
}

/// Says when the change was bigger than the time that it was given for.
fn note_size(run: &Run, scene: &Scene<'_>, settled: &mut Settled) {
    if settled.complexity == Complexity::Complex && run.limits(scene).default.as_secs() <= 300 {
        settled.notes.push(
            "the change is complex (more than 5 files or 1000 lines): smaller tasks are easier to review".to_owned(),
        );
    }
}
