//! How long a run may take, and what a given elapsed time means.
//!
//! Source: the timeout guardrails' thresholds; SPEC §8 "Time".

use crate::judge::RuleId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The time limits of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// After this a warning is given.
    pub default: Duration,
    /// After this the run is ended.
    pub max: Duration,
}

/// The kinds of program that have limits and retries of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// Writes code.
    Coder,
    /// Reviews code.
    Codex,
    /// Advises.
    Gemini,
    /// Any other program.
    Tools,
}

impl AgentKind {
    /// The kind of an agent by its name; an unknown one counts as tools.
    #[must_use]
    pub fn of(agent: &str) -> Self {
        match agent {
            "codex" => Self::Codex,
            "gemini" | "gemini-cli" => Self::Gemini,
            "coder" | "claude" | "claude-code" | "copilot" | "opencode" | "cursor" | "aider" => {
                Self::Coder
            }
            _ => Self::Tools,
        }
    }

    /// The word used in the keys of preferences (`coder_default`, …).
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Coder => "coder",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Tools => "claude_tools",
        }
    }

    /// The built-in limits, in seconds: coder 120/600, codex 120/300, gemini 120/480, tools 120/600.
    #[must_use]
    pub fn limits(self) -> Limits {
        let max = match self {
            Self::Coder | Self::Tools => 600,
            Self::Codex => 300,
            Self::Gemini => 480,
        };
        Limits {
            default: Duration::from_mins(2),
            max: Duration::from_secs(max),
        }
    }

    /// Retries without `--retries`: a coder writes, so it has none.
    #[must_use]
    pub fn retries(self) -> u32 {
        match self {
            Self::Coder | Self::Tools => 0,
            Self::Codex | Self::Gemini => 1,
        }
    }
}

/// What an elapsed time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Within the default.
    Within,
    /// Past the default.
    Warning,
    /// Half as long again as the default.
    OverExpected,
    /// Past the maximum.
    Over,
}

impl Stage {
    /// The rule that speaks at this stage.
    #[must_use]
    pub fn rule(self) -> Option<RuleId> {
        match self {
            Self::Within => None,
            Self::Warning => Some(RuleId::TimeNearLimit),
            Self::OverExpected => Some(RuleId::TimeOverExpected),
            Self::Over => Some(RuleId::TimeOverLimit),
        }
    }
}

/// The longest limit that can be asked for: a week.
const LONGEST: Duration = Duration::from_hours(168);

impl Limits {
    /// Says what an elapsed time means.
    #[must_use]
    pub fn stage(self, elapsed: Duration) -> Stage {
        if elapsed >= self.max {
            Stage::Over
        } else if elapsed >= self.default.mul_f64(1.5) {
            Stage::OverExpected
        } else if elapsed >= self.default {
            Stage::Warning
        } else {
            Stage::Within
        }
    }

    /// The limits with a factor, never shortened below a second and never over a week.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let scale = |limit: Duration| {
            let least = limit.min(Duration::from_secs(1));
            let scaled = limit.as_secs_f64() * factor.clamp(0.0, 1e6);
            Duration::from_secs_f64(scaled.min(LONGEST.as_secs_f64())).max(least)
        };
        Self {
            default: scale(self.default),
            max: scale(self.max),
        }
    }

    /// The limits with what was asked for; a default above the maximum comes down to it.
    #[must_use]
    pub fn with(self, default: Option<Duration>, max: Option<Duration>) -> Self {
        let max = match (default, max) {
            (_, Some(max)) => max,
            // Who asks for a longer default means a longer run.
            (Some(default), None) => self.max.max(default),
            (None, None) => self.max,
        };
        Self {
            default: default.unwrap_or(self.default).min(max),
            max: max.min(LONGEST),
        }
    }
}

/// A duration as people say it: `2 min 15 s`.
#[must_use]
pub fn say(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) if time.subsec_millis() > 0 => format!("{} ms", time.subsec_millis()),
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// Reads a duration as people type it: `90`, `90s`, `20m`, `1h`, `1h30m`, `500ms`.
#[must_use]
pub fn read(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(digits)?;
        let number: f64 = number.parse().ok()?;
        let letters = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at_checked(letters)?;
        let seconds = match unit.trim() {
            "ms" => number / 1000.0,
            "" | "s" | "sec" | "secs" | "second" | "seconds" => number,
            "m" | "min" | "mins" | "minute" | "minutes" => number * 60.0,
            "h" | "hour" | "hours" => number * 3600.0,
            "d" | "day" | "days" => number * 86400.0,
            _ => return None,
        };
        if !(0.0..=LONGEST.as_secs_f64()).contains(&seconds) {
            return None;
        }
        total += Duration::from_secs_f64(seconds);
        rest = next;
    }
    Some(total.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(default: u64, max: u64) -> Limits {
        Limits {
            default: Duration::from_secs(default),
            max: Duration::from_secs(max),
        }
    }

    #[test]
    fn the_built_in_limits_are_the_seeds() {
        for (agent, max, retries) in [
            ("coder", 600, 0),
            ("codex", 300, 1),
            ("gemini", 480, 1),
            ("make", 600, 0),
        ] {
            let kind = AgentKind::of(agent);
            assert_eq!(kind.limits(), seconds(120, max), "{agent}");
            assert_eq!(kind.retries(), retries, "{agent}");
        }
    }

    #[test]
    fn stages_follow_the_clock() {
        let limits = seconds(100, 300);
        for (elapsed, stage) in [
            (0, Stage::Within),
            (99, Stage::Within),
            (100, Stage::Warning),
            (149, Stage::Warning),
            (150, Stage::OverExpected),
            (299, Stage::OverExpected),
            (300, Stage::Over),
            (9999, Stage::Over),
        ] {
            assert_eq!(
                limits.stage(Duration::from_secs(elapsed)),
                stage,
                "{elapsed}"
            );
        }
        // Half as long again lies past the maximum here: the stage is skipped.
        assert_eq!(
            seconds(100, 120).stage(Duration::from_secs(119)),
            Stage::Warning
        );
    }

    #[test]
    fn asked_limits_hold_together() {
        let base = seconds(120, 600);
        let s = |n| Some(Duration::from_secs(n));
        assert_eq!(base.with(s(900), None), seconds(900, 900));
        assert_eq!(base.with(None, s(60)), seconds(60, 60));
        assert_eq!(base.with(s(10), s(20)), seconds(10, 20));
        assert_eq!(base.with(None, None), base);
    }

    #[test]
    fn context_scales_and_never_reaches_zero() {
        assert_eq!(seconds(120, 600).scaled(0.5), seconds(60, 300));
        assert_eq!(seconds(1, 1).scaled(0.0), seconds(1, 1));
    }

    #[test]
    fn durations_are_read_as_typed() {
        for (text, expected) in [
            ("90", Some(90_000)),
            ("90s", Some(90_000)),
            ("20m", Some(1_200_000)),
            ("1h30m", Some(5_400_000)),
            ("500ms", Some(500)),
            ("1.5s", Some(1500)),
            ("", None),
            ("m", None),
            ("5 parsecs", None),
            ("-3", None),
            ("99999999999d", None),
        ] {
            assert_eq!(read(text), expected.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn durations_are_said_plainly() {
        for (millis, said) in [
            (500, "500 ms"),
            (0, "0 s"),
            (45_000, "45 s"),
            (120_000, "2 min"),
            (135_000, "2 min 15 s"),
            (3_600_000, "1 h"),
            (5_400_000, "1 h 30 min"),
        ] {
            assert_eq!(say(Duration::from_millis(millis)), said);
        }
    }
}
