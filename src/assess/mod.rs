//! Action to facts: what would be touched, lost, left; the evidence comes from `repo`.

mod nature;
pub mod policy;
pub mod refs;
pub mod staged;

pub use nature::nature;
