//! Refs that move, as facts: which commits would be lost, and which were only moved past.

use crate::judge::{
    Action, Actor, Coverage, Effect, EffectKind, Facts, GitClass, Losses, RefChange, RefUpdate,
    Surface,
};
use crate::repo::hooks::fate::Fate;
use bstr::{BString, ByteSlice as _};

/// One ref and what becomes of the commits behind it.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The move.
    pub update: RefUpdate,
    /// Its consequences.
    pub fate: Fate,
}

/// The action of a set of moves, to which a confirmation is bound.
#[must_use]
pub fn action(moves: &[Moved]) -> Action {
    Action::RefUpdates {
        updates: moves.iter().map(|moved| moved.update.clone()).collect(),
    }
}

/// The facts of a set of moves.
#[must_use]
pub fn facts(moves: &[Moved], surface: Surface, actor: Actor) -> Facts {
    Facts {
        surface,
        actor,
        effects: moves.iter().map(effect).collect(),
        coverage: Coverage::NotTaken,
    }
}

/// The effect of one move on git's own state.
#[must_use]
pub fn effect(moved: &Moved) -> Effect {
    let name = short(&moved.update.name);
    let fate = &moved.fate;
    let lossy = !fate.lost.is_empty() || fate.tag_lost;
    let is_stash = moved.update.name == "refs/stash";
    let class = if is_stash {
        GitClass::Discard
    } else {
        GitClass::History
    };
    let evidence = match (fate.change, lossy) {
        (RefChange::Create | RefChange::FastForward | RefChange::Symbolic, _) => {
            "nothing is lost".to_owned()
        }
        (_, true) if is_stash => "what is stashed would be dropped".to_owned(),
        (RefChange::Delete, true) => format!("deleting it would lose {}", lost(fate)),
        (RefChange::Rewrite, true) => format!("moving it would lose {}", lost(fate)),
        (RefChange::Delete, false) => {
            "it goes away, and its commits stay reachable elsewhere".to_owned()
        }
        (RefChange::Rewrite, false) => {
            "it moves back, and its commits stay reachable elsewhere".to_owned()
        }
    };
    Effect::new(EffectKind::Git { class, lossy }, name)
        .because(evidence)
        .losing(Losses {
            files: Vec::new(),
            commits: fate.lost.clone(),
            refs: if lossy {
                vec![moved.update.name.clone()]
            } else {
                Vec::new()
            },
            more: fate.more,
        })
}

fn lost(fate: &Fate) -> String {
    let count = fate.lost.len();
    match fate.lost.first() {
        None => "its annotated tag".to_owned(),
        Some(only) if count == 1 && !fate.more => format!("the commit {only}"),
        Some(first) => {
            let more = if fate.more { "more than " } else { "" };
            format!("{more}{count} commits that nothing else keeps, the last of them {first}")
        }
    }
}

/// A ref's name as people say it.
fn short(name: &BString) -> BString {
    ["refs/heads/", "refs/tags/"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix.as_bytes()))
        .unwrap_or(name)
        .as_bstr()
        .to_owned()
}
