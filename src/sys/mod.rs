//! The outside world, one thing a file: environment, clock, locks, files, terminal, output.

pub mod clock;
pub mod env;
pub mod failpoint;
pub mod files;
pub mod lock;
pub mod out;
pub mod process;
