//! Feature: agent hooks.
