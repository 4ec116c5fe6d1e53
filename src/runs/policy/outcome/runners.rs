//! The summaries that test runners end with: tests ran, and some failed.

use super::{Basis, Kind, Outcome};
use regex::Regex;
use std::sync::LazyLock;

/// Lines of summaries in which at least one test failed.
const SUMMARIES: &[&str] = &[
    // pytest: `1 failed, 3 passed in 0.12s`, `=== 2 errors in 1.00s ===`.
    r"^=*\s?(?:\d+ \w+, )*[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s",
    // jest, vitest: `Tests:       1 failed, 2 passed`, ` Tests  1 failed (1)`.
    r"^\s*Tests:?\s+(?:\d+ \w+ ?[,|] )*[1-9]\d* failed",
    // mocha: `  2 failing`.
    r"^\s+[1-9]\d* failing$",
    // unittest: `FAILED (failures=1, errors=2)`.
    r"^FAILED \((?:failures|errors)=",
    // libtest, nextest.
    r"^test result: FAILED",
    r"^\s+Summary \[.*\b[1-9]\d* failed",
    // go test.
    r"^\s*--- FAIL: ",
    r"^FAIL\t\S+\t[\d.]+s",
    // TAP, node:test.
    r"^# fail [1-9]",
    r"^ℹ fail [1-9]",
    r"^not ok \d+",
    // rspec, minitest, phpunit, ExUnit.
    r"^\d+ (?:examples?|runs?|tests?|doctests?)\b.*\b[1-9]\d* (?:failures?|errors?)\b",
    r"^Tests: \d+, Assertions: \d+.*\b(?:Failures|Errors): [1-9]",
    // surefire, JUnit, dotnet test, gradle.
    r"Tests run: \d+.*\b(?:Failures|Errors): [1-9]",
    r"^\[\s*[1-9]\d* tests failed",
    r"\bFailed!\s+-\s+Failed:\s+[1-9]",
    r"There were failing tests",
    r"^\d+ tests? completed, [1-9]\d* failed",
    // ctest, googletest, swift, deno, bun.
    r"tests passed, [1-9]\d* tests? failed",
    r"^\[  FAILED  \] [1-9]\d* test",
    r"^Executed \d+ tests?, with [1-9]\d* failure",
    r"^FAILED \| \d+ passed",
    r"^\s*[1-9]\d* fail$",
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    SUMMARIES
        .iter()
        .flat_map(|summary| Regex::new(&format!("(?m){summary}")))
        .collect()
});

/// Returns a test failure where a runner's summary says so.
pub(super) fn read(text: &str) -> Option<Outcome> {
    let found = PATTERNS.iter().find_map(|regex| regex.find(text))?;
    Some(Outcome::new(
        Kind::TestFailure,
        Basis::Code,
        found.as_str().trim(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_told_from_prose() {
        for (text, failed) in [
            ("1 failed, 3 passed in 0.12s", true),
            ("===== 1 passed, 2 errors in 1.00s =====", true),
            ("Tests:       2 failed, 1 passed, 3 total", true),
            ("      Tests  1 failed | 2 passed (3)", true),
            ("  2 failing", true),
            ("3 examples, 1 failure", true),
            ("[ERROR] Tests run: 3, Failures: 0, Errors: 1", true),
            ("Tests run: 3, Failures: 0, Errors: 0", false),
            ("3 examples, 0 failures", false),
            ("4 passed in 0.10s", false),
            ("I ran the tests: 2 failed in the parser", false),
            ("# fail 0", false),
        ] {
            assert_eq!(read(text).is_some(), failed, "{text}");
        }
    }

    #[test]
    fn every_summary_is_a_pattern() {
        assert_eq!(PATTERNS.len(), SUMMARIES.len());
    }
}
