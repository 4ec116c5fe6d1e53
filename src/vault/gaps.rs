//! Keeps a point's list of what it does not hold short. Pure.
//!
//! A workspace may have tens of thousands of ignored files that no point holds;
//! each is in the point's trees. Its record names them one by one only while
//! that is a list that a person or a gate can go through.

use super::point::NotHeld;
use super::tree::Why;
use bstr::{BString, ByteSlice as _};
use std::collections::HashMap;

/// A longer list is folded.
const MOST: usize = 1000;

/// Names directories instead of the many ignored paths in them, where the list is long.
///
/// What is not expected to be missing is always named by itself.
pub(super) fn fold(mut gaps: Vec<NotHeld>) -> Vec<NotHeld> {
    for few in [16, 2] {
        if gaps.len() <= MOST {
            break;
        }
        gaps = fold_once(gaps, few);
    }
    gaps
}

fn fold_once(gaps: Vec<NotHeld>, few: usize) -> Vec<NotHeld> {
    let mut counts: HashMap<(BString, &'static str), usize> = HashMap::new();
    for gap in &gaps {
        if let Some(dir) = parent(gap) {
            *counts.entry((dir, gap.why.words())).or_default() += 1;
        }
    }
    let mut folded: Vec<NotHeld> = Vec::new();
    let mut places: HashMap<(BString, &'static str), usize> = HashMap::new();
    for gap in gaps {
        let key = parent(&gap).map(|dir| (dir, gap.why.words()));
        match key.filter(|key| counts.get(key).is_some_and(|count| *count > few)) {
            Some(key) => {
                let place = *places.entry(key.clone()).or_insert_with(|| {
                    folded.push(NotHeld {
                        path: key.0,
                        why: gap.why,
                        count: 0,
                    });
                    folded.len() - 1
                });
                if let Some(sum) = folded.get_mut(place) {
                    sum.count += gap.count;
                }
            }
            None => folded.push(gap),
        }
    }
    folded.sort_by(|a, b| a.path.cmp(&b.path));
    folded
}

/// The directory that may stand for a gap; the top may not, for it would stand for everything.
fn parent(gap: &NotHeld) -> Option<BString> {
    is_expected(gap.why)
        .then(|| gap.path.rfind_byte(b'/'))
        .flatten()
        .and_then(|at| gap.path.get(..at))
        .map(BString::from)
}

/// What a reason means where a path is named as not held.
#[must_use]
pub(super) fn is_expected(why: Why) -> bool {
    matches!(why, Why::BulkyIgnored | Why::LargeIgnored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::Why;

    fn gap(path: String, why: Why) -> NotHeld {
        NotHeld {
            path: path.into(),
            why,
            count: 1,
        }
    }

    #[test]
    fn a_long_list_names_directories() {
        let mut gaps: Vec<NotHeld> = (0..50_000)
            .map(|n| gap(format!("out/d{}/f{n}", n % 40), Why::LargeIgnored))
            .collect();
        gaps.push(gap("out/d1/secret".to_owned(), Why::Unreadable));
        gaps.push(gap("target".to_owned(), Why::BulkyIgnored));
        let folded = fold(gaps);
        assert_eq!(folded.len(), 42);
        assert_eq!(folded.iter().map(|gap| gap.count).sum::<usize>(), 50_002);
        assert!(folded.iter().any(|gap| gap.path == "out/d1/secret"));
    }

    #[test]
    fn a_short_list_stays_as_it_is() {
        let gaps = vec![gap("a/b".to_owned(), Why::LargeIgnored); 500];
        assert_eq!(fold(gaps.clone()), gaps);
    }
}
