//! Two agents side by side (SPEC §10).
//!
//! [`machine`] decides from plain data, [`snapshot`] is what is on the disk
//! after each step, [`drive`] starts the agents, watches them and leads the
//! run from state to state; also from where a killed drive left it. [`view`]
//! shows it.

pub mod drive;
mod leg;
pub mod machine;
pub mod snapshot;
pub mod view;
