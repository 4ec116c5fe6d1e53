//! Feature: safety points.

mod save;
