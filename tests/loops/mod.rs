//! Feature: loops.
