//! SQL statements: which destroy.

use super::destroys;
use crate::judge::Level;
use crate::shell::walk::Walk;
use bstr::ByteSlice as _;

/// Notes what SQL statements destroy.
pub(in crate::shell::programs) fn statements(walk: &mut Walk<'_>, text: &[u8]) {
    if text.len() > 256 * 1024 {
        walk.opaque(Level::Confirm, "too many statements to judge");
        return;
    }
    for statement in split(text) {
        if let Some(why) = destructive(&statement) {
            destroys(walk, why);
            return;
        }
    }
}

/// Statements as lower-case words, comments and literals taken out.
fn split(text: &[u8]) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut words = Vec::new();
    let mut word = String::new();
    let mut at = 0;
    let flush = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with(b"--") {
            at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with(b"/*") {
            // What stands between words parts them; MySQL runs `/*! … */`.
            flush(&mut word, &mut words);
            if rest.get(2) == Some(&b'!') {
                at += 3;
            } else {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            }
            continue;
        }
        match byte {
            b'\'' => {
                flush(&mut word, &mut words);
                let inner = rest.get(1..).unwrap_or_default();
                let end = inner.find_byte(b'\'').unwrap_or(inner.len());
                words.push("''".to_owned());
                at += end + 2;
                continue;
            }
            b';' => {
                flush(&mut word, &mut words);
                statements.push(std::mem::take(&mut words));
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$') => {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
            b'=' | b'<' | b'>' | b'(' | b'*' | b'\\' => {
                flush(&mut word, &mut words);
                words.push(char::from(*byte).to_string());
            }
            _ => flush(&mut word, &mut words),
        }
        at += 1;
    }
    flush(&mut word, &mut words);
    statements.push(words);
    statements
}

/// Says what a statement destroys.
fn destructive(words: &[String]) -> Option<&'static str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `WITH x AS (…) DELETE …`, `EXPLAIN ANALYZE DELETE …` run what they hold.
    let start = match words.first() {
        Some(&"with") => words
            .iter()
            .position(|word| matches!(*word, "delete" | "update"))
            .unwrap_or(0),
        Some(&"explain") => {
            let analyze = words.contains(&"analyze");
            if !analyze {
                return None;
            }
            words
                .iter()
                .position(|word| matches!(*word, "delete" | "update" | "truncate"))
                .unwrap_or(0)
        }
        Some(&"begin" | &"do" | &"start") => words
            .iter()
            .position(|word| matches!(*word, "drop" | "truncate" | "delete"))
            .unwrap_or(0),
        _ => 0,
    };
    let words = words.get(start..).unwrap_or_default();
    match words {
        ["drop", what, ..] => match *what {
            "temporary" | "temp" => None,
            "index" | "trigger" | "view" | "function" | "procedure" | "constraint" | "policy"
            | "rule" | "extension" | "type" | "sequence" | "user" | "role" => {
                Some("a part of the database is dropped")
            }
            _ => Some("a table, schema or database is dropped"),
        },
        ["truncate", ..] => Some("a table is emptied"),
        ["delete", "from", _, rest @ ..] | ["delete", _, "from", _, rest @ ..] => {
            if trivially(rest) {
                Some("every row of a table is deleted")
            } else {
                None
            }
        }
        [
            "remove",
            "table" | "namespace" | "database" | "ns" | "db" | "user" | "access" | "index",
            ..,
        ] => Some("a part of the database is removed"),
        ["alter", "table", _, "delete", ..] => Some("rows of a table are deleted"),
        ["update", rest @ ..] if rest.contains(&"set") => {
            let after = rest.iter().position(|word| *word == "set").unwrap_or(0);
            if trivially(rest.get(after..).unwrap_or_default()) {
                Some("every row of a table is changed")
            } else {
                None
            }
        }
        ["alter", "table", .., "drop", _] => Some("a column is dropped"),
        ["alter", "table", rest @ ..] if rest.contains(&"drop") => {
            let mild = rest
                .iter()
                .any(|word| matches!(*word, "default" | "constraint" | "identity" | "expression"));
            if mild && !rest.contains(&"column") {
                None
            } else {
                Some("a column or partition is dropped")
            }
        }
        ["alter", "database" | "system" | "user" | "role", ..] => {
            Some("the database's configuration or users change")
        }
        ["revoke" | "grant", ..] => Some("rights change"),
        ["vacuum", "full", ..] => None,
        ["purge", "binary" | "master", ..] | ["reset", "master" | "slave" | "replica", ..] => {
            Some("the database's log is deleted")
        }
        ["shutdown", ..] => Some("the database is shut down"),
        ["optimize", "table", .., "final"] | ["detach", "table", ..] => None,
        ["optimize" | "detach", ..] => None,
        ["kill", ..] => None,
        ["replace", "table", ..] | ["create", "or", "replace", "table", ..] => {
            Some("a table is replaced")
        }
        ["undrop", ..] => None,
        ["call" | "select", rest @ ..] => {
            let functions = [
                "pg_drop_replication_slot",
                "lo_unlink",
                "pg_terminate_backend",
                "pg_file_unlink",
                "xp_cmdshell",
                "dblink_exec",
                "sp_msforeachtable",
            ];
            rest.iter()
                .any(|word| functions.contains(word))
                .then_some("a function that destroys is called")
        }
        ["exec" | "execute", rest @ ..] => rest
            .iter()
            .any(|word| matches!(*word, "xp_cmdshell" | "sp_msforeachtable" | "sp_dropdb"))
            .then_some("a procedure that destroys is called"),
        ["copy", rest @ ..] if rest.contains(&"program") => {
            Some("the database server runs a program")
        }
        ["\\", "!", ..] => None,
        _ => None,
    }
}

/// Returns true where no `WHERE` narrows, or one that is always true does.
fn trivially(rest: &[&str]) -> bool {
    let Some(at) = rest.iter().position(|word| *word == "where") else {
        return !rest.contains(&"limit") && !rest.contains(&"using");
    };
    let condition = rest.get(at + 1..).unwrap_or_default();
    matches!(
        condition,
        ["1", "=", "1", ..]
            | ["true", ..]
            | ["''", "=", "''", ..]
            | ["1"]
            | ["0", "=", "0", ..]
            | ["not", "false", ..]
    )
}
