//! The ten decision types, their priorities, and the intents that may lead to each.
//!
//! Source: `decision_payload_mapping`, sections 2, 4 and 5.

use std::fmt;

macro_rules! kinds {
    ($($variant:ident $word:literal $priority:literal $meaning:literal;)*) => {
        /// A type of decision.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "`meaning` says what each is for")]
        pub enum DecisionType {
            $($variant,)*
        }

        impl DecisionType {
            /// All types, most urgent first.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word in `action_type`.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The place in the queue: 1 is the most urgent, 10 the least.
            #[must_use]
            pub const fn priority(self) -> u8 {
                match self { $(Self::$variant => $priority,)* }
            }

            /// What such a decision is for.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

kinds! {
    ErrorRecovery "error_recovery" 1 "goes on after a node has failed";
    RequestClarification "request_clarification" 2 "asks the user what is missing";
    ReplanWorkflow "replan_workflow" 3 "changes a workflow that does not work";
    SpawnSubagent "spawn_subagent" 4 "gives a task to a sub-agent";
    ExecuteWorkflow "execute_workflow" 5 "runs a workflow that exists";
    CreateWorkflowPlan "create_workflow_plan" 6 "plans a workflow of several nodes";
    ModifyNode "modify_node" 7 "changes a node's configuration";
    CreateNode "create_node" 8 "makes one node";
    Respond "respond" 9 "answers the user";
    Continue "continue" 10 "goes on thinking";
}

impl DecisionType {
    /// The type of a word, exactly as written in `action_type`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }

    /// The type of a word in either of the spellings of the events: `create_node` or `CREATE_NODE`.
    #[must_use]
    pub fn from_any_case(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.word().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for DecisionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What the user wanted, as the conversation classed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// A greeting.
    Greeting,
    /// A question that needs one tool at most.
    SimpleQuery,
    /// A task of one or more steps.
    ComplexTask,
    /// A workflow to be run or made.
    WorkflowRequest,
    /// Not clear.
    Unknown,
}

impl Intent {
    /// All intents.
    pub const ALL: &[Self] = &[
        Self::Greeting,
        Self::SimpleQuery,
        Self::ComplexTask,
        Self::WorkflowRequest,
        Self::Unknown,
    ];

    /// The intent's word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Greeting => "GREETING",
            Self::SimpleQuery => "SIMPLE_QUERY",
            Self::ComplexTask => "COMPLEX_TASK",
            Self::WorkflowRequest => "WORKFLOW_REQUEST",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// The intent of a word, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|intent| intent.word().eq_ignore_ascii_case(word))
    }

    /// The decisions to which the intent may lead.
    ///
    /// The seed's table names no intent for changing a node; a request about a
    /// workflow is the one from which it comes (scenario 7).
    #[must_use]
    pub const fn decisions(self) -> &'static [DecisionType] {
        match self {
            Self::Greeting => &[DecisionType::Respond],
            Self::SimpleQuery => &[DecisionType::Respond, DecisionType::CreateNode],
            Self::ComplexTask => &[
                DecisionType::CreateNode,
                DecisionType::CreateWorkflowPlan,
                DecisionType::SpawnSubagent,
            ],
            Self::WorkflowRequest => &[
                DecisionType::ExecuteWorkflow,
                DecisionType::CreateWorkflowPlan,
                DecisionType::ModifyNode,
            ],
            Self::Unknown => &[DecisionType::RequestClarification],
        }
    }

    /// Returns true where the intent may lead to the decision.
    ///
    /// Going on to think, recovering and replanning come from the agent and
    /// the system, not from what the user wanted; no intent rules them out.
    #[must_use]
    pub fn allows(self, kind: DecisionType) -> bool {
        matches!(
            kind,
            DecisionType::Continue | DecisionType::ErrorRecovery | DecisionType::ReplanWorkflow
        ) || self.decisions().contains(&kind)
    }
}

impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A type of workflow node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeType {
    /// A call of a language model.
    Llm,
    /// A request over HTTP.
    Http,
    /// Python code.
    Python,
    /// A database query.
    Database,
    /// A branch.
    Condition,
    /// A repetition.
    Loop,
    /// The entry of a plan; only inside plans.
    Start,
    /// The exit of a plan; only inside plans.
    End,
}

impl NodeType {
    /// All types that a node of a plan may have.
    pub const ALL: &[Self] = &[
        Self::Llm,
        Self::Http,
        Self::Python,
        Self::Database,
        Self::Condition,
        Self::Loop,
        Self::Start,
        Self::End,
    ];

    /// The type's word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Llm => "LLM",
            Self::Http => "HTTP",
            Self::Python => "PYTHON",
            Self::Database => "DATABASE",
            Self::Condition => "CONDITION",
            Self::Loop => "LOOP",
            Self::Start => "START",
            Self::End => "END",
        }
    }

    /// The type of a word, exactly as written.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

/// The words of the types that one node by itself may have.
pub(super) const NODE_TYPES: &[&str] = &["LLM", "HTTP", "PYTHON", "DATABASE", "CONDITION", "LOOP"];

/// The words of the types that a node of a plan may have.
pub(super) const PLAN_NODE_TYPES: &[&str] = &[
    "LLM",
    "HTTP",
    "PYTHON",
    "DATABASE",
    "CONDITION",
    "LOOP",
    "START",
    "END",
];
