//! Processes and their parents, as `/proc` shows them.

use super::env::Env;
use super::files::read_proc;
use bstr::{BString, ByteSlice as _};
use std::fs;
use std::path::PathBuf;

/// Most generations that are looked at; a longer line of parents does not occur.
const GENERATIONS: usize = 64;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its parent's id; 0 where the parent is outside this container.
    pub parent: i32,
    /// Its name as the kernel keeps it, at most 15 bytes.
    pub name: BString,
    /// Device number of its controlling terminal; 0 for none.
    pub terminal: i32,
}

impl Process {
    /// Reads a process; `None` when there is none.
    #[must_use]
    pub fn read(pid: i32) -> Option<Self> {
        let stat = read_proc(pid, "stat").ok()?;
        let open = stat.find_byte(b'(')?;
        // A name may hold any byte, a closing parenthesis too.
        let close = stat.rfind_byte(b')')?;
        let mut fields = stat.get(close + 2..)?.fields();
        let parent = fields.nth(1)?.to_str().ok()?.parse().ok()?;
        let terminal = fields.nth(2)?.to_str().ok()?.parse().ok()?;
        Some(Self {
            pid,
            parent,
            name: stat.get(open + 1..close)?.into(),
            terminal,
        })
    }

    /// Its command line, one item an argument; empty when it may not be read.
    #[must_use]
    pub fn arguments(&self) -> Vec<BString> {
        read_proc(self.pid, "cmdline")
            .map(|bytes| {
                bytes
                    .strip_suffix(b"\0")
                    .unwrap_or(&bytes)
                    .split(|byte| *byte == 0)
                    .map(BString::from)
                    .collect()
            })
            .unwrap_or_default()
    }

    /// The environment it was started with; `None` when it may not be read.
    #[must_use]
    pub fn environment(&self) -> Option<Vec<(BString, BString)>> {
        let bytes = read_proc(self.pid, "environ").ok()?;
        Some(
            bytes
                .split(|byte| *byte == 0)
                .filter_map(|pair| pair.split_once_str("="))
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    /// The user it runs as; `None` when it is gone.
    #[must_use]
    pub fn user(&self) -> Option<u32> {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(format!("/proc/{}", self.pid))
            .ok()
            .map(|meta| meta.uid())
    }

    /// The files it has open, as paths of `/proc/PID/fd`; empty when they may not be read.
    #[must_use]
    pub fn open_files(&self) -> Vec<PathBuf> {
        fs::read_dir(format!("/proc/{}/fd", self.pid))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    }
}

/// This process.
#[must_use]
pub fn this() -> Option<Process> {
    Process::read(i32::try_from(std::process::id()).ok()?)
}

/// The parents of a process, nearest first, without init.
#[must_use]
pub fn above(env: &Env, process: &Process) -> Vec<Process> {
    let root = root(env);
    let mut found: Vec<Process> = Vec::new();
    let mut next = process.parent;
    while next > 1 && Some(next) != root && found.len() < GENERATIONS {
        let Some(parent) = Process::read(next) else {
            break;
        };
        next = parent.parent;
        found.push(parent);
    }
    found
}

/// Every process that can be seen.
#[must_use]
pub fn all() -> Vec<Process> {
    fs::read_dir("/proc")
        .map(|entries| {
            entries
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
                .filter_map(Process::read)
                .collect()
        })
        .unwrap_or_default()
}

/// The process that counts as init: a debug build's tests name the one that runs them.
#[cfg(debug_assertions)]
#[must_use]
pub fn root(env: &Env) -> Option<i32> {
    env.text("HOLDPOINT_TEST_ANCESTRY_ROOT")?.parse().ok()
}

/// The process that counts as init: only init itself.
#[cfg(not(debug_assertions))]
#[must_use]
pub fn root(_env: &Env) -> Option<i32> {
    None
}
