//! The only place, with `vault`, that knows git: find the workspace, observe it, ask git's plumbing.

mod git;
mod graph;
mod incoming;
mod library;
mod lost;
mod moved;
mod note;
mod staged;
mod status;
mod workspace;

pub mod hooks;
pub mod refs;

pub use git::{Git, Output};
pub use graph::{Dropped, Graph, Head};
pub use incoming::{GiveWay, Incoming, overwritten};
pub use moved::{Move, moves};
pub use staged::{add_lines, between, index_path, staged};
pub use status::{Others, Tracked, is_ignored, others};
pub(crate) use workspace::is_git_dir;
pub use workspace::{Kind, Workspace};
