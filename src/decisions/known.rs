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
    /// What exists by this list, and what both it and the agreed one allow.
    ///
    /// What exists changes with the work; what is allowed is a person's to say,
    /// so a list that nobody has agreed to can only make it stricter.
    #[must_use]
    pub fn under(self, agreed: Self) -> Self {
        Self {
            workflows: self.workflows,
            nodes: self.nodes,
            subagents: self.subagents,
            node_types: both(self.node_types, agreed.node_types, |a, b| a == b),
            domains: both(self.domains, agreed.domains, |a, b| {
                let (a, b) = (a.trim_start_matches("*."), b.trim_start_matches("*."));
                a == b || a.strip_suffix(b).is_some_and(|head| head.ends_with('.'))
            }),
            env: self
                .env
                .into_iter()
                .filter(|name| agreed.env.contains(name))
                .collect(),
            max_tokens: self.max_tokens.into_iter().chain(agreed.max_tokens).min(),
            max_api_calls: self
                .max_api_calls
                .into_iter()
                .chain(agreed.max_api_calls)
                .min(),
            sandbox: self.sandbox && agreed.sandbox,
        }
    }

    /// Returns true where another list allows the same.
    #[must_use]
    pub fn allows_like(&self, other: &Self) -> bool {
        self.sandbox == other.sandbox
            && self.env == other.env
            && self.node_types == other.node_types
            && self.domains == other.domains
            && self.max_tokens == other.max_tokens
            && self.max_api_calls == other.max_api_calls
    }

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

/// What two lists of allowed words both allow; no list allows all.
fn both(
    one: Option<Vec<String>>,
    other: Option<Vec<String>>,
    within: impl Fn(&str, &str) -> bool,
) -> Option<Vec<String>> {
    match (one, other) {
        (None, only) | (only, None) => only,
        (Some(one), Some(other)) => {
            let inside = |word: &String, list: &[String]| list.iter().any(|of| within(word, of));
            let mut allowed: Vec<String> = one
                .iter()
                .filter(|word| inside(word, &other))
                .cloned()
                .collect();
            for word in &other {
                if inside(word, &one) && !allowed.contains(word) {
                    allowed.push(word.clone());
                }
            }
            Some(allowed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Known {
        serde_json::from_str(text).expect("a list")
    }

    #[test]
    fn a_list_that_nobody_agreed_to_only_makes_it_stricter() {
        let agreed = known(
            r#"{"sandbox":true,"env":["A","B"],"domains":["x.org"],"node_types":["LLM","HTTP"],"max_tokens":100}"#,
        );
        let looser = known(
            r#"{"workflows":{"w":{}},"sandbox":true,"env":["A","B","C"],"domains":["x.org","evil.org"],"max_tokens":900,"max_api_calls":9}"#,
        );
        let counts = looser.under(agreed.clone());
        assert!(counts.workflows.is_some());
        assert!(counts.sandbox);
        assert_eq!(counts.env, ["A", "B"]);
        assert_eq!(counts.domains, Some(vec!["x.org".to_owned()]));
        assert_eq!(counts.node_types, agreed.node_types);
        assert_eq!(
            (counts.max_tokens, counts.max_api_calls),
            (Some(100), Some(9))
        );
        let stricter = known(r#"{"domains":["api.x.org"],"node_types":["LLM"],"max_tokens":5}"#);
        let counts = stricter.under(agreed);
        assert!(!counts.sandbox && counts.env.is_empty());
        assert_eq!(counts.domains, Some(vec!["api.x.org".to_owned()]));
        assert_eq!(counts.node_types, Some(vec!["LLM".to_owned()]));
        assert_eq!(counts.max_tokens, Some(5));
        let counts = known(r#"{"sandbox":true,"env":["A"]}"#).under(Known::default());
        assert!(!counts.sandbox && counts.env.is_empty());
    }
}
