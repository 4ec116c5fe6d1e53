//! Lines sent to a server through a bare connection: nc, telnet, socat, `openssl s_client`.

use crate::judge::SystemClass;
use crate::shell::deed::DeedKind;
use crate::shell::walk::{Call, Stream, Walk};
use bstr::{BString, ByteSlice as _};

/// First words that empty or stop a server which takes commands line by line.
const DESTROYS: &[&str] = &[
    "flush_all",
    "flushall",
    "flushdb",
    "dele",
    "drop",
    "truncate",
    "rmd",
    "shutdown",
    "purge",
];

/// Words of file transfer clients that delete there.
const DELETES: &[&str] = &[
    "delete", "mdelete", "del", "rm", "mrm", "rmdir", "rd", "deltree", "dele",
];

/// Commands that a file transfer client reads or is given.
fn files_on_a_server(walk: &mut Walk<'_>, call: &Call<'_>) {
    let mut texts: Vec<BString> = Vec::new();
    if let Stream::Text(text) = call.input {
        texts.push(text.clone());
    }
    let mut rest = call.args.iter();
    while let Some(arg) = rest.next() {
        if matches!(arg.word(), "-c" | "-e" | "--command") {
            texts.extend(rest.next().map(|text| text.text.clone()));
        }
    }
    let deletes = texts
        .iter()
        .flat_map(|text| text.split(|byte| matches!(byte, b'\n' | b';')))
        .filter_map(|line| line.fields().next())
        .any(|word| DELETES.iter().any(|one| word == one.as_bytes()));
    if deletes {
        walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: "files on a server are deleted".to_owned(),
        });
    }
}

/// Notes what is sent, where that is known.
pub(super) fn look(walk: &mut Walk<'_>, call: &Call<'_>) {
    if matches!(
        call.name,
        "ftp" | "ncftp" | "lftp" | "smbclient" | "tnftp" | "pftp"
    ) {
        files_on_a_server(walk, call);
        return;
    }
    let speaks = matches!(
        call.name,
        "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" | "telnet" | "socat"
    ) || call.name == "openssl"
        && call.args.first().is_some_and(|arg| arg.text == "s_client");
    if !speaks {
        return;
    }
    let listens = call.args.iter().any(|arg| arg.text.starts_with(b"-l"));
    if !listens && !matches!(call.input, Stream::Nothing) {
        walk.sends_what_was_read();
    }
    let Stream::Text(text) = call.input else {
        return;
    };
    let destroys = text.lines().any(|line| {
        let line = line.trim_ascii();
        let word = line.split_str(" ").next().unwrap_or_default();
        DESTROYS
            .iter()
            .any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
            // memcached's `delete KEY` and HTTP's `DELETE /path`.
            || word.eq_ignore_ascii_case(b"delete") && line.len() > word.len()
    });
    if destroys {
        walk.note(DeedKind::System {
            class: SystemClass::Irreversible,
            why: "a server is told to delete something".to_owned(),
        });
    }
}
