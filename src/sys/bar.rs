//! A progress bar on the terminal for work that takes longer than a second.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(100);

/// Runs `work`; where standard error is a terminal, shows how many files it has done once it takes more than a second.
pub fn over<T>(what: &str, files: fn() -> usize, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let painter = scope.spawn(|| {
            let mut ticks = 0;
            let mut bar = None;
            while !done.load(Ordering::Acquire) {
                std::thread::park_timeout(TICK);
                ticks += 1;
                if ticks > 10 {
                    let bar = bar.get_or_insert_with(indicatif::ProgressBar::new_spinner);
                    bar.set_message(format!("{what}: {} files", files()));
                    bar.tick();
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = work();
        done.store(true, Ordering::Release);
        painter.thread().unpark();
        result
    })
}
