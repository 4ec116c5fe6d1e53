//! The outside world, one thing a file: environment, clock, locks, files, processes, terminal, output.

pub mod actor;
pub mod ancestry;
pub mod bar;
pub mod beside;
pub mod clock;
pub mod env;
pub mod failpoint;
pub mod files;
pub mod lock;
pub mod out;
pub mod paths;
pub mod process;
pub mod rewrite;
pub mod seal;
pub mod start;
pub mod terminal;
