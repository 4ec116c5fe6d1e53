//! Batches: similar pending decisions that a person may settle together (SPEC §2, "Batches").

use super::level::Level;
use super::rule::RuleId;
use jiff::{SignedDuration, Timestamp};

/// Least number of decisions that form a batch.
const LEAST: usize = 3;

/// Longest time between the first and the last of a batch.
const WINDOW: SignedDuration = SignedDuration::from_mins(5);

/// Average similarity above which decisions form a batch.
const SIMILAR: f64 = 0.8;

/// One pending decision, as far as batches look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its hold's id.
    pub id: String,
    /// Its level.
    pub level: Level,
    /// Its deciding rule.
    pub rule: RuleId,
    /// What it is about.
    pub subject: String,
    /// The way out that was suggested.
    pub remedy: String,
    /// When it came up.
    pub at: Timestamp,
    /// True for deletions and what cannot be undone: never part of a batch.
    pub alone: bool,
}

/// How similar two decisions are, from 0 to 1: same rule 0.4, similar subject 0.3, same remedy 0.3.
#[must_use]
pub fn similarity(a: &Pending, b: &Pending) -> f64 {
    let mut sum = 0.0;
    if a.rule == b.rule {
        sum += 0.4;
    }
    if edit_similarity(&a.subject, &b.subject) > 0.8 {
        sum += 0.3;
    }
    if a.remedy == b.remedy {
        sum += 0.3;
    }
    sum
}

/// Groups pending decisions into batches; what fits no batch is left out.
///
/// `high_risk` switches batches off.
#[must_use]
pub fn batches(pending: &[Pending], high_risk: bool) -> Vec<Vec<Pending>> {
    if high_risk {
        return Vec::new();
    }
    let mut left: Vec<&Pending> = pending.iter().filter(|one| !one.alone).collect();
    left.sort_by_key(|one| one.at);
    let mut batches = Vec::new();
    while !left.is_empty() {
        let first = left.remove(0);
        let mut group = vec![first];
        left.retain(|other| {
            let fits = other.level == first.level
                && other.at.duration_since(first.at) <= WINDOW
                && group.iter().map(|one| similarity(one, other)).sum::<f64>()
                    > SIMILAR * as_float(group.len());
            if fits {
                group.push(other);
            }
            !fits
        });
        if group.len() >= LEAST {
            batches.push(group.into_iter().cloned().collect());
        }
    }
    batches
}

/// Average similarity of all pairs; 1 for fewer than two.
#[must_use]
pub fn average(group: &[Pending]) -> f64 {
    let mut sum = 0.0;
    let mut pairs = 0;
    for (index, a) in group.iter().enumerate() {
        for b in group.iter().skip(index + 1) {
            sum += similarity(a, b);
            pairs += 1;
        }
    }
    if pairs == 0 {
        1.0
    } else {
        sum / as_float(pairs)
    }
}

fn as_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

/// 1 − edit distance ÷ length of the longer text.
fn edit_similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longest = a.len().max(b.len());
    if longest == 0 {
        return 1.0;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let (mut before, mut left) = (i, i + 1);
        for (slot, y) in row.iter_mut().skip(1).zip(&b) {
            let here = (before + usize::from(x != y)).min(left + 1).min(*slot + 1);
            before = *slot;
            *slot = here;
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    1.0 - as_float(row.last().copied().unwrap_or_default()) / as_float(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(id: &str, subject: &str, second: i64) -> Pending {
        Pending {
            id: id.to_owned(),
            level: Level::Confirm,
            rule: RuleId::FileConfig,
            subject: subject.to_owned(),
            remedy: "keep it".to_owned(),
            at: Timestamp::from_second(1_800_000_000 + second).expect("a time"),
            alone: false,
        }
    }

    fn ids(batches: &[Vec<Pending>]) -> Vec<Vec<&str>> {
        batches
            .iter()
            .map(|batch| batch.iter().map(|one| one.id.as_str()).collect())
            .collect()
    }

    #[test]
    fn three_alike_within_five_minutes_form_a_batch() {
        let pending = [
            one("a", "config/app-1.toml", 0),
            one("b", "config/app-2.toml", 100),
            one("c", "config/app-3.toml", 300),
        ];
        assert_eq!(ids(&batches(&pending, false)), [["a", "b", "c"]]);
        assert!((average(&pending) - 1.0).abs() < 1e-9);
        assert!(batches(&pending, true).is_empty());
        assert!(batches(&pending[..2], false).is_empty());
    }

    #[test]
    fn what_is_late_other_or_irreversible_stays_out() {
        let mut pending = vec![
            one("a", "config/app-1.toml", 0),
            one("b", "config/app-2.toml", 1),
            one("late", "config/app-3.toml", 301),
            one("far", "Dockerfile", 2),
        ];
        assert!(batches(&pending, false).is_empty());
        pending.push(one("c", "config/app-4.toml", 3));
        assert_eq!(ids(&batches(&pending, false)), [["a", "b", "c"]]);
        for change in [
            (|one: &mut Pending| one.alone = true) as fn(&mut Pending),
            |one| one.level = Level::MustAsk,
            |one| one.rule = RuleId::FileRename,
        ] {
            let mut other = pending.clone();
            change(other.last_mut().expect("one"));
            assert!(batches(&other, false).is_empty());
        }
    }

    #[test]
    fn similarity_weighs_rule_subject_and_remedy() {
        let a = one("a", "config/app-1.toml", 0);
        let mut b = one("b", "config/app-2.toml", 0);
        assert!((similarity(&a, &b) - 1.0).abs() < 1e-9);
        b.remedy = "other".to_owned();
        assert!((similarity(&a, &b) - 0.7).abs() < 1e-9);
        b.rule = RuleId::FileRename;
        assert!((similarity(&a, &b) - 0.3).abs() < 1e-9);
        b.subject = "x".to_owned();
        assert!(similarity(&a, &b).abs() < 1e-9);
    }
}
