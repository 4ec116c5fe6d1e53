//! Values as cells of a Markdown table, and back again, without loss. Pure.
//!
//! `-` stands for nothing. Backslash escapes carry what a cell cannot: `\|`,
//! `\n`, control characters, an empty text (`\e`), spaces at either end (`\s`).

use std::fmt::Write as _;

/// Writes a text, or nothing, as a cell.
pub(super) fn write(text: Option<&str>) -> String {
    let Some(text) = text else {
        return "-".to_owned();
    };
    if text.is_empty() {
        return "\\e".to_owned();
    }
    let last = text.chars().count() - 1;
    let mut cell = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        match c {
            '\\' => cell.push_str("\\\\"),
            '|' => cell.push_str("\\|"),
            ',' => cell.push_str("\\,"),
            '\n' => cell.push_str("\\n"),
            '\r' => cell.push_str("\\r"),
            '\t' => cell.push_str("\\t"),
            // A leading dash would read as nothing (`-`) or as a table's rule (`---`).
            '-' if at == 0 => cell.push_str("\\-"),
            ' ' if at == 0 || at == last => cell.push_str("\\s"),
            c if c.is_control() || (c.is_whitespace() && c != ' ') => {
                // Writing to a string cannot fail.
                let _ = write!(cell, "\\u{{{:x}}}", u32::from(c));
            }
            c => cell.push(c),
        }
    }
    cell
}

/// Reads a cell; `None` stands for nothing, an error for text that no cell is written as.
pub(super) fn read(cell: &str) -> Result<Option<String>, String> {
    let cell = cell.trim();
    match cell {
        "-" | "" => return Ok(None),
        "\\e" => return Ok(Some(String::new())),
        _ => {}
    }
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('s') => text.push(' '),
            Some('u') => text.push(code(&mut chars).ok_or("a broken \\u escape")?),
            Some(c @ ('\\' | '|' | ',' | '-')) => text.push(c),
            _ => return Err(format!("an unknown escape in {cell:?}")),
        }
    }
    Ok(Some(text))
}

fn code(chars: &mut std::str::Chars<'_>) -> Option<char> {
    if chars.next() != Some('{') {
        return None;
    }
    let digits: String = chars.by_ref().take_while(|c| *c != '}').collect();
    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
}

/// Writes a list of texts as a cell.
pub(super) fn write_list(items: &[String]) -> String {
    if items.is_empty() {
        return "-".to_owned();
    }
    let cells: Vec<String> = items.iter().map(|item| write(Some(item))).collect();
    cells.join(", ")
}

/// Reads a list of texts.
pub(super) fn read_list(cell: &str) -> Result<Vec<String>, String> {
    let cell = cell.trim();
    if matches!(cell, "-" | "") {
        return Ok(Vec::new());
    }
    split(cell, ',')
        .into_iter()
        .map(|item| read(item).map(Option::unwrap_or_default))
        .collect()
}

/// Splits at a character that no backslash stands before.
pub(super) fn split(text: &str, at: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == at {
            parts.push(text.get(from..index).unwrap_or_default());
            from = index + c.len_utf8();
        }
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}
