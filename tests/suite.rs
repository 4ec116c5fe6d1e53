//! Drives the real binaries against real git in throwaway repositories.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a test says what went wrong by failing"
)]

mod support;

mod agent_hooks;
mod command_gate;
mod decisions;
mod git_hooks;
mod judgement;
mod loops;
mod main_job;
mod safety_points;
mod wrapped_runs;
