//! Loops and side-by-side runs: their states on disk and their processes (SPEC §9, §10).
//!
//! The pure parts ([`state`], [`action`], [`limit`], [`progress`], [`rebuild`],
//! [`report`]) decide; [`store`] owns the files, [`runner`] leads a loop from
//! action to action. [`collab`] has the machine for two agents side by side.

pub mod action;
pub mod collab;
pub mod limit;
mod old;
pub mod progress;
pub mod rebuild;
pub mod report;
pub mod runner;
mod settle;
pub mod state;
pub mod store;
