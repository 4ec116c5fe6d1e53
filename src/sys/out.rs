//! The only writers of standard output and standard error.
//!
//! A closed pipe ends the program quietly, as it does for other tools in a
//! pipeline; every other failure to write is reported by the exit status.

use super::terminal;
use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

/// Writes text and a newline to standard output, without styles unless it is a terminal.
pub fn line(text: impl AsRef<str>) {
    let text = for_eyes(text.as_ref(), std::io::stdout().is_terminal());
    let mut out = anstream::stdout();
    finish(writeln!(out, "{text}"));
}

/// Writes bytes to standard output as they are.
pub fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    finish(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Writes text and a newline to standard error.
pub fn note(text: impl AsRef<str>) {
    let text = for_eyes(text.as_ref(), std::io::stderr().is_terminal());
    let mut err = anstream::stderr();
    // Nobody is left to be told when standard error itself fails.
    let _ = writeln!(err, "{text}");
}

/// Text as a terminal may show it: what comes from a file's name or bytes must
/// not move the cursor, hide a line or change what is read.
fn for_eyes(text: &str, terminal: bool) -> Cow<'_, str> {
    let lines = text.replace("\r\n", "\n");
    if !terminal || lines.chars().all(|c| terminal::shown(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(lines.chars().map(terminal::shown).collect())
}

/// A path for people, always on one line: as it is, or quoted as git quotes where
/// it has bytes that are no text or would not be seen.
#[must_use]
pub fn path(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes)
        && text
            .chars()
            .all(|c| terminal::shown(c) == c && !c.is_control())
    {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    let byte = |byte: &u8| format!("\\{byte:03o}");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                c if terminal::shown(c) == c && !c.is_control() => quoted.push(c),
                c => quoted.extend(c.encode_utf8(&mut [0; 4]).as_bytes().iter().map(byte)),
            }
        }
        quoted.extend(chunk.invalid().iter().map(byte));
    }
    quoted.push('"');
    quoted
}

/// One of this process's two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Passes another program's output on, unbuffered and unchanged.
///
/// # Errors
/// When the reader is gone or the write fails.
pub fn pass_on(stream: Stream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let written = match stream {
            Stream::Out => rustix::io::write(rustix::stdio::stdout(), bytes),
            Stream::Err => rustix::io::write(rustix::stdio::stderr(), bytes),
        };
        match written {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn finish(result: std::io::Result<()>) {
    if let Err(error) = result {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        note(format!(
            "holdpoint: cannot write to standard output: {error}"
        ));
        std::process::exit(4);
    }
}

/// How many columns the terminal of standard output has; 80 where it does not say.
#[must_use]
pub fn columns() -> usize {
    rustix::termios::tcgetwinsize(rustix::stdio::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}
