//! Places at which a test lets the process die, to show that nothing is lost there.
//!
//! `HOLDPOINT_TEST_DIE_AT=N` kills a debug build, as `kill -9` would, when it
//! reaches the N-th failpoint (from 1). A release build has no such door.

/// Marks a place at which the process may die, before or after a write.
#[inline]
pub fn reach() {
    #[cfg(debug_assertions)]
    door::reach();
}

/// Panics in a debug build where `HOLDPOINT_TEST_PANIC` is set, to show that a fault of ours blocks.
///
/// # Panics
/// As said.
pub fn panic_if_asked() {
    #[cfg(debug_assertions)]
    assert!(
        std::env::var_os("HOLDPOINT_TEST_PANIC").is_none(),
        "a test asked for a panic"
    );
}

/// Keeps a child process from dying at this process's failpoint; `HOLDPOINT_TEST_CHILD_DIE_AT=N` is the child's own.
pub fn hand_on(command: &mut std::process::Command) {
    command.env_remove("HOLDPOINT_TEST_DIE_AT");
    #[cfg(debug_assertions)]
    if let Some(at) = std::env::var_os("HOLDPOINT_TEST_CHILD_DIE_AT") {
        command.env("HOLDPOINT_TEST_DIE_AT", at);
    }
}

#[cfg(debug_assertions)]
mod door {
    use std::sync::atomic::{AtomicU64, Ordering};

    static REACHED: AtomicU64 = AtomicU64::new(0);

    pub(super) fn reach() {
        let Some(at) = std::env::var_os("HOLDPOINT_TEST_DIE_AT") else {
            return;
        };
        let at = at.to_str().and_then(|at| at.parse::<u64>().ok());
        if at == Some(REACHED.fetch_add(1, Ordering::Relaxed) + 1) {
            // No destructor, no flush, no handler runs.
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
    }
}
