//! Says what a change of the Contract amounts to (SPEC §2, rules `contract.*`).

use super::pattern::PathPattern;
use super::{Contract, Section};
use crate::judge::{ContractClass, Priority, Risk};

/// One thing that a change of the Contract does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it amounts to.
    pub class: ContractClass,
    /// In one clause a person understands.
    pub what: String,
}

/// Compares two Contracts; empty when nothing that either enforces or says differs.
#[must_use]
pub fn classify(before: Option<&Contract>, after: Option<&Contract>) -> Vec<Change> {
    match (before, after) {
        (None, None) => Vec::new(),
        (None, Some(_)) => vec![change(
            ContractClass::Create,
            "a Contract where there was none",
        )],
        (Some(before), None) => {
            if before.enforces_nothing() && before.notes.is_empty() {
                vec![change(
                    ContractClass::Detail,
                    "an empty Contract is removed",
                )]
            } else {
                vec![change(ContractClass::Relax, "the Contract is removed")]
            }
        }
        (Some(before), Some(after)) => compare(before, after),
    }
}

fn change(class: ContractClass, what: impl Into<String>) -> Change {
    Change {
        class,
        what: what.into(),
    }
}

fn compare(before: &Contract, after: &Contract) -> Vec<Change> {
    let mut changes = Vec::new();
    in_scope(before, after, &mut changes);
    restricting(Section::OutOfScope, before, after, &mut changes);
    restricting(Section::MustNotChange, before, after, &mut changes);
    forbidden(before, after, &mut changes);
    notes(before, after, &mut changes);
    front_matter(before, after, &mut changes);
    changes
}

fn in_scope(before: &Contract, after: &Contract, changes: &mut Vec<Change>) {
    let (old, new) = (&before.in_scope, &after.in_scope);
    if texts(old) == texts(new) {
        return;
    }
    if old.is_empty() {
        changes.push(change(
            ContractClass::Detail,
            "In Scope now names paths, so less may change",
        ));
        return;
    }
    if new.is_empty() {
        changes.push(change(
            ContractClass::Scope,
            "In Scope no longer names a path, so everything may change",
        ));
        return;
    }
    for pattern in added(old, new) {
        let class = if pattern.is_negative() || old.iter().any(|old| old.contains(pattern)) {
            ContractClass::Detail
        } else {
            ContractClass::Scope
        };
        changes.push(change(class, format!("In Scope gains {}", pattern.text)));
    }
    for pattern in added(new, old) {
        let class = if pattern.is_negative() {
            ContractClass::Scope
        } else if contradicts(before, pattern) {
            ContractClass::FixConflict
        } else {
            ContractClass::Detail
        };
        changes.push(change(class, format!("In Scope loses {}", pattern.text)));
    }
    reordered(Section::InScope, old, new, changes);
}

/// Compares a list that takes paths away: what leaves it may change from now on.
fn restricting(section: Section, before: &Contract, after: &Contract, changes: &mut Vec<Change>) {
    let (old, new, looser) = match section {
        Section::MustNotChange => (&before.frozen, &after.frozen, ContractClass::Relax),
        _ => (
            &before.out_of_scope,
            &after.out_of_scope,
            ContractClass::Scope,
        ),
    };
    let heading = section.heading();
    for pattern in added(old, new) {
        let class = if pattern.is_negative() {
            looser
        } else {
            ContractClass::Detail
        };
        changes.push(change(class, format!("{heading} gains {}", pattern.text)));
    }
    for pattern in added(new, old) {
        let covered = new.iter().any(|new| new.contains(pattern));
        let class = if pattern.is_negative() || covered {
            ContractClass::Detail
        } else if section == Section::OutOfScope
            && before.in_scope.iter().any(|own| own.text == pattern.text)
        {
            ContractClass::FixConflict
        } else {
            looser
        };
        changes.push(change(class, format!("{heading} loses {}", pattern.text)));
    }
    reordered(section, old, new, changes);
}

/// Where exceptions exist the order decides, so that a new order may be a new scope.
fn reordered(
    section: Section,
    old: &[PathPattern],
    new: &[PathPattern],
    changes: &mut Vec<Change>,
) {
    let exceptions = old.iter().chain(new).any(PathPattern::is_negative);
    let same_set = added(old, new).is_empty() && added(new, old).is_empty();
    if exceptions && same_set && texts(old) != texts(new) {
        changes.push(change(
            if section == Section::MustNotChange {
                ContractClass::Relax
            } else {
                ContractClass::Scope
            },
            format!(
                "{} is in another order, which moves its exceptions",
                section.heading()
            ),
        ));
    }
}

/// A path that is in scope and taken out of it at once.
fn contradicts(contract: &Contract, pattern: &PathPattern) -> bool {
    contract
        .out_of_scope
        .iter()
        .chain(&contract.frozen)
        .any(|other| other.text == pattern.text)
}

fn forbidden(before: &Contract, after: &Contract, changes: &mut Vec<Change>) {
    for old in &before.forbidden {
        if !after.forbidden.iter().any(|new| new.text == old.text) {
            changes.push(change(
                ContractClass::Relax,
                format!("Forbidden Patterns loses {}", old.text),
            ));
        }
    }
    for new in &after.forbidden {
        if !before.forbidden.iter().any(|old| old.text == new.text) {
            changes.push(change(
                ContractClass::Detail,
                format!("Forbidden Patterns gains {}", new.text),
            ));
        }
    }
}

fn notes(before: &Contract, after: &Contract, changes: &mut Vec<Change>) {
    let has = |contract: &Contract, note: &super::Note| {
        contract
            .notes
            .iter()
            .any(|other| other.section == note.section && other.text == note.text)
    };
    for note in before.notes.iter().filter(|note| !has(after, note)) {
        // Wording under a path section enforces nothing; a constraint or an
        // acceptance criterion is agreed even though no program checks it.
        let class = match note.section {
            Section::Constraints | Section::Acceptance => ContractClass::Relax,
            Section::InScope
            | Section::OutOfScope
            | Section::MustNotChange
            | Section::ForbiddenPatterns => ContractClass::Detail,
        };
        changes.push(change(
            class,
            format!("{} loses \"{}\"", note.section.heading(), note.text),
        ));
    }
    for note in after.notes.iter().filter(|note| !has(before, note)) {
        changes.push(change(
            ContractClass::Detail,
            format!("{} gains \"{}\"", note.section.heading(), note.text),
        ));
    }
}

fn front_matter(before: &Contract, after: &Contract, changes: &mut Vec<Change>) {
    if before.priority != after.priority {
        let (old, new) = (
            before.priority.unwrap_or_default(),
            after.priority.unwrap_or_default(),
        );
        // Only an emergency lowers levels, and only an exploration lifts them.
        let class = if old != new && (new == Priority::P0 || old == Priority::P3) {
            ContractClass::Relax
        } else {
            ContractClass::Detail
        };
        changes.push(change(class, format!("priority {old:?} becomes {new:?}")));
    }
    if before.risk != after.risk {
        let (old, new) = (
            before.risk.unwrap_or_default(),
            after.risk.unwrap_or_default(),
        );
        let class = if old == Risk::High && new < old {
            ContractClass::Relax
        } else {
            ContractClass::Detail
        };
        changes.push(change(class, format!("risk {old:?} becomes {new:?}")));
    }
    if before.expires != after.expires {
        let later = match (before.expires, after.expires) {
            (Some(old), Some(new)) => new > old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        changes.push(if later {
            change(ContractClass::Relax, "the Contract holds for longer")
        } else {
            change(ContractClass::Detail, "the Contract expires earlier")
        });
    }
}

fn texts(patterns: &[PathPattern]) -> Vec<&str> {
    patterns
        .iter()
        .map(|pattern| pattern.text.as_str())
        .collect()
}

/// Patterns of `new` that `old` does not have.
fn added<'a>(old: &[PathPattern], new: &'a [PathPattern]) -> Vec<&'a PathPattern> {
    new.iter()
        .filter(|pattern| !old.iter().any(|other| other.text == pattern.text))
        .collect()
}
