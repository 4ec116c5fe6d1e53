//! What the kernel says of a file without opening it.

use super::tree::Kind;
use rustix::fs::{FileType, Stat};

/// A file's stat, as far as the cache compares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The whole mode, type included.
    pub(super) mode: u32,
    /// Size in bytes.
    pub(super) size: u64,
    /// Time of the last write: seconds and nanoseconds.
    pub(super) mtime: (i64, u32),
    /// Time of the last change of the inode.
    pub(super) ctime: (i64, u32),
    /// Inode.
    pub(super) ino: u64,
    /// Device that holds the inode.
    pub(super) dev: u64,
}

impl Stamp {
    /// Reads the kernel's answer.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::cast_lossless,
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        trivial_numeric_casts,
        reason = "the field types differ between architectures; the values fit"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            mode: stat.st_mode as u32,
            size: stat.st_size as u64,
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            ino: stat.st_ino as u64,
            dev: stat.st_dev as u64,
        }
    }

    /// The permission bits.
    pub(super) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// What it is, before anything else is known of it.
    pub(super) fn kind(&self) -> Kind {
        match FileType::from_raw_mode(self.mode) {
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Kind::Device,
            FileType::RegularFile | FileType::Unknown => Kind::File,
        }
    }

    /// Returns true where a later write could leave the same stamp: git's racy rule.
    ///
    /// File systems that keep whole seconds (or two, as FAT does) get that much more doubt.
    pub(super) fn is_racy(&self, scan_start: (i64, u32)) -> bool {
        let coarse = self.mtime.1 == 0 && self.ctime.1 == 0;
        let grain = if coarse { 2 } else { 0 };
        let late = |at: (i64, u32)| (at.0 + grain, at.1) >= scan_start;
        late(self.mtime) || late(self.ctime)
    }
}

/// The clock by which the kernel may stamp a file that was looked at before.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "nanoseconds are below a thousand million"
)]
pub(super) fn fine_clock() -> (i64, u32) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    (now.tv_sec as i64, now.tv_nsec as u32)
}

/// The clock by which the kernel stamps files.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "nanoseconds are below a thousand million"
)]
pub(super) fn file_clock() -> (i64, u32) {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    (now.tv_sec as i64, now.tv_nsec as u32)
}
