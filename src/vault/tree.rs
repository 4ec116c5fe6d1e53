//! A directory as a point records it: one row a name, each naming its content.
//!
//! Trees form a Merkle tree: a directory's id covers everything below, so two
//! points are compared by following only the ids that differ, and a point that
//! changes one file adds one row block a level.

use super::bytes::{Reader, damaged};
use super::id::ContentId;
use crate::error::Result;
use bstr::BString;
use serde::{Deserialize, Serialize};

const VERSION: u8 = 1;

/// What a name in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file; the id names its bytes.
    File,
    /// A symbolic link; the id names its target.
    Link,
    /// A directory; the id names its tree.
    Dir,
    /// A named pipe: recorded, never opened.
    Fifo,
    /// A socket: recorded, never opened.
    Socket,
    /// A device node: recorded, never opened.
    Device,
    /// A file of git's object database, which never changes; the id names its hard link in the vault.
    Object,
    /// The same, small enough to be held itself: the id names its bytes.
    SmallObject,
    /// Something that the point does not hold.
    NotHeld(Why),
}

/// Why a point does not hold a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// An ignored directory of bulky output (`target/`, `node_modules/`).
    BulkyIgnored,
    /// An ignored file above the size limit.
    LargeIgnored,
    /// It could not be read.
    Unreadable,
    /// It changed all the while it was read.
    Unsettled,
    /// It is larger than `safety.max_file`.
    TooLarge,
}

impl Why {
    /// The reason in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::BulkyIgnored => "ignored output",
            Self::LargeIgnored => "ignored and large",
            Self::Unreadable => "could not be read",
            Self::Unsettled => "kept changing while it was read",
            Self::TooLarge => "larger than safety.max_file",
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::BulkyIgnored => 0,
            Self::LargeIgnored => 1,
            Self::Unreadable => 2,
            Self::Unsettled => 3,
            Self::TooLarge => 4,
        }
    }
}

impl Kind {
    /// The kind as one byte of our formats.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::File => 1,
            Self::Link => 2,
            Self::Dir => 3,
            Self::Fifo => 4,
            Self::Socket => 5,
            Self::Device => 6,
            Self::Object => 7,
            Self::SmallObject => 8,
            Self::NotHeld(why) => 16 + why.code(),
        }
    }

    /// The kind that a byte of our formats stands for.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::File,
            2 => Self::Link,
            3 => Self::Dir,
            4 => Self::Fifo,
            5 => Self::Socket,
            6 => Self::Device,
            7 => Self::Object,
            8 => Self::SmallObject,
            16 => Self::NotHeld(Why::BulkyIgnored),
            17 => Self::NotHeld(Why::LargeIgnored),
            18 => Self::NotHeld(Why::Unreadable),
            19 => Self::NotHeld(Why::Unsettled),
            20 => Self::NotHeld(Why::TooLarge),
            _ => return None,
        })
    }

    /// Returns true where the id names bytes in the vault's packs.
    #[must_use]
    pub fn has_content(self) -> bool {
        matches!(
            self,
            Self::File | Self::Link | Self::Dir | Self::SmallObject
        )
    }

    /// Returns true for a file of git's object database.
    #[must_use]
    pub fn is_object(self) -> bool {
        matches!(self, Self::Object | Self::SmallObject)
    }
}

/// One name of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name, without any directory.
    pub name: BString,
    /// What it is.
    pub kind: Kind,
    /// Permission bits (`07777`); for a device its whole mode.
    pub mode: u32,
    /// Size in bytes; for a device its number; 0 for a directory.
    pub size: u64,
    /// What it holds; zero where the kind holds nothing.
    pub id: ContentId,
}

/// What a row says apart from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// What it is.
    pub(super) kind: Kind,
    /// As in [`Row`].
    pub(super) mode: u32,
    /// As in [`Row`].
    pub(super) size: u64,
    /// As in [`Row`].
    pub(super) id: ContentId,
}

impl Leaf {
    /// Adds a row to the bytes of a directory; rows come in the order of their names.
    pub(super) fn write(&self, name: &[u8], out: &mut Vec<u8>) {
        out.push(self.kind.code());
        out.extend_from_slice(&self.mode.to_le_bytes());
        out.extend_from_slice(&self.size.to_le_bytes());
        let len = u16::try_from(name.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(name.split_at(len.into()).0);
        out.extend_from_slice(&self.id.0);
    }
}

/// Starts the bytes of a directory, whose hash is its id.
pub(super) fn start(out: &mut Vec<u8>) {
    out.clear();
    out.push(VERSION);
}

/// A directory's rows, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// The rows.
    pub rows: Vec<Row>,
}

impl Tree {
    /// The row of a name.
    #[must_use]
    pub(super) fn get(&self, name: &[u8]) -> Option<&Row> {
        self.rows
            .binary_search_by(|row| row.name.as_slice().cmp(name))
            .ok()
            .and_then(|at| self.rows.get(at))
    }

    /// Reads what [`start`] and [`Leaf::write`] wrote.
    ///
    /// # Errors
    /// When the bytes are not a tree of a known version.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        const WHAT: &str = "a directory of a safety point";
        let mut reader = Reader::new(bytes, WHAT);
        if reader.u8()? != VERSION {
            return Err(damaged(WHAT));
        }
        let mut rows = Vec::with_capacity(bytes.len() / 64);
        while !reader.is_empty() {
            let kind = Kind::from_code(reader.u8()?).ok_or_else(|| damaged(WHAT))?;
            let mode = reader.u32()?;
            let size = reader.u64()?;
            let len = usize::from(reader.u16()?);
            let name = BString::from(reader.take(len)?);
            let id = ContentId(reader.array()?);
            rows.push(Row {
                name,
                kind,
                mode,
                size,
                id,
            });
        }
        Ok(Self { rows })
    }
}
