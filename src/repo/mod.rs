//! The only place, with `vault`, that knows git: find the workspace, observe it, ask git's plumbing.

mod git;
mod staged;
mod workspace;

pub mod hooks;

pub use git::{Git, Output};
pub use staged::{add_lines, index_path, staged};
pub use workspace::{Kind, Workspace};
