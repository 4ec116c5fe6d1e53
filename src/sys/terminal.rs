//! The controlling terminal, `/dev/tty`: the only place where a person is asked.
//!
//! Standard input and output may be git's, an agent's or a pipe's; what is
//! asked and answered here passes none of them.

use crate::error::{Context as _, Error, ErrorKind, Result};
use rustix::termios::{LocalModes, OptionalActions, QueueSelector};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};

/// Letters of a code, without those that look alike.
const LETTERS: &[u8] = b"ABCDEFGHJKMNPQRTUVWXYZ2346789";

/// A character as it may be shown.
///
/// What is shown may come from a file or a command: an escape in it must not
/// move the cursor or hide a line, nor a mark of direction or of no width
/// change what a person reads.
pub(super) fn shown(c: char) -> char {
    let is_hidden = matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    if is_hidden || (c.is_control() && c != '\n' && c != '\t') {
        '\u{fffd}'
    } else {
        c
    }
}

/// Letters in a code.
const CODE: usize = 5;

/// The controlling terminal of this process.
#[derive(Debug)]
pub struct Terminal {
    file: File,
}

impl Terminal {
    /// Opens it; `None` where the process has none.
    #[must_use]
    pub fn open() -> Option<Self> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()
            .map(|file| Self { file })
    }

    /// Opens it where somebody talks to this program on it; `None` in scripts and pipes.
    #[must_use]
    pub fn to_talk() -> Option<Self> {
        use std::io::IsTerminal as _;
        std::io::stdin()
            .is_terminal()
            .then(Self::open)
            .flatten()
            .filter(Self::is_in_front)
    }

    /// Returns true when this process is in the terminal's foreground.
    #[must_use]
    pub fn is_in_front(&self) -> bool {
        rustix::termios::tcgetpgrp(&self.file)
            .is_ok_and(|front| front == rustix::process::getpgrp())
    }

    /// Shows text and a newline.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn say(&self, text: &str) -> Result<()> {
        self.show(text)?;
        self.show("\n")
    }

    fn show(&self, text: &str) -> Result<()> {
        let clean: String = text.chars().map(shown).collect();
        (&self.file)
            .write_all(clean.as_bytes())
            .doing(ErrorKind::Io, || "cannot write to the terminal".to_owned())
    }

    /// Asks for one line; what was typed before the question is thrown away.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`] at the end of input.
    pub fn ask(&self, question: &str) -> Result<String> {
        self.discard_input()?;
        self.show(question)?;
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            let read = (&self.file)
                .read(&mut byte)
                .doing(ErrorKind::Io, || "cannot read from the terminal".to_owned())?;
            match (read, byte) {
                (0, _) => {
                    return Err(Error::new(ErrorKind::Cancelled, "nobody answered"));
                }
                (_, [b'\n' | b'\r']) => break,
                (_, [byte]) => line.push(byte),
            }
            if line.len() > 4096 {
                return Err(Error::new(ErrorKind::Cancelled, "the answer has no end"));
            }
        }
        Ok(String::from_utf8_lossy(&line).trim().to_owned())
    }

    /// Asks a question that `y` or `yes` agrees to; everything else declines.
    ///
    /// # Errors
    /// As [`Terminal::ask`].
    pub fn agrees(&self, question: &str) -> Result<bool> {
        let answer = self.ask(&format!("{question} [y/N] "))?;
        Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows a code and asks for it back; returns true when it was typed.
    ///
    /// # Errors
    /// As [`Terminal::ask`], and when the kernel gives no randomness.
    pub fn types_code(&self, question: &str) -> Result<bool> {
        let code = code()?;
        let answer = self.ask(&format!(
            "{question}\nType {code} to agree, anything else to refuse: "
        ))?;
        Ok(answer.eq_ignore_ascii_case(&code))
    }

    /// Reads lines from now on, and forgets what is waiting to be read.
    fn discard_input(&self) -> Result<()> {
        let doing = || "cannot set the terminal".to_owned();
        let mut modes = rustix::termios::tcgetattr(&self.file).doing(ErrorKind::Io, doing)?;
        let wanted = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        if !modes.local_modes.contains(wanted) {
            modes.local_modes |= wanted;
            rustix::termios::tcsetattr(&self.file, OptionalActions::Flush, &modes)
                .doing(ErrorKind::Io, doing)?;
        }
        rustix::termios::tcflush(&self.file, QueueSelector::IFlush).doing(ErrorKind::Io, doing)
    }
}

/// A random code, the same number of letters always.
fn code() -> Result<String> {
    let mut code = String::new();
    while code.len() < CODE {
        let mut bytes = [0; 32];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .doing(ErrorKind::Internal, || "cannot get random bytes".to_owned())?;
        for byte in bytes {
            // Bytes past the last whole multiple would make some letters likelier.
            let limit = 256 / LETTERS.len() * LETTERS.len();
            if usize::from(byte) < limit && code.len() < CODE {
                code.extend(
                    LETTERS
                        .get(usize::from(byte) % LETTERS.len())
                        .map(|letter| char::from(*letter)),
                );
            }
        }
    }
    Ok(code)
}
