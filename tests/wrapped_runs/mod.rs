//! Feature: wrapped runs.
