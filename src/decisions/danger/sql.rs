//! What a query would destroy.
//!
//! Queries are split into tokens (comments and strings apart), then statements;
//! a statement is judged by its head and by what bounds it. Other query
//! languages (MongoDB, Redis, Cypher) are known by their destroying calls.

use super::{Danger, path};
use crate::decisions::report::Code;

/// One token of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'q> {
    /// A word, as written.
    Word(&'q str),
    /// A number or a string.
    Literal(&'q str),
    /// Any other character.
    Sign(u8),
}

impl Token<'_> {
    fn is(self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }
}

impl<'q> Token<'q> {
    /// What stands in a string's quotes.
    fn text(self) -> Option<&'q str> {
        match self {
            Token::Literal(text) => text
                .strip_prefix('\'')
                .map(|text| text.trim_end_matches('\'')),
            Token::Word(_) | Token::Sign(_) => None,
        }
    }
}

/// Functions and procedures that leave the database.
const ESCAPES: &[&str] = &[
    "xp_cmdshell",
    "sp_oacreate",
    "load_file",
    "pg_read_file",
    "pg_read_binary_file",
    "pg_ls_dir",
    "pg_write_file",
    "lo_export",
    "lo_import",
    "sys_exec",
    "sys_eval",
    "load_extension",
    "dbms_scheduler",
    "utl_file",
    "writefile",
];

/// Calls of other query languages that destroy: method names and commands.
const DESTROYING_CALLS: &[&str] = &[
    "dropdatabase",
    "dropcollection",
    "dropindexes",
    "flushall",
    "flushdb",
    "deleteallrecords",
];

/// Finds what a query would destroy.
pub(super) fn dangers(query: &str) -> Vec<Danger> {
    let tokens = tokens(query);
    let mut harms: Vec<String> = Vec::new();
    for statement in statements(&tokens) {
        judge(statement, &mut harms);
    }
    other_languages(&tokens, &mut harms);
    harms.dedup();
    harms
        .into_iter()
        .map(|harm| Danger::new(Code::DangerQuery, harm))
        .collect()
}

fn tokens(query: &str) -> Vec<Token<'_>> {
    let bytes = query.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(b"--") || (byte == b'#' && tokens.last() != Some(&Token::Sign(b'-'))) {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*!") {
            // MySQL runs what stands in such a comment.
            at += 3;
            at += bytes
                .get(at..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count();
        } else if rest.starts_with(b"/*") {
            at += query
                .get(at + 2..)
                .and_then(|text| text.find("*/"))
                .map_or(rest.len(), |end| end + 4);
        } else if byte == b'\'' {
            let end = string_end(bytes, at);
            tokens.push(Token::Literal(query.get(at..end).unwrap_or_default()));
            at = end;
        } else if matches!(byte, b'"' | b'`') {
            let close = rest
                .iter()
                .skip(1)
                .position(|b| *b == byte)
                .map_or(rest.len(), |end| end + 2);
            tokens.push(Token::Word(
                query
                    .get(at..at + close)
                    .unwrap_or_default()
                    .trim_matches(['"', '`']),
            ));
            at += close;
        } else if byte.is_ascii_digit() {
            let end = at
                + rest
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || **b == b'.')
                    .count();
            tokens.push(Token::Literal(query.get(at..end).unwrap_or_default()));
            at = end;
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            let end = at
                + rest
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_' || **b >= 0x80)
                    .count();
            tokens.push(Token::Word(query.get(at..end).unwrap_or_default()));
            at = end;
        } else {
            if !byte.is_ascii_whitespace() {
                tokens.push(Token::Sign(byte));
            }
            at += 1;
        }
    }
    tokens
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn statements<'t, 'q>(tokens: &'t [Token<'q>]) -> impl Iterator<Item = &'t [Token<'q>]> {
    tokens
        .split(|token| *token == Token::Sign(b';'))
        .filter(|statement| !statement.is_empty())
}

fn judge(statement: &[Token<'_>], harms: &mut Vec<String>) {
    // What MERGE does to a row stands after THEN, bounded by its ON.
    let merges = statement.first().is_some_and(|token| token.is("merge"));
    for (at, token) in statement.iter().enumerate() {
        if let Token::Word(word) = token
            && ESCAPES.iter().any(|name| name.eq_ignore_ascii_case(word))
        {
            harms.push(format!(
                "{word} reaches the files or programs of the machine"
            ));
        }
        let head = at == 0
            || matches!(statement.get(at - 1), Some(Token::Sign(b'(')))
            || follows_cte(statement, at)
            || statement.get(at - 1).is_some_and(|before| {
                ["explain", "analyze", "begin", "then", "do", "execute"]
                    .iter()
                    .any(|word| before.is(word) && !(merges && *word == "then"))
            });
        if head {
            let rest = statement.get(at..).unwrap_or_default();
            judge_head(rest, harms);
        }
    }
    if sequence(statement, &["into", "outfile"]) || sequence(statement, &["into", "dumpfile"]) {
        harms.push("INTO OUTFILE writes a file of the machine".to_owned());
    }
    let head = |word: &str| statement.first().is_some_and(|token| token.is(word));
    if head("copy") && statement.iter().any(|token| token.is("program")) {
        harms.push("COPY … PROGRAM runs a program".to_owned());
    }
    for text in statement.iter().filter_map(|token| token.text()) {
        if (head("copy") || head("attach") || head("load") || head("bulk"))
            && path::guarded(text).is_some()
        {
            harms.push(format!("{text} is a system file or holds secrets"));
        }
    }
    if sequence(statement, &["execute", "immediate"]) || sequence(statement, &["prepare"]) {
        for text in statement.iter().filter_map(|token| token.text()) {
            for inner in statements(&tokens(text)) {
                judge(inner, harms);
            }
        }
    }
}

/// Returns true right after the closing parenthesis of a WITH clause.
fn follows_cte(statement: &[Token<'_>], at: usize) -> bool {
    statement.first().is_some_and(|first| first.is("with"))
        && matches!(statement.get(at.wrapping_sub(1)), Some(Token::Sign(b')')))
}

fn sequence(tokens: &[Token<'_>], words: &[&str]) -> bool {
    tokens
        .windows(words.len())
        .any(|window| window.iter().zip(words).all(|(token, word)| token.is(word)))
}

fn word_at<'q>(tokens: &[Token<'q>], at: usize) -> &'q str {
    match tokens.get(at) {
        Some(Token::Word(word)) => word,
        _ => "",
    }
}

/// What DROP can be followed by.
const DROPPED: &[&str] = &[
    "table",
    "database",
    "schema",
    "view",
    "index",
    "materialized",
    "column",
    "user",
    "role",
    "trigger",
    "function",
    "procedure",
    "sequence",
    "type",
    "tablespace",
    "extension",
    "keyspace",
    "collection",
    "constraint",
    "partition",
    "owned",
    "event",
    "policy",
    "domain",
    "server",
    "graph",
    "stream",
    "external",
];

fn judge_head(tokens: &[Token<'_>], harms: &mut Vec<String>) {
    let head = word_at(tokens, 0).to_ascii_lowercase();
    let second = word_at(tokens, 1).to_ascii_lowercase();
    match head.as_str() {
        "drop" if DROPPED.contains(&second.as_str()) && tokens.len() > 2 => {
            harms.push(format!("DROP {} cannot be undone", second.to_uppercase()));
        }
        "truncate" if tokens.len() > 1 && !matches!(tokens.get(1), Some(Token::Sign(b'('))) => {
            harms.push("TRUNCATE empties the table for good".to_owned());
        }
        "delete" if sequence(tokens, &["from"]) && !is_bounded(tokens) => {
            harms.push("DELETE without a condition empties the table".to_owned());
        }
        "update" if sequence(tokens, &["set"]) && !is_bounded(tokens) => {
            harms.push("UPDATE without a condition changes every row".to_owned());
        }
        "alter" => {
            if tokens
                .iter()
                .zip(tokens.iter().skip(1))
                .any(|(token, next)| token.is("drop") && !next.is("default") && !next.is("not"))
            {
                harms.push("ALTER … DROP cannot be undone".to_owned());
            }
            if ["user", "role", "system", "login"].contains(&second.as_str()) {
                harms.push(format!(
                    "ALTER {} changes who may do what",
                    second.to_uppercase()
                ));
            }
        }
        "grant" | "revoke"
            if tokens
                .iter()
                .any(|token| token.is("to") || token.is("from")) =>
        {
            harms.push(format!("{} changes who may do what", head.to_uppercase()));
        }
        "create" | "attach"
            if ["user", "role", "login"].contains(&second.as_str())
                || (head == "create" && second == "extension") =>
        {
            harms.push(format!(
                "{} {} changes who may do what",
                head.to_uppercase(),
                second.to_uppercase()
            ));
        }
        "merge" if sequence(tokens, &["then", "delete"]) => {
            harms.push("MERGE … DELETE removes every row that matches".to_owned());
        }
        "rename" if second == "table" => {
            harms.push("RENAME TABLE takes the table from whoever uses it".to_owned());
        }
        "set" if ["global", "persist"].contains(&second.as_str()) => {
            harms.push("SET GLOBAL changes the server for everybody".to_owned());
        }
        "pragma" if second == "writable_schema" => {
            harms.push("PRAGMA writable_schema lets a query break the database".to_owned());
        }
        "shutdown" if tokens.len() <= 2 => {
            harms.push("SHUTDOWN stops the server".to_owned());
        }
        _ => {}
    }
}

/// Returns true where a condition that is not always true bounds the statement.
fn is_bounded(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(b'(') => depth += 1,
            Token::Sign(b')') => {
                depth -= 1;
                if depth < 0 {
                    return false;
                }
            }
            token if depth == 0 && token.is("where") => {
                return !is_always_true(tokens.get(at + 1..).unwrap_or_default());
            }
            _ => {}
        }
    }
    false
}

/// Returns true for `1=1`, `TRUE`, `'a'='a'`, `x = x`, a bare non-zero number, and for `… OR` one of them.
fn is_always_true(condition: &[Token<'_>]) -> bool {
    let mut depth = 0_i32;
    let mut end = condition.len();
    for (at, token) in condition.iter().enumerate() {
        match token {
            Token::Sign(b'(') => depth += 1,
            Token::Sign(b')') => {
                depth -= 1;
                if depth < 0 {
                    end = at;
                    break;
                }
            }
            token
                if depth == 0
                    && ["returning", "order", "limit", "union"]
                        .iter()
                        .any(|word| token.is(word)) =>
            {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let condition = condition.get(..end).unwrap_or_default();
    condition
        .split(|token| token.is("or"))
        .any(|arm| arm.split(|token| token.is("and")).all(is_tautology))
}

fn is_tautology(term: &[Token<'_>]) -> bool {
    match term {
        [Token::Sign(b'('), inner @ .., Token::Sign(b')')] => is_always_true(inner),
        [token] if token.is("true") => true,
        [Token::Literal(number)] => number.parse::<f64>().is_ok_and(|value| value != 0.0),
        [left, Token::Sign(b'='), right] => left == right,
        [
            Token::Literal(left),
            Token::Sign(b'<'),
            Token::Sign(b'>'),
            Token::Literal(right),
        ]
        | [
            Token::Literal(left),
            Token::Sign(b'!'),
            Token::Sign(b'='),
            Token::Literal(right),
        ] => left != right,
        [Token::Word(_), not, null] if not.is("is") && null.is("null") => false,
        _ => false,
    }
}

fn other_languages(tokens: &[Token<'_>], harms: &mut Vec<String>) {
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let lower = word.to_ascii_lowercase();
        let called = tokens.get(at + 1) == Some(&Token::Sign(b'('));
        let method = at > 0 && tokens.get(at - 1) == Some(&Token::Sign(b'.')) && called;
        if DESTROYING_CALLS.contains(&lower.as_str()) && (method || at == 0) {
            harms.push(format!("{word} empties the store"));
        }
        if method && lower == "drop" {
            harms.push("drop() removes the collection".to_owned());
        }
        let everything = tokens.get(at + 2) == Some(&Token::Sign(b'{'))
            && tokens.get(at + 3) == Some(&Token::Sign(b'}'));
        if method && ["deletemany", "remove"].contains(&lower.as_str()) && everything {
            harms.push(format!("{word}({{}}) removes every document"));
        }
    }
    let cypher = tokens.first().is_some_and(|token| token.is("match"))
        && tokens.iter().any(|token| token.is("delete"));
    if cypher && !tokens.iter().any(|token| token.is("where")) && !has_properties(tokens) {
        harms.push("MATCH … DELETE without a condition removes every node".to_owned());
    }
}

fn has_properties(tokens: &[Token<'_>]) -> bool {
    tokens.contains(&Token::Sign(b'{'))
}

#[cfg(test)]
mod tests;
