//! Little-endian numbers in and out of byte buffers; every read is checked.

use crate::error::{Error, ErrorKind, Result};

/// A cursor over bytes of our own formats.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Starts at the front of `bytes`; `what` names the format in errors.
    pub(super) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    /// Takes the next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        match self.bytes.split_at_checked(len) {
            Some((head, tail)) => {
                self.bytes = tail;
                Ok(head)
            }
            None => Err(damaged(self.what)),
        }
    }

    /// Takes a fixed number of bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let what = self.what;
        self.take(N)?.try_into().map_err(|_| damaged(what))
    }

    /// Takes a byte.
    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Takes two bytes.
    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Takes four bytes.
    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Takes eight bytes.
    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Takes eight bytes as a length in memory.
    pub(super) fn len(&mut self) -> Result<usize> {
        let what = self.what;
        usize::try_from(self.u64()?).map_err(|_| damaged(what))
    }

    /// Returns true at the end.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes
    }
}

/// The error for a file of ours that does not read as it was written.
pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Damaged, format!("{what} is damaged"))
        .hint("see what is whole: holdpoint points verify")
}
