//! Feature: the main job, end to end.

mod command_line;
