//! Feature: safety points.
