//! What the standard library does before `main`, for a program that does without it.

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::stdio::{stderr, stdin, stdout};
use std::os::fd::IntoRawFd as _;
use std::sync::Arc;

/// Makes a program that starts at its own `main` as safe as one that the standard library starts.
///
/// A standard stream that is closed is opened on the null device, so that no file
/// opened later is taken for it; a reader that goes away is an error of the write
/// and not the end of the process.
pub fn prepare() {
    for stream in [stdin(), stdout(), stderr()] {
        if fcntl_getfd(stream) != Err(Errno::BADF) {
            continue;
        }
        // It gets the lowest free number, the closed one's, and what this starts has it too.
        match open("/dev/null", OFlags::RDWR, Mode::empty()) {
            Ok(null) => _ = null.into_raw_fd(),
            // Words could end up in a file of ours.
            Err(_) => std::process::abort(),
        }
    }
    if signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::default()).is_err() {
        std::process::abort();
    }
}
