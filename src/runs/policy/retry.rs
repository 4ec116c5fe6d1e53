//! Whether something is tried again, how often, after what wait, and who is told.
//!
//! Source: the decision framework's retry matrix by error and by agent; the
//! timeout guardrails' recovery strategy 1; SPEC §8.

use super::outcome::Kind;
use crate::judge::RuleId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Whether a kind of error is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retried {
    /// Without asking.
    Yes,
    /// After a person or the confidence rules agreed.
    Conditional,
    /// Never.
    No,
}

/// How long to wait before a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Base 1 s × 2^attempt + jitter 0–1 s, at most 16 s.
    Exponential,
    /// The confidence of the fix decides; no wait.
    Confidence,
    /// No wait.
    None,
}

/// What becomes of the agent's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Session {
    /// The retry goes on with it.
    Kept,
    /// The retry starts a new one.
    New,
    /// It does not matter.
    Indifferent,
}

/// When the person is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Before each retry.
    BeforeEach,
    /// At the first failure only.
    FirstFailure,
    /// After a suggestion was made.
    AfterSuggestion,
    /// Asked before something is installed.
    AsksBeforeInstalling,
    /// At once.
    AtOnce,
}

/// One row of the retry table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whether it is tried again.
    pub retried: Retried,
    /// How often at most.
    pub most: u32,
    /// After what wait.
    pub wait: Wait,
    /// With which session.
    pub session: Session,
    /// Who is told when.
    pub told: Told,
}

/// The row of a kind of error.
///
/// Kinds that the seed's table does not name take the row of their nearest
/// relative: a broken connection that of a timeout, quota that of a rate limit
/// (another service may have its own), name errors that of type errors.
#[must_use]
pub fn row(kind: Kind) -> Row {
    let row = |retried, most, wait, session, told| Row {
        retried,
        most,
        wait,
        session,
        told,
    };
    match kind {
        Kind::NetworkTimeout | Kind::ConnectionReset => row(
            Retried::Yes,
            3,
            Wait::Exponential,
            Session::Kept,
            Told::BeforeEach,
        ),
        Kind::RateLimit | Kind::Quota => row(
            Retried::Yes,
            5,
            Wait::Exponential,
            Session::Kept,
            Told::BeforeEach,
        ),
        Kind::Unavailable | Kind::Busy => row(
            Retried::Yes,
            3,
            Wait::Exponential,
            Session::Kept,
            Told::FirstFailure,
        ),
        Kind::Syntax | Kind::Type | Kind::Name | Kind::Import => row(
            Retried::Conditional,
            1,
            Wait::None,
            Session::New,
            Told::AfterSuggestion,
        ),
        Kind::TestFailure => row(
            Retried::Conditional,
            3,
            Wait::Confidence,
            Session::Kept,
            Told::BeforeEach,
        ),
        Kind::Dependency => row(
            Retried::Yes,
            1,
            Wait::None,
            Session::Indifferent,
            Told::AsksBeforeInstalling,
        ),
        Kind::Logic
        | Kind::Config
        | Kind::Permission
        | Kind::Path
        | Kind::Version
        | Kind::Authentication
        | Kind::NotFound
        | Kind::InvalidRequest
        | Kind::Upstream
        | Kind::Cancelled
        | Kind::Unknown => row(
            Retried::No,
            0,
            Wait::None,
            Session::Indifferent,
            Told::AtOnce,
        ),
    }
}

/// How many retries a run may make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// By `--retries`, preferences or the agent's default, with the context's factor applied.
    pub agent: u32,
    /// Whether somebody asked for that number; then it may go beyond the agent's default, never beyond the row.
    pub asked: bool,
    /// The context's factor, for the row's own number.
    pub factor: f64,
    /// The row's own number, where preferences set another.
    pub most: Option<u32>,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum Next {
    /// Try again after a wait.
    Again {
        /// Number of the retry, from 1.
        retry: u32,
        /// How many there may be.
        most: u32,
        /// With which session.
        session: Session,
        /// The rule by which.
        rule: RuleId,
    },
    /// A person or the confidence rules have to agree first.
    Ask {
        /// Number of the retry, from 1.
        retry: u32,
        /// How many there may be.
        most: u32,
        /// With which session.
        session: Session,
        /// The rule by which.
        rule: RuleId,
    },
    /// No more tries.
    Stop {
        /// The rule by which.
        rule: RuleId,
    },
}

/// Decides after a failed attempt; `retries` were made for this kind of error before.
#[must_use]
pub fn next(kind: Kind, retries: u32, allowance: Allowance) -> Next {
    let row = row(kind);
    let rule = kind.rule().unwrap_or(RuleId::RetryExhausted);
    let own = super::context::Factors {
        time: 1.0,
        retries: allowance.factor,
    }
    .retries(allowance.most.unwrap_or(row.most));
    let most = own.min(allowance.agent);
    match row.retried {
        Retried::No => Next::Stop {
            rule: kind.rule().unwrap_or(RuleId::RetryExhausted),
        },
        Retried::Yes | Retried::Conditional if retries >= most => Next::Stop {
            rule: RuleId::RetryExhausted,
        },
        Retried::Yes if row.told == Told::AsksBeforeInstalling => Next::Ask {
            retry: retries + 1,
            most,
            session: row.session,
            rule: RuleId::DepsNew,
        },
        Retried::Yes => Next::Again {
            retry: retries + 1,
            most,
            session: row.session,
            rule,
        },
        Retried::Conditional => Next::Ask {
            retry: retries + 1,
            most,
            session: row.session,
            rule: if kind == Kind::TestFailure {
                RuleId::FixTestMedium
            } else {
                rule
            },
        },
    }
}

/// How the waits between tries grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The first wait; each further one is twice as long.
    pub base: Duration,
    /// The longest wait.
    pub longest: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            base: Duration::from_secs(1),
            longest: Duration::from_secs(16),
        }
    }
}

/// The rest after an attempt that ran out of time, before the one retry it gets.
pub const COOLING: Duration = Duration::from_secs(30);

/// By how much the limits grow for the retry of an attempt that ran out of time.
pub const LONGER: f64 = 1.5;

/// The wait before retry `retry` (from 1): the base × 2^(retry-1) + jitter, up to the longest.
#[must_use]
pub fn backoff(retry: u32, waits: Waits, jitter: &mut Jitter) -> Duration {
    let doubled = 1_u32
        .checked_shl(retry.saturating_sub(1))
        .unwrap_or(u32::MAX);
    let base = waits.base.saturating_mul(doubled).min(waits.longest);
    base.saturating_add(jitter.draw()).min(waits.longest)
}

/// A small generator (SplitMix64) for the jitter: seeded, so that a test or a log can repeat it.
#[derive(Clone, Debug)]
pub struct Jitter {
    state: u64,
}

impl Jitter {
    /// Starts at a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next jitter, from 0 up to 1 s.
    pub fn draw(&mut self) -> Duration {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        Duration::from_millis(mixed % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Allowance = Allowance {
        agent: 99,
        asked: true,
        factor: 1.0,
        most: None,
    };

    #[test]
    fn the_table_is_the_seeds() {
        use Retried::{Conditional, No, Yes};
        for (kind, retried, most, session) in [
            (Kind::NetworkTimeout, Yes, 3, Session::Kept),
            (Kind::RateLimit, Yes, 5, Session::Kept),
            (Kind::Unavailable, Yes, 3, Session::Kept),
            (Kind::Syntax, Conditional, 1, Session::New),
            (Kind::Type, Conditional, 1, Session::New),
            (Kind::TestFailure, Conditional, 3, Session::Kept),
            (Kind::Dependency, Yes, 1, Session::Indifferent),
            (Kind::Permission, No, 0, Session::Indifferent),
            (Kind::Authentication, No, 0, Session::Indifferent),
        ] {
            let row = row(kind);
            assert_eq!(
                (row.retried, row.most, row.session),
                (retried, most, session),
                "{kind}"
            );
        }
    }

    #[test]
    fn a_timeout_is_tried_three_times_and_not_a_fourth() {
        for retries in 0..3 {
            assert!(matches!(
                next(Kind::NetworkTimeout, retries, PLENTY),
                Next::Again { retry, most: 3, session: Session::Kept, rule: RuleId::RetryTransient }
                    if retry == retries + 1
            ));
        }
        assert_eq!(
            next(Kind::NetworkTimeout, 3, PLENTY),
            Next::Stop {
                rule: RuleId::RetryExhausted
            }
        );
    }

    #[test]
    fn authentication_and_permission_are_never_retried() {
        for (kind, rule) in [
            (Kind::Authentication, RuleId::FailAuth),
            (Kind::Permission, RuleId::FailPermission),
        ] {
            assert_eq!(next(kind, 0, PLENTY), Next::Stop { rule });
        }
    }

    #[test]
    fn the_agent_and_the_context_limit_the_row() {
        let coder = Allowance {
            agent: 0,
            asked: false,
            factor: 1.0,
            most: None,
        };
        assert!(matches!(next(Kind::RateLimit, 0, coder), Next::Stop { .. }));
        let emergency = Allowance {
            agent: 99,
            asked: true,
            factor: 2.0,
            most: None,
        };
        assert!(matches!(
            next(Kind::RateLimit, 9, emergency),
            Next::Again {
                retry: 10,
                most: 10,
                ..
            }
        ));
        let high_risk = Allowance {
            agent: 99,
            asked: true,
            factor: 0.0,
            most: None,
        };
        assert!(matches!(
            next(Kind::RateLimit, 0, high_risk),
            Next::Stop { .. }
        ));
    }

    #[test]
    fn conditional_retries_and_installs_are_asked_for() {
        for (kind, rule) in [
            (Kind::Syntax, RuleId::FixSyntax),
            (Kind::Import, RuleId::FixImport),
            (Kind::TestFailure, RuleId::FixTestMedium),
            (Kind::Dependency, RuleId::DepsNew),
        ] {
            assert!(
                matches!(next(kind, 0, PLENTY), Next::Ask { rule: said, .. } if said == rule),
                "{kind}"
            );
        }
    }

    #[test]
    fn waits_double_with_jitter_up_to_sixteen_seconds() {
        let mut jitter = Jitter::new(7);
        for (retry, base) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
            let wait = backoff(retry, Waits::default(), &mut jitter);
            let base = Duration::from_secs(base);
            assert!(
                wait >= base && wait < base + Duration::from_secs(1),
                "{retry}: {wait:?}"
            );
        }
        for retry in [5, 6, 40, 64, 1000] {
            let waits = Waits::default();
            assert_eq!(backoff(retry, waits, &mut jitter), waits.longest);
        }
        let waits = Waits {
            base: Duration::from_secs(5),
            longest: Duration::from_secs(12),
        };
        for (retry, least) in [(1, 5), (2, 10), (3, 12), (64, 12)] {
            let wait = backoff(retry, waits, &mut jitter);
            assert!(wait >= Duration::from_secs(least) && wait <= waits.longest);
        }
    }

    #[test]
    fn the_jitter_is_repeatable_and_spread() {
        let draw = |seed| {
            let mut jitter = Jitter::new(seed);
            (0..200).map(|_| jitter.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let draws = draw(3);
        assert!(draws.iter().all(|wait| *wait < Duration::from_secs(1)));
        assert!(draws.iter().any(|wait| *wait < Duration::from_millis(200)));
        assert!(draws.iter().any(|wait| *wait > Duration::from_millis(800)));
    }
}
