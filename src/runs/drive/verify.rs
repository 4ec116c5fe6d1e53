//! Acceptance and review: commands of the person's that pass a result or send it back.

use super::{Scene, attempt};
use crate::error::Result;
use crate::runs::policy::confidence;
use crate::runs::policy::outcome::{Basis, Exit, Kind, Outcome};
use crate::runs::policy::task::Event;
use crate::runs::record::{Cause, End, Purpose, Run};
use crate::runs::tail;
use crate::sys::out;

/// Runs the test command and the acceptance command.
pub(super) fn acceptance(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    let checks = [
        (Purpose::Test, run.options.test.clone()),
        (Purpose::Accept, run.options.accept.clone()),
    ];
    for (purpose, text) in checks {
        let Some(text) = text else { continue };
        // A resumed run does not repeat what has passed already.
        if passed_since_work(run, purpose) {
            continue;
        }
        let end = attempt::check(scene, run, purpose, &text)?;
        if !passed(&end) {
            return not_passed(scene, run, purpose, &text);
        }
        if purpose == Purpose::Test {
            run.counts = confidence::counts(&output(scene, run));
        }
        scene.dir.save(run)?;
    }
    run.step(Event::Pass, "")
}

/// Runs the review command.
pub(super) fn review(scene: &Scene<'_>, run: &mut Run) -> Result<()> {
    let Some(text) = run.options.review.clone() else {
        return run.step(Event::Pass, "no review was asked for");
    };
    let end = attempt::check(scene, run, Purpose::Review, &text)?;
    if passed(&end) {
        return run.step(Event::Pass, "");
    }
    let said = output(scene, run);
    let remedy = remedy(&said);
    out::note(format!("holdpoint: the review blocks: {}", remedy.words()));
    set_outcome(
        run,
        Outcome {
            kind: Kind::Logic,
            basis: Basis::Exit,
            evidence: format!("the review blocks: {}", remedy.words()),
        },
    );
    run.step(Event::Blocking, remedy.words())
}

/// What a blocking review asks to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The code.
    Code,
    /// The Contract.
    Contract,
    /// It cannot be told.
    Ask,
}

impl Remedy {
    fn words(self) -> &'static str {
        match self {
            Self::Code => {
                "fix the code (it leaves the scope, breaks a constraint, lacks tests or is too slow)"
            }
            Self::Contract => {
                "fix the Contract (its needs contradict each other, or a constraint is new)"
            }
            Self::Ask => "unsure whether the code or the Contract is to be fixed: ask a person",
        }
    }
}

/// Reads from a review which of code and Contract it would change (the framework's "Contract vs code" table).
pub(super) fn remedy(review: &str) -> Remedy {
    let lower = review.to_lowercase();
    let has = |needles: &[&str]| needles.iter().any(|needle| lower.contains(needle));
    let contract = has(&[
        "contradict",
        "conflicting requirement",
        "requirements conflict",
        "new constraint",
        "contract is wrong",
        "contract is incomplete",
        "update the contract",
        "scope should be",
        "misjudged performance",
        "需求矛盾",
        "新约束",
        "scope 合理变更",
        "性能判断错误",
    ]);
    let code = has(&[
        "out of scope",
        "out-of-scope",
        "scope exceeded",
        "exceeds the scope",
        "violates",
        "constraint broken",
        "missing test",
        "no tests",
        "lacks test",
        "too slow",
        "performance",
        "超出 scope",
        "违反约束",
        "缺少测试",
        "性能不达标",
    ]);
    match (contract, code) {
        (true, false) => Remedy::Contract,
        (false, true) => Remedy::Code,
        _ => Remedy::Ask,
    }
}

fn passed(end: &End) -> bool {
    end.cause == Cause::Left && end.exit == Exit::Code(0)
}

fn passed_since_work(run: &Run, purpose: Purpose) -> bool {
    run.attempts
        .iter()
        .rev()
        .take_while(|attempt| attempt.purpose != Purpose::Work)
        .any(|attempt| attempt.purpose == purpose && attempt.end.as_ref().is_some_and(passed))
}

fn not_passed(scene: &Scene<'_>, run: &mut Run, purpose: Purpose, text: &str) -> Result<()> {
    let said = output(scene, run);
    let outcome = if purpose == Purpose::Test {
        Outcome {
            kind: Kind::TestFailure,
            basis: Basis::Exit,
            evidence: format!("`{text}` failed"),
        }
    } else {
        Outcome {
            kind: Kind::Logic,
            basis: Basis::Exit,
            evidence: format!("`{text}` was not passed"),
        }
    };
    out::note(format!("holdpoint: {}", outcome.evidence));
    for line in tail::last_lines(said.as_bytes(), tail::REPORTED) {
        out::note(format!("  | {line}"));
    }
    let note = outcome.evidence.clone();
    set_outcome(run, outcome);
    run.step(Event::NotPassed, note)
}

fn set_outcome(run: &mut Run, outcome: Outcome) {
    if let Some(attempt) = run.attempts.last_mut() {
        attempt.outcome = Some(outcome);
    }
}

/// What the last attempt printed at its end.
pub(super) fn output(scene: &Scene<'_>, run: &Run) -> String {
    let Some(attempt) = run.last() else {
        return String::new();
    };
    let bytes = std::fs::read(scene.dir.attempt(attempt.number).join("both")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_points_to_the_code_or_the_contract() {
        for (review, expected) in [
            ("Blocking: the change is out of scope", Remedy::Code),
            ("Blocking: missing tests for the parser", Remedy::Code),
            ("The requirements contradict each other", Remedy::Contract),
            ("需求矛盾", Remedy::Contract),
            ("I do not like it", Remedy::Ask),
            ("out of scope, but the requirements contradict", Remedy::Ask),
        ] {
            assert_eq!(remedy(review), expected, "{review}");
        }
    }
}
