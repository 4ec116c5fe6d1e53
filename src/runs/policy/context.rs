//! Priority, complexity and risk of the task at hand, as factors on time and retries.
//!
//! Source: SPEC §2 modifier 3 and its table of contexts.

use crate::judge::{Priority, Risk, TaskContext};

/// What a context does to time limits and retries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Time limits are multiplied by this.
    pub time: f64,
    /// Allowed retries are multiplied by this, rounded down; 0 forbids them.
    pub retries: f64,
}

/// The factors of a context; high risk wins over the priority for retries.
#[must_use]
pub fn factors(context: TaskContext) -> Factors {
    let by_priority = match context.priority {
        Priority::P0 => Factors {
            time: 0.5,
            retries: 2.0,
        },
        Priority::P1 | Priority::P2 => Factors {
            time: 1.0,
            retries: 1.0,
        },
        Priority::P3 => Factors {
            time: 1.5,
            retries: 0.5,
        },
    };
    match context.risk {
        Risk::High => Factors {
            retries: 0.0,
            ..by_priority
        },
        Risk::Low | Risk::Medium => by_priority,
    }
}

impl Factors {
    /// A number of allowed retries under this context.
    #[must_use]
    pub fn retries(self, allowed: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small, non-negative, and rounded down on purpose"
        )]
        let scaled = (f64::from(allowed) * self.retries).floor() as u32;
        scaled
    }
}

/// Words of a task that make it an emergency.
const URGENT: &[&str] = &[
    "urgent",
    "critical",
    "production",
    "outage",
    "紧急",
    "线上",
    "故障",
];

/// Words of a task that make it an exploration.
const EXPLORING: &[&str] = &["explore", "experiment", "research", "探索", "实验", "调研"];

/// The priority that a task's words ask for; `None` where they ask for none.
///
/// An emergency is told by a whole word, so that "uncritical" or "reproduction" is none.
#[must_use]
pub fn priority_of(task: &str) -> Option<Priority> {
    let lower = task.to_lowercase();
    let has = |words: &[&str]| {
        words.iter().any(|word| {
            if word.is_ascii() {
                lower
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .any(|said| said == *word)
            } else {
                lower.contains(word)
            }
        })
    };
    if has(URGENT) {
        Some(Priority::P0)
    } else if has(EXPLORING) {
        Some(Priority::P3)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_set_the_priority() {
        for (task, expected) in [
            ("Fix the URGENT login bug", Some(Priority::P0)),
            ("production: 500s", Some(Priority::P0)),
            ("修复线上故障", Some(Priority::P0)),
            ("explore another layout", Some(Priority::P3)),
            ("调研缓存方案", Some(Priority::P3)),
            ("urgent research", Some(Priority::P0)),
            ("reproduction of an uncritical bug", None),
            ("", None),
        ] {
            assert_eq!(priority_of(task), expected, "{task}");
        }
    }

    #[test]
    fn contexts_scale_time_and_retries() {
        for (priority, risk, time, retries_of_three) in [
            (Priority::P0, Risk::Low, 0.5, 6),
            (Priority::P1, Risk::Medium, 1.0, 3),
            (Priority::P2, Risk::Low, 1.0, 3),
            (Priority::P3, Risk::Low, 1.5, 1),
            (Priority::P2, Risk::High, 1.0, 0),
            (Priority::P0, Risk::High, 0.5, 0),
        ] {
            let factors = factors(TaskContext { priority, risk });
            assert!((factors.time - time).abs() < f64::EPSILON);
            assert_eq!(
                factors.retries(3),
                retries_of_three,
                "{priority:?} {risk:?}"
            );
        }
    }
}
