//! What has to stand in an agent's own settings for its hooks to call us. Pure.
//!
//! Lines are the same on every machine: the program is found by PATH, so that a
//! settings file can be committed, and an agent that trusts hooks by their hash
//! (Codex) goes on trusting them after an upgrade.

use super::Agent;
use serde_json::{Map, Value, json};

/// The words by which a hook in a settings file is known as ours.
const MARK: &str = "holdpoint-hook agent ";

/// Our plugin for OpenCode.
const OPENCODE: &str = include_str!("../../hooks/opencode.js");

/// Seconds that hosts wait for us; our own deadline is far below.
const SECONDS: u64 = 30;

/// Whose settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The repository's, which may be committed.
    Repository,
    /// The user's, for every repository.
    User,
}

/// Where an agent's settings lie, and whether the whole file is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Relative to the repository's top or to the home directory.
    pub path: &'static str,
    /// A variable that names another directory instead of the path's own, for the user's settings.
    pub home_var: Option<(&'static str, &'static str)>,
    /// Nobody else writes to this file.
    pub own: bool,
}

impl Agent {
    /// Where this agent's settings lie.
    #[must_use]
    pub fn place(self, whose: Whose) -> Place {
        let (path, home_var, own) = match (self, whose) {
            (Self::Claude, Whose::Repository) => (".claude/settings.json", None, false),
            (Self::Claude, Whose::User) => (
                ".claude/settings.json",
                Some(("CLAUDE_CONFIG_DIR", "settings.json")),
                false,
            ),
            (Self::Codex, Whose::Repository) => (".codex/hooks.json", None, false),
            (Self::Codex, Whose::User) => (
                ".codex/hooks.json",
                Some(("CODEX_HOME", "hooks.json")),
                false,
            ),
            (Self::Gemini, _) => (".gemini/settings.json", None, false),
            (Self::Cursor, _) => (".cursor/hooks.json", None, false),
            (Self::Copilot, Whose::Repository) => (".github/hooks/holdpoint.json", None, true),
            (Self::Copilot, Whose::User) => (
                ".copilot/hooks/holdpoint.json",
                Some(("COPILOT_HOME", "hooks/holdpoint.json")),
                true,
            ),
            (Self::OpenCode, Whose::Repository) => (".opencode/plugins/holdpoint.js", None, true),
            (Self::OpenCode, Whose::User) => (
                ".config/opencode/plugins/holdpoint.js",
                Some(("XDG_CONFIG_HOME", "opencode/plugins/holdpoint.js")),
                true,
            ),
        };
        Place {
            path,
            home_var,
            own,
        }
    }

    /// The whole file, where it is not JSON.
    #[must_use]
    pub fn plugin(self) -> Option<&'static str> {
        (self == Self::OpenCode).then_some(OPENCODE)
    }

    /// The events that are hooked, each with its entry in the settings.
    #[must_use]
    pub fn entries(self) -> Vec<(&'static str, Value)> {
        let name = self.name();
        let watching = format!("{MARK}{name}");
        match self {
            Self::Claude | Self::Codex | Self::Gemini => {
                let (before, others, every, wait): (_, &[&str], _, _) = match self {
                    Self::Gemini => ("BeforeTool", &["SessionStart", "AfterTool"], ".*", SECONDS * 1000),
                    Self::Codex => ("PreToolUse", &["SessionStart", "PostToolUse"], "*", SECONDS),
                    _ => (
                        "PreToolUse",
                        &["SessionStart", "PostToolUse", "PostToolUseFailure"],
                        "*",
                        SECONDS,
                    ),
                };
                let handler = |command: &str| {
                    let mut handler = Map::new();
                    handler.insert("type".into(), "command".into());
                    if self == Self::Gemini {
                        handler.insert("name".into(), "holdpoint".into());
                    }
                    handler.insert("command".into(), command.into());
                    handler.insert("timeout".into(), wait.into());
                    Value::Object(handler)
                };
                let mut entries = vec![(
                    before,
                    json!({ "matcher": every, "hooks": [handler(&closed(name))] }),
                )];
                for event in others {
                    let mut group = Map::new();
                    if *event != "SessionStart" {
                        group.insert("matcher".into(), every.into());
                    }
                    group.insert("hooks".into(), json!([handler(&watching)]));
                    entries.push((*event, Value::Object(group)));
                }
                entries
            }
            Self::Cursor => ["preToolUse", "postToolUse", "postToolUseFailure", "sessionStart"]
                .into_iter()
                .map(|event| {
                    let mut entry = json!({ "command": format!("{watching} {event}"), "timeout": SECONDS });
                    if event == "preToolUse"
                        && let Some(entry) = entry.as_object_mut()
                    {
                        entry.insert("failClosed".into(), true.into());
                    }
                    (event, entry)
                })
                .collect(),
            Self::Copilot => ["preToolUse", "postToolUse", "sessionStart"]
                .into_iter()
                .map(|event| {
                    (
                        event,
                        json!({ "type": "command", "bash": format!("{watching} {event}"), "timeoutSec": SECONDS }),
                    )
                })
                .collect(),
            Self::OpenCode => Vec::new(),
        }
    }

    /// Puts our hooks into a settings document; returns whether anything changed.
    ///
    /// Other hooks and settings stay as they are, and where they are.
    ///
    /// # Errors
    /// With what in the document is not as this agent writes it.
    pub fn wire(self, document: &mut Value) -> Result<bool, String> {
        let root = document
            .as_object_mut()
            .ok_or("the settings are no JSON object")?;
        let mut changed = false;
        if matches!(self, Self::Cursor | Self::Copilot) && !root.contains_key("version") {
            root.insert("version".into(), 1.into());
            changed = true;
        }
        let hooks = root
            .entry("hooks")
            .or_insert_with(|| Value::Object(Map::new()))
            .as_object_mut()
            .ok_or("`hooks` in the settings is no object")?;
        for (event, entry) in self.entries() {
            let list = hooks
                .entry(event)
                .or_insert_with(|| Value::Array(Vec::new()))
                .as_array_mut()
                .ok_or_else(|| format!("`hooks.{event}` in the settings is no list"))?;
            match list.iter_mut().find(|item| is_ours(item)) {
                Some(item) if *item == entry => {}
                Some(item) => {
                    *item = entry;
                    changed = true;
                }
                None => {
                    list.push(entry);
                    changed = true;
                }
            }
        }
        Ok(changed)
    }
}

/// Takes our hooks out of a settings document; returns whether anything changed.
///
/// Lists and objects that are empty then go too.
pub fn unwire(document: &mut Value) -> bool {
    let Some(root) = document.as_object_mut() else {
        return false;
    };
    let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut) else {
        return false;
    };
    let mut changed = false;
    for list in hooks.values_mut().filter_map(Value::as_array_mut) {
        let before = list.len();
        list.retain(|item| !is_ours(item));
        changed |= list.len() != before;
    }
    if changed {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        if hooks.is_empty() {
            root.remove("hooks");
        }
    }
    changed
}

/// Returns true for an entry all of whose commands are ours.
#[must_use]
pub fn is_ours(entry: &Value) -> bool {
    let command = |value: &Value| {
        ["command", "bash"]
            .iter()
            .any(|key| super::text(value, key).is_some_and(|command| command.starts_with(MARK)))
    };
    match entry.get("hooks").and_then(Value::as_array) {
        Some(handlers) => !handlers.is_empty() && handlers.iter().all(command),
        None => command(entry),
    }
}

/// The command line of our hook before a tool, as it stands in a settings document.
#[must_use]
pub fn command_before_tool(agent: Agent, document: &Value) -> Option<String> {
    let (event, _) = agent.entries().into_iter().next()?;
    let lists = document.get("hooks")?.get(event)?.as_array()?;
    let entry = lists.iter().find(|entry| is_ours(entry))?;
    let handler = entry
        .get("hooks")
        .and_then(|handlers| handlers.get(0))
        .unwrap_or(entry);
    ["command", "bash"]
        .iter()
        .find_map(|key| super::text(handler, key))
        .map(str::to_owned)
}

/// A command that refuses, with words, when our program is missing or dies.
///
/// Hosts go on after any status but 2, and after 2 without words.
fn closed(name: &str) -> String {
    format!(
        "{MARK}{name} || {{ [ $? -eq 2 ] || echo 'holdpoint-hook failed or is not installed: the call is refused' >&2; exit 2; }}"
    )
}

/// The indentation of a JSON text, two spaces where it has none.
#[must_use]
pub fn indentation(text: &str) -> String {
    text.lines()
        .skip(1)
        .map(|line| {
            line.chars()
                .take_while(|c| *c == ' ' || *c == '\t')
                .collect::<String>()
        })
        .find(|indent| !indent.is_empty())
        .unwrap_or_else(|| "  ".to_owned())
}

/// The text that Codex hashes to trust a hook: sorted keys, no spaces, defaults filled in.
#[must_use]
pub fn codex_trusted_text(event: &str, entry: &Value) -> Option<String> {
    let handler = entry.get("hooks")?.get(0)?;
    let mut text = format!(
        "{{\"event_name\":{},\"hooks\":[{{\"async\":false,\"command\":{},\"timeout\":{},\"type\":\"command\"}}]",
        Value::from(snake_case(event)),
        handler.get("command")?,
        handler
            .get("timeout")
            .and_then(Value::as_u64)
            .unwrap_or(600),
    );
    if let Some(matcher) = entry.get("matcher") {
        text.push_str(",\"matcher\":");
        text.push_str(&matcher.to_string());
    }
    text.push('}');
    Some(text)
}

/// `PreToolUse` as `pre_tool_use`.
#[must_use]
pub fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{snake_case, unwire};
    use crate::agents::Agent;
    use serde_json::{Value, json};

    #[test]
    fn wiring_twice_changes_nothing_and_unwiring_leaves_what_was_there() {
        for agent in Agent::ALL {
            if agent.plugin().is_some() {
                continue;
            }
            let (event, _) = agent.entries().into_iter().next().expect("an event");
            let theirs =
                json!({ "matcher": "Bash", "hooks": [{ "type": "command", "command": "theirs" }] });
            let before =
                json!({ "z": 1, "version": 1, "hooks": { event: [theirs], "Stop": [] }, "a": [2] });
            let mut document = before.clone();
            assert_eq!(agent.wire(&mut document), Ok(true), "{agent}");
            let list = document["hooks"][event].as_array().expect("a list");
            assert_eq!(list.len(), 2, "{agent}: theirs stays first");
            assert_eq!(agent.wire(&mut document), Ok(false), "{agent}");
            assert!(unwire(&mut document));
            assert_eq!(document["hooks"][event], before["hooks"][event]);
            assert_eq!(document["a"], before["a"]);
            assert!(!unwire(&mut document));
        }
    }

    #[test]
    fn settings_that_are_not_as_the_agent_writes_them_are_an_error() {
        for text in ["[]", r#"{"hooks":[]}"#, r#"{"hooks":{"PreToolUse":{}}}"#] {
            let mut document: Value = serde_json::from_str(text).expect("JSON");
            assert!(Agent::Claude.wire(&mut document).is_err(), "{text}");
        }
    }

    #[test]
    fn an_event_s_name_is_written_in_snake_case_for_codex() {
        assert_eq!(snake_case("PreToolUse"), "pre_tool_use");
        assert_eq!(snake_case("SessionStart"), "session_start");
    }
}
