//! The rules that no table expresses: graphs, dangers, limits, names that have to exist.

use super::danger::{self, Scope};
use super::graph;
use super::json::quoted;
use super::kind::{DecisionType, NodeType};
use super::known::{Node, Workflow};
use super::pointer::At;
use super::report::{Code, Report};
use super::shapes;
use super::tree::{Json, Object};
use super::validate::Check;

impl<'k> Check<'_, 'k> {
    /// The rules that look beyond one object.
    pub(super) fn meaning(&mut self, kind: DecisionType, payload: &Object<'_>, at: &At<'_>) {
        match kind {
            DecisionType::Respond | DecisionType::Continue | DecisionType::RequestClarification => {
            }
            DecisionType::CreateNode => {
                self.node(payload, "node_type", at);
            }
            DecisionType::CreateWorkflowPlan => self.plan(payload, at),
            DecisionType::ExecuteWorkflow => self.execution(payload, at),
            DecisionType::ModifyNode => self.modification(payload, at),
            DecisionType::ErrorRecovery => self.recovery(payload, at),
            DecisionType::ReplanWorkflow => self.replan(payload, at),
            DecisionType::SpawnSubagent => self.spawn(payload, at),
        }
    }

    /// A node's type against the policy, its configuration against the dangers.
    fn node(&mut self, node: &Object<'_>, type_field: &str, at: &At<'_>) {
        let word = node.get(type_field).and_then(Json::as_text);
        let kind = word.and_then(NodeType::from_word);
        if let (Some(word), Some(allowed)) = (word, &self.known.node_types)
            && kind.is_some_and(|kind| !matches!(kind, NodeType::Start | NodeType::End))
            && !allowed.iter().any(|allowed| allowed == word)
        {
            self.fault(
                Code::PolicyNodeType,
                &at.key(type_field),
                format!("{word} nodes are not allowed here"),
            );
        }
        let Some(config) = node.get("config").and_then(Json::as_object) else {
            return;
        };
        let here = at.key("config");
        let scope = Scope::of_node(self.known, kind, config);
        danger::search(self.report, scope, config, &here);
        for name in ["input_mapping", "output_mapping", "retry_config"] {
            if let Some(mapping) = node.get(name).and_then(Json::as_object) {
                danger::search(self.report, Scope::free(self.known), mapping, &at.key(name));
            }
        }
        if let Some(most) = self.known.max_tokens
            && let Some(asked) = config.get("max_tokens").and_then(Json::as_number)
            && kind == Some(NodeType::Llm)
            && asked > most_tokens(most)
        {
            self.fault(
                Code::LimitTokens,
                &here.key("max_tokens"),
                format!("{asked} tokens asked for; at most {most} are allowed"),
            );
        }
    }

    fn plan(&mut self, payload: &Object<'_>, at: &At<'_>) {
        let nodes = payload.get("nodes").and_then(Json::as_list).unwrap_or(&[]);
        let edges = payload.get("edges").and_then(Json::as_list).unwrap_or(&[]);
        let nodes_at = at.key("nodes");
        let mut calls = 0;
        for (index, node) in nodes.iter().enumerate() {
            let Some(node) = node.as_object() else {
                continue;
            };
            self.node(node, "type", &nodes_at.index(index));
            calls += usize::from(node.get("type").and_then(Json::as_text) == Some("HTTP"));
        }
        if let Some(most) = self.known.max_api_calls
            && calls > most
        {
            self.fault(
                Code::LimitCalls,
                &nodes_at,
                format!("{calls} HTTP nodes; at most {most} are allowed"),
            );
        }
        graph::check(self.report, nodes, edges, at);
        for (index, edge) in edges.iter().enumerate() {
            if let Some(edge) = edge.as_object() {
                let edges_at = at.key("edges");
                danger::search(
                    self.report,
                    Scope::free(self.known),
                    edge,
                    &edges_at.index(index),
                );
            }
        }
        if let Some(global) = payload.get("global_config").and_then(Json::as_object) {
            danger::search(
                self.report,
                Scope::free(self.known),
                global,
                &at.key("global_config"),
            );
        }
    }

    /// The workflow that a payload names; `None` where it is unknown or there is no list.
    fn workflow(&mut self, payload: &Object<'_>, at: &At<'_>) -> Option<&'k Workflow> {
        let id = payload.get("workflow_id").and_then(Json::as_text)?;
        let here = at.key("workflow_id");
        let known = self.known;
        let Some(workflows) = &known.workflows else {
            self.report.unchecked(
                &here,
                format!(
                    "whether {} exists: no list of workflows was given",
                    quoted(id)
                ),
            );
            return None;
        };
        let workflow = workflows.get(id);
        if workflow.is_none() {
            self.fault(
                Code::KnownWorkflow,
                &here,
                format!("there is no workflow {}", quoted(id)),
            );
        }
        workflow
    }

    fn execution(&mut self, payload: &Object<'_>, at: &At<'_>) {
        let params = payload.get("input_params").and_then(Json::as_object);
        let params_at = at.key("input_params");
        if let Some(params) = params {
            danger::search(self.report, Scope::free(self.known), params, &params_at);
        }
        let Some(workflow) = self.workflow(payload, at) else {
            return;
        };
        if let Some(state) = &workflow.state
            && !matches!(state.as_str(), "READY" | "COMPLETED")
        {
            self.fault(
                Code::KnownState,
                &at.key("workflow_id"),
                format!("the workflow is {state}; it has to be READY or COMPLETED"),
            );
        }
        let Some(inputs) = &workflow.inputs else {
            return;
        };
        for (name, _) in params.iter().flat_map(|params| params.iter()) {
            if !inputs.contains_key(name) {
                self.fault(
                    Code::KnownInput,
                    &params_at.key(name),
                    format!("the workflow has no input {}", quoted(name)),
                );
            }
        }
        for (name, input) in inputs {
            if input.required && params.is_none_or(|params| params.get(name).is_none()) {
                self.fault(
                    Code::KnownInput,
                    &params_at.key(name),
                    format!("the workflow needs the input {}", quoted(name)),
                );
            }
        }
    }

    fn modification(&mut self, payload: &Object<'_>, at: &At<'_>) {
        let id = payload.get("node_id").and_then(Json::as_text);
        let updates = payload.get("updates").and_then(Json::as_object);
        let known = self.known;
        let node = id.and_then(|id| known.node(id));
        if let Some(id) = id
            && node.is_none()
        {
            let here = at.key("node_id");
            if known.lists_nodes() {
                self.fault(
                    Code::KnownNode,
                    &here,
                    format!("there is no node {}", quoted(id)),
                );
            } else {
                self.report.unchecked(
                    &here,
                    format!("whether {} exists: no list of nodes was given", quoted(id)),
                );
            }
        }
        let Some(updates) = updates else { return };
        let here = at.key("updates");
        let kind = node
            .and_then(|node| node.kind.as_deref())
            .and_then(NodeType::from_word);
        self.dangerous_updates(updates, kind, &here);
        if let (Some(node), Some(kind)) = (node, kind) {
            self.modified(node, kind, updates, &here);
        }
    }

    /// The configuration as it would be afterwards has to be valid still.
    fn modified(&mut self, node: &Node, kind: NodeType, updates: &Object<'_>, at: &At<'_>) {
        let value = serde_json::Value::Object(node.config.clone().unwrap_or_default());
        let Json::Object(mut config) = Json::from_value(&value) else {
            return;
        };
        let mut kind = kind;
        for (name, value) in updates.iter() {
            if matches!(name, "type" | "node_type") {
                kind = value
                    .as_text()
                    .and_then(NodeType::from_word)
                    .unwrap_or(kind);
            } else if name == "config" {
                for (name, value) in value.as_object().iter().flat_map(|object| object.iter()) {
                    config.set(name, owned(value));
                }
            } else {
                let field = name.strip_prefix("config.").unwrap_or(name);
                if !field.contains('.') {
                    config.set(field, owned(value));
                }
            }
        }
        let mut after = Report::default();
        Check {
            report: &mut after,
            known: self.known,
        }
        .shape(shapes::config(kind), &config, at);
        for fault in after.faults {
            let name = fault.pointer.rsplit('/').next().unwrap_or_default();
            let told = self.report.faults.iter().any(|told| {
                told.pointer.ends_with(&format!("/{name}"))
                    || told.pointer.ends_with(&format!("/config.{name}"))
            });
            if !told {
                self.fault(
                    fault.code,
                    at,
                    format!(
                        "the node would not be valid afterwards: {name}: {}",
                        fault.message
                    ),
                );
            }
        }
    }

    fn dangerous_updates(&mut self, updates: &Object<'_>, kind: Option<NodeType>, at: &At<'_>) {
        let url = ["config.url", "url"]
            .iter()
            .find_map(|name| updates.get(name).and_then(Json::as_text));
        let scope = Scope {
            known: self.known,
            node: kind,
            url,
        };
        danger::search(self.report, scope, updates, at);
    }

    fn node_of(&mut self, workflow: Option<&Workflow>, value: Option<&Json<'_>>, at: &At<'_>) {
        if let Some(nodes) = workflow.and_then(|workflow| workflow.nodes.as_ref())
            && let Some(id) = value.and_then(Json::as_text)
            && !nodes.contains_key(id)
        {
            self.fault(
                Code::KnownNode,
                at,
                format!("the workflow has no node {}", quoted(id)),
            );
        }
    }

    fn recovery(&mut self, payload: &Object<'_>, at: &At<'_>) {
        let workflow = self.workflow(payload, at);
        self.node_of(
            workflow,
            payload.get("failed_node_id"),
            &at.key("failed_node_id"),
        );
        let Some(plan) = payload.get("recovery_plan").and_then(Json::as_object) else {
            return;
        };
        let here = at.key("recovery_plan");
        self.node_of(
            workflow,
            plan.get("alternative_node"),
            &here.key("alternative_node"),
        );
        if let Some(changes) = plan.get("modifications").and_then(Json::as_object) {
            let kind = payload
                .get("failed_node_id")
                .and_then(Json::as_text)
                .and_then(|id| workflow?.nodes.as_ref()?.get(id)?.kind.as_deref())
                .and_then(NodeType::from_word);
            self.dangerous_updates(changes, kind, &here.key("modifications"));
        }
    }

    fn replan(&mut self, payload: &Object<'_>, at: &At<'_>) {
        let workflow = self.workflow(payload, at);
        let here = at.key("preserve_nodes");
        for (index, id) in payload
            .get("preserve_nodes")
            .and_then(Json::as_list)
            .unwrap_or(&[])
            .iter()
            .enumerate()
        {
            self.node_of(workflow, Some(id), &here.index(index));
        }
        let Some(changes) = payload.get("suggested_changes").and_then(Json::as_object) else {
            return;
        };
        let here = at.key("suggested_changes");
        for (name, value) in changes.iter() {
            let within = here.key(name);
            match value {
                Json::List(items) => {
                    for (index, item) in items.iter().enumerate() {
                        if let Json::Object(node) = item {
                            self.suggested(node, &within.index(index));
                        }
                    }
                }
                Json::Object(object) => self.suggested(object, &within),
                _ => {}
            }
        }
    }

    /// A node, an edge or a set of changes that a new plan could hold.
    fn suggested(&mut self, part: &Object<'_>, at: &At<'_>) {
        if let Some(config) = part.get("config").and_then(Json::as_object) {
            let here = at.key("config");
            for field in shapes::RULED_CONFIG
                .field("timeout")
                .into_iter()
                .chain(shapes::TIMES.fields)
            {
                if let Some(time @ Json::Number(_)) = config.get(field.name) {
                    self.kind(field.kind, time, config, &here.key(field.name));
                }
            }
            let type_field = if part.get("node_type").is_some() {
                "node_type"
            } else {
                "type"
            };
            self.node(part, type_field, at);
        } else {
            self.dangerous_updates(part, None, at);
        }
    }

    fn spawn(&mut self, payload: &Object<'_>, at: &At<'_>) {
        let task = payload.get("task_payload").and_then(Json::as_object);
        let task_at = at.key("task_payload");
        if let Some(task) = task {
            danger::search(self.report, Scope::free(self.known), task, &task_at);
        }
        let Some(kind) = payload.get("subagent_type").and_then(Json::as_text) else {
            return;
        };
        let here = at.key("subagent_type");
        let known = self.known;
        let Some(registered) = &known.subagents else {
            self.report.unchecked(
                &here,
                format!(
                    "whether {} is registered: no list of sub-agents was given",
                    quoted(kind)
                ),
            );
            return;
        };
        let Some(subagent) = registered.get(kind) else {
            let names: Vec<&str> = registered.keys().map(String::as_str).collect();
            self.fault(
                Code::KnownSubagent,
                &here,
                format!(
                    "{} is not registered; there are {}",
                    quoted(kind),
                    names.join(", ")
                ),
            );
            return;
        };
        for name in &subagent.required {
            if task.is_none_or(|task| task.get(name).is_none()) {
                self.fault(
                    Code::KnownSubagent,
                    &task_at.key(name),
                    format!("a {kind} needs {name}"),
                );
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "limits of tokens are far below 2^53"
)]
fn most_tokens(most: u64) -> f64 {
    most as f64
}

fn owned(value: &Json<'_>) -> Json<'static> {
    Json::from_value(&value.to_value())
}
