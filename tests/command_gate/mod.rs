//! Feature: command gate.
