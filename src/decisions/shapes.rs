//! The ten payloads, their parts and the nodes' configurations, as tables.
//!
//! Source: `decision_payload_mapping`, section 2, scenarios 1 to 10.

use super::fields::{
    Default, Field, Kind, Others, Range, Shape, Tie, needed, needed_or, nullable, optional,
};
use super::kind::{DecisionType, NODE_TYPES, NodeType, PLAN_NODE_TYPES};

/// The longest that one node may take, in seconds (section 3.1).
pub const MAX_NODE_SECONDS: f64 = 300.0;
/// The most nodes of one plan (section 3.1).
pub const MAX_NODES: usize = 50;
/// The most bytes of one payload as it came (section 3.1).
pub const MAX_BYTES: usize = 1024 * 1024;

const UNIT: Range = Range::of(0.0, 1.0);
const SECONDS: Kind = Kind::Number(Range::above_zero(Some(MAX_NODE_SECONDS)));
const MILLISECONDS: Kind = Kind::Number(Range::above_zero(Some(MAX_NODE_SECONDS * 1000.0)));

/// The members of an execution context that tell of a failure.
///
/// A result under `node_outputs` with `"status": "failed"` or an `error` tells of one too.
pub(super) const FAILURE_KEYS: &[&str] = &[
    "failure_reason",
    "failed_attempts",
    "failed_node_id",
    "failed_nodes",
    "failures",
    "failure",
    "error",
    "errors",
    "error_code",
    "last_error",
];

/// The words by which a node's output says that it failed.
pub(super) const FAILED_WORDS: &[&str] =
    &["failed", "error", "timeout", "FAILED", "ERROR", "TIMEOUT"];

const ACTION_TYPE: Field = needed("action_type", Kind::Filled);

const fn closed(fields: &'static [Field], ties: &'static [Tie]) -> Shape {
    Shape {
        fields,
        others: Others::Refused,
        ties,
    }
}

const fn open(fields: &'static [Field], ties: &'static [Tie]) -> Shape {
    Shape {
        fields,
        others: Others::Kept,
        ties,
    }
}

/// The shape of a type's payload.
pub(super) const fn payload(kind: DecisionType) -> &'static Shape {
    match kind {
        DecisionType::Respond => &RESPOND,
        DecisionType::CreateNode => &CREATE_NODE,
        DecisionType::CreateWorkflowPlan => &CREATE_WORKFLOW_PLAN,
        DecisionType::ExecuteWorkflow => &EXECUTE_WORKFLOW,
        DecisionType::RequestClarification => &REQUEST_CLARIFICATION,
        DecisionType::Continue => &CONTINUE,
        DecisionType::ModifyNode => &MODIFY_NODE,
        DecisionType::ErrorRecovery => &ERROR_RECOVERY,
        DecisionType::ReplanWorkflow => &REPLAN_WORKFLOW,
        DecisionType::SpawnSubagent => &SPAWN_SUBAGENT,
    }
}

static RESPOND: Shape = closed(
    &[
        ACTION_TYPE,
        needed("response", Kind::Filled),
        needed_or(
            "intent",
            Kind::Word(&["greeting", "simple_query"]),
            Default::Text("simple_query"),
        ),
        needed_or("confidence", Kind::Number(UNIT), Default::Number(0.5)),
        optional("requires_followup", Kind::Flag),
    ],
    &[],
);

static RETRY_CONFIG: Shape = open(
    &[
        optional("max_retries", Kind::Whole(Range::of(0.0, 100.0))),
        optional("retry_delay", Kind::Number(Range::from(0.0))),
    ],
    &[],
);

static CREATE_NODE: Shape = closed(
    &[
        ACTION_TYPE,
        needed("node_type", Kind::Word(NODE_TYPES)),
        needed_or("node_name", Kind::Filled, Default::Beside("node_type")),
        needed(
            "config",
            Kind::NodeConfig {
                beside: "node_type",
            },
        ),
        optional("description", Kind::Text),
        nullable("retry_config", Kind::Shaped(&RETRY_CONFIG)),
    ],
    &[],
);

static PLAN_NODE: Shape = closed(
    &[
        needed("node_id", Kind::Filled),
        needed("type", Kind::Word(PLAN_NODE_TYPES)),
        needed_or("name", Kind::Filled, Default::Beside("node_id")),
        needed("config", Kind::NodeConfig { beside: "type" }),
        nullable("input_mapping", Kind::Object),
        nullable("output_mapping", Kind::Object),
    ],
    &[],
);

static PLAN_EDGE: Shape = closed(
    &[
        needed("source", Kind::Filled),
        needed("target", Kind::Filled),
        nullable("condition", Kind::Text),
    ],
    &[],
);

static GLOBAL_CONFIG: Shape = open(
    &[
        optional("timeout", Kind::Number(Range::above_zero(None))),
        optional("env", Kind::Object),
    ],
    &[],
);

static CREATE_WORKFLOW_PLAN: Shape = closed(
    &[
        ACTION_TYPE,
        needed("name", Kind::Filled),
        needed_or("description", Kind::Text, Default::Beside("name")),
        needed(
            "nodes",
            Kind::List {
                least: 1,
                most: Some(MAX_NODES),
                each: &Kind::Shaped(&PLAN_NODE),
            },
        ),
        needed_or(
            "edges",
            Kind::List {
                least: 0,
                most: None,
                each: &Kind::Shaped(&PLAN_EDGE),
            },
            Default::List,
        ),
        nullable("global_config", Kind::Shaped(&GLOBAL_CONFIG)),
    ],
    &[],
);

static EXECUTE_WORKFLOW: Shape = closed(
    &[
        ACTION_TYPE,
        needed("workflow_id", Kind::Filled),
        nullable("input_params", Kind::Object),
        optional("execution_mode", Kind::Word(&["sync", "async"])),
        optional("notify_on_completion", Kind::Flag),
    ],
    &[],
);

static REQUEST_CLARIFICATION: Shape = closed(
    &[
        ACTION_TYPE,
        needed("question", Kind::Filled),
        nullable(
            "options",
            Kind::List {
                least: 1,
                most: None,
                each: &Kind::Filled,
            },
        ),
        optional(
            "required_fields",
            Kind::List {
                least: 0,
                most: None,
                each: &Kind::FieldName,
            },
        ),
        nullable("context", Kind::Object),
    ],
    &[],
);

static CONTINUE: Shape = closed(
    &[
        ACTION_TYPE,
        needed("thought", Kind::Filled),
        nullable("next_step", Kind::Text),
        optional("progress", Kind::Number(UNIT)),
    ],
    &[],
);

static MODIFY_NODE: Shape = closed(
    &[
        ACTION_TYPE,
        needed("node_id", Kind::Filled),
        needed("updates", Kind::Updates),
        nullable("reason", Kind::Text),
    ],
    &[],
);

static RECOVERY_PLAN: Shape = closed(
    &[
        needed("action", Kind::Word(&["RETRY", "SKIP", "ABORT", "MODIFY"])),
        nullable("delay", Kind::Number(Range::from(0.0))),
        nullable("max_attempts", Kind::Whole(Range::from(1.0))),
        nullable("modifications", Kind::Modifications),
        nullable("alternative_node", Kind::Filled),
    ],
    &[
        Tie::When {
            field: "action",
            word: "RETRY",
            needs: "max_attempts",
            default: Default::Whole(3),
        },
        Tie::When {
            field: "action",
            word: "MODIFY",
            needs: "modifications",
            default: Default::None,
        },
    ],
);

static ERROR_RECOVERY: Shape = closed(
    &[
        ACTION_TYPE,
        needed("workflow_id", Kind::Filled),
        needed("failed_node_id", Kind::Filled),
        needed("failure_reason", Kind::Filled),
        nullable("error_code", Kind::Text),
        needed("recovery_plan", Kind::Shaped(&RECOVERY_PLAN)),
        needed_or("execution_context", Kind::Object, Default::Object),
    ],
    &[],
);

static FAILED_CONTEXT: Shape = open(&[], &[Tie::TellsOfFailure]);

static REPLAN_WORKFLOW: Shape = closed(
    &[
        ACTION_TYPE,
        needed("workflow_id", Kind::Filled),
        needed("reason", Kind::Filled),
        needed("execution_context", Kind::Shaped(&FAILED_CONTEXT)),
        nullable("suggested_changes", Kind::Object),
        nullable(
            "preserve_nodes",
            Kind::List {
                least: 0,
                most: None,
                each: &Kind::Filled,
            },
        ),
    ],
    &[],
);

static SPAWN_SUBAGENT: Shape = closed(
    &[
        ACTION_TYPE,
        needed("subagent_type", Kind::Filled),
        needed("task_payload", Kind::Object),
        optional("priority", Kind::Whole(Range::of(0.0, 10.0))),
        nullable("timeout", Kind::Number(Range::above_zero(None))),
        nullable("context_snapshot", Kind::Object),
    ],
    &[],
);

/// The shape of a node type's configuration.
pub(super) const fn config(kind: NodeType) -> &'static Shape {
    match kind {
        NodeType::Http => &HTTP,
        NodeType::Llm => &LLM,
        NodeType::Python => &PYTHON,
        NodeType::Database => &DATABASE,
        NodeType::Condition | NodeType::Loop | NodeType::Start | NodeType::End => &PLAIN,
    }
}

static HTTP: Shape = open(
    &[
        needed("url", Kind::Filled),
        needed_or("method", Kind::Method, Default::Text("GET")),
        optional("timeout", SECONDS),
    ],
    &[],
);

static LLM: Shape = open(
    &[
        optional("prompt", Kind::Filled),
        optional(
            "messages",
            Kind::List {
                least: 1,
                most: None,
                each: &Kind::Any,
            },
        ),
        optional("temperature", Kind::Number(Range::of(0.0, 2.0))),
        optional("top_p", Kind::Number(UNIT)),
        optional("max_tokens", Kind::Whole(Range::from(1.0))),
        optional("timeout", SECONDS),
    ],
    &[Tie::AnyOf(&["prompt", "messages"])],
);

static PYTHON: Shape = open(
    &[needed("code", Kind::Filled), optional("timeout", SECONDS)],
    &[],
);

static DATABASE: Shape = open(
    &[needed("query", Kind::Query), optional("timeout", SECONDS)],
    &[],
);

static PLAIN: Shape = open(&[optional("timeout", SECONDS)], &[]);

/// Other names by which a configuration of any type says how long its node may take.
pub(super) static TIMES: Shape = open(
    &[
        optional("timeout_seconds", SECONDS),
        optional("timeout_secs", SECONDS),
        optional("timeout_sec", SECONDS),
        optional("timeout_s", SECONDS),
        optional("execution_timeout", SECONDS),
        optional("max_execution_time", SECONDS),
        optional("timeout_ms", MILLISECONDS),
        optional("timeout_millis", MILLISECONDS),
        optional("timeoutMs", MILLISECONDS),
    ],
    &[],
);

/// Fields of configurations whose values have rules, whatever the node's type.
///
/// An update names a field without its node's type; no name here means two things.
pub(super) static RULED_CONFIG: Shape = open(
    &[
        optional("url", Kind::Filled),
        optional("method", Kind::Method),
        optional("prompt", Kind::Filled),
        optional(
            "messages",
            Kind::List {
                least: 1,
                most: None,
                each: &Kind::Any,
            },
        ),
        optional("temperature", Kind::Number(Range::of(0.0, 2.0))),
        optional("top_p", Kind::Number(UNIT)),
        optional("max_tokens", Kind::Whole(Range::from(1.0))),
        optional("code", Kind::Filled),
        optional("query", Kind::Query),
        optional("timeout", SECONDS),
    ],
    &[],
);

/// Fields of a node itself that an update may name.
pub(super) static NODE_FIELDS: Shape = open(
    &[
        optional("name", Kind::Filled),
        optional("node_name", Kind::Filled),
        optional("description", Kind::Text),
        optional("type", Kind::Word(PLAN_NODE_TYPES)),
        optional("node_type", Kind::Word(NODE_TYPES)),
        nullable("retry_config", Kind::Shaped(&RETRY_CONFIG)),
        nullable("input_mapping", Kind::Object),
        nullable("output_mapping", Kind::Object),
    ],
    &[],
);

/// Further fields that configurations of the node types have, without rules of their own.
pub(super) const FREE_CONFIG: &[&str] = &[
    "args",
    "auth",
    "body",
    "branches",
    "cache",
    "cases",
    "condition",
    "connection",
    "connection_string",
    "cookies",
    "data",
    "database",
    "default",
    "else",
    "env",
    "expression",
    "false_branch",
    "fetch_size",
    "follow_redirects",
    "frequency_penalty",
    "headers",
    "inputs",
    "item",
    "item_variable",
    "items",
    "iterable",
    "iterator",
    "json",
    "max_iterations",
    "max_retries",
    "max_rows",
    "memory_limit",
    "model",
    "on_error",
    "outputs",
    "packages",
    "parallel",
    "parameters",
    "params",
    "presence_penalty",
    "provider",
    "proxy",
    "requirements",
    "response_format",
    "response_type",
    "retries",
    "retry",
    "retry_config",
    "retry_delay",
    "seed",
    "stop",
    "stream",
    "system",
    "system_prompt",
    "then",
    "tool_choice",
    "tools",
    "top_k",
    "transaction",
    "true_branch",
    "variables",
    "verify_ssl",
];
