//! A second thread that runs beside the first from its first microsecond.
//!
//! A scheduler may start a new thread behind its parent on the same processor and
//! move it only at one of the next ticks. Work that is over after two milliseconds
//! is then done by one processor while another idles. So the new thread is told to
//! stay off its parent's processor.

use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

/// Starts a thread of a scope on another processor than this one, where there is one.
///
/// The thread may not come back to the processor that its parent was on: use it
/// for what takes milliseconds, and start no process from it.
pub fn beside<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    let Some(place) = Place::away_from_here() else {
        return scope.spawn(work);
    };
    let known = threads();
    let started = std::sync::Arc::new(AtomicBool::new(false));
    let starts = std::sync::Arc::clone(&started);
    let handle = scope.spawn(move || {
        starts.store(true, Ordering::Relaxed);
        if sched_getcpu() == place.here {
            place.give(None);
        }
        work()
    });
    if !started.load(Ordering::Relaxed) {
        for thread in threads() {
            if !known.contains(&thread) {
                place.give(Some(thread));
            }
        }
    }
    handle
}

/// The processors that a thread may use beside its parent.
#[derive(Clone, Copy)]
struct Place {
    here: usize,
    others: CpuSet,
}

impl Place {
    fn away_from_here() -> Option<Self> {
        let here = sched_getcpu();
        if here >= CpuSet::MAX_CPU {
            return None;
        }
        let mut others = sched_getaffinity(None).ok()?;
        others.unset(here);
        (others.count() > 0).then_some(Self { here, others })
    }

    /// Moves a thread there, the calling one where none is named.
    fn give(&self, thread: Option<Pid>) {
        // Where it may not be moved it runs all the same, only later.
        let _ = sched_setaffinity(thread, &self.others);
    }
}

/// The threads of this process but the calling one; none where `/proc` does not tell.
fn threads() -> Vec<Pid> {
    let own = gettid();
    std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|thread| *thread != own)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_thread_stays_off_the_first_ones_processor() {
        let mut allowed = sched_getaffinity(None).expect("an affinity");
        let (own, other) = std::thread::scope(|scope| {
            let other = beside(scope, || sched_getaffinity(None).expect("an affinity"));
            let own = sched_getaffinity(None).expect("an affinity");
            (own, other.join().expect("no panic"))
        });
        assert_eq!(own, allowed, "the parent may go where it could");
        if allowed.count() > 1 && other != allowed {
            // A thread that had started elsewhere by itself is left where it is.
            assert_eq!(other.count(), allowed.count() - 1);
        }
        for processor in 0..CpuSet::MAX_CPU {
            if !other.is_set(processor) {
                allowed.unset(processor);
            }
        }
        assert_eq!(allowed, other, "no processor that was not allowed");
    }
}
