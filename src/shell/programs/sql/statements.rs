//! SQL statements: which destroy.

use super::conditions::{top_level, trivially};
use super::destroys;
use crate::judge::Level;
use crate::shell::arg::Arg;
use crate::shell::deed::PathOp;
use crate::shell::walk::Walk;
use bstr::ByteSlice as _;

/// Longest text whose statements are judged one by one.
const LONGEST: usize = 256 * 1024;

/// Notes what SQL statements destroy, change and write to files.
pub(in crate::shell::programs) fn statements(walk: &mut Walk<'_>, text: &[u8]) {
    if text.len() > LONGEST {
        walk.opaque(Level::Confirm, "too many statements to judge");
        return;
    }
    let mut changes = None;
    let mut harm = None;
    for statement in split(text) {
        writes_files(walk, &statement);
        harm = harm.or_else(|| destructive(&statement));
        changes = changes.or_else(|| changing(&statement));
    }
    if let Some(why) = harm {
        destroys(walk, why);
    } else if let Some(why) = changes {
        walk.mark(Level::Transparent, why);
    }
}

/// Notes the files alone that statements write: the database itself holds nothing that was agreed.
pub(super) fn exported(walk: &mut Walk<'_>, text: &[u8]) {
    if text.len() <= LONGEST {
        for statement in split(text) {
            writes_files(walk, &statement);
        }
    }
}

/// `COPY … TO 'x'`, `SELECT … INTO OUTFILE 'x'`, `VACUUM INTO 'x'`, `EXPORT DATABASE 'x'`.
fn writes_files(walk: &mut Walk<'_>, words: &[String]) {
    let first = words.first().map(String::as_str).unwrap_or_default();
    let after = match first {
        "copy" | "unload" => "to",
        "vacuum" => "into",
        "export" | "spool" => first,
        _ => "",
    };
    let mut open = 0_i32;
    let mut pairs = words.iter().map(String::as_str).zip(
        words
            .iter()
            .skip(1)
            .map(String::as_str)
            .chain(std::iter::once("")),
    );
    while let Some((word, next)) = pairs.next() {
        match word {
            "(" => open += 1,
            ")" => open -= 1,
            _ => {}
        }
        let named = matches!(word, "outfile" | "dumpfile") || open == 0 && word == after;
        let next = if word == "export" {
            pairs.next().map_or("", |(_, path)| path)
        } else {
            next
        };
        if named
            && let Some(path) = next.strip_prefix('\'')
            && !path.is_empty()
            && !path.contains("://")
        {
            walk.file(PathOp::Replace, &Arg::known(path));
        }
    }
}

/// Statements as lower-case words; comments are taken out, a literal keeps its opening quote and its case.
fn split(text: &[u8]) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut words: Vec<String> = Vec::new();
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
            b'\'' | b'"' => {
                flush(&mut word, &mut words);
                // Elsewhere double quotes stand around names.
                let names_file = words
                    .last()
                    .is_some_and(|word| matches!(word.as_str(), "outfile" | "dumpfile" | "like"))
                    || words.first().is_some_and(|word| word == "vacuum");
                if *byte == b'\'' || names_file {
                    let inner = rest.get(1..).unwrap_or_default();
                    let end = inner.find_byte(*byte).unwrap_or(inner.len());
                    let literal = inner.get(..end).unwrap_or_default();
                    words.push(format!("'{}", literal.to_str_lossy()));
                    at += end + 2;
                    continue;
                }
            }
            b';' => {
                flush(&mut word, &mut words);
                statements.push(std::mem::take(&mut words));
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$') => {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
            b'=' | b'<' | b'>' | b'(' | b')' | b'*' | b'\\' | b'!' => {
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

/// Says what a statement changes without destroying a whole.
fn changing(words: &[String]) -> Option<&'static str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let acts = |word: &str| matches!(word, "delete" | "update" | "insert" | "merge");
    let (first, rest) = words.split_first()?;
    let first = match *first {
        "with" | "begin" | "do" | "start" => {
            rest.iter().copied().find(|word| acts(word)).unwrap_or("")
        }
        "explain" if rest.contains(&"analyze") => {
            rest.iter().copied().find(|word| acts(word)).unwrap_or("")
        }
        other => other,
    };
    match first {
        "delete" => Some("the rows that a condition picks are deleted from a table"),
        "update" => Some("the rows that a condition picks are changed in a table"),
        "insert" | "replace" | "upsert" | "merge" | "load" | "import" => {
            Some("rows are written to a table")
        }
        "copy" if rest.contains(&"from") && !rest.contains(&"to") => {
            Some("rows are written to a table")
        }
        "create" | "alter" | "rename" | "comment" | "reindex" => Some("the schema changes"),
        _ => None,
    }
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
        ["delete", rest @ ..] => {
            // `DELETE a, b FROM …`, Oracle's and SQL Server's `DELETE t`.
            let from = top_level(rest).position(|(_, word)| word == "from");
            let narrowed = match (from, rest) {
                (Some(_), _) => !trivially(rest),
                (None, [_, "where" | "limit", ..]) => !trivially(rest),
                (None, [_]) => false,
                (None, _) => true,
            };
            (!narrowed).then_some("every row of a table is deleted")
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

#[cfg(test)]
mod tests {
    use super::{changing, destructive, split};

    /// 3 where everything goes, 1 where something changes, 0 where it is only read.
    fn level(text: &str) -> u8 {
        let statements = split(text.as_bytes());
        if statements.iter().any(|words| destructive(words).is_some()) {
            3
        } else {
            u8::from(statements.iter().any(|words| changing(words).is_some()))
        }
    }

    #[test]
    fn a_condition_counts_only_where_it_narrows() {
        for (text, expected) in [
            ("DELETE FROM t", 3),
            ("delete from t;", 3),
            ("DELETE FROM t WHERE 1=1", 3),
            ("DELETE FROM t WHERE 1 = 1 AND true", 3),
            ("DELETE FROM t WHERE id = 3 OR 1 = 1", 3),
            ("DELETE FROM t WHERE (1=1)", 3),
            ("DELETE FROM t WHERE ((id = id))", 3),
            ("DELETE FROM t WHERE a = 'x' OR 'a' = 'a'", 3),
            ("DELETE FROM t WHERE true", 3),
            ("DELETE FROM t WHERE 1", 3),
            ("DELETE FROM t WHERE NOT false", 3),
            ("DELETE FROM t WHERE 2 > 1", 3),
            ("DELETE FROM t WHERE 1 <> 2", 3),
            ("DELETE FROM t WHERE 1 != 2", 3),
            ("DELETE FROM t WHERE id IS NOT NULL", 3),
            ("DELETE FROM t WHERE name LIKE '%'", 3),
            ("DELETE t", 3),
            ("DELETE a FROM a JOIN b ON a.id = b.id", 3),
            ("WITH x AS (SELECT 1) DELETE FROM t", 3),
            (
                "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
                3,
            ),
            ("DELETE FROM t RETURNING id", 3),
            ("UPDATE t SET a = 1", 3),
            ("UPDATE t SET a = (SELECT b FROM u WHERE u.id = 1)", 3),
            ("UPDATE t SET a = 1 WHERE 1 = 1", 3),
            ("DELETE FROM t WHERE id = 1", 1),
            ("DELETE FROM t WHERE id = 1 AND 1 = 1", 1),
            (
                "DELETE FROM t WHERE id IN (SELECT id FROM u WHERE 1 = 1 OR a = 2)",
                1,
            ),
            ("DELETE FROM t WHERE name = ''", 1),
            ("DELETE FROM t WHERE name LIKE '%x%'", 1),
            ("DELETE FROM t WHERE deleted_at IS NOT NULL", 1),
            ("DELETE FROM t WHERE 1 = 0", 1),
            ("DELETE FROM t WHERE 2 < 1", 1),
            ("DELETE FROM t WHERE a = 1 RETURNING a = a", 1),
            ("DELETE FROM t LIMIT 5", 1),
            ("DELETE a FROM a JOIN b ON a.id = b.id WHERE b.gone", 1),
            ("DELETE t WHERE id = 4", 1),
            ("UPDATE t SET a = 1 WHERE id = 1", 1),
            (
                "WITH gone AS (DELETE FROM t WHERE id = 1 RETURNING *) SELECT 1",
                1,
            ),
            ("BEGIN; DELETE FROM t WHERE id = 1; COMMIT", 1),
            ("INSERT INTO t VALUES (1)", 1),
            ("CREATE TABLE t (id int)", 1),
            ("ALTER TABLE t ADD COLUMN a int", 1),
            ("COPY t FROM '/tmp/x.csv'", 1),
            ("SELECT * FROM t WHERE 1 = 1", 0),
            ("SELECT 'DELETE FROM t'", 0),
            ("EXPLAIN DELETE FROM t", 0),
            ("EXPLAIN ANALYZE DELETE FROM t", 3),
            ("SHOW TABLES", 0),
        ] {
            assert_eq!(level(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_statement_is_read_without_a_panic(
            parts in proptest::collection::vec(
                proptest::prop_oneof![
                    proptest::strategy::Just("delete "),
                    proptest::strategy::Just("from t "),
                    proptest::strategy::Just("where "),
                    proptest::strategy::Just("("),
                    proptest::strategy::Just(")"),
                    proptest::strategy::Just("1 = 1 "),
                    proptest::strategy::Just("or "),
                    proptest::strategy::Just("and "),
                    proptest::strategy::Just("'"),
                    proptest::strategy::Just("; "),
                    proptest::strategy::Just("update t set a "),
                ],
                0..40,
            ),
        ) {
            let _ = level(&parts.concat());
        }
    }
}
