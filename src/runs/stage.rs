//! The last step before a wrapped command: inside its own process, before it takes over.
//!
//! A session with a terminal of its own, and a confinement by the kernel, can
//! only be set up from inside. This program does it and then becomes the
//! command, so that no code runs between fork and exec.

use super::record::{self, Spec};
use super::terminal;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

pub use super::sandbox::Confinement;

/// The status of a process that never became the command; the reason is in the attempt's `not-started`.
pub const NOT_STARTED: i32 = 125;

/// Sets up what `spec` asks for and becomes the command. Returns only when that fails.
pub fn main(spec_path: &Path) -> Result<ExitStatus> {
    let Err(error) = become_command(spec_path);
    let note = spec_path.with_file_name("not-started");
    crate::sys::files::replace(
        &note,
        error.to_string().as_bytes(),
        0o600,
        crate::sys::files::Durability::Lazy,
    )?;
    Ok(ExitStatus::Guarded(
        u8::try_from(NOT_STARTED).unwrap_or(u8::MAX),
    ))
}

fn become_command(spec_path: &Path) -> Result<std::convert::Infallible> {
    let spec: Spec = record::read(spec_path)?
        .ok_or_else(|| Error::new(ErrorKind::Damaged, "the attempt's spec.json is missing"))?;
    if spec.pty {
        terminal::take_control()?;
    }
    let mut words = spec.argv.iter().map(|word| OsStr::from_bytes(word));
    let mut command = Command::new(&spec.program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words).current_dir(&spec.cwd);
    if let Some(confinement) = &spec.sandbox {
        // The note of a failed exec could not be written from inside.
        let note = spec_path.with_file_name("not-started");
        super::sandbox::enter(confinement, &[note.as_path()])?;
    }
    let error = command.exec();
    Err(error).doing(ErrorKind::Guarded, || {
        format!("E003: cannot start {}", spec.program.display())
    })
}
