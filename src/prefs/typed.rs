//! The preferences as the other rooms use them; their defaults are the product's.

use crate::judge::{Level, Recoverable, Strictness};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All preferences.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Levels of single rules, by rule id or by a seed's key.
    pub decision_authority: BTreeMap<String, Level>,
    /// How strictly levels 1 and 2 are read.
    pub global_strictness: Strictness,
    /// What a proven safety point does to Level 3 discards and deletions.
    pub recoverable: Recoverable,
    /// Whether the gate refuses.
    pub gate: Gate,
    /// How a person confirms.
    pub confirm: Confirm,
    /// Safety points.
    pub safety: Safety,
    /// Time limits of tasks.
    pub timeouts: Timeouts,
    /// Limits against going round in circles.
    pub guardrails: Guardrails,
    /// How often what is tried again.
    pub retry_strategy: Retries,
    /// Confidence in test fixes.
    pub test_fix: TestFix,
    /// What takes over from what.
    pub degradation: Degradation,
    /// Two agents side by side.
    pub collab: Collab,
    /// Packages.
    pub deps: Deps,
    /// What is logged.
    pub logging: Logging,
}

/// `gate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gate {
    /// Whether the gate refuses or only observes.
    pub mode: Mode,
}

/// `gate.mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Judges and records, never refuses.
    Observe,
    /// Refuses.
    #[default]
    Enforce,
}

/// `confirm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confirm {
    /// What a confirmation needs beside a person at a terminal.
    pub signing: Signing,
    /// The file of keys that may sign, in the format of `ssh-keygen(1)`.
    pub allowed_signers: Option<PathBuf>,
    /// The key to sign with.
    pub signing_key: Option<PathBuf>,
    /// The name under which the key stands in `allowed_signers`.
    pub signer: Option<String>,
    /// Seconds until a hold expires.
    pub expires: u64,
    /// Seconds until a hold of Level 3 expires.
    pub expires_level_3: u64,
}

/// `confirm.signing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signing {
    /// Nothing.
    #[default]
    None,
    /// An SSH signature.
    Ssh,
}

impl Default for Confirm {
    fn default() -> Self {
        Self {
            signing: Signing::None,
            allowed_signers: None,
            signing_key: None,
            signer: None,
            expires: 3600,
            expires_level_3: 600,
        }
    }
}

/// `safety`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Safety {
    /// Where the vault lies instead of under `$XDG_STATE_HOME`.
    pub store: Option<PathBuf>,
    /// Ignored files that are held all the same, as globs.
    pub include_ignored: Vec<String>,
    /// Bytes above which a file is not held; none by default.
    pub max_file: u64,
    /// Bytes above which an ignored file is not held, unless it is included.
    pub max_ignored: u64,
    /// Bytes above which an included ignored file is not held.
    pub max_included: u64,
    /// Bytes that the vault may take on the disk.
    pub max_size: u64,
    /// Points that are kept at least.
    pub keep: u64,
    /// Days for which any point is kept.
    pub keep_days: u64,
}

impl Default for Safety {
    fn default() -> Self {
        let settings = crate::vault::Settings::default();
        Self {
            store: settings.store,
            include_ignored: settings.include_ignored,
            max_file: settings.max_file,
            max_ignored: settings.max_ignored,
            max_included: settings.max_included,
            max_size: settings.max_size,
            keep: settings.keep as u64,
            keep_days: u64::from(settings.keep_days),
        }
    }
}

impl From<Safety> for crate::vault::Settings {
    fn from(safety: Safety) -> Self {
        Self {
            store: safety.store,
            max_size: safety.max_size,
            max_file: safety.max_file,
            max_ignored: safety.max_ignored,
            max_included: safety.max_included,
            include_ignored: safety.include_ignored,
            keep: usize::try_from(safety.keep).unwrap_or(usize::MAX),
            keep_days: u32::try_from(safety.keep_days).unwrap_or(u32::MAX),
        }
    }
}

/// `timeouts`, in seconds (timeout guardrails, "超时阈值定义").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "an agent's default (warn) and maximum (kill)")]
pub struct Timeouts {
    pub coder_default: u64,
    pub coder_max: u64,
    pub codex_default: u64,
    pub codex_max: u64,
    pub gemini_default: u64,
    pub gemini_max: u64,
    pub claude_tools_default: u64,
    pub claude_tools_max: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            coder_default: 120,
            coder_max: 600,
            codex_default: 120,
            codex_max: 300,
            gemini_default: 120,
            gemini_max: 480,
            claude_tools_default: 120,
            claude_tools_max: 600,
        }
    }
}

/// `guardrails` (timeout guardrails, "全局配置").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guardrails {
    /// Reads of one file within [`Guardrails::read_window`].
    pub max_same_file_reads: u64,
    /// Seconds over which reads are counted.
    pub read_window: u64,
    /// Failures of one tool in a row with the same error.
    pub max_consecutive_failures: u64,
    /// Seconds without progress.
    pub no_progress_timeout: u64,
    /// Searches within [`Guardrails::search_window`].
    pub max_searches: u64,
    /// Seconds over which searches are counted.
    pub search_window: u64,
}

impl Default for Guardrails {
    fn default() -> Self {
        Self {
            max_same_file_reads: 5,
            read_window: 300,
            max_consecutive_failures: 3,
            no_progress_timeout: 600,
            max_searches: 20,
            search_window: 600,
        }
    }
}

/// `retry_strategy` (decision framework, "重试策略决策矩阵"): most tries, by error and by agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(
    missing_docs,
    reason = "the most tries for the error or agent of that name"
)]
pub struct Retries {
    pub network_timeout: u64,
    pub rate_limit: u64,
    pub service_unavailable: u64,
    pub syntax_error: u64,
    pub type_error: u64,
    pub test_failure: u64,
    pub dependency_missing: u64,
    pub coder: u64,
    pub codex: u64,
    pub gemini: u64,
    /// Seconds of the first wait.
    pub base_delay: u64,
    /// Seconds of the longest wait.
    pub max_delay: u64,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            network_timeout: 3,
            rate_limit: 5,
            service_unavailable: 3,
            syntax_error: 1,
            type_error: 1,
            test_failure: 3,
            dependency_missing: 1,
            coder: 0,
            codex: 1,
            gemini: 1,
            base_delay: 1,
            max_delay: 16,
        }
    }
}

/// `test_fix`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestFix {
    /// Confidence from which a first fix is only reported.
    pub high_confidence: f64,
    /// Confidence below which a person is asked.
    pub medium_confidence: f64,
    /// Fixes that are tried.
    pub max_attempts: u64,
}

impl Default for TestFix {
    fn default() -> Self {
        Self {
            high_confidence: 0.8,
            medium_confidence: 0.5,
            max_attempts: 3,
        }
    }
}

/// `degradation`: what takes over, first choice first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Degradation {
    /// Whether anything takes over by itself.
    pub enabled: bool,
    /// Steps down a chain that are taken at most.
    pub max_degradation_level: u64,
    /// For codex.
    pub codex: Vec<String>,
    /// For gemini, on front-end work.
    pub gemini_frontend: Vec<String>,
    /// For gemini, on other work.
    pub gemini: Vec<String>,
    /// For coder.
    pub coder: Vec<String>,
}

impl Default for Degradation {
    fn default() -> Self {
        let chain = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            enabled: true,
            max_degradation_level: 2,
            codex: chain(&["coder", "main"]),
            gemini_frontend: chain(&["codex+main", "main"]),
            gemini: chain(&["codex+coder", "main"]),
            coder: chain(&["main"]),
        }
    }
}

/// `collab`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Collab {
    /// The words of the command that asks codex.
    pub codex: Option<Vec<String>>,
    /// The words of the command that asks gemini.
    pub gemini: Option<Vec<String>>,
    /// The whole time, in milliseconds; each agent has half of it.
    pub timeout: Option<u64>,
}

/// `deps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Deps {
    /// Common tools of the ecosystems: rule `deps.common`.
    pub common: Vec<String>,
}

impl Default for Deps {
    fn default() -> Self {
        Self {
            common: [
                "bat",
                "black",
                "build",
                "build-essential",
                "bun",
                "bundler",
                "cargo-audit",
                "cargo-deny",
                "cargo-edit",
                "cargo-nextest",
                "cargo-watch",
                "clang",
                "cmake",
                "coverage",
                "curl",
                "esbuild",
                "eslint",
                "fd",
                "flake8",
                "fzf",
                "gcc",
                "gh",
                "git",
                "go",
                "golangci-lint",
                "gopls",
                "htop",
                "husky",
                "isort",
                "jest",
                "jq",
                "lint-staged",
                "make",
                "mocha",
                "mypy",
                "ninja",
                "node",
                "nodejs",
                "nodemon",
                "npm",
                "pip",
                "pipenv",
                "pkg-config",
                "pnpm",
                "poetry",
                "pre-commit",
                "prettier",
                "pylint",
                "pytest",
                "python",
                "python3",
                "python3-pip",
                "python3-venv",
                "rake",
                "rimraf",
                "ripgrep",
                "rollup",
                "rspec",
                "rubocop",
                "ruff",
                "rust",
                "setuptools",
                "shellcheck",
                "tmux",
                "tox",
                "tree",
                "ts-node",
                "tsx",
                "turbo",
                "twine",
                "typescript",
                "unzip",
                "uv",
                "vim",
                "virtualenv",
                "vite",
                "vitest",
                "webpack",
                "wget",
                "wheel",
                "yarn",
                "zip",
            ]
            .map(str::to_owned)
            .to_vec(),
        }
    }
}

/// `logging`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logging {
    /// The lowest level of passed actions that is written to the decision log.
    pub min_level: Level,
}
