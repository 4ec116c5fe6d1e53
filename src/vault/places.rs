//! Names that mean something to a safety point.

use bstr::ByteSlice as _;

/// Directories of output that a tool makes again, by name; only where git ignores them.
const BULKY: &[&str] = &[
    ".cache",
    ".dart_tool",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "DerivedData",
    "Pods",
    "__pycache__",
    "bower_components",
    "node_modules",
    "target",
    "venv",
];

/// Returns true for a directory that holds nothing but what a tool makes again.
pub(super) fn is_bulky(name: &[u8]) -> bool {
    BULKY.iter().any(|bulky| bulky.as_bytes() == name)
        || name.starts_with(b"bazel-")
        || name.starts_with(b"cmake-build-")
}

/// The most names that an unknown ignored directory may have and still be held.
pub(super) const SMALL_ENTRIES: usize = 256;

/// The most bytes that an unknown ignored directory may have and still be held.
pub(super) const SMALL_BYTES: u64 = 8 << 20;

/// A larger file of git's object database is linked; a smaller one is held itself.
///
/// Bytes of our own survive what overwrites git's files in place, and a few new
/// objects cost nothing in the point's one pack, where a link each would cost a
/// synced directory each.
pub(super) const SMALL_OBJECT: u64 = 8 << 20;

/// Returns true for a name of a git directory that belongs to a process and not to the repository.
pub(super) fn is_passing(name: &[u8]) -> bool {
    name.ends_with(b".lock")
        || name == b"gc.pid"
        || name.starts_with(b"fsmonitor--daemon")
        || is_staging(name)
}

/// Returns true for a name by which a rollback prepares a file.
pub(super) fn is_staging(name: &[u8]) -> bool {
    name.strip_prefix(STAGING.as_bytes())
        .is_some_and(|rest| rest.len() >= 26 && rest.iter().take(26).all(u8::is_ascii_alphanumeric))
}

/// How the names start by which a rollback prepares files; a point's id follows.
pub(super) const STAGING: &str = ".holdpoint-restore-";

/// Returns true for Holdpoint's own log in the main worktree: mirrored elsewhere, never rolled back.
pub(super) fn is_own_log(dir: &[u8], name: &[u8]) -> bool {
    dir == b".ccg" && name.ends_with(b"_log.jsonl")
}

/// Returns true for a directory of loose objects.
pub(super) fn is_fanout(name: &[u8]) -> bool {
    name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit)
}

/// Returns true for a file of `objects/pack` or `objects/info` that never changes in place.
pub(super) fn is_immutable(name: &[u8]) -> bool {
    const SUFFIXES: &[&[u8]] = &[
        b".pack", b".idx", b".rev", b".bitmap", b".mtimes", b".graph", b".midx",
    ];
    name == b"commit-graph"
        || name.starts_with(b"multi-pack-index")
        || (SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) && name.find_byte(b'-').is_some())
}
