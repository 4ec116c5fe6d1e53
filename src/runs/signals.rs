//! Signals as events in a channel, beside whatever else a loop waits for.

use crate::error::{Context as _, ErrorKind, Result};
use signal_hook::iterator::Signals;
use std::sync::mpsc::Sender;

pub use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};

/// Sends every one of `signals` that this process gets into a channel, for as long as it lives.
///
/// # Errors
/// When a handler cannot be set.
pub fn send<T: Send + 'static>(
    signals: &[i32],
    events: Sender<T>,
    wrap: impl Fn(i32) -> T + Send + 'static,
) -> Result<()> {
    let mut signals = Signals::new(signals).doing(ErrorKind::Internal, || {
        "cannot set signal handlers".to_owned()
    })?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                if events.send(wrap(signal)).is_err() {
                    return;
                }
            }
        })
        .doing(ErrorKind::Internal, || {
            "cannot start the thread for signals".to_owned()
        })?;
    Ok(())
}
