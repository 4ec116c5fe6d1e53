//! Feature: the main job, end to end, on a small repository with a real Contract.

mod bad_input;
mod command_line;
mod commits;
mod demo;
mod recovery;
