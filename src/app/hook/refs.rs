//! `reference-transaction`: refs before they move, each trap of that hook in its place.
//!
//! Most calls are about nothing that anybody could lose. They are told by their
//! lines, the caller's command line and the ref files, without opening a
//! repository or reading a preference.

use super::commit;
use super::rebase;
use super::scene::Scene;
use crate::assess::refs::{self, Moved};
use crate::assess::staged;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::journal::{self, LogEntry, Outcome};
use crate::judge::{self, Action, RefChange, RefUpdate, Surface};
use crate::repo::Git;
use crate::repo::hooks::caller::Caller;
use crate::repo::hooks::fate;
use crate::repo::hooks::transaction::{self, FileRefs, Update, Value};
use crate::sys::{actor, out};
use crate::vault;
use bstr::{BString, ByteSlice as _};
use std::path::Path;

/// Judges a prepared transaction.
///
/// # Errors
/// When it cannot be judged; git then moves nothing.
pub(super) fn judge(input: &[u8], git_dir: &Path) -> Result<ExitStatus> {
    let mut updates = transaction::parse(input);
    updates.retain(concerns_somebody);
    if updates.is_empty() {
        return Ok(ExitStatus::Passed);
    }
    let caller = Caller::of_hook();
    let updates = that_matter(updates, caller.as_ref(), git_dir);
    if updates.is_empty() {
        return Ok(ExitStatus::Passed);
    }
    let scene = Scene::look(caller)?;
    if scene.would_show() {
        return Ok(ExitStatus::Passed);
    }
    if commits(scene.caller.as_ref()) {
        return unjudged_commit(&scene, &updates);
    }
    let moves = match scene.caller.as_ref().and_then(renamed) {
        Some(names) => overwritten_by_rename(&scene, names)?,
        None => moves(&scene, &updates)?,
    };
    if moves.is_empty() {
        return Ok(ExitStatus::Passed);
    }
    let note = note_of(&moves);
    if scene.marks.has(&note) {
        // The files backend shows each deletion twice.
        return Ok(ExitStatus::Passed);
    }
    if scene.caller.as_ref().is_some_and(Caller::loss_has_happened) {
        return too_late(&scene, &moves);
    }
    let facts = refs::facts(&moves, Surface::GitHook, scene.actor.clone());
    let status = scene.decide(&refs::action(&moves), facts)?;
    if status == ExitStatus::Passed {
        scene.marks.set(&note)?;
    } else if moves.iter().any(|moved| moved.update.name == "refs/stash") {
        // `stash drop` has emptied the list before it asks; the ref itself stays.
        out::note("  hint: what was stashed is still there: git stash apply refs/stash");
    } else if scene
        .caller
        .as_ref()
        .is_some_and(|caller| caller.is(&["rebase"]))
    {
        out::note(
            "  hint: the rebase stands still and nothing is lost; to go back: git rebase --abort",
        );
    }
    Ok(status)
}

/// Returns false for a line that nobody could lose anything by, whoever calls.
fn concerns_somebody(update: &Update) -> bool {
    !transaction::is_indifferent(&update.name)
        && !matches!(update.new, Value::Symbolic(_))
        // `0 0 REF` is how the files backend shows the first half of a deletion.
        && (update.old != update.new || update.new == Value::Zero)
}

/// The updates by which somebody could lose something, as far as can be told without a repository.
fn that_matter(mut updates: Vec<Update>, caller: Option<&Caller>, git_dir: &Path) -> Vec<Update> {
    if caller.is_some_and(|caller| caller.is(&["pack-refs", "gc", "maintenance", "repack"])) {
        return Vec::new();
    }
    let forward = caller.is_some_and(only_goes_forward);
    updates.retain(|update| {
        (!forward || update.new == Value::Zero)
            && (update.name != "HEAD" || caller.is_none_or(drops_detached_commits))
    });
    if updates.is_empty() {
        return updates;
    }
    if let Some(refs) = FileRefs::at(git_dir) {
        updates.retain(|update| match refs.current(update.name.as_ref()) {
            None => false,
            Some(now) => update.new != Value::Object(now) && !refs.is_prune(update),
        });
    }
    updates
}

/// Commands whose new values contain the old ones.
fn only_goes_forward(caller: &Caller) -> bool {
    caller.is(&[
        "merge",
        "cherry-pick",
        "revert",
        "am",
        "clone",
        "init",
        "stash",
        "notes",
    ]) && !caller.loss_has_happened()
}

/// Commands that take HEAD off commits which nothing else may keep; the others only visit.
fn drops_detached_commits(caller: &Caller) -> bool {
    caller.is(&["reset", "update-ref", "fast-import"]) || commits(Some(caller))
}

fn commits(caller: Option<&Caller>) -> bool {
    caller.is_some_and(|caller| caller.is(&["commit"]))
}

/// A commit that no earlier hook has judged: `prepare-commit-msg` was displaced, or is gone.
fn unjudged_commit(scene: &Scene, updates: &[Update]) -> Result<ExitStatus> {
    if scene.marks.has(commit::JUDGED) {
        return Ok(ExitStatus::Passed);
    }
    let Some(new) = updates.iter().find_map(|update| match &update.new {
        Value::Object(new) => Some(new.clone()),
        Value::Zero | Value::Symbolic(_) => None,
    }) else {
        return Ok(ExitStatus::Passed);
    };
    // HEAD still has its old value; an index of the new commit is the staged change.
    let index = scene
        .workspace
        .state
        .join(format!("index.{}.tmp", std::process::id()));
    scene.workspace.make_state()?;
    let read = Git::at(&scene.workspace)
        .env("GIT_INDEX_FILE", &index)
        .args(["read-tree", &new])
        .read();
    let action = read.and_then(|_| staged::action(&scene.workspace, &index, &[], &scene.policy));
    let _ = std::fs::remove_file(&index);
    let action = action?;
    let Action::StagedChange { changes } = &action else {
        return Ok(ExitStatus::Passed);
    };
    let mut facts = staged::facts(
        &scene.env,
        &scene.workspace,
        changes,
        Surface::GitHook,
        scene.actor.clone(),
    )?;
    let rewrites = scene
        .caller
        .as_ref()
        .is_some_and(|caller| caller.has(None, "amend"));
    if rewrites {
        for moved in moves(scene, updates)? {
            facts.effects.push(refs::effect(&moved));
        }
    }
    let status = scene.decide(&action, facts)?;
    if status == ExitStatus::Passed {
        scene.marks.set(commit::JUDGED)?;
    }
    Ok(status)
}

/// The updates that are no plain step forward, with what becomes of their commits.
fn moves(scene: &Scene, updates: &[Update]) -> Result<Vec<Moved>> {
    let workspace = &scene.workspace;
    let branch = transaction::branch(workspace)?;
    let mut moving: Vec<BString> = updates.iter().map(|update| update.name.clone()).collect();
    if branch
        .as_ref()
        .is_some_and(|branch| moving.contains(branch))
    {
        moving.push("HEAD".into());
    }
    let mut moves = Vec::new();
    for update in updates {
        // HEAD follows its branch, which has a line of its own.
        if update.name == "HEAD" && branch.is_some() {
            continue;
        }
        let Some(old) = transaction::current(workspace, update.name.as_ref())? else {
            continue;
        };
        if scene.marks.has_lasting(&rebase::judged(&old)) && in_rebase(scene.caller.as_ref()) {
            continue;
        }
        let new = match &update.new {
            Value::Object(new) if *new == old => continue,
            Value::Object(new) => Some(new.as_str()),
            Value::Zero => None,
            Value::Symbolic(_) => continue,
        };
        if update.name == "refs/stash" && applied(scene.caller.as_ref()) {
            continue;
        }
        let fate = fate::of(workspace, &old, new, &moving)?;
        if matches!(fate.change, RefChange::FastForward) {
            continue;
        }
        moves.push(Moved {
            update: RefUpdate {
                name: update.name.clone(),
                change: fate.change,
                old,
                new: match new {
                    Some(new) => lasting_name(scene, new, &moving)?,
                    None => String::new(),
                },
            },
            fate,
        });
    }
    Ok(moves)
}

/// A new value under a name that a repetition of the same command has too: a
/// commit made just now gets another id each time, its tree does not.
fn lasting_name(scene: &Scene, new: &str, moving: &[BString]) -> Result<String> {
    let (fresh, _) = fate::unreached(&scene.workspace, new, None, moving)?;
    if fresh.is_empty() {
        return Ok(new.to_owned());
    }
    Ok(fate::tree_of(&scene.workspace, new)?
        .map_or_else(|| new.to_owned(), |tree| format!("tree {tree}")))
}

/// The branches of a `branch -m`; the first is `None` for the current one.
fn renamed(caller: &Caller) -> Option<(Option<&str>, &str)> {
    let moves =
        caller.is(&["branch"]) && (caller.has(Some('m'), "move") || caller.has(Some('M'), "move"));
    let names: Vec<&str> = caller
        .args
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    match names.as_slice() {
        _ if !moves => None,
        [new] => Some((None, new)),
        [old, new] => Some((Some(old), new)),
        _ => None,
    }
}

/// The branch in whose place another is renamed.
///
/// Git deletes both and then writes the new one; refusing the second deletion
/// would leave HEAD without a branch, so the first one answers for all.
fn overwritten_by_rename(scene: &Scene, (old, new): (Option<&str>, &str)) -> Result<Vec<Moved>> {
    let workspace = &scene.workspace;
    let from = match old {
        Some(old) => BString::from(format!("refs/heads/{old}")),
        None => transaction::branch(workspace)?.unwrap_or_else(|| "HEAD".into()),
    };
    let name = BString::from(format!("refs/heads/{new}"));
    let source = transaction::current(workspace, from.as_ref())?;
    let victim = transaction::current(workspace, name.as_ref())?;
    let (Some(source), Some(victim)) = (source, victim) else {
        return Ok(Vec::new());
    };
    if from == name || source == victim {
        return Ok(Vec::new());
    }
    let fate = fate::of(
        workspace,
        &victim,
        Some(&source),
        std::slice::from_ref(&name),
    )?;
    if fate.change == RefChange::FastForward {
        return Ok(Vec::new());
    }
    Ok(vec![Moved {
        update: RefUpdate {
            name,
            change: fate.change,
            old: victim,
            new: source,
        },
        fate,
    }])
}

fn in_rebase(caller: Option<&Caller>) -> bool {
    caller.is_some_and(|caller| caller.is(&["rebase", "pull", "am"]))
}

/// `stash pop` drops the entry that it has put back.
fn applied(caller: Option<&Caller>) -> bool {
    caller.is_some_and(|caller| {
        caller.is(&["stash"])
            && caller
                .args
                .first()
                .is_some_and(|word| word == "pop" || word == "branch")
    })
}

fn note_of(moves: &[Moved]) -> String {
    format!("refs-{}", refs::action(moves).digest())
}

/// Git has already overwritten files: refusing now would only leave HEAD behind them.
fn too_late(scene: &Scene, moves: &[Moved]) -> Result<ExitStatus> {
    let facts = refs::facts(moves, Surface::GitHook, scene.actor.clone());
    if facts.effects.iter().all(|effect| effect.loses.is_empty()) {
        return Ok(ExitStatus::Passed);
    }
    let request = vault::Request::new(vault::AFTER_LOSS, scene.actor.clone())
        .message(scene.caller.as_ref().map(|caller| caller.text.to_string()));
    let point = vault::save(&scene.env, &scene.workspace, &request)?
        .point
        .id;
    let verdict = judge::judge(&facts, &scene.policy);
    let entry = LogEntry::new("report")
        .verdict(&verdict)
        .action(refs::action(moves).summary())
        .actor(&scene.actor)
        .session(actor::session(&scene.env))
        .safety_point(Some(point.as_str()))
        .context("surface", Surface::GitHook)
        .context("too_late", true)
        .outcome(Outcome::Success);
    journal::append(&scene.env, &scene.workspace, entry)?;
    if scene.policy.observe {
        return Ok(ExitStatus::Passed);
    }
    for moved in moves.iter().filter(|moved| !moved.fate.lost.is_empty()) {
        let short = moved.update.old.get(..10).unwrap_or(&moved.update.old);
        out::note(format!(
            "holdpoint: {} left {} behind on {}; it was too late to hold it\n  back    git branch rescued {short}, or: holdpoint rollback {point} --refs",
            scene
                .caller
                .as_ref()
                .map_or("this", |caller| caller.subcommand.as_str()),
            moved.fate.lost.first().map_or("commits", String::as_str),
            moved.update.name.as_bstr(),
        ));
    }
    Ok(ExitStatus::Passed)
}
