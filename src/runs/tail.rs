//! The beginning and the end of a stream, in flat memory however much passes.

use std::collections::VecDeque;

/// How much of the beginning is kept: session ids stand there.
pub const HEAD: usize = 16 * 1024;

/// How much of the end is kept: the last 50 lines and the last error.
pub const TAIL: usize = 64 * 1024;

/// Lines that can be asked for at any time.
pub const LINES: usize = 50;

/// Lines in a report.
pub const REPORTED: usize = 20;

/// The two ends of a stream.
#[derive(Debug, Default)]
pub struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes that passed in all.
    passed: u64,
}

impl Ends {
    /// Takes note of bytes that pass.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.passed += bytes.len() as u64;
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head
            .extend_from_slice(bytes.get(..room).unwrap_or_default());
        let last = bytes
            .get(bytes.len().saturating_sub(TAIL)..)
            .unwrap_or_default();
        let too_many = (self.tail.len() + last.len()).saturating_sub(TAIL);
        self.tail.drain(..too_many.min(self.tail.len()));
        self.tail.extend(last);
    }

    /// Takes note of bytes that passed unseen, after the beginning: what follows them is the end.
    pub fn skip(&mut self, bytes: usize) {
        self.passed += bytes as u64;
        self.tail.clear();
    }

    /// Returns true once the whole beginning has passed.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.head.len() == HEAD
    }

    /// The beginning.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The end.
    #[must_use]
    pub fn tail(&self) -> Vec<u8> {
        let (a, b) = self.tail.as_slices();
        [a, b].concat()
    }

    /// Bytes that passed in all.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.passed
    }
}

/// The last `count` lines of text, without terminal controls.
#[must_use]
pub fn last_lines(bytes: &[u8], count: usize) -> Vec<String> {
    let text = super::policy::outcome::without_controls(&String::from_utf8_lossy(bytes));
    let lines: Vec<&str> = text.lines().collect();
    lines
        .get(lines.len().saturating_sub(count)..)
        .unwrap_or_default()
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

/// The last line that says something, cut to `width` characters.
#[must_use]
pub fn last_line(bytes: &[u8], width: usize) -> String {
    let from = bytes.len().saturating_sub(4096);
    last_lines(bytes.get(from..).unwrap_or_default(), LINES)
        .iter()
        .rev()
        .map(|line| line.trim())
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(width)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_flat() {
        let mut ends = Ends::default();
        for _ in 0..64 {
            ends.pass(&vec![b'x'; 100_000]);
        }
        ends.pass(b"\nthe end\n");
        assert_eq!(ends.passed(), 6_400_009);
        assert_eq!(ends.head().len(), HEAD);
        assert_eq!(ends.tail().len(), TAIL);
        assert!(ends.tail().ends_with(b"x\nthe end\n"));
    }

    #[test]
    fn short_output_is_kept_whole_at_both_ends() {
        let mut ends = Ends::default();
        ends.pass(b"one\n");
        ends.pass(b"two\n");
        assert_eq!(ends.head(), b"one\ntwo\n");
        assert_eq!(ends.tail(), b"one\ntwo\n");
    }

    #[test]
    fn the_last_lines_are_plain_text() {
        let text = b"one\n\x1b[31mtwo\x1b[0m\nthree";
        assert_eq!(last_lines(text, 2), ["two", "three"]);
        assert_eq!(last_line(b"done\x1b[0m\n\n  \n", 10), "done");
        assert_eq!(last_line(b"", 10), "");
    }
}
