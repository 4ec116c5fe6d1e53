//! Finds dangerous operations in what nodes, updates and tasks would do.
//!
//! Section 3.1 of `decision_payload_mapping` forbids three things: arbitrary
//! code outside a sandbox, sensitive environment variables, and changes to
//! system files. What a value does depends on where it stands: code is read as
//! Python, a command as shell, a query as SQL, a URL as a URL; prose is only
//! searched for references that the executor would fill in.

mod command;
mod env;
mod path;
mod python;
mod sql;
mod url;

use super::kind::NodeType;
use super::known::Known;
use super::pointer::At;
use super::report::{Code, Report};
use super::tree::{Json, Object};

/// A dangerous operation, as its finder words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Danger {
    code: Code,
    message: String,
}

impl Danger {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'s> {
    /// What the caller knows and allows.
    pub(super) known: &'s Known,
    /// The type of the node, where it is known.
    pub(super) node: Option<NodeType>,
    /// The URL that the node calls, where it has one.
    pub(super) url: Option<&'s str>,
}

impl<'s> Scope<'s> {
    /// The scope of a node's configuration.
    pub(super) fn of_node(
        known: &'s Known,
        node: Option<NodeType>,
        config: &'s Object<'_>,
    ) -> Self {
        Self {
            known,
            node,
            url: config.get("url").and_then(Json::as_text),
        }
    }

    /// The scope of a value that belongs to no node.
    pub(super) fn free(known: &'s Known) -> Self {
        Self {
            known,
            node: None,
            url: None,
        }
    }
}

/// What the value of a member is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Python.
    Code,
    /// A shell command, as text or as a list of arguments.
    Command,
    /// SQL or another query language.
    Query,
    /// A URL.
    Url,
    /// Text for people or models.
    Prose,
    /// Anything else.
    Plain,
}

/// The role of a member by its name; of a dotted update path, by its last part.
fn role(name: &str) -> Role {
    let last = name.rsplit('.').next().unwrap_or(name);
    match last.to_ascii_lowercase().as_str() {
        "code" | "python" | "source_code" | "python_code" => Role::Code,
        "command" | "cmd" | "commands" | "shell" | "bash" | "sh" | "script" | "shell_command"
        | "entrypoint" | "exec" => Role::Command,
        "query" | "sql" | "statement" | "statements" | "queries" => Role::Query,
        "url" | "uri" | "endpoint" | "base_url" | "webhook" | "webhook_url" | "proxy"
        | "callback_url" | "redirect_uri" => Role::Url,
        "prompt"
        | "messages"
        | "content"
        | "description"
        | "system"
        | "system_prompt"
        | "name"
        | "node_name"
        | "reason"
        | "text"
        | "title"
        | "subject"
        | "question"
        | "goal"
        | "current_goal"
        | "task"
        | "instructions"
        | "summary"
        | "message"
        | "conversation_history" => Role::Prose,
        _ => Role::Plain,
    }
}

/// Searches a value and everything in it.
pub(super) fn search(report: &mut Report, scope: Scope<'_>, object: &Object<'_>, at: &At<'_>) {
    for (name, value) in object.iter() {
        let slot = Slot {
            name,
            role: role(name),
            auth: env::is_auth_slot(scope.node, name),
        };
        visit(report, scope, value, slot, &at.key(name));
    }
}

/// The member under which a value stands, handed down to what it contains.
#[derive(Clone, Copy)]
struct Slot<'n> {
    name: &'n str,
    role: Role,
    auth: env::AuthSlot,
}

fn visit(report: &mut Report, scope: Scope<'_>, value: &Json<'_>, slot: Slot<'_>, at: &At<'_>) {
    match value {
        Json::Null | Json::Flag(_) | Json::Number(_) => {}
        Json::Text(text) => tell(report, at, found_in(scope, text, slot)),
        Json::List(items) => {
            if slot.role == Role::Command
                && let Some(argv) = words(items)
            {
                tell(report, at, command::dangers(&argv.join(" "), scope.known));
            }
            for (index, item) in items.iter().enumerate() {
                // A list of arguments was judged whole above; each word by itself is no command.
                let role = match slot.role {
                    Role::Command if words(items).is_some() && !looks_like_lines(items) => {
                        Role::Plain
                    }
                    role => role,
                };
                visit(report, scope, item, Slot { role, ..slot }, &at.index(index));
            }
        }
        Json::Object(object) => {
            for (name, value) in object.iter() {
                let here = at.key(name);
                if slot.name == "env"
                    && let Some(danger) = env::setting(name)
                {
                    tell(report, &here, vec![danger]);
                }
                let own = role(name);
                let inner = Slot {
                    name,
                    role: if own == Role::Plain && slot.role == Role::Prose {
                        Role::Prose
                    } else {
                        own
                    },
                    auth: slot.auth.or(env::is_auth_slot(scope.node, name)),
                };
                visit(report, scope, value, inner, &here);
            }
        }
    }
}

/// The words of a list of strings.
fn words<'j>(items: &'j [Json<'_>]) -> Option<Vec<&'j str>> {
    items.iter().map(Json::as_text).collect()
}

/// Returns true for a list whose items are whole commands rather than words of one.
fn looks_like_lines(items: &[Json<'_>]) -> bool {
    items
        .first()
        .and_then(Json::as_text)
        .is_some_and(|first| first.trim().contains(' '))
}

fn found_in(scope: Scope<'_>, text: &str, slot: Slot<'_>) -> Vec<Danger> {
    let mut dangers = env::references(text, slot.auth, scope);
    match slot.role {
        Role::Code => dangers.extend(python::dangers(text, scope.known)),
        Role::Command => dangers.extend(command::dangers(text, scope.known)),
        Role::Query => dangers.extend(sql::dangers(text)),
        Role::Url => dangers.extend(url::dangers(text, scope.known)),
        Role::Prose => {}
        Role::Plain => {
            if url::is_file_url(text) {
                dangers.extend(url::dangers(text, scope.known));
            } else if let Some(danger) = path::whole(text) {
                dangers.push(danger);
            }
        }
    }
    dangers
}

fn tell(report: &mut Report, at: &At<'_>, dangers: Vec<Danger>) {
    for danger in dangers {
        report.fault(danger.code, at, danger.message);
    }
}
