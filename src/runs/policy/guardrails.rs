//! Whether an agent goes round in circles, from what its tools did (SPEC §8, guardrails).
//!
//! Agents' after-call hooks record [`Seen`] events; this file only counts them.
//! A notice is itself an event: what it complained of is not counted again.

use crate::judge::RuleId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One thing that an agent's tool did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What an agent's tool did, as far as circles are concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// A file was read.
    Read {
        /// Which.
        path: String,
    },
    /// Something was searched for.
    Searched,
    /// A tool did something new.
    Worked {
        /// Which.
        tool: String,
    },
    /// A tool failed.
    Failed {
        /// Which.
        tool: String,
        /// How.
        error: String,
    },
    /// The agent was told that it goes round in circles.
    Noticed {
        /// By which rule.
        rule: RuleId,
    },
}

/// How much is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Reads of one file within the window.
    pub reads: u64,
    /// Seconds over which reads are counted.
    pub read_window: u64,
    /// Failures of one tool in a row with the same error.
    pub failures: u64,
    /// Searches within the window, above which a notice is due.
    pub searches: u64,
    /// Seconds over which searches are counted.
    pub search_window: u64,
    /// Seconds without anything new.
    pub no_progress: u64,
}

/// What the agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// By which rule.
    pub rule: RuleId,
    /// The file, for rereads.
    pub file: Option<String>,
    /// The tool, for failures.
    pub tool: Option<String>,
    /// How often, or for how many seconds.
    pub count: u64,
    /// True where the agent has to stop, false where it is only advised.
    pub stop: bool,
    /// The words.
    pub text: String,
}

/// Looks at what an agent did, oldest first, and says what it has to be told at `now`.
#[must_use]
pub fn judge(seen: &[Seen], now: Timestamp, limits: Limits) -> Option<Notice> {
    failures(seen, limits)
        .or_else(|| rereads(seen, now, limits))
        .or_else(|| searches(seen, now, limits))
        .or_else(|| no_progress(seen, now, limits))
}

/// What came after the last notice by this rule, within the window.
fn since(seen: &[Seen], rule: RuleId, now: Timestamp, window: u64) -> &[Seen] {
    let told = seen
        .iter()
        .rposition(|seen| matches!(seen.what, What::Noticed { rule: told } if told == rule))
        .map_or(0, |at| at + 1);
    let recent = seen
        .iter()
        .position(|seen| seconds(seen.at, now) <= window)
        .unwrap_or(seen.len());
    seen.get(told.max(recent)..).unwrap_or_default()
}

fn seconds(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_second() - from.as_second()).unwrap_or(0)
}

fn failures(seen: &[Seen], limits: Limits) -> Option<Notice> {
    let told = seen
        .iter()
        .rposition(|seen| {
            matches!(
                seen.what,
                What::Noticed {
                    rule: RuleId::StuckFailures
                }
            )
        })
        .map_or(0, |at| at + 1);
    let recent = seen.get(told..)?;
    let What::Failed { tool, error } = &recent.last()?.what else {
        return None;
    };
    let mut errors = Vec::new();
    for seen in recent.iter().rev() {
        match &seen.what {
            What::Failed {
                tool: same,
                error: again,
            } if same == tool => {
                if again != error {
                    break;
                }
                errors.push(again.as_str());
            }
            What::Worked { tool: same } if same == tool => break,
            _ => {}
        }
    }
    let count = errors.len() as u64;
    (limits.failures > 0 && count >= limits.failures).then(|| Notice {
        rule: RuleId::StuckFailures,
        file: None,
        tool: Some(tool.clone()),
        count,
        stop: true,
        text: format!(
            "{tool} failed {count} times in a row with the same error: {}. Stop trying the same thing. Say what you tried and what you saw, and ask a person how to go on",
            first_line(error)
        ),
    })
}

fn rereads(seen: &[Seen], now: Timestamp, limits: Limits) -> Option<Notice> {
    let recent = since(seen, RuleId::StuckRereads, now, limits.read_window);
    let What::Read { path } = &recent.last()?.what else {
        return None;
    };
    let count = recent
        .iter()
        .filter(|seen| matches!(&seen.what, What::Read { path: same } if same == path))
        .count() as u64;
    (limits.reads > 0 && count >= limits.reads).then(|| Notice {
        rule: RuleId::StuckRereads,
        file: Some(path.clone()),
        tool: None,
        count,
        stop: true,
        text: format!(
            "you have read {path} {count} times within {}. Stop reading it; say what you are looking for, or decide with what you know",
            minutes(limits.read_window)
        ),
    })
}

fn searches(seen: &[Seen], now: Timestamp, limits: Limits) -> Option<Notice> {
    let recent = since(seen, RuleId::StuckSearches, now, limits.search_window);
    let count = recent
        .iter()
        .filter(|seen| seen.what == What::Searched)
        .count() as u64;
    (limits.searches > 0 && count > limits.searches).then(|| Notice {
        rule: RuleId::StuckSearches,
        file: None,
        tool: None,
        count,
        stop: false,
        text: format!(
            "{count} searches within {}. Narrow the question, or ask a person where to look",
            minutes(limits.search_window)
        ),
    })
}

fn no_progress(seen: &[Seen], now: Timestamp, limits: Limits) -> Option<Notice> {
    let moved = |seen: &&Seen| {
        matches!(
            seen.what,
            What::Worked { .. }
                | What::Noticed {
                    rule: RuleId::StuckNoProgress
                }
        )
    };
    let last = seen.iter().rev().find(moved).or_else(|| seen.first())?;
    let idle = seconds(last.at, now);
    (limits.no_progress > 0 && idle >= limits.no_progress).then(|| Notice {
        rule: RuleId::StuckNoProgress,
        file: None,
        tool: None,
        count: idle,
        stop: false,
        text: format!(
            "nothing has changed for {}: no file, no command that worked. Say where you are, and ask a person if you are stuck",
            minutes(idle)
        ),
    })
}

fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("no words")
}

fn minutes(seconds: u64) -> String {
    match seconds / 60 {
        0 => format!("{seconds} seconds"),
        1 => "a minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Seen, What, judge};
    use crate::judge::RuleId;
    use jiff::Timestamp;

    const LIMITS: Limits = Limits {
        reads: 5,
        read_window: 300,
        failures: 3,
        searches: 20,
        search_window: 600,
        no_progress: 600,
    };

    fn at(second: i64, what: What) -> Seen {
        Seen {
            at: time(second),
            what,
        }
    }

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    fn read(path: &str) -> What {
        What::Read {
            path: path.to_owned(),
        }
    }

    fn failed(tool: &str, error: &str) -> What {
        What::Failed {
            tool: tool.to_owned(),
            error: error.to_owned(),
        }
    }

    fn worked(tool: &str) -> What {
        What::Worked {
            tool: tool.to_owned(),
        }
    }

    fn rule(seen: &[Seen]) -> Option<RuleId> {
        let now = seen.last().expect("an event").at;
        judge(seen, now, LIMITS).map(|notice| notice.rule)
    }

    #[test]
    fn the_fifth_read_of_a_file_in_five_minutes_is_one_too_many() {
        let mut seen: Vec<Seen> = (0..5).map(|n| at(n * 10, read("a"))).collect();
        assert_eq!(rule(&seen[..4]), None);
        assert_eq!(rule(&seen), Some(RuleId::StuckRereads));
        seen.push(at(
            41,
            What::Noticed {
                rule: RuleId::StuckRereads,
            },
        ));
        seen.push(at(42, read("a")));
        assert_eq!(rule(&seen), None, "once told, counted anew");
        let slow: Vec<Seen> = (0..5).map(|n| at(n * 100, read("a"))).collect();
        assert_eq!(rule(&slow), None, "the first is out of the window");
        let mixed: Vec<Seen> = (0..5).map(|n| at(n, read(&n.to_string()))).collect();
        assert_eq!(rule(&mixed), None);
    }

    #[test]
    fn three_failures_in_a_row_with_one_error_stop() {
        let f = || failed("Bash", "no such file");
        assert_eq!(
            rule(&[at(0, f()), at(1, f()), at(2, f())]),
            Some(RuleId::StuckFailures)
        );
        assert_eq!(
            rule(&[at(0, f()), at(1, read("a")), at(2, f()), at(3, f())]),
            Some(RuleId::StuckFailures),
            "another tool in between does not help"
        );
        assert_eq!(
            rule(&[at(0, f()), at(1, worked("Bash")), at(2, f()), at(3, f())]),
            None
        );
        assert_eq!(
            rule(&[at(0, f()), at(1, failed("Bash", "other")), at(2, f())]),
            None
        );
    }

    #[test]
    fn more_than_twenty_searches_in_ten_minutes_are_too_many() {
        let seen: Vec<Seen> = (0..21).map(|n| at(n, What::Searched)).collect();
        assert_eq!(rule(&seen[..20]), None);
        assert_eq!(rule(&seen), Some(RuleId::StuckSearches));
    }

    #[test]
    fn ten_minutes_without_anything_new_are_noticed_once() {
        let mut seen = vec![at(0, worked("Edit")), at(599, read("a"))];
        assert_eq!(rule(&seen), None);
        seen.push(at(601, read("b")));
        assert_eq!(rule(&seen), Some(RuleId::StuckNoProgress));
        seen.push(at(
            602,
            What::Noticed {
                rule: RuleId::StuckNoProgress,
            },
        ));
        seen.push(at(700, read("c")));
        assert_eq!(rule(&seen), None);
    }

    #[test]
    fn a_limit_of_zero_is_off() {
        let off = Limits {
            reads: 0,
            failures: 0,
            searches: 0,
            no_progress: 0,
            ..LIMITS
        };
        let seen: Vec<Seen> = (0..30).map(|n| at(n * 60, read("a"))).collect();
        assert_eq!(judge(&seen, time(5_000), off), None);
    }
}
