//! Does the steps of a plan: each path by a temporary file and a rename, below
//! directories that are opened without following links.

use super::place::{exchange, missing_is_fine, own, set_mode, split, swap};
use super::plan::{Deed, Left, Plan, Step, is_index};
use super::staging::Staging;
use super::stash;
use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::{Git, Workspace};
use crate::sys::failpoint;
use crate::vault::ContentId;
use crate::vault::capture::capture;
use crate::vault::layout::Vault;
use crate::vault::places::STAGING;
use crate::vault::point::SafetyPoint;
use crate::vault::progress;
use crate::vault::stamp::Stamp;
use crate::vault::store::Packer;
use crate::vault::tree::{Kind, Row};
use crate::vault::walk::Side;
use crate::vault::walk::listing::{open_below, open_root};
use bstr::{BString, ByteSlice as _};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

/// What a restore needs to know.
pub(super) struct Restore<'a> {
    pub(super) vault: &'a Vault,
    pub(super) workspace: &'a Workspace,
    /// The git directory, which may have to be made.
    pub(super) git_dir: Option<PathBuf>,
    /// The point that is put back.
    pub(super) target: &'a SafetyPoint,
    /// The id of the rollback; it is part of every temporary name.
    pub(super) id: String,
    /// When the picture was taken that the plan rests on.
    pub(super) seen_at: (i64, u32),
    /// The time of the index's last write, by which git tells racy entries.
    pub(super) index_mtime: (i64, u32),
}

/// A restore under way.
struct Run<'a> {
    restore: &'a Restore<'a>,
    work: OwnedFd,
    git: Option<OwnedFd>,
    staging: &'a mut Staging,
    serial: u64,
    /// Directories that were made writable for the while, with the mode they get back.
    loosened: BTreeMap<(Side, BString), u32>,
    left: Vec<Left>,
}

/// Does all steps; what could not be done is returned.
pub(super) fn apply(
    restore: &Restore<'_>,
    plan: &Plan,
    staging: &mut Staging,
) -> Result<Vec<Left>> {
    staging.while_letting_go(|staging, replaced| steps(restore, plan, staging, replaced))
}

fn steps(
    restore: &Restore<'_>,
    plan: &Plan,
    staging: &mut Staging,
    replaced: &Sender<PathBuf>,
) -> Result<Vec<Left>> {
    let mut run = Run {
        work: open_root(&restore.workspace.root)?,
        git: restore
            .git_dir
            .as_deref()
            .filter(|dir| fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()))
            .map(open_root)
            .transpose()?,
        staging,
        serial: 0,
        loosened: BTreeMap::new(),
        left: Vec::new(),
        restore,
    };
    for (at, step) in plan.steps.iter().enumerate() {
        if run.staging.is_lost(step) {
            if !matches!(step.action, Deed::Remove | Deed::RemoveDir) {
                run.fail(
                    step,
                    "the vault's copy is missing or damaged: holdpoint points verify",
                );
            }
            continue;
        }
        let staged = run.staging.of(at);
        run.step(step, staged.as_deref())?;
        if let Some(staged) = staged {
            // Nobody listens where there are few; the staging's directory goes at the end.
            let _ = replaced.send(staged);
        }
        progress::add(1);
    }
    run.tighten(plan);
    Ok(run.left)
}

impl Run<'_> {
    /// Opens the git directory when its first step comes; until then something else may be in its place.
    fn open_git(&mut self) -> Result<()> {
        if self.git.is_none()
            && let Some(dir) = &self.restore.git_dir
        {
            fs::create_dir_all(dir)
                .doing(ErrorKind::Io, || format!("cannot make {}", dir.display()))?;
            self.git = Some(open_root(dir)?);
        }
        Ok(())
    }

    fn root(&self, side: Side) -> Result<BorrowedFd<'_>> {
        match side {
            Side::Work => Ok(self.work.as_fd()),
            Side::Git => self.git.as_ref().map(|fd| fd.as_fd()).ok_or_else(|| {
                Error::new(
                    ErrorKind::Repository,
                    "there is no git directory to restore",
                )
            }),
        }
    }

    fn fail(&mut self, step: &Step, why: impl Into<String>) {
        self.left.push(Left::failed(step.place(), why));
    }

    /// A step that git did or refused to do: what it refuses today it would refuse for ever.
    fn ask(&mut self, step: &Step, asked: Result<()>) -> Result<()> {
        match asked {
            Err(error) if error.kind() == ErrorKind::Repository => {
                self.fail(step, error.to_string());
                Ok(())
            }
            asked => asked,
        }
    }

    fn step(&mut self, step: &Step, staged: Option<&Path>) -> Result<()> {
        if step.action == Deed::GitStash {
            let Restore {
                vault,
                workspace,
                target,
                ..
            } = self.restore;
            return self.ask(step, stash::put_back(vault, workspace, target));
        }
        if let Deed::GitHead(words) = &step.action {
            let words = words.iter().map(String::as_str);
            let asked = Git::at(self.restore.workspace).args(words).read();
            return self.ask(step, asked.map(|_| ()));
        }
        if step.side == Side::Git {
            self.open_git()?;
        }
        let (dir_path, name) = split(&step.path);
        let makes = !matches!(step.action, Deed::Remove | Deed::RemoveDir | Deed::Mode(_));
        let dir = match self.open_dir(step.side, dir_path, makes) {
            Ok(dir) => dir,
            Err(Errno::NOENT) if !makes => return Ok(()),
            Err(errno) => {
                self.fail(step, format!("its directory cannot be opened: {errno}"));
                return Ok(());
            }
        };
        if !self.is_as_seen(&dir, name, step)? {
            if !self.is_as_wanted(&dir, name, step)? {
                let left = Left::kept(step.place(), "it changed after the preview");
                self.left.push(left);
            }
            return Ok(());
        }
        if is_index(&step.path)
            && step.side == Side::Git
            && rustix::fs::statat(&dir, "index.lock", AtFlags::SYMLINK_NOFOLLOW).is_ok()
        {
            // A git that started after the check has it.
            return Err(locked(self.restore.git_dir.as_deref()));
        }
        let mut done = self.deed(step, &dir, name, staged);
        if matches!(done, Err(Errno::ACCESS | Errno::PERM))
            && self.loosen(step.side, dir_path, &dir)
        {
            done = self.deed(step, &dir, name, staged);
        }
        match done {
            Ok(()) => Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) if step.action == Deed::RemoveDir => Ok(()),
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::ROFS | Errno::IO)) => {
                Err(std::io::Error::from(errno))
                    .doing(ErrorKind::Io, || format!("cannot restore {}", step.place()))
            }
            Err(Errno::ISDIR | Errno::NOTEMPTY | Errno::EXIST) => {
                self.fail(step, "a directory that no point holds whole is in the way");
                Ok(())
            }
            Err(errno) => {
                self.fail(step, why(errno));
                Ok(())
            }
        }
    }

    fn deed(
        &mut self,
        step: &Step,
        dir: &OwnedFd,
        name: &[u8],
        staged: Option<&Path>,
    ) -> Result<(), Errno> {
        failpoint::reach();
        match &step.action {
            Deed::Remove => missing_is_fine(rustix::fs::unlinkat(dir, name, AtFlags::empty())),
            Deed::RemoveDir => missing_is_fine(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)),
            Deed::MakeDir(mode) => {
                match rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700)) {
                    Ok(()) => own(dir, name)?,
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                // Its final mode comes last: until then files are put into it.
                self.loosened.insert((step.side, step.path.clone()), *mode);
                Ok(())
            }
            Deed::Mode(mode) => {
                let key = (step.side, top(&step.path).into());
                if let Some(later) = self.loosened.get_mut(&key) {
                    *later = *mode;
                    return Ok(());
                }
                set_mode(dir, name, *mode)
            }
            Deed::Link(id) => {
                let target = self.restore.vault.store.read(id).map_err(|_| Errno::IO)?;
                let temporary = self.temporary();
                rustix::fs::symlinkat(target.as_slice(), dir, &*temporary)?;
                own(dir, temporary.as_bytes())?;
                swap(dir, temporary.as_bytes(), name)
            }
            Deed::Fifo(mode) => {
                let temporary = self.temporary();
                rustix::fs::mknodat(
                    dir,
                    &*temporary,
                    rustix::fs::FileType::Fifo,
                    Mode::from_raw_mode(*mode),
                    0,
                )?;
                own(dir, temporary.as_bytes())?;
                // After the owner: a change of it drops the set-user-id bits.
                set_mode(dir, temporary.as_bytes(), *mode)?;
                swap(dir, temporary.as_bytes(), name)
            }
            Deed::File { mode, .. } | Deed::Merged { mode, .. } => {
                let staged = staged.ok_or(Errno::INVAL)?;
                self.finish_staged(step, staged, dir, name)?;
                self.move_in(staged, dir, name, Some(*mode))
            }
            Deed::Bytes(_) => {
                let staged = staged.ok_or(Errno::INVAL)?;
                self.move_in(staged, dir, name, Some(0o644))
            }
            Deed::Object(id) => self.put_object(id, dir, name),
            Deed::GitHead(_) | Deed::GitStash => Ok(()),
        }
    }

    /// Gives a staged file its owner, and an index the time by which git tells racy entries.
    fn finish_staged(
        &self,
        step: &Step,
        staged: &Path,
        dir: &OwnedFd,
        name: &[u8],
    ) -> Result<(), Errno> {
        let above = rustix::fs::fstat(dir)?;
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let give = |user, group| {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::chownat(rustix::fs::CWD, staged, user, Some(group), flags)
        };
        if rustix::process::geteuid().is_root() {
            let stat = stat.unwrap_or(above);
            let user = Some(Uid::from_raw(stat.st_uid));
            give(user, Gid::from_raw(stat.st_gid))?;
        } else if let Some(group) = stat
            .map(|stat| stat.st_gid)
            .or_else(|| (above.st_mode & 0o2000 != 0).then_some(above.st_gid))
        {
            // A group that the user is not in cannot be given.
            let _ = give(None, Gid::from_raw(group));
        }
        if let Deed::File { mode, .. } | Deed::Merged { mode, .. } = step.action {
            // Last of all: a change of owner drops the set-user-id bits.
            rustix::fs::chmod(staged, Mode::from_raw_mode(mode))?;
        }
        if !is_index(&step.path) || (step.side == Side::Work && !step.path.contains_str(".git/")) {
            return Ok(());
        }
        let (seconds, nanos) = if step.side == Side::Git && !step.path.contains_str("modules/") {
            self.restore.index_mtime
        } else {
            // Older than every file: git then compares contents once instead of
            // trusting stamps that it would not have trusted before.
            (1, 0)
        };
        let time = Timespec {
            tv_sec: seconds,
            tv_nsec: i64::from(nanos),
        };
        rustix::fs::utimensat(
            rustix::fs::CWD,
            staged,
            &Timestamps {
                last_access: time,
                last_modification: time,
            },
            AtFlags::SYMLINK_NOFOLLOW,
        )
    }

    fn temporary(&mut self) -> String {
        self.serial += 1;
        format!("{STAGING}{}.{}", self.restore.id, self.serial)
    }

    /// Moves a staged file to its place; across file systems it is copied beside its place first.
    fn move_in(
        &mut self,
        staged: &Path,
        dir: &OwnedFd,
        name: &[u8],
        mode: Option<u32>,
    ) -> Result<(), Errno> {
        match exchange(staged, dir, name) {
            Err(Errno::XDEV) => {}
            other => return other,
        }
        let temporary = self.temporary();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let target = rustix::fs::openat(dir, &*temporary, flags, Mode::from_raw_mode(0o600))?;
        let copied = (|| {
            let mut target = File::from(target);
            let mut source = File::open(staged)?;
            std::io::copy(&mut source, &mut target)?;
            let stat = rustix::fs::fstat(&source)?;
            if rustix::process::geteuid().is_root() {
                rustix::fs::fchown(
                    &target,
                    Some(Uid::from_raw(stat.st_uid)),
                    Some(Gid::from_raw(stat.st_gid)),
                )?;
            }
            let mode = mode.unwrap_or(stat.st_mode & 0o7777);
            rustix::fs::fchmod(&target, Mode::from_raw_mode(mode))?;
            let modified = source.metadata()?.modified()?;
            target.set_modified(modified)
        })();
        if let Err(error) = copied {
            // The copy's own error is the one to report.
            let _ = rustix::fs::unlinkat(dir, &*temporary, AtFlags::empty());
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        }
        swap(dir, temporary.as_bytes(), name)
    }

    fn put_object(&mut self, id: &ContentId, dir: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
        let source = self.restore.vault.links.path(id);
        let temporary = self.temporary();
        match rustix::fs::linkat(rustix::fs::CWD, &source, dir, &*temporary, AtFlags::empty()) {
            Ok(()) => {
                let swapped = swap(dir, temporary.as_bytes(), name);
                // Renaming one link of a file over another does nothing and leaves both.
                let _ = rustix::fs::unlinkat(dir, &*temporary, AtFlags::empty());
                swapped
            }
            Err(Errno::NOENT) => Err(Errno::NOENT),
            Err(_) => {
                let copy = self.staging.next();
                fs::copy(&source, &copy)
                    .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
                self.move_in(&copy, dir, name, Some(0o444))
            }
        }
    }

    /// Opens a directory; with `make`, makes it where it is missing.
    fn open_dir(&mut self, side: Side, path: &[u8], make: bool) -> Result<OwnedFd, Errno> {
        let root = self.root(side).map_err(|_| Errno::NOENT)?;
        match open_below(root, path) {
            Err(Errno::NOENT) if make => {}
            other => return other,
        }
        let (parent, name) = split(path);
        let above = self.open_dir(side, parent, true)?;
        failpoint::reach();
        match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => own(&above, name)?,
            Err(Errno::EXIST) => {}
            Err(Errno::ACCESS) if self.loosen(side, parent, &above) => {
                rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o755))?;
            }
            Err(errno) => return Err(errno),
        }
        open_below(self.root(side).map_err(|_| Errno::NOENT)?, path)
    }

    /// Makes a directory writable for the while; false where that is not the trouble or not possible.
    fn loosen(&mut self, side: Side, path: &[u8], dir: &OwnedFd) -> bool {
        let Ok(stat) = rustix::fs::fstat(dir) else {
            return false;
        };
        let mode = stat.st_mode & 0o7777;
        if mode & 0o700 == 0o700
            || rustix::fs::fchmod(dir, Mode::from_raw_mode(mode | 0o700)).is_err()
        {
            return false;
        }
        self.loosened
            .entry((side, BString::from(path)))
            .or_insert(mode);
        true
    }

    /// Gives directories their final modes, the deepest first.
    fn tighten(&mut self, plan: &Plan) {
        let mut final_modes: BTreeMap<(Side, &[u8]), u32> = BTreeMap::new();
        for step in &plan.steps {
            if let Deed::Mode(mode) | Deed::MakeDir(mode) = step.action {
                final_modes.insert((step.side, top(&step.path)), mode);
            }
        }
        for ((side, path), mode) in std::mem::take(&mut self.loosened).into_iter().rev() {
            let mode = final_modes
                .get(&(side, path.as_slice()))
                .copied()
                .unwrap_or(mode);
            let set = self
                .root(side)
                .map_err(|_| Errno::NOENT)
                .and_then(|root| open_below(root, &path))
                .and_then(|dir| rustix::fs::fchmod(&dir, Mode::from_raw_mode(mode)));
            // It was taken away since, or something else was put in its place.
            if let Err(errno) = set
                && !matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
            {
                let why = format!("its mode cannot be set: {errno}");
                self.left.push(Left::failed(path, why));
            }
        }
    }

    /// Returns true when a path is still what the plan rests on.
    fn is_as_seen(&self, dir: &OwnedFd, name: &[u8], step: &Step) -> Result<bool> {
        if !matches!(
            step.action,
            Deed::Remove | Deed::File { .. } | Deed::Merged { .. } | Deed::Link(_) | Deed::Fifo(_)
        ) {
            return Ok(true);
        }
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        match (&step.now, stat) {
            (_, Err(_)) => Ok(true),
            (None, Ok(_)) => Ok(false),
            (Some(row), Ok(stat)) => {
                let stamp = Stamp::of(&stat);
                let kind = if row.kind.is_object() {
                    Kind::File
                } else {
                    row.kind
                };
                if stamp.kind() != kind {
                    return Ok(false);
                }
                if stamp.ctime < self.restore.seen_at {
                    return Ok(true);
                }
                self.holds_same(dir, name, stamp, row)
            }
        }
    }

    /// Returns true when a path is already what the step would make it.
    fn is_as_wanted(&self, dir: &OwnedFd, name: &[u8], step: &Step) -> Result<bool> {
        let (kind, id, mode) = match step.action {
            Deed::File { id, mode } => (Kind::File, id, mode),
            Deed::Link(id) => (Kind::Link, id, 0o777),
            _ => return Ok(false),
        };
        let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return Ok(false);
        };
        let stamp = Stamp::of(&stat);
        let wanted = Row {
            name: name.into(),
            kind,
            mode,
            size: stamp.size,
            id,
        };
        Ok(stamp.kind() == kind
            && stamp.permissions() == mode
            && self.holds_same(dir, name, stamp, &wanted)?)
    }

    fn holds_same(&self, dir: &OwnedFd, name: &[u8], stamp: Stamp, row: &Row) -> Result<bool> {
        if !matches!(row.kind, Kind::File | Kind::Link) {
            return Ok(true);
        }
        let Ok(name) = std::ffi::CString::new(name) else {
            return Ok(false);
        };
        let mut packer = Packer::new(&self.restore.vault.store, None)?;
        let found = capture(dir.as_fd(), &name, stamp, &mut packer, u64::MAX)?;
        Ok(found.is_some_and(|found| found.kind == row.kind && found.id == row.id))
    }
}

/// The path of a directory, where the top itself is named by a dot.
fn top(path: &[u8]) -> &[u8] {
    if path == b"." { b"" } else { path }
}

/// What a refusal of the system means to a person.
fn why(errno: Errno) -> String {
    match errno {
        Errno::PERM => "it or its directory is immutable, or somebody else's".to_owned(),
        Errno::BUSY | Errno::TXTBSY => format!("it is in use: {errno}"),
        _ => errno.to_string(),
    }
}

/// The error for an index that a git process is writing.
pub(super) fn locked(git_dir: Option<&Path>) -> Error {
    let lock = git_dir.unwrap_or(Path::new(".git")).join("index.lock");
    Error::new(
        ErrorKind::Busy,
        format!("cannot put the index back: {} is there", lock.display()),
    )
    .because("a git process is changing the index, or died while it did")
    .hint("wait until git has finished, or remove the file when no git runs, and try again")
}

/// Removes what an interrupted restore left in the workspace under the rollback's id.
pub(super) fn clear(workspace: &Workspace, plan: &Plan, id: &str) {
    let prefix = format!("{STAGING}{id}");
    let mut dirs: Vec<PathBuf> = plan
        .steps
        .iter()
        .map(|step| {
            let root = match step.side {
                Side::Work => Some(&workspace.root),
                Side::Git => workspace.common_dir.as_ref(),
            };
            let (dir, _) = split(&step.path);
            root.map_or_else(PathBuf::new, |root| root.join(OsStr::from_bytes(dir)))
        })
        .collect();
    dirs.sort();
    dirs.dedup();
    for dir in dirs {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_name().as_bytes().starts_with(prefix.as_bytes()) {
                // A leftover that cannot be removed is never part of a point either.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
