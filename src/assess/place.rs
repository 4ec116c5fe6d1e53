//! Where a path lies: workspace, git directory, the guard's own files, temporary, outside.

use crate::judge::Place;
use crate::repo::Workspace;
use crate::sys::env::Env;
use crate::sys::paths::plain;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Agents' hook configuration, relative to a project or to the home directory.
const AGENT_HOOKS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".codex/hooks",
    ".gemini/settings.json",
    ".gemini/hooks",
    ".cursor/hooks.json",
    ".cursor/hooks",
    ".github/hooks",
    ".github/copilot",
    ".copilot/config.json",
    ".copilot/hooks",
    ".opencode/plugin",
    ".opencode/plugins",
    ".opencode/opencode.json",
    "opencode.json",
    "opencode.jsonc",
    ".config/opencode/plugin",
    ".config/opencode/plugins",
    ".config/opencode/opencode.json",
    ".claude.json",
];

/// Directories of which the removal takes the hook configuration along.
const AGENT_DIRS: &[&str] = &[
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".opencode",
    ".copilot",
];

/// Directories that belong to the machine.
const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/boot",
    "/sys",
    "/proc",
    "/dev",
    "/var",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var",
    "/snap",
    "/nix",
];

/// A path with its place.
#[derive(Clone, Debug)]
pub(super) struct Located {
    /// The path with links resolved as far as it exists, the last component excepted.
    pub(super) path: PathBuf,
    /// Where it lies.
    pub(super) place: Place,
    /// The path relative to the top of the worktree, where it is inside.
    pub(super) relative: Option<PathBuf>,
    /// A directory above the workspace, or the workspace itself.
    pub(super) above: bool,
    /// A device, `/proc` or the like.
    pub(super) device: bool,
    /// The machine's own.
    pub(super) system: bool,
}

/// The directories that place paths.
#[derive(Clone, Debug)]
pub(super) struct Places {
    root: PathBuf,
    git_dirs: Vec<PathBuf>,
    guard: Vec<PathBuf>,
    temporary: Vec<PathBuf>,
    home: Option<PathBuf>,
    aliases: Vec<(PathBuf, PathBuf)>,
}

impl Places {
    pub(super) fn new(env: &Env, workspace: &Workspace, cwd: &Path) -> Self {
        let resolved = |path: PathBuf| fs::canonicalize(&path).unwrap_or(path);
        let mut temporary: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"]
            .iter()
            .map(PathBuf::from)
            .collect();
        if let Some(dir) = env.var("TMPDIR").map(PathBuf::from)
            && dir.is_absolute()
            && dir.components().count() > 1
        {
            temporary.push(resolved(dir.clone()));
            temporary.push(dir);
        }
        let mut guard = Vec::new();
        guard.extend(env.state_home().ok().map(resolved));
        guard.extend(env.config_home().ok().map(resolved));
        guard.push(resolved(workspace.state.clone()));
        let mut aliases = Vec::new();
        // The text of the directory may go through links where the workspace's does not.
        let real = resolved(cwd.to_path_buf());
        if real != cwd {
            aliases.push((cwd.to_path_buf(), real));
        }
        Self {
            root: workspace.root.clone(),
            git_dirs: workspace
                .git_dir
                .iter()
                .chain(&workspace.common_dir)
                .cloned()
                .collect(),
            guard,
            temporary,
            home: env.home().map(resolved),
            aliases,
        }
    }

    /// The home directory.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(super) fn locate(&self, path: &Path) -> Located {
        let path = self.resolve(path);
        let relative = path.strip_prefix(&self.root).ok().map(Path::to_path_buf);
        let above = self.root.starts_with(&path);
        let device = is_device(&path);
        // Where root works, its home is no more the system's than anybody's.
        let system = path == Path::new("/")
            || SYSTEM.iter().any(|dir| path.starts_with(dir)) && !self.is_in_home(&path);
        let mut located = Located {
            place: Place::Outside,
            relative,
            above,
            device,
            system,
            path,
        };
        located.place = self.place_of(&located);
        if located.place == Place::Temporary {
            located.system = false;
        }
        located
    }

    fn place_of(&self, located: &Located) -> Place {
        let path = &located.path;
        if self.guard.iter().any(|dir| path.starts_with(dir)) {
            return Place::Guard;
        }
        if self.is_guard_file(located) {
            return Place::Guard;
        }
        if self
            .git_dirs
            .iter()
            .any(|dir| path.starts_with(dir) && *dir != self.root)
        {
            return Place::GitDir;
        }
        if let Some(relative) = &located.relative {
            let inner = relative
                .components()
                .any(|part| part == Component::Normal(OsStr::new(".git")));
            return if inner {
                Place::GitDir
            } else {
                Place::Workspace
            };
        }
        if located.above {
            return Place::Outside;
        }
        if self.is_below_temporary(path) && !self.is_in_home(path) {
            return Place::Temporary;
        }
        Place::Outside
    }

    /// A home directory stays one wherever it lies.
    fn is_in_home(&self, path: &Path) -> bool {
        self.home.as_deref().is_some_and(|home| {
            path.starts_with(home)
                && !self
                    .temporary
                    .iter()
                    .any(|dir| dir.starts_with(home) && path.starts_with(dir))
        })
    }

    fn is_below_temporary(&self, path: &Path) -> bool {
        self.temporary
            .iter()
            .any(|dir| path.starts_with(dir) && path != dir)
    }

    /// Whether this is a temporary directory itself, not one below.
    pub(super) fn is_temporary_root(&self, path: &Path) -> bool {
        self.temporary.iter().any(|dir| dir == path)
    }

    /// Whether a pattern in this directory stays within a temporary one.
    pub(super) fn is_temporary_dir(&self, path: &Path) -> bool {
        let path = self.resolve(path);
        self.temporary.iter().any(|dir| path.starts_with(dir))
            && !self.root.starts_with(&path)
            && !path.starts_with(&self.root)
            && !self.is_in_home(&path)
    }

    fn is_guard_file(&self, located: &Located) -> bool {
        let relative = located.relative.as_deref().or_else(|| {
            self.home
                .as_deref()
                .and_then(|home| located.path.strip_prefix(home).ok())
        });
        let Some(relative) = relative else {
            return false;
        };
        if relative.starts_with(".ccg") {
            let name = relative
                .file_name()
                .map(OsStrExt::as_bytes)
                .unwrap_or_default();
            return relative.components().count() == 1 || name.ends_with(b".jsonl");
        }
        AGENT_HOOKS.iter().any(|file| relative.starts_with(file))
            || AGENT_DIRS.iter().any(|dir| relative == Path::new(dir))
    }

    /// Resolves links as far as the path exists, but not the last component's own.
    fn resolve(&self, path: &Path) -> PathBuf {
        let mut path = plain(path);
        for (from, to) in &self.aliases {
            if let Ok(rest) = path.strip_prefix(from) {
                path = if rest.as_os_str().is_empty() {
                    to.clone()
                } else {
                    to.join(rest)
                };
                break;
            }
        }
        if path.starts_with(&self.root) || self.root.starts_with(&path) {
            // A path without links below the top needs no asking, and is the common case.
            let Ok(rest) = path.strip_prefix(&self.root) else {
                return path;
            };
            let mut at = self.root.clone();
            let mut parts = rest.components().peekable();
            let mut linked = false;
            while let Some(part) = parts.next() {
                at.push(part);
                if parts.peek().is_some()
                    && fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_symlink())
                {
                    linked = true;
                    break;
                }
            }
            if !linked {
                return path;
            }
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return path;
        };
        for above in parent.ancestors() {
            if let Ok(real) = fs::canonicalize(above) {
                let rest = parent.strip_prefix(above).unwrap_or(Path::new(""));
                let mut whole = real;
                if !rest.as_os_str().is_empty() {
                    whole.push(rest);
                }
                whole.push(name);
                return plain(&whole);
            }
        }
        path
    }
}

fn is_device(path: &Path) -> bool {
    (path.starts_with("/dev") && !path.starts_with("/dev/shm"))
        || path.starts_with("/proc")
        || path.starts_with("/sys")
}
