//! The only writers of standard output and standard error.
//!
//! A closed pipe ends the program quietly, as it does for other tools in a
//! pipeline; every other failure to write is reported by the exit status.

use std::io::Write as _;

/// Writes text and a newline to standard output, without styles unless it is a terminal.
pub fn line(text: impl AsRef<str>) {
    let mut out = anstream::stdout();
    finish(writeln!(out, "{}", text.as_ref()));
}

/// Writes bytes to standard output as they are.
pub fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    finish(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Writes text and a newline to standard error.
pub fn note(text: impl AsRef<str>) {
    let mut err = anstream::stderr();
    // Nobody is left to be told when standard error itself fails.
    let _ = writeln!(err, "{}", text.as_ref());
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
