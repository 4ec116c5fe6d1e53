//! Hooks in a repository: in, at work, and out again.

mod doctor;
mod events;
mod install;
mod operations;
mod tripwire;
