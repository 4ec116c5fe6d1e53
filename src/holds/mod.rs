//! Pending confirmations, and the proof that a person is there (SPEC §5).
//!
//! One owner-only file a hold under `state/holds/`. A hold is sealed when it
//! is made, so that what a person reads is what the gate judged; its
//! confirmation is sealed to the hold, the action's digest, this repository
//! and a number used once. [`sys::seal`](crate::sys::seal) says what that
//! stops and what it does not.

mod ask;
mod hold;
mod screen;
mod sign;
mod store;

pub use ask::{Scope, agrees, ask, confirm, confirm_with, deny, person, refused, settle};
pub use hold::{Confirmation, Draft, Hold, State};
pub use screen::screen;
pub use sign::NAMESPACE;
pub use store::{find, list, make, take_again, take_confirmed};
