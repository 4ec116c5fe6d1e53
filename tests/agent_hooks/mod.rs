//! Agents' hook protocols, from captured payloads and through the real program.

mod calls;
mod payloads;
mod wiring;
