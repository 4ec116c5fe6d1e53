//! What becomes of one name: as the cache says, read anew, left out, or a directory to visit.

use super::listing::Listing;
use super::{Area, Node, Seen, Shared, Side, Trust, Worker};
use crate::error::Result;
use crate::sys::files;
use crate::vault::cache::{CachedRow, IGNORED, MIXED, RACY, Rows};
use crate::vault::capture::{Captured, capture};
use crate::vault::id::ContentId;
use crate::vault::ignore::{Ignored, Repo, Scope, matches};
use crate::vault::links::Linked;
use crate::vault::places;
use crate::vault::stamp::Stamp;
use crate::vault::tree::{Kind, Why};
use bstr::{BString, ByteSlice as _};
use gix_glob::pattern::Case;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What becomes of one name.
pub(super) enum Entry {
    /// The cache's row stands.
    Same,
    /// This row replaces it.
    New(Seen),
    /// It is not part of the picture.
    Omit,
}

/// A directory while its names are gone through.
pub(super) struct Here {
    node: Arc<Node>,
    ignored: Ignored,
    scope: Option<Arc<Scope>>,
    rules_same: bool,
    /// The directory looks like a git directory, so that `objects` is an object store.
    has_head: bool,
}

impl Here {
    fn path(&self, name: &[u8]) -> BString {
        let mut path = self.node.path.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        path
    }
}

impl Shared<'_> {
    fn top(&self, side: Side) -> PathBuf {
        match side {
            Side::Work => self.walk.work.clone(),
            Side::Git => self.walk.git.clone(),
        }
        .unwrap_or_default()
    }

    fn place(&self, node: &Node, name: &[u8]) -> PathBuf {
        self.top(node.side)
            .join(node.path.to_path_lossy_exact())
            .join(name.to_path_lossy_exact())
    }

    /// Finds which rules hold in a directory.
    pub(super) fn enter(
        &self,
        node: &Arc<Node>,
        dir: &OwnedFd,
        listing: &Listing<'_>,
        cached: Option<Rows<'_>>,
    ) -> Here {
        let mut here = Here {
            node: Arc::clone(node),
            ignored: node.ignored,
            scope: node.scope.clone(),
            rules_same: node.rules_same,
            has_head: node.area == Area::Git && listing.get(b"HEAD").is_some(),
        };
        if node.area != Area::Work {
            return here;
        }
        // A repository in the workspace has its own rules; ours do not hold in it.
        if !node.path.is_empty() && listing.get(b".git").is_some() {
            let rules = here
                .scope
                .as_ref()
                .map(|scope| scope.repo.rules().clone())
                .unwrap_or_default();
            let git_dir = resolve(self.place(node, b".git"));
            here.scope = Some(Arc::new(Scope::top(Repo::new(
                node.path.clone(),
                git_dir,
                rules,
            ))));
            here.ignored = Ignored::No;
            here.rules_same = false;
        }
        let row = cached.and_then(|mut rows| rows.find(|row| row.name == b".gitignore"));
        if listing.get(b".gitignore").is_some() {
            let stat = rustix::fs::statat(dir, c".gitignore", AtFlags::SYMLINK_NOFOLLOW);
            let as_before = row.is_some_and(|row| {
                row.flags & RACY == 0 && stat.is_ok_and(|stat| Stamp::of(&stat) == row.stamp)
            });
            here.rules_same &= as_before;
            if let Some(above) = &here.scope {
                let file = self.place(node, b".gitignore");
                here.scope = Some(Arc::new(Scope::nested(above, node.path.clone(), file)));
            }
        } else if row.is_some() {
            here.rules_same = false;
        }
        here
    }

    /// Decides about one name.
    #[expect(clippy::too_many_arguments, reason = "one name's whole context")]
    pub(super) fn entry(
        &self,
        worker: &mut Worker<'_>,
        here: &Here,
        dir: &OwnedFd,
        name: &CStr,
        listed: FileType,
        cached: Option<CachedRow<'_>>,
        dev: u64,
    ) -> Result<Entry> {
        let bytes = name.to_bytes();
        if self.leaves_out(here, bytes) {
            return Ok(Entry::Omit);
        }
        if listed == FileType::Directory {
            return Ok(self.directory(worker, here, dir, name, cached));
        }
        let stamp = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Stamp::of(&stat),
            Err(Errno::NOENT) => {
                self.went_away(here);
                return Ok(Entry::Omit);
            }
            Err(_) => return Ok(unreadable(worker, here, bytes)),
        };
        if stamp.kind() == Kind::Dir {
            return Ok(self.directory(worker, here, dir, name, cached));
        }
        if let Some(row) = &cached
            && row.flags & RACY == 0
            && row.stamp == stamp
            && stamp.dev == dev
        {
            let stands = match row.kind {
                Kind::NotHeld(Why::LargeIgnored) => here.rules_same,
                Kind::NotHeld(_) => false,
                _ => true,
            };
            if stands {
                if let Kind::NotHeld(why) = row.kind {
                    worker
                        .not_held
                        .push((here.node.side, here.path(bytes), why));
                }
                return Ok(Entry::Same);
            }
        }
        let Some(found) = self.read(worker, here, dir, name, stamp)? else {
            self.went_away(here);
            return Ok(Entry::Omit);
        };
        if let Kind::NotHeld(why) = found.kind {
            worker
                .not_held
                .push((here.node.side, here.path(bytes), why));
        }
        let racy = found.stamp.is_racy(self.start) || found.stamp.dev != dev;
        let flags = if racy { RACY } else { 0 };
        if let Some(row) = &cached
            && (row.kind, row.flags, row.stamp, row.id)
                == (found.kind, flags, found.stamp, found.id)
        {
            return Ok(Entry::Same);
        }
        Ok(Entry::New(Seen {
            name: bytes.into(),
            kind: found.kind,
            flags,
            stamp: found.stamp,
            id: found.id,
            block: None,
        }))
    }

    fn went_away(&self, here: &Here) {
        if matches!(here.node.area, Area::Loose | Area::Linked | Area::Packs) {
            self.vanished.store(true, Ordering::Relaxed);
        }
    }

    fn leaves_out(&self, here: &Here, name: &[u8]) -> bool {
        let side = here.node.side;
        let mut own = self.walk.own_places.iter();
        if own.any(|(whose, own)| *whose == side && *own == here.path(name)) {
            return true;
        }
        match here.node.area {
            Area::Work if here.node.path.is_empty() => {
                (name == b".git" && self.walk.own_git) || places::is_staging(name)
            }
            Area::Work => places::is_staging(name) || places::is_own_log(&here.node.path, name),
            Area::Git => places::is_passing(name),
            Area::Foreign => matches!(name, b"tmp" | b"incomplete"),
            Area::Objects | Area::Packs => name.starts_with(b"tmp_") || places::is_passing(name),
            Area::Loose | Area::Linked => name.starts_with(b"tmp_"),
        }
    }

    fn read(
        &self,
        worker: &mut Worker<'_>,
        here: &Here,
        dir: &OwnedFd,
        name: &CStr,
        stamp: Stamp,
    ) -> Result<Option<Captured>> {
        let bytes = name.to_bytes();
        let immutable = match here.node.area {
            Area::Loose | Area::Linked => true,
            Area::Packs => places::is_immutable(bytes),
            _ => false,
        };
        if immutable && stamp.kind() == Kind::File && stamp.size <= places::SMALL_OBJECT {
            let found = capture(dir.as_fd(), name, stamp, &mut worker.packer, u64::MAX)?;
            return Ok(found.map(|found| match found.kind {
                Kind::File => Captured {
                    kind: Kind::SmallObject,
                    ..found
                },
                _ => found,
            }));
        }
        if immutable && stamp.kind() == Kind::File {
            let parent = here.node.path.rsplit_str("/").next().unwrap_or_default();
            let keep = self.walk.pack.is_some();
            return Ok(
                match self
                    .walk
                    .links
                    .hold(dir.as_fd(), parent, name, &stamp, keep)?
                {
                    Linked::Held(id, stamp) => Some(Captured {
                        kind: Kind::Object,
                        stamp,
                        id,
                    }),
                    Linked::Gone => None,
                    Linked::Unreadable => Some(Captured {
                        kind: Kind::NotHeld(Why::Unreadable),
                        stamp,
                        id: ContentId::default(),
                    }),
                },
            );
        }
        if stamp.kind() == Kind::File
            && here.node.area == Area::Work
            && stamp.size > self.walk.settings.max_ignored
            && self.is_large_ignored(here, bytes, stamp.size)
        {
            return Ok(Some(Captured {
                kind: Kind::NotHeld(Why::LargeIgnored),
                stamp,
                id: ContentId::default(),
            }));
        }
        let max = match here.node.area {
            Area::Work => self.walk.settings.max_file,
            _ => u64::MAX,
        };
        capture(dir.as_fd(), name, stamp, &mut worker.packer, max)
    }

    fn is_large_ignored(&self, here: &Here, name: &[u8], size: u64) -> bool {
        let Some(scope) = &here.scope else {
            return false;
        };
        let path = here.path(name);
        let ignored = here.ignored != Ignored::No || scope.ignores(&path, false);
        if !ignored || scope.repo.tracks(&path) {
            return false;
        }
        let included = self
            .include
            .iter()
            .any(|pattern| matches(pattern, &path, false, Case::Sensitive));
        !included || size > self.walk.settings.max_included
    }

    /// Decides about a directory and queues its visit.
    fn directory(
        &self,
        worker: &mut Worker<'_>,
        here: &Here,
        dir: &OwnedFd,
        name: &CStr,
        cached: Option<CachedRow<'_>>,
    ) -> Entry {
        let bytes = name.to_bytes();
        let known = cached.filter(|row| row.kind == Kind::Dir);
        let mut area = here.node.area;
        let mut ignored = here.ignored;
        match here.node.area {
            Area::Work if bytes == b".git" => area = Area::Git,
            Area::Work => {
                if let Some(found) = self.judge_ignored(here, dir, name, cached) {
                    ignored = found;
                } else {
                    worker
                        .not_held
                        .push((here.node.side, here.path(bytes), Why::BulkyIgnored));
                    let stamp = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                        .map(|stat| Stamp::of(&stat))
                        .unwrap_or_default();
                    let stands = cached.is_some_and(|row| {
                        row.kind == Kind::NotHeld(Why::BulkyIgnored)
                            && (row.stamp == stamp || places::is_bulky(bytes))
                    });
                    return if stands {
                        Entry::Same
                    } else {
                        Entry::New(not_held(bytes, Why::BulkyIgnored, stamp))
                    };
                }
            }
            Area::Git if here.has_head && bytes == b"objects" => area = Area::Objects,
            Area::Git if here.has_head && matches!(bytes, b"lfs" | b"annex") => {
                area = Area::Foreign;
            }
            Area::Foreign if bytes == b"objects" => area = Area::Linked,
            Area::Objects if places::is_fanout(bytes) => area = Area::Loose,
            Area::Objects | Area::Packs => area = Area::Packs,
            Area::Git | Area::Foreign | Area::Loose | Area::Linked => {}
        }
        if area == Area::Loose
            && here.node.area == Area::Objects
            && self.walk.trust == Trust::Stamps
        {
            // A directory of loose objects that has its old stamp has its old names.
            let unchanged = known
                .and_then(|row| self.walk.cache.block(row.block()))
                .is_some_and(|block| {
                    !block.racy
                        && rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                            .is_ok_and(|stat| Stamp::of(&stat) == block.stamp)
                });
            if unchanged {
                return Entry::Same;
            }
        }
        worker.children.push(Arc::new(Node {
            side: here.node.side,
            path: here.path(bytes),
            parent: Some(Arc::clone(&here.node)),
            cached: known.map(|row| row.block()),
            area,
            ignored,
            scope: here.scope.clone(),
            rules_same: here.rules_same,
        }));
        let flags = match ignored {
            Ignored::No => 0,
            Ignored::Small => IGNORED,
            Ignored::Mixed => IGNORED | MIXED,
        };
        match known {
            Some(row) if row.flags == flags => Entry::Same,
            _ => Entry::New(Seen {
                name: bytes.into(),
                kind: Kind::Dir,
                flags,
                stamp: Stamp::default(),
                id: ContentId::default(),
                block: known.map(|row| row.block()),
            }),
        }
    }

    fn is_unchanged(&self, dir: &OwnedFd, name: &CStr, stamp: Stamp) -> bool {
        !stamp.is_racy(self.start)
            && rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| Stamp::of(&stat) == stamp)
    }

    /// Whether a directory is ignored, and held all the same; `None` where it is not held.
    fn judge_ignored(
        &self,
        here: &Here,
        dir: &OwnedFd,
        name: &CStr,
        cached: Option<CachedRow<'_>>,
    ) -> Option<Ignored> {
        let bytes = name.to_bytes();
        if here.ignored == Ignored::Small {
            return Some(Ignored::Small);
        }
        if here.rules_same
            && here.ignored == Ignored::No
            && let Some(row) = cached
        {
            match row.kind {
                Kind::Dir if row.flags & IGNORED == 0 => return Some(Ignored::No),
                Kind::NotHeld(Why::BulkyIgnored) if places::is_bulky(bytes) => return None,
                // What was found small or large is so while its top has not changed.
                Kind::NotHeld(Why::BulkyIgnored) if self.is_unchanged(dir, name, row.stamp) => {
                    return None;
                }
                Kind::Dir if row.flags & MIXED == 0 => {
                    let block = self.walk.cache.block(row.block());
                    if block.is_some_and(|block| self.is_unchanged(dir, name, block.stamp)) {
                        return Some(Ignored::Small);
                    }
                }
                _ => {}
            }
        }
        let scope = here.scope.as_ref()?;
        let path = here.path(bytes);
        if here.ignored == Ignored::No && !scope.ignores(&path, true) {
            return Some(Ignored::No);
        }
        if scope.repo.tracks_under(&path) {
            return Some(Ignored::Mixed);
        }
        let place = self.place(&here.node, bytes);
        let nested = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
            && place.join(".git").symlink_metadata().is_ok();
        if nested {
            return Some(Ignored::Small);
        }
        if places::is_bulky(bytes) {
            return None;
        }
        let (mut entries, mut size) = (0, 0);
        is_small(&place, &mut entries, &mut size).then_some(Ignored::Small)
    }
}

/// Returns true while a directory stays below the limits for ignored directories that are held.
fn is_small(dir: &std::path::Path, entries: &mut usize, size: &mut u64) -> bool {
    let Ok(list) = std::fs::read_dir(dir) else {
        // What cannot be listed is small enough to be tried, and then reported.
        return true;
    };
    for entry in list.flatten() {
        *entries += 1;
        if *entries > places::SMALL_ENTRIES {
            return false;
        }
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => {
                if !is_small(&entry.path(), entries, size) {
                    return false;
                }
            }
            Ok(meta) => *size += meta.len(),
            Err(_) => {}
        }
        if *size > places::SMALL_BYTES {
            return false;
        }
    }
    true
}

fn unreadable(worker: &mut Worker<'_>, here: &Here, name: &[u8]) -> Entry {
    worker
        .not_held
        .push((here.node.side, here.path(name), Why::Unreadable));
    Entry::New(not_held(name, Why::Unreadable, Stamp::default()))
}

fn not_held(name: &[u8], why: Why, stamp: Stamp) -> Seen {
    Seen {
        name: name.into(),
        kind: Kind::NotHeld(why),
        flags: RACY,
        stamp,
        id: ContentId::default(),
        block: None,
    }
}

/// The git directory behind a `.git` directory or file.
fn resolve(dot_git: PathBuf) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let bytes = files::read(&dot_git).ok()?;
    let target = bytes.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(dot_git.parent()?.join(target.to_path_lossy_exact()))
}

trait ExactPath {
    fn to_path_lossy_exact(&self) -> &std::path::Path;
}

impl ExactPath for [u8] {
    fn to_path_lossy_exact(&self) -> &std::path::Path {
        use std::os::unix::ffi::OsStrExt as _;
        std::path::Path::new(std::ffi::OsStr::from_bytes(self))
    }
}
