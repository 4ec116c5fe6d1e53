//! Names that text may have: field names, update paths, HTTP methods, and what counts as blank.

use super::fields::{Field, Shape};
use super::shapes::{FREE_CONFIG, NODE_FIELDS, RULED_CONFIG, TIMES};

/// HTTP's methods.
pub(super) const METHODS: &[&str] = &[
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT",
];

/// Returns true for text without a visible character.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Returns true for a method in any case, or text with a template in it.
pub(super) fn is_method(text: &str) -> bool {
    METHODS
        .iter()
        .any(|method| method.eq_ignore_ascii_case(text))
        || text.contains("${")
}

/// Returns true for a name that a field may have.
pub(super) fn is_field_name(text: &str) -> bool {
    let mut chars = text.chars();
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    chars.next().is_some_and(first)
        && chars.all(|c| first(c) || c.is_ascii_digit() || c == '.' || c == '-')
}

/// What an update's name means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A field with a rule for its value.
    Ruled(&'static Field),
    /// A field of a configuration without one, or something inside a field.
    Free,
    /// The whole configuration.
    Config,
    /// Nothing that nodes have.
    Unknown,
}

/// What an update's name means: `config.timeout`, `timeout`, `name`, `config`, `config.headers.accept`.
pub(super) fn target(name: &str) -> Target {
    if name == "config" {
        return Target::Config;
    }
    if let Some(rest) = name.strip_prefix("config.") {
        return config_field(rest);
    }
    if let Some(field) = NODE_FIELDS.field(name) {
        return Target::Ruled(field);
    }
    let (head, tail) = name.split_once('.').unwrap_or((name, ""));
    if !tail.is_empty() && has(&NODE_FIELDS, head) {
        return Target::Free;
    }
    config_field(name)
}

fn config_field(name: &str) -> Target {
    if let Some(field) = RULED_CONFIG.field(name).or_else(|| TIMES.field(name)) {
        return Target::Ruled(field);
    }
    let (head, tail) = name.split_once('.').unwrap_or((name, ""));
    let known = FREE_CONFIG.contains(&head) || has(&RULED_CONFIG, head);
    if known && (tail.is_empty() != name.contains('.')) {
        Target::Free
    } else {
        Target::Unknown
    }
}

fn has(shape: &Shape, name: &str) -> bool {
    shape.fields.iter().any(|field| field.name == name)
}
