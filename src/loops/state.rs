//! A loop's state, field for field as `loop_state_schema` gives it. Pure.
//!
//! Two owners share the file: the API fields are the loop's own (this program
//! and whoever creates loops), `skill_state` is the agent's side. Fields that
//! the schema does not name are kept where they stand.

mod derived;

pub use derived::{Derived, derived, inconsistencies};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Whether a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Made, never run.
    Created,
    /// Runs, or would go on running.
    Running,
    /// A person paused it; ready to resume.
    Paused,
    /// Done.
    Completed,
    /// Given up or stopped.
    Failed,
}

impl Status {
    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The whole state file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopState {
    /// The loop's id, also the file's name.
    pub loop_id: String,
    /// A few words.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// The most iterations.
    pub max_iterations: u64,
    /// Whether it runs.
    pub status: Status,
    /// Iterations done.
    pub current_iteration: u64,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// RFC 3339, once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// The agent's side; absent until the first action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_state: Option<SkillState>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The agent's side of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkillState {
    /// `init`, `develop`, `debug`, `validate`, `complete`, or `paused` where it left because of a pause.
    #[serde(default)]
    pub current_action: Option<String>,
    /// The action that was finished last, `action-…`.
    #[serde(default)]
    pub last_action: Option<String>,
    /// All finished actions, in order.
    #[serde(default)]
    pub completed_actions: Vec<String>,
    /// Who leads.
    pub mode: Mode,
    /// The development phase.
    pub develop: Develop,
    /// The debugging phase.
    pub debug: Debug,
    /// The validation phase.
    pub validate: Validate,
    /// What went wrong, oldest first.
    #[serde(default)]
    pub errors: Vec<ErrorNote>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Who leads a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A person chooses the actions.
    Interactive,
    /// The loop chooses them.
    #[default]
    Auto,
}

impl Mode {
    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Auto => "auto",
        }
    }
}

/// The development phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Develop {
    /// How many tasks there are.
    pub total: u64,
    /// How many are completed.
    pub completed: u64,
    /// The task under way.
    #[serde(default)]
    pub current_task: Option<String>,
    /// The tasks, in order.
    pub tasks: Vec<Task>,
    /// RFC 3339.
    #[serde(default)]
    pub last_progress_at: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Tried and not done.
    Failed,
}

impl TaskStatus {
    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// One task of the development phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id, `task-001` and so on.
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// `gemini`, `qwen`, `codex` or `bash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// `analysis` or `write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Where it stands.
    pub status: TaskStatus,
    /// Files that it changed.
    #[serde(default)]
    pub files_changed: Vec<String>,
    /// RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// RFC 3339.
    #[serde(default)]
    pub completed_at: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The debugging phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Debug {
    /// The bug that is looked for.
    #[serde(default)]
    pub active_bug: Option<String>,
    /// How many hypotheses there are.
    pub hypotheses_count: u64,
    /// The hypotheses.
    pub hypotheses: Vec<Hypothesis>,
    /// The one that was confirmed.
    #[serde(default)]
    pub confirmed_hypothesis: Option<String>,
    /// How often it was analysed.
    pub iteration: u64,
    /// RFC 3339.
    #[serde(default)]
    pub last_analysis_at: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A guess at what is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// `H1`, `H2`, …
    pub id: String,
    /// What it says.
    pub description: String,
    /// What would show it.
    pub testable_condition: String,
    /// Where to look.
    pub logging_point: String,
    /// What confirms and what rejects it.
    pub evidence_criteria: Criteria,
    /// 1 is the likeliest.
    pub likelihood: Number,
    /// `pending`, `confirmed`, `rejected` or `inconclusive`.
    pub status: Judgement,
    /// What was found.
    #[serde(default)]
    pub evidence: Option<Map<String, Value>>,
    /// Why it was judged so.
    #[serde(default)]
    pub verdict_reason: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What confirms and what rejects a hypothesis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criteria {
    /// What confirms it.
    pub confirm: String,
    /// What rejects it.
    pub reject: String,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What became of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// Not judged.
    Pending,
    /// It holds.
    Confirmed,
    /// It does not.
    Rejected,
    /// It cannot be told.
    Inconclusive,
}

impl Judgement {
    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Rejected => "rejected",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// The validation phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validate {
    /// Share of tests that passed, 0 to 100.
    pub pass_rate: Number,
    /// Share of code that the tests reach, 0 to 100.
    pub coverage: Number,
    /// The tests.
    pub test_results: Vec<TestResult>,
    /// Whether all is well.
    pub passed: bool,
    /// Names of the tests that failed.
    pub failed_tests: Vec<String>,
    /// RFC 3339.
    #[serde(default)]
    pub last_run_at: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Default for Validate {
    fn default() -> Self {
        Self {
            pass_rate: 0.into(),
            coverage: 0.into(),
            test_results: Vec::new(),
            passed: false,
            failed_tests: Vec::new(),
            last_run_at: None,
            extra: Map::new(),
        }
    }
}

/// One test's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// Its name.
    pub test_name: String,
    /// What it belongs to.
    pub suite: String,
    /// `passed`, `failed` or `skipped`.
    pub status: TestStatus,
    /// How long it took.
    pub duration_ms: Number,
    /// What it said.
    #[serde(default)]
    pub error_message: Option<String>,
    /// Where.
    #[serde(default)]
    pub stack_trace: Option<String>,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    /// Well.
    Passed,
    /// Not well.
    Failed,
    /// Not at all.
    Skipped,
}

impl TestStatus {
    /// The word in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorNote {
    /// In which action.
    pub action: String,
    /// What.
    pub message: String,
    /// When, RFC 3339.
    pub timestamp: String,
    /// Fields that the schema does not name.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl SkillState {
    /// The agent's side before any action.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self {
            current_action: None,
            last_action: None,
            completed_actions: Vec::new(),
            mode,
            develop: Develop::default(),
            debug: Debug::default(),
            validate: Validate::default(),
            errors: Vec::new(),
            extra: Map::new(),
        }
    }

    /// Sets the counts to what the lists say.
    pub fn recount(&mut self) {
        self.develop.total = self.develop.tasks.len() as u64;
        self.develop.completed = self.develop.completed_tasks();
        self.debug.hypotheses_count = self.debug.hypotheses.len() as u64;
    }
}

impl Develop {
    /// How many tasks are completed, by the list.
    #[must_use]
    pub fn completed_tasks(&self) -> u64 {
        self.tasks
            .iter()
            .filter(|task| task.status == TaskStatus::Completed)
            .count() as u64
    }
}
