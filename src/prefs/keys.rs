//! The known keys: what each accepts, and which way is stricter.

use crate::judge::{Level, MATRIX, RuleId};
use serde_json::Value;

/// What a key accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// One of these words, loosest first.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number within these bounds.
    Whole(u64, u64),
    /// A number within these bounds.
    Number(f64, f64),
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

/// Which way of a value is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The later choice, the greater number.
    Up,
    /// The smaller number.
    Down,
    /// Neither: only a confirmed value counts.
    Neither,
}

/// One known key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its path, dots between the parts.
    pub path: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// Which way is stricter.
    pub order: Order,
    /// What it does, in one clause.
    pub about: &'static str,
}

const fn new(path: &'static str, kind: Kind, order: Order, about: &'static str) -> Key {
    Key {
        path,
        kind,
        order,
        about,
    }
}

/// Longest time limit that makes sense: a week.
const WEEK: u64 = 7 * 24 * 3600;

use Kind::{Choice, Flag, Number, Text, Texts, Whole};
use Order::{Down, Neither, Up};

/// Every key but those of `decision_authority`, whose names are rules.
pub const KEYS: &[Key] = &[
    new(
        "global_strictness",
        Choice(&["relaxed", "normal", "strict"]),
        Up,
        "strict lifts Level 2 to 3, relaxed lowers 2 to 1 and 1 to 0; Level 3 never changes",
    ),
    new(
        "recoverable",
        Choice(&["report", "hold"]),
        Up,
        "what becomes of a Level 3 discard or deletion that a safety point holds whole",
    ),
    new(
        "gate.mode",
        Choice(&["observe", "enforce"]),
        Up,
        "observe judges and records but never refuses",
    ),
    new(
        "confirm.signing",
        Choice(&["none", "ssh"]),
        Up,
        "ssh: a confirmation needs an SSH signature",
    ),
    new(
        "confirm.allowed_signers",
        Text,
        Neither,
        "file of the keys that may sign",
    ),
    new("confirm.signing_key", Text, Neither, "the key to sign with"),
    new(
        "confirm.signer",
        Text,
        Neither,
        "the name under which the key stands in allowed_signers",
    ),
    new(
        "confirm.expires",
        Whole(30, WEEK),
        Down,
        "seconds until a hold expires",
    ),
    new(
        "confirm.expires_level_3",
        Whole(30, WEEK),
        Down,
        "seconds until a hold of Level 3 expires",
    ),
    new("safety.store", Text, Neither, "where safety points lie"),
    new(
        "safety.include_ignored",
        Texts,
        Neither,
        "ignored files that are held all the same, as globs",
    ),
    new(
        "safety.max_file",
        Whole(0, u64::MAX),
        Up,
        "bytes above which a file is not held",
    ),
    new(
        "safety.max_ignored",
        Whole(0, u64::MAX),
        Up,
        "bytes above which an ignored file is not held",
    ),
    new(
        "safety.max_included",
        Whole(0, u64::MAX),
        Up,
        "bytes above which an included ignored file is not held",
    ),
    new(
        "safety.max_size",
        Whole(1_048_576, u64::MAX),
        Up,
        "bytes that the vault may take",
    ),
    new(
        "safety.keep",
        Whole(1, 100_000),
        Up,
        "safety points that are kept at least",
    ),
    new(
        "safety.keep_days",
        Whole(0, 36_500),
        Up,
        "days for which any safety point is kept",
    ),
    new(
        "timeouts.coder_default",
        Whole(1, WEEK),
        Down,
        "seconds after which a coder task is warned about",
    ),
    new(
        "timeouts.coder_max",
        Whole(1, WEEK),
        Down,
        "seconds after which a coder task is killed",
    ),
    new(
        "timeouts.codex_default",
        Whole(1, WEEK),
        Down,
        "seconds after which a codex task is warned about",
    ),
    new(
        "timeouts.codex_max",
        Whole(1, WEEK),
        Down,
        "seconds after which a codex task is killed",
    ),
    new(
        "timeouts.gemini_default",
        Whole(1, WEEK),
        Down,
        "seconds after which a gemini task is warned about",
    ),
    new(
        "timeouts.gemini_max",
        Whole(1, WEEK),
        Down,
        "seconds after which a gemini task is killed",
    ),
    new(
        "timeouts.claude_tools_default",
        Whole(1, WEEK),
        Down,
        "seconds after which any other tool is warned about",
    ),
    new(
        "timeouts.claude_tools_max",
        Whole(1, WEEK),
        Down,
        "seconds after which any other tool is killed",
    ),
    new(
        "guardrails.max_same_file_reads",
        Whole(1, 1000),
        Down,
        "reads of one file before it counts as a loop",
    ),
    new(
        "guardrails.read_window",
        Whole(1, WEEK),
        Up,
        "seconds over which reads are counted",
    ),
    new(
        "guardrails.max_consecutive_failures",
        Whole(1, 1000),
        Down,
        "same failures in a row before a force stop",
    ),
    new(
        "guardrails.no_progress_timeout",
        Whole(1, WEEK),
        Down,
        "seconds without progress before a check",
    ),
    new(
        "guardrails.max_searches",
        Whole(1, 10_000),
        Down,
        "searches before a suggestion",
    ),
    new(
        "guardrails.search_window",
        Whole(1, WEEK),
        Up,
        "seconds over which searches are counted",
    ),
    new(
        "retry_strategy.network_timeout",
        Whole(0, 100),
        Down,
        "tries after a network timeout",
    ),
    new(
        "retry_strategy.rate_limit",
        Whole(0, 100),
        Down,
        "tries after a rate limit",
    ),
    new(
        "retry_strategy.service_unavailable",
        Whole(0, 100),
        Down,
        "tries after an unavailable service",
    ),
    new(
        "retry_strategy.syntax_error",
        Whole(0, 100),
        Down,
        "tries after a syntax error",
    ),
    new(
        "retry_strategy.type_error",
        Whole(0, 100),
        Down,
        "tries after a type error",
    ),
    new(
        "retry_strategy.test_failure",
        Whole(0, 100),
        Down,
        "tries after a test failure",
    ),
    new(
        "retry_strategy.dependency_missing",
        Whole(0, 100),
        Down,
        "tries after a missing dependency",
    ),
    new(
        "retry_strategy.coder",
        Whole(0, 100),
        Down,
        "tries of coder, which writes",
    ),
    new(
        "retry_strategy.codex",
        Whole(0, 100),
        Down,
        "tries of codex",
    ),
    new(
        "retry_strategy.gemini",
        Whole(0, 100),
        Down,
        "tries of gemini",
    ),
    new(
        "retry_strategy.base_delay",
        Whole(0, 3600),
        Neither,
        "seconds of the first wait",
    ),
    new(
        "retry_strategy.max_delay",
        Whole(0, 3600),
        Neither,
        "seconds of the longest wait",
    ),
    new(
        "test_fix.high_confidence",
        Number(0.0, 1.0),
        Up,
        "confidence from which a first test fix is only reported",
    ),
    new(
        "test_fix.medium_confidence",
        Number(0.0, 1.0),
        Up,
        "confidence below which a person is asked",
    ),
    new(
        "test_fix.max_attempts",
        Whole(0, 100),
        Down,
        "test fixes that are tried",
    ),
    new(
        "degradation.enabled",
        Flag,
        Neither,
        "whether anything takes over by itself",
    ),
    new(
        "degradation.max_degradation_level",
        Whole(0, 10),
        Down,
        "steps down a chain that are taken at most",
    ),
    new(
        "degradation.codex",
        Texts,
        Neither,
        "what takes over from codex",
    ),
    new(
        "degradation.gemini_frontend",
        Texts,
        Neither,
        "what takes over from gemini on front-end work",
    ),
    new(
        "degradation.gemini",
        Texts,
        Neither,
        "what takes over from gemini on other work",
    ),
    new(
        "degradation.coder",
        Texts,
        Neither,
        "what takes over from coder",
    ),
    new(
        "collab.codex",
        Texts,
        Neither,
        "the words of the command that asks codex; {task}, {role} and {session} are filled in",
    ),
    new(
        "collab.gemini",
        Texts,
        Neither,
        "the words of the command that asks gemini",
    ),
    new(
        "collab.timeout",
        Whole(2, WEEK * 1000),
        Neither,
        "milliseconds for two agents side by side; each has half of it",
    ),
    new(
        "deps.common",
        Texts,
        Neither,
        "common tools of the ecosystems, installed at Level 1",
    ),
    new(
        "logging.min_level",
        Choice(&["level_1", "level_0"]),
        Up,
        "the lowest level of passed actions that is logged",
    ),
];

/// The words that set a rule's level.
pub(super) const LEVELS: &[&str] = &["level_0", "level_1", "level_2", "level_3"];

/// Finds a key by its path.
#[must_use]
pub fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The rules that a name under `decision_authority` stands for: a rule's id, or a seed's key.
#[must_use]
pub fn aliases(name: &str) -> Vec<RuleId> {
    use RuleId::{
        DegradePlanned, DegradeUnplanned, DepsCommon, DepsListed, DepsNew, DepsUpgrade, FileConfig,
        FileCreate, FileDelete, FileModify, FileRename, FixImport, FixSyntax, FixTestHigh,
        FixTestMedium, FixType, GitCommit, GitPush, GitSafetyPoint, GitStage, RetryRateLimit,
        RetryTransient, RetryUnavailable,
    };
    if let Some(rule) = RuleId::parse(name) {
        return vec![rule];
    }
    let rules: &[RuleId] = match name {
        "auto_retry" => &[RetryTransient, RetryRateLimit, RetryUnavailable],
        "auto_retry_network_timeout" => &[RetryTransient],
        "auto_retry_rate_limit" => &[RetryRateLimit],
        "auto_retry_service_unavailable" => &[RetryUnavailable],
        "auto_git_safety_point" => &[GitSafetyPoint],
        "auto_git_add" | "auto_git_stage" => &[GitStage],
        "auto_git_commit" => &[GitCommit],
        "auto_git_push" => &[GitPush],
        "auto_install_dependency" | "auto_install_dependencies" => &[DepsListed, DepsCommon],
        "auto_install_new_dependency" => &[DepsNew],
        "auto_upgrade_dependency" => &[DepsUpgrade],
        "auto_create_file" => &[FileCreate],
        "auto_modify_file" => &[FileModify],
        "auto_modify_config" => &[FileConfig],
        "auto_rename_file" => &[FileRename],
        "auto_delete_file" => &[FileDelete],
        "auto_fix_syntax" => &[FixSyntax],
        "auto_fix_type" => &[FixType],
        "auto_fix_import" => &[FixImport],
        "auto_fix_test" | "auto_test_fix" => &[FixTestHigh, FixTestMedium],
        "auto_degrade" | "auto_degradation" => &[DegradePlanned, DegradeUnplanned],
        _ => &[],
    };
    rules.to_vec()
}

/// The known name that is spelled most like `path`, if one is near.
pub(super) fn nearest(path: &str) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    let rules = MATRIX
        .iter()
        .map(|rule| format!("decision_authority.{}", rule.id));
    let names = KEYS.iter().map(|key| key.path.to_owned()).chain(rules);
    let last = path.rsplit('.').next().unwrap_or(path);
    for name in names {
        let tail = name.rsplit('.').next().unwrap_or(&name);
        // A key under the wrong group is as near as a misspelt one.
        let distance = distance(path, &name).min(distance(last, tail) + 1);
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, name));
        }
    }
    best.filter(|(distance, _)| *distance <= 2 + last.len() / 4)
        .map(|(_, name)| name)
}

/// Levenshtein's edit distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = i;
        let mut left = i + 1;
        for (slot, y) in row.iter_mut().skip(1).zip(&b) {
            let here = (before + usize::from(x != *y)).min(left + 1).min(*slot + 1);
            before = *slot;
            *slot = here;
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

impl Kind {
    /// Says in words what is accepted.
    #[must_use]
    pub fn accepted(self) -> String {
        match self {
            Self::Choice(words) => words
                .iter()
                .map(|word| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(", "),
            Self::Flag => "true, false".to_owned(),
            Self::Whole(least, u64::MAX) => format!("a whole number from {least}"),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Text => "a text".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
        }
    }

    /// Returns true for a value that is accepted.
    #[must_use]
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Flag => value.is_boolean(),
            Self::Whole(least, most) => value
                .as_u64()
                .is_some_and(|number| (least..=most).contains(&number)),
            Self::Number(least, most) => value
                .as_f64()
                .is_some_and(|number| (least..=most).contains(&number)),
            Self::Text => value.as_str().is_some_and(|text| !text.is_empty()),
            Self::Texts => value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string)),
        }
    }
}

impl Key {
    /// Returns true where `new` is stricter than `old`; both are accepted values.
    #[must_use]
    pub fn is_stricter(&self, new: &Value, old: &Value) -> bool {
        let rank = |value: &Value| match self.kind {
            Kind::Choice(words) => words
                .iter()
                .position(|word| value.as_str() == Some(word))
                .and_then(|at| u32::try_from(at).ok())
                .map(f64::from),
            _ => value.as_f64(),
        };
        match (self.order, rank(new), rank(old)) {
            (Order::Up, Some(new), Some(old)) => new > old,
            (Order::Down, Some(new), Some(old)) => new < old,
            _ => false,
        }
    }
}

/// Reads a level's word.
pub(super) fn level(value: &Value) -> Option<Level> {
    let word = value.as_str()?;
    Level::ALL.into_iter().find(|level| level.word() == word)
}
