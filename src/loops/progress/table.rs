//! A progress file as sections of tables, and back again. Pure.

use super::cell;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A progress file under construction.
pub(super) struct Page {
    text: String,
}

impl Page {
    /// Begins a page.
    pub(super) fn new(title: &str, about: &str) -> Self {
        Self {
            text: format!("# {}\n\n{about}\n", cell::write(Some(title))),
        }
    }

    /// Adds a section of named values.
    pub(super) fn fields(&mut self, heading: &str, fields: &[(&str, String)]) {
        self.rows(
            heading,
            &["field", "value"],
            fields
                .iter()
                .map(|(name, value)| vec![(*name).to_owned(), value.clone()]),
        );
    }

    /// Adds a section with a table.
    pub(super) fn rows(
        &mut self,
        heading: &str,
        columns: &[&str],
        rows: impl Iterator<Item = Vec<String>>,
    ) {
        // Writing to a string cannot fail.
        let _ = write!(
            self.text,
            "\n## {heading}\n\n| {} |\n|{}\n",
            columns.join(" | "),
            "---|".repeat(columns.len())
        );
        for row in rows {
            let _ = writeln!(self.text, "| {} |", row.join(" | "));
        }
    }

    /// The text.
    pub(super) fn text(self) -> String {
        self.text
    }
}

/// One row: the cells by column.
#[derive(Debug)]
pub(super) struct Row<'t> {
    cells: HashMap<&'t str, &'t str>,
}

/// The tables of a page, by heading.
pub(super) struct Tables<'t> {
    sections: HashMap<&'t str, Vec<Row<'t>>>,
}

impl<'t> Tables<'t> {
    /// Reads a page.
    pub(super) fn read(text: &'t str) -> Self {
        let mut sections: HashMap<&str, Vec<Row<'_>>> = HashMap::new();
        let mut heading = "";
        let mut columns: Vec<&str> = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            if let Some(name) = line.strip_prefix("## ") {
                heading = name.trim();
                columns.clear();
                sections.entry(heading).or_default();
            } else if let Some(cells) = row(line) {
                if columns.is_empty() {
                    columns = cells;
                } else if !cells.iter().all(|cell| is_rule(cell)) {
                    sections.entry(heading).or_default().push(Row {
                        cells: columns.iter().copied().zip(cells).collect(),
                    });
                }
            }
        }
        Self { sections }
    }

    /// The rows under a heading.
    pub(super) fn rows(&self, heading: &str) -> Result<&[Row<'t>], String> {
        self.sections
            .get(heading)
            .map(Vec::as_slice)
            .ok_or_else(|| format!("there is no section {heading:?}"))
    }

    /// The value of a named field under a heading.
    pub(super) fn field(&self, heading: &str, name: &str) -> Result<&'t str, String> {
        self.rows(heading)?
            .iter()
            .find(|row| row.cells.get("field").map(|field| field.trim()) == Some(name))
            .and_then(|row| row.cells.get("value").copied())
            .ok_or_else(|| format!("there is no field {name:?} under {heading:?}"))
    }
}

impl<'t> Row<'t> {
    /// A cell.
    pub(super) fn cell(&self, column: &str) -> Result<&'t str, String> {
        self.cells
            .get(column)
            .copied()
            .ok_or_else(|| format!("there is no column {column:?}"))
    }

    /// A text, or nothing.
    pub(super) fn text(&self, column: &str) -> Result<Option<String>, String> {
        cell::read(self.cell(column)?)
    }

    /// A text that has to be there.
    pub(super) fn needed(&self, column: &str) -> Result<String, String> {
        self.text(column)?
            .ok_or_else(|| format!("{column:?} is empty"))
    }

    /// A word of an enumeration.
    pub(super) fn word<T: serde::de::DeserializeOwned>(&self, column: &str) -> Result<T, String> {
        word(self.cell(column)?)
    }
}

/// A word of an enumeration, from a cell.
pub(super) fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(text.trim().to_owned())).map_err(|error| error.to_string())
}

/// A number, from a cell.
pub(super) fn number<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text.trim()).map_err(|error| error.to_string())
}

/// Fields that the schema does not name, as a cell.
pub(super) fn write_extra(extra: &Map<String, Value>) -> String {
    if extra.is_empty() {
        return "-".to_owned();
    }
    cell::write(Some(&Value::Object(extra.clone()).to_string()))
}

/// Fields that the schema does not name, from a cell.
pub(super) fn read_extra(text: &str) -> Result<Map<String, Value>, String> {
    match cell::read(text)? {
        None => Ok(Map::new()),
        Some(json) => serde_json::from_str(&json).map_err(|error| error.to_string()),
    }
}

fn row(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(cell::split(inner, '|').into_iter().map(str::trim).collect())
}

fn is_rule(cell: &str) -> bool {
    cell == "---"
}
