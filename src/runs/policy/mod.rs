//! What a wrapped run decides from plain data alone: no clock, no process, no file.
//!
//! One file a question: is a move of the task allowed ([`task`]), what went
//! wrong ([`outcome`]), is it tried again and when ([`retry`]), how sure is a
//! fix ([`confidence`]), who takes over ([`degrade`]), how long may it take
//! ([`limits`], [`complexity`]), what is typed ([`template`]), which session
//! goes on ([`session`]), does an agent go round in circles ([`guardrails`]).

pub mod complexity;
pub mod confidence;
pub mod context;
pub mod degrade;
pub mod guardrails;
pub mod limits;
pub mod outcome;
pub mod retry;
pub mod session;
pub mod task;
pub mod template;
