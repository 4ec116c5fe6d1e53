//! Agents' own hook protocols: bytes in, a [`Call`] out; an [`Answer`] in, bytes out. Pure.
//!
//! One file a protocol. What the tools of all of them mean is one table
//! ([`tools`]), because agents borrow each other's names. Reading the files that
//! an edit names, judging and recording is `app::hook`'s part.

mod call;
pub mod canary;
mod claude;
mod codex;
mod copilot;
mod cursor;
pub mod gemini;
mod opencode;
pub mod patch;
mod reply;
mod shells;
mod tool_names;
mod tools;
pub mod wiring;

pub use call::{Call, Edit, Intent, Moment, Step};
pub use reply::{Answer, Reply};

use crate::error::{Error, ErrorKind, Result};
use serde_json::Value;
use std::fmt;

/// An agent whose hook protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
    /// OpenCode, through our plugin.
    OpenCode,
}

impl Agent {
    /// All of them, in the order in which they are listed to people.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::Copilot,
        Self::OpenCode,
    ];

    /// The name used on the command line and in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
        }
    }

    /// The agent with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Reads one call; `event` is the name on the hook's command line, for payloads without one.
    ///
    /// # Errors
    /// When the bytes are no JSON object.
    pub fn read(self, bytes: &[u8], event: Option<&str>) -> Result<Call> {
        let payload: Value = serde_json::from_slice(bytes).map_err(|error| {
            Error::new(
                ErrorKind::Usage,
                format!("cannot understand what {self} sent to its hook"),
            )
            .because(error)
        })?;
        if !payload.is_object() {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("cannot understand what {self} sent to its hook: it is no JSON object"),
            ));
        }
        Ok(match self {
            Self::Claude => claude::read(&payload, event),
            Self::Codex => codex::read(&payload, event),
            Self::Gemini => gemini::read(&payload, event),
            Self::Cursor => cursor::read(&payload, event),
            Self::Copilot => copilot::read(&payload, event),
            Self::OpenCode => opencode::read(&payload, event),
        })
    }

    /// Words an answer as this agent's protocol wants it.
    #[must_use]
    pub fn reply(self, call: &Call, answer: &Answer) -> Reply {
        match self {
            Self::Claude => claude::reply(call, answer),
            Self::Codex => codex::reply(call, answer),
            Self::Gemini => gemini::reply(call, answer),
            Self::Cursor => cursor::reply(call, answer),
            Self::Copilot => copilot::reply(call, answer),
            Self::OpenCode => opencode::reply(call, answer),
        }
    }

    /// Words a refusal of a call that could not be read; `event` as in [`Agent::read`].
    #[must_use]
    pub fn refuse(self, event: Option<&str>, reason: &str) -> Reply {
        let call = Call::unreadable(self.before_tool(event));
        self.reply(&call, &Answer::Deny(reason.to_owned()))
    }

    /// Returns true where a question put to the agent reaches its person.
    #[must_use]
    pub fn can_ask(self, call: &Call) -> bool {
        match self {
            Self::Claude => true,
            Self::Copilot => !call.event.is_empty(),
            // No such answer (Codex, OpenCode), only in newer versions (Gemini),
            // or not enforced (Cursor).
            Self::Codex | Self::Gemini | Self::Cursor | Self::OpenCode => false,
        }
    }

    fn before_tool(self, event: Option<&str>) -> String {
        event.map_or_else(
            || {
                match self {
                    Self::Claude | Self::Codex => "PreToolUse",
                    Self::Gemini => "BeforeTool",
                    Self::Cursor | Self::Copilot => "preToolUse",
                    Self::OpenCode => "tool.execute.before",
                }
                .to_owned()
            },
            str::to_owned,
        )
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text field of a payload; empty counts as absent.
fn text<'a>(payload: &'a Value, key: &str) -> Option<&'a str> {
    payload
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}
