//! Databases' command lines: which statements destroy, and which programs do.

mod conditions;
mod documents;
mod statements;

pub(super) use statements::statements;

use super::abbreviations;
use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::scope::Value;
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};
use documents::{mongo, redis};

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
        "surreal" => {
            from_input(walk, call.input);
            super::tables::run(walk, call);
        }
        "hbase" => {
            if let Stream::Text(text) = call.input {
                hbase(walk, &text.clone());
            }
        }
        "arangosh" => {
            let code = call.args.iter().map(|arg| arg.text.as_slice());
            documents::dropped(walk, &bstr::join(" ", code));
        }
        "snowsql" | "snow" | "trino" | "presto" | "hive" | "beeline" | "impala-shell"
        | "spark-sql" | "athena" | "cqlsh" | "dbt" | "sqlplus" | "db2" | "vsql" | "ksql"
        | "influx" | "tarantool" | "turso" | "dolt" => {
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
        "rails" | "rake"
            if in_test(walk) && call.args.iter().any(|arg| arg.text.starts_with(b"db:")) =>
        {
            walk.mark(Level::Transparent, "the database of the tests changes");
        }
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
                    queried(walk, call, &value, stem.contains_str("file"));
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
                        queried(walk, call, &value, matches!(letter, 'f' | 'i'));
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
        } else if call.name == "sqlplus" && bytes.starts_with(b"@") {
            given = true;
            follow(walk, &arg.from(1));
        } else if bytes.contains(&b' ') {
            // Some clients take the statement as an operand.
            spoken(walk, bytes);
        }
    }
    if !given {
        from_input(walk, call.input);
    }
}

/// Whether a framework is told to work on what its tests use.
fn in_test(walk: &Walk<'_>) -> bool {
    let is_test = |name: &[u8], value: &Arg| {
        matches!(name, b"RAILS_ENV" | b"RACK_ENV") && value.text == "test"
    };
    let own = walk
        .env
        .iter()
        .find(|(name, _)| matches!(name.as_slice(), b"RAILS_ENV" | b"RACK_ENV"));
    if let Some((name, value)) = own {
        return is_test(name, value);
    }
    walk.scope.assigned.iter().any(
        |name| matches!(walk.scope.vars.get(name), Some(Value::One(value)) if is_test(name, value)),
    )
}

/// HBase's shell: `drop 't'`, `truncate 't'`, `deleteall 't', 'row'`.
fn hbase(walk: &mut Walk<'_>, text: &[u8]) {
    let drops = text.lines().any(|line| {
        let word = line.trim_ascii().split_str(" ").next().unwrap_or_default();
        matches!(
            word,
            b"drop"
                | b"drop_all"
                | b"drop_namespace"
                | b"truncate"
                | b"truncate_preserve"
                | b"deleteall"
        )
    });
    if drops {
        destroys(walk, "a table is dropped or emptied");
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

fn queried(walk: &mut Walk<'_>, call: &Call<'_>, value: &Arg, file: bool) {
    if file && matches!(value.text.as_slice(), b"-" | b"/dev/stdin" | b"/dev/fd/0") {
        from_input(walk, call.input);
    } else if file {
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
        Stream::Unknown
        | Stream::Changes
        | Stream::Undoing
        | Stream::Tree(_)
        | Stream::Paths(_) => {
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

/// The file that SQLite's shell is told to write: its last word, or a command after a bar.
fn saved(walk: &mut Walk<'_>, rest: &[u8]) {
    if let Some(command) = rest.strip_prefix(b"|") {
        let command: BString = command.into();
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        return;
    }
    let path = rest
        .trim_with(|c| c == '\'' || c == '"')
        .rsplit_str(" ")
        .next()
        .unwrap_or_default()
        .trim_with(|c| c == '\'' || c == '"');
    if !matches!(path, b"stdout" | b"off" | b"-e" | b"-x") {
        walk.file(PathOp::Replace, &Arg::known(path));
    }
}

/// What a client of a database that nobody misses is told: only what leaves it counts.
fn told_only(walk: &mut Walk<'_>, text: &[u8]) {
    for line in text.lines() {
        told(walk, line.trim_ascii());
    }
    statements::exported(walk, text);
}

/// The last word of a line, which names where its result goes: `… \\g FILE`, `\\copy t to 'FILE'`.
fn result_of(walk: &mut Walk<'_>, line: &[u8]) {
    let lower = line.to_ascii_lowercase();
    let piped = [
        &b"\\g |"[..],
        b"\\gx |",
        b"\\w |",
        b"\\write |",
        b" to program '",
    ]
    .iter()
    .find_map(|marker| lower.find(marker).map(|at| at + marker.len()));
    let copies = lower.starts_with(b"\\copy ");
    if let Some(at) = piped
        && (copies || !lower.contains_str("to program"))
    {
        let command = line.get(at..).unwrap_or_default();
        let command: BString = command.split_str("'").next().unwrap_or_default().into();
        let _ = walk.run_child(command.as_bstr(), &Stream::Unknown);
        return;
    }
    let at = [&b"\\g "[..], b"\\gx ", b"\\w ", b"\\write "]
        .iter()
        .find_map(|marker| lower.find(marker).map(|at| at + marker.len()))
        .or_else(|| lower.rfind(" to ").filter(|_| copies).map(|at| at + 4));
    let Some(at) = at else { return };
    let rest = line.get(at..).unwrap_or_default().trim_ascii();
    let quote = rest.first().copied().filter(|byte| b"'\"".contains(byte));
    let path = match quote {
        Some(quote) => rest
            .get(1..)
            .unwrap_or_default()
            .split(|byte| *byte == quote)
            .next(),
        None => rest.fields().next(),
    };
    let path = path.unwrap_or_default();
    if !path.is_empty() && !matches!(path, b"stdout" | b"pstdout" | b"STDOUT") {
        walk.file(PathOp::Replace, &Arg::known(path));
    }
}

/// A line to the client itself: another file is read, a shell command is run, output goes to a file.
fn told(walk: &mut Walk<'_>, line: &[u8]) {
    let (word, rest) = line.split_once_str(" ").unwrap_or((line, b""));
    let rest = rest.trim_ascii().trim_end_with(|c| c == ';');
    let (word, rest) = match word.strip_prefix(b"\\!") {
        Some(stuck) if !stuck.is_empty() => (&b"\\!"[..], line.get(2..).unwrap_or_default()),
        _ => (word, rest),
    };
    let lower = word.to_ascii_lowercase();
    let full = abbreviations::dotted(&lower).map(String::into_bytes);
    match full.as_deref().unwrap_or(&lower) {
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
        b".output" | b".once" | b".backup" | b".save" | b".clone" | b".log" | b".excel"
            if !rest.is_empty() =>
        {
            saved(walk, rest);
        }
        b"spool" if !matches!(rest, b"" | b"off" | b"OFF") => {
            walk.file(PathOp::Replace, &Arg::known(rest));
        }
        b".restore" => destroys(walk, "a database is replaced by a backup"),
        _ if line.contains(&b'\\') => result_of(walk, line),
        _ => {}
    }
}

fn sqlite(walk: &mut Walk<'_>, call: &Call<'_>) {
    let options = Options::read(
        call.args,
        &Spec {
            long: &[
                "cmd",
                "init",
                "separator",
                "newline",
                "nullvalue",
                "c",
                "s",
                "f",
            ],
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
        .chain(options.values(&["cmd", "c", "s"]))
        .map(|text| text.text.clone())
        .collect();
    for path in options.values(&["f", "init"]) {
        if !scratch {
            follow(walk, path);
        }
    }
    for text in &given {
        if scratch {
            told_only(walk, text);
        } else {
            spoken(walk, text);
        }
    }
    if scratch {
        if let Stream::Text(text) = call.input {
            told_only(walk, &text.clone());
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
