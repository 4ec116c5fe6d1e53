//! Agents' hook protocols, from captured payloads and through the real program.

mod broken;
mod calls;
mod circles;
mod losses;
mod payloads;
mod person;
mod wiring;
