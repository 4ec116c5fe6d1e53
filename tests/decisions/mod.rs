//! Feature: decisions.
