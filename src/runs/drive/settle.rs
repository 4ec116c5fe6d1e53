//! The end of a run: what it left in the workspace is judged, kept, or held and put back.

use super::{Scene, guard, settle_git};
use crate::error::Result;
use crate::gate::{self, Answer, Asking};
use crate::judge::{Action, Facts, Level, PathChange, RefUpdate, RuleId};
use crate::runs::delta::{self, Payload};
use crate::runs::gitside::{self, RefPayload};
use crate::runs::left::{Left, Parted};
use crate::runs::policy::complexity::{Complexity, Size};
use crate::runs::record::{Held, Run};
use crate::sys::{failpoint, out};
use crate::vault;
use bstr::BString;
use std::path::PathBuf;

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
    /// What decides which programs git runs was changed: its hooks may have been silent.
    pub git_touched: bool,
}

/// Judges what the run left behind, once.
pub(super) fn settle(scene: &Scene<'_>, run: &mut Run) -> Result<Settled> {
    let mut settled = Settled {
        kept: Vec::new(),
        held: Vec::new(),
        notes: Vec::new(),
        complexity: Complexity::Simple,
        git_touched: false,
    };
    settled.notes.extend(
        scene
            .dir
            .told()?
            .into_iter()
            .map(|notice| format!("the agent was told: {notice}")),
    );
    for what in &run.rebuilt {
        settled
            .held
            .push(scene.workspace.root.display().to_string().into());
        settled.notes.push(what.clone());
    }
    // What the first life of a resumed run has put into a hold is put back first.
    finish_put_back(scene, run, &mut settled)?;
    let Some(id) = run.point.clone() else {
        run.judged = true;
        return Ok(settled);
    };
    let point = vault::find(scene.env, scene.workspace, Some(&id))?;
    let start = run.refs.get(delta::START).cloned();
    let session = run.sessions.values().next().cloned();
    let name = run.id.clone();
    let left = Left {
        env: scene.env,
        workspace: scene.workspace,
        policy: scene.policy,
        point: &point,
        start: start.as_deref(),
        actor: run.actor(),
        session: session.as_deref(),
        run: &name,
    };
    let changes = left.changes(|_| false)?;
    settled.complexity = Complexity::of(Size {
        files: changes.paths.len(),
        lines: changes.lines,
        architecture: false,
    });
    let parted = left.part(changes.paths)?;
    settled
        .kept
        .extend(parted.kept.iter().map(|change| change.path.clone()));
    if !parted.kept.is_empty() {
        // What stays is a decision too, and stands in the log with its rules.
        left.record(&parted.kept)?;
        note_reported(&parted, &mut settled);
    }
    if !parted.held.is_empty() {
        hold(scene, run, &left, &parted.held, &mut settled)?;
    }
    settle_git::files(scene, run, &point, &mut settled)?;
    settle_git::stashes(scene, run, &mut settled)?;
    settle_git::refs(scene, run, &mut settled)?;
    settled.notes.extend(gitside::under_way(scene.workspace));
    super::guard::wrote(scene, run, vault::handled::Edge::End)?;
    note_size(run, scene, &mut settled);
    run.judged = true;
    Ok(settled)
}

fn note_reported(parted: &Parted, settled: &mut Settled) {
    for finding in &parted.verdict.findings {
        if finding.level == Level::Transparent
            && !parted
                .held
                .iter()
                .any(|change| change.path == finding.subject)
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
    let answer = gate::pass(
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
    )?;
    let warnings = match &answer {
        Answer::Passed(passed) => &passed.warnings,
        Answer::Held(held) => &held.warnings,
    };
    for warning in warnings {
        out::note(format!("holdpoint: {warning}"));
    }
    Ok(answer)
}

/// Where the bytes of a held action lie: the same in every life of the run, so that it is held once.
pub(super) fn held_dir(scene: &Scene<'_>, action: &Action) -> PathBuf {
    let digest = action.digest();
    let name = digest.get(..24).unwrap_or(&digest);
    scene.dir.path().join(format!("held-{name}"))
}

/// Puts changes into a hold with their bytes, and the workspace back.
fn hold(
    scene: &Scene<'_>,
    run: &mut Run,
    left: &Left<'_>,
    held: &[PathChange],
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
    let dir = held_dir(scene, &left.action(held));
    let payload = left.keep(held, &dir)?;
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
        put_back(scene, left, &payload, settled)?;
        settled.notes.push(format!(
            "--reject: put back and dropped: {}",
            shown(&paths).join(", ")
        ));
        settled.held.extend(paths);
        return payload.drop_bytes();
    }
    match left.ask(held, &payload)? {
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
            put_back(scene, left, &payload, settled)?;
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
                "{} put back as {} before the run; the change is kept in hold {id}\n  look: holdpoint holds show {id}   apply: holdpoint confirm {id}   drop: holdpoint deny {id}",
                if paths.len() == 1 {
                    "1 file is".to_owned()
                } else {
                    format!("{} files are", paths.len())
                },
                if paths.len() == 1 { "it was" } else { "they were" },
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
    left: &Left<'_>,
    payload: &Payload,
    settled: &mut Settled,
) -> Result<()> {
    let again = left.put_back(payload)?;
    let paths: Vec<BString> = payload.paths.iter().map(|kept| kept.path.clone()).collect();
    gitside::restore_index(scene.workspace, &super::noted(scene), &paths)?;
    if !again.is_empty() {
        settled.notes.push(format!(
            "something else stands there by now, and is left as it is (the hold has what was there before): {}",
            shown(&again).join(", ")
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
            if !stand.is_empty() {
                gitside::put_head_back(scene.workspace, &run.refs, &now)?;
            }
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
        if payload.root.is_none()
            && let Some(id) = &run.point
        {
            let point = vault::find(scene.env, scene.workspace, Some(id))?;
            payload.remove_new_dirs(scene.env, scene.workspace, &point)?;
            let paths: Vec<BString> = payload.paths.iter().map(|kept| kept.path.clone()).collect();
            gitside::restore_index(scene.workspace, &super::noted(scene), &paths)?;
        }
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
