//! What lies around an action: the workspace, its index, the home and temporary directories.

use super::place::{Located, Places};
use crate::judge::{FileState, PathChange};
use crate::repo::{Graph, Head, Kind, Tracked, Workspace};
use crate::shell::{self, Arg, Dir, Lookup, Scope};
use crate::sys::env::Env;
use bstr::BString;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Largest script, in bytes, that is read because a command would run it.
const LARGEST_SCRIPT: u64 = 512 * 1024;

/// Variables whose value the command would see as we do.
const KNOWN_VARIABLES: &[&str] = &[
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SHELL",
];

/// The surroundings of one or several actions in one directory; evidence is read when first asked for.
pub struct Around<'a> {
    env: &'a Env,
    workspace: &'a Workspace,
    cwd: PathBuf,
    places: OnceCell<Places>,
    tracked: OnceCell<Option<Tracked>>,
    staged: OnceCell<Option<Vec<PathChange>>>,
    graph: OnceCell<Graph<'a>>,
    declared: OnceCell<Vec<super::packages::Declared>>,
    common: OnceCell<Vec<String>>,
    made: RefCell<BTreeSet<PathBuf>>,
    switched: RefCell<Switched>,
    moved: RefCell<BTreeMap<BString, Option<String>>>,
    ignored: RefCell<BTreeMap<PathBuf, bool>>,
}

/// What the action itself has checked out so far.
#[derive(Clone, Debug, Default)]
enum Switched {
    /// Nothing.
    #[default]
    Nowhere,
    /// This.
    To(Head),
    /// Something that cannot be told.
    Somewhere,
}

impl<'a> Around<'a> {
    /// Returns true for a common tool of an ecosystem (`deps.common`).
    pub(super) fn is_common(&self, package: &str) -> bool {
        let common = self.common.get_or_init(|| {
            // Preferences that cannot be read are the gate's to report.
            crate::prefs::load(self.env, self.workspace)
                .unwrap_or_default()
                .deps
                .common
        });
        common.iter().any(|known| known == package)
    }

    /// Describes the surroundings of `cwd`.
    #[must_use]
    pub fn new(env: &'a Env, workspace: &'a Workspace, cwd: &Path) -> Self {
        let cwd = if cwd.is_absolute() {
            cwd.to_path_buf()
        } else {
            env.cwd().join(cwd)
        };
        Self {
            env,
            workspace,
            places: OnceCell::new(),
            cwd,
            tracked: OnceCell::new(),
            staged: OnceCell::new(),
            graph: OnceCell::new(),
            declared: OnceCell::new(),
            common: OnceCell::new(),
            made: RefCell::default(),
            switched: RefCell::default(),
            moved: RefCell::default(),
            ignored: RefCell::default(),
        }
    }

    /// Forgets what an earlier action made.
    pub(super) fn start(&self) {
        self.made.borrow_mut().clear();
        self.switched.replace(Switched::Nowhere);
        self.moved.borrow_mut().clear();
    }

    /// Remembers that the action itself moves a ref, or deletes it.
    pub(super) fn moves(&self, name: &BString, to: Option<String>) {
        self.moved.borrow_mut().insert(name.clone(), to);
    }

    /// The refs that the action itself has moved so far, and where they are by now.
    pub(super) fn moved(&self) -> BTreeMap<BString, Option<String>> {
        self.moved.borrow().clone()
    }

    /// Where `HEAD` is by now, after what the action itself checked out; `None` where that cannot be told.
    pub(super) fn head(&self) -> Option<Head> {
        match &*self.switched.borrow() {
            Switched::To(head) => Some(head.clone()),
            Switched::Somewhere => None,
            Switched::Nowhere => self.graph().head().ok(),
        }
    }

    /// Whether the action itself checked something out.
    pub(super) fn has_switched(&self) -> bool {
        !matches!(*self.switched.borrow(), Switched::Nowhere)
    }

    /// Remembers what the action checks out.
    pub(super) fn switch(&self, head: Option<Head>) {
        self.switched
            .replace(head.map_or(Switched::Somewhere, Switched::To));
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &'a Workspace {
        self.workspace
    }

    /// The environment.
    #[must_use]
    pub fn env(&self) -> &'a Env {
        self.env
    }

    /// The directory in which the action would happen.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Whether there is a repository.
    #[must_use]
    pub fn has_repository(&self) -> bool {
        !matches!(self.workspace.kind, Kind::Plain)
    }

    /// The shell's state at the start.
    #[must_use]
    pub fn scope(&self) -> Scope {
        let mut scope = Scope::new(self.cwd.as_os_str().as_bytes());
        scope.home = self
            .env
            .home()
            .map(|home| BString::from(home.as_os_str().as_bytes()));
        if let Some(user) = self.env.text("USER") {
            scope.user = user.into();
        }
        scope.set("TMPDIR", "/tmp");
        for name in KNOWN_VARIABLES {
            if let Some(value) = self.env.var(name) {
                scope.set(name, value.as_bytes());
            }
        }
        scope
    }

    /// The index, where it can be read.
    pub(super) fn tracked(&self) -> Option<&Tracked> {
        self.tracked
            .get_or_init(|| Tracked::read(self.workspace))
            .as_ref()
    }

    /// What the index holds against `HEAD`, where that can be told.
    pub(super) fn staged(&self) -> Option<&[PathChange]> {
        self.staged
            .get_or_init(|| {
                if let Some(tracked) = self.tracked() {
                    return tracked.staged(self.workspace).ok();
                }
                let index = self.workspace.git_dir.as_ref()?.join("index");
                crate::repo::staged(self.workspace, &index, &[]).ok()
            })
            .as_deref()
    }

    /// The commits and refs.
    pub(super) fn graph(&self) -> &Graph<'a> {
        self.graph.get_or_init(|| Graph::open(self.workspace))
    }

    /// Where a path lies.
    pub(super) fn place(&self, path: &Path) -> Located {
        self.places().locate(path)
    }

    /// The directories that place paths.
    pub(super) fn places(&self) -> &Places {
        self.places
            .get_or_init(|| Places::new(self.env, self.workspace, &self.cwd))
    }

    /// What is known of a path's present bytes.
    pub(super) fn state(&self, path: &Path) -> FileState {
        super::state::of(self, path)
    }

    /// Remembers that the action itself makes a path that is not there yet.
    pub(super) fn makes(&self, path: &Path) {
        if fs::symlink_metadata(path).is_err() {
            self.made.borrow_mut().insert(path.to_path_buf());
        }
    }

    /// Whether the action itself made a path, or a directory above it.
    pub(super) fn made(&self, path: &Path) -> bool {
        let made = self.made.borrow();
        !made.is_empty() && path.ancestors().any(|above| made.contains(above))
    }

    /// Whether git ignores a path relative to the top; an answer that cannot be had is "no".
    pub(super) fn is_ignored(&self, relative: &Path, directory: bool) -> bool {
        if !self.has_repository() {
            return false;
        }
        if let Some(known) = self.ignored.borrow().get(relative) {
            return *known;
        }
        let answer = crate::repo::is_ignored(self.workspace, super::bytes(relative), directory)
            .unwrap_or(false);
        self.ignored
            .borrow_mut()
            .insert(relative.to_path_buf(), answer);
        answer
    }

    /// Whether a directory of the shell is in the workspace, or holds it.
    pub(super) fn is_inside(&self, dir: &Dir) -> bool {
        Self::dir(dir).is_some_and(|dir| {
            dir.starts_with(&self.cwd)
                || dir.starts_with(&self.workspace.root)
                || self.workspace.root.starts_with(&dir) && !self.places().is_temporary_root(&dir)
        })
    }

    /// A directory of the shell as a path.
    pub(super) fn dir(dir: &Dir) -> Option<PathBuf> {
        match dir {
            Dir::Known(path) => Some(PathBuf::from(OsStr::from_bytes(path))),
            Dir::Unknown | Dir::Elsewhere => None,
        }
    }
}

impl Lookup for Around<'_> {
    fn file(&self, path: &[u8]) -> Option<Vec<u8>> {
        let path = Path::new(OsStr::from_bytes(path));
        let meta = fs::metadata(path).ok()?;
        (meta.is_file() && meta.len() <= LARGEST_SCRIPT)
            .then(|| fs::read(path).ok())
            .flatten()
    }

    fn is_dir(&self, path: &[u8]) -> Option<bool> {
        Some(Path::new(OsStr::from_bytes(path)).is_dir())
    }

    fn exists(&self, path: &[u8]) -> Option<bool> {
        Some(fs::symlink_metadata(Path::new(OsStr::from_bytes(path))).is_ok())
    }

    fn git_alias(&self, dir: &Dir, name: &[u8]) -> Option<BString> {
        let dir = Self::dir(dir)?;
        if !self.has_repository()
            || !dir.starts_with(&self.cwd) && !dir.starts_with(&self.workspace.root)
        {
            return None;
        }
        let name = std::str::from_utf8(name).ok()?;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return None;
        }
        self.graph().setting(&format!("alias.{name}"))
    }

    fn git_setting(&self, dir: &Dir, key: &str) -> Option<BString> {
        let dir = Self::dir(dir)?;
        let here = dir.starts_with(&self.cwd) || dir.starts_with(&self.workspace.root);
        (here && self.has_repository())
            .then(|| self.graph().setting(key))
            .flatten()
    }

    fn toplevel(&self, dir: &Dir) -> Option<BString> {
        let dir = Self::dir(dir)?;
        let inside = dir.starts_with(&self.workspace.root) || dir.starts_with(&self.cwd);
        (inside && self.has_repository())
            .then(|| BString::from(self.workspace.root.as_os_str().as_bytes()))
    }

    fn declared(&self, program: &str, args: &[Arg]) -> Option<shell::Declared> {
        let rows = self
            .declared
            .get_or_init(|| super::packages::declared(self.env, self.workspace));
        super::packages::matching(rows, program, args)
    }
}
