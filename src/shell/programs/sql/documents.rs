//! Clients of stores without SQL: mongo, redis.

use super::destroys;
use crate::judge::Level;
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

pub(super) fn mongo(walk: &mut Walk<'_>, call: &Call<'_>) {
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
        dropped(walk, &text);
    }
}

/// Notes what calls of a document store's own language drop.
pub(super) fn dropped(walk: &mut Walk<'_>, text: &[u8]) {
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
        "shutdown:1",
        "dropAllRoles",
        "fsyncLock",
        "replSetReconfig",
        "rs.remove(",
        "sh.removeShard",
        "._drop(",
        "._dropDatabase(",
        ".truncate()",
        ".renameCollection",
        "dropDatabase:1",
        "drop:",
        "convertToCapped",
    ];
    let wide =
        flat.contains(".updateMany({},") || flat.contains(".update({},") && flat.contains("multi");
    // A condition that every document meets.
    let every = [
        "({_id:{$exists:true}}",
        "({_id:{$ne:null}}",
        "({$where:'true'}",
        "({$where:\"true\"}",
    ];
    let wide = wide
        || [".deleteMany", ".remove", ".updateMany"]
            .iter()
            .any(|call| {
                every
                    .iter()
                    .any(|condition| flat.contains(&format!("{call}{condition}")))
            });
    if drops.iter().any(|drop| flat.contains(drop)) || wide {
        destroys(walk, "a collection or database is dropped or emptied");
    } else if CHANGES.iter().any(|call| flat.contains(call)) {
        walk.mark(
            Level::Transparent,
            "documents of a collection are written, changed or deleted",
        );
    }
}

/// Calls that change some documents.
const CHANGES: &[&str] = &[
    ".deleteOne(",
    ".deleteMany(",
    ".findOneAndDelete(",
    ".findOneAndReplace(",
    ".findOneAndUpdate(",
    ".findAndModify(",
    ".updateOne(",
    ".updateMany(",
    ".update(",
    ".replaceOne(",
    ".remove(",
    ".removeByKeys(",
    ".removeByExample(",
    ".insert(",
    ".insertOne(",
    ".insertMany(",
    ".bulkWrite(",
    ".save(",
    ".createIndex(",
    ".createCollection(",
    ".createUser(",
];

/// Commands of redis that write keys, and lose no more than what the keys held.
const WRITES: &[&str] = &[
    "append",
    "bitfield",
    "bitop",
    "blmove",
    "blpop",
    "brpop",
    "copy",
    "decr",
    "decrby",
    "expire",
    "expireat",
    "geoadd",
    "getdel",
    "getex",
    "getset",
    "hincrby",
    "hincrbyfloat",
    "hmset",
    "hset",
    "hsetnx",
    "incr",
    "incrby",
    "incrbyfloat",
    "json.del",
    "json.set",
    "linsert",
    "lmove",
    "lpop",
    "lpush",
    "lpushx",
    "lrem",
    "lset",
    "migrate",
    "move",
    "mset",
    "msetnx",
    "persist",
    "pexpire",
    "pexpireat",
    "pfadd",
    "pfmerge",
    "psetex",
    "publish",
    "rename",
    "renamenx",
    "restore",
    "rpop",
    "rpoplpush",
    "rpush",
    "rpushx",
    "sadd",
    "set",
    "setbit",
    "setex",
    "setnx",
    "setrange",
    "smove",
    "spop",
    "xack",
    "xadd",
    "xclaim",
    "xsetid",
    "zadd",
    "zincrby",
    "zpopmax",
    "zpopmin",
];

pub(super) fn redis(walk: &mut Walk<'_>, call: &Call<'_>) {
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
    let cluster = call.args.iter().any(|arg| arg.text == "--cluster")
        && call.args.iter().any(|arg| {
            matches!(
                arg.word(),
                "del-node" | "reset" | "fix" | "import" | "reshard" | "call"
            )
        });
    if cluster {
        destroys(walk, "the cluster is taken apart or its slots move");
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
            ["eval" | "fcall", script @ ..]
                if script.iter().any(|word| {
                    word.contains("'del'")
                        || word.contains("\"del\"")
                        || word.contains("unlink")
                        || word.contains("flush")
                }) =>
            {
                Some("keys are deleted")
            }
            _ => None,
        };
        if let Some(why) = why {
            destroys(walk, why);
        } else if words.first().is_some_and(|word| WRITES.contains(word)) {
            walk.mark(Level::Transparent, "keys are written or taken out");
        }
    }
}
