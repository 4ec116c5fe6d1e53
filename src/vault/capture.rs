//! Reads one path of the workspace without following links and without blocking.

use super::chunk;
use super::id::ContentId;
use super::stamp::Stamp;
use super::store::Packer;
use super::tree::{Kind, Why};
use crate::error::{ErrorKind, Result};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd as _, BorrowedFd};

/// What was found under a name.
pub(super) struct Captured {
    /// What it is.
    pub(super) kind: Kind,
    /// Its stamp when it was read.
    pub(super) stamp: Stamp,
    /// Its content.
    pub(super) id: ContentId,
}

const ATTEMPTS: usize = 3;

/// Keeps what is under `name`; `None` when it went away.
pub(super) fn capture(
    at: BorrowedFd<'_>,
    name: &CStr,
    first: Stamp,
    packer: &mut Packer<'_>,
    max_file: u64,
) -> Result<Option<Captured>> {
    let mut stamp = first;
    for _ in 0..ATTEMPTS {
        let kind = stamp.kind();
        let nothing = |kind| {
            Ok(Some(Captured {
                kind,
                stamp,
                id: ContentId::default(),
            }))
        };
        match kind {
            Kind::Link => match rustix::fs::readlinkat(at, name, Vec::new()) {
                Ok(target) => {
                    let id = packer.put(target.to_bytes())?;
                    return Ok(Some(Captured { kind, stamp, id }));
                }
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::INVAL) => {}
                Err(_) => return nothing(Kind::NotHeld(Why::Unreadable)),
            },
            Kind::File if stamp.size > max_file => {
                return nothing(Kind::NotHeld(Why::TooLarge));
            }
            Kind::File => match read(at, name, packer)? {
                Read1::Held(id, stamp) => return Ok(Some(Captured { kind, stamp, id })),
                Read1::Changed => {}
                Read1::Unreadable => return nothing(Kind::NotHeld(Why::Unreadable)),
            },
            _ => return nothing(kind),
        }
        match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stamp = Stamp::of(&stat),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(Captured {
        kind: Kind::NotHeld(Why::Unsettled),
        stamp,
        id: ContentId::default(),
    }))
}

enum Read1 {
    Held(ContentId, Stamp),
    Changed,
    Unreadable,
}

fn read(at: BorrowedFd<'_>, name: &CStr, packer: &mut Packer<'_>) -> Result<Read1> {
    // NONBLOCK: a pipe may have taken the file's place since it was listed.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(at, name, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::STALE) => return Ok(Read1::Changed),
        Err(Errno::MFILE | Errno::NFILE) => {
            return Err(crate::error::Error::new(
                ErrorKind::Io,
                "cannot read the workspace: too many open files",
            ));
        }
        Err(_) => return Ok(Read1::Unreadable),
    };
    let stamp = |file: &File| rustix::fs::fstat(file.as_fd()).map(|stat| Stamp::of(&stat));
    let Ok(before) = stamp(&file) else {
        return Ok(Read1::Unreadable);
    };
    if before.kind() != Kind::File {
        return Ok(Read1::Changed);
    }
    let mut file = file;
    let id = if before.size <= chunk::WHOLE as u64 {
        // One byte more than the size, so that a growing file is noticed.
        let room = usize::try_from(before.size).unwrap_or_default() + 1;
        let mut bytes = std::mem::take(&mut packer.scratch);
        bytes.clear();
        bytes.reserve(room);
        let read = (&mut file).take(room as u64).read_to_end(&mut bytes);
        let put = match read {
            Ok(read) if read < room => packer.put(&bytes).map(Ok),
            Ok(_) => Ok(Err(Read1::Changed)),
            Err(_) => Ok(Err(Read1::Unreadable)),
        };
        packer.scratch = bytes;
        match put? {
            Ok(id) => id,
            Err(other) => return Ok(other),
        }
    } else {
        let mut source = Source {
            file: &mut file,
            failed: false,
        };
        let streamed = packer.stream(&mut source);
        if source.failed {
            return Ok(Read1::Unreadable);
        }
        let (id, len) = streamed?;
        if len != before.size {
            return Ok(Read1::Changed);
        }
        id
    };
    match stamp(&file) {
        Ok(after) if after == before => Ok(Read1::Held(id, after)),
        Ok(_) => Ok(Read1::Changed),
        Err(_) => Ok(Read1::Unreadable),
    }
}

/// Tells a failure to read the person's file from a failure to write ours.
struct Source<'a> {
    file: &'a mut File,
    failed: bool,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer);
        if let Err(error) = &read {
            self.failed = error.kind() != std::io::ErrorKind::Interrupted;
        }
        read
    }
}
