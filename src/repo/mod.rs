//! The only place, with `vault`, that knows git: find the workspace, observe it, ask git's plumbing.

mod git;
mod workspace;

pub use git::{Git, Output};
pub use workspace::{Kind, Workspace};
