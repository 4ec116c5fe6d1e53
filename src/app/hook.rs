//! `holdpoint-hook`: what git and agents call. `holdpoint-hook git HOOK ARGS…`, `holdpoint-hook agent NAME`.

use crate::exit::ExitStatus;
use crate::sys::out;
use std::process::ExitCode;

/// Runs a hook; whatever goes wrong, including a fault of ours, becomes the surface's own refusal.
pub(super) fn main() -> ExitCode {
    out::note("holdpoint-hook: not there yet");
    ExitStatus::Usage.into()
}
