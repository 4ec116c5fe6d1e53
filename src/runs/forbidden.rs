//! The forbidden lines of a file that is too large to be in memory.

use crate::contract::Contract;
use crate::judge::AddedLine;
use bstr::{BString, ByteSlice as _};
use std::io::Write;

/// A line that is longer is looked at in pieces of this size.
const LONGEST: usize = 1 << 20;

/// Most lines that are kept: one is enough to hold the file.
const MOST: usize = 1000;

/// Where binary files show themselves.
const HEAD: usize = 8000;

/// What a file is written into to find its forbidden lines.
#[derive(Debug)]
pub(super) struct Forbidden<'a> {
    contract: &'a Contract,
    line: Vec<u8>,
    number: u64,
    read: usize,
    is_binary: bool,
    found: Vec<AddedLine>,
}

impl<'a> Forbidden<'a> {
    pub(super) fn by(contract: &'a Contract) -> Self {
        Self {
            contract,
            line: Vec::new(),
            number: 1,
            read: 0,
            is_binary: false,
            found: Vec::new(),
        }
    }

    /// The forbidden lines of all that was written.
    pub(super) fn end(mut self) -> Vec<AddedLine> {
        self.look();
        if self.is_binary {
            Vec::new()
        } else {
            self.found
        }
    }

    fn look(&mut self) {
        let line = self.line.trim_end_with(|c| c == '\r' || c == '\n');
        if !line.is_empty()
            && self.found.len() < MOST
            && self.contract.forbids(line.as_bstr()).is_some()
        {
            self.found.push(AddedLine {
                number: self.number,
                text: BString::from(line),
            });
        }
        self.line.clear();
    }
}

impl Write for Forbidden<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.read < HEAD {
            self.is_binary |= bytes.iter().take(HEAD - self.read).any(|byte| *byte == 0);
        }
        self.read += bytes.len();
        if self.is_binary {
            return Ok(bytes.len());
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            let ended = piece.ends_with(b"\n");
            if ended || self.line.len() >= LONGEST {
                self.look();
            }
            self.number += u64::from(ended);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<(u64, String)> {
        let text = "# Contract\n\n## In Scope\n\n- `**`\n\n## Forbidden Patterns\n\n- `eval(`\n";
        let contract = Contract::parse(text.as_bytes()).expect("a Contract");
        let mut forbidden = Forbidden::by(&contract);
        for piece in pieces {
            forbidden.write_all(piece).expect("it takes all");
        }
        forbidden
            .end()
            .into_iter()
            .map(|line| (line.number, line.text.to_string()))
            .collect()
    }

    #[test]
    fn forbidden_lines_are_found_across_pieces() {
        let found = lines(&[b"one\nx = ev", b"al(y)\r\nthree\n", b"eval(z)"]);
        assert_eq!(
            found,
            [(2, "x = eval(y)".to_owned()), (4, "eval(z)".to_owned())]
        );
        assert!(lines(&[b"\0eval(\n"]).is_empty());
    }
}
