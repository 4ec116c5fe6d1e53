//! Confines a process tree by the kernel: what it may write, and whom it may signal.
//!
//! Landlock says where writing is allowed at all. It cannot except a path
//! inside a writable tree, so the guard's own places inside the workspace
//! (hooks, git's configuration, agents' settings) are made read-only by mounts
//! in a mount namespace of the tree's own, which Landlock then keeps the tree
//! from changing. Where no namespace can be made, they are not protected by
//! the kernel, and that is said.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use landlock::{
    ABI, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, RestrictionStatus, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// What a tree is confined to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Trees in which it may write.
    pub writable: Vec<PathBuf>,
    /// Single files and devices that it may write.
    pub files: Vec<PathBuf>,
    /// Directories inside writable trees that may not be moved away.
    pub pinned: Vec<PathBuf>,
    /// Files and trees inside writable trees that it may not write.
    pub read_only: Vec<PathBuf>,
}

/// Settings of agents and editors that could disarm the guard or run code, relative to the workspace.
const SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".github/hooks",
    ".github/copilot",
    ".opencode/plugins",
    ".opencode/plugin",
    ".ccg",
    "opencode.json",
    "ai/contracts",
];

/// Files below a git directory that decide what runs.
const IN_GIT: &[&str] = &[
    "config",
    "config.worktree",
    "hooks",
    "info",
    "worktrees",
    "modules",
];

/// Works out the confinement for a workspace.
#[must_use]
pub fn plan(env: &Env, workspace: &Workspace, also_writable: &[PathBuf]) -> Confinement {
    let mut plan = Confinement {
        writable: vec![workspace.root.clone()],
        ..Confinement::default()
    };
    plan.writable.extend(also_writable.iter().cloned());
    for dir in [
        Some("/tmp".into()),
        Some("/var/tmp".into()),
        Some("/dev/shm".into()),
        env.var("TMPDIR").map(PathBuf::from),
    ]
    .into_iter()
    .flatten()
    {
        let dir: PathBuf = dir;
        if dir.is_dir() && !plan.writable.contains(&dir) {
            plan.writable.push(dir);
        }
    }
    for device in [
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
        "/dev/random",
        "/dev/urandom",
    ] {
        plan.files.push(PathBuf::from(device));
    }
    let git_dirs = [&workspace.git_dir, &workspace.common_dir];
    for git_dir in git_dirs.into_iter().flatten() {
        if !git_dir.starts_with(&workspace.root) {
            plan.writable.push(git_dir.clone());
        }
        if plan.pinned.contains(git_dir) {
            continue;
        }
        plan.pinned.push(git_dir.clone());
        for name in IN_GIT {
            let path = git_dir.join(name);
            if path.symlink_metadata().is_ok()
                && !(*name == "info" || *name == "worktrees" || *name == "modules")
            {
                plan.read_only.push(path);
            }
        }
    }
    let dot_git = workspace.root.join(".git");
    if dot_git.is_file() {
        plan.read_only.push(dot_git);
    }
    for name in SETTINGS {
        let path = workspace.root.join(name);
        let Ok(meta) = path.symlink_metadata() else {
            continue;
        };
        if meta.is_symlink() {
            continue;
        }
        if let Some(parent) = path.parent().filter(|parent| *parent != workspace.root)
            && !plan.pinned.iter().any(|pinned| pinned == parent)
        {
            plan.pinned.push(parent.to_path_buf());
        }
        plan.read_only.push(path);
    }
    // What would be writable only because it lies in a temporary directory.
    for own in [env.state_home(), env.config_home()].into_iter().flatten() {
        let exposed = plan.writable.iter().any(|dir| own.starts_with(dir));
        if exposed && own.is_dir() {
            plan.read_only.push(own);
        }
    }
    plan
}

/// What the kernel here can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Means {
    /// Landlock is there.
    pub landlock: bool,
    /// A mount namespace can be made.
    pub namespaces: bool,
}

/// Finds out what the kernel here can do, without changing this process.
#[must_use]
pub fn means() -> Means {
    Means {
        landlock: Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))
            .and_then(landlock::Ruleset::create)
            .is_ok(),
        namespaces: rustix::process::geteuid().is_root()
            || (fs::metadata("/proc/self/ns/user").is_ok()
                && fs::read_to_string("/proc/sys/user/max_user_namespaces")
                    .is_ok_and(|most| most.trim() != "0")
                && fs::read_to_string("/proc/sys/kernel/unprivileged_userns_clone")
                    .map_or(true, |on| on.trim() != "0")
                && fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
                    .map_or(true, |on| on.trim() == "0")),
    }
}

impl Means {
    /// What will not be protected, for the person to know; `None` when all will.
    ///
    /// # Errors
    /// When the kernel cannot confine anything.
    pub fn shortfall(self) -> Result<Option<&'static str>> {
        if !self.landlock {
            return Err(Error::new(
                ErrorKind::Config,
                "this kernel has no Landlock, so --sandbox cannot confine the run",
            )
            .hint("run without --sandbox: what changes in the workspace is judged all the same")
            .hint("or boot with landlock in the lsm= list (Linux 5.13 or later)"));
        }
        Ok((!self.namespaces).then_some(
            "no mount namespace can be made here: .git/hooks, .git/config and agents' settings in the workspace are not protected by the kernel, only judged at the end",
        ))
    }
}

/// Confines this process and all it will start. It cannot be undone.
///
/// # Errors
/// When the kernel refuses; the caller then starts nothing.
pub fn enter(confinement: &Confinement, notes: &[&Path]) -> Result<()> {
    if means().namespaces {
        make_read_only(confinement)?;
    }
    restrict(confinement, notes)
}

fn make_read_only(confinement: &Confinement) -> Result<()> {
    let doing = || "cannot make a mount namespace".to_owned();
    let uid = rustix::process::geteuid();
    let gid = rustix::process::getegid();
    if uid.is_root() {
        unshare(UnshareFlags::NEWNS).doing(ErrorKind::Guarded, doing)?;
    } else {
        unshare(UnshareFlags::NEWNS | UnshareFlags::NEWUSER).doing(ErrorKind::Guarded, doing)?;
        let (uid, gid) = (uid.as_raw(), gid.as_raw());
        fs::write("/proc/self/setgroups", "deny").doing(ErrorKind::Guarded, doing)?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))
            .doing(ErrorKind::Guarded, doing)?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
            .doing(ErrorKind::Guarded, doing)?;
    }
    rustix::mount::mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )
    .doing(ErrorKind::Guarded, doing)?;
    // Renaming a mount point is refused, so that a directory cannot be moved
    // away with its protected files and a new one put in its place.
    for dir in &confinement.pinned {
        rustix::mount::mount_bind_recursive(dir, dir).doing(ErrorKind::Guarded, || {
            format!("cannot pin {}", dir.display())
        })?;
    }
    for path in &confinement.read_only {
        let doing = || format!("cannot make {} read-only", path.display());
        rustix::mount::mount_bind_recursive(path, path).doing(ErrorKind::Guarded, doing)?;
        rustix::mount::mount_remount(
            path,
            MountFlags::BIND | MountFlags::RDONLY | kept(path),
            c"",
        )
        .doing(ErrorKind::Guarded, doing)?;
    }
    Ok(())
}

/// Flags that an unprivileged remount has to repeat.
fn kept(path: &Path) -> MountFlags {
    use rustix::fs::StatVfsMountFlags as Had;
    let Ok(had) = rustix::fs::statvfs(path) else {
        return MountFlags::empty();
    };
    let mut flags = MountFlags::empty();
    for (was, flag) in [
        (Had::NOSUID, MountFlags::NOSUID),
        (Had::NODEV, MountFlags::NODEV),
        (Had::NOEXEC, MountFlags::NOEXEC),
        (Had::NOATIME, MountFlags::NOATIME),
        (Had::NODIRATIME, MountFlags::NODIRATIME),
        (Had::RELATIME, MountFlags::RELATIME),
    ] {
        if had.f_flag.contains(was) {
            flags |= flag;
        }
    }
    flags
}

#[expect(
    deprecated,
    reason = "the newer name is unsafe because of shared descriptor tables, which are not unshared here"
)]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

fn restrict(confinement: &Confinement, notes: &[&Path]) -> Result<()> {
    let doing = || "cannot confine the run with Landlock".to_owned();
    // Everything that changes a file or a directory; reading and running stay free.
    let writing = AccessFs::from_write(ABI::V5) & !AccessFs::IoctlDev;
    let on_file = AccessFs::WriteFile | AccessFs::Truncate;
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)
        .doing(ErrorKind::Guarded, doing)?
        .scope(Scope::Signal)
        .doing(ErrorKind::Guarded, doing)?
        .create()
        .doing(ErrorKind::Guarded, doing)?;
    for dir in &confinement.writable {
        ruleset = ruleset
            .add_rule(PathBeneath::new(
                PathFd::new(dir).doing(ErrorKind::Guarded, doing)?,
                writing,
            ))
            .doing(ErrorKind::Guarded, doing)?;
    }
    let files = confinement
        .files
        .iter()
        .map(PathBuf::as_path)
        .chain(notes.iter().copied());
    for file in files {
        // A device that is not there needs no rule.
        let Ok(fd) = PathFd::new(file) else { continue };
        let access = if file.is_dir() { writing } else { on_file };
        ruleset = ruleset
            .add_rule(PathBeneath::new(fd, access))
            .doing(ErrorKind::Guarded, doing)?;
    }
    let RestrictionStatus { ruleset, .. } =
        ruleset.restrict_self().doing(ErrorKind::Guarded, doing)?;
    if ruleset == RulesetStatus::NotEnforced {
        return Err(Error::new(
            ErrorKind::Guarded,
            "the kernel did not confine the run: Landlock is not enforced",
        ));
    }
    Ok(())
}
