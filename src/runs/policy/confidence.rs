//! How likely a test fix is to work, as arithmetic that the log can show.
//!
//! Source: SPEC §8 "test-fix confidence"; the decision framework's tree for test failures.
//! Counted in tenths, so that sums are exact.

use crate::judge::RuleId;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// One term of a confidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// What it counts.
    pub why: String,
    /// How much, in tenths.
    pub tenths: i32,
}

/// A confidence with the terms it was added up from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confidence {
    /// The terms, in order.
    pub terms: Vec<Term>,
}

impl Confidence {
    fn starting_at(why: &str, tenths: i32) -> Self {
        Self {
            terms: vec![Term {
                why: why.to_owned(),
                tenths,
            }],
        }
    }

    fn add(&mut self, holds: bool, why: &str, tenths: i32) {
        if holds {
            self.terms.push(Term {
                why: why.to_owned(),
                tenths,
            });
        }
    }

    /// The sum, clamped to 0–10 tenths.
    #[must_use]
    pub fn tenths(&self) -> i32 {
        self.terms
            .iter()
            .map(|term| term.tenths)
            .sum::<i32>()
            .clamp(0, 10)
    }

    /// The sum as a fraction of one.
    #[must_use]
    pub fn value(&self) -> f64 {
        f64::from(self.tenths()) / 10.0
    }

    /// The arithmetic as it is written to the log: `0.5 + 0.3 simple assertion - 0.2 no stack = 0.6`.
    #[must_use]
    pub fn arithmetic(&self) -> String {
        let mut text = String::new();
        for (index, term) in self.terms.iter().enumerate() {
            let size = format!(
                "{}.{} {}",
                term.tenths.abs() / 10,
                term.tenths.abs() % 10,
                term.why
            );
            match (index, term.tenths < 0) {
                (0, false) => text.push_str(&size),
                (0, true) => {
                    let _ = write!(text, "-{size}");
                }
                (_, false) => {
                    let _ = write!(text, " + {size}");
                }
                (_, true) => {
                    let _ = write!(text, " - {size}");
                }
            }
        }
        let sum = self.tenths();
        let _ = write!(text, " = {}.{}", sum / 10, sum % 10);
        text
    }
}

/// What sort of error made the test fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// An assertion compares two values.
    SimpleAssertion,
    /// A type error.
    TypeError,
    /// A function returns the wrong value.
    WrongReturn,
    /// An attribute or an import does not exist.
    AttributeOrImport,
    /// Anything else.
    Other,
}

/// How much the message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// It names what was expected and what came.
    Explicit,
    /// Neither explicit nor vague.
    Plain,
    /// It says nothing of use.
    Vague,
}

/// How much of the stack is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stack {
    /// Down to the failing line.
    Full,
    /// Some of it.
    Partial,
    /// None.
    None,
}

/// How much code the fix touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// One function of fewer than 20 lines.
    SmallFunction,
    /// One function of 20 to 50 lines.
    Function,
    /// Several functions or modules.
    Several,
    /// Not known, or one longer function.
    Unknown,
}

/// A failed test as far as its output tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What sort of error.
    pub cause: Cause,
    /// How much the message says.
    pub message: Message,
    /// How much of the stack is shown.
    pub stack: Stack,
    /// How much code the fix touches.
    pub extent: Extent,
    /// A similar failure was fixed before.
    pub fixed_before: bool,
    /// A fix of this failure was tried and failed.
    pub failed_before: bool,
}

/// The confidence before a fix is tried.
#[must_use]
pub fn before(failure: &Failure) -> Confidence {
    let mut sum = Confidence::starting_at("base", 5);
    sum.add(
        failure.cause == Cause::SimpleAssertion,
        "simple assertion",
        3,
    );
    sum.add(failure.cause == Cause::TypeError, "type error", 2);
    sum.add(failure.cause == Cause::WrongReturn, "wrong return value", 2);
    sum.add(
        failure.cause == Cause::AttributeOrImport,
        "attribute or import error",
        1,
    );
    sum.add(failure.message == Message::Explicit, "explicit message", 2);
    sum.add(failure.message == Message::Vague, "vague message", -1);
    sum.add(failure.stack == Stack::Full, "full stack", 1);
    sum.add(failure.stack == Stack::None, "no stack", -2);
    sum.add(
        failure.extent == Extent::SmallFunction,
        "one function under 20 lines",
        2,
    );
    sum.add(
        failure.extent == Extent::Function,
        "one function of 20 to 50 lines",
        1,
    );
    sum.add(
        failure.extent == Extent::Several,
        "several functions or modules",
        -2,
    );
    sum.add(failure.fixed_before, "similar fixed before", 2);
    sum.add(failure.failed_before, "failed before", -3);
    sum
}

/// How the passing tests changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// More pass than before.
    More,
    /// As many as before.
    Same,
    /// Fewer pass, or tests fail that did not before.
    Worse,
}

/// How the error changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorNow {
    /// The same as before.
    Same,
    /// Of another type than before.
    Other,
    /// It cannot be told.
    Untold,
}

/// What a fix that did not make all tests pass changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// How the passing tests changed.
    pub passing: Passing,
    /// Nothing fails that did not before.
    pub none_new: bool,
    /// How the error changed.
    pub error: ErrorNow,
    /// Number of the try that just failed, from 1.
    pub tried: u32,
}

/// The confidence after a fix failed, from the one before it.
#[must_use]
pub fn after(before: &Confidence, progress: &Progress) -> Confidence {
    let mut sum = Confidence::starting_at("before", before.tenths());
    sum.add(progress.passing == Passing::More, "more tests pass", 3);
    sum.add(
        progress.passing == Passing::Worse,
        "fewer pass or new failures",
        -5,
    );
    sum.add(progress.none_new, "no new failures", 1);
    sum.add(progress.error == ErrorNow::Other, "another error", 1);
    sum.add(progress.error == ErrorNow::Same, "the same error", -3);
    sum.add(progress.tried == 2, "second try", -1);
    sum.add(progress.tried >= 3, "third try", -3);
    sum
}

/// What follows from a confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Go on with the next try.
    GoOn,
    /// Ask a person.
    Ask,
    /// Stop.
    Stop,
}

/// From which confidence a fix is tried, and how often; in tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on a first fix is tried and reported.
    pub high: i32,
    /// From here on a person is asked; below, nothing is tried.
    pub medium: i32,
    /// Fixes that are tried at most.
    pub most: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            high: 8,
            medium: 5,
            most: 3,
        }
    }
}

/// The rule and advice before the fix number `tried + 1`, with `tried` fixes already failed.
#[must_use]
pub fn rule(
    confidence: &Confidence,
    tried: u32,
    new_failures: bool,
    thresholds: Thresholds,
) -> (RuleId, Advice) {
    let tenths = confidence.tenths();
    // The third failure is one too many; preferences can only make it sooner.
    let spent = tried >= thresholds.most.saturating_sub(1).min(2);
    if new_failures || tried > 0 && spent || thresholds.most == 0 || tenths < thresholds.medium {
        (RuleId::FixTestLow, Advice::Stop)
    } else if tried == 1 || tenths < thresholds.high {
        (RuleId::FixTestMedium, Advice::Ask)
    } else {
        (RuleId::FixTestHigh, Advice::GoOn)
    }
}

/// What to do after the fix number `tried` (from 1) failed.
///
/// At 0.6 or more the first two tries are followed by another; between 0.3 and
/// 0.59 the first is followed by a question and the second by a stop.
#[must_use]
pub fn advice(confidence: &Confidence, tried: u32) -> Advice {
    match (confidence.tenths(), tried) {
        (6.., 0..=2) => Advice::GoOn,
        (3..=5, 0..=1) => Advice::Ask,
        _ => Advice::Stop,
    }
}

/// Reads from a test runner's output what the confidence needs.
///
/// How much code a fix touches is not in the output: the caller fills `extent`
/// and the two histories.
#[must_use]
pub fn read(output: &str) -> Failure {
    let lower = output.to_lowercase();
    let has = |needles: &[&str]| needles.iter().any(|needle| lower.contains(needle));
    let explicit = has(&[
        "expected",
        "assert_eq!",
        "left:",
        "received:",
        "but got",
        "got ",
        "want ",
        "assertionerror: ",
        "e       assert ",
        "e   assert ",
        " != ",
    ]);
    let cause = if has(&["typeerror", "mismatched types", "type mismatch"]) {
        Cause::TypeError
    } else if has(&[
        "attributeerror",
        "importerror",
        "modulenotfounderror",
        "cannot find module",
        "has no attribute",
        "is not a function",
    ]) {
        Cause::AttributeOrImport
    } else if has(&["returned", "return value"]) && explicit {
        Cause::WrongReturn
    } else if has(&["assert", "expect(", "tobe(", "toequal("]) {
        Cause::SimpleAssertion
    } else {
        Cause::Other
    };
    let places = lower
        .lines()
        .filter(|line| {
            let line = line.trim_start();
            line.starts_with("at ")
                || line.starts_with("file \"")
                || line.contains("panicked at ")
                || (line.contains(".py:") && !line.starts_with("failed "))
                || line.contains("_test.go:")
        })
        .count();
    Failure {
        cause,
        message: if explicit {
            Message::Explicit
        } else if cause == Cause::Other {
            Message::Vague
        } else {
            Message::Plain
        },
        stack: match places {
            0 => Stack::None,
            1 if !has(&["panicked at", "_test.go:", ".py:"]) => Stack::Partial,
            _ => Stack::Full,
        },
        extent: Extent::Unknown,
        fixed_before: false,
        failed_before: false,
    }
}

/// How many tests passed and failed, by a runner's own summary line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed or broke.
    pub failed: u32,
}

/// Reads the counts from summaries of cargo, pytest, jest and the like (`N passed`, `N failed`); `None` where there is none.
#[must_use]
pub fn counts(output: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut found = false;
    for line in output.lines() {
        let lower = line.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        // A summary names a count before the word; jest counts suites too, which are not tests.
        if lower.trim_start().starts_with("test suites:") {
            continue;
        }
        for pair in words.windows(2) {
            let &[number, word] = pair else { continue };
            let Ok(number) = number.parse::<u32>() else {
                continue;
            };
            match word {
                "passed" | "passing" => counts.passed += number,
                "failed" | "failing" | "error" | "errors" => counts.failed += number,
                _ => continue,
            }
            found = true;
        }
    }
    found.then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Failure = Failure {
        cause: Cause::Other,
        message: Message::Plain,
        stack: Stack::Partial,
        extent: Extent::Unknown,
        fixed_before: false,
        failed_before: false,
    };

    type Change = fn(&mut Failure);

    #[test]
    fn each_term_counts_as_specified() {
        let cases: &[(Change, i32)] = &[
            (|_| {}, 5),
            (|f| f.cause = Cause::SimpleAssertion, 8),
            (|f| f.cause = Cause::TypeError, 7),
            (|f| f.cause = Cause::WrongReturn, 7),
            (|f| f.cause = Cause::AttributeOrImport, 6),
            (|f| f.message = Message::Explicit, 7),
            (|f| f.message = Message::Vague, 4),
            (|f| f.stack = Stack::Full, 6),
            (|f| f.stack = Stack::None, 3),
            (|f| f.extent = Extent::SmallFunction, 7),
            (|f| f.extent = Extent::Function, 6),
            (|f| f.extent = Extent::Several, 3),
            (|f| f.fixed_before = true, 7),
            (|f| f.failed_before = true, 2),
        ];
        for (index, (change, tenths)) in cases.iter().enumerate() {
            let mut failure = PLAIN;
            change(&mut failure);
            assert_eq!(before(&failure).tenths(), *tenths, "case {index}");
        }
    }

    #[test]
    fn the_sum_stays_between_nought_and_one() {
        let best = Failure {
            cause: Cause::SimpleAssertion,
            message: Message::Explicit,
            stack: Stack::Full,
            extent: Extent::SmallFunction,
            fixed_before: true,
            failed_before: false,
        };
        assert_eq!(before(&best).tenths(), 10);
        let worst = Failure {
            cause: Cause::Other,
            message: Message::Vague,
            stack: Stack::None,
            extent: Extent::Several,
            fixed_before: false,
            failed_before: true,
        };
        assert_eq!(before(&worst).tenths(), 0);
    }

    #[test]
    fn the_log_shows_the_sum() {
        let failure = Failure {
            cause: Cause::SimpleAssertion,
            stack: Stack::None,
            ..PLAIN
        };
        assert_eq!(
            before(&failure).arithmetic(),
            "0.5 base + 0.3 simple assertion - 0.2 no stack = 0.6"
        );
    }

    #[test]
    fn a_failed_fix_moves_the_confidence() {
        let start = Confidence::starting_at("base", 6);
        let still = Progress {
            passing: Passing::Same,
            none_new: false,
            error: ErrorNow::Untold,
            tried: 1,
        };
        for (progress, tenths) in [
            (
                Progress {
                    passing: Passing::More,
                    ..still
                },
                9,
            ),
            (
                Progress {
                    passing: Passing::Worse,
                    ..still
                },
                1,
            ),
            (
                Progress {
                    none_new: true,
                    ..still
                },
                7,
            ),
            (
                Progress {
                    error: ErrorNow::Other,
                    ..still
                },
                7,
            ),
            (
                Progress {
                    error: ErrorNow::Same,
                    ..still
                },
                3,
            ),
            (Progress { tried: 2, ..still }, 5),
            (Progress { tried: 3, ..still }, 3),
        ] {
            assert_eq!(after(&start, &progress).tenths(), tenths, "{progress:?}");
        }
    }

    #[test]
    fn thresholds_decide_what_follows() {
        for (tenths, tried, expected) in [
            (6, 1, Advice::GoOn),
            (6, 2, Advice::GoOn),
            (6, 3, Advice::Stop),
            (5, 1, Advice::Ask),
            (3, 1, Advice::Ask),
            (5, 2, Advice::Stop),
            (2, 1, Advice::Stop),
            (10, 3, Advice::Stop),
        ] {
            let confidence = Confidence::starting_at("base", tenths);
            assert_eq!(
                advice(&confidence, tried),
                expected,
                "{tenths} after {tried}"
            );
        }
    }

    #[test]
    fn the_matrix_rules_follow_confidence_and_tries() {
        for (tenths, tried, new, rule_id) in [
            (8, 0, false, RuleId::FixTestHigh),
            (7, 0, false, RuleId::FixTestMedium),
            (5, 0, false, RuleId::FixTestMedium),
            (4, 0, false, RuleId::FixTestLow),
            (9, 1, false, RuleId::FixTestMedium),
            (9, 2, false, RuleId::FixTestLow),
            (9, 0, true, RuleId::FixTestLow),
        ] {
            let confidence = Confidence::starting_at("base", tenths);
            let thresholds = Thresholds::default();
            assert_eq!(rule(&confidence, tried, new, thresholds).0, rule_id);
        }
        let strict = Thresholds {
            high: 10,
            medium: 7,
            most: 1,
        };
        for (tenths, tried, rule_id) in [
            (10, 0, RuleId::FixTestHigh),
            (9, 0, RuleId::FixTestMedium),
            (6, 0, RuleId::FixTestLow),
            (10, 1, RuleId::FixTestLow),
        ] {
            let confidence = Confidence::starting_at("base", tenths);
            assert_eq!(rule(&confidence, tried, false, strict).0, rule_id);
        }
    }

    #[test]
    fn runners_output_is_read() {
        let pytest = "tests/test_a.py:4: in test_add\n    assert add(1, 2) == 4\nE   assert 3 == 4\nFAILED tests/test_a.py::test_add - assert 3 == 4\n1 failed, 3 passed in 0.02s";
        let failure = read(pytest);
        assert_eq!(failure.cause, Cause::SimpleAssertion);
        assert_eq!(failure.message, Message::Explicit);
        assert_eq!(
            counts(pytest),
            Some(Counts {
                passed: 3,
                failed: 1
            })
        );
        let cargo = "test result: FAILED. 5 passed; 2 failed; 0 ignored";
        assert_eq!(
            counts(cargo),
            Some(Counts {
                passed: 5,
                failed: 2
            })
        );
        let jest = "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total";
        assert_eq!(
            counts(jest),
            Some(Counts {
                passed: 2,
                failed: 1
            })
        );
        assert_eq!(counts("nothing here"), None);
        assert_eq!(read("it broke").message, Message::Vague);
    }
}
