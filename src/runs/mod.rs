//! Wrapped runs: start, supervise, judge the outcome, retry, resume (SPEC §8).
//!
//! [`policy`] holds everything that can be decided from plain data. The other
//! modules own one outside thing each: the start gate, the leash (the process
//! that stays with the agent), the process tree, the terminal, the run's
//! directory with its snapshot, the sandbox, and the drive that leads a run
//! from state to state.

pub mod policy;
