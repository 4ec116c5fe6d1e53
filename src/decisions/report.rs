//! What was found wrong with a decision, all of it at once.

use super::kind::DecisionType;
use super::pointer::At;
use crate::judge::RuleId;
use serde::Serialize;

/// Faults listed for one decision; beyond it they are only counted.
const MAX_FAULTS: usize = 1000;

macro_rules! codes {
    ($($variant:ident $word:literal;)*) => {
        /// The stable name of what a decision breaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[allow(missing_docs, reason = "the words say it")]
        pub enum Code {
            $(#[serde(rename = $word)] $variant,)*
        }

        impl Code {
            /// The name as it is written.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

codes! {
    JsonSyntax "json.syntax";
    JsonEncoding "json.encoding";
    JsonDepth "json.depth";
    JsonDuplicateKey "json.duplicate-key";
    JsonNumber "json.number";
    JsonSurrogate "json.surrogate";
    TypeMismatch "type.mismatch";
    IntentMismatch "intent.mismatch";
    FieldMissing "field.missing";
    FieldSort "field.type";
    FieldEmpty "field.empty";
    FieldRange "field.range";
    FieldValue "field.value";
    FieldUnknown "field.unknown";
    PlanCycle "plan.cycle";
    PlanOrphan "plan.orphan";
    PlanEnd "plan.missing-node";
    PlanDuplicate "plan.duplicate-node";
    LimitNodes "limit.nodes";
    LimitBytes "limit.bytes";
    LimitTokens "limit.tokens";
    LimitCalls "limit.calls";
    DangerCode "danger.code";
    DangerCommand "danger.command";
    DangerUrl "danger.url";
    DangerQuery "danger.query";
    DangerEnv "danger.env";
    DangerFile "danger.file";
    KnownWorkflow "known.workflow";
    KnownState "known.state";
    KnownInput "known.input";
    KnownNode "known.node";
    KnownSubagent "known.subagent";
    PolicyNodeType "policy.node-type";
    PolicyDomain "policy.domain";
}

impl Code {
    /// Returns true for what a JSON Schema can express too.
    #[must_use]
    pub const fn is_shape(self) -> bool {
        matches!(
            self,
            Self::FieldMissing
                | Self::FieldSort
                | Self::FieldEmpty
                | Self::FieldRange
                | Self::FieldValue
                | Self::FieldUnknown
                | Self::LimitNodes
        )
    }
}

/// One thing wrong with a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// JSON pointer to the value, or to where it should be.
    pub pointer: String,
    /// What sort of fault.
    pub code: Code,
    /// One line for a person.
    pub message: String,
}

/// Something that could not be checked, and what would let it be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// JSON pointer to the value.
    pub pointer: String,
    /// What was not checked, in one line.
    pub message: String,
}

/// Everything found on one decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The decision's type, where it could be told.
    pub kind: Option<DecisionType>,
    /// What is wrong, in the order of the payload's own fields.
    pub faults: Vec<Fault>,
    /// Faults beyond those listed.
    pub more: usize,
    /// What could not be checked for want of a list of what exists.
    pub unchecked: Vec<Unchecked>,
    /// The rule under which the decision asks for a person, where it does.
    pub asks: Option<RuleId>,
}

impl Report {
    /// Returns true when nothing is wrong.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }

    /// Returns true when nothing is wrong that a JSON Schema could express.
    #[must_use]
    pub fn has_shape(&self) -> bool {
        !self.faults.iter().any(|fault| fault.code.is_shape())
    }

    pub(super) fn fault(&mut self, code: Code, at: &At<'_>, message: impl Into<String>) {
        if self.faults.len() >= MAX_FAULTS {
            self.more += 1;
            return;
        }
        self.faults.push(Fault {
            pointer: at.pointer(),
            code,
            message: message.into(),
        });
    }

    pub(super) fn unchecked(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.unchecked.push(Unchecked {
            pointer: at.pointer(),
            message: message.into(),
        });
    }
}
