//! Fix the code or the Contract? (decision framework, "Contract vs Code")

use serde::Serialize;

/// Why work was sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// The change leaves the scope.
    ScopeExceeded,
    /// A constraint, freeze or forbidden pattern is broken.
    ConstraintBroken,
    /// Tests are missing.
    TestsMissing,
    /// It is too slow.
    TooSlow,
    /// Two needs contradict each other.
    NeedsContradict,
    /// A constraint turned up that nobody knew.
    NewConstraint,
    /// The scope has good reason to change.
    ScopeJustified,
    /// The performance target was wrong.
    PerformanceMisjudged,
    /// Not known.
    Unsure,
}

/// Which of the two to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Change the code.
    FixCode,
    /// Change the Contract, which a person confirms.
    FixContract,
    /// Ask a person.
    Ask,
}

/// Says which of the two the seeds' table suggests.
#[must_use]
pub fn advise(remedy: Remedy) -> Advice {
    match remedy {
        Remedy::ScopeExceeded
        | Remedy::ConstraintBroken
        | Remedy::TestsMissing
        | Remedy::TooSlow => Advice::FixCode,
        Remedy::NeedsContradict
        | Remedy::NewConstraint
        | Remedy::ScopeJustified
        | Remedy::PerformanceMisjudged => Advice::FixContract,
        Remedy::Unsure => Advice::Ask,
    }
}

impl Advice {
    /// The advice as one line.
    #[must_use]
    pub fn line(self) -> &'static str {
        match self {
            Self::FixCode => {
                "fix the code; if the Contract is what is wrong, a person changes it: edit it, then holdpoint contract confirm"
            }
            Self::FixContract => {
                "fix the Contract: edit it, look at holdpoint contract diff, then a person runs holdpoint contract confirm"
            }
            Self::Ask => "ask a person whether the code or the Contract is wrong",
        }
    }
}
