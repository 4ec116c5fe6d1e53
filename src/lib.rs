//! Holdpoint makes it safe to let coding agents work in a git repository.
//!
//! # The pipeline
//!
//! Whatever asks (a git hook, an agent's tool-call hook, a wrapped run, a
//! person's `check`), the way through is the same, and each stage has one home:
//!
//! | stage | question | home |
//! |---|---|---|
//! | observe | what is about to happen? | [`app`], [`agents`], [`repo`] -> [`judge::Action`] |
//! | assess | what would it touch, lose, leave? | [`assess`], [`shell`], [`repo`] -> [`judge::Facts`] |
//! | judge | which level, by which rules? | [`judge`] -> [`judge::Verdict`] (pure) |
//! | protect | is what could be lost held? | [`vault`] -> [`vault::SafetyPoint`] |
//! | record | what was decided, and why? | [`journal`] -> [`journal::LogEntry`] |
//! | enforce | pass, ask, hold | [`holds`], [`exit::ExitStatus`] |
//!
//! # Layers
//!
//! `bin -> app -> {repo, vault, journal, holds, prefs, runs} -> sys -> pure -> error`
//!
//! The pure parts ([`judge`], [`contract`], [`shell`], [`agents`],
//! [`decisions`], [`runs::policy`]) take plain data and return plain data. They
//! name no git library, clock, environment or file. Only [`repo`] and [`vault`]
//! name git libraries or start `git`; only [`sys`] reads the environment, the
//! clock and the terminal; only [`sys::out`] writes to standard output and error.
//!
//! # Invariants
//!
//! - A gate that cannot decide blocks; an observer (`post-*` hooks, finished
//!   transactions) never blocks.
//! - Every change to the person's workspace goes: lock, safety point, apply, record.
//! - Paths and ref names stay bytes until they are rendered.
//! - Anything written to disk carries a version, is written to a temporary file
//!   and renamed, under a lock.
//! - The person's `.git` is only ever written by `init`, `uninstall`, `rollback`, and a run that puts back what it holds.

pub mod error;
pub mod exit;

pub mod agents;
pub mod contract;
pub mod decisions;
pub mod judge;
pub mod shell;

pub mod assess;
pub mod gate;
pub mod holds;
pub mod journal;
pub mod loops;
pub mod prefs;
pub mod repo;
pub mod runs;
pub mod sys;
pub mod vault;

pub mod app;

pub use error::{Error, ErrorKind, Result};
