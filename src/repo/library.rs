//! libgit2 at arm's length: from an object that is cut short it never comes back.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// How long one answer may take; after that git itself is asked.
const PATIENCE: Duration = Duration::from_millis(900);

/// An answer never came: nothing more is asked by this process, so that no second thread turns for ever.
static STUCK: AtomicBool = AtomicBool::new(false);

type Question = Box<dyn FnOnce(&git2::Repository) + Send>;

/// A repository that a thread of its own reads.
pub(super) struct Library {
    questions: Sender<Question>,
}

impl Library {
    /// Opens a git directory; `None` where libgit2 cannot, or once did not come back.
    pub(super) fn open(git_dir: &Path) -> Option<Self> {
        if STUCK.load(Ordering::Relaxed) {
            return None;
        }
        let repository = git2::Repository::open(git_dir).ok()?;
        let (questions, asked) = mpsc::channel::<Question>();
        std::thread::Builder::new()
            .spawn(move || asked.into_iter().for_each(|question| question(&repository)))
            .ok()?;
        Some(Self { questions })
    }

    /// What the repository answers; `None` where it does not in time.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&git2::Repository) -> T + Send + 'static,
    ) -> Option<T> {
        if STUCK.load(Ordering::Relaxed) {
            return None;
        }
        let (sender, answer) = mpsc::sync_channel(1);
        let question = move |repository: &git2::Repository| {
            // Nobody may wait for it any more.
            let _ = sender.send(question(repository));
        };
        self.questions.send(Box::new(question)).ok()?;
        match answer.recv_timeout(PATIENCE) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => {
                STUCK.store(true, Ordering::Relaxed);
                None
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}
