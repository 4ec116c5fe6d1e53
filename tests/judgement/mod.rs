//! Feature: judgement.
