//! The processes of a run: found by descent, session and mark; ended without a rest.
//!
//! A process that leaves its group or session, or whose parent dies, is still
//! a descendant, because the leash is a subreaper. One that outlived a killed
//! leash is found by the mark in its environment.

use crate::sys::clock;
use crate::sys::env::Env;
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// The variable that marks every process of a run with the run's id.
pub const MARK: &str = "HOLDPOINT_RUN";

/// The variable that marks every process of one start of a command.
pub const LEASH_MARK: &str = "HOLDPOINT_LEASH";

/// The variable that names the agent.
pub const AGENT_MARK: &str = "HOLDPOINT_AGENT";

/// How long a process may take to leave after SIGTERM.
pub const GRACE: Duration = Duration::from_secs(5);

/// [`GRACE`], which a debug build's door shortens for tests.
#[must_use]
pub fn grace(env: &Env) -> Duration {
    if cfg!(debug_assertions)
        && let Some(millis) = env
            .text("HOLDPOINT_TEST_GRACE_MS")
            .and_then(|millis| millis.parse().ok())
    {
        return Duration::from_millis(millis);
    }
    GRACE
}

/// How often a tree that is being ended is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A process, told apart from a later one with the same number by when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

/// What `/proc` says of a process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Which one.
    pub id: Identity,
    /// Its parent.
    pub parent: i32,
    /// Its session.
    pub session: i32,
    /// The state letter: `Z` is dead and not yet collected.
    pub state: u8,
    /// Its short name.
    pub name: String,
}

impl Identity {
    /// The process with this number, if there is one.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        read(pid).map(|process| process.id)
    }

    /// This process.
    #[must_use]
    pub fn own() -> Option<Self> {
        Self::of(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// Returns true while the very process is there and not dead.
    #[must_use]
    pub fn lives(self) -> bool {
        read(self.pid).is_some_and(|process| {
            process.id == self && !matches!(process.state, b'Z' | b'X' | b'x')
        })
    }

    /// Sends a signal, if the very process is still there.
    pub fn signal(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid)
            && self.lives()
        {
            // It may have left in between, and that is what was wanted.
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Reads one process; `None` when it is gone.
#[must_use]
pub fn read(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let open = memchr::memchr(b'(', &stat)?;
    let close = memchr::memrchr(b')', &stat)?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(stat.get(close + 2..)?).ok()?;
    let fields: Vec<&str> = rest.split(' ').collect();
    Some(Process {
        id: Identity {
            pid,
            started: fields.get(19)?.parse().ok()?,
        },
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        state: *fields.first()?.as_bytes().first()?,
        name,
    })
}

/// All processes that can be seen.
#[must_use]
pub fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .collect()
}

/// The living processes below `root`, whatever group or session they moved to.
#[must_use]
pub fn below(root: i32) -> Vec<Process> {
    let all = all();
    let mut children: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (index, process) in all.iter().enumerate() {
        children.entry(process.parent).or_default().push(index);
    }
    let mut found = BTreeSet::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        for index in children.get(&parent).into_iter().flatten() {
            if let Some(process) = all.get(*index)
                && found.insert(*index)
            {
                next.push(process.id.pid);
            }
        }
    }
    all.into_iter()
        .enumerate()
        .filter(|(index, process)| found.contains(index) && process.state != b'Z')
        .map(|(_, process)| process)
        .collect()
}

/// The living processes that carry a start's mark, apart from this process and its ancestors.
#[must_use]
pub fn marked(mark: &str) -> Vec<Process> {
    let mark = format!("{LEASH_MARK}={mark}");
    let mut own = BTreeSet::new();
    let mut pid = rustix::process::getpid().as_raw_nonzero().get();
    while pid > 1 && own.insert(pid) {
        pid = read(pid).map_or(0, |process| process.parent);
    }
    all()
        .into_iter()
        .filter(|process| process.state != b'Z' && !own.contains(&process.id.pid))
        .filter(|process| {
            fs::read(format!("/proc/{}/environ", process.id.pid)).is_ok_and(|environ| {
                environ
                    .split(|byte| *byte == 0)
                    .any(|var| var == mark.as_bytes())
            })
        })
        .collect()
}

/// Whether a process has children; the subreaper of a tree without any has no descendants either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brood {
    /// It has none.
    None,
    /// It may have some.
    Some,
}

/// What ending a tree left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Names of the processes that were sent a signal.
    pub signalled: Vec<String>,
    /// Names of those that are still there.
    pub left: Vec<String>,
}

/// Ends every process that `find` still finds: SIGTERM, then SIGKILL after `grace`, until none is left.
///
/// `collect` is called in between, so that dead children are taken from the
/// process table; where it knows that nothing can be left, nothing is looked for.
pub fn end(
    grace: Duration,
    mut find: impl FnMut() -> Vec<Process>,
    mut collect: impl FnMut() -> Brood,
) -> Ended {
    let mut ended = Ended::default();
    let mut asked = BTreeSet::new();
    let start = clock::monotonic();
    // A process in uninterruptible sleep takes no signal: we do not wait for it for ever.
    let give_up = grace + GRACE;
    loop {
        if collect() == Brood::None {
            return ended;
        }
        let found = find();
        if found.is_empty() {
            return ended;
        }
        let elapsed = clock::monotonic().saturating_sub(start);
        if elapsed > give_up {
            ended.left = found.into_iter().map(|process| process.name).collect();
            return ended;
        }
        for process in &found {
            if elapsed >= grace {
                process.id.signal(Signal::KILL);
            } else if asked.insert(process.id) {
                process.id.signal(Signal::TERM);
                // A stopped process takes SIGTERM only when it goes on.
                process.id.signal(Signal::CONT);
            }
            if !ended.signalled.contains(&process.name) {
                ended.signalled.push(process.name.clone());
            }
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_and_lives() {
        let own = Identity::own().expect("/proc is there");
        assert!(own.lives());
        let later = Identity {
            started: own.started + 1,
            ..own
        };
        assert!(!later.lives());
    }

    #[test]
    fn a_child_is_below_its_parent_and_ends() {
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .env(LEASH_MARK, "tree-test")
            .spawn()
            .expect("sleep starts");
        let pid = i32::try_from(child.id()).expect("a pid fits");
        let own = rustix::process::getpid().as_raw_nonzero().get();
        assert!(below(own).iter().any(|process| process.id.pid == pid));
        assert!(
            marked("tree-test")
                .iter()
                .any(|process| process.id.pid == pid)
        );
        let id = Identity::of(pid).expect("it lives");
        let ended = end(
            GRACE,
            || {
                read(pid)
                    .into_iter()
                    .filter(|p| p.id == id && p.state != b'Z')
                    .collect()
            },
            || Brood::Some,
        );
        assert_eq!(ended.signalled, ["sleep"]);
        assert!(ended.left.is_empty());
        assert!(!child.wait().expect("it is collected").success());
    }
}
