//! Databases' command lines: which statements destroy, and which programs do.

use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    match call.name {
        "psql" | "pgcli" | "cockroach" | "usql" => client(
            walk,
            call,
            "cf",
            &["command", "file", "execute"],
            "hpUdvoLFRPTn",
        ),
        "mysql" | "mariadb" | "mycli" => {
            client(walk, call, "e", &["execute", "init-command"], "hPuDS");
        }
        "sqlite3" | "sqlite" | "litecli" | "duckdb" | "sqlcipher" => sqlite(walk, call),
        "sqlcmd" | "osql" | "isql" | "tsql" | "mssql-cli" => {
            client(walk, call, "qQi", &["query", "input-file"], "SUPdht");
        }
        "clickhouse-client" | "clickhouse" | "clickhouse-local" => {
            client(
                walk,
                call,
                "q",
                &["query", "queries-file", "multiquery"],
                "hudp",
            );
        }
        "bq" => {
            if call
                .args
                .iter()
                .any(|arg| matches!(arg.word(), "--dry_run" | "--dry_run=true"))
            {
                return Some(Stream::Unknown);
            }
            for arg in call.args {
                statements(walk, &arg.text);
            }
            from_input(walk, call.input);
            super::tables::run(walk, call);
        }
        "snowsql" | "snow" | "trino" | "presto" | "hive" | "beeline" | "impala-shell"
        | "spark-sql" | "athena" | "cqlsh" | "dbt" | "sqlplus" | "db2" | "vsql" | "ksql"
        | "influx" | "tarantool" | "surreal" | "turso" | "dolt" => {
            client(
                walk,
                call,
                "eqfQ",
                &["execute", "query", "file", "filename", "command"],
                "hupdD",
            );
            super::tables::run(walk, call);
        }
        "wrangler" => {
            client(walk, call, "", &["command", "file"], "");
            super::tables::run(walk, call);
        }
        "cypher-shell" => {
            for arg in call.args {
                graph_query(walk, &arg.text);
            }
            if let Stream::Text(text) = call.input {
                graph_query(walk, &text.clone());
            }
        }
        "mongosh" | "mongo" => mongo(walk, call),
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis(walk, call),
        "prisma" | "sequelize" | "knex" | "typeorm" | "drizzle-kit" | "flyway" | "liquibase"
        | "rails" | "rake" | "alembic" | "goose" | "migrate" | "dbmate" | "sqlx" | "diesel"
        | "atlas" | "supabase" | "hasura" => {
            super::tables::run(walk, call);
        }
        _ => return None,
    }
    Some(Stream::Unknown)
}

fn client(
    walk: &mut Walk<'_>,
    call: &Call<'_>,
    text: &'static str,
    long: &'static [&'static str],
    short: &str,
) {
    let mut rest = call.args.iter();
    let mut given = false;
    while let Some(arg) = rest.next() {
        let bytes = arg.text.as_slice();
        if let Some(name) = bytes.strip_prefix(b"--") {
            let stem = name.split_str("=").next().unwrap_or_default();
            if long.iter().any(|one| stem == one.as_bytes()) {
                let value = arg.after_equals().or_else(|| rest.next().cloned());
                if let Some(value) = value {
                    given = true;
                    queried(walk, &value, stem.contains_str("file"));
                }
            }
        } else if bytes.starts_with(b"-") && bytes.len() > 1 {
            let mut at = 1;
            while let Some(byte) = bytes.get(at) {
                let letter = char::from(*byte);
                at += 1;
                if text.contains(letter) {
                    let stuck = arg.from(at);
                    let value = if stuck.text.is_empty() {
                        rest.next().cloned()
                    } else {
                        Some(stuck)
                    };
                    if let Some(value) = value {
                        given = true;
                        queried(walk, &value, matches!(letter, 'f' | 'i'));
                    }
                    break;
                }
                if short.contains(letter) {
                    if at >= bytes.len() {
                        rest.next();
                    }
                    break;
                }
            }
        } else if bytes.contains(&b' ') {
            // Some clients take the statement as an operand.
            spoken(walk, bytes);
        }
    }
    if !given {
        from_input(walk, call.input);
    }
}

/// Notes what a query of a graph database deletes.
fn graph_query(walk: &mut Walk<'_>, text: &[u8]) {
    let lower = text.to_ascii_lowercase();
    let deletes = lower
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|word| matches!(word, b"delete" | b"drop"));
    if deletes && lower.contains(&b' ') {
        destroys(walk, "nodes, relationships or a schema are deleted");
    }
}

fn queried(walk: &mut Walk<'_>, value: &Arg, file: bool) {
    if file {
        follow(walk, value);
    } else {
        spoken(walk, &value.text);
    }
}

/// Runs the statements of a file.
fn follow(walk: &mut Walk<'_>, path: &Arg) {
    if walk.is_missing(path) {
        walk.mark(
            Level::Transparent,
            "a file of statements that is not there is run",
        );
        return;
    }
    let stream = walk.read_script(path);
    streamed(walk, &stream);
}

fn from_input(walk: &mut Walk<'_>, input: &Stream) {
    // A terminal's lines are typed one by one, by someone who sees them.
    if walk.piped() || !matches!(input, Stream::Unknown) {
        streamed(walk, input);
    }
}

fn streamed(walk: &mut Walk<'_>, input: &Stream) {
    match input {
        Stream::Text(text) => {
            let text = text.clone();
            spoken(walk, &text);
        }
        Stream::Remote => walk.note(DeedKind::System {
            class: SystemClass::RemoteCode,
            why: "downloaded statements are run unseen".to_owned(),
        }),
        Stream::Unknown | Stream::Changes | Stream::Paths(_) => {
            walk.opaque(Level::Confirm, "statements that cannot be read are run");
        }
        Stream::Nothing => {}
    }
}

/// What a client is told: statements, and commands to the client itself.
fn spoken(walk: &mut Walk<'_>, text: &[u8]) {
    for line in text.lines() {
        told(walk, line.trim_ascii());
    }
    statements(walk, text);
}

/// A line to the client itself: another file is read, a shell command is run, output goes to a file.
fn told(walk: &mut Walk<'_>, line: &[u8]) {
    let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
    let rest = rest.trim_ascii().trim_end_with(|c| c == ';');
    let (word, rest) = match word.strip_prefix(b"\\!") {
        Some(stuck) if !stuck.is_empty() => (&b"\\!"[..], line.get(2..).unwrap_or_default()),
        _ => (word, rest),
    };
    match word.to_ascii_lowercase().as_slice() {
        b"\\!" | b"system" | b".shell" | b".system" => {
            let command: BString = rest.into();
            let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        }
        b"\\i" | b"\\ir" | b"\\include" | b"\\include_relative" | b"source" | b"\\." | b".read" => {
            if let Some(command) = rest.strip_prefix(b"|") {
                let command: BString = command.into();
                let stream = walk.run_child(command.as_bstr(), &Stream::Unknown);
                streamed(walk, &stream);
                return;
            }
            let path = rest.trim_with(|c| c == '\'' || c == '"');
            follow(walk, &Arg::known(path));
        }
        b"\\o" | b"\\out" | b"tee" | b"\\t" => match rest.strip_prefix(b"|") {
            Some(command) => {
                let command: BString = command.into();
                let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
            }
            None if !rest.is_empty() && word != b"\\t" => {
                walk.file(PathOp::Replace, &Arg::known(rest));
            }
            None => {}
        },
        b".output" | b".once" | b".backup" | b".save" | b".clone" if !rest.is_empty() => {
            walk.file(PathOp::Replace, &Arg::known(rest));
        }
        b".restore" => destroys(walk, "a database is replaced by a backup"),
        _ => {}
    }
}

fn sqlite(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            long: &["cmd", "init", "separator", "newline", "nullvalue", "c"],
            single_dash: true,
            ..Spec::default()
        },
    );
    // A database in memory or among temporary files holds nothing that was agreed.
    let scratch = options.operands.first().is_none_or(|path| {
        path.text == ":memory:"
            || path.text.is_empty()
            || path.text.starts_with(b"/tmp/")
            || path.text.starts_with(b"/var/tmp/")
    });
    let given: Vec<BString> = options
        .operands
        .iter()
        .skip(1)
        .chain(options.values(&["cmd"]))
        .map(|text| text.text.clone())
        .collect();
    for text in &given {
        if scratch {
            text.lines().for_each(|line| told(walk, line.trim_ascii()));
        } else {
            spoken(walk, text);
        }
    }
    if scratch {
        if let Stream::Text(text) = call.input {
            let text = text.clone();
            text.lines().for_each(|line| told(walk, line.trim_ascii()));
        }
    } else if given.is_empty() {
        from_input(walk, call.input);
    }
}

fn destroys(walk: &mut Walk<'_>, why: &str) {
    walk.note(DeedKind::System {
        class: SystemClass::Irreversible,
        why: why.to_owned(),
    });
}

/// Notes what SQL statements destroy.
pub(super) fn statements(walk: &mut Walk<'_>, text: &[u8]) {
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

fn mongo(walk: &mut Walk<'_>, call: &Call<'_>) {
    let mut texts: Vec<BString> = Vec::new();
    let options = Options::read(
        call.args,
        &Spec {
            short: "upf",
            long: &[
                "eval",
                "host",
                "port",
                "username",
                "password",
                "authenticationDatabase",
                "file",
            ],
            ..Spec::default()
        },
    );
    texts.extend(
        options
            .values(&["eval"])
            .into_iter()
            .map(|arg| arg.text.clone()),
    );
    if let Stream::Text(text) = call.input {
        texts.push(text.clone());
    }
    for path in options
        .operands
        .iter()
        .chain(options.values(&["f", "file"]))
    {
        let script = std::path::Path::new(path.word())
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("js"));
        if script && let Stream::Text(text) = walk.read_path(path) {
            texts.push(text);
        }
    }
    for text in texts {
        let flat: String = text
            .to_str_lossy()
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .collect();
        let drops = [
            ".drop(",
            "dropDatabase(",
            ".dropIndex",
            ".dropUser",
            "dropAllUsers",
            ".remove({})",
            ".deleteMany({})",
            ".deleteMany()",
            ".remove()",
            "shutdownServer",
            "dropAllRoles",
            "fsyncLock",
            "replSetReconfig",
            ".renameCollection",
            "dropDatabase:1",
            "drop:",
            "convertToCapped",
        ];
        let wide = flat.contains(".updateMany({},")
            || flat.contains(".update({},") && flat.contains("multi");
        if drops.iter().any(|drop| flat.contains(drop)) || wide {
            destroys(walk, "a collection or database is dropped or emptied");
        }
    }
}

fn redis(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            short: "hpanuidrsDtc",
            long: &[
                "user", "pass", "cacert", "cert", "key", "sni", "eval", "pattern",
            ],
            stops: true,
            ..Spec::default()
        },
    );
    let mut lines: Vec<Vec<String>> = vec![
        options
            .operands
            .iter()
            .flat_map(|arg| {
                arg.text
                    .to_str_lossy()
                    .to_ascii_lowercase()
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect(),
    ];
    if let Stream::Text(text) = call.input {
        lines.extend(text.lines().map(|line| {
            line.to_str_lossy()
                .to_ascii_lowercase()
                .split_whitespace()
                .map(str::to_owned)
                .collect()
        }));
    }
    for words in lines {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let why = match words.as_slice() {
            ["flushall" | "flushdb" | "swapdb", ..] => Some("every key is deleted"),
            ["del" | "unlink", ..] => Some("keys are deleted"),
            ["shutdown", ..] => Some("the server is shut down"),
            [
                "debug",
                "segfault" | "reload" | "restart" | "flushall" | "sleep",
                ..,
            ] => Some("the server is disturbed"),
            ["config", "set" | "resetstat" | "rewrite", ..] => {
                Some("the server's configuration changes")
            }
            ["script" | "function", "flush" | "delete", ..] => Some("scripts are deleted"),
            [
                "cluster",
                "reset" | "forget" | "failover" | "flushslots" | "delslots",
                ..,
            ] => Some("the cluster is taken apart"),
            [
                "xtrim" | "ltrim" | "hdel" | "zrem" | "srem" | "xdel" | "zremrangebyrank"
                | "zremrangebyscore" | "xgroup",
                ..,
            ] => Some("parts of keys are deleted"),
            ["replicaof" | "slaveof", ..] => Some("the data is replaced by another server's"),
            ["acl", "deluser" | "setuser", ..] => Some("users change"),
            ["eval", script, ..] if script.contains("del") || script.contains("flush") => {
                Some("keys are deleted")
            }
            _ => None,
        };
        if let Some(why) = why {
            destroys(walk, why);
        }
    }
}
