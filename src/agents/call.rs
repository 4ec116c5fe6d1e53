//! One call of an agent's hook, in words that all agents share.

use bstr::BString;

/// When in the agent's work the hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session starts or is resumed.
    SessionStart,
    /// A tool is about to run; it can be refused.
    BeforeTool,
    /// A tool has run.
    AfterTool,
    /// A person's words arrive.
    Prompt,
    /// Anything else (stop, session end, …); nothing is decided.
    Other,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// When.
    pub moment: Moment,
    /// The protocol's own name of the event, repeated in replies.
    pub event: String,
    /// The agent's session; a sub-agent has its parent's where the agent says so.
    pub session: Option<String>,
    /// The sub-agent's id, where the call comes from one.
    pub subagent: Option<String>,
    /// The directory that the tool starts in; `None` where the payload has none.
    pub cwd: Option<BString>,
    /// The tool's name as the agent gives it; empty outside tool events.
    pub tool: String,
    /// What the tool would do, or did.
    pub intent: Intent,
    /// The error that the tool ended with, after a tool.
    pub failure: Option<String>,
    /// True where the payload came in another agent's format (Copilot reading Claude's settings).
    pub borrowed: bool,
}

/// What a tool call would do.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// Nothing is written; the path where one is read.
    Read {
        /// Which file, for the guardrails.
        path: Option<BString>,
        /// It looks for something rather than reading one file.
        search: bool,
    },
    /// Steps to be judged, in order.
    Steps(Vec<Step>),
    /// A tool that is not known and names no file or command.
    Unknown {
        /// Its name says that it destroys or runs something.
        risky: bool,
    },
}

/// One thing that a tool would do.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Runs a command in a shell.
    Run {
        /// Its text.
        command: BString,
        /// The directory, where the call names another than [`Call::cwd`].
        dir: Option<BString>,
    },
    /// Writes a whole file.
    Write {
        /// Which, as given.
        path: BString,
        /// The new content; `None` where the payload does not tell.
        content: Option<BString>,
    },
    /// Replaces text in a file.
    Edit {
        /// Which, as given.
        path: BString,
        /// In order.
        edits: Vec<Edit>,
    },
    /// Changes a file by a hunk of an `apply_patch` envelope.
    Patch {
        /// Which, as given.
        path: BString,
        /// In order.
        hunks: Vec<super::patch::Hunk>,
        /// Where the file is moved to afterwards.
        moved: Option<BString>,
    },
    /// Deletes a file.
    Delete {
        /// Which, as given.
        path: BString,
    },
    /// Moves a file.
    Move {
        /// From, as given.
        from: BString,
        /// To, as given.
        to: BString,
    },
    /// Starts a shell that takes its commands where no hook sees them.
    InteractiveShell {
        /// The command that starts it.
        command: BString,
    },
}

/// One replacement of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text that is looked for; empty to append to an empty file.
    pub old: BString,
    /// What takes its place.
    pub new: BString,
    /// Everywhere, not only once.
    pub all: bool,
}

impl Call {
    /// A call of which only the event is known.
    #[must_use]
    pub fn unreadable(event: String) -> Self {
        Self {
            moment: Moment::BeforeTool,
            event,
            session: None,
            subagent: None,
            cwd: None,
            tool: String::new(),
            intent: Intent::Unknown { risky: true },
            failure: None,
            borrowed: false,
        }
    }

    /// Returns true where a mistake in judging the call could cost something.
    #[must_use]
    pub fn may_write(&self) -> bool {
        !matches!(self.intent, Intent::Read { .. })
    }
}

impl Edit {
    /// Applies the replacement; `None` where the text is not there.
    #[must_use]
    pub fn apply(&self, content: &[u8]) -> Option<Vec<u8>> {
        if self.old.is_empty() {
            return content.is_empty().then(|| self.new.to_vec());
        }
        let mut out = Vec::with_capacity(content.len() + self.new.len());
        let mut rest = content;
        let mut found = false;
        while let Some(at) = memchr::memmem::find(rest, &self.old) {
            let (head, tail) = rest.split_at(at);
            out.extend_from_slice(head);
            out.extend_from_slice(&self.new);
            rest = tail.get(self.old.len()..).unwrap_or_default();
            found = true;
            if !self.all {
                break;
            }
        }
        out.extend_from_slice(rest);
        found.then_some(out)
    }
}
