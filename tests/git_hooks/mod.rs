//! Feature: git hooks.
