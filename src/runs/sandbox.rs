//! Confines a process tree by the kernel: what it may write, and whom it may signal.
//!
//! Landlock says where writing is allowed at all. It cannot except a path
//! inside a writable tree, so the guard's own places inside the workspace
//! (hooks, git's configuration, agents' settings) are made read-only by mounts
//! in a mount namespace of the tree's own, which Landlock then keeps the tree
//! from changing. Where no namespace can be made, they are not protected by
//! the kernel, and that is said.
//!
//! Landlock knows nothing of sockets that have a path. Those of programs that
//! would do anything for whoever asks (containers, buses, terminal
//! multiplexers) are covered in the namespace; others can still be spoken to.

use crate::error::{Context as _, Error, ErrorKind, Result};
use crate::repo::Workspace;
use crate::sys::env::Env;
use landlock::{
    ABI, AccessFs, AccessNet, CompatLevel, Compatible as _, NetPort, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::{CapabilitySet, UnshareFlags};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
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
    /// Sockets of programs that would act for it outside.
    #[serde(default)]
    pub sockets: Vec<PathBuf>,
    /// Ports to which it may connect; `None` where the network is not confined.
    #[serde(default)]
    pub ports: Option<Vec<u16>>,
}

/// What a person asks of a confinement beyond the usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'a> {
    /// Further trees in which it may write.
    pub writable: &'a [PathBuf],
    /// The only ports to which it may connect.
    pub ports: Option<&'a [u16]>,
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

/// Sockets through which other programs take orders.
const SOCKETS: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/libvirt/libvirt-sock",
];

/// The same, in a person's own runtime directory.
const OWN_SOCKETS: &[&str] = &[
    "bus",
    "systemd/private",
    "docker.sock",
    "podman/podman.sock",
];

/// The sockets that are there and have to be covered.
fn sockets(env: &Env) -> Vec<PathBuf> {
    let mut sockets: Vec<PathBuf> = SOCKETS.iter().map(PathBuf::from).collect();
    if let Some(own) = env.var("XDG_RUNTIME_DIR").map(PathBuf::from) {
        sockets.extend(OWN_SOCKETS.iter().map(|name| own.join(name)));
    }
    let host = env.text("DOCKER_HOST");
    sockets.extend(
        host.and_then(|host| host.strip_prefix("unix://"))
            .map(PathBuf::from),
    );
    // A multiplexer's server runs a command for everybody who reaches its socket.
    let uid = rustix::process::geteuid().as_raw();
    let tmux = env.var("TMUX_TMPDIR").unwrap_or("/tmp".as_ref());
    for dir in [
        Path::new(tmux).join(format!("tmux-{uid}")),
        PathBuf::from(format!(
            "/run/screen/S-{}",
            env.text("USER").unwrap_or("root")
        )),
    ] {
        if let Ok(entries) = fs::read_dir(dir) {
            sockets.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    let mut real: Vec<PathBuf> = sockets
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .filter(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.file_type().is_socket())
        })
        .collect();
    real.sort();
    real.dedup();
    real
}

/// Works out the confinement for a workspace.
#[must_use]
pub fn plan(env: &Env, workspace: &Workspace, wishes: Wishes<'_>) -> Confinement {
    let mut plan = Confinement {
        writable: vec![workspace.root.clone()],
        sockets: sockets(env),
        ports: wishes.ports.map(<[u16]>::to_vec),
        ..Confinement::default()
    };
    plan.writable.extend(wishes.writable.iter().cloned());
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
    /// Landlock knows TCP ports (Linux 6.7).
    pub network: bool,
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
        network: Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)
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
    /// When the kernel cannot confine anything, or not the network that was to be confined.
    pub fn shortfall(self, wishes: Wishes<'_>) -> Result<Option<&'static str>> {
        if !self.landlock {
            return Err(Error::new(
                ErrorKind::Config,
                "this kernel has no Landlock, so --sandbox cannot confine the run",
            )
            .hint("run without --sandbox: what changes in the workspace is judged all the same")
            .hint("or boot with landlock in the lsm= list (Linux 5.13 or later)"));
        }
        if wishes.ports.is_some() && !self.network {
            return Err(Error::new(
                ErrorKind::Config,
                "this kernel's Landlock cannot confine the network, so --sandbox-ports cannot be kept",
            )
            .hint("run without --sandbox-ports, or on Linux 6.7 or later"));
        }
        if let Some(missing) = wishes.writable.iter().find(|dir| !dir.exists()) {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("--sandbox-write: {} is not there", missing.display()),
            )
            .hint(format!("mkdir -p {}", missing.display())));
        }
        Ok((!self.namespaces).then_some(
            "no mount namespace can be made here: .git/hooks, .git/config and agents' settings in the workspace are not protected by the kernel, only judged at the end; sockets of containers and buses stay open",
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
    restrict(confinement, notes)?;
    renounce()
}

/// What the superuser could step out by, and no agent needs.
const RENOUNCED: &[CapabilitySet] = &[
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::SYS_TIME,
    CapabilitySet::SYS_TTY_CONFIG,
    CapabilitySet::MKNOD,
    CapabilitySet::MAC_ADMIN,
    CapabilitySet::MAC_OVERRIDE,
    CapabilitySet::DAC_READ_SEARCH,
    CapabilitySet::LINUX_IMMUTABLE,
    CapabilitySet::AUDIT_CONTROL,
    CapabilitySet::SYSLOG,
    CapabilitySet::PERFMON,
    CapabilitySet::BPF,
    CapabilitySet::CHECKPOINT_RESTORE,
];

/// Gives up, for this process and all it will start, what only a superuser has.
///
/// Without `SYS_ADMIN` not even root types into another terminal.
fn renounce() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let doing = || "cannot give up the superuser's powers".to_owned();
    for capability in RENOUNCED {
        // A kernel that does not know a power does not give it either.
        match rustix::thread::remove_capability_from_bounding_set(*capability) {
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            // Where root is not allowed that, it has not the power that matters.
            Err(rustix::io::Errno::PERM) => return Ok(()),
            Err(error) => return Err(error).doing(ErrorKind::Guarded, doing),
        }
    }
    Ok(())
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
    for path in &confinement.sockets {
        rustix::mount::mount_bind("/dev/null", path).doing(ErrorKind::Guarded, || {
            format!("cannot cover the socket {}", path.display())
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
    let mut handled = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing)
        .doing(ErrorKind::Guarded, doing)?
        .scope(Scope::Signal | Scope::AbstractUnixSocket)
        .doing(ErrorKind::Guarded, doing)?;
    if confinement.ports.is_some() {
        handled = handled
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessNet::ConnectTcp)
            .doing(ErrorKind::Guarded, doing)?
            .set_compatibility(CompatLevel::BestEffort);
    }
    let mut ruleset = handled.create().doing(ErrorKind::Guarded, doing)?;
    for port in confinement.ports.iter().flatten() {
        ruleset = ruleset
            .add_rule(NetPort::new(*port, AccessNet::ConnectTcp))
            .doing(ErrorKind::Guarded, doing)?;
    }
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
