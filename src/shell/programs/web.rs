//! Programs that talk HTTP: curl, wget, httpie.

use crate::judge::{Level, SystemClass};
use crate::shell::arg::Arg;
use crate::shell::deed::{DeedKind, PathOp};
use crate::shell::options::{Options, Spec};
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

const CURL: Spec = Spec {
    short: "AbcCdDeEFhHKmoPQrTuUwxXyYzt",
    long: &[
        "user-agent",
        "cookie",
        "cookie-jar",
        "data",
        "data-raw",
        "data-binary",
        "data-ascii",
        "data-urlencode",
        "json",
        "dump-header",
        "referer",
        "cert",
        "form",
        "form-string",
        "header",
        "config",
        "max-time",
        "output",
        "output-dir",
        "quote",
        "range",
        "upload-file",
        "user",
        "proxy-user",
        "write-out",
        "proxy",
        "request",
        "url",
        "retry",
        "connect-timeout",
        "cacert",
        "key",
        "resolve",
        "interface",
        "limit-rate",
        "retry-delay",
        "max-redirs",
        "stderr",
        "trace",
        "trace-ascii",
        "unix-socket",
        "variable",
        "oauth2-bearer",
        "aws-sigv4",
        "request-target",
    ],
    stuck: "",
    stops: false,
    single_dash: false,
};

/// Runs a program of this family.
pub(super) fn run(walk: &mut Walk<'_>, call: &Call<'_>) -> Option<Stream> {
    Some(match call.name {
        "curlie"
            if call
                .args
                .iter()
                .any(|arg| matches!(arg.word(), "DELETE" | "PUT" | "PATCH" | "POST" | "PURGE"))
                && !call.args.iter().any(|arg| arg.text.starts_with(b"-X")) =>
        {
            httpie(walk, call)
        }
        "curl" | "curlie" => curl(walk, call),
        "wget" | "wget2" => wget(walk, call),
        "http" | "https" | "xh" | "xhs" => httpie(walk, call),
        "aria2c" | "axel" => {
            let options = Options::read(
                call.args,
                &Spec {
                    short: "odix",
                    long: &["out", "dir", "allow-overwrite"],
                    ..Spec::default()
                },
            );
            if let Some(path) = options.value(&["o", "out"]).cloned() {
                let op = if options
                    .value(&["allow-overwrite"])
                    .is_some_and(|value| value.text == "true")
                {
                    PathOp::Replace
                } else {
                    PathOp::Make
                };
                walk.download_to(&path);
                walk.file(op, &path);
            }
            Stream::Unknown
        }
        "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" => {
            let mut delete = false;
            let mut words = call.args.iter();
            while let Some(word) = words.next() {
                if word.text.eq_ignore_ascii_case(b"-method") {
                    delete = words
                        .next()
                        .is_some_and(|word| word.text.eq_ignore_ascii_case(b"delete"));
                }
            }
            if delete {
                request(walk, "DELETE", call.args, &BString::default());
            }
            Stream::Remote
        }
        "invoke-expression" | "iex" => {
            if matches!(call.input, Stream::Remote) || call.args.iter().any(|arg| arg.remote) {
                walk.note(DeedKind::System {
                    class: SystemClass::RemoteCode,
                    why: "what is downloaded is run unseen".to_owned(),
                });
                return Some(Stream::Unknown);
            }
            for arg in call.args {
                let text = arg.text.clone();
                let _ = walk.run_child(text.as_bstr(), &Stream::Unknown);
            }
            if call.args.is_empty() {
                walk.opaque(Level::MustAsk, "what another program writes is run");
            }
            Stream::Unknown
        }
        _ => return None,
    })
}

fn curl(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(call.args, &CURL);
    let mut urls: Vec<&Arg> = options.operands.iter().collect();
    urls.extend(options.values(&["url"]));
    let data = options.values(&[
        "d",
        "data",
        "data-raw",
        "data-binary",
        "data-ascii",
        "data-urlencode",
        "json",
    ]);
    let mut body = BString::default();
    let local = urls.iter().any(|url| local(url));
    if !local {
        sent(walk, &options, &urls);
    }
    for part in data {
        body.extend_from_slice(&part.text);
        body.push(b' ');
    }
    let method = options
        .value(&["X", "request"])
        .map(|arg| arg.word().to_ascii_uppercase());
    let overridden = options.values(&["H", "header"]).into_iter().any(|header| {
        let flat: Vec<u8> = header
            .text
            .to_ascii_lowercase()
            .into_iter()
            .filter(|byte| *byte != b' ')
            .collect();
        flat.starts_with(b"x-http-method") && flat.ends_with(b":delete")
    });
    if overridden {
        request(walk, "DELETE", call.args, &body);
    } else if let Some(method) = &method {
        request(walk, method, call.args, &body);
    } else if !body.is_empty() {
        request(walk, "POST", call.args, &body);
    }
    for command in options.values(&["Q", "quote"]) {
        let upper = command.text.to_ascii_uppercase();
        if upper.starts_with(b"DELE")
            || upper.starts_with(b"RMD")
            || upper.starts_with(b"-DELE")
            || upper.starts_with(b"RM ")
        {
            walk.note(DeedKind::System {
                class: SystemClass::Irreversible,
                why: "a file on a server is deleted".to_owned(),
            });
        }
    }
    let answer = if local {
        Stream::Unknown
    } else {
        Stream::Remote
    };
    for path in options.values(&[
        "D",
        "dump-header",
        "c",
        "cookie-jar",
        "trace",
        "trace-ascii",
        "stderr",
    ]) {
        if path.text != "-" {
            walk.file(PathOp::Replace, path);
        }
    }
    if let Some(path) = options.value(&["o", "output"]).cloned() {
        if matches!(path.text.as_slice(), b"-" | b"/dev/stdout") {
            return answer;
        }
        if path.text != "/dev/null" {
            walk.download_to(&path);
            walk.file(PathOp::Replace, &path);
        }
        return Stream::Nothing;
    }
    if options.surely(&["O", "remote-name", "remote-name-all", "J"]) {
        for url in urls {
            if let Some(mut name) = last_part(url) {
                if let Some(dir) = options.value(&["output-dir"]) {
                    name.text = bstr::join("/", [&dir.text, &name.text]).into();
                }
                walk.download_to(&name);
                walk.file(PathOp::Replace, &name);
            }
        }
        return Stream::Nothing;
    }
    if options.surely(&["I", "head"]) {
        return Stream::Unknown;
    }
    answer
}

/// Notes the files whose content a request carries.
fn sent(walk: &mut Walk<'_>, options: &Options, urls: &[&Arg]) {
    let mut read = false;
    let bodies = options.values(&[
        "d",
        "data",
        "data-binary",
        "data-ascii",
        "data-urlencode",
        "json",
        "H",
        "header",
    ]);
    let forms = options.values(&["F", "form"]);
    let uploads = options.values(&["T", "upload-file"]);
    for value in bodies.iter().chain(&forms).chain(urls) {
        walk.sends_text(&value.text);
    }
    for value in bodies.iter().chain(&forms) {
        let at = match value.text.first() {
            Some(b'@') => Some(1),
            _ => ["=@", "=<"]
                .iter()
                .filter_map(|mark| value.text.find(mark))
                .min()
                .map(|at| at + 2),
        };
        match at.map(|at| value.from(at)) {
            Some(path) if path.text == "-" => read = true,
            Some(path) => walk.file(PathOp::Send, &path),
            None => {}
        }
    }
    for path in uploads {
        if matches!(path.text.as_slice(), b"-" | b".") {
            read = true;
        } else {
            walk.file(PathOp::Send, path);
        }
    }
    if read {
        walk.sends_what_was_read();
    }
}

fn local(url: &Arg) -> bool {
    let text = url.text.as_slice();
    let host = text
        .find("://")
        .map_or(text, |at| text.get(at + 3..).unwrap_or_default());
    text.starts_with(b"file:") || host.starts_with(b"localhost") || host.starts_with(b"127.0.0.1")
}

fn last_part(url: &Arg) -> Option<Arg> {
    let text = url.text.split_str("?").next()?;
    let name = text.rsplit_str("/").next()?;
    (!name.is_empty()).then(|| Arg {
        text: name.into(),
        ..url.clone()
    })
}

/// Judges a request that changes something on a server.
fn request(walk: &mut Walk<'_>, method: &str, args: &[Arg], body: &BString) {
    let mut whole = String::new();
    for arg in args {
        whole.push_str(&arg.shown().to_ascii_lowercase());
        whole.push(' ');
    }
    let lower = body.to_str_lossy().to_ascii_lowercase();
    let flat: String = lower
        .chars()
        .filter(|letter| !letter.is_whitespace() && *letter != '"')
        .collect();
    if matches!(method, "PURGE" | "BAN") {
        walk.mark(Level::Confirm, "a server's cache is emptied");
    }
    if method == "POST" && whole.contains("/refund") && !is_development(args) {
        walk.mark(Level::Confirm, "a payment is given back");
    }
    if whole.contains("/_close ") || whole.contains("/_close?") {
        walk.mark(Level::Confirm, "an index stops answering");
    }
    if whole.contains("_update_by_query") {
        walk.mark(
            Level::Transparent,
            "the documents that a query finds are changed",
        );
    }
    if matches!(method, "PUT" | "PATCH") && !is_development(args) {
        walk.mark(Level::Transparent, "a server is told to change something");
    }
    let why = if method == "DELETE" && is_development(args) {
        walk.mark(
            Level::Transparent,
            "a server under development on this machine is told to delete something",
        );
        None
    } else if method == "DELETE" {
        Some("a server is told to delete something")
    } else if [
        "_delete_by_query",
        "/_purge",
        "purge_cache",
        "/delete_all",
        "/destroy",
        "_all/delete",
        "/actions/delete",
        "/dodelete",
        "delete_series",
        "clean_tombstones",
        "flushall",
    ]
    .iter()
    .any(|word| whole.contains(word))
    {
        Some("a server is told to delete or purge something")
    } else if flat.contains("purge_everything")
        || flat.contains("method:delete")
        || flat.contains("<delete>")
        || flat.contains("mutation")
            && (flat.contains("delete") || flat.contains("destroy") || flat.contains("remove"))
        || is_statement(&lower, &whole)
        || flat.contains("\"remove\"")
    {
        Some("a server is told to delete something")
    } else {
        None
    };
    if let Some(why) = why {
        walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: why.to_owned(),
        });
    }
}

/// Ports at which frameworks serve what is being written, and no data store by default.
const DEVELOPMENT: &[&str] = &[
    "3000", "3001", "4000", "4200", "5000", "5001", "5173", "8000",
];

/// Whether every address is one of this machine's own servers under development.
fn is_development(args: &[Arg]) -> bool {
    let mut addresses = args
        .iter()
        .filter(|arg| !arg.is_option())
        .map(Arg::shown)
        .filter(|text| {
            text.contains("localhost") || text.contains("://") || text.contains("127.0.0.1")
        })
        .peekable();
    addresses.peek().is_some()
        && addresses.all(|text| {
            let text = text
                .trim_start_matches("http://")
                .trim_start_matches("https://");
            let host = text.split(['/', '?']).next().unwrap_or(text);
            ["localhost:", "127.0.0.1:", "[::1]:"]
                .iter()
                .find_map(|name| host.strip_prefix(name))
                .is_some_and(|port| DEVELOPMENT.contains(&port))
        })
}

/// Whether a body is a statement for a database, not a text that holds one.
fn is_statement(body: &str, whole: &str) -> bool {
    let drops = [
        "drop table",
        "drop database",
        "drop index",
        "delete from",
        "truncate ",
    ]
    .iter()
    .any(|words| body.contains(words));
    let spoken = body
        .trim_start_matches(['"', '\'', ' '])
        .trim_start_matches("query=")
        .trim_start_matches("q=");
    let bare = ["drop ", "delete ", "truncate "]
        .iter()
        .any(|word| spoken.starts_with(word));
    let speaks_sql = ["sql", "/query", ":8123", "/exec", "/db/", "/statements"]
        .iter()
        .any(|part| whole.contains(part));
    drops && (bare || speaks_sql)
}

fn wget(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "oaeiBtOTwQPUADIXRlu",
            long: &[
                "output-document",
                "output-file",
                "append-output",
                "directory-prefix",
                "header",
                "user-agent",
                "post-data",
                "method",
                "body-data",
                "input-file",
                "tries",
                "timeout",
                "user",
                "password",
                "referer",
                "execute",
                "post-file",
                "body-file",
            ],
            ..Spec::default()
        },
    );
    if let Some(method) = options
        .value(&["method"])
        .map(|arg| arg.word().to_ascii_uppercase())
    {
        request(walk, &method, call.args, &BString::default());
    }
    for path in options.values(&["post-file", "body-file"]) {
        walk.file(PathOp::Send, path);
    }
    for value in options.values(&["post-data", "body-data"]) {
        walk.sends_text(&value.text);
    }
    for url in &options.operands {
        walk.sends_text(&url.text);
    }
    if let Some(path) = options.value(&["o", "output-file"]).cloned() {
        walk.file(PathOp::Replace, &path);
    }
    if options.surely(&["spider"]) {
        return Stream::Unknown;
    }
    if let Some(path) = options.value(&["O", "output-document"]).cloned() {
        if matches!(path.text.as_slice(), b"-" | b"/dev/stdout") {
            return Stream::Remote;
        }
        walk.download_to(&path);
        walk.file(PathOp::Replace, &path);
        return Stream::Nothing;
    }
    // wget numbers a second download instead of replacing the first.
    for url in &options.operands {
        if let Some(name) = last_part(url) {
            walk.download_to(&name);
        }
    }
    Stream::Nothing
}

fn httpie(walk: &mut Walk<'_>, call: &Call<'_>) -> Stream {
    let options = Options::read(
        call.args,
        &Spec {
            short: "oaA",
            long: &["output", "auth", "session"],
            ..Spec::default()
        },
    );
    if let Some(method) = options
        .operands
        .first()
        .map(|arg| arg.word().to_ascii_uppercase())
    {
        request(walk, &method, call.args, &BString::default());
    }
    if let Some(path) = options.value(&["o", "output"]).cloned() {
        walk.download_to(&path);
        walk.file(PathOp::Replace, &path);
    }
    Stream::Remote
}
