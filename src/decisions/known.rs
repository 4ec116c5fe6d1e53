//! What the caller knows and allows: workflows, sub-agents, limits.
//!
//! A payload names things that exist elsewhere. Without a list of them nothing
//! can be said, and the report says so; with one, each name is looked up.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What exists, and what the caller allows (section 3.2 of the seed).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Workflows by id; `None` where there is no list.
    #[serde(default)]
    pub workflows: Option<BTreeMap<String, Workflow>>,
    /// Nodes that belong to no listed workflow, by id.
    #[serde(default)]
    pub nodes: BTreeMap<String, Node>,
    /// Registered sub-agents by type; `None` where there is no list.
    #[serde(default)]
    pub subagents: Option<BTreeMap<String, Subagent>>,
    /// Node types that may be used; `None` allows all.
    #[serde(default)]
    pub node_types: Option<Vec<String>>,
    /// Domains that may be called; `None` allows all.
    #[serde(default)]
    pub domains: Option<Vec<String>>,
    /// Environment variables that payloads may refer to although they look secret.
    #[serde(default)]
    pub env: Vec<String>,
    /// The most tokens that one LLM node may ask for.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// The most HTTP nodes of one plan.
    #[serde(default)]
    pub max_api_calls: Option<usize>,
    /// Nodes run in a sandbox: code and commands are confined there.
    #[serde(default)]
    pub sandbox: bool,
}

/// A workflow that exists.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Its state; it can be run when `READY` or `COMPLETED`.
    #[serde(default)]
    pub state: Option<String>,
    /// Its input parameters; `None` where they are not listed.
    #[serde(default)]
    pub inputs: Option<BTreeMap<String, Input>>,
    /// Its nodes by id; `None` where they are not listed.
    #[serde(default)]
    pub nodes: Option<BTreeMap<String, Node>>,
}

/// An input parameter of a workflow.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Whether a run has to give it.
    #[serde(default)]
    pub required: bool,
}

/// A node that exists.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its type.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Its configuration.
    #[serde(default)]
    pub config: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A registered sub-agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subagent {
    /// Fields that its task has to have.
    #[serde(default)]
    pub required: Vec<String>,
}

impl Known {
    /// The node of an id, in any workflow.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id).or_else(|| {
            self.workflows
                .iter()
                .flatten()
                .filter_map(|(_, workflow)| workflow.nodes.as_ref())
                .find_map(|nodes| nodes.get(id))
        })
    }

    /// Returns true where a list of nodes was given.
    #[must_use]
    pub fn lists_nodes(&self) -> bool {
        !self.nodes.is_empty()
            || self
                .workflows
                .iter()
                .flatten()
                .any(|(_, workflow)| workflow.nodes.is_some())
    }
}
