//! Feature: main job.
