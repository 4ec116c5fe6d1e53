//! The Contract that `holdpoint contract init` writes: it restricts nothing until it is filled in.

/// The template.
pub const TEMPLATE: &str = "\
# Contract

<!--
What is agreed for the task at hand. A bullet's paths are enforced, with
gitignore semantics, bare or in `backticks`; other text is for people.
Nothing under In Scope means that everything is in scope.

  holdpoint contract show      what is enforced and what is not
  holdpoint contract check P   where a path stands
  holdpoint contract confirm   a person makes this version the one that counts
-->

## Scope

### In Scope

<!-- - `src/auth/`, `tests/auth/` -->

### Out of Scope

<!-- - `src/billing/` -->

## Must-Not-Change

<!-- - `migrations/`, `LICENSE` -->

## Constraints

<!-- - Keep the public API as it is -->

## Forbidden Patterns

<!-- - `/\\bprintln!\\(/` -->

## Acceptance

<!-- - All tests pass -->
";
