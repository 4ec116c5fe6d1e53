//! A stream that pours moves from pipe to pipe inside the kernel; its end is looked at only when asked for.
//!
//! Reading and writing every byte would copy a flood of output twice for the
//! sake of its last lines. So each stretch of it is first given to a side pipe
//! as well (`tee`: the pages are shared, not copied) and then moved on
//! (`splice`). The side pipe keeps the newest stretches; what is older is let
//! go unread.

use crate::runs::tail::{Ends, TAIL};
use rustix::io::Errno;
use rustix::pipe::{SpliceFlags, pipe_with, splice, tee};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};

/// How much one stretch has at most.
const STRETCH: usize = 1024 * 1024;

/// The newest part of a stream that nobody has read yet.
#[derive(Debug)]
pub(super) struct Side {
    into: OwnedFd,
    from: File,
    away: File,
    held: usize,
}

/// What became of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    /// So many bytes wait in the side pipe and are to be moved on.
    Bytes(usize),
    /// Nothing is there just now.
    Nothing,
    /// The stream has ended.
    Ended,
    /// It cannot be shared: it has to be read.
    NotSo,
}

impl Side {
    /// Opens a side pipe; `None` where the system gives none.
    pub(super) fn open(size: usize) -> Option<Self> {
        let (from, into) =
            pipe_with(rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK).ok()?;
        let away = File::options().write(true).open("/dev/null").ok()?;
        // A smaller one only holds shorter stretches.
        let _ = rustix::pipe::fcntl_setpipe_size(&into, size);
        Some(Self {
            into,
            from: File::from(from),
            away,
            held: 0,
        })
    }

    /// Shares the next stretch of `source` with the side pipe, without taking it from there.
    pub(super) fn share(&mut self, source: &impl AsFd, ends: &mut [&mut Ends]) -> Shared {
        for _ in 0..4 {
            match tee(source, &self.into, STRETCH, SpliceFlags::NONBLOCK) {
                Ok(0) => return Shared::Ended,
                Ok(shared) => {
                    self.held += shared;
                    return Shared::Bytes(shared);
                }
                Err(Errno::AGAIN) if self.held == 0 => return Shared::Nothing,
                // Either nothing is there, or the side pipe is full of older stretches.
                Err(Errno::AGAIN) => self.make_room(ends),
                Err(Errno::INTR) => {}
                Err(_) => return Shared::NotSo,
            }
        }
        Shared::Nothing
    }

    /// Lets go of what nobody will ask for; the newest is read if only that is there.
    fn make_room(&mut self, ends: &mut [&mut Ends]) {
        let too_much = self.held.saturating_sub(TAIL);
        if too_much < TAIL {
            self.read_out(ends);
            return;
        }
        while self.held > TAIL {
            let old = self.held - TAIL;
            match splice(
                &self.from,
                None,
                &self.away,
                None,
                old,
                SpliceFlags::NONBLOCK,
            ) {
                Ok(0) | Err(_) => break,
                Ok(gone) => {
                    self.held = self.held.saturating_sub(gone);
                    for ends in &mut *ends {
                        ends.skip(gone);
                    }
                }
            }
        }
    }

    /// Reads what is held into the ends that are kept.
    pub(super) fn read_out(&mut self, ends: &mut [&mut Ends]) {
        let mut buffer = [0; 16 * 1024];
        while self.held > 0 {
            match self.from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    self.held = self.held.saturating_sub(read);
                    let bytes = buffer.get(..read).unwrap_or_default();
                    for ends in &mut *ends {
                        ends.pass(bytes);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // The pipe is empty: the count was of bytes that are gone.
                Err(_) => self.held = 0,
            }
        }
    }
}

/// Moves bytes from a pipe to wherever output goes; returns how many, or that they have to be copied.
pub(super) fn move_on(
    source: &impl AsFd,
    to: &impl AsFd,
    bytes: usize,
) -> rustix::io::Result<usize> {
    let mut moved = 0;
    while moved < bytes {
        match splice(source, None, to, None, bytes - moved, SpliceFlags::MOVE) {
            Ok(0) => break,
            Ok(count) => moved += count,
            Err(Errno::INTR) => {}
            // What is moved is moved; the rest is copied by the caller, who then meets the error itself.
            Err(_) if moved > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn pipe() -> (File, File) {
        let (from, into) = rustix::pipe::pipe().expect("a pipe");
        let _ = rustix::pipe::fcntl_setpipe_size(&into, STRETCH);
        (File::from(from), File::from(into))
    }

    #[test]
    fn what_is_moved_on_is_whole_and_its_end_is_known() {
        let (source, mut writer) = pipe();
        let (mut reader, target) = pipe();
        let mut side = Side::open(STRETCH).expect("a side pipe");
        let mut ends = Ends::default();
        let mut seen = Vec::new();
        let mut written = Vec::new();
        for round in 0..40_u8 {
            let stretch: Vec<u8> = (round..=250).cycle().take(300_000).collect();
            writer.write_all(&stretch).expect("written");
            written.extend_from_slice(&stretch);
            let mut left = stretch.len();
            // A side pipe with little room takes a part at a time.
            while left > 0 {
                let Shared::Bytes(shared) = side.share(&source, &mut [&mut ends]) else {
                    panic!("nothing was shared");
                };
                assert_eq!(move_on(&source, &target, shared), Ok(shared));
                let mut moved = vec![0; shared];
                reader.read_exact(&mut moved).expect("read");
                seen.extend_from_slice(&moved);
                left -= shared;
            }
        }
        assert!(seen == written);
        assert_eq!(side.share(&source, &mut [&mut ends]), Shared::Nothing);
        side.read_out(&mut [&mut ends]);
        assert_eq!(ends.passed(), written.len() as u64);
        assert!(ends.tail() == written[written.len() - TAIL..]);
        drop(writer);
        assert_eq!(side.share(&source, &mut [&mut ends]), Shared::Ended);
    }

    #[test]
    fn many_small_writes_do_not_fill_the_side_pipe_for_good() {
        let (source, mut writer) = pipe();
        let (mut reader, target) = pipe();
        let mut side = Side::open(STRETCH).expect("a side pipe");
        let mut ends = Ends::default();
        for n in 0..2000 {
            let line = format!("line {n}\n");
            writer.write_all(line.as_bytes()).expect("written");
            let Shared::Bytes(shared) = side.share(&source, &mut [&mut ends]) else {
                panic!("nothing was shared at {n}");
            };
            assert_eq!(move_on(&source, &target, shared), Ok(line.len()));
            let mut moved = vec![0; shared];
            reader.read_exact(&mut moved).expect("read");
        }
        side.read_out(&mut [&mut ends]);
        assert!(ends.tail().ends_with(b"line 1998\nline 1999\n"));
        assert!(ends.tail().starts_with(b"line 0\n"));
    }
}
