//! The ten decision payload types: validate, correct, queue (SPEC §11). Pure.
//!
//! The way of a payload: [`documents`] splits what came into single decisions,
//! [`json`] reads each strictly, [`envelope`] takes the payload out of its
//! event, [`validate`] holds it against the tables of `shapes` and against the
//! rules that no table expresses, [`correct`] repairs what can be repaired and
//! validates again, [`queue`] puts several in order. [`schema`] writes the
//! tables as JSON Schema.
//!
//! Source: the seed document `decision_payload_mapping`.

mod asks;
mod correct;
mod danger;
pub mod documents;
mod envelope;
mod fields;
mod graph;
pub mod json;
mod kind;
mod known;
mod meaning;
mod names;
mod pointer;
pub mod queue;
mod report;
mod schema;
mod shapes;
mod tree;
mod validate;

pub use asks::next;
pub use correct::{Change, ChangeKind, correct};
pub use envelope::{Envelope, open};
pub use kind::{DecisionType, Intent, NodeType};
pub use known::{Input, Known, Node, Subagent, Workflow};
pub use report::{Code, Fault, Report, Unchecked};
pub use schema::{schema, schema_of_all};
pub use shapes::{MAX_BYTES, MAX_NODE_SECONDS, MAX_NODES};
pub use tree::{Json, Number, Object};
pub use validate::{Expected, unreadable, validate, validate_text, wire};

#[cfg(test)]
mod tests;
