//! Deeds on paths: places, patterns and present bytes make them effects.

mod content;
mod delete;
mod moved;
mod target;
mod unknown;
mod written;

pub(super) use content::{replaced, unpack};
pub(super) use written::written;

use crate::assess::around::Around;
use crate::assess::nature::{is_secret, nature};
use crate::assess::place::Located;
use crate::assess::{bytes, system};
use crate::judge::{Effect, EffectKind, FileOp, FileState, Level, Nature, Place, SystemClass};
use crate::shell::{Arg, Deed, PathOp, TOKEN, UNKNOWN};
use bstr::{BString, ByteSlice as _};
use content::content;
use delete::{delete, mirror};
use moved::{moved, permissions};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use target::{Named, Target, target};
use unknown::unknown;

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
    let target = target(&deed.dir, path);
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
        Target::Unknown { under } => unknown(around, op, path, under.as_deref(), effects),
    }
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
        PathOp::Make | PathOp::Touch | PathOp::Send => FileOp::Create,
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
    if *op == PathOp::Send {
        if is_secret(subject(&located).as_bstr()) {
            effects.push(system(
                bytes(&located.path),
                SystemClass::Irreversible,
                "a secret is sent to another machine, and cannot be called back",
            ));
        }
        return;
    }
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
        PathOp::Into { .. } | PathOp::Send => {}
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
