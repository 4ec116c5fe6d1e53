//! One pass over the worktree and the git directory.
//!
//! Two threads share a stack of directories, and one that finds it empty compresses
//! what the other one reads. Each directory is listed, its names
//! are held against the cache's row for row, and only what differs is read. A
//! directory that is as the cache says leaves nothing behind.
//!
//! Order matters where git is at work beside us: refs are read before loose
//! objects, and those before packs, so that whatever a captured ref names is
//! among the captured objects (git writes objects before refs, and a new pack
//! before it removes what went into it).

use super::cache::{Cache, CachedRow, HEAD, block_id, write_row};
use super::id::ContentId;
use super::ignore::{Ignored, Repo, Scope};
use super::links::Links;
use super::pack::PackWriter;
use super::progress;
use super::settings::Settings;
use super::stamp::{Stamp, file_clock};
use super::store::{Aside, Packer, Store};
use super::tree::{Kind, Why};
use crate::error::{Context as _, ErrorKind, Result};
use crate::sys::beside::beside;
use crate::sys::failpoint;
use bstr::BString;
use entry::Entry;
use listing::{Listing, list, open_below, open_root};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

mod entry;
pub(super) mod listing;

/// Which of the two trees of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Side {
    /// The worktree, without its own `.git` directory.
    Work,
    /// The git directory that all worktrees share.
    Git,
}

/// What sort of directory it is; each has its own rules for what is held and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    /// The person's files.
    Work,
    /// A git directory: small files that change.
    Git,
    /// `lfs` or `annex`: its `objects` never change.
    Foreign,
    /// `objects`.
    Objects,
    /// A directory of loose objects, which are immutable.
    Loose,
    /// A directory of immutable files only.
    Linked,
    /// `objects/pack` and `objects/info`: immutable files among others.
    Packs,
}

impl Area {
    fn phase(self) -> usize {
        match self {
            Self::Work | Self::Git | Self::Foreign => 0,
            Self::Objects | Self::Loose | Self::Linked => 1,
            Self::Packs => 2,
        }
    }
}

/// A directory to be visited.
#[derive(Debug)]
pub(super) struct Node {
    /// Which tree it belongs to.
    pub(super) side: Side,
    /// Its path in that tree; empty for the top.
    pub(super) path: BString,
    /// The directory above.
    pub(super) parent: Option<Arc<Node>>,
    /// Its block of the cache.
    pub(super) cached: Option<u32>,
    area: Area,
    ignored: Ignored,
    scope: Option<Arc<Scope>>,
    /// True while no ignore rule on the way down has changed since the cache.
    rules_same: bool,
}

/// One name as it was found.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The name.
    pub(super) name: BString,
    /// What it is.
    pub(super) kind: Kind,
    /// [`RACY`](super::cache::RACY) and [`IGNORED`](super::cache::IGNORED).
    pub(super) flags: u8,
    /// Its stamp; not used for a directory.
    pub(super) stamp: Stamp,
    /// Its content; not used for a directory.
    pub(super) id: ContentId,
    /// The block of a directory that the cache knows.
    pub(super) block: Option<u32>,
}

impl Seen {
    /// The row for the cache.
    pub(super) fn row(&self) -> CachedRow<'_> {
        CachedRow {
            name: &self.name,
            kind: self.kind,
            flags: self.flags,
            stamp: self.stamp,
            id: self.block.map_or(self.id, block_id),
            raw: &[],
        }
    }
}

/// What a visit found.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is not as the cache says.
    Listed {
        /// Its own stamp.
        stamp: Stamp,
        /// True where the stamp may stand for another listing.
        racy: bool,
        /// Its names, sorted, as the cache writes them.
        rows: Vec<u8>,
    },
    /// It went away.
    Gone,
    /// It cannot be listed.
    Unreadable,
}

/// A directory that is not as the cache says.
#[derive(Debug)]
pub(super) struct Visit {
    /// The directory.
    pub(super) node: Arc<Node>,
    /// What was found.
    pub(super) outcome: Outcome,
}

/// Everything that a walk needs to know.
pub(super) struct Walk<'a> {
    /// The top of the worktree.
    pub(super) work: Option<PathBuf>,
    /// The shared git directory.
    pub(super) git: Option<PathBuf>,
    /// True where the worktree's own `.git` directory is the git directory.
    pub(super) own_git: bool,
    /// Paths that are Holdpoint's own.
    pub(super) own_places: Vec<(Side, BString)>,
    /// What the last walk found.
    pub(super) cache: &'a Cache,
    /// True while the ignore rules and the index are as the cache says.
    pub(super) rules_same: bool,
    /// The rules of the workspace's repository.
    pub(super) repo: Repo,
    /// Sizes and patterns.
    pub(super) settings: &'a Settings,
    /// Where contents are looked up.
    pub(super) store: &'a Store,
    /// Where new contents go; without one they are only named.
    pub(super) pack: Option<&'a PackWriter>,
    /// Where git's objects are linked.
    pub(super) links: &'a Links,
    /// How far git's immutable objects are trusted not to have changed.
    pub(super) trust: Trust,
}

/// How far git's immutable objects are trusted not to have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// A directory of loose objects that has its old stamp has its old objects: good for a point.
    Stamps,
    /// Each is looked at: a rollback is for when somebody wrecked them in place.
    Nothing,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The directories that are not as the cache says.
    pub(super) visits: Vec<Visit>,
    /// What is not held.
    pub(super) not_held: Vec<(Side, BString, Why)>,
    /// True when objects of git went away under the walk: walk again.
    pub(super) vanished: bool,
}

struct Queue {
    waiting: Vec<Arc<Node>>,
    /// Contents that were read and named, and are to be compressed.
    contents: Vec<(ContentId, Vec<u8>)>,
    /// How many bytes these contents have.
    held: usize,
    /// Buffers that were compressed and can be filled again.
    spare: Vec<Vec<u8>>,
    busy: usize,
    idle: usize,
    failed: bool,
}

/// How many bytes may wait to be compressed.
const HELD: usize = 1 << 20;

/// What a thread does next.
enum Task {
    Visit(Arc<Node>),
    Compress(ContentId, Vec<u8>),
}

struct Shared<'a> {
    walk: &'a Walk<'a>,
    work: Option<OwnedFd>,
    git: Option<OwnedFd>,
    start: (i64, u32),
    include: Vec<gix_glob::Pattern>,
    queue: Mutex<Queue>,
    ready: Condvar,
    later: Mutex<[Vec<Arc<Node>>; 3]>,
    found: Mutex<Found>,
    vanished: AtomicBool,
}

impl Walk<'_> {
    /// Walks both trees.
    pub(super) fn run(self) -> Result<Found> {
        let open_top = |path: &Option<PathBuf>| -> Result<Option<OwnedFd>> {
            path.as_deref().map(open_root).transpose()
        };
        let shared = Shared {
            work: open_top(&self.work)?,
            git: open_top(&self.git)?,
            start: file_clock(),
            include: self
                .settings
                .include_ignored
                .iter()
                .filter_map(gix_glob::parse)
                .collect(),
            queue: Mutex::new(Queue {
                waiting: Vec::new(),
                contents: Vec::new(),
                held: 0,
                spare: Vec::new(),
                busy: 0,
                idle: 0,
                failed: false,
            }),
            ready: Condvar::new(),
            later: Mutex::default(),
            found: Mutex::default(),
            vanished: AtomicBool::new(false),
            walk: &self,
        };
        let mut first = Vec::new();
        if self.git.is_some() {
            first.push(Arc::new(Node {
                side: Side::Git,
                path: BString::default(),
                parent: None,
                cached: self.cache.header.git.map(|root| root.block),
                area: Area::Git,
                ignored: Ignored::No,
                scope: None,
                rules_same: self.rules_same,
            }));
        }
        let mut top = None;
        if self.work.is_some() {
            let repo = Repo::new(
                BString::default(),
                self.repo.git_dir().cloned(),
                self.repo.rules().clone(),
            );
            let scope = Arc::new(Scope::top(repo));
            top = Some(Arc::clone(&scope));
            first.push(Arc::new(Node {
                side: Side::Work,
                path: BString::default(),
                parent: None,
                cached: self.cache.header.work.map(|root| root.block),
                area: Area::Work,
                ignored: Ignored::No,
                scope: Some(scope),
                rules_same: self.rules_same,
            }));
        }
        lock(&shared.later)[0] = first;
        for phase in 0..3 {
            shared.phase(phase)?;
        }
        if let Some(scope) = top {
            scope.repo.forget();
        }
        let mut found = shared
            .found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        found.vanished = shared.vanished.load(Ordering::Relaxed);
        Ok(found)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the walk where a thread of it panics: what that thread was at is done by nobody.
struct End<'s>(&'s Shared<'s>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.queue).failed = true;
            self.0.ready.notify_all();
        }
    }
}

impl Aside for Shared<'_> {
    fn offer(&self, id: ContentId, bytes: &[u8]) -> bool {
        let mut queue = lock(&self.queue);
        // Whoever waits is woken once; what more there is it finds when it looks again.
        if queue.idle == 0 && queue.contents.is_empty() || queue.held + bytes.len() > HELD {
            return false;
        }
        queue.held += bytes.len();
        let mut copy = queue.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        queue.contents.push((id, copy));
        drop(queue);
        self.ready.notify_one();
        true
    }
}

/// One thread's buffers.
struct Worker<'a> {
    packer: Packer<'a>,
    buffer: Vec<u8>,
    names: Vec<u8>,
    list: Vec<(usize, usize, FileType)>,
    children: Vec<Arc<Node>>,
    visits: Vec<Visit>,
    not_held: Vec<(Side, BString, Why)>,
}

impl Shared<'_> {
    fn phase(&self, phase: usize) -> Result<()> {
        let tasks = std::mem::take(&mut lock(&self.later)[phase]);
        if tasks.is_empty() {
            return Ok(());
        }
        // The git directory's later phases are a handful of directories as a rule, and a
        // thread costs more than it saves there; not where each loose object is looked at.
        let alone = phase > 0 && tasks.len() < 3 && (phase > 1 || self.walk.trust == Trust::Stamps);
        lock(&self.queue).waiting = tasks;
        if alone {
            return self.work();
        }
        std::thread::scope(|scope| {
            let helper = beside(scope, || self.work());
            let mine = self.work();
            let theirs = helper.join().unwrap_or_else(|_| {
                Err(crate::error::Error::new(
                    ErrorKind::Internal,
                    "a thread that walked the workspace panicked",
                ))
            });
            mine.and(theirs)
        })
    }

    fn work(&self) -> Result<()> {
        let mut worker = Worker {
            packer: Packer::new(self.walk.store, self.walk.pack)?.helped_by(self),
            buffer: Vec::with_capacity(32 << 10),
            names: Vec::new(),
            list: Vec::new(),
            children: Vec::new(),
            visits: Vec::new(),
            not_held: Vec::new(),
        };
        let mut result = Ok(());
        let _end = End(self);
        while let Some(task) = self.next() {
            let node = match task {
                Task::Visit(node) => node,
                Task::Compress(id, bytes) => {
                    let packed = worker.packer.pack_named(id, &bytes);
                    let mut queue = lock(&self.queue);
                    queue.busy -= 1;
                    queue.held -= bytes.len();
                    queue.spare.push(bytes);
                    if let Err(error) = packed {
                        queue.failed = true;
                        result = Err(error);
                    }
                    drop(queue);
                    self.ready.notify_all();
                    continue;
                }
            };
            let visited = self.visit(&mut worker, &node);
            let mut queue = lock(&self.queue);
            queue.busy -= 1;
            if let Err(error) = visited {
                queue.failed = true;
                result = Err(error);
            }
            let mut later = Vec::new();
            for child in worker.children.drain(..) {
                if child.area.phase() == node.area.phase() {
                    queue.waiting.push(child);
                } else {
                    later.push(child);
                }
            }
            drop(queue);
            if !later.is_empty() {
                let mut phases = lock(&self.later);
                for child in later {
                    phases[child.area.phase()].push(child);
                }
            }
            self.ready.notify_all();
        }
        let mut found = lock(&self.found);
        found.visits.append(&mut worker.visits);
        found.not_held.append(&mut worker.not_held);
        result
    }

    fn next(&self) -> Option<Task> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.failed {
                return None;
            }
            let task = match queue.waiting.pop() {
                Some(node) => Some(Task::Visit(node)),
                None => queue
                    .contents
                    .pop()
                    .map(|(id, bytes)| Task::Compress(id, bytes)),
            };
            if task.is_some() {
                queue.busy += 1;
                return task;
            }
            if queue.busy == 0 {
                return None;
            }
            queue.idle += 1;
            queue = self
                .ready
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }

    fn root(&self, side: Side) -> Option<BorrowedFd<'_>> {
        match side {
            Side::Work => self.work.as_ref(),
            Side::Git => self.git.as_ref(),
        }
        .map(|fd| fd.as_fd())
    }

    /// Lists one directory and holds it against the cache.
    fn visit(&self, worker: &mut Worker<'_>, node: &Arc<Node>) -> Result<()> {
        let finish = |worker: &mut Worker<'_>, outcome| {
            if matches!(outcome, Outcome::Unreadable) {
                let path = node.path.clone();
                worker.not_held.push((node.side, path, Why::Unreadable));
            }
            worker.visits.push(Visit {
                node: Arc::clone(node),
                outcome,
            });
            Ok(())
        };
        failpoint::panic_if_asked();
        let Some(root) = self.root(node.side) else {
            return Ok(());
        };
        let dir = match open_below(root, &node.path) {
            Ok(dir) => dir,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                return finish(worker, Outcome::Gone);
            }
            Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                return Err(std::io::Error::from(errno))
                    .doing(ErrorKind::Io, || "cannot walk the workspace".to_owned());
            }
            Err(_) => return finish(worker, Outcome::Unreadable),
        };
        let Ok(stat) = rustix::fs::fstat(&dir) else {
            return finish(worker, Outcome::Unreadable);
        };
        let stamp = Stamp::of(&stat);
        if list(
            &dir,
            &mut worker.buffer,
            &mut worker.names,
            &mut worker.list,
        )
        .is_err()
        {
            return finish(worker, Outcome::Unreadable);
        }
        let names = std::mem::take(&mut worker.names);
        let entries = std::mem::take(&mut worker.list);
        let listing = Listing {
            names: &names,
            entries: &entries,
        };
        let visited = self.compare(worker, node, &dir, stamp, &listing);
        progress::add(entries.len());
        worker.names = names;
        worker.list = entries;
        match visited? {
            Some(outcome) => finish(worker, outcome),
            None => Ok(()),
        }
    }

    fn compare(
        &self,
        worker: &mut Worker<'_>,
        node: &Arc<Node>,
        dir: &OwnedFd,
        stamp: Stamp,
        listing: &Listing<'_>,
    ) -> Result<Option<Outcome>> {
        let cache = self.walk.cache;
        let block = node.cached.and_then(|block| cache.block(block));
        let here = self.enter(
            node,
            dir,
            listing,
            block.as_ref().map(super::cache::Block::rows),
        );
        let racy = stamp.is_racy(self.start);
        let mut same = block.is_some_and(|block| {
            block.stamp.mode == stamp.mode
                && (!matches!(node.area, Area::Loose | Area::Linked)
                    || (block.stamp == stamp && (!block.racy || racy)))
        });
        let mut kept = 0;
        let mut rows: Vec<u8> = Vec::new();
        let mut old = block
            .map(|block| block.rows())
            .into_iter()
            .flatten()
            .peekable();
        let diverge = |same: &mut bool, kept: usize, rows: &mut Vec<u8>| {
            if std::mem::replace(same, false)
                && let Some(block) = block
            {
                rows.extend_from_slice(block.front(kept));
            }
        };
        for (name, kind) in listing.iter() {
            let mut cached = None;
            while let Some(row) = old.peek() {
                match row.name.cmp(name.to_bytes()) {
                    std::cmp::Ordering::Less => {
                        diverge(&mut same, kept, &mut rows);
                        old.next();
                    }
                    std::cmp::Ordering::Equal => {
                        cached = old.next();
                        break;
                    }
                    std::cmp::Ordering::Greater => break,
                }
            }
            match self.entry(worker, &here, dir, name, kind, cached, stamp.dev)? {
                Entry::Same => {
                    let raw = cached.map_or(&[][..], |row| row.raw);
                    if same {
                        kept += raw.len();
                    } else {
                        rows.extend_from_slice(raw);
                    }
                }
                Entry::New(seen) => {
                    diverge(&mut same, kept, &mut rows);
                    write_row(&seen.row(), &mut rows);
                }
                Entry::Omit => {
                    if cached.is_some() {
                        diverge(&mut same, kept, &mut rows);
                    }
                }
            }
        }
        if old.next().is_some() {
            diverge(&mut same, kept, &mut rows);
        }
        if same {
            return Ok(None);
        }
        // Room for what stands before the rows in the cache, so that they need not be copied.
        rows.reserve_exact(HEAD);
        rows.shrink_to(rows.len() + HEAD);
        Ok(Some(Outcome::Listed { stamp, racy, rows }))
    }
}
