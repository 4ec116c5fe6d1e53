//! Deeds on paths: places, patterns and present bytes make them effects.

use super::around::Around;
use super::made::{is_made_again, is_resolved_again};
use super::nature::nature;
use super::place::Located;
use super::{bytes, system};
use crate::judge::{
    After, ContractClass, Effect, EffectKind, FileOp, FileState, Level, Losses, Nature, Place,
    SystemClass,
};
use crate::shell::{Arg, Deed, Dir, PathOp, TOKEN, UNKNOWN};
use bstr::{BStr, BString, ByteSlice as _};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Most paths that one pattern is followed to.
const MOST_MATCHES: usize = 120;

/// Most names that are listed as lost.
const MOST_LISTED: usize = 20;

/// Adds the effects of a deed on a path.
pub(super) fn effects(
    around: &Around<'_>,
    deed: &Deed,
    op: &PathOp,
    path: &Arg,
    effects: &mut Vec<Effect>,
) {
    if path.text.is_empty() || is_stream(&path.text) {
        return;
    }
    let target = target(around, &deed.dir, path);
    match target {
        Target::Path(path) => one(around, deed, op, &path, Named::Exactly, effects),
        Target::Matches { paths, more } => {
            for path in &paths {
                one(around, deed, op, path, Named::Exactly, effects);
            }
            if more {
                let all = Effect::new(
                    EffectKind::Declared {
                        level: match op {
                            PathOp::Delete { .. } | PathOp::Empty | PathOp::Mirror => {
                                Level::MustAsk
                            }
                            _ => Level::Confirm,
                        },
                    },
                    path.text.clone(),
                );
                effects.push(all.because("a pattern matches a great many files"));
            }
        }
        Target::Pattern(pattern) => one(around, deed, op, &pattern, Named::ByPattern, effects),
        Target::Unknown { under } => unknown(around, deed, op, path, under.as_deref(), effects),
    }
}

/// What a path argument names.
enum Target {
    /// One path.
    Path(PathBuf),
    /// What a pattern matches now.
    Matches { paths: Vec<PathBuf>, more: bool },
    /// A pattern that matches nothing that can be listed, as a path.
    Pattern(PathBuf),
    /// Not known; `under` is the directory that is known to hold it.
    Unknown { under: Option<PathBuf> },
}

/// Whether a path is given by its name or by a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Exactly,
    ByPattern,
}

fn target(around: &Around<'_>, dir: &Dir, path: &Arg) -> Target {
    let text = path.text.as_slice();
    let absolute = text.starts_with(b"/");
    let base = Around::dir(dir);
    if base.is_none() && !absolute {
        return Target::Unknown { under: None };
    }
    let base = base.unwrap_or_else(|| PathBuf::from("/"));
    if path.is_literal() {
        return Target::Path(base.join(OsStr::from_bytes(text)));
    }
    // The directory before the first part that is not plain.
    let special = text
        .iter()
        .position(|byte| matches!(*byte, UNKNOWN | TOKEN) || (path.glob && b"*?[".contains(byte)))
        .unwrap_or(text.len());
    let known = text
        .get(..special)
        .and_then(|before| before.rfind_byte(b'/'))
        .map_or(&b""[..], |at| text.get(..=at).unwrap_or_default());
    let under = base.join(OsStr::from_bytes(known));
    if path.has_unknown() {
        let nothing_known = known.is_empty() && text.first() == Some(&UNKNOWN);
        return Target::Unknown {
            under: (!nothing_known).then_some(under),
        };
    }
    let rest: BString = text
        .get(known.len()..)
        .unwrap_or_default()
        .iter()
        .map(|byte| if *byte == TOKEN { b'*' } else { *byte })
        .collect::<Vec<_>>()
        .into();
    if rest.contains_str("**") {
        return Target::Pattern(under.join(OsStr::from_bytes(&rest)));
    }
    let mut paths = Vec::new();
    let mut budget = 20_000;
    let more = expand(&under, &rest, &mut paths, &mut budget);
    if paths.is_empty() {
        let _ = around;
        return Target::Pattern(under.join(OsStr::from_bytes(&rest)));
    }
    Target::Matches { paths, more }
}

/// Lists what a pattern matches below a directory; true when there is more.
fn expand(dir: &Path, pattern: &BString, paths: &mut Vec<PathBuf>, budget: &mut u32) -> bool {
    let (first, rest) = match pattern.find_byte(b'/') {
        Some(at) => (
            pattern.get(..at).unwrap_or_default(),
            pattern
                .get(at + 1..)
                .unwrap_or_default()
                .trim_start_with(|c| c == '/'),
        ),
        None => (pattern.as_slice(), &b""[..]),
    };
    if !first.iter().any(|byte| b"*?[".contains(byte)) {
        let next = dir.join(OsStr::from_bytes(first));
        if rest.is_empty() {
            if fs::symlink_metadata(&next).is_ok() {
                paths.push(next);
            }
            return false;
        }
        return expand(&next, &BString::from(rest), paths, budget);
    }
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    let mut names: Vec<std::ffi::OsString> = Vec::new();
    for entry in entries.flatten() {
        if *budget == 0 {
            return true;
        }
        *budget -= 1;
        let name = entry.file_name();
        let hidden = name.as_bytes().starts_with(b".");
        if (!hidden || first.starts_with(b".")) && crate::shell::matches(first, name.as_bytes()) {
            names.push(name);
        }
    }
    names.sort();
    for name in names {
        if paths.len() >= MOST_MATCHES {
            return true;
        }
        let next = dir.join(&name);
        if rest.is_empty() {
            paths.push(next);
        } else if next.is_dir() && expand(&next, &BString::from(rest), paths, budget) {
            return true;
        }
    }
    false
}

/// Names that are streams, not files.
fn is_stream(path: &[u8]) -> bool {
    matches!(
        path,
        b"-" | b"/dev/null"
            | b"/dev/stdout"
            | b"/dev/stderr"
            | b"/dev/stdin"
            | b"/dev/tty"
            | b"/dev/zero"
            | b"/dev/full"
            | b"NUL"
            | b"nul"
            | b"$null"
    ) || path.starts_with(b"/dev/fd/")
        || path.starts_with(b"/proc/self/fd/")
}

/// A path that is not known, or only the directory that holds it.
fn unknown(
    around: &Around<'_>,
    deed: &Deed,
    op: &PathOp,
    path: &Arg,
    under: Option<&Path>,
    effects: &mut Vec<Effect>,
) {
    let shown = path.shown();
    if under.is_none() && path.is_known() && is_made_again(&path.text) {
        effects.push(
            Effect::new(
                file(
                    file_op(op),
                    Place::Workspace,
                    Nature::Ordinary,
                    FileState::Ignored,
                ),
                shown,
            )
            .because("a name for build output"),
        );
        return;
    }
    if let Some(under) = under {
        let located = around.place(under);
        let relative = located.relative.clone().unwrap_or_default();
        let temporary =
            located.place == Place::Temporary || around.places().is_temporary_dir(under);
        if temporary || located.place == Place::Guard || located.place == Place::GitDir {
            let place = if temporary {
                Place::Temporary
            } else {
                located.place
            };
            effects.push(Effect::new(
                file(file_op(op), place, Nature::Ordinary, FileState::Unknown),
                shown,
            ));
            return;
        }
        if is_made_again(bytes(&relative)) && located.place == Place::Workspace {
            effects.push(
                Effect::new(
                    file(
                        file_op(op),
                        Place::Workspace,
                        Nature::Ordinary,
                        FileState::Ignored,
                    ),
                    shown,
                )
                .because("below a directory of build output"),
            );
            return;
        }
        if located.system && !matches!(op, PathOp::Make | PathOp::Touch) {
            effects.push(system(
                shown,
                SystemClass::Config,
                "a path of the system that is not known in full",
            ));
            return;
        }
    }
    let level = match op {
        PathOp::Delete { .. } | PathOp::Mirror | PathOp::Empty => Level::MustAsk,
        PathOp::Move { .. }
        | PathOp::Replace
        | PathOp::Permissions {
            recursive: true, ..
        } => Level::Confirm,
        PathOp::Into { .. }
        | PathOp::Change
        | PathOp::Unpack
        | PathOp::Extract(_)
        | PathOp::Lay { .. } => Level::Transparent,
        PathOp::Make | PathOp::Touch | PathOp::RemoveEmpty | PathOp::Permissions { .. } => {
            Level::Autonomous
        }
    };
    // A file with a made-up name in a known directory of the workspace.
    let inside = under.is_some_and(|under| around.place(under).place == Place::Workspace);
    let level = if inside && level == Level::Confirm {
        Level::Transparent
    } else {
        level
    };
    let _ = deed;
    if level == Level::MustAsk {
        effects.push(
            Effect::new(
                file(
                    file_op(op),
                    Place::Unknown,
                    Nature::Ordinary,
                    FileState::Unknown,
                ),
                shown,
            )
            .because("what it names is not known"),
        );
    } else {
        effects.push(
            Effect::new(EffectKind::Opaque { worst: level }, shown)
                .because("which path is written is not known"),
        );
    }
}

fn file(op: FileOp, place: Place, nature: Nature, state: FileState) -> EffectKind {
    EffectKind::File {
        op,
        place,
        nature,
        state,
    }
}

fn file_op(op: &PathOp) -> FileOp {
    match op {
        PathOp::Make | PathOp::Touch => FileOp::Create,
        PathOp::Empty
        | PathOp::Replace
        | PathOp::Into { .. }
        | PathOp::Unpack
        | PathOp::Extract(_)
        | PathOp::Lay { .. } => FileOp::Overwrite,
        PathOp::Change | PathOp::RemoveEmpty => FileOp::Modify,
        PathOp::Delete { .. } | PathOp::Mirror | PathOp::Move { .. } => FileOp::Delete,
        PathOp::Permissions { .. } => FileOp::Permissions,
    }
}

/// One path, or a pattern taken as one.
fn one(
    around: &Around<'_>,
    deed: &Deed,
    op: &PathOp,
    path: &Path,
    named: Named,
    effects: &mut Vec<Effect>,
) {
    // A directory takes what is put into it.
    if let PathOp::Into { name, from } = op {
        let slash = bytes(path).ends_with(b"/");
        let inner = if slash || path.is_dir() {
            path.join(OsStr::from_bytes(name))
        } else {
            path.to_path_buf()
        };
        if (name.contains(&UNKNOWN)
            || name.contains(&TOKEN)
            || name.is_empty()
            || name.contains(&b'*'))
            && (path.is_dir() || slash)
        {
            one(around, deed, &PathOp::Unpack, path, named, effects);
            return;
        }
        if inner.is_dir() {
            let op = match from {
                Some(from) => PathOp::Lay { from: from.clone() },
                None => PathOp::Unpack,
            };
            one(around, deed, &op, &inner, named, effects);
        } else {
            one(around, deed, &PathOp::Replace, &inner, named, effects);
        }
        return;
    }
    let mut located = around.place(path);
    let relative = matches!(
        &deed.kind,
        crate::shell::DeedKind::File { path, .. } if !path.text.starts_with(b"/")
    );
    // `../x` out of a workspace that lies in a temporary directory itself is not meant as one.
    if located.place == Place::Temporary && relative && around.is_inside(&deed.dir) {
        located.place = Place::Outside;
    }
    // A write goes through a link, a removal does not.
    let follows = !matches!(
        op,
        PathOp::Delete { .. } | PathOp::Move { .. } | PathOp::RemoveEmpty
    );
    if follows
        && fs::symlink_metadata(&located.path).is_ok_and(|meta| meta.is_symlink())
        && let Ok(real) = fs::canonicalize(&located.path)
    {
        located = around.place(&real);
    }
    if located.device && located.place != Place::Temporary {
        device(&located, effects);
        return;
    }
    match op {
        PathOp::Delete { recursive } => delete(around, &located, *recursive, named, effects),
        PathOp::Mirror => mirror(around, &located, effects),
        PathOp::Move { to } => moved(around, deed, &located, to, effects),
        PathOp::Permissions { recursive, locks } => {
            permissions(around, &located, *recursive, *locks, effects);
        }
        PathOp::RemoveEmpty => {
            if matches!(located.place, Place::Guard | Place::GitDir) {
                effects.push(plain(&located, FileOp::Modify, FileState::Unknown));
            }
        }
        PathOp::Unpack | PathOp::Extract(_) if around.places().is_temporary_root(&located.path) => {
        }
        PathOp::Unpack => unpack(&located, effects),
        PathOp::Extract(members) => {
            super::laid::extracted(around, deed, members, &located, effects);
        }
        PathOp::Make | PathOp::Touch | PathOp::Change | PathOp::Replace | PathOp::Empty => {
            content(around, &located, op, named, effects);
        }
        PathOp::Lay { from } => super::laid::effects(around, deed, from, &located, effects),
        PathOp::Into { .. } => {}
    }
}

fn device(located: &Located, effects: &mut Vec<Effect>) {
    let path = bytes(&located.path);
    if path.starts_with(b"/dev/pts/") || path.starts_with(b"/dev/tty") || is_stream(path) {
        return;
    }
    let (class, why) = if path.starts_with(b"/dev/tcp/") || path.starts_with(b"/dev/udp/") {
        (
            SystemClass::Config,
            "a connection to another machine is opened",
        )
    } else if path.starts_with(b"/dev") {
        (SystemClass::Irreversible, "a device is overwritten")
    } else {
        (SystemClass::Config, "a setting of the kernel changes")
    };
    effects.push(system(path, class, why));
}

/// The name under which an effect speaks of a path.
fn subject(located: &Located) -> BString {
    match &located.relative {
        Some(relative) if relative.as_os_str().is_empty() => ".".into(),
        Some(relative) => bytes(relative).into(),
        None => bytes(&located.path).into(),
    }
}

fn plain(located: &Located, op: FileOp, state: FileState) -> Effect {
    let subject = subject(located);
    let nature = nature(subject.as_bstr());
    Effect::new(file(op, located.place, nature, state), subject)
}

fn delete(
    around: &Around<'_>,
    located: &Located,
    recursive: bool,
    named: Named,
    effects: &mut Vec<Effect>,
) {
    if located.above {
        let why = if located.relative.is_some() {
            "the whole workspace"
        } else {
            "a directory that holds the workspace"
        };
        let class = SystemClass::Irreversible;
        effects.push(system(bytes(&located.path), class, why));
        return;
    }
    if located.place == Place::Outside
        && (located.system || Some(located.path.as_path()) == around.places().home())
    {
        effects.push(system(
            bytes(&located.path),
            SystemClass::Irreversible,
            "files of the system or the whole home directory would be deleted",
        ));
        return;
    }
    let cached = around.places().home().is_some_and(|home| {
        [
            ".cache",
            "Library/Caches",
            ".npm/_cacache",
            ".cargo/registry/cache",
            ".gradle/caches",
        ]
        .iter()
        .any(|dir| located.path.starts_with(home.join(dir)))
    });
    if cached && located.place == Place::Outside {
        effects.push(
            Effect::new(
                EffectKind::Declared {
                    level: Level::Transparent,
                },
                subject(located),
            )
            .because("a cache of the home directory, which is made again"),
        );
        return;
    }
    if located.place != Place::Workspace {
        effects.push(plain(located, FileOp::Delete, FileState::Unknown));
        return;
    }
    let relative = located.relative.clone().unwrap_or_default();
    if named == Named::ByPattern {
        by_pattern(around, located, &relative, effects);
        return;
    }
    let state = around.state(&located.path);
    let (state, evidence) = match state {
        FileState::Absent | FileState::Clean if is_resolved_again(bytes(&relative)) => (
            FileState::Ignored,
            "versions that git holds, or that the next install settles".to_owned(),
        ),
        // It may be made by the time the command runs: judged by what its name says.
        FileState::Absent => {
            if is_made_again(bytes(&relative)) {
                (FileState::Ignored, "a name for build output".to_owned())
            } else {
                (
                    FileState::Unknown,
                    "not there now, judged as if it were".to_owned(),
                )
            }
        }
        state => (state, String::new()),
    };
    let losses = lost(around, &located.path, &relative, state);
    let evidence = if evidence.is_empty() {
        told(around, &relative, state, &losses)
    } else {
        evidence
    };
    let guarded = recursive && state != FileState::Own && holds_guard(&located.path);
    let mut effect = plain(located, FileOp::Delete, state)
        .because(evidence)
        .losing(losses);
    if guarded {
        effect.kind = file(FileOp::Delete, Place::Guard, Nature::Policy, state);
    }
    effects.push(effect);
}

/// Whether a directory holds what the guard rests on.
fn holds_guard(path: &Path) -> bool {
    path.join(".git").exists() || path.join(".ccg").exists()
}

/// A pattern that matches nothing now, or reaches below directories.
fn by_pattern(around: &Around<'_>, located: &Located, relative: &Path, effects: &mut Vec<Effect>) {
    let pattern = bytes(relative);
    let last = pattern.rsplit_str("/").next().unwrap_or_default();
    let deep: BString = pattern.replace("/**/", "/*").replace("**/", "*").into();
    let hit = around
        .tracked()
        .map(|tracked| tracked.matching(&deep, MOST_LISTED))
        .unwrap_or_default();
    let again = is_made_again(last) || is_made_again(pattern);
    if again && hit.is_empty() {
        effects.push(
            plain(located, FileOp::Delete, FileState::Ignored).because("names for build output"),
        );
        return;
    }
    let losses = Losses {
        files: hit,
        ..Losses::default()
    };
    effects.push(
        plain(located, FileOp::Delete, FileState::Unknown)
            .because("whatever the pattern matches")
            .losing(losses),
    );
}

/// The files below a path whose bytes are nowhere else.
fn lost(around: &Around<'_>, path: &Path, relative: &Path, state: FileState) -> Losses {
    let mut losses = Losses::default();
    let name = bytes(relative);
    match state {
        FileState::Modified | FileState::Clean => {
            if let Some(tracked) = around.tracked() {
                if tracked.holds(name) {
                    if state == FileState::Modified {
                        losses.files.push(name.into());
                    }
                } else {
                    losses.files = tracked.modified_below(name, MOST_LISTED + 1);
                }
            }
            if path.is_dir()
                && let Ok(others) = crate::repo::others(
                    around.workspace(),
                    crate::repo::Others::Untracked,
                    &[name.into()],
                )
            {
                losses.files.extend(others.into_iter().take(MOST_LISTED));
            }
        }
        FileState::Untracked | FileState::Unknown => losses.files.push(name.into()),
        FileState::Absent | FileState::Ignored | FileState::Own => {}
    }
    if losses.files.len() > MOST_LISTED {
        losses.files.truncate(MOST_LISTED);
        losses.more = true;
    }
    losses
}

fn told(around: &Around<'_>, relative: &Path, state: FileState, losses: &Losses) -> String {
    let count = around
        .tracked()
        .map_or(0, |tracked| tracked.count_below(bytes(relative)));
    let tracked = match count {
        0 => String::new(),
        1 => "1 tracked file".to_owned(),
        n => format!("{n} tracked files"),
    };
    let more = if losses.more { " or more" } else { "" };
    let unsaved = losses.files.len();
    match state {
        FileState::Modified => format!(
            "{}{}{unsaved}{more} with changes that are nowhere else",
            tracked,
            if tracked.is_empty() { "" } else { ", " }
        ),
        FileState::Clean if unsaved > 0 => {
            format!("{tracked}, {unsaved}{more} that git does not hold")
        }
        FileState::Clean if tracked.is_empty() => "tracked, its bytes are in git".to_owned(),
        FileState::Clean => format!("{tracked}, all in git"),
        FileState::Untracked => "untracked, its bytes are nowhere else".to_owned(),
        FileState::Ignored => "ignored by git or build output".to_owned(),
        FileState::Own => "made by this very command".to_owned(),
        FileState::Unknown | FileState::Absent => {
            "nothing says that it is kept elsewhere".to_owned()
        }
    }
}

fn mirror(around: &Around<'_>, located: &Located, effects: &mut Vec<Effect>) {
    if !located.above && located.place == Place::Workspace {
        let state = around.state(&located.path);
        if state == FileState::Absent && around.has_repository() || state == FileState::Own {
            effects.push(plain(located, FileOp::Create, FileState::Absent));
            return;
        }
    }
    delete(around, located, true, Named::Exactly, effects);
}

fn moved(around: &Around<'_>, deed: &Deed, located: &Located, to: &Arg, effects: &mut Vec<Effect>) {
    if located.place == Place::Temporary || around.made(&located.path) {
        return;
    }
    if located.above || located.system && located.place == Place::Outside {
        effects.push(system(
            bytes(&located.path),
            SystemClass::Config,
            "a directory of the system, or one that holds the workspace, is moved",
        ));
        return;
    }
    if located.place != Place::Workspace {
        effects.push(plain(located, FileOp::Delete, FileState::Unknown).because("moved away"));
        return;
    }
    if to.text == "/dev/null" {
        delete(around, located, true, Named::Exactly, effects);
        return;
    }
    let from = subject(located);
    let mut leaves = false;
    let new = match target(around, &deed.dir, to) {
        Target::Path(path) => {
            let inside = path.is_dir();
            let path = if inside {
                path.join(located.path.file_name().unwrap_or_default())
            } else {
                path
            };
            let new = around.place(&path);
            leaves = new.place != Place::Workspace;
            subject(&new)
        }
        _ => to.shown().into(),
    };
    let state = around.state(&located.path);
    if is_made_again(&from) && state != FileState::Clean {
        return;
    }
    // Out of the workspace, what the project is made of is as good as deleted.
    let of_the_project = matches!(state, FileState::Clean | FileState::Modified)
        || state == FileState::Untracked && located.path.is_dir();
    if leaves && of_the_project {
        effects.push(plain(located, FileOp::Delete, state).because("moved out of the workspace"));
        return;
    }
    let nature = match nature(from.as_bstr()) {
        Nature::Contract | Nature::Policy => Nature::Auth,
        other => other,
    };
    effects.push(Effect::new(
        file(FileOp::Rename { from }, Place::Workspace, nature, state),
        new,
    ));
}

fn permissions(
    around: &Around<'_>,
    located: &Located,
    recursive: bool,
    locks: bool,
    effects: &mut Vec<Effect>,
) {
    let name = bytes(&located.path);
    if located.place == Place::Temporary {
        return;
    }
    if matches!(located.place, Place::Guard | Place::GitDir) {
        effects.push(plain(located, FileOp::Permissions, FileState::Unknown));
        return;
    }
    let home = around.places().home() == Some(located.path.as_path());
    let broad = located.system || home || (located.above && located.relative.is_none());
    if broad && (recursive || locks || !home) {
        effects.push(system(
            name,
            SystemClass::Config,
            "permissions or owners of the system change",
        ));
        return;
    }
    let subject = subject(located);
    let level = match (located.place, recursive, locks) {
        (Place::Workspace, false, false) => {
            effects.push(plain(located, FileOp::Permissions, FileState::Unknown));
            if matches!(nature(subject.as_bstr()), Nature::Auth) {
                effects.pop();
                effects.push(
                    Effect::new(
                        EffectKind::Declared {
                            level: Level::Transparent,
                        },
                        subject,
                    )
                    .because("permissions of a file with secrets change"),
                );
            }
            return;
        }
        (Place::Workspace, true, false) | (_, false, false) => Level::Transparent,
        (Place::Workspace, false, true) => Level::Confirm,
        _ => Level::MustAsk,
    };
    effects.push(
        Effect::new(EffectKind::Declared { level }, subject)
            .because("permissions or owners change"),
    );
}

pub(super) fn unpack(located: &Located, effects: &mut Vec<Effect>) {
    match located.place {
        Place::Temporary => {}
        Place::Workspace => effects.push(
            Effect::new(
                EffectKind::Declared {
                    level: Level::Transparent,
                },
                subject(located),
            )
            .because("files with names that are not known here may be replaced"),
        ),
        _ => effects.push(plain(located, FileOp::Overwrite, FileState::Unknown)),
    }
}

/// A file lands on a path, and replaces what is there.
pub(super) fn replaced(around: &Around<'_>, path: &Path, effects: &mut Vec<Effect>) {
    let located = around.place(path);
    content(around, &located, &PathOp::Replace, Named::Exactly, effects);
}

/// Made, changed, replaced or emptied.
fn content(
    around: &Around<'_>,
    located: &Located,
    op: &PathOp,
    named: Named,
    effects: &mut Vec<Effect>,
) {
    if located.place == Place::Temporary {
        return;
    }
    if named == Named::ByPattern && !matches!(op, PathOp::Make | PathOp::Touch) {
        content_by_pattern(around, located, op, effects);
        return;
    }
    let state = around.state(&located.path);
    let there = !matches!(state, FileState::Absent);
    around.makes(&located.path);
    if located.place == Place::Outside && located.system {
        effects.push(system(
            bytes(&located.path),
            SystemClass::Config,
            "a file of the system changes",
        ));
        return;
    }
    let name = subject(located);
    let nature = nature(name.as_bstr());
    if *op == PathOp::Touch && !there && located.place == Place::Outside {
        let level = Level::Transparent;
        effects.push(
            Effect::new(EffectKind::Declared { level }, name)
                .because("an empty file or directory is made outside of the workspace"),
        );
        return;
    }
    let op = match op {
        PathOp::Make | PathOp::Touch if there => {
            if matches!(located.place, Place::Guard | Place::GitDir) {
                effects.push(plain(located, FileOp::Modify, state));
            }
            return;
        }
        PathOp::Change if there => FileOp::Modify,
        PathOp::Replace if there => FileOp::Overwrite,
        PathOp::Make | PathOp::Touch | PathOp::Change | PathOp::Replace => FileOp::Create,
        _ => {
            // Emptying something means that it is there, now or by then.
            let by_then = state == FileState::Absent
                && (nature == Nature::Data || !around.has_repository())
                && !is_made_again(&name);
            let state = match state {
                FileState::Absent if by_then => FileState::Unknown,
                state => state,
            };
            let losses = lost_file(around, located, state);
            effects.push(plain(located, FileOp::Overwrite, state).losing(losses));
            return;
        }
    };
    let losses = if op == FileOp::Overwrite {
        lost_file(around, located, state)
    } else {
        Losses::default()
    };
    // A link, a directory, or build output that is written anew.
    let state = if op == FileOp::Overwrite && state == FileState::Unknown && is_made_again(&name) {
        FileState::Ignored
    } else {
        state
    };
    effects.push(plain(located, op, state).losing(losses));
}

/// A pattern's matches are changed, replaced or emptied: each tracked one is looked at.
fn content_by_pattern(
    around: &Around<'_>,
    located: &Located,
    op: &PathOp,
    effects: &mut Vec<Effect>,
) {
    let relative = located.relative.clone().unwrap_or_default();
    let pattern: BString = bytes(&relative).replace("**/", "*").into();
    let hits = around
        .tracked()
        .map(|tracked| tracked.matching(&pattern, MOST_LISTED))
        .unwrap_or_default();
    for hit in &hits {
        let path = around
            .workspace()
            .root
            .join(OsStr::from_bytes(hit.as_slice()));
        content(around, &around.place(&path), op, Named::Exactly, effects);
    }
    let again = is_made_again(&pattern) || is_made_again(bytes(&relative));
    if *op == PathOp::Empty && !again {
        effects.push(
            plain(located, FileOp::Overwrite, FileState::Unknown)
                .because("whatever the pattern matches is emptied"),
        );
    } else if hits.is_empty() && !again {
        let level = Level::Transparent;
        effects.push(
            Effect::new(EffectKind::Declared { level }, subject(located))
                .because("whatever the pattern matches changes"),
        );
    }
}

fn lost_file(around: &Around<'_>, located: &Located, state: FileState) -> Losses {
    let relative = located.relative.clone().unwrap_or_default();
    if state == FileState::Clean {
        return Losses::default();
    }
    lost(around, &located.path, &relative, state)
}

/// An agent's own tool writes, deletes or moves a file.
pub(super) fn written(around: &Around<'_>, path: &BStr, after: &After, effects: &mut Vec<Effect>) {
    let full = around.cwd().join(OsStr::from_bytes(path));
    let arg = Arg::known(bytes(&full));
    let deed = Deed {
        kind: crate::shell::DeedKind::File {
            op: PathOp::Change,
            path: arg.clone(),
        },
        dir: Dir::Known(bytes(around.cwd()).into()),
        command: path.to_str_lossy().into_owned(),
    };
    let located = around.place(&full);
    if matches!(after, After::Content { .. } | After::Unknown | After::Gone)
        && located.place == Place::Workspace
        && nature(subject(&located).as_bstr()) == Nature::Contract
    {
        effects.extend(contract_written(around, &located, after));
        return;
    }
    match after {
        After::Gone => one(
            around,
            &deed,
            &PathOp::Delete { recursive: true },
            &full,
            Named::Exactly,
            effects,
        ),
        After::MovedTo { path } => {
            let to = Arg::known(path.clone());
            one(
                around,
                &deed,
                &PathOp::Move { to: to.clone() },
                &full,
                Named::Exactly,
                effects,
            );
            let target = around.cwd().join(OsStr::from_bytes(path));
            if !target.is_dir() {
                one(
                    around,
                    &deed,
                    &PathOp::Replace,
                    &target,
                    Named::Exactly,
                    effects,
                );
            }
        }
        After::Content { bytes: new } => {
            let old = fs::read(&full).ok();
            let op = match &old {
                None => PathOp::Make,
                Some(_) if new.is_empty() => PathOp::Empty,
                Some(_) => PathOp::Change,
            };
            if old.as_deref() == Some(new.as_slice()) {
                return;
            }
            one(around, &deed, &op, &full, Named::Exactly, effects);
            added_lines(around, &located, old.as_deref(), new, effects);
        }
        After::Unknown => one(
            around,
            &deed,
            &PathOp::Change,
            &full,
            Named::Exactly,
            effects,
        ),
    }
}

/// What writing or deleting the Contract would do to what a person last confirmed.
fn contract_written(around: &Around<'_>, located: &Located, after: &After) -> Vec<Effect> {
    let subject = subject(located);
    let effect = |class, why: &str| {
        vec![Effect::new(EffectKind::Contract { class }, subject.clone()).because(why)]
    };
    let after = match after {
        After::Content { bytes } => Some(bytes.as_slice()),
        After::Gone | After::MovedTo { .. } => None,
        After::Unknown => {
            return effect(
                ContractClass::Relax,
                "how the Contract changes is not known",
            );
        }
    };
    let now = fs::read(&located.path).ok();
    let (env, workspace) = (around.env(), around.workspace());
    match super::policy::contract(env, workspace, &subject, now.as_deref(), after) {
        Ok(effects) if effects.is_empty() => {
            effect(ContractClass::Detail, "the Contract becomes as confirmed")
        }
        Ok(effects) => effects,
        Err(error) => effect(ContractClass::Relax, &error.to_string()),
    }
}

/// The lines that a write adds, for the Contract's forbidden patterns.
fn added_lines(
    around: &Around<'_>,
    located: &Located,
    old: Option<&[u8]>,
    new: &[u8],
    effects: &mut Vec<Effect>,
) {
    if located.place != Place::Workspace
        || !around.workspace().main_root().join(".ccg").exists()
            && !around.workspace().main_root().join("ai/contracts").exists()
    {
        return;
    }
    let held: std::collections::HashSet<&[u8]> = old.unwrap_or_default().lines().collect();
    let subject = subject(located);
    for (number, line) in (1..).zip(new.lines()) {
        if !held.contains(line) {
            effects.push(Effect::new(
                EffectKind::AddedLine {
                    number,
                    text: line.into(),
                },
                subject.clone(),
            ));
        }
    }
}
